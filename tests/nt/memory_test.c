/* SPDX-License-Identifier: MIT */
/* MDLs, contiguous memory, device memory, registers, physical addresses, probes. */
#include "nt/io/image_life.h"
#include "nt/mm/mdl.h"
#include "nt/ps/process.h"
#include "support/harness.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "support/test_device.h"

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

/* ---- building ---- */

static void check_allocation(void)
{
    PMDL mdl = mdl_for((void *)(uintptr_t)0x10008, 2 * PAGE_SIZE);
    uint64_t slots = ((uint64_t)mdl->Size - sizeof(MDL)) / sizeof(PFN_NUMBER);

    CHECK_RULE("NT-114", slots == 3 && MmGetMdlByteOffset(mdl) == 8);
    CHECK_RULE("NT-114", mdl_for(NULL, 0xFFFFFFFF) == NULL);
    IoFreeMdl(mdl);
    CHECK_RULE("NT-114", errors() == 0);
    IoFreeMdl(mdl);
    CHECK_RULE("NT-115", broken("NT-115"));
}

static void check_nonpaged(void)
{
    uint8_t *block = pool(NonPagedPoolNx, 3 * PAGE_SIZE);
    uint8_t *paged = pool(PagedPool, 100);
    uint8_t on_stack[64];
    PMDL mdl = mdl_for(block + 100, 2 * PAGE_SIZE);

    MmBuildMdlForNonPagedPool(mdl);
    CHECK_RULE("NT-116", mdl->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL);
    for (unsigned i = 0; i < 3; i++) {
        PHYSICAL_ADDRESS at = MmGetPhysicalAddress(block + i * PAGE_SIZE);

        CHECK_RULE("NT-127", MmGetMdlPfnArray(mdl)[i] * PAGE_SIZE == (ULONG64)at.QuadPart);
    }
    CHECK_RULE("NT-117", MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority) == block + 100);
    assert_int_equal(errors(), 0);
    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    CHECK_RULE("NT-117", reported("NT-117", 0xC4, 0xB0));
    MmUnlockPages(mdl);
    CHECK_RULE("NT-117", reported("NT-117", 0xC4, 0x7D));
    forget_reports();
    CHECK_RULE("NT-117", map(mdl) == block + 100 && broken("NT-117"));
    forget_reports();
    MmUnmapLockedPages(block + 100, mdl);
    CHECK_RULE("NT-117", broken("NT-117"));
    IoFreeMdl(mdl);

    mdl = mdl_for(paged, 100);
    MmBuildMdlForNonPagedPool(mdl);
    CHECK_RULE("NT-116", reported("NT-116", 0xC4, 0x7F));
    CHECK_RULE("NT-116", !(mdl->MdlFlags & MDL_SOURCE_IS_NONPAGED_POOL));
    IoFreeMdl(mdl);
    forget_reports();
    mdl = mdl_for(on_stack, sizeof(on_stack));
    MmBuildMdlForNonPagedPool(mdl);
    CHECK_RULE("NT-116", broken("NT-116"));
    IoFreeMdl(mdl);
    ExFreePool(block);
    ExFreePool(paged);
}

TEST_WITH(machine, mdls_describe_memory)
{
    run(check_allocation);
    forget_reports();
    run(check_nonpaged);
    assert_int_equal(nt_image_leak_check(h.image), 0);
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
    CHECK_RULE("NT-122", mapped && errors() == 0);
    mapped[7] = 0x77;
    CHECK_RULE("NT-122", block[7] == 0x77);
    MmUnmapLockedPages(mapped, &host.mdl);
    CHECK_RULE("NT-123", errors() == 0 && !(host.mdl.MdlFlags & MDL_MAPPED_TO_SYSTEM_VA));
    nt_mdl_gone(&host.mdl);
    CHECK_RULE("NT-126", errors() == 0);

    mapped = MmGetSystemAddressForMdlSafe(&host.mdl, HighPagePriority);
    nt_mdl_gone(&host.mdl);
    CHECK_RULE("NT-126", broken("NT-126") && !sim_copy_checked(&host.page, mapped, 1));
    host.page = (PFN_NUMBER)1 << 40; /* nobody's */
    forget_reports();
    CHECK_RULE("NT-124", MmGetSystemAddressForMdlSafe(&host.mdl, HighPagePriority) == NULL);
    ExFreePool(block);
}

static void check_lock(void)
{
    uint8_t *block = pool(PagedPool, 2 * PAGE_SIZE);
    PMDL mdl = mdl_for(block, 2 * PAGE_SIZE);
    uint8_t *mapped, *again;

    CHECK_RULE("NT-125", map(mdl) == NULL && reported("NT-125", 0xC4, 0xB3));
    forget_reports();
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    CHECK_RULE("NT-118", ram_page_locks(h.ram, page_of(block)) == 1 && errors() == 0);
    CHECK_RULE("NT-127", MmGetMdlPfnArray(mdl)[1] == page_of(block + PAGE_SIZE).value);
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    CHECK_RULE("NT-119", broken("NT-119") && ram_page_locks(h.ram, page_of(block)) == 1);

    mapped = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
    again = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
    CHECK_RULE("NT-122", mapped && mapped == again);
    mapped[5] = 0x5A;
    mapped[PAGE_SIZE + 5] = 0xA5;
    CHECK_RULE("NT-122", block[5] == 0x5A && block[PAGE_SIZE + 5] == 0xA5);
    forget_reports();
    CHECK_RULE("NT-125", map(mdl) == mapped && reported("NT-125", 0xC4, 0xB2));
    MmUnlockPages(mdl);
    CHECK_RULE("NT-123", !(mdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA));
    CHECK_RULE("NT-120", ram_page_locks(h.ram, page_of(block)) == 0);
    CHECK_RULE("NT-123", !sim_copy_checked(&again, mapped, 1));
    forget_reports();
    MmUnlockPages(mdl);
    CHECK_RULE("NT-120", reported("NT-120", 0xC4, 0x7C));

    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    MmGetMdlPfnArray(mdl)[0]++;
    forget_reports();
    MmUnlockPages(mdl);
    CHECK_RULE("NT-127", broken("NT-127") && ram_page_locks(h.ram, page_of(block)) == 0);

    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    IoFreeMdl(mdl);
    CHECK_RULE("NT-115", reported("NT-115", 0xC4, 0xB8));
    CHECK_RULE("NT-115", ram_page_locks(h.ram, page_of(block)) == 0);
    ExFreePool(block);
}

TEST_WITH(machine, pages_are_locked_and_unlocked)
{
    run(check_host_mdl);
    forget_reports();
    run(check_lock);
    assert_int_equal(nt_image_leak_check(h.image), 0);
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
    CHECK_RULE("NT-119", reported("NT-119", 0xC4, 0x70));
    if (!(shared_mdl->MdlFlags & MDL_PAGES_LOCKED))
        lock_shared();
    forget_reports();
    in_dpc(map_user);
    CHECK_RULE("NT-124", reported("NT-124", 0xC4, 0x77));
    mapped = MmMapLockedPagesSpecifyCache(shared_mdl, KernelMode, MmCached, NULL, TRUE,
                                          NormalPagePriority);
    CHECK_RULE("NT-124", mapped && reported("NT-124", 0xC4, 0x82));
    MmUnmapLockedPages(mapped, shared_mdl);
    MmMapLockedPages(shared_mdl, KernelMode);
    CHECK_RULE("NT-125", reported("NT-125", 0xC4, 0x81));
    MmUnlockPages(shared_mdl);
    MmUnmapLockedPages(mapped, shared_mdl);
    CHECK_RULE("NT-126", reported("NT-126", 0xC4, 0xB6));
    IoFreeMdl(shared_mdl);
    ExFreePool(block);
}

TEST_WITH(machine, mapping_is_checked)
{
    run(check_mdl_levels);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

TEST_WITH(driver, mapping_may_fail)
{
    uint8_t *block = pool(NonPagedPoolNx, PAGE_SIZE);
    PMDL mdl = mdl_for(block, PAGE_SIZE);

    MmProbeAndLockPages(mdl, KernelMode, IoReadAccess);
    h.machine->heap.fail_at = h.machine->heap.requests + 1;
    CHECK_RULE("NT-122", MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority) == NULL);
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
    CHECK_RULE("NT-128", MmGetMdlPfnArray(part)[0] == MmGetMdlPfnArray(source)[1]);
    CHECK_RULE("NT-128",
               MmGetSystemAddressForMdlSafe(part, NormalPagePriority) == mapped + PAGE_SIZE + 16);
    IoBuildPartialMdl(source, part, block + PAGE_SIZE, 0);
    CHECK_RULE("NT-128", MmGetMdlByteCount(part) == 3 * PAGE_SIZE && errors() == 0);
    IoBuildPartialMdl(source, part, block + PAGE_SIZE, 4 * PAGE_SIZE);
    CHECK_RULE("NT-128", broken("NT-128"));
    forget_reports();
    IoBuildPartialMdl(source, small, block, 2 * PAGE_SIZE);
    CHECK_RULE("NT-128", broken("NT-128"));
    MmUnlockPages(part);
    CHECK_RULE("NT-120", reported("NT-120", 0xC4, 0xB4));
    MmUnmapLockedPages(mapped, part);
    CHECK_RULE("NT-126", reported("NT-126", 0xC4, 0xB5));

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
    CHECK_RULE("NT-123", errors() == 0 && !sim_copy_checked(&small, mapped, 1));
    IoFreeMdl(small);
    MmUnlockPages(source);
    IoFreeMdl(source);
    ExFreePool(block);
}

TEST_WITH(machine, partial_mdls_share_their_source)
{
    run(check_partial);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

static void check_pages(void)
{
    const PHYSICAL_ADDRESS none = physical(0), top = physical(~0ull >> 1);
    uint64_t before = ram_free_pages(h.ram);
    PMDL mdl = MmAllocatePagesForMdlEx(none, top, none, 10 * PAGE_SIZE, MmCached, 0);
    uint8_t *mapped;

    CHECK_RULE("NT-129", MmGetMdlByteCount(mdl) == 10 * PAGE_SIZE);
    mapped = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
    for (unsigned i = 0; i < 10 * PAGE_SIZE; i += 512)
        CHECK_RULE("NT-129", mapped[i] == 0);
    MmUnmapLockedPages(mapped, mdl);
    CHECK_RULE("NT-123", !sim_copy_checked(&before, mapped, 1));
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
    CHECK_RULE("NT-130", errors() == 0);

    mdl = MmAllocatePagesForMdl(none, physical(0xFFFFF), none, 16 << 20);
    CHECK_RULE("NT-129", mdl && MmGetMdlByteCount(mdl) < 1 << 20);
    for (unsigned i = 0; i < MmGetMdlByteCount(mdl) / PAGE_SIZE; i++)
        CHECK_RULE("NT-129", MmGetMdlPfnArray(mdl)[i] < 256);
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
    CHECK_RULE("NT-129", MmAllocatePagesForMdlEx(none, physical(0xFFFFF), none, 16 << 20, MmCached,
                                                 MM_ALLOCATE_FULLY_REQUIRED) == NULL);
    mdl = MmAllocatePagesForMdlEx(none, top, none, 8 * PAGE_SIZE, MmCached,
                                  MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS);
    for (unsigned i = 1; i < 8; i++)
        CHECK_RULE("NT-129", MmGetMdlPfnArray(mdl)[i] == MmGetMdlPfnArray(mdl)[0] + i);
    MmFreePagesFromMdl(mdl);
    forget_reports();
    MmFreePagesFromMdl(mdl);
    CHECK_RULE("NT-130", broken("NT-130"));
}

static PMDL dpc_mdl;

static void allocate_in_dpc(void)
{
    dpc_mdl = MmAllocatePagesForMdl(physical(0), physical(~0ull >> 1), physical(0), PAGE_SIZE);
}

static void check_pages_level(void)
{
    in_dpc(allocate_in_dpc);
    CHECK_RULE("NT-131", dpc_mdl && errors() == 0);
    MmFreePagesFromMdl(dpc_mdl);
    ExFreePool(dpc_mdl);
    in_interrupt(allocate_in_dpc);
    CHECK_RULE("NT-131", reported("NT-131", 0xC4, 0x7E));
    MmFreePagesFromMdl(dpc_mdl);
    ExFreePool(dpc_mdl);
}

TEST_WITH(machine, pages_come_and_go)
{
    run(check_pages);
    forget_reports();
    CHECK_RULE("NT-130", nt_image_leak_check(h.image) == 1); /* without ExFreePool */
    forget_reports();
    run(check_pages_level);
    assert_int_equal(nt_image_leak_check(h.image), 0);
}

/* ---- client memory ---- */

static uint8_t *client_page, *read_only;
static PMDL client_mdl;

static void lock_client(void)
{
    uint8_t *kernel = pool(NonPagedPoolNx, PAGE_SIZE);

    client_mdl = mdl_for(client_page, PAGE_SIZE);
    MmProbeAndLockPages(client_mdl, UserMode, IoWriteAccess);
    assert_int_equal(h.raises, 0);
    shared_mdl = mdl_for(read_only, PAGE_SIZE);
    MmProbeAndLockPages(shared_mdl, UserMode, IoWriteAccess);
    CHECK_RULE("NT-118", h.raises == 1 && h.raised == STATUS_ACCESS_VIOLATION);
    MmProbeAndLockPages(shared_mdl, UserMode, IoReadAccess);
    CHECK_RULE("NT-118", h.raises == 1);
    MmUnlockPages(shared_mdl);
    IoFreeMdl(shared_mdl);

    ProbeForRead(kernel, 16, 1);
    CHECK_RULE("NT-108", h.raises == 2 && h.raised == STATUS_ACCESS_VIOLATION);
    ProbeForRead(kernel, 0, 1);
    CHECK_RULE("NT-108", h.raises == 2);
    ProbeForRead(client_page + 1, 4, 4);
    CHECK_RULE("NT-108", h.raises == 3 && h.raised == STATUS_DATATYPE_MISALIGNMENT);
    ProbeForRead(client_page, 4096, 8);
    CHECK_RULE("NT-108", h.raises == 3);
    ProbeForWrite(read_only, 4, 1);
    CHECK_RULE("NT-108", h.raises == 4);
    ExFreePool(kernel);
    forget_reports();
    CHECK_RULE("NT-138", MmGetPhysicalAddress(client_page).QuadPart == 0 && broken("NT-138"));
}

static PVOID user_view;

static void map_for_client(void)
{
    shared_mdl = mdl_for(pool(NonPagedPoolNx, PAGE_SIZE), PAGE_SIZE);
    MmProbeAndLockPages(shared_mdl, KernelMode, IoWriteAccess);
    user_view = MmMapLockedPagesSpecifyCache(shared_mdl, UserMode, MmCached, NULL, FALSE,
                                             NormalPagePriority);
    assert_non_null(user_view);
}

static void unmap_elsewhere(void)
{
    forget_reports();
    MmUnmapLockedPages(user_view, shared_mdl);
    CHECK_RULE("NT-126", reported("NT-126", 0xC4, 0xB9));
}

TEST_WITH(machine, client_memory_is_probed)
{
    struct nt_process *client = nt_process_create("client");
    struct ram_request request = {.pages = 2, .owner = RAM_CLIENT, .cache = RAM_CACHED};
    struct page_number pages[2];
    uint8_t *view = ram_view_reserve(h.ram, 2);

    assert_true(ram_take_pages(h.ram, &request, pages));
    assert_true(ram_view_point(h.ram, view, 0, pages, 1, true));
    assert_true(ram_view_point(h.ram, view, 1, pages + 1, 1, false));
    client_page = view;
    read_only = view + PAGE_SIZE;
    run_client(client, lock_client);
    run_client(client, map_for_client);
    run(unmap_elsewhere);
    forget_reports();
    nt_process_destroy(client);
    CHECK_RULE("NT-121", broken("NT-121") && verify_bugcheck_state(h.log)->happened);
    nt_image_leak_check(h.image);
    ram_view_release(h.ram, view, 2);
    ram_give_pages(h.ram, pages, 2);
}

/* ---- contiguous memory ---- */

static void check_contiguous(void)
{
    const PHYSICAL_ADDRESS top = physical(0x7FFFFFFFFFFFFFFF);
    uint8_t *block = MmAllocateContiguousMemory(5 * PAGE_SIZE, top);
    PHYSICAL_ADDRESS first = MmGetPhysicalAddress(block);

    CHECK_RULE("NT-132", (uintptr_t)block % PAGE_SIZE == 0);
    for (unsigned i = 0; i < 5; i++)
        CHECK_RULE("NT-137", MmGetPhysicalAddress(block + i * PAGE_SIZE).QuadPart ==
                                 first.QuadPart + i * PAGE_SIZE);
    MmFreeContiguousMemory(block + PAGE_SIZE);
    CHECK_RULE("NT-133", reported("NT-133", 0xC2, 0x60));
    forget_reports();
    MmFreeContiguousMemory(block);
    CHECK_RULE("NT-133", errors() == 0);

    for (unsigned i = 0; i < 20; i++) {
        uint64_t start;

        block = MmAllocateContiguousMemorySpecifyCache(
            48 << 10, physical(0x100000), physical(0x2FFFFFF), physical(65536), MmWriteCombined);
        start = (uint64_t)MmGetPhysicalAddress(block).QuadPart;
        CHECK_RULE("NT-132", start / 65536 == (start + (48 << 10) - 1) / 65536);
        CHECK_RULE("NT-132", start >= 0x100000 && start + (48 << 10) - 1 <= 0x2FFFFFF);
    }
    MmFreeContiguousMemorySpecifyCache(block, 48 << 10, MmCached);
    CHECK_RULE("NT-133", broken("NT-133"));
    CHECK_RULE("NT-132", MmAllocateContiguousMemory(128 << 20, top) == NULL);
}

TEST_WITH(machine, contiguous_blocks_keep_their_limits)
{
    run(check_contiguous);
    assert_int_equal(nt_image_leak_check(h.image), 19);
}

TEST_WITH(driver, physical_addresses_are_of_lasting_memory)
{
    uint8_t *paged = pool(PagedPool, 100), *block = pool(NonPagedPoolNx, 100);
    uint8_t on_stack;

    CHECK_RULE("NT-138", MmGetPhysicalAddress(paged).QuadPart == 0 && broken("NT-138"));
    forget_reports();
    ExFreePool(block);
    CHECK_RULE("NT-138", MmGetPhysicalAddress(block).QuadPart == 0 && broken("NT-138"));
    forget_reports();
    MmGetPhysicalAddress(&on_stack);
    assert_true(broken("NT-138"));
    ExFreePool(paged);
}

/* ---- device memory ---- */

static struct bus_device *device;

static void check_registers(void)
{
    PHYSICAL_ADDRESS bar = physical(bus_device_bar(device, 0).value);
    uint8_t *r = MmMapIoSpace(bar, 4096, MmNonCached);
    ULONG buffer[4] = {1, 2, 3, 4}, back[4];

    CHECK_RULE("NT-134", r != NULL);
    WRITE_REGISTER_ULONG((ULONG *)(void *)(r + 0x10), 0x12345678);
    CHECK_RULE("NT-139", test_device->last_offset == 0x10 && test_device->last_width == 4);
    CHECK_RULE("NT-139", READ_REGISTER_ULONG((ULONG *)(void *)(r + 0x10)) == 0x12345678);
    CHECK_RULE("NT-139", READ_REGISTER_USHORT((USHORT *)(void *)(r + 0x12)) == 0x1234 &&
                             test_device->last_width == 2);
    CHECK_RULE("NT-139", READ_REGISTER_UCHAR(r + 0x11) == 0x56 && test_device->last_width == 1);
    WRITE_REGISTER_ULONG64((ULONG64 *)(void *)(r + 8), 0x1122334455667788);
    CHECK_RULE("NT-139",
               test_device->last_width == 8 && test_device->registers[1] == 0x1122334455667788);
    WRITE_REGISTER_BUFFER_ULONG((ULONG *)(void *)(r + 0x20), buffer, 4);
    READ_REGISTER_BUFFER_ULONG((ULONG *)(void *)(r + 0x20), back, 4);
    assert_memory_equal(buffer, back, sizeof(buffer));
    assert_int_equal(errors(), 0);
    CHECK_RULE("NT-139",
               READ_REGISTER_USHORT((USHORT *)(void *)(r + 0x13)) == 0xFFFF && broken("NT-139"));
    CHECK_RULE("NT-138", MmGetPhysicalAddress(r + 0x20).QuadPart == bar.QuadPart + 0x20);
    MmUnmapIoSpace(r, 100);
    CHECK_RULE("NT-135", broken("NT-135"));
    forget_reports();
    CHECK_RULE("NT-139", READ_REGISTER_ULONG((ULONG *)(void *)r) == 0xFFFFFFFF && broken("NT-139"));
}

static void unmap_high(void)
{
    PVOID mapped = MmMapIoSpace(physical(bus_device_bar(device, 0).value), 4096, MmNonCached);

    MmUnmapIoSpace(mapped, 4096);
}

static void check_io_space(void)
{
    PHYSICAL_ADDRESS bar = physical(bus_device_bar(device, 2).value);
    uint8_t *memory = MmMapIoSpace(bar, 65536, MmWriteCombined);
    uint8_t *other, *block;
    PMDL mdl;

    memory[100] = 0x42;
    assert_int_equal(((uint8_t *)bus_device_memory(device, 2))[100], 0x42);
    WRITE_REGISTER_UCHAR(memory + 101, 0x43);
    assert_int_equal(memory[101], 0x43);
    CHECK_RULE("NT-136", errors() == 0);
    other = MmMapIoSpace(bar, 4096, MmNonCached);
    CHECK_RULE("NT-136", other && broken("NT-136"));
    forget_reports();
    CHECK_RULE("NT-134", MmMapIoSpace(bar, 0, MmNonCached) == NULL && broken("NT-134"));
    MmUnmapIoSpace(other, 4096);
    forget_reports();
    mdl = mdl_for(memory, 4096);
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    CHECK_RULE("NT-119", reported("NT-119", 0xC4, 0x6F));
    IoFreeMdl(mdl);
    MmUnmapIoSpace(memory, 65536);

    forget_reports();
    CHECK_RULE("NT-134", MmMapIoSpace(physical(0x3000000), 4096, MmCached) == NULL &&
                             reported("NT-134", 0xC4, 0x83));
    block = pool(NonPagedPoolNx, PAGE_SIZE);
    other = MmMapIoSpaceEx(MmGetPhysicalAddress(block), PAGE_SIZE, PAGE_READWRITE);
    other[3] = 0x99;
    CHECK_RULE("NT-134", block[3] == 0x99);
    MmUnmapIoSpace(other, PAGE_SIZE);
    ExFreePool(block);
    forget_reports();
    CHECK_RULE("NT-134", MmMapIoSpaceEx(bar, 4096,
                                        PAGE_READWRITE | PAGE_NOCACHE | PAGE_WRITECOMBINE) == NULL &&
                             broken("NT-134"));
    in_interrupt(unmap_high);
    CHECK_RULE("NT-134", reported("NT-134", 0xC4, 0x73));
    CHECK_RULE("NT-135", reported("NT-135", 0xC4, 0x7B));
    MmMapIoSpace(bar, 4096, MmNonCached);
}

TEST_WITH(machine, device_memory_is_mapped)
{
    device = test_device_add(h.bus);
    assert_non_null(device);
    run(check_registers);
    forget_reports();
    run(check_io_space);
    forget_reports();
    CHECK_RULE("NT-135", nt_image_leak_check(h.image) == 1 && broken("NT-135"));
    assert_int_equal(bus_mappings(h.bus), 0);
}
