/* SPDX-License-Identifier: MIT */
/*
 * Windows: BAR bytes mapped for the kernel, and register accesses through them.
 *
 * Register windows stand in one reserved arena of pages without access; a table with one pointer a
 * page finds the window of an address in O(1). Freed pages come back as late as possible and an
 * unused page follows each window, so that an access after unmapping or past the end finds nothing
 * instead of another device. Both tables are sparse host mappings: they cost what is used. A
 * memory window is the memory file's own mapping; the record only counts it.
 */
#include <string.h>
#include <sys/mman.h>

#include "bus/bus_private.h"

#define ARENA_BYTES     ((uint64_t)BUS_ARENA_PAGES * PAGE_BYTES)
#define ARENA_MAP_BYTES (BUS_ARENA_PAGES * sizeof(struct bus_mapping *))

static void *reserve(size_t bytes, int protection)
{
    void *address = MAP_FAILED;

    if (!util_fault_point())
        address = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return address == MAP_FAILED ? NULL : address;
}

bool bus_window_init(struct bus *bus)
{
    hash_init(&bus->mappings);
    extent_tree_init(&bus->arena_free);
    bus->arena = reserve(ARENA_BYTES, PROT_NONE);
    bus->arena_map = reserve(ARENA_MAP_BYTES, PROT_READ | PROT_WRITE);
    if (bus->arena && bus->arena_map && extent_give(&bus->arena_free, 0, BUS_ARENA_PAGES))
        return true;
    bus_window_finish(bus);
    return false;
}

void bus_window_finish(struct bus *bus)
{
    uint32_t cursor = 0;
    uint64_t key;
    void *mapping;

    while (hash_next(&bus->mappings, &cursor, &key, &mapping))
        util_free(mapping);
    hash_finish(&bus->mappings);
    extent_tree_finish(&bus->arena_free);
    if (bus->arena)
        munmap(bus->arena, ARENA_BYTES);
    if (bus->arena_map)
        munmap(bus->arena_map, ARENA_MAP_BYTES);
}

/* The BAR that holds all of the range. */
static struct bus_device *find_bar(struct bus *bus, struct phys_addr address, uint64_t bytes,
                                   unsigned *index)
{
    LIST_FOR(node, &bus->devices) {
        struct bus_device *device = CONTAINER(node, struct bus_device, link);

        for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
            uint64_t offset = address.value - device->bar[i].address.value;

            if (!bus_bar_in_memory(&device->bar[i]) || offset >= device->bar[i].bytes ||
                bytes > device->bar[i].bytes - offset)
                continue;
            *index = i;
            return device;
        }
    }
    return NULL;
}

/* Pages of the arena for a register window, and one more that stays empty behind it. */
static bool take_arena(struct bus *bus, struct bus_mapping *mapping)
{
    struct extent_request request = {.size = mapping->pages + 1, .low = bus->arena_next};

    if (!extent_take(&bus->arena_free, &request, &mapping->first_page)) {
        request.low = 0;
        if (!extent_take(&bus->arena_free, &request, &mapping->first_page))
            return false;
    }
    bus->arena_next = (mapping->first_page + request.size) % BUS_ARENA_PAGES;
    for (uint64_t i = 0; i < mapping->pages; i++)
        bus->arena_map[mapping->first_page + i] = mapping;
    return true;
}

static void drop(struct bus *bus, struct bus_mapping *mapping)
{
    for (uint64_t i = 0; i < mapping->pages; i++)
        bus->arena_map[mapping->first_page + i] = NULL;
    if (mapping->pages > 0)
        (void)extent_give(&bus->arena_free, mapping->first_page, mapping->pages + 1);
    util_free(mapping);
}

void *bus_map(struct bus *bus, struct phys_addr address, uint64_t bytes)
{
    unsigned index;
    struct bus_device *device = bytes > 0 ? find_bar(bus, address, bytes, &index) : NULL;
    struct bus_mapping *mapping;
    struct bus_bar *bar;
    uint64_t in_page;

    if (!device)
        return NULL;
    bar = &device->bar[index];
    if (bar->kind == DXGK_BAR_MEMORY) {
        uint8_t *start = bar->memory + (address.value - bar->address.value);

        mapping = hash_get(&bus->mappings, (uintptr_t)start);
        if (mapping) {
            mapping->count++;
            return start;
        }
    }
    mapping = util_zalloc(1, sizeof(*mapping));
    if (!mapping)
        return NULL;
    mapping->device = device;
    mapping->bar = index;
    mapping->offset = address.value - bar->address.value;
    mapping->bytes = bytes;
    mapping->count = 1;
    if (bar->kind == DXGK_BAR_MEMORY) {
        mapping->address = bar->memory + mapping->offset;
    } else {
        in_page = address.value % PAGE_BYTES;
        mapping->pages = align_up(in_page + bytes, PAGE_BYTES) / PAGE_BYTES;
        if (!take_arena(bus, mapping)) {
            util_free(mapping);
            return NULL;
        }
        mapping->address = bus->arena + mapping->first_page * PAGE_BYTES + in_page;
    }
    if (!hash_put(&bus->mappings, (uintptr_t)mapping->address, mapping)) {
        drop(bus, mapping);
        return NULL;
    }
    return mapping->address;
}

bool bus_unmap(struct bus *bus, void *address)
{
    struct bus_mapping *mapping = address ? hash_get(&bus->mappings, (uintptr_t)address) : NULL;

    if (!mapping)
        return false;
    if (--mapping->count == 0) {
        hash_remove(&bus->mappings, (uintptr_t)address);
        drop(bus, mapping);
    }
    return true;
}

uint64_t bus_mappings(const struct bus *bus)
{
    uint64_t total = 0;
    uint32_t cursor = 0;
    uint64_t key;
    void *value;

    while (hash_next(&bus->mappings, &cursor, &key, &value))
        total += ((struct bus_mapping *)value)->count;
    return total;
}

/*
 * The table must not change under a walk: find one, remove it, begin again. Devices go away
 * rarely.
 */
void bus_window_forget(struct bus_device *device)
{
    struct bus *bus = device->bus;
    uint32_t cursor = 0;
    uint64_t key;
    void *value;

    while (hash_next(&bus->mappings, &cursor, &key, &value)) {
        if (((struct bus_mapping *)value)->device != device)
            continue;
        hash_remove(&bus->mappings, key);
        drop(bus, value);
        cursor = 0;
    }
}

/* The register window that holds all bytes of the access; the address is in the arena. */
static const struct bus_mapping *find_window(const struct bus *bus, uintptr_t address,
                                             unsigned width)
{
    uint64_t offset = address - (uintptr_t)bus->arena;
    const struct bus_mapping *mapping = bus->arena_map[offset / PAGE_BYTES];
    uint64_t in_window;

    if (!mapping)
        return NULL;
    in_window = address - (uintptr_t)mapping->address;
    return in_window < mapping->bytes && width <= mapping->bytes - in_window ? mapping : NULL;
}

static bool answers(const struct bus_device *device, uintptr_t address, unsigned width)
{
    return !device->unplugged && bus_config_decodes_memory(device) && is_power_of_two(width) &&
           width <= 8 && address % width == 0;
}

static uint64_t register_offset(const struct bus_mapping *mapping, uintptr_t address)
{
    return mapping->offset + (address - (uintptr_t)mapping->address);
}

static uint64_t ones_of(unsigned width)
{
    return width >= 8 ? UINT64_MAX : ((uint64_t)1 << (8 * width)) - 1;
}

/* An access that the device model may now be told of; *offset is where in its BAR. NULL: in no
 * register window. */
static const struct bus_mapping *begin_access(struct bus *bus, uintptr_t address, unsigned width,
                                              uint64_t *offset)
{
    const struct bus_mapping *mapping;

    sim_point(); /* before the search: others run here, and may unmap */
    mapping = find_window(bus, address, width);
    if (!mapping)
        return NULL;
    bus_timers_retry(mapping->device);
    *offset = register_offset(mapping, address);
    return mapping;
}

bool bus_register_read(struct bus *bus, const volatile void *address, unsigned width,
                       uint64_t *value)
{
    uint64_t ones = ones_of(width), offset;
    const struct bus_mapping *mapping;
    struct bus_device *device;

    if (!bus_register_space(bus, address))
        return false;
    mapping = begin_access(bus, (uintptr_t)address, width, &offset);
    if (!mapping)
        return false;
    device = mapping->device;
    *value = ones;
    if (answers(device, (uintptr_t)address, width))
        *value = ones & device->model->read(device->state, mapping->bar, offset, width);
    sim_point();
    return true;
}

bool bus_register_write(struct bus *bus, volatile void *address, unsigned width, uint64_t value)
{
    const struct bus_mapping *mapping;
    struct bus_device *device;
    uint64_t offset;

    if (!bus_register_space(bus, address))
        return false;
    mapping = begin_access(bus, (uintptr_t)address, width, &offset);
    if (!mapping)
        return false;
    device = mapping->device;
    if (answers(device, (uintptr_t)address, width))
        device->model->write(device->state, mapping->bar, offset, width, value & ones_of(width));
    sim_point(); /* what the access has set off may come before the caller's next instruction */
    return true;
}

bool bus_physical(const struct bus *bus, const volatile void *address, struct phys_addr *physical)
{
    const struct bus_mapping *mapping;

    if (bus_register_space(bus, address)) {
        mapping = find_window(bus, (uintptr_t)address, 1);
        if (mapping)
            physical->value = mapping->device->bar[mapping->bar].address.value +
                              register_offset(mapping, (uintptr_t)address);
        return mapping;
    }
    LIST_FOR(node, &bus->devices) {
        const struct bus_device *device = CONTAINER(node, struct bus_device, link);

        for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
            const struct bus_bar *bar = &device->bar[i];
            uint64_t offset = (uintptr_t)address - (uintptr_t)bar->memory;

            if (bar->kind != DXGK_BAR_MEMORY || offset >= bar->bytes)
                continue;
            physical->value = bar->address.value + offset;
            return true;
        }
    }
    return false;
}

bool bus_register_space(const struct bus *bus, const volatile void *address)
{
    return (uintptr_t)address - (uintptr_t)bus->arena < ARENA_BYTES;
}
