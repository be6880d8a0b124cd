/* SPDX-License-Identifier: MIT */
#include "vidmm/space/entry_source.h"
#include "util/address.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"

#include <stddef.h>

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

/* Pages from that one on, which source_page was asked for last, to the end of its run. */
static uint64_t run_rest(const struct entry_source *source, uint64_t page)
{
    return source->runs[source->run].pages - (page - source->run_first);
}

/* Everything but the address. */
static DXGK_PTE entry_flags(const struct vidmm_space *space, const struct entry_source *source,
                            UINT segment)
{
    const DXGK_GPUMMUCAPS *caps = &space->mmu->geometry.caps;
    DXGK_PTE entry = invalid_entry;

    entry.Valid = 1;
    entry.Segment = segment & 0x1F;
    entry.ReadOnly = source->read_only && caps->ReadOnlyMemorySupported;    /* GPUVA-193 */
    entry.NoExecute = source->no_execute && caps->NoExecuteMemorySupported; /* GPUVA-194 */
    /* GPUVA-195 */
    entry.CacheCoherent = segment == 0 && source->coherent && caps->CacheCoherentMemorySupported;
    return entry;
}

/* An entry as a vector: its flags, its page. */
typedef uint64_t entry_pair __attribute__((vector_size(16), aligned(8), may_alias));

_Static_assert(sizeof(entry_pair) == sizeof(DXGK_PTE) && offsetof(DXGK_PTE, PageAddress) == 8,
               "a pair is an entry");

/* Four chains of additions, so that stores are what it takes. */
static void fill_run(DXGK_PTE *entries, uint32_t count, DXGK_PTE first, uint64_t step)
{
    entry_pair *to = (entry_pair *)entries;
    const entry_pair next = {0, step}, fourth = {0, 4 * step};
    entry_pair a = {first.Flags, first.PageAddress}, b = a + next, c = b + next, d = c + next;

    for (; count >= 4; count -= 4, to += 4) {
        to[0] = a, to[1] = b, to[2] = c, to[3] = d;
        a += fourth, b += fourth, c += fourth, d += fourth;
    }
    for (; count > 0; count--, to++, a += next)
        *to = a;
}

static void fill_logical(DXGK_PTE *restrict entries, uint32_t count, DXGK_PTE first,
                         const struct logical_page *restrict page)
{
    const uint64_t flags = first.Flags;

    for (uint32_t i = 0; i < count; i++) {
        entries[i].Flags = flags;
        entries[i].PageAddress = page[i].value;
    }
}

void source_entries(const struct vidmm_space *space, struct entry_source *source, uint64_t first,
                    unsigned shift, DXGK_PTE *entries, uint32_t count)
{
    const uint64_t step = (uint64_t)1 << shift;
    uint64_t page = first - source->origin;

    if (source->logical && shift == 0) {
        fill_logical(entries, count, entry_flags(space, source, 0), source->logical + page);
        return;
    }
    while (count > 0) {
        UINT segment;
        const uint64_t start = source_page(source, page, &segment);
        const uint64_t rest = source->logical ? 1 : run_rest(source, page);
        const uint64_t whole = (rest + step - 1) >> shift;
        const uint32_t some = whole < count ? (uint32_t)whole : count;
        DXGK_PTE entry = entry_flags(space, source, segment);

        entry.PageAddress = start;
        fill_run(entries, some, entry, step);
        page += (uint64_t)some << shift;
        entries += some;
        count -= some;
    }
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
        step = source->logical ? 1 : run_rest(source, page + done);
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
