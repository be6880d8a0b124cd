/* SPDX-License-Identifier: MIT */
/*
 * Windows: BAR bytes mapped for the kernel, and register accesses through them.
 *
 * Each window has an address of its own, also two of the same bytes (PHYS-035, PHYS-153), in one of
 * two reserved arenas of pages without access. Freed pages come back as late as possible and an
 * unused page follows each window, so that an access after unmapping or past the end finds nothing
 * instead of another device.
 *
 *   registers   the pages stay without access; a table with one pointer a page finds the window of
 *               an address in O(1), for every access
 *   memory      the pages show the memory file of the BAR; a tree finds the window of an address,
 *               for who asks for its physical one
 *
 * Arenas and table are sparse host mappings: they cost what is used.
 */
#include <stdio.h>
#include <sys/mman.h>

#include "bus/window.h"
#include "bus/bus_record.h"
#include "bus/config.h"
#include "bus/device_record.h"
#include "bus/model_call.h"
#include "bus/timers.h"
#include "ram/ram.h"
#include "sim/point.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/extent.h"
#include "util/hash.h"
#include "util/list.h"
#include "util/map.h"
#include "util/span_tree.h"

/* Address space of the kernel set aside for windows: reserved; that of registers is never
 * backed. */
#define REGISTER_PAGES ((uint64_t)1 << 18)
#define MEMORY_PAGES   ((uint64_t)1 << 28)

#define REGISTER_MAP_BYTES (REGISTER_PAGES * sizeof(struct bus_mapping *))

/* A mapping of BAR bytes for the kernel. */
struct bus_mapping {
    struct bus_device *device;
    unsigned bar;
    uint64_t offset; /* of the first byte in the BAR */
    uint64_t bytes;
    uint8_t *address;           /* of the first byte */
    struct bus_arena *arena;    /* NULL: not placed */
    uint8_t *start;             /* of the first page */
    uint64_t first_page, pages; /* in the arena */
    enum ram_cache cache;
    struct span_node span; /* in bus.memory_windows; 0 pages: not there */
};

static void *reserve(size_t bytes, int protection)
{
    void *address = MAP_FAILED;

    if (!util_fault_point())
        address = util_map(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                           0);
    return address == MAP_FAILED ? NULL : address;
}

static bool arena_init(struct bus_arena *arena, uint64_t pages)
{
    extent_tree_init(&arena->free);
    arena->pages = pages;
    arena->base = reserve(pages * PAGE_BYTES, PROT_NONE);
    return arena->base && extent_give(&arena->free, 0, pages);
}

static void arena_finish(struct bus_arena *arena)
{
    extent_tree_finish(&arena->free);
    if (arena->base)
        util_unmap(arena->base, arena->pages * PAGE_BYTES);
}

bool bus_window_init(struct bus *bus)
{
    hash_init(&bus->mappings);
    bus->register_map = reserve(REGISTER_MAP_BYTES, PROT_READ | PROT_WRITE);
    /* Both are tried, so that both can be finished. */
    if ((int)arena_init(&bus->registers, REGISTER_PAGES) &
            (int)arena_init(&bus->memory, MEMORY_PAGES) &&
        bus->register_map)
        return true;
    bus_window_finish(bus);
    return false;
}

void bus_window_finish(struct bus *bus)
{
    hash_finish(&bus->mappings);
    arena_finish(&bus->registers);
    arena_finish(&bus->memory);
    if (bus->register_map)
        util_unmap(bus->register_map, REGISTER_MAP_BYTES);
}

/* The BAR that holds all of the range. */
static struct bus_device *find_bar(const struct bus *bus, struct phys_addr address, uint64_t bytes,
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

/* Pages of the arena for a window, and one more that stays empty behind it. */
static bool take_pages(struct bus_mapping *mapping, struct bus_arena *arena)
{
    struct extent_request request = {.size = mapping->pages + 1, .low = arena->next};

    if (!extent_take(&arena->free, &request, &mapping->first_page)) {
        request.low = 0;
        if (!extent_take(&arena->free, &request, &mapping->first_page))
            return false;
    }
    arena->next = (mapping->first_page + request.size) % arena->pages;
    mapping->arena = arena;
    mapping->start = arena->base + mapping->first_page * PAGE_BYTES;
    return true;
}

/* Let the pages of a memory window show their part of the BAR. */
static bool show_memory(struct bus *bus, struct bus_mapping *mapping, const struct bus_bar *bar)
{
    if (util_fault_point() ||
        util_map(mapping->start, mapping->pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, bar->file,
                 (off_t)align_down(mapping->offset, PAGE_BYTES)) == MAP_FAILED)
        return false;
    mapping->span.first = (uintptr_t)mapping->start / PAGE_BYTES;
    mapping->span.pages = mapping->pages;
    span_insert(&bus->memory_windows, &mapping->span);
    return true;
}

/* If the host is out of map entries, at least the rights go. */
static void hide_memory(struct bus *bus, struct bus_mapping *mapping)
{
    if (mapping->span.pages == 0)
        return;
    span_remove(&bus->memory_windows, &mapping->span);
    if (util_map(mapping->start, mapping->pages * PAGE_BYTES, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
        (void)util_protect(mapping->start, mapping->pages * PAGE_BYTES, PROT_NONE);
}

static void drop(struct bus *bus, struct bus_mapping *mapping)
{
    for (uint64_t i = 0; mapping->arena == &bus->registers && i < mapping->pages; i++)
        bus->register_map[mapping->first_page + i] = NULL;
    hide_memory(bus, mapping);
    if (mapping->arena)
        (void)extent_give(&mapping->arena->free, mapping->first_page, mapping->pages + 1);
    util_free(mapping);
}

static bool place(struct bus *bus, struct bus_mapping *mapping, const struct bus_bar *bar)
{
    uint64_t in_page = mapping->offset % PAGE_BYTES;
    bool memory = bar->kind == DXGK_BAR_MEMORY;

    mapping->pages = align_up(in_page + mapping->bytes, PAGE_BYTES) / PAGE_BYTES;
    if (!take_pages(mapping, memory ? &bus->memory : &bus->registers))
        return false;
    mapping->address = mapping->start + in_page;
    for (uint64_t i = 0; !memory && i < mapping->pages; i++)
        bus->register_map[mapping->first_page + i] = mapping;
    return !memory || show_memory(bus, mapping, bar);
}

void *bus_map(struct bus *bus, struct phys_addr address, uint64_t bytes)
{
    unsigned index;
    struct bus_device *device = bytes > 0 ? find_bar(bus, address, bytes, &index) : NULL;
    struct bus_mapping *mapping = device ? util_zalloc(1, sizeof(*mapping)) : NULL;

    if (!mapping)
        return NULL;
    mapping->device = device;
    mapping->bar = index;
    mapping->offset = address.value - device->bar[index].address.value;
    mapping->bytes = bytes;
    if (!place(bus, mapping, &device->bar[index]) ||
        !hash_put(&bus->mappings, (uintptr_t)mapping->address, mapping)) {
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
    hash_remove(&bus->mappings, (uintptr_t)address);
    drop(bus, mapping);
    return true;
}

uint64_t bus_mappings(const struct bus *bus)
{
    return bus->mappings.count;
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
    uint64_t offset = address - (uintptr_t)bus->registers.base;
    const struct bus_mapping *mapping = bus->register_map[offset / PAGE_BYTES];
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
                                              bool write, uint64_t *offset)
{
    const struct bus_mapping *mapping;

    sim_point(); /* before the search: others run here, and may unmap */
    mapping = find_window(bus, address, width);
    if (!mapping)
        return NULL;
    bus_timers_retry(mapping->device);
    *offset = register_offset(mapping, address);
    if (mapping->device->touched)
        mapping->device->touched(mapping->bar, *offset, write);
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
    mapping = begin_access(bus, (uintptr_t)address, width, false, &offset);
    if (!mapping)
        return false;
    device = mapping->device;
    *value = ones;
    if (answers(device, (uintptr_t)address, width))
        *value = ones & bus_model_read(device, mapping->bar, offset, width);
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
    mapping = begin_access(bus, (uintptr_t)address, width, true, &offset);
    if (!mapping)
        return false;
    device = mapping->device;
    if (answers(device, (uintptr_t)address, width))
        bus_model_write(device, mapping->bar, offset, width, value & ones_of(width));
    sim_point(); /* what the access has set off may come before the caller's next instruction */
    return true;
}

/* In what a memory BAR's own file shows, which no window is needed for. */
static bool in_bar_memory(const struct bus_bar *bar, const volatile void *address,
                          struct phys_addr *physical)
{
    uint64_t offset = (uintptr_t)address - (uintptr_t)bar->memory;

    if (bar->kind != DXGK_BAR_MEMORY || offset >= bar->bytes)
        return false;
    physical->value = bar->address.value + offset;
    return true;
}

static bool physical_of(const struct bus_mapping *mapping, const volatile void *address,
                        struct phys_addr *physical)
{
    if (mapping)
        physical->value = mapping->device->bar[mapping->bar].address.value +
                          register_offset(mapping, (uintptr_t)address);
    return mapping;
}

/* The window of a byte of any BAR; memory windows with the rest of their pages. */
static const struct bus_mapping *window_of(const struct bus *bus, const volatile void *address)
{
    const struct span_node *span;

    if (bus_register_space(bus, address))
        return find_window(bus, (uintptr_t)address, 1);
    span = span_at(&bus->memory_windows, (uintptr_t)address / PAGE_BYTES);
    return span ? CONTAINER(span, const struct bus_mapping, span) : NULL;
}

void bus_set_cache(struct bus *bus, const void *address, enum ram_cache cache)
{
    struct bus_mapping *mapping = hash_get(&bus->mappings, (uintptr_t)address);

    if (mapping)
        mapping->cache = cache;
}

bool bus_cache(const struct bus *bus, const volatile void *address, enum ram_cache *cache)
{
    const struct bus_mapping *mapping = window_of(bus, address);

    if (mapping)
        *cache = mapping->cache;
    return mapping;
}

bool bus_physical(const struct bus *bus, const volatile void *address, struct phys_addr *physical)
{
    if (bus_window_space(bus, address))
        return physical_of(window_of(bus, address), address, physical);
    LIST_FOR(node, &bus->devices) {
        const struct bus_device *device = CONTAINER(node, struct bus_device, link);

        for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++)
            if (in_bar_memory(&device->bar[i], address, physical))
                return true;
    }
    return false;
}

bool bus_register_space(const struct bus *bus, const volatile void *address)
{
    return (uintptr_t)address - (uintptr_t)bus->registers.base < REGISTER_PAGES * PAGE_BYTES;
}

bool bus_window_space(const struct bus *bus, const volatile void *address)
{
    return bus_register_space(bus, address) ||
           (uintptr_t)address - (uintptr_t)bus->memory.base < MEMORY_PAGES * PAGE_BYTES;
}

bool bus_describe(const struct bus *bus, struct phys_addr address, char *text, size_t bytes)
{
    unsigned bar;
    const struct bus_device *device = find_bar(bus, address, 1, &bar);

    if (!device)
        return false;
    snprintf(text, bytes, "BAR %u of %s at 0x%llx", bar, device->model->name,
             (unsigned long long)(address.value - device->bar[bar].address.value));
    return true;
}
