/* SPDX-License-Identifier: MIT */
#include "vidmm/space/entry_source.h"
#include "util/address.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"

static const DXGK_PTE invalid_entry;

DXGK_PTE source_fill(enum entry_state state)
{
    DXGK_PTE entry = invalid_entry;

    if (state == ENTRY_ZERO) {
        entry.Valid = 1; /* GPUVA-192 */
        entry.Zero = 1;
    }
    return entry;
}

/* Segment and page number of page `page` of the source. Fast if pages are asked for
 * in ascending order. */
static uint64_t source_page(struct entry_source *source, uint64_t page, UINT *segment)
{
    if (source->logical) {
        *segment = 0;
        return source->logical[page].value;
    }
    if (page < source->run_first)
        source->run = 0, source->run_first = source->run_base;
    while (page - source->run_first >= source->runs[source->run].pages)
        source->run_first += source->runs[source->run++].pages;
    *segment = source->runs[source->run].segment;
    return source->runs[source->run].first + (page - source->run_first);
}

DXGK_PTE source_entry(const struct vidmm_space *space, struct entry_source *source, uint64_t page)
{
    const DXGK_GPUMMUCAPS *caps = &space->mmu->geometry.caps;
    DXGK_PTE entry = invalid_entry;
    UINT segment;

    entry.PageAddress = source_page(source, page - source->origin, &segment);
    entry.Valid = 1;
    entry.Segment = segment & 0x1F;
    entry.ReadOnly = source->read_only && caps->ReadOnlyMemorySupported;    /* GPUVA-193 */
    entry.NoExecute = source->no_execute && caps->NoExecuteMemorySupported; /* GPUVA-194 */
    /* GPUVA-195 */
    entry.CacheCoherent = segment == 0 && source->coherent && caps->CacheCoherentMemorySupported;
    return entry;
}

bool source_fits_large(const struct vidmm_space *space, struct entry_source *source, uint64_t first)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    uint64_t page = first - source->origin, start, step;
    UINT segment;

    if (!source->large || !geometry->caps.LargePageSupported)
        return false;
    start = source_page(source, page, &segment);
    if (segment == 0 && !geometry->caps.SysMemLargePageSupported)
        return false;
    if ((start & (geometry->span - 1)) != 0 && !geometry->caps.AllowNonAlignedLargePageAddress)
        return false;
    for (uint64_t done = 0; done < geometry->span; done += step) {
        UINT other;

        if (source_page(source, page + done, &other) != start + done || other != segment)
            return false;
        step = source->logical
                   ? 1
                   : source->runs[source->run].pages - (page + done - source->run_first);
    }
    return true;
}

bool source_fits_wide(const struct vidmm_space *space, struct entry_source *source, uint64_t first)
{
    uint64_t start;
    UINT segment, other;

    if (source->state != ENTRY_PAGES || !source->wide || source->logical)
        return false;
    start = source_page(source, first - source->origin, &segment);
    return segment != 0 && space->vidmm->segment[segment].flags.Use64KBPages &&
           start % TWIN_PAGES == 0 &&
           source_page(source, first - source->origin + TWIN_PAGES - 1, &other) ==
               start + TWIN_PAGES - 1 &&
           other == segment;
}
