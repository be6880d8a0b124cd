/* SPDX-License-Identifier: MIT */
/*
 * From addresses to bytes. A device address is in VRAM, the GART aperture or the bus window; a GPU
 * virtual address goes through the TLB or the tables in VRAM. Both end in VRAM bytes or a window
 * onto system memory.
 *
 * The TLB is a plain table indexed by page and root. Like hardware, it answers from its content
 * until it is flushed: software that changes a valid entry without flushing sees the old page.
 * Invalid entries are not cached.
 */
#include "device.h"

#include <string.h>

#define VA_LIMIT (1ull << REFGPU_VA_BITS)

static const uint8_t zero_page[REFGPU_PAGE_BYTES];

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool page_fault(struct refgpu_engine *engine, uint32_t code, uint32_t unit, uint32_t level,
                       unsigned access, uint64_t address)
{
    return refgpu_engine_fault(engine, REFGPU_FAULT_PAGE, code, unit, level,
                               (access & DXGK_DMA_WRITE) != 0, address);
}

static bool bus_fault(struct refgpu_engine *engine, uint32_t unit, bool write, uint64_t address)
{
    return refgpu_engine_fault(engine, REFGPU_FAULT_BUS, 0, unit, 0, write, address);
}

/* Tells the host who makes these accesses, for its reports. */
static void name_source(const struct refgpu_engine *engine)
{
    const struct refgpu_device *device = engine->device;

    device->services->dma_source(device->host, engine->index,
                                 (uint64_t)engine->entry.fence << 32 | engine->offset);
}

static bool bus_reaches(const struct refgpu_device *device, uint64_t address, uint64_t bytes)
{
    const uint64_t limit = 1ull << device->dma_bits;

    return address < limit && bytes <= limit - address;
}

bool refgpu_bus_read(struct refgpu_engine *engine, uint64_t address, uint32_t unit, void *to,
                     uint64_t bytes)
{
    struct refgpu_device *device = engine->device;

    name_source(engine);
    if (bus_reaches(device, address, bytes) &&
        device->services->dma_read(device->host, address, to, bytes))
        return true;
    return bus_fault(engine, unit, false, address);
}

bool refgpu_bus_write(struct refgpu_engine *engine, uint64_t address, uint32_t unit,
                      const void *from, uint64_t bytes)
{
    struct refgpu_device *device = engine->device;

    name_source(engine);
    if (bus_reaches(device, address, bytes) &&
        device->services->dma_write(device->host, address, from, bytes))
        return true;
    return bus_fault(engine, unit, true, address);
}

static uint8_t *bus_window(struct refgpu_engine *engine, uint64_t address, unsigned access,
                           uint32_t unit, uint64_t want, uint64_t *run)
{
    struct refgpu_device *device = engine->device;
    size_t length = 0;
    uint8_t *bytes;

    if (!bus_reaches(device, address, 1)) {
        bus_fault(engine, unit, (access & DXGK_DMA_WRITE) != 0, address);
        return NULL;
    }
    want = smaller(want, (1ull << device->dma_bits) - address);
    name_source(engine);
    bytes = device->services->dma_window(device->host, address, (enum dxgk_dma_access)access, want,
                                         &length);
    if (!bytes || !length) {
        bus_fault(engine, unit, (access & DXGK_DMA_WRITE) != 0, address);
        return NULL;
    }
    *run = smaller(length, want);
    return bytes;
}

static bool vram_entry(const struct refgpu_device *device, uint64_t offset, uint64_t *entry)
{
    if (offset > device->vram_bytes - sizeof *entry)
        return false;
    memcpy(entry, device->vram + offset, sizeof *entry);
    return true;
}

static uint8_t *device_piece(struct refgpu_engine *engine, uint64_t address, unsigned access,
                             uint32_t unit, uint64_t want, uint64_t *run)
{
    struct refgpu_device *device = engine->device;
    const uint64_t in_page = address & (REFGPU_PAGE_BYTES - 1u);
    uint64_t entry, page;

    if (address < device->vram_bytes) {
        *run = smaller(want, device->vram_bytes - address);
        return device->vram + address;
    }
    if (address >= REFGPU_BUS_BASE) {
        if (engine->entry.flags & REFGPU_ENTRY_PRIVILEGED)
            return bus_window(engine, address - REFGPU_BUS_BASE, access, unit, want, run);
        page_fault(engine, REFGPU_PAGE_PRIVILEGE, unit, 0, access, address);
        return NULL;
    }
    page = (address - REFGPU_GART_BASE) >> REFGPU_PAGE_SHIFT;
    if (address < REFGPU_GART_BASE || page >= device->gart_pages) {
        page_fault(engine, REFGPU_PAGE_RANGE, unit, 0, access, address);
        return NULL;
    }
    if (!vram_entry(device, device->gart_table + page * sizeof entry, &entry)) {
        page_fault(engine, REFGPU_PAGE_TABLE, unit, 0, access, address);
        return NULL;
    }
    if (!(entry & REFGPU_GART_VALID)) {
        page_fault(engine, REFGPU_PAGE_GART, unit, 0, access, address);
        return NULL;
    }
    return bus_window(engine, (entry & REFGPU_GART_ADDRESS_MASK) + in_page, access, unit,
                      smaller(want, REFGPU_PAGE_BYTES - in_page), run);
}

static struct refgpu_tlb_entry *tlb_slot(struct refgpu_device *device, uint64_t root, uint64_t page)
{
    /* Addresses that differ by a large power of two should use different slots. */
    return &device->tlb[(page ^ page >> 11 ^ page >> 23 ^ (root >> REFGPU_PAGE_SHIFT) * 0x9E5u) %
                        REFGPU_TLB_ENTRIES];
}

static uint64_t tlb_tag(const struct refgpu_device *device, uint64_t page)
{
    return page | (uint64_t)device->tlb_generation << 40;
}

/* Find the leaf entry for a page: its flags, and the number of the 4 KiB page. False: a fault was
 * recorded. */
static bool walk(struct refgpu_engine *engine, uint64_t address, unsigned access, uint32_t unit,
                 uint64_t *pte)
{
    struct refgpu_device *device = engine->device;
    const uint64_t page = address >> REFGPU_PAGE_SHIFT;
    uint64_t table = engine->entry.root;
    bool big = false;
    uint64_t entry;

    engine->walks++;
    for (unsigned level = REFGPU_LEVELS; level-- > 0;) {
        const bool in_big = level == 0 && big;
        uint64_t index = (page >> (level * REFGPU_LEVEL_BITS)) & (REFGPU_TABLE_ENTRIES - 1u);

        if (in_big)
            index >>= 4;
        if (!vram_entry(device, table + index * sizeof entry, &entry))
            return page_fault(engine, REFGPU_PAGE_TABLE, unit, level, access, address);
        if (!(entry & REFGPU_PTE_VALID))
            return page_fault(engine, REFGPU_PAGE_INVALID, unit, level, access, address);
        if (entry & REFGPU_PTE_ZERO)
            break;
        if (level > 0 && (entry & REFGPU_PTE_SYSTEM))
            return page_fault(engine, REFGPU_PAGE_TABLE, unit, level, access, address);
        table = entry & REFGPU_PTE_ADDRESS_MASK;
        big = level == 1 && (entry & REFGPU_PTE_BIG);
        if (in_big) /* the low four bits of the page number come from the address */
            entry = (entry & ~(15ull << REFGPU_PAGE_SHIFT)) | (page & 15u) << REFGPU_PAGE_SHIFT;
    }
    *pte = entry;
    return true;
}

/* How many of `want` bytes at `address`, whose page is at `target` on the bus, are contiguous
 * there, as far as the TLB knows. */
static uint64_t bus_run(struct refgpu_engine *engine, uint64_t address, uint64_t target,
                        uint64_t pte, uint64_t want)
{
    struct refgpu_device *device = engine->device;
    uint64_t have = REFGPU_PAGE_BYTES - (address & (REFGPU_PAGE_BYTES - 1u));

    while (have < want) {
        const uint64_t page = (address + have) >> REFGPU_PAGE_SHIFT;
        const struct refgpu_tlb_entry *slot = tlb_slot(device, engine->entry.root, page);

        if (slot->page != tlb_tag(device, page) || slot->root != engine->entry.root ||
            (slot->pte ^ pte) & ~REFGPU_PTE_ADDRESS_MASK ||
            (slot->pte & REFGPU_PTE_ADDRESS_MASK) != target + have)
            break;
        have += REFGPU_PAGE_BYTES;
    }
    return smaller(have, want);
}

static uint8_t *virtual_piece(struct refgpu_engine *engine, uint64_t address, unsigned access,
                              uint32_t unit, uint64_t want, uint64_t *run)
{
    struct refgpu_device *device = engine->device;
    const uint64_t page = address >> REFGPU_PAGE_SHIFT;
    const uint64_t in_page = address & (REFGPU_PAGE_BYTES - 1u);
    const uint64_t all = want;
    struct refgpu_tlb_entry *slot;
    uint64_t target;

    if (address >= VA_LIMIT) {
        page_fault(engine, REFGPU_PAGE_RANGE, unit, REFGPU_LEVELS - 1u, access, address);
        return NULL;
    }
    want = smaller(want, REFGPU_PAGE_BYTES - in_page);
    slot = tlb_slot(device, engine->entry.root, page);
    if (slot->page != tlb_tag(device, page) || slot->root != engine->entry.root) {
        uint64_t pte = 0;

        if (!walk(engine, address, access, unit, &pte))
            return NULL;
        slot->page = tlb_tag(device, page);
        slot->root = engine->entry.root;
        slot->pte = pte;
    } else if (device->checks_tlb) {
        refgpu_mmu_compare(engine, address, slot->pte);
    }
    if (slot->pte & REFGPU_PTE_ZERO) {
        *run = want;
        if (!(access & DXGK_DMA_WRITE))
            return (uint8_t *)(uintptr_t)zero_page + in_page;
        memset(device->sink + in_page, 0, want); /* a read-modify-write must read zeros */
        return device->sink + in_page;
    }
    if ((access & DXGK_DMA_WRITE) && (slot->pte & REFGPU_PTE_READ_ONLY)) {
        page_fault(engine, REFGPU_PAGE_READ_ONLY, unit, 0, access, address);
        return NULL;
    }
    if (unit == REFGPU_UNIT_FETCH && device->no_execute && (slot->pte & REFGPU_PTE_NO_EXECUTE)) {
        page_fault(engine, REFGPU_PAGE_NO_EXECUTE, unit, 0, access, address);
        return NULL;
    }
    target = (slot->pte & REFGPU_PTE_ADDRESS_MASK) + in_page;
    if (slot->pte & REFGPU_PTE_GART)
        return device_piece(engine, REFGPU_GART_BASE + target, access, unit, want, run);
    if (slot->pte & REFGPU_PTE_SYSTEM)
        return bus_window(engine, target, access, unit,
                          bus_run(engine, address, target, slot->pte, all), run);
    if (target >= device->vram_bytes) {
        page_fault(engine, REFGPU_PAGE_TABLE, unit, 0, access, address);
        return NULL;
    }
    *run = smaller(want, device->vram_bytes - target);
    return device->vram + target;
}

static uint8_t *piece(struct refgpu_engine *engine, enum refgpu_space space, uint64_t address,
                      unsigned access, uint32_t unit, uint64_t want, uint64_t *run)
{
    if (space == REFGPU_SPACE_VIRTUAL)
        return virtual_piece(engine, address, access, unit, want, run);
    return device_piece(engine, address, access, unit, want, run);
}

static bool in_sink(const struct refgpu_device *device, const uint8_t *bytes)
{
    return (bytes >= device->sink && bytes < device->sink + sizeof device->sink) ||
           (bytes >= zero_page && bytes < zero_page + sizeof zero_page);
}

uint8_t *refgpu_memory(struct refgpu_engine *engine, enum refgpu_space space, uint64_t address,
                       unsigned access, uint32_t unit, uint64_t want, uint64_t *run)
{
    uint64_t have = 0;
    uint8_t *bytes = piece(engine, space, address, access, unit, want, &have);

    /* Neighboring pages are often contiguous: combine them. A fault in one is reported only when it
     * is really accessed. */
    while (bytes && have < want && !in_sink(engine->device, bytes)) {
        const struct refgpu_fault saved = engine->fault;
        uint64_t more = 0;
        const uint8_t *next = piece(engine, space, address + have, access, unit, want - have, &more);

        if (next != bytes + have) {
            if (!next)
                engine->fault = saved;
            break;
        }
        have += more;
    }
    *run = have;
    return bytes;
}

bool refgpu_memory_read(struct refgpu_engine *engine, enum refgpu_space space, uint64_t address,
                        uint32_t unit, void *to, uint64_t bytes)
{
    uint8_t *at = to;

    while (bytes) {
        uint64_t run;
        const uint8_t *from = piece(engine, space, address, DXGK_DMA_READ, unit, bytes, &run);

        if (!from)
            return false;
        memcpy(at, from, run);
        at += run;
        address += run;
        bytes -= run;
    }
    return true;
}

bool refgpu_memory_write(struct refgpu_engine *engine, enum refgpu_space space, uint64_t address,
                         uint32_t unit, const void *from, uint64_t bytes)
{
    const uint8_t *at = from;

    while (bytes) {
        uint64_t run;
        uint8_t *to = piece(engine, space, address, DXGK_DMA_WRITE, unit, bytes, &run);

        if (!to)
            return false;
        memcpy(to, at, run);
        at += run;
        address += run;
        bytes -= run;
    }
    return true;
}

void refgpu_tlb_flush_all(struct refgpu_device *device)
{
    device->tlb_generation = (device->tlb_generation + 1u) & 0xFFFFFu;
    if (!device->tlb_generation) { /* wrapped around: old tags would become valid again */
        memset(device->tlb, 0, REFGPU_TLB_ENTRIES * sizeof *device->tlb);
        device->tlb_generation = 1;
    }
}

void refgpu_tlb_flush(struct refgpu_device *device, uint64_t root, uint64_t start, uint64_t end)
{
    const uint64_t first = start >> REFGPU_PAGE_SHIFT;
    const uint64_t last = (end + REFGPU_PAGE_BYTES - 1u) >> REFGPU_PAGE_SHIFT;

    if (end > start && last - first < REFGPU_TLB_ENTRIES) {
        for (uint64_t page = first; page < last; page++) {
            struct refgpu_tlb_entry *slot = tlb_slot(device, root, page);

            if (slot->page == tlb_tag(device, page) && slot->root == root)
                slot->page = 0;
        }
        return;
    }
    for (uint32_t i = 0; i < REFGPU_TLB_ENTRIES; i++) {
        const uint64_t page = device->tlb[i].page & ((1ull << 40) - 1u);

        if (device->tlb[i].root == root && (end <= start || (page >= first && page < last)))
            device->tlb[i].page = 0;
    }
}
