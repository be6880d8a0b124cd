/* SPDX-License-Identifier: MIT */
/* MDLs: building them, locking and mapping their pages, parts of them, pages of their own. */
#include "nt/io/image_life.h"
#include "nt/mm/mdl.h"
#include "ram/ram.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "support/harness.h"

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

/* Run it as the driver, which must leave nothing behind. */
static void run_clean(void (*fn)(void))
{
    run(fn);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

/* ---- building ---- */

static void check_allocation(void)
{
    PMDL mdl = mdl_for((void *)(uintptr_t)0x10008, 2 * PAGE_SIZE);
    uint64_t slots = ((uint64_t)mdl->Size - sizeof(MDL)) / sizeof(PFN_NUMBER);

    CHECK_RULE("NT-114/a", slots == 3 && MmGetMdlByteOffset(mdl) == 8);
    CHECK_RULE("NT-114/b", mdl_for(NULL, 0xFFFFFFFF) == NULL);
    IoFreeMdl(mdl);
    CHECK_RULE("NT-114/c", errors() == 0);
    IoFreeMdl(mdl);
    CHECK_RULE("NT-115/a", broken("NT-115"));
}

static void check_nonpaged(void)
{
    uint8_t *block = pool(NonPagedPoolNx, 3 * PAGE_SIZE);
    uint8_t *paged = pool(PagedPool, 100);
    uint8_t on_stack[64];
    PMDL mdl = mdl_for(block + 100, 2 * PAGE_SIZE);

    MmBuildMdlForNonPagedPool(mdl);
    CHECK_RULE("NT-116/a", mdl->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL);
    for (unsigned i = 0; i < 3; i++) {
        PHYSICAL_ADDRESS at = MmGetPhysicalAddress(block + i * PAGE_SIZE);

        CHECK_RULE("NT-127/a", MmGetMdlPfnArray(mdl)[i] * PAGE_SIZE == (ULONG64)at.QuadPart);
    }
    CHECK_RULE("NT-117/a", MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority) == block + 100);
    assert_int_equal(errors(), 0);
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    CHECK_RULE("NT-117/b", reported("NT-117", 0xC4, 0xB0));
    MmUnlockPages(mdl);
    CHECK_RULE("NT-117/c", reported("NT-117", 0xC4, 0x7D));
    forget_reports();
    CHECK_RULE("NT-117/d", map(mdl) == block + 100 && broken("NT-117"));
    forget_reports();
    MmUnmapLockedPages(block + 100, mdl);
    CHECK_RULE("NT-117/e", broken("NT-117"));
    IoFreeMdl(mdl);

    mdl = mdl_for(paged, 100);
    MmBuildMdlForNonPagedPool(mdl);
    CHECK_RULE("NT-116/b", reported("NT-116", 0xC4, 0x7F));
    CHECK_RULE("NT-116/b", !(mdl->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL));
    IoFreeMdl(mdl);
    forget_reports();
    mdl = mdl_for(on_stack, sizeof(on_stack));
    MmBuildMdlForNonPagedPool(mdl);
    CHECK_RULE("NT-116/c", broken("NT-116"));
    IoFreeMdl(mdl);
    ExFreePool(block);
    ExFreePool(paged);
}

TEST_WITH(machine, mdls_describe_memory)
{
    run(check_allocation);
    forget_reports();
    run_clean(check_nonpaged);
}

/* ---- locking ---- */

static struct page_number page_of(const void *address)
{
    struct phys_addr physical_address;

    assert_true(ram_physical(h.ram, address, &physical_address));
    return phys_page(physical_address);
}

/* As the memory manager gives them in paging operations: made by hand, over pages that are somebody's. */
static void check_host_mdl(void)
{
    uint8_t *block = pool(NonPagedPoolNx, PAGE_SIZE);
    struct {
        MDL mdl;
        PFN_NUMBER page;
    } host = {.mdl = {.Size = sizeof(host),
                      .MdlFlags = (CSHORT)(MDL_PAGES_LOCKED | MDL_INTERNAL),
                      .ByteCount = PAGE_SIZE},
              .page = page_of(block).value};
    uint8_t *mapped;

    mapped = MmGetSystemAddressForMdlSafe(&host.mdl, HighPagePriority);
    CHECK_RULE("NT-122/a", mapped && errors() == 0);
    mapped[7] = 0x77;
    CHECK_RULE("NT-122/a", block[7] == 0x77);
    MmUnmapLockedPages(mapped, &host.mdl);
    CHECK_RULE("NT-123/d", errors() == 0 && !(host.mdl.MdlFlags & MDL_MAPPED_TO_SYSTEM_VA));
    nt_mdl_gone(&host.mdl);
    CHECK_RULE("NT-126/a", errors() == 0);

    mapped = MmGetSystemAddressForMdlSafe(&host.mdl, HighPagePriority);
    nt_mdl_gone(&host.mdl);
    CHECK_RULE("NT-126/b", broken("NT-126") && !sim_copy_checked(&host.page, mapped, 1));
    host.page = (PFN_NUMBER)1 << 40; /* nobody's */
    forget_reports();
    CHECK_RULE("NT-124/a", MmGetSystemAddressForMdlSafe(&host.mdl, HighPagePriority) == NULL);
    ExFreePool(block);
}

TEST_WITH(machine, mdls_of_the_host_are_mapped_like_others)
{
    run_clean(check_host_mdl);
}

static PMDL two_paged_pages(uint8_t **block)
{
    *block = pool(PagedPool, 2 * PAGE_SIZE);
    return mdl_for(*block, 2 * PAGE_SIZE);
}

static void check_lock(void)
{
    uint8_t *block;
    PMDL mdl = two_paged_pages(&block);

    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    CHECK_RULE("NT-118/a", ram_page_locks(h.ram, page_of(block)) == 1 && errors() == 0);
    CHECK_RULE("NT-127/b", MmGetMdlPfnArray(mdl)[1] == page_of(block + PAGE_SIZE).value);
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    CHECK_RULE("NT-119/a", broken("NT-119") && ram_page_locks(h.ram, page_of(block)) == 1);
    MmUnlockPages(mdl);
    CHECK_RULE("NT-120/a", ram_page_locks(h.ram, page_of(block)) == 0);
    forget_reports();
    MmUnlockPages(mdl);
    CHECK_RULE("NT-120/b", reported("NT-120", 0xC4, 0x7C));
    IoFreeMdl(mdl);
    ExFreePool(block);
}

TEST_WITH(machine, pages_are_locked_once_and_unlocked_once)
{
    run_clean(check_lock);
}

static void check_view(void)
{
    uint8_t *block, *mapped, *again;
    PMDL mdl = two_paged_pages(&block);

    CHECK_RULE("NT-125/a", map(mdl) == NULL && reported("NT-125", 0xC4, 0xB3));
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    mapped = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
    again = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
    CHECK_RULE("NT-122/b", mapped && mapped == again);
    mapped[5] = 0x5A;
    mapped[PAGE_SIZE + 5] = 0xA5;
    CHECK_RULE("NT-122/a", block[5] == 0x5A && block[PAGE_SIZE + 5] == 0xA5);
    forget_reports();
    CHECK_RULE("NT-125/b", map(mdl) == mapped && reported("NT-125", 0xC4, 0xB2));
    MmUnlockPages(mdl);
    CHECK_RULE("NT-123/a", !(mdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA));
    CHECK_RULE("NT-123/a", !sim_copy_checked(&again, mapped, 1));
    IoFreeMdl(mdl);
    ExFreePool(block);
}

TEST_WITH(machine, locked_pages_have_one_view_until_they_are_unlocked)
{
    run_clean(check_view);
}

static void check_changed_frames(void)
{
    uint8_t *block;
    PMDL mdl = two_paged_pages(&block);

    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    MmGetMdlPfnArray(mdl)[0]++;
    MmUnlockPages(mdl);
    CHECK_RULE("NT-127/c", broken("NT-127") && ram_page_locks(h.ram, page_of(block)) == 0);
    IoFreeMdl(mdl);
    ExFreePool(block);
}

TEST_WITH(machine, the_frames_of_an_mdl_are_not_the_drivers_to_change)
{
    run_clean(check_changed_frames);
}

static void check_free_while_locked(void)
{
    uint8_t *block;
    PMDL mdl = two_paged_pages(&block);

    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    IoFreeMdl(mdl);
    CHECK_RULE("NT-115/b", reported("NT-115", 0xC4, 0xB8));
    CHECK_RULE("NT-115/b", ram_page_locks(h.ram, page_of(block)) == 0);
    ExFreePool(block);
}

TEST_WITH(machine, pages_are_unlocked_before_their_mdl_is_freed)
{
    run_clean(check_free_while_locked);
}

static PMDL shared_mdl;

static void lock_shared(void)
{
    MmProbeAndLockPages(shared_mdl, KernelMode, IoReadAccess);
}

static void map_user(void)
{
    assert_null(MmMapLockedPagesSpecifyCache(shared_mdl, UserMode, MmCached, NULL, FALSE,
                                             NormalPagePriority));
}

static void check_mdl_levels(void)
{
    uint8_t *block = pool(NonPagedPoolNx, PAGE_SIZE);
    PVOID mapped;

    shared_mdl = mdl_for(block, PAGE_SIZE);
    in_interrupt(lock_shared);
    CHECK_RULE("NT-119/b", reported("NT-119", 0xC4, 0x70));
    if (!(shared_mdl->MdlFlags & MDL_PAGES_LOCKED))
        lock_shared();
    forget_reports();
    in_dpc(map_user);
    CHECK_RULE("NT-124/b", reported("NT-124", 0xC4, 0x77));
    mapped = MmMapLockedPagesSpecifyCache(shared_mdl, KernelMode, MmCached, NULL, TRUE,
                                          NormalPagePriority);
    CHECK_RULE("NT-124/c", mapped && reported("NT-124", 0xC4, 0x82));
    MmUnmapLockedPages(mapped, shared_mdl);
    MmMapLockedPages(shared_mdl, KernelMode);
    CHECK_RULE("NT-125/c", reported("NT-125", 0xC4, 0x81));
    MmUnlockPages(shared_mdl);
    MmUnmapLockedPages(mapped, shared_mdl);
    CHECK_RULE("NT-126/c", reported("NT-126", 0xC4, 0xB6));
    IoFreeMdl(shared_mdl);
    ExFreePool(block);
}

TEST_WITH(machine, mapping_is_checked)
{
    run_clean(check_mdl_levels);
}

TEST_WITH(driver, mapping_may_fail)
{
    uint8_t *block = pool(NonPagedPoolNx, PAGE_SIZE);
    PMDL mdl = mdl_for(block, PAGE_SIZE);

    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    h.machine->heap.fail_at = h.machine->heap.requests + 1;
    CHECK_RULE("NT-122/c", MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority) == NULL);
    h.machine->heap.fail_at = 0;
    MmUnlockPages(mdl);
    IoFreeMdl(mdl);
    ExFreePool(block);
    assert_int_equal(errors(), 0);
}

static void check_partial(void)
{
    uint8_t *block = pool(NonPagedPoolNx, 4 * PAGE_SIZE);
    PMDL source = mdl_for(block, 4 * PAGE_SIZE);
    PMDL part = mdl_for(block, 4 * PAGE_SIZE);
    PMDL small = mdl_for(block, 100);
    uint8_t *mapped;

    MmProbeAndLockPages(source, KernelMode, IoWriteAccess);
    mapped = MmGetSystemAddressForMdlSafe(source, NormalPagePriority);
    IoBuildPartialMdl(source, part, block + PAGE_SIZE + 16, 100);
    CHECK_RULE("NT-128/a", MmGetMdlPfnArray(part)[0] == MmGetMdlPfnArray(source)[1]);
    CHECK_RULE("NT-128/b",
               MmGetSystemAddressForMdlSafe(part, NormalPagePriority) == mapped + PAGE_SIZE + 16);
    IoBuildPartialMdl(source, part, block + PAGE_SIZE, 0);
    CHECK_RULE("NT-128/c", MmGetMdlByteCount(part) == 3 * PAGE_SIZE && errors() == 0);
    IoBuildPartialMdl(source, part, block + PAGE_SIZE, 4 * PAGE_SIZE);
    CHECK_RULE("NT-128/d", broken("NT-128"));
    forget_reports();
    IoBuildPartialMdl(source, small, block, 2 * PAGE_SIZE);
    CHECK_RULE("NT-128/d", broken("NT-128"));
    MmUnlockPages(part);
    CHECK_RULE("NT-120/c", reported("NT-120", 0xC4, 0xB4));
    MmUnmapLockedPages(mapped, part);
    CHECK_RULE("NT-126/d", reported("NT-126", 0xC4, 0xB5));

    MmUnlockPages(source);
    MmProbeAndLockPages(source, KernelMode, IoWriteAccess);
    IoFreeMdl(part);
    part = mdl_for(block, PAGE_SIZE);
    IoBuildPartialMdl(source, part, block, PAGE_SIZE);
    forget_reports();
    mapped = MmGetSystemAddressForMdlSafe(part, NormalPagePriority);
    mapped[9] = 0x77;
    assert_int_equal(block[9], 0x77);
    IoFreeMdl(part);
    CHECK_RULE("NT-123/b", errors() == 0 && !sim_copy_checked(&small, mapped, 1));
    IoFreeMdl(small);
    MmUnlockPages(source);
    IoFreeMdl(source);
    ExFreePool(block);
}

TEST_WITH(machine, partial_mdls_share_their_source)
{
    run_clean(check_partial);
}

static void check_pages(void)
{
    const PHYSICAL_ADDRESS none = physical(0), top = physical(~0ull >> 1);
    uint64_t before = ram_free_pages(h.ram);
    PMDL mdl = MmAllocatePagesForMdlEx(none, top, none, 10 * PAGE_SIZE, MmCached, 0);
    uint8_t *mapped;

    CHECK_RULE("NT-129/a", MmGetMdlByteCount(mdl) == 10 * PAGE_SIZE);
    mapped = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
    for (unsigned i = 0; i < 10 * PAGE_SIZE; i += 512)
        CHECK_RULE("NT-129/b", mapped[i] == 0);
    MmUnmapLockedPages(mapped, mdl);
    CHECK_RULE("NT-123/c", !sim_copy_checked(&before, mapped, 1));
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
    CHECK_RULE("NT-130/a", errors() == 0);

    mdl = MmAllocatePagesForMdl(none, physical(0xFFFFF), none, 16 << 20);
    CHECK_RULE("NT-129/c", mdl && MmGetMdlByteCount(mdl) < 1 << 20);
    for (unsigned i = 0; i < MmGetMdlByteCount(mdl) / PAGE_SIZE; i++)
        CHECK_RULE("NT-129/c", MmGetMdlPfnArray(mdl)[i] < 256);
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
    CHECK_RULE("NT-129/d", MmAllocatePagesForMdlEx(none, physical(0xFFFFF), none, 16 << 20,
                                                   MmCached, MM_ALLOCATE_FULLY_REQUIRED) == NULL);
    mdl = MmAllocatePagesForMdlEx(none, top, none, 8 * PAGE_SIZE, MmCached,
                                  MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS);
    for (unsigned i = 1; i < 8; i++)
        CHECK_RULE("NT-129/e", MmGetMdlPfnArray(mdl)[i] == MmGetMdlPfnArray(mdl)[0] + i);
    MmFreePagesFromMdl(mdl);
    forget_reports();
    MmFreePagesFromMdl(mdl);
    CHECK_RULE("NT-130/b", broken("NT-130"));
}

static PMDL dpc_mdl;

static void allocate_in_dpc(void)
{
    dpc_mdl = MmAllocatePagesForMdl(physical(0), physical(~0ull >> 1), physical(0), PAGE_SIZE);
}

static void check_pages_level(void)
{
    in_dpc(allocate_in_dpc);
    CHECK_RULE("NT-131/a", dpc_mdl && errors() == 0);
    MmFreePagesFromMdl(dpc_mdl);
    ExFreePool(dpc_mdl);
    in_interrupt(allocate_in_dpc);
    CHECK_RULE("NT-131/b", reported("NT-131", 0xC4, 0x7E));
    MmFreePagesFromMdl(dpc_mdl);
    ExFreePool(dpc_mdl);
}

TEST_WITH(machine, pages_come_and_go)
{
    run(check_pages);
    forget_reports();
    CHECK_RULE("NT-130/c", nt_image_leak_check(h.image) == 1); /* without ExFreePool */
    forget_reports();
    run_clean(check_pages_level);
}
