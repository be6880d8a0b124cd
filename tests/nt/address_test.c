/* SPDX-License-Identifier: MIT */
/* Addresses: whose they are, whether something is there, and what is mapped to physical ones. */
#include "bus/device.h"
#include "bus/bus.h"
#include "nt/io/image_life.h"
#include "nt/ps/process.h"
#include "ram/ram.h"
#include "support/harness.h"
#include "support/test_device.h"

static struct bus_device *device;

/* One report, of this rule. */
static bool told(const char *rule)
{
    bool good = errors() == 1 && broken(rule);

    forget_reports();
    return good;
}

/* ---- validity ---- */

static void look_at_addresses(void)
{
    uint8_t *registers = MmMapIoSpace(physical(bus_device_bar(device, 0).value), 4096, MmNonCached);
    uint8_t *memory = MmMapIoSpace(physical(bus_device_bar(device, 2).value), 65536, MmNonCached);
    uint8_t *contiguous = MmAllocateContiguousMemory(4096, physical(~0ull >> 1));
    uint8_t *paged = ExAllocatePoolWithTag(PagedPool, 64, TAG), on_stack;

    CHECK(MmIsAddressValid(registers) && MmIsAddressValid(memory + 65535));
    CHECK(MmIsAddressValid(contiguous) && MmIsAddressValid(paged) && MmIsAddressValid(&on_stack));
    CHECK(!MmIsAddressValid(NULL) && !MmIsAddressValid((PVOID)0x1000));
    MmUnmapIoSpace(registers, 4096);
    MmUnmapIoSpace(memory, 65536);
    CHECK(!MmIsAddressValid(registers) && !MmIsAddressValid(memory));
    MmFreeContiguousMemory(contiguous);
    CHECK(!MmIsAddressValid(contiguous) && errors() == 0);
    CHECK(MmGetPhysicalAddress(contiguous).QuadPart == 0 && told("NT-138"));
    CHECK(MmGetPhysicalAddress(NULL).QuadPart == 0 && told("NT-138"));
    CHECK(MmGetVirtualForPhysical(physical(ram_bytes(h.ram))) == NULL);
    CHECK(MmGetVirtualForPhysical(physical(ram_bytes(h.ram) - 1)) != NULL);
    ExFreePool(paged);
    CHECK(errors() == 0);
}

TEST_WITH(machine, addresses_are_valid_while_something_is_there)
{
    device = test_device_add(h.bus);
    run(look_at_addresses);
    CHECK(nt_image_leak_check(h.image) == 0);
}

/* ---- probes ---- */

static uint8_t *client_pages; /* three, the last one to be read only */
static uint8_t *device_memory;
static uint8_t *other_stack;

static bool raises(NTSTATUS status, const void *address, SIZE_T bytes, ULONG alignment)
{
    bool good;

    h.raised = STATUS_SUCCESS;
    ProbeForRead(address, bytes, alignment);
    good = h.raised == status;
    h.raised = STATUS_SUCCESS;
    if (status != STATUS_SUCCESS) /* no byte of it is looked at */
        ProbeForWrite((PVOID)(uintptr_t)address, bytes, alignment);
    return good && h.raised == status;
}

static NTSTATUS written(const void *address, SIZE_T bytes)
{
    h.raised = STATUS_SUCCESS;
    ProbeForWrite((PVOID)(uintptr_t)address, bytes, 1);
    return h.raised;
}

static void probe_as_client(void)
{
    const NTSTATUS access = STATUS_ACCESS_VIOLATION, odd = STATUS_DATATYPE_MISALIGNMENT;
    uint8_t *top = (uint8_t *)(uintptr_t)MmUserProbeAddress, own_stack[16];

    CHECK_RULE("NT-108/a", raises(access, device_memory, 1, 1));
    CHECK_RULE("NT-108/a", raises(access, other_stack, 1, 1) == false); /* of another thread */
    CHECK(raises(STATUS_SUCCESS, own_stack, 16, 1));
    CHECK_RULE("NT-108/a", raises(access, top, 1, 1) && raises(access, top - 8, 9, 1));
    CHECK(raises(STATUS_SUCCESS, top - 8, 8, 1));
    CHECK_RULE("NT-108/a", raises(access, client_pages, ~(SIZE_T)0, 1));
    CHECK_RULE("NT-108/a", raises(access, client_pages, 0 - (SIZE_T)client_pages, 1));
    CHECK(raises(STATUS_SUCCESS, client_pages + 1, 4, 0) &&
          raises(STATUS_SUCCESS, client_pages + 1, 4, 1));
    CHECK_RULE("NT-108/b",
               raises(odd, client_pages + 1, 4, 2) && raises(odd, client_pages + 4, 4, 8));
    CHECK(raises(STATUS_SUCCESS, client_pages + 4, 4, 4));
    CHECK_RULE("NT-108/b", raises(odd, device_memory + 1, 4, 4)); /* before anything else */
    CHECK_RULE("NT-108/c", raises(STATUS_SUCCESS, client_pages + 1, 0, 4));

    client_pages[0] = 0x11;
    client_pages[PAGE_SIZE] = 0x22;
    CHECK(written(client_pages, 2 * PAGE_SIZE) == STATUS_SUCCESS);
    CHECK(client_pages[0] == 0x11 && client_pages[PAGE_SIZE] == 0x22);
    CHECK_RULE("NT-108/a", written(client_pages, 2 * PAGE_SIZE + 1) == access);
    CHECK_RULE("NT-108/a", written(client_pages + PAGE_SIZE + 5, PAGE_SIZE - 4) == access);
    CHECK(written(client_pages + PAGE_SIZE + 5, PAGE_SIZE - 5) == STATUS_SUCCESS);
    CHECK_RULE("NT-108/a", written(client_pages + 2 * PAGE_SIZE, 1) == access);
    CHECK_RULE("NT-108/c", written(client_pages + 2 * PAGE_SIZE, 0) == STATUS_SUCCESS);
    forget_reports(); /* nobody caught the exceptions */
}

static void probe_raised(void)
{
    h.raised = STATUS_SUCCESS;
    ProbeForRead(device_memory, 1, 1);
    CHECK(h.raised == STATUS_SUCCESS && told("NT-108"));
    ProbeForWrite(device_memory, 1, 1);
    CHECK(h.raised == STATUS_SUCCESS && told("NT-108"));
}

static void probe_in_a_dpc(void)
{
    in_dpc(probe_raised);
}

static void free_what_is_no_pool(void)
{
    ExFreePool((PVOID)0xFFFF);
    CHECK_RULE("NT-023/c", reported("NT-023", 0xC2, 0x40));
    forget_reports();
    ExFreePool((PVOID)0x10000);
    CHECK(reported("NT-023", 0xC4, 0x10));
    forget_reports();
    ExFreePool(client_pages);
    CHECK(reported("NT-023", 0xC2, 0x40));
    forget_reports();
    ExFreePool(device_memory);
    CHECK(reported("NT-023", 0xC4, 0x10));
    forget_reports();
}

static void map_device(void)
{
    device_memory = MmMapIoSpace(physical(bus_device_bar(device, 2).value), 65536, MmNonCached);
}

TEST_WITH(machine, clients_have_their_addresses)
{
    struct ram_request request = {.pages = 3, .owner = RAM_CLIENT, .cache = RAM_CACHED};
    struct nt_process *client = nt_process_create("client");
    struct page_number pages[3];
    uint8_t byte = 0;

    device = test_device_add(h.bus);
    client_pages = ram_view_reserve(h.ram, 3);
    CHECK(ram_take_pages(h.ram, &request, pages));
    CHECK(ram_view_point(h.ram, client_pages, 0, pages, 2, true));
    CHECK(ram_view_point(h.ram, client_pages, 2, pages + 2, 1, false));
    other_stack = &byte;
    run(map_device);
    run_client(client, probe_as_client);
    run(probe_in_a_dpc);
    run(free_what_is_no_pool);
    nt_process_destroy(client);
    forget_reports();
    nt_image_leak_check(h.image);
    forget_reports();
    ram_view_release(h.ram, client_pages, 3);
    ram_give_pages(h.ram, pages, 3);
}

/* A kernel thread's stack is the kernel's. */
TEST_WITH(driver, stacks_of_kernel_threads_are_no_client_memory)
{
    uint8_t on_stack[16] = {0};

    ProbeForRead(on_stack, 16, 1);
    CHECK_RULE("NT-108/a", h.raises == 1 && h.raised == STATUS_ACCESS_VIOLATION);
    CHECK(MmUserProbeAddress == 0x00007FFFFFFF0000 &&
          (ULONG_PTR)MmHighestUserAddress == MmUserProbeAddress - 1 &&
          (ULONG_PTR)MmSystemRangeStart == 0xFFFF800000000000);
}

/* ---- contiguous memory ---- */

static PVOID contiguous(SIZE_T bytes, uint64_t boundary, int cache)
{
    return MmAllocateContiguousMemorySpecifyCache(bytes, physical(0), physical(~0ull >> 1),
                                                  physical(boundary), (MEMORY_CACHING_TYPE)cache);
}

TEST_WITH(driver, contiguous_memory_is_asked_for_rightly)
{
    static const SIZE_T bytes[] = {1, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1};

    CHECK(!contiguous(0, 0, MmCached) && told("NT-132"));
    CHECK(!contiguous(100, 0, -1) && told("NT-132"));
    CHECK(!contiguous(100, 0, MmMaximumCacheType) && told("NT-132"));
    CHECK(!contiguous(100, 0x3000, MmCached) && told("NT-132"));
    CHECK(!contiguous(100, PAGE_SIZE / 2, MmCached) && errors() == 0);
    CHECK(!contiguous(2 * PAGE_SIZE, PAGE_SIZE, MmCached) && errors() == 0);
    CHECK(!contiguous(ram_bytes(h.ram) + 1, 0, MmCached) && errors() == 0);
    for (int cache = MmNonCached; cache < MmMaximumCacheType; cache++) {
        PVOID block = contiguous(PAGE_SIZE, PAGE_SIZE, cache);

        CHECK(block && errors() == 0);
        MmFreeContiguousMemorySpecifyCache(block, PAGE_SIZE, (MEMORY_CACHING_TYPE)cache);
        CHECK_RULE("NT-133/b", errors() == 0);
    }
    for (unsigned i = 0; i < RTL_NUMBER_OF(bytes); i++) {
        uint8_t *block = contiguous(2 * PAGE_SIZE, 0, MmCached);

        memset(block, 0x11, 2 * PAGE_SIZE);
        MmFreeContiguousMemory(block);
        block = contiguous(bytes[i], 0, MmCached);
        CHECK(block[0] == 0xCE && block[(bytes[i] < PAGE_SIZE ? bytes[i] : PAGE_SIZE) - 1] == 0xCE);
        CHECK(bytes[i] == PAGE_SIZE || block[bytes[i] < PAGE_SIZE ? bytes[i] : PAGE_SIZE] != 0xCE);
        MmFreeContiguousMemorySpecifyCache(block, bytes[i] + 1, MmCached);
        CHECK_RULE("NT-133/c", told("NT-133"));
    }
    MmFreeContiguousMemorySpecifyCache((PVOID)0x1234, 8, MmCached);
    CHECK_RULE("NT-133/a", reported("NT-133", 0xC2, 0x60) && errors() == 1);
    forget_reports();
    MmFreeContiguousMemory(NULL);
    CHECK_RULE("NT-133/a", reported("NT-133", 0xC2, 0x60) && errors() == 1);
    CHECK(nt_image_leak_check(h.image) == 0);
}

static PVOID raised_block;

static void allocate_raised(void)
{
    raised_block = contiguous(100, 0, MmCached);
}

static void free_raised(void)
{
    MmFreeContiguousMemory(raised_block);
}

TEST_WITH(driver, contiguous_memory_is_for_dispatch_level)
{
    in_dpc(allocate_raised);
    in_dpc(free_raised);
    CHECK(raised_block && errors() == 0);
    in_interrupt(allocate_raised);
    CHECK(raised_block && told("NT-132"));
    in_interrupt(free_raised);
    CHECK(told("NT-133") && nt_image_leak_check(h.image) == 0);
}

/* ---- mappings of physical memory ---- */

static PVOID map(uint64_t at, SIZE_T bytes, int cache)
{
    return MmMapIoSpace(physical(at), bytes, (MEMORY_CACHING_TYPE)cache);
}

static void map_wrongly(void)
{
    uint64_t bar = bus_device_bar(device, 2).value, ram = ram_bytes(h.ram);

    CHECK_RULE("NT-134/b", !map(bar, 0, MmCached) && told("NT-134"));
    CHECK(!map(bar, 4096, -1) && told("NT-134"));
    CHECK(!map(bar, 4096, MmMaximumCacheType) && told("NT-134"));
    CHECK(!map(1ull << 40, 1, MmCached) && !map(ram - 1, 2, MmCached) && errors() == 0);
    CHECK(!map(~0ull, 1, MmCached) && !map(ram - 1, ~0ull, MmCached) && errors() == 0);
    CHECK(!map(ram - 1, 1, MmCached));
    CHECK_RULE("NT-134/c", reported("NT-134", 0xC4, 0x83));
    forget_reports();
    MmUnmapIoSpace(NULL, 5);
    CHECK_RULE("NT-135/a", told("NT-135"));
}

/* Pages of a block, and the one behind it, which is free. */
static void map_memory(void)
{
    uint8_t *block = MmAllocateContiguousMemorySpecifyCache(
        2 * PAGE_SIZE, physical(0x400000), physical(0x401FFF), physical(0), MmCached);
    uint8_t *view;

    CHECK(block);
    view = map(0x400000 + PAGE_SIZE - 8, 16, MmCached);
    CHECK_RULE("NT-134/d", view && (uintptr_t)view % PAGE_SIZE == PAGE_SIZE - 8);
    view[7] = 0x77;
    view[8] = 0x88;
    CHECK_RULE("NT-134/d", block[PAGE_SIZE - 1] == 0x77 && block[PAGE_SIZE] == 0x88);
    MmUnmapIoSpace(view, 16);
    CHECK(errors() == 0 && !MmIsAddressValid(view));
    CHECK(map(0x400000 + PAGE_SIZE, PAGE_SIZE + 1, MmCached) == NULL);
    CHECK_RULE("NT-134/c", reported("NT-134", 0xC4, 0x83));
    forget_reports();
    view = map(0x400000 + PAGE_SIZE, PAGE_SIZE, MmCached);
    CHECK(view && errors() == 0);
    MmUnmapIoSpace(view, PAGE_SIZE);
    MmFreeContiguousMemory(block);
    CHECK(errors() == 0);
}

/* What a mapping is cached as shows in another one of the same place. */
static void map_protected(void)
{
    static const ULONG access[] = {PAGE_READONLY, PAGE_READWRITE, PAGE_EXECUTE, PAGE_EXECUTE_READ,
                                   PAGE_EXECUTE_READWRITE};
    static const struct {
        ULONG flag;
        MEMORY_CACHING_TYPE cache;
    } kind[] = {{0, MmCached}, {PAGE_NOCACHE, MmNonCached}, {PAGE_WRITECOMBINE, MmWriteCombined}};
    PHYSICAL_ADDRESS bar = physical(bus_device_bar(device, 2).value);
    PVOID first, second;

    for (unsigned i = 0; i < RTL_NUMBER_OF(access); i++) {
        for (unsigned k = 0; k < RTL_NUMBER_OF(kind); k++) {
            first = MmMapIoSpaceEx(bar, 8192, access[i] | kind[k].flag);
            CHECK_RULE("NT-134/e", first && errors() == 0);
            second = map((uint64_t)bar.QuadPart + 4096, 4096, kind[k].cache);
            CHECK_RULE("NT-136/a", second && errors() == 0);
            MmUnmapIoSpace(second, 4096);
            second = map((uint64_t)bar.QuadPart + 8192, 4096, (int)(kind[k].cache + 1) % 3);
            CHECK_RULE("NT-136/a", second && errors() == 0); /* behind it */
            MmUnmapIoSpace(second, 4096);
            second = map((uint64_t)bar.QuadPart + 4096, 8192, (int)(kind[k].cache + 1) % 3);
            CHECK_RULE("NT-136/b", second && told("NT-136"));
            MmUnmapIoSpace(second, 8192);
            MmUnmapIoSpace(first, 8192);
        }
        CHECK(!MmMapIoSpaceEx(bar, 4096, access[i] | access[(i + 1) % 5]) && told("NT-134"));
        CHECK(!MmMapIoSpaceEx(bar, 4096, access[i] | PAGE_GUARD) && told("NT-134"));
    }
    CHECK(!MmMapIoSpaceEx(bar, 4096, 0) && told("NT-134"));
    CHECK(!MmMapIoSpaceEx(bar, 4096, PAGE_NOCACHE) && told("NT-134"));
    CHECK(errors() == 0);
}

TEST_WITH(machine, physical_memory_is_mapped)
{
    device = test_device_add(h.bus);
    run(map_wrongly);
    run(map_memory);
    run(map_protected);
    CHECK(nt_image_leak_check(h.image) == 0);
}

/* ---- pool ---- */

TEST_WITH(driver, parameters_of_freeing_are_checked)
{
    POOL_EXTENDED_PARAMETER parameter = {.Type = PoolExtendedParameterPriority};
    PVOID block = ExAllocatePool3(POOL_FLAG_NON_PAGED, 8, TAG, &parameter, 1);

    ExFreePool2(block, TAG, &parameter, 1);
    CHECK(errors() == 0);
    block = ExAllocatePool3(POOL_FLAG_NON_PAGED, 8, TAG, NULL, 0);
    ExFreePool2(block, TAG, NULL, 0);
    CHECK(errors() == 0);
    parameter.Type = PoolExtendedParameterNumaNode;
    block = ExAllocatePool3(POOL_FLAG_NON_PAGED, 8, TAG, &parameter, 1);
    CHECK(block);
    ExFreePool2(block, TAG, NULL, 1);
    CHECK(told("NT-019"));
    parameter.Type = PoolExtendedParameterMax;
    parameter.Optional = 1;
    block = ExAllocatePool3(POOL_FLAG_NON_PAGED, 8, TAG, &parameter, 1);
    CHECK(block);
    ExFreePool2(block, TAG, &parameter, 1);
    CHECK(errors() == 0);
    block = ExAllocatePool2(POOL_FLAG_NON_PAGED, 8, 0x00010203);
    CHECK(block && broken("NT-011"));
    forget_reports();
    parameter.Optional = 0;
    ExFreePool2(block, 0, &parameter, 1);
    CHECK(told("NT-019") && nt_image_leak_check(h.image) == 0);
}
