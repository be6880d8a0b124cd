/* SPDX-License-Identifier: MIT */
/* The intervals of an address space: a sorted array of ranges, each with a sorted array of pieces. */
#include "gpu_memory_fuzz.h"

static bool overlap(uint64_t a, uint64_t a_pages, uint64_t b, uint64_t b_pages)
{
    return a < b + b_pages && b < a + a_pages;
}

struct fuzz_range *fuzz_range_at(struct fuzz_process *process, uint64_t page)
{
    for (unsigned i = 0; i < process->ranges; i++)
        if (page - process->range[i].first < process->range[i].pages)
            return &process->range[i];
    return NULL;
}

bool fuzz_taken(const struct fuzz_process *process, uint64_t first, uint64_t pages)
{
    for (unsigned i = 0; i < process->ranges; i++)
        if (overlap(first, pages, process->range[i].first, process->range[i].pages))
            return true;
    return false;
}

bool fuzz_full(const struct fuzz_process *process)
{
    return process->ranges == RANGES;
}

struct fuzz_range *fuzz_range_add(struct fuzz_process *process, const struct fuzz_range *range)
{
    unsigned at = 0;

    MUST(!fuzz_full(process) && !fuzz_taken(process, range->first, range->pages));
    while (at < process->ranges && process->range[at].first < range->first)
        at++;
    memmove(&process->range[at + 1], &process->range[at],
            (process->ranges++ - at) * sizeof(process->range[0]));
    process->range[at] = *range;
    process->range[at].count = 1;
    process->range[at].piece[0] = (struct fuzz_piece){.first = range->first,
                                                      .pages = range->pages,
                                                      .state = range->initial,
                                                      .driver = range->driver};
    return &process->range[at];
}

void fuzz_range_remove(struct fuzz_process *process, struct fuzz_range *range)
{
    const unsigned at = (unsigned)(range - process->range);

    memmove(range, range + 1, (--process->ranges - at) * sizeof(*range));
}

bool fuzz_has_room(const struct fuzz_range *range)
{
    return range->count + 8 < PIECES;
}

const struct fuzz_piece *fuzz_piece_at(const struct fuzz_range *range, uint64_t page)
{
    for (unsigned i = 0; i < range->count; i++)
        if (page - range->piece[i].first < range->piece[i].pages)
            return &range->piece[i];
    return NULL;
}

/* The part of a piece from `first` on. */
static struct fuzz_piece part(const struct fuzz_piece *piece, uint64_t first, uint64_t end)
{
    struct fuzz_piece p = *piece;

    p.first = first;
    p.pages = end - first;
    p.offset += first - piece->first;
    return p;
}

bool fuzz_paint(struct fuzz_range *range, const struct fuzz_piece *piece)
{
    struct fuzz_piece out[PIECES + 2];
    const uint64_t first = piece->first, end = piece->first + piece->pages;
    unsigned count = 0;
    bool placed = false;

    for (unsigned i = 0; i < range->count; i++) {
        const struct fuzz_piece *old = &range->piece[i];
        const uint64_t old_end = old->first + old->pages;

        if (count + 3 > PIECES)
            return false;
        if (old->first < first)
            out[count++] = part(old, old->first, old_end < first ? old_end : first);
        if (!placed && old_end > first) {
            out[count++] = *piece;
            placed = true;
        }
        if (old_end > end)
            out[count++] = part(old, old->first > end ? old->first : end, old_end);
    }
    MUST(placed);
    memcpy(range->piece, out, count * sizeof(out[0]));
    range->count = count;
    return true;
}

void fuzz_unmap_all(struct fuzz_process *process, unsigned allocation)
{
    for (unsigned i = process->ranges; i-- > 0;) {
        struct fuzz_range *range = &process->range[i];
        bool had = false, has = false;

        for (unsigned k = 0; k < range->count; k++) {
            struct fuzz_piece *piece = &range->piece[k];

            if (piece->state == STATE_PAGES && piece->allocation == allocation) {
                had = true;
                *piece = (struct fuzz_piece){.first = piece->first,
                                             .pages = piece->pages,
                                             .state = range->initial,
                                             .driver = range->driver};
            }
            has |= piece->state == STATE_PAGES;
        }
        if (had && !has && range->owned)
            fuzz_range_remove(process, range);
    }
}

bool fuzz_conflict(unsigned allocation, uint64_t offset, uint64_t pages, uint64_t driver)
{
    for (unsigned i = 0; i < PROCESSES; i++)
        for (unsigned k = 0; k < fuzz_run->process[i].ranges; k++) {
            const struct fuzz_range *range = &fuzz_run->process[i].range[k];

            for (unsigned n = 0; n < range->count; n++) {
                const struct fuzz_piece *piece = &range->piece[n];

                if (piece->state == STATE_PAGES && piece->allocation == allocation &&
                    piece->driver & D3DGPU_UNIQUE_DRIVER_PROTECTION && piece->driver != driver &&
                    overlap(piece->offset, piece->pages, offset, pages))
                    return true;
            }
        }
    return false;
}
