/* SPDX-License-Identifier: MIT */
/*
 * The MMU as it tells the host of itself: the format of its tables, and walks of them without any
 * effect, for a host that checks what drivers write (dxgkhost/page_tables.h).
 */
#include "device.h"

#include <string.h>

/* As the miniport numbers its segments; 0 is system memory. */
#define SEGMENT_VRAM     1u
#define SEGMENT_APERTURE 2u

static const struct dxgk_table_format format = {
    .name = "refgpu",
    .entry_bytes = 8,
    .levels = REFGPU_LEVELS,
    .index_bits = {REFGPU_LEVEL_BITS, REFGPU_LEVEL_BITS, REFGPU_LEVEL_BITS, REFGPU_LEVEL_BITS},
    .valid = REFGPU_PTE_VALID,
    .zero = REFGPU_PTE_ZERO,
    .read_only = REFGPU_PTE_READ_ONLY,
    .no_execute = REFGPU_PTE_NO_EXECUTE,
    .coherent = REFGPU_PTE_SNOOP,
    .big = REFGPU_PTE_BIG,
    .address_mask = REFGPU_PTE_ADDRESS_MASK,
    .segment_mask = REFGPU_PTE_SYSTEM | REFGPU_PTE_GART,
    .segments = 3,
    .segment = {{.segment = 0, .bits = REFGPU_PTE_SYSTEM},
                {.segment = SEGMENT_VRAM, .bits = 0},
                {.segment = SEGMENT_APERTURE, .bits = REFGPU_PTE_GART}},
    .tables_plain = true,
};

static bool read_entry(const struct refgpu_device *device, uint64_t offset, uint64_t *entry)
{
    if (offset > device->vram_bytes - sizeof *entry)
        return false;
    memcpy(entry, device->vram + offset, sizeof *entry);
    return true;
}

static void end_at_page(struct dxgk_walk *walk, uint64_t entry, uint64_t address)
{
    walk->valid = true;
    walk->zero = (entry & REFGPU_PTE_ZERO) != 0;
    walk->read_only = (entry & REFGPU_PTE_READ_ONLY) != 0;
    walk->no_execute = (entry & REFGPU_PTE_NO_EXECUTE) != 0;
    walk->segment = entry & REFGPU_PTE_GART     ? SEGMENT_APERTURE
                    : entry & REFGPU_PTE_SYSTEM ? 0
                                                : SEGMENT_VRAM;
    walk->offset = (entry & REFGPU_PTE_ADDRESS_MASK) + (address & (REFGPU_PAGE_BYTES - 1u));
}

static bool walk_tables(void *context, uint64_t root, uint64_t address, struct dxgk_walk *walk)
{
    const struct refgpu_device *device = context;
    const uint64_t page = address >> REFGPU_PAGE_SHIFT;
    uint64_t table = root, entry = 0;
    bool big = false;

    for (unsigned level = REFGPU_LEVELS; level-- > 0;) {
        const bool in_big = level == 0 && big;
        uint64_t index = (page >> (level * REFGPU_LEVEL_BITS)) & (REFGPU_TABLE_ENTRIES - 1u);

        if (in_big)
            index >>= 4;
        if (!read_entry(device, table + index * sizeof entry, &entry))
            return true; /* it would fault */
        walk->step[walk->steps++] = (struct dxgk_walk_step){level, (uint32_t)index, entry};
        if (!(entry & REFGPU_PTE_VALID) || (level > 0 && (entry & REFGPU_PTE_SYSTEM)))
            return true;
        if (entry & REFGPU_PTE_ZERO)
            break;
        table = entry & REFGPU_PTE_ADDRESS_MASK;
        big = level == 1 && (entry & REFGPU_PTE_BIG);
        if (in_big)
            entry = (entry & ~(15ull << REFGPU_PAGE_SHIFT)) | (page & 15u) << REFGPU_PAGE_SHIFT;
    }
    end_at_page(walk, entry, address);
    return true;
}

void refgpu_mmu_tell(struct refgpu_device *device)
{
    static const struct dxgk_device_mmu mmu = {
        .size = sizeof mmu, .format = &format, .walk = walk_tables, .format_size = sizeof format};

    device->checks_tlb = device->services->mmu(device->host, &mmu);
}

void refgpu_mmu_compare(const struct refgpu_engine *engine, uint64_t address, uint64_t kept)
{
    const struct refgpu_device *device = engine->device;
    struct dxgk_walk walk = {.steps = 0};
    uint64_t now;

    (void)walk_tables(engine->device, engine->entry.root, address, &walk);
    now = walk.valid ? walk.step[walk.steps - 1u].entry : 0;
    if (walk.valid && walk.steps && walk.step[walk.steps - 1u].level == 0 &&
        ((kept ^ now) & ~REFGPU_PTE_ADDRESS_MASK) == 0 &&
        (kept & REFGPU_PTE_ADDRESS_MASK) == (walk.offset & REFGPU_PTE_ADDRESS_MASK))
        return;
    if (walk.valid && walk.zero && (kept & REFGPU_PTE_ZERO))
        return;
    device->services->stale_translation(
        device->host, &(struct dxgk_stale_translation){.engine = engine->index,
                                                       .command = engine->entry.fence,
                                                       .root = engine->entry.root,
                                                       .address = address,
                                                       .kept = kept,
                                                       .now = now});
}
