/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   A *hole* is a maximal run of free frames. Two structures know the holes:
 *
 *     - the frame map (frame_map.h), a bit for each frame with summaries above, tells where a hole
 *       that contains a given frame begins and ends;
 *     - the hole index (hole_index.h) tells in which chunks of 1024 frames holes of a given length
 *       begin. It has a row for each *grade* of alignment: 1, 16 and 512 frames (4 KiB, 64 KiB and
 *       2 MiB, the page sizes of GPUs). The length of a hole in a grade is what remains after its
 *       start is rounded up to a multiple of the grade; the hole is entered for the chunk of that
 *       rounded start. Most holes are short and have no entry in the higher grades.
 *
 *   There is no node for a hole or a block: the bookkeeping is the bits, and at most 33 KiB of
 *   index for each 256 MiB. It takes memory only where it is touched, so frames that were never
 *   used cost nothing; and since nothing is allocated, giving back cannot fail.
 *
 *   Search: best fit. Going up from the class of the wanted length, take the first class that has a
 *   chunk inside the window, and in it the hole at the highest address.
 *
 *     - Lengths below 512 (2 MiB) have a class each, so an exact fit is found first, and whatever
 *       is found fits. Longer holes come in steps of 1/32 and coarser.
 *     - A window costs nothing: at each level of the index it is a mask on the children.
 *     - A hole that begins before the window and reaches into it (there is at most one) is checked
 *       separately.
 *     - A hole of a suitable class may still not fit: because of a boundary, an alignment between
 *       the grades, the end of the window (once), or because the class of the length is not exact.
 *       After a few such refusals in a class the search continues with the next one, whose holes
 *       are longer; a hole with room for count + alignment + boundary always fits. If nothing was
 *       found, a second search looks at all holes of these classes, so a request fails only if
 *       there is no place for it.
 *
 *   Why best fit. Of a million requests for 1 to 512 frames with mixed alignments, windows and
 *   boundaries, first fit serves 88 % at an occupancy of 90 % and 72 % at 95 %; this serves 99.97 %
 *   and 99.95 %. Coarser classes lose some of it (eighths of an octave: 99.5 % at 95 %).
 *
 *   Where in the hole: at its lower or its upper end, whichever spares more starts of 2 MiB and
 *   64 KiB pages and leaves one remainder; the upper end if both are as good.
 *
 *   Low memory (below 1 MiB, 16 MiB, 4 GiB) is what devices with short addresses need. A request
 *   that could be served above such a limit is, however bad the fit; what asks for low memory finds
 *   it free while there is anything above. More limits would not help: each one splits memory in
 *   parts that are searched one after another, and the parts fit worse than the whole.
 *
 *   Cost. A take or a give touches the words of its frames, a word or two of the index for each
 *   hole that goes or comes, and the chunks these holes begin in, to learn if another of their
 *   class remains there. That does not depend on the size of RAM nor on its occupancy: the three
 *   levels of the index and four of the map hold 1 TiB. The worst chunk has 512 holes to look at. A
 *   request that finds nothing may look at all holes of the classes that could have held it.
 */
#include "ram/frame_pool.h"
#include "ram/chunk_walk.h"
#include "ram/frame_map.h"
#include "ram/hole_index.h"
#include "util/address.h"
#include "util/min_max.h"

#include <stdlib.h>

/* ---- holes come and go ---- */

/* How many holes of a class begin in the chunk; 2 means two or more. */
static unsigned count_holes(const struct frame_pool *pool, unsigned grade, unsigned class,
                            uint64_t chunk)
{
    struct chunk_walk walk = chunk_walk_begin(pool, grade, chunk);
    unsigned count = 0;
    struct hole hole;
    uint64_t start;

    while (count < 2 && chunk_walk_next(&walk, &hole, &start))
        count += hole_class(hole.end - start) == class;
    return count;
}

static void enter_hole(struct frame_pool *pool, uint64_t first, uint64_t end)
{
    for (unsigned grade = 0; grade < HOLE_GRADES; grade++) {
        uint64_t start = align_up(first, hole_grade_frames[grade]);

        if (start >= end)
            return;
        hole_index_add(&pool->index, grade, hole_class(end - start), start / CHUNK_FRAMES);
    }
}

/* Remove a hole from the index, after the holes that replace it were entered. Returns, as a bit for
 * each grade, where its class may have other holes in the chunk: recount() handles those after all
 * old holes were removed. */
static unsigned strike_hole(struct frame_pool *pool, uint64_t first, uint64_t end)
{
    unsigned unclear = 0;

    for (unsigned grade = 0; grade < HOLE_GRADES; grade++) {
        uint64_t start = align_up(first, hole_grade_frames[grade]);

        if (start >= end)
            break;
        if (!hole_index_remove(&pool->index, grade, hole_class(end - start), start / CHUNK_FRAMES))
            unclear |= 1u << grade;
    }
    return unclear;
}

static void recount(struct frame_pool *pool, uint64_t first, uint64_t end, unsigned unclear)
{
    for (unsigned grade = 0; unclear >> grade != 0; grade++) {
        uint64_t start = align_up(first, hole_grade_frames[grade]), chunk = start / CHUNK_FRAMES;

        if (unclear >> grade & 1) {
            unsigned class = hole_class(end - start);

            hole_index_tell(&pool->index, grade, class, chunk,
                            count_holes(pool, grade, class, chunk));
        }
    }
}

/* Validation visits every frame, so only small machines are validated after each change. */
static inline void changed(const struct frame_pool *pool)
{
#ifdef DXGK_DEBUG_CHECKS
    if (pool->frames <= 4 * CHUNK_FRAMES && !frame_pool_validate(pool))
        abort();
#else
    (void)pool;
#endif
}

/* Prefetch the cache lines that adding and removing the hole will need. */
static inline void prefetch_hole(const struct frame_pool *pool, uint64_t first, uint64_t end)
{
    for (unsigned grade = 0; grade < 2; grade++) {
        uint64_t start = align_up(first, hole_grade_frames[grade]);

        if (start < end)
            hole_index_prefetch(&pool->index, grade, hole_class(end - start), start / CHUNK_FRAMES);
    }
}

void frame_pool_take(struct frame_pool *pool, const struct frame_place *place)
{
    uint64_t end = place->first + place->count;

    prefetch_hole(pool, place->hole_first, place->first);
    prefetch_hole(pool, end, place->hole_end);
    frame_map_use(&pool->map, place->first, place->count);
    pool->free_frames -= place->count;
    if (place->hole_first < place->first)
        enter_hole(pool, place->hole_first, place->first);
    if (end < place->hole_end)
        enter_hole(pool, end, place->hole_end);
    recount(pool, place->hole_first, place->hole_end,
            strike_hole(pool, place->hole_first, place->hole_end));
    changed(pool);
}

void frame_pool_give(struct frame_pool *pool, uint64_t first, uint64_t count)
{
    uint64_t end = first + count;
    uint64_t low = frame_map_prev_used(&pool->map, first) + 1;
    uint64_t high = end < pool->frames ? frame_map_next_used(&pool->map, end) : end;
    unsigned below, above;

    prefetch_hole(pool, low, high);
    prefetch_hole(pool, low, first);
    prefetch_hole(pool, end, high);
    frame_map_free(&pool->map, first, count);
    pool->free_frames += count;
    enter_hole(pool, low, high);
    below = low < first ? strike_hole(pool, low, first) : 0;
    above = end < high ? strike_hole(pool, end, high) : 0;
    recount(pool, low, first, below);
    recount(pool, end, high, above);
    changed(pool);
}

/* ---- set-up and validation ---- */

size_t frame_pool_bytes(uint64_t frames)
{
    return frame_map_bytes(frames) + hole_index_bytes(frames);
}

void frame_pool_init(struct frame_pool *pool, void *memory, uint64_t frames)
{
    *pool = (struct frame_pool){.frames = frames, .free_frames = frames - 1};
    frame_map_init(&pool->map, memory, frames);
    hole_index_init(&pool->index, (char *)memory + frame_map_bytes(frames), frames);
    frame_map_use(&pool->map, 0, 1);
    enter_hole(pool, 1, frames);
}

/* The index agrees with the holes that are found in the chunk. */
static bool chunk_holds(const struct frame_pool *pool, unsigned grade, uint64_t chunk)
{
    struct chunk_walk walk = chunk_walk_begin(pool, grade, chunk);
    uint8_t count[HOLE_CLASSES] = {0};
    struct hole hole;
    uint64_t start;

    while (chunk_walk_next(&walk, &hole, &start)) {
        unsigned class = hole_class(hole.end - start);

        count[class] = (uint8_t)min_of(count[class] + 1u, 2);
    }
    return hole_index_agrees(&pool->index, grade, chunk, count);
}

/* The holes and free frames counted bit by bit match those that a walk of the chunks finds. */
static bool counts_hold(const struct frame_pool *pool)
{
    uint64_t free_frames = 0, holes = 0;
    bool in_hole = false;
    struct hole hole;
    uint64_t start;

    for (uint64_t frame = 0; frame < pool->frames; frame++) {
        bool is_free = !frame_map_used(&pool->map, frame);

        free_frames += is_free;
        holes += is_free && !in_hole;
        in_hole = is_free;
    }
    for (uint64_t chunk = 0; chunk * CHUNK_FRAMES < pool->frames; chunk++)
        for (struct chunk_walk walk = chunk_walk_begin(pool, 0, chunk);
             chunk_walk_next(&walk, &hole, &start);)
            holes--;
    return holes == 0 && free_frames == pool->free_frames;
}

bool frame_pool_validate(const struct frame_pool *pool)
{
    if (!frame_map_validate(&pool->map) || !hole_index_validate(&pool->index) || !counts_hold(pool))
        return false;
    for (uint64_t chunk = 0; chunk * CHUNK_FRAMES < pool->frames; chunk++)
        for (unsigned grade = 0; grade < HOLE_GRADES; grade++)
            if (!chunk_holds(pool, grade, chunk))
                return false;
    return true;
}
