/* SPDX-License-Identifier: MIT */
/* MDLs that have too little room, are in another state than a routine wants, or are no MDLs any more. */
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

static uint32_t locks_of(const void *address)
{
    struct phys_addr at;

    assert_true(ram_physical(h.ram, address, &at));
    return ram_page_locks(h.ram, phys_page(at));
}

static bool accessible(void *address)
{
    uint8_t byte;

    return sim_copy_checked(&byte, address, 1);
}

/* ---- allocation ---- */

TEST_WITH(driver, mdls_are_made_for_a_request)
{
    PIRP irp = IoAllocateIrp(1, FALSE);
    PMDL first = IoAllocateMdl(irp, 100, FALSE, TRUE, irp), second;

    CHECK(irp->MdlAddress == first);
    second = IoAllocateMdl(irp, 100, TRUE, FALSE, irp);
    CHECK(irp->MdlAddress == first && second != first && errors() == 0);
    IoFreeMdl(second);
    IoFreeMdl(first);
    first = IoAllocateMdl(irp, 100, TRUE, FALSE, NULL);
    CHECK(first && told("NT-114"));
    IoFreeMdl(first);
    first = IoAllocateMdl(irp, 100, FALSE, TRUE, NULL);
    CHECK(first && told("NT-114"));
    IoFreeMdl(first);
    IoFreeIrp(irp);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, mdls_have_a_largest_length)
{
    const uint32_t most = 0x7FF8 - sizeof(MDL);
    PMDL mdl = mdl_for((PVOID)0x10000, LARGEST);

    CHECK_RULE("NT-114/a", mdl && MmGetMdlByteCount(mdl) == LARGEST && mdl->Size == 0x7FF8);
    IoFreeMdl(mdl);
    CHECK_RULE("NT-114/b", mdl_for((PVOID)0x10000, LARGEST + 1) == NULL && errors() == 0);
    mdl = mdl_for((PVOID)0x10FFF, 2);
    CHECK(mdl->StartVa == (PVOID)0x10000 && mdl->ByteOffset == 0xFFF && mdl->ByteCount == 2);
    CHECK(mdl->Size == sizeof(MDL) + 2 * sizeof(PFN_NUMBER) && mdl->MdlFlags == 0);
    IoFreeMdl(mdl);
    mdl = mdl_for((PVOID)0x10000, most / 8 * PAGE_SIZE);
    CHECK(mdl->Size == 0x7FF8);
    IoFreeMdl(mdl);
    mdl = mdl_for((PVOID)0x10000, (most / 8 - 1) * PAGE_SIZE);
    CHECK(mdl->Size == 0x7FF0);
    IoFreeMdl(mdl);
    mdl = mdl_for((PVOID)0x10000, (most / 8 + 1) * PAGE_SIZE);
    CHECK(mdl->Size == 0x7FF8);
    IoFreeMdl(mdl);
}

/* The room is what was allocated, whatever the MDL says. */
TEST_WITH(driver, mdls_are_not_enlarged)
{
    uint8_t *block = pool(NonPagedPoolNx, 4 * PAGE_SIZE);
    PMDL mdl = mdl_for(block, PAGE_SIZE), part = mdl_for(block, PAGE_SIZE);

    mdl->ByteCount++;
    MmBuildMdlForNonPagedPool(mdl);
    CHECK(told("NT-116") && mdl->MdlFlags == 0);
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    CHECK(told("NT-118") && mdl->MdlFlags == 0 && locks_of(block) == 0);
    IoBuildPartialMdl(mdl, part, block, 1);
    CHECK(told("NT-128") && part->MdlFlags == 0);
    mdl->ByteCount--;
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    CHECK(errors() == 0 && locks_of(block) == 1);
    mdl->ByteOffset = 1;
    CHECK(map(mdl) == NULL && told("NT-125"));
    mdl->ByteOffset = PAGE_SIZE;
    mdl->ByteCount = 0;
    CHECK(map(mdl) == NULL && told("NT-125"));
    mdl->ByteOffset = 0;
    mdl->ByteCount = PAGE_SIZE;
    MmUnlockPages(mdl);
    IoBuildPartialMdl(mdl, part, block, PAGE_SIZE);
    CHECK(errors() == 0 && part->MdlFlags == MDL_PARTIAL && part->ByteCount == PAGE_SIZE);
    IoFreeMdl(part);
    IoFreeMdl(mdl);
    ExFreePool(block);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

/* Of an MDL that the driver makes itself the header tells the room. */
TEST_WITH(driver, own_mdls_have_the_room_that_they_say)
{
    uint8_t *block = pool(NonPagedPoolNx, 4 * PAGE_SIZE);
    struct {
        MDL mdl;
        PFN_NUMBER page[2];
    } own;

    for (unsigned bytes = 0; bytes < sizeof(own) + 8; bytes += 4) {
        MmInitializeMdl(&own.mdl, block, 2 * PAGE_SIZE);
        own.mdl.Size = (CSHORT)bytes;
        MmBuildMdlForNonPagedPool(&own.mdl);
        if (bytes < sizeof(own))
            CHECK(told("NT-116") && own.mdl.MdlFlags == 0);
        else
            CHECK_RULE("NT-116/a", errors() == 0 && own.mdl.MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL);
    }
    MmInitializeMdl(&own.mdl, block, 0);
    own.mdl.Size = -8;
    MmBuildMdlForNonPagedPool(&own.mdl);
    CHECK(errors() == 0); /* nothing needs no room */
    MmInitializeMdl(&own.mdl, block, 1);
    own.mdl.Size = -8;
    MmBuildMdlForNonPagedPool(&own.mdl);
    CHECK(told("NT-116"));
    ExFreePool(block);
}

/* ---- what was freed ---- */

TEST_WITH(driver, freed_mdls_are_refused)
{
    uint8_t *block = pool(NonPagedPoolNx, PAGE_SIZE);
    PMDL freed = mdl_for(block, PAGE_SIZE), mdl = mdl_for(block, PAGE_SIZE);

    IoFreeMdl(freed);
    CHECK(errors() == 0);
    MmBuildMdlForNonPagedPool(freed);
    CHECK(told("NT-005"));
    MmProbeAndLockPages(freed, KernelMode, IoReadAccess);
    CHECK(told("NT-005") && locks_of(block) == 0);
    MmUnlockPages(freed);
    CHECK(told("NT-005"));
    CHECK(map(freed) == NULL && told("NT-005"));
    MmUnmapLockedPages(block, freed);
    CHECK(told("NT-005"));
    IoBuildPartialMdl(freed, mdl, block, 1);
    CHECK(told("NT-005"));
    IoBuildPartialMdl(mdl, freed, block, 1);
    CHECK(told("NT-005"));
    MmFreePagesFromMdl(freed);
    CHECK(told("NT-130"));
    MmFreePagesFromMdl(mdl); /* it has none */
    CHECK(told("NT-130"));
    CHECK(MmProtectMdlSystemAddress(freed, PAGE_READONLY) == STATUS_NOT_MAPPED_VIEW);
    IoFreeMdl(NULL);
    CHECK(told("NT-115"));
    IoFreeMdl(mdl);
    ExFreePool(block);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

/* Pool routines free MDLs of pages only, and those when nothing is left of them. */
TEST_WITH(driver, mdls_are_no_pool_blocks)
{
    const PHYSICAL_ADDRESS none = physical(0), top = physical(~0ull >> 1);
    uint8_t *block = pool(NonPagedPoolNx, PAGE_SIZE), *view;
    PMDL mdl = mdl_for(block, PAGE_SIZE);
    struct page_number page;

    ExFreePool(mdl);
    CHECK(told("NT-115"));
    mdl = mdl_for(block, PAGE_SIZE);
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    view = map(mdl);
    ExFreePool(mdl);
    CHECK(told("NT-115") && locks_of(block) == 0 && !accessible(view));
    mdl = MmAllocatePagesForMdl(none, top, none, 2 * PAGE_SIZE);
    page = (struct page_number){MmGetMdlPfnArray(mdl)[1]};
    CHECK(ram_page_owner(h.ram, page) == RAM_MDL_PAGES);
    ExFreePool(mdl);
    CHECK(told("NT-115") && ram_page_owner(h.ram, page) == RAM_FREE);
    mdl = MmAllocatePagesForMdl(none, top, none, 2 * PAGE_SIZE);
    IoFreeMdl(mdl);
    CHECK(told("NT-115"));
    MmUnlockPages(mdl);
    CHECK_RULE("NT-120/b", reported("NT-120", 0xC4, 0x7C) && errors() == 1);
    forget_reports();
    page = (struct page_number){MmGetMdlPfnArray(mdl)[1]};
    MmFreePagesFromMdl(mdl);
    CHECK(!(mdl->MdlFlags & MDL_PAGES_LOCKED) && ram_page_owner(h.ram, page) == RAM_FREE);
    IoFreeMdl(mdl); /* as it is of pages, it is freed as a block */
    forget_reports();
    ExFreePool(block);
    nt_image_leak_check(h.image);
    forget_reports();
}

/* ---- locking ---- */

static PMDL shared;
static uint8_t *shared_block;

static void lock_raised(void)
{
    MmProbeAndLockPages(shared, KernelMode, IoModifyAccess);
}

TEST_WITH(driver, pageable_memory_is_locked_below_dispatch_level)
{
    shared_block = pool(PagedPool, PAGE_SIZE);
    shared = mdl_for(shared_block, PAGE_SIZE);
    in_dpc(lock_raised);
    CHECK(reported("NT-118", 0xC4, 0x70) && errors() == 1);
    CHECK(locks_of(shared_block) == 1 && shared->MdlFlags & MDL_WRITE_OPERATION);
    MmUnlockPages(shared);
    CHECK(!(shared->MdlFlags & (MDL_WRITE_OPERATION | MDL_PAGES_LOCKED)));
    IoFreeMdl(shared);
    ExFreePool(shared_block);
    forget_reports();
    shared_block = pool(NonPagedPoolNx, PAGE_SIZE);
    shared = mdl_for(shared_block, PAGE_SIZE);
    in_dpc(lock_raised);
    CHECK_RULE("NT-118/a", errors() == 0 && locks_of(shared_block) == 1);
    MmUnlockPages(shared);
    MmProbeAndLockPages(shared, KernelMode, IoReadAccess);
    CHECK(!(shared->MdlFlags & MDL_WRITE_OPERATION) && !shared->Process);
    MmUnlockPages(shared);
    IoFreeMdl(shared);
    ExFreePool(shared_block);
    CHECK(errors() == 0);
}

TEST_WITH(driver, parts_are_not_locked)
{
    uint8_t *block = pool(NonPagedPoolNx, PAGE_SIZE);
    PMDL mdl = mdl_for(block, PAGE_SIZE), part = mdl_for(block, PAGE_SIZE);

    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    IoBuildPartialMdl(mdl, part, block, 8);
    MmProbeAndLockPages(part, KernelMode, IoReadAccess);
    CHECK_RULE("NT-119/a", told("NT-119") && locks_of(block) == 1);
    MmBuildMdlForNonPagedPool(part);
    CHECK(told("NT-116") && !(part->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL));
    MmBuildMdlForNonPagedPool(mdl);
    CHECK(told("NT-116") && !(mdl->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL));
    mdl->MdlFlags &= (CSHORT)~MDL_PAGES_LOCKED; /* who locked it knows better */
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    CHECK_RULE("NT-119/a", told("NT-119") && locks_of(block) == 1);
    mdl->MdlFlags |= MDL_PAGES_LOCKED;
    MmUnlockPages(mdl);
    IoFreeMdl(part);
    IoFreeMdl(mdl);
    ExFreePool(block);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

/* An MDL of nothing is locked, and unlocked, without a page. */
TEST_WITH(driver, mdls_may_be_empty)
{
    uint8_t *block = pool(NonPagedPoolNx, PAGE_SIZE);
    PMDL mdl = mdl_for(block, 0);

    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    CHECK(errors() == 0 && h.raises == 0 && mdl->MdlFlags == MDL_PAGES_LOCKED);
    CHECK(map(mdl) == NULL && told("NT-125"));
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    CHECK_RULE("NT-119/a", told("NT-119"));
    MmUnlockPages(mdl);
    CHECK(errors() == 0 && mdl->MdlFlags == 0);
    MmUnlockPages(mdl);
    CHECK_RULE("NT-120/b", reported("NT-120", 0xC4, 0x7C));
    forget_reports();
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    IoFreeMdl(mdl);
    CHECK_RULE("NT-115/b", reported("NT-115", 0xC4, 0xB8) && nt_image_leak_check(h.image) == 1);
    forget_reports();
    mdl = mdl_for((PVOID)0x1000, 10); /* nothing is there */
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    CHECK(h.raises == 1 && h.raised == STATUS_ACCESS_VIOLATION && mdl->MdlFlags == 0);
    IoFreeMdl(mdl);
    ExFreePool(block);
}
