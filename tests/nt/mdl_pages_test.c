/* SPDX-License-Identifier: MIT */
/* Pages that are allocated for an MDL, and views of an MDL's pages. */
#include "nt/io/image_life.h"
#include "ram/ram.h"
#include "sim/fault.h"
#include "support/harness.h"

#define LARGEST (0x100000000u - PAGE_SIZE)

static void *pool(POOL_TYPE type, SIZE_T bytes)
{
    return ExAllocatePoolWithTag(type, bytes, TAG);
}

static PMDL mdl_for(void *address, ULONG bytes)
{
    return IoAllocateMdl(address, bytes, FALSE, FALSE, NULL);
}

static PVOID map(PMDL mdl)
{
    return MmMapLockedPagesSpecifyCache(mdl, KernelMode, MmCached, NULL, FALSE, NormalPagePriority);
}

/* One report, of this rule. */
static bool told(const char *rule)
{
    bool good = errors() == 1 && broken(rule);

    forget_reports();
    return good;
}

static bool accessible(void *address)
{
    uint8_t byte;

    return sim_copy_checked(&byte, address, 1);
}

static bool writable(void *address)
{
    uint8_t byte = 5;

    return sim_copy_checked(address, &byte, 1);
}

static PMDL shared;
static uint8_t *shared_block, *shared_view;

/* ---- pages ---- */

TEST_WITH(driver, pages_are_allocated_within_limits)
{
    const PHYSICAL_ADDRESS none = physical(0), top = physical(~0ull >> 1);
    const ULONG contiguous = MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS;
    uint64_t pages;
    PMDL mdl = MmAllocatePagesForMdl(none, top, none, 5000);

    CHECK(MmGetMdlByteCount(mdl) == 5000 && MmGetMdlByteOffset(mdl) == 0);
    CHECK(mdl->MdlFlags == MDL_PAGES_LOCKED);
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
    CHECK(MmAllocatePagesForMdl(none, top, none, 0) == NULL);
    CHECK(MmAllocatePagesForMdl(none, top, none, LARGEST + 1ull) == NULL);
    CHECK(MmAllocatePagesForMdlEx(none, top, none, LARGEST, MmCached, MM_ALLOCATE_FULLY_REQUIRED) ==
          NULL);
    /* as many as there are, or half of that, ... */
    mdl = MmAllocatePagesForMdl(physical(0x200000), physical(0x5FFFFF), none, LARGEST);
    pages = MmGetMdlByteCount(mdl) / PAGE_SIZE;
    CHECK_RULE("NT-129/c", pages > 512 && pages <= 1024);
    for (uint64_t i = 0; i < pages; i++)
        CHECK(MmGetMdlPfnArray(mdl)[i] >= 0x200 && MmGetMdlPfnArray(mdl)[i] < 0x600);
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
    mdl = MmAllocatePagesForMdlEx(none, physical(0xFFFF), none, LARGEST, MmCached, contiguous);
    CHECK(mdl && MmGetMdlByteCount(mdl) <= 0x10000);
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
    mdl = MmAllocatePagesForMdlEx(none, physical(0xFFFF), none, 0x20000, MmCached,
                                  contiguous | MM_ALLOCATE_FULLY_REQUIRED);
    CHECK_RULE("NT-129/d", mdl == NULL);
    mdl = MmAllocatePagesForMdlEx(physical(0x200000), physical(0x200FFF), none, 3 * PAGE_SIZE,
                                  MmCached, 0);
    CHECK_RULE("NT-129/c",
               mdl && MmGetMdlByteCount(mdl) == PAGE_SIZE && MmGetMdlPfnArray(mdl)[0] == 0x200);
    CHECK(MmAllocatePagesForMdlEx(physical(0x200000), physical(0x200FFF), none, PAGE_SIZE, MmCached,
                                  0) == NULL);
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

/* What was in a page stays there only for who asked for it. */
TEST_WITH(driver, pages_are_zeroed_unless_asked)
{
    const PHYSICAL_ADDRESS low = physical(0x300000), high = physical(0x300FFF), none = physical(0);
    static const ULONG flags[] = {0, MM_DONT_ZERO_ALLOCATION, 0, MM_DONT_ZERO_ALLOCATION};

    for (unsigned i = 0; i < 4; i++) {
        PMDL mdl = MmAllocatePagesForMdlEx(low, high, none, PAGE_SIZE, MmCached, flags[i]);
        uint8_t *view = map(mdl);

        if (!(flags[i] & MM_DONT_ZERO_ALLOCATION))
            CHECK_RULE("NT-129/b", view[0] == 0 && view[PAGE_SIZE - 1] == 0);
        memset(view, 0x77, PAGE_SIZE);
        MmGetMdlPfnArray(mdl)[0]++;
        MmFreePagesFromMdl(mdl);
        CHECK_RULE("NT-127/c", told("NT-127") && !accessible(view));
        ExFreePool(mdl);
    }
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

/* ---- mappings ---- */

static void unmap_shared(void)
{
    MmUnmapLockedPages(shared_view, shared);
}

TEST_WITH(driver, mappings_end_by_their_address)
{
    shared_block = pool(NonPagedPoolNx, PAGE_SIZE);
    shared = mdl_for(shared_block + 16, 100);
    MmProbeAndLockPages(shared, KernelMode, IoWriteAccess);
    shared_view = map(shared);
    CHECK((uintptr_t)shared_view % PAGE_SIZE == 16);
    MmUnmapLockedPages(shared_view - 16, shared);
    CHECK_RULE("NT-126/b", reported("NT-126", 0xC4, 0xB6) && accessible(shared_view));
    forget_reports();
    CHECK(shared->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA && shared->MappedSystemVa == shared_view);
    in_dpc(unmap_shared);
    CHECK_RULE("NT-126/a", errors() == 0 && !accessible(shared_view));
    shared_view = map(shared);
    in_interrupt(unmap_shared);
    CHECK(told("NT-126") && !accessible(shared_view));
    shared_view = MmMapLockedPagesSpecifyCache(shared, UserMode, MmCached, NULL, TRUE,
                                               NormalPagePriority);
    CHECK(shared_view && errors() == 0 && !(shared->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA));
    in_dpc(unmap_shared);
    CHECK(told("NT-126") && accessible(shared_view));
    CHECK(MmProtectMdlSystemAddress(shared, PAGE_READONLY) == STATUS_NOT_MAPPED_VIEW);
    unmap_shared();
    CHECK_RULE("NT-126/a", errors() == 0 && !accessible(shared_view));
    MmUnlockPages(shared);
    IoFreeMdl(shared);
    ExFreePool(shared_block);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

static NTSTATUS protection_status;

static void protect_raised(void)
{
    protection_status = MmProtectMdlSystemAddress(shared, PAGE_READONLY);
}

TEST_WITH(driver, mappings_are_protected)
{
    static const struct {
        ULONG protect;
        bool writable;
    } kind[] = {{PAGE_READONLY, false},         {PAGE_READWRITE, true}, {PAGE_EXECUTE_READ, false},
                {PAGE_EXECUTE_READWRITE, true}, {PAGE_NOACCESS, false}, {PAGE_WRITECOPY, true}};

    shared_block = pool(NonPagedPoolNx, 2 * PAGE_SIZE);
    shared = mdl_for(shared_block, 2 * PAGE_SIZE);
    MmProbeAndLockPages(shared, KernelMode, IoWriteAccess);
    CHECK(MmProtectMdlSystemAddress(shared, PAGE_READONLY) == STATUS_NOT_MAPPED_VIEW);
    shared_view = map(shared);
    for (unsigned i = 0; i < RTL_NUMBER_OF(kind); i++) {
        CHECK(MmProtectMdlSystemAddress(shared, kind[i].protect) == STATUS_SUCCESS);
        CHECK(writable(shared_view) == kind[i].writable);
        CHECK(writable(shared_view + PAGE_SIZE) == kind[i].writable);
        CHECK(writable(shared_block) && accessible(shared_view));
    }
    in_dpc(protect_raised);
    CHECK(protection_status == STATUS_SUCCESS && errors() == 0 && !writable(shared_view));
    CHECK(MmProtectMdlSystemAddress(shared, PAGE_READWRITE) == STATUS_SUCCESS);
    in_interrupt(protect_raised);
    CHECK(told("NT-126"));
    MmUnlockPages(shared);
    IoFreeMdl(shared);
    ExFreePool(shared_block);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}
