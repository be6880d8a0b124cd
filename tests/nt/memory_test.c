/* SPDX-License-Identifier: MIT */
/* Client memory and its probes, contiguous memory, physical addresses, device memory, registers. */
#include "bus/device.h"
#include "bus/memory.h"
#include "bus/window.h"
#include "nt/io/image_life.h"
#include "nt/ps/process.h"
#include "support/harness.h"
#include "support/test_device.h"

static void *pool(POOL_TYPE type, SIZE_T bytes)
{
    return ExAllocatePoolWithTag(type, bytes, TAG);
}

static PMDL mdl_for(void *address, ULONG bytes)
{
    return IoAllocateMdl(address, bytes, FALSE, FALSE, NULL);
}

/* ---- client memory ---- */

static uint8_t *client_page, *read_only;
static PMDL client_mdl, shared_mdl;

static void lock_client(void)
{
    uint8_t *kernel = pool(NonPagedPoolNx, PAGE_SIZE);

    client_mdl = mdl_for(client_page, PAGE_SIZE);
    MmProbeAndLockPages(client_mdl, UserMode, IoWriteAccess);
    assert_int_equal(h.raises, 0);
    shared_mdl = mdl_for(read_only, PAGE_SIZE);
    MmProbeAndLockPages(shared_mdl, UserMode, IoWriteAccess);
    CHECK_RULE("NT-118/b", h.raises == 1 && h.raised == STATUS_ACCESS_VIOLATION);
    MmProbeAndLockPages(shared_mdl, UserMode, IoReadAccess);
    CHECK_RULE("NT-118/c", h.raises == 1);
    MmUnlockPages(shared_mdl);
    IoFreeMdl(shared_mdl);

    ProbeForRead(kernel, 16, 1);
    CHECK_RULE("NT-108/a", h.raises == 2 && h.raised == STATUS_ACCESS_VIOLATION);
    ProbeForRead(kernel, 0, 1);
    CHECK_RULE("NT-108/c", h.raises == 2);
    ProbeForRead(client_page + 1, 4, 4);
    CHECK_RULE("NT-108/b", h.raises == 3 && h.raised == STATUS_DATATYPE_MISALIGNMENT);
    ProbeForRead(client_page, 4096, 8);
    CHECK_RULE("NT-108/b", h.raises == 3);
    ProbeForWrite(read_only, 4, 1);
    CHECK_RULE("NT-108/a", h.raises == 4);
    ExFreePool(kernel);
    forget_reports();
    CHECK_RULE("NT-138/a", MmGetPhysicalAddress(client_page).QuadPart == 0 && broken("NT-138"));
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
    CHECK_RULE("NT-126/e", reported("NT-126", 0xC4, 0xB9));
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

    CHECK_RULE("NT-132/a", (uintptr_t)block % PAGE_SIZE == 0);
    for (unsigned i = 0; i < 5; i++)
        CHECK_RULE("NT-137", MmGetPhysicalAddress(block + i * PAGE_SIZE).QuadPart ==
                                 first.QuadPart + i * PAGE_SIZE);
    MmFreeContiguousMemory(block + PAGE_SIZE);
    CHECK_RULE("NT-133/a", reported("NT-133", 0xC2, 0x60));
    forget_reports();
    MmFreeContiguousMemory(block);
    CHECK_RULE("NT-133/b", errors() == 0);

    for (unsigned i = 0; i < 20; i++) {
        uint64_t start;

        block = MmAllocateContiguousMemorySpecifyCache(
            48 << 10, physical(0x100000), physical(0x2FFFFFF), physical(65536), MmWriteCombined);
        start = (uint64_t)MmGetPhysicalAddress(block).QuadPart;
        CHECK_RULE("NT-132/b", start / 65536 == (start + (48 << 10) - 1) / 65536);
        CHECK_RULE("NT-132/c", start >= 0x100000 && start + (48 << 10) - 1 <= 0x2FFFFFF);
    }
    MmFreeContiguousMemorySpecifyCache(block, 48 << 10, MmCached);
    CHECK_RULE("NT-133/c", broken("NT-133"));
    CHECK_RULE("NT-132/d", MmAllocateContiguousMemory(128 << 20, top) == NULL);
}

static void free_block(PVOID block, SIZE_T bytes, MEMORY_CACHING_TYPE cache)
{
    const size_t before = errors();

    MmFreeContiguousMemorySpecifyCache(block, bytes, cache);
    CHECK_RULE("NT-133/b", errors() == before);
}

/* The older and the newer forms: each has its limits and its kind of caching. */
static void check_forms(void)
{
    static const struct {
        ULONG protect;
        MEMORY_CACHING_TYPE cache;
    } kind[] = {{PAGE_READWRITE, MmCached},
                {PAGE_READWRITE | PAGE_NOCACHE, MmNonCached},
                {PAGE_READWRITE | PAGE_WRITECOMBINE, MmWriteCombined}};
    const PHYSICAL_ADDRESS low = physical(0x200000), top = physical(0x2FFFFF), none = physical(0);
    const SIZE_T bytes = 3 * PAGE_SIZE;
    uint64_t at;
    PVOID block;

    for (unsigned i = 0; i < 3; i++) {
        block = MmAllocateContiguousNodeMemory(bytes, low, top, physical(65536), kind[i].protect, 0);
        at = (uint64_t)MmGetPhysicalAddress(block).QuadPart;
        CHECK_RULE("NT-132/e", block && at >= 0x200000 && at + bytes <= 0x300000);
        CHECK_RULE("NT-132/e", at / 65536 == (at + bytes - 1) / 65536);
        free_block(block, bytes, kind[i].cache);
        block = MmAllocateContiguousMemorySpecifyCacheNode(bytes, low, top, physical(65536),
                                                           kind[i].cache, 0);
        at = (uint64_t)MmGetPhysicalAddress(block).QuadPart;
        CHECK_RULE("NT-132/e", block && at >= 0x200000 && at + bytes <= 0x300000);
        CHECK_RULE("NT-132/e", at / 65536 == (at + bytes - 1) / 65536);
        free_block(block, bytes, kind[i].cache);
    }
    CHECK_RULE("NT-132/d",
               !MmAllocateContiguousNodeMemory(2 << 20, low, top, none, PAGE_READWRITE, 0));
    block = MmAllocateNonCachedMemory(bytes);
    CHECK_RULE("NT-132/a", block && (uintptr_t)block % PAGE_SIZE == 0);
    MmFreeNonCachedMemory(block, bytes);
    CHECK_RULE("NT-133/b", errors() == 0);
    MmFreeNonCachedMemory(block, bytes);
    CHECK_RULE("NT-133/c", errors() == 1);
    forget_reports();
}

static void check_ranges(void)
{
    PPHYSICAL_MEMORY_RANGE range = MmGetPhysicalMemoryRanges();
    uint8_t *block = ExAllocatePoolWithTag(NonPagedPoolNx, PAGE_SIZE, TAG);

    assert_true(range[0].BaseAddress.QuadPart == 0 &&
                (uint64_t)range[0].NumberOfBytes.QuadPart == ram_bytes(h.ram));
    assert_true(range[1].BaseAddress.QuadPart == 0 && range[1].NumberOfBytes.QuadPart == 0);
    ExFreePool(range);
    assert_ptr_equal(MmGetVirtualForPhysical(MmGetPhysicalAddress(block + 9)), block + 9);
    ExFreePool(block);
    assert_int_equal(MmSizeOfMdl((PVOID)0x1000, 0), sizeof(MDL));
    assert_int_equal(MmSizeOfMdl((PVOID)0x1000, 0x1000), sizeof(MDL) + sizeof(PFN_NUMBER));
    assert_int_equal(MmSizeOfMdl((PVOID)0x1FFF, 2), sizeof(MDL) + 2 * sizeof(PFN_NUMBER));
    assert_int_equal(errors(), 0);
}

TEST_WITH(machine, each_form_keeps_its_limits)
{
    run(check_forms);
    run(check_ranges);
    assert_int_equal(nt_image_leak_check(h.image), 0);
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

    CHECK_RULE("NT-138/b", MmGetPhysicalAddress(paged).QuadPart == 0 && broken("NT-138"));
    forget_reports();
    ExFreePool(block);
    CHECK_RULE("NT-138/c", MmGetPhysicalAddress(block).QuadPart == 0 && broken("NT-138"));
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

    CHECK_RULE("NT-134/a", r != NULL);
    WRITE_REGISTER_ULONG((ULONG *)(void *)(r + 0x10), 0x12345678);
    CHECK_RULE("NT-139/a", test_device->last_offset == 0x10 && test_device->last_width == 4);
    CHECK_RULE("NT-139/a", READ_REGISTER_ULONG((ULONG *)(void *)(r + 0x10)) == 0x12345678);
    CHECK_RULE("NT-139/a", READ_REGISTER_USHORT((USHORT *)(void *)(r + 0x12)) == 0x1234 &&
                               test_device->last_width == 2);
    CHECK_RULE("NT-139/a", READ_REGISTER_UCHAR(r + 0x11) == 0x56 && test_device->last_width == 1);
    WRITE_REGISTER_ULONG64((ULONG64 *)(void *)(r + 8), 0x1122334455667788);
    CHECK_RULE("NT-139/a",
               test_device->last_width == 8 && test_device->registers[1] == 0x1122334455667788);
    WRITE_REGISTER_BUFFER_ULONG((ULONG *)(void *)(r + 0x20), buffer, 4);
    READ_REGISTER_BUFFER_ULONG((ULONG *)(void *)(r + 0x20), back, 4);
    assert_memory_equal(buffer, back, sizeof(buffer));
    assert_int_equal(errors(), 0);
    CHECK_RULE("NT-139/b",
               READ_REGISTER_USHORT((USHORT *)(void *)(r + 0x13)) == 0xFFFF && broken("NT-139"));
    CHECK_RULE("NT-138/d", MmGetPhysicalAddress(r + 0x20).QuadPart == bar.QuadPart + 0x20);
    MmUnmapIoSpace(r, 100);
    CHECK_RULE("NT-135/a", broken("NT-135"));
    forget_reports();
    CHECK_RULE("NT-139/c",
               READ_REGISTER_ULONG((ULONG *)(void *)r) == 0xFFFFFFFF && broken("NT-139"));
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
    CHECK_RULE("NT-136/a", errors() == 0);
    other = MmMapIoSpace(bar, 4096, MmNonCached);
    CHECK_RULE("NT-136/b", other && broken("NT-136"));
    forget_reports();
    CHECK_RULE("NT-134/b", MmMapIoSpace(bar, 0, MmNonCached) == NULL && broken("NT-134"));
    MmUnmapIoSpace(other, 4096);
    forget_reports();
    mdl = mdl_for(memory, 4096);
    MmProbeAndLockPages(mdl, KernelMode, IoWriteAccess);
    CHECK_RULE("NT-119/c", reported("NT-119", 0xC4, 0x6F));
    IoFreeMdl(mdl);
    MmUnmapIoSpace(memory, 65536);

    forget_reports();
    CHECK_RULE("NT-134/c", MmMapIoSpace(physical(0x3000000), 4096, MmCached) == NULL &&
                               reported("NT-134", 0xC4, 0x83));
    block = pool(NonPagedPoolNx, PAGE_SIZE);
    other = MmMapIoSpaceEx(MmGetPhysicalAddress(block), PAGE_SIZE, PAGE_READWRITE);
    other[3] = 0x99;
    CHECK_RULE("NT-134/d", block[3] == 0x99);
    MmUnmapIoSpace(other, PAGE_SIZE);
    ExFreePool(block);
    forget_reports();
    CHECK_RULE("NT-134/e",
               MmMapIoSpaceEx(bar, 4096, PAGE_READWRITE | PAGE_NOCACHE | PAGE_WRITECOMBINE) == NULL &&
                   broken("NT-134"));
    in_interrupt(unmap_high);
    CHECK_RULE("NT-134/f", reported("NT-134", 0xC4, 0x73));
    CHECK_RULE("NT-135/b", reported("NT-135", 0xC4, 0x7B));
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
    CHECK_RULE("NT-135/c", nt_image_leak_check(h.image) == 1 && broken("NT-135"));
    assert_int_equal(bus_mappings(h.bus), 0);
}
