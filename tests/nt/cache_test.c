/* SPDX-License-Identifier: MIT */
/* What memory is cached as, by how it was allocated or mapped; and whose MDLs of clients' memory are. */
#include "bus/device.h"
#include "bus/memory.h"
#include "nt/io/image_life.h"
#include "nt/mm/address_query.h"
#include "nt/ps/process.h"
#include "ram/ram.h"
#include "support/harness.h"
#include "support/test_device.h"

static const struct {
    MEMORY_CACHING_TYPE type;
    enum ram_cache cache;
} kinds[] = {
    {MmNonCached, RAM_NON_CACHED},          {MmCached, RAM_CACHED},
    {MmWriteCombined, RAM_WRITE_COMBINED},  {MmHardwareCoherentCached, RAM_CACHED},
    {MmNonCachedUnordered, RAM_NON_CACHED}, {MmUSWCCached, RAM_WRITE_COMBINED},
};

static struct bus_device *device;

static enum ram_cache cache_of(const void *address)
{
    enum ram_cache cache = RAM_CACHED;

    CHECK(nt_address_cache(address, &cache));
    return cache;
}

TEST_WITH(driver, memory_is_cached_as_asked)
{
    const PHYSICAL_ADDRESS none = physical(0), top = physical(~0ull >> 1);

    for (unsigned i = 0; i < RTL_NUMBER_OF(kinds); i++) {
        PVOID block = MmAllocateContiguousMemorySpecifyCache(2 * PAGE_SIZE, none, top, none,
                                                             kinds[i].type);
        PMDL mdl = MmAllocatePagesForMdlEx(none, top, none, 2 * PAGE_SIZE, kinds[i].type, 0);
        uint8_t *view = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);

        CHECK(cache_of(block) == kinds[i].cache);
        CHECK(cache_of((uint8_t *)block + PAGE_SIZE) == kinds[i].cache);
        CHECK(cache_of(view) == kinds[i].cache && cache_of(view + PAGE_SIZE) == kinds[i].cache);
        MmFreePagesFromMdl(mdl);
        ExFreePool(mdl);
        mdl = MmAllocatePagesForMdlEx(none, top, none, 2 * PAGE_SIZE, kinds[i].type,
                                      MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS);
        view = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority);
        CHECK(cache_of(view) == kinds[i].cache && cache_of(view + PAGE_SIZE) == kinds[i].cache);
        MmFreePagesFromMdl(mdl);
        ExFreePool(mdl);
        MmFreeContiguousMemorySpecifyCache(block, 2 * PAGE_SIZE, kinds[i].type);
    }
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST_WITH(driver, forms_without_a_type_have_theirs)
{
    const PHYSICAL_ADDRESS none = physical(0), top = physical(~0ull >> 1);
    PVOID block = MmAllocateContiguousMemory(PAGE_SIZE, top);
    PMDL mdl = MmAllocatePagesForMdl(none, top, none, PAGE_SIZE);

    CHECK(cache_of(block) == RAM_CACHED);
    CHECK(cache_of(MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority)) == RAM_CACHED);
    MmFreePagesFromMdl(mdl);
    ExFreePool(mdl);
    MmFreeContiguousMemory(block);
    block = MmAllocateNonCachedMemory(PAGE_SIZE);
    CHECK(cache_of(block) == RAM_NON_CACHED);
    MmFreeNonCachedMemory(block, PAGE_SIZE);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

static void map_device(void)
{
    const PHYSICAL_ADDRESS bar = physical(bus_device_bar(device, 2).value);
    enum ram_cache cache;
    uint8_t *view, on_stack = 0;

    for (unsigned i = 0; i < RTL_NUMBER_OF(kinds); i++) {
        view = MmMapIoSpace(bar, 8192, kinds[i].type);
        CHECK(cache_of(view) == kinds[i].cache && cache_of(view + 8191) == kinds[i].cache);
        MmUnmapIoSpace(view, 8192);
    }
    /* of another type than a mapping that exists: that of the mapping (NT-136) */
    view = MmMapIoSpace(bar, 8192, MmWriteCombined);
    CHECK(cache_of(MmMapIoSpace(bar, 4096, MmCached)) == RAM_WRITE_COMBINED);
    forget_reports();
    CHECK(!nt_address_cache(&on_stack, &cache));
}

TEST_WITH(machine, device_memory_is_cached_as_mapped)
{
    device = test_device_add(h.bus);
    run(map_device);
    CHECK(nt_image_leak_check(h.image) == 2);
    forget_reports();
}

/* ---- memory of clients ---- */

static struct nt_process *client;
static uint8_t *page;
static PMDL locked;

static void lock_page(void)
{
    PMDL part = IoAllocateMdl(page, 8, FALSE, FALSE, NULL);

    locked = IoAllocateMdl(page, PAGE_SIZE, FALSE, FALSE, NULL);
    MmProbeAndLockPages(locked, KernelMode, IoReadAccess);
    CHECK(!locked->Process);
    MmUnlockPages(locked);
    MmProbeAndLockPages(locked, UserMode, IoReadAccess);
    CHECK(locked->Process == (PEPROCESS)(void *)client);
    IoBuildPartialMdl(locked, part, page, 8);
    CHECK(part->Process == (PEPROCESS)(void *)client && !(part->MdlFlags & MDL_WRITE_OPERATION));
    IoFreeMdl(part);
    MmUnlockPages(locked);
    MmProbeAndLockPages(locked, KernelMode, IoReadAccess);
    CHECK(!locked->Process && errors() == 0);
}

static void unlock_page(void)
{
    MmUnlockPages(locked);
    IoFreeMdl(locked);
}

/* What the kernel has locked of it does not keep a client from its end. */
TEST_WITH(machine, mdls_are_of_the_process_that_was_probed)
{
    struct ram_request request = {.pages = 1, .owner = RAM_CLIENT, .cache = RAM_CACHED};
    struct page_number number;

    client = nt_process_create("client");
    page = ram_view_reserve(h.ram, 1);
    CHECK(ram_take_pages(h.ram, &request, &number));
    CHECK(ram_view_point(h.ram, page, 0, &number, 1, true));
    run_client(client, lock_page);
    nt_process_destroy(client);
    CHECK(errors() == 0);
    run(unlock_page);
    ram_view_release(h.ram, page, 1);
    ram_give_pages(h.ram, &number, 1);
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}
