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
 *       2 MiB, the page sizes of the subject). The length of a hole in a grade is what is left
 *       after its start was rounded up to a multiple of the grade, and it belongs to the chunk of
 *       that rounded start. Most holes are short and have no entry in the higher grades.
 *
 *   There is no node for a hole or a block: the books of a block are bits, about 5 KiB in the index
 *   for each 256 MiB of RAM in use, and whatever its holes touch. They are address space until they
 *   are touched, hence cost nothing for memory that was never used.
 *
 *   Search: best fit. From the class of the wanted length upwards, take the first class that has a
 *   chunk inside the window, and of its holes the one at the highest address.
 *
 *     - Lengths below 64, nine of ten blocks in practice, have exact classes: what fits without a
 *       remainder is found first. Long holes come in steps of 1/32 to 1/64.
 *     - A window costs nothing: at each level of the index it is a mask on the children.
 *     - A hole that begins before the window and reaches into it is looked at by itself; there is
 *       one at most.
 *     - What the class promises may be refuted by the hole itself: by a boundary, by an alignment
 *       between the grades, by the end of the window (once), or in the class of the length itself,
 *       if it is not exact. After a few refusals in a class the search goes on to the next, whose
 *       holes have more room; a hole with room for count + alignment + boundary refuses nobody. Only
 *       if nothing else was found does a second search look at all holes of these classes, so that
 *       it fails only if there is no place.
 *
 *   Why best fit. Placed first fit, from whichever end, runs of 1 to 512 frames with mixed
 *   alignment succeed in less than nine of ten requests once memory is 90 % full; exact best fit
 *   keeps 99.9 % at 90 % and 99.8 % at 95 % after a million requests.
 *
 *   Where in the hole: at its lower or its upper end, whichever spares more starts of 2 MiB and
 *   64 KiB pages and leaves one remainder; the upper end if both are as good.
 *
 *   Low memory (below 1 MiB, 16 MiB, 4 GiB) is what devices with short addresses need. A request
 *   that could be served above such a limit is, however bad the fit; what asks for low memory finds
 *   it free while there is anything above. More limits would not help: each one splits memory in
 *   parts that are searched one after another, and the parts fit worse than the whole.
 *
 *   Cost. A take or a give touches the words of its frames, a word or two of the index for each hole
 *   that goes or comes, and the chunks these holes begin in, to learn if another of their class
 *   remains there. Independent of the size of RAM and of how much of it is in use: the three levels
 *   of the index and four of the map hold 1 TiB. The worst chunk has 512 holes to look at.
 */
#include "ram/frame_pool.h"

#include <stdlib.h>

#include "util/address.h"

enum {
    REFUSALS = 4, /* in one class, before the next is tried */
    LIMITS = 4,
};

/* Requests without need for lower memory are served above these. */
static const uint64_t limits[LIMITS] = {1u << 20, 1u << 12, 1u << 8, 0}; /* 4 GiB, 16 MiB, 1 MiB */

static const uint64_t grade_frames[HOLE_GRADES] = {1, 16, 512};

struct hole {
    uint64_t first, end;
};

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* ---- holes of a chunk ---- */

struct chunk_walk {
    const struct frame_map *map;
    uint64_t first, end; /* of the chunk */
    uint64_t at;
    uint64_t grade;
};

static inline struct chunk_walk walk_chunk(const struct frame_pool *pool, unsigned grade,
                                           uint64_t chunk)
{
    uint64_t first = chunk * CHUNK_FRAMES;

    return (struct chunk_walk){.map = &pool->map,
                               .first = first,
                               .end = smaller(first + CHUNK_FRAMES, pool->frames),
                               .at = first,
                               .grade = grade_frames[grade]};
}

/* The next free frame of the chunk; its end if there is none. */
static inline uint64_t next_free_of(const struct chunk_walk *walk)
{
    uint64_t word = walk->at / 64, bits;

    if (walk->at >= walk->end)
        return walk->end;
    bits = ~walk->map->used[0][word] >> walk->at % 64;
    if (bits)
        return smaller(walk->at + (uint64_t)__builtin_ctzll(bits), walk->end);
    while (++word * 64 < walk->end)
        if (~walk->map->used[0][word])
            return smaller(word * 64 + (uint64_t)__builtin_ctzll(~walk->map->used[0][word]),
                           walk->end);
    return walk->end;
}

/* The next hole whose start, rounded up to the grade, stands in the chunk. */
static inline bool next_hole(struct chunk_walk *walk, struct hole *hole, uint64_t *start)
{
    for (;;) {
        uint64_t at = next_free_of(walk);

        if (at >= walk->end)
            return false;
        hole->first = at;
        hole->end = frame_map_next_used(walk->map, at);
        walk->at = hole->end + 1;
        if (at == walk->first)
            hole->first = frame_map_prev_used(walk->map, at) + 1;
        *start = align_up(hole->first, walk->grade);
        if (*start >= walk->first && *start < smaller(walk->end, hole->end))
            return true;
    }
}

static bool chunk_has(const struct frame_pool *pool, unsigned grade, unsigned class, uint64_t chunk)
{
    struct chunk_walk walk = walk_chunk(pool, grade, chunk);
    struct hole hole;
    uint64_t start;

    while (next_hole(&walk, &hole, &start))
        if (hole_class(hole.end - start) == class)
            return true;
    return false;
}

/* ---- holes come and go ---- */

static void enter_hole(struct frame_pool *pool, uint64_t first, uint64_t end)
{
    for (unsigned grade = 0; grade < HOLE_GRADES; grade++) {
        uint64_t start = align_up(first, grade_frames[grade]);

        if (start >= end)
            return;
        hole_index_add(&pool->index, grade, hole_class(end - start), start / CHUNK_FRAMES);
    }
}

/* A hole that is no more, after its successors were entered. */
static void strike_hole(struct frame_pool *pool, uint64_t first, uint64_t end)
{
    for (unsigned grade = 0; grade < HOLE_GRADES; grade++) {
        uint64_t start = align_up(first, grade_frames[grade]), chunk = start / CHUNK_FRAMES;
        unsigned class;

        if (start >= end)
            return;
        class = hole_class(end - start);
        if (!chunk_has(pool, grade, class, chunk))
            hole_index_remove(&pool->index, grade, class, chunk);
    }
}

/* Validation looks at every frame, which only small machines can bear after each change. */
static inline void changed(const struct frame_pool *pool)
{
#ifdef DXGK_DEBUG_CHECKS
    if (pool->frames <= 4 * CHUNK_FRAMES && !frame_pool_validate(pool))
        abort();
#else
    (void)pool;
#endif
}

/* The cache lines that entering and striking the hole will ask for. */
static inline void prefetch_hole(const struct frame_pool *pool, uint64_t first, uint64_t end)
{
    for (unsigned grade = 0; grade < 2; grade++) {
        uint64_t start = align_up(first, grade_frames[grade]);

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
    strike_hole(pool, place->hole_first, place->hole_end);
    changed(pool);
}

void frame_pool_give(struct frame_pool *pool, uint64_t first, uint64_t count)
{
    uint64_t end = first + count;
    uint64_t low = frame_map_prev_used(&pool->map, first) + 1;
    uint64_t high = end < pool->frames ? frame_map_next_used(&pool->map, end) : end;

    prefetch_hole(pool, low, high);
    prefetch_hole(pool, low, first);
    prefetch_hole(pool, end, high);
    frame_map_free(&pool->map, first, count);
    pool->free_frames += count;
    enter_hole(pool, low, high);
    if (low < first)
        strike_hole(pool, low, first);
    if (end < high)
        strike_hole(pool, end, high);
    changed(pool);
}

/* ---- placing ---- */

static inline bool crosses(const struct frame_want *want, uint64_t first)
{
    return want->boundary && (first ^ (first + want->count - 1)) >= want->boundary;
}

/* The lowest and the highest place in [low, high), which has room for the count. */
static inline bool lowest_place(const struct frame_want *want, uint64_t low, uint64_t high,
                                uint64_t *place)
{
    uint64_t first = align_up(low, want->align);

    if (crosses(want, first))
        first = align_up(first + 1, larger(want->boundary, want->align));
    *place = first;
    return first < high && high - first >= want->count;
}

static inline bool highest_place(const struct frame_want *want, uint64_t low, uint64_t high,
                                 uint64_t *place)
{
    uint64_t first = align_down(high - want->count, want->align);

    if (crosses(want, first)) {
        uint64_t line = align_down(first + want->count - 1, want->boundary);

        if (line < want->count)
            return false;
        first = align_down(line - want->count, want->align);
    }
    *place = first;
    return first >= low && first < high;
}

/* What it costs others to lose [first, first + count) of the hole: starts of large pages, and
 * its being in one piece. */
static inline uint64_t harm(const struct hole *hole, uint64_t first, uint64_t count)
{
    uint64_t end = first + count;
    uint64_t medium = (end + 15) / 16 - (first + 15) / 16;
    uint64_t large = (end + 511) / 512 - (first + 511) / 512;

    return medium + 128 * large + (first != hole->first && end != hole->end ? 8 : 0);
}

/* The place of the request inside the part of the hole at or above `low`. */
static inline bool place_in(const struct frame_want *want, const struct hole *hole, uint64_t low,
                            uint64_t *place)
{
    uint64_t from = larger(hole->first, low), to = smaller(hole->end, want->high);
    uint64_t lower = 0, upper = 0;
    bool has_lower, has_upper;

    if (from >= to || to - from < want->count)
        return false;
    has_lower = lowest_place(want, from, to, &lower);
    has_upper = highest_place(want, from, to, &upper);
    if (!has_lower && !has_upper)
        return false;
    if (has_lower && has_upper)
        has_upper = harm(hole, upper, want->count) <= harm(hole, lower, want->count);
    *place = has_upper ? upper : lower;
    return true;
}

/* ---- search ---- */

/* A search in [low, want->high) among holes that start (in the grade) below `below`. */
struct quest {
    const struct frame_pool *pool;
    const struct frame_want *want;
    uint64_t low, below;
    unsigned grade;
    struct frame_place *found;
    unsigned refusals;
    bool gave_up; /* on some class, with holes unseen */
};

static unsigned grade_of(uint64_t align)
{
    return align >= grade_frames[2] ? 2 : align >= grade_frames[1] ? 1 : 0;
}

static void found(struct quest *quest, const struct hole *hole, uint64_t first)
{
    *quest->found = (struct frame_place){first, quest->want->count, hole->first, hole->end};
}

/* The highest hole of the class in the chunk that has a place. */
static bool quest_chunk(struct quest *quest, unsigned class, uint64_t chunk)
{
    struct chunk_walk walk = walk_chunk(quest->pool, quest->grade, chunk);
    bool any = false;
    struct hole hole;
    uint64_t start, first;

    while (next_hole(&walk, &hole, &start)) {
        if (start < quest->low || start >= quest->below || hole_class(hole.end - start) != class)
            continue;
        if (place_in(quest->want, &hole, quest->low, &first)) {
            found(quest, &hole, first);
            any = true;
        } else {
            quest->refusals++;
        }
    }
    return any;
}

static bool quest_class(struct quest *quest, const struct hole_search *search, unsigned class,
                        bool all)
{
    uint64_t chunk = search->high;

    quest->refusals = 0;
    while (hole_search_chunk(search, class, &chunk)) {
        if (quest_chunk(quest, class, chunk))
            return true;
        if (chunk == search->low)
            return false;
        if (quest->refusals >= REFUSALS && !all) {
            quest->gave_up = true;
            return false;
        }
        chunk--;
    }
    return false;
}

static bool quest_classes(struct quest *quest, bool all)
{
    struct hole_search search = hole_search_begin(&quest->pool->index, quest->grade,
                                                  quest->low / CHUNK_FRAMES,
                                                  (quest->below - 1) / CHUNK_FRAMES);
    unsigned class = hole_class(quest->want->count);

    while ((class = hole_search_class_above(&search, class)) < HOLE_CLASSES) {
        if (quest_class(quest, &search, class, all))
            return true;
        class ++;
    }
    return false;
}

/* The hole that reaches into the window from below. */
static bool quest_straddling(struct quest *quest)
{
    const struct frame_map *map = &quest->pool->map;
    struct hole hole;
    uint64_t first;

    if (quest->low == 0 || frame_map_used(map, quest->low) || frame_map_used(map, quest->low - 1))
        return false;
    hole.first = frame_map_prev_used(map, quest->low) + 1;
    hole.end = frame_map_next_used(map, quest->low);
    if (!place_in(quest->want, &hole, quest->low, &first))
        return false;
    found(quest, &hole, first);
    return true;
}

static bool well_formed(const struct frame_pool *pool, const struct frame_want *want)
{
    if (want->count == 0 || want->high > pool->frames || want->low >= want->high ||
        want->high - want->low < want->count || !is_power_of_two(want->align) ||
        want->align >= pool->frames)
        return false;
    return want->boundary == 0 || (is_power_of_two(want->boundary) && want->count <= want->boundary);
}

bool frame_pool_find(const struct frame_pool *pool, const struct frame_want *want,
                     struct frame_place *place)
{
    struct quest quest = {.pool = pool,
                          .want = want,
                          .below = want->high,
                          .grade = grade_of(want->align),
                          .found = place};

    if (want->count > pool->free_frames || !well_formed(pool, want))
        return false;
    for (unsigned i = 0; i < LIMITS && quest.below > want->low; i++) {
        quest.low = larger(limits[i], want->low);
        if (quest.low >= quest.below)
            continue;
        quest.gave_up = false;
        if (quest_classes(&quest, false) || quest_straddling(&quest) ||
            (quest.gave_up && quest_classes(&quest, true)))
            return true;
        quest.below = quest.low;
    }
    return false;
}

/* ---- the longest run ---- */

/* Among holes that start in [low, below); of the largest class there is. */
static bool longest_whole(const struct frame_pool *pool, uint64_t low, uint64_t below,
                          struct hole *longest)
{
    struct hole_search search = hole_search_begin(&pool->index, 0, low / CHUNK_FRAMES,
                                                  (below - 1) / CHUNK_FRAMES);

    for (unsigned class = HOLE_CLASSES;
         class > 1 && (class = hole_search_class_below(&search, class - 1)) > 0;) {
        for (uint64_t chunk = search.high; hole_search_chunk(&search, class, &chunk); chunk--) {
            struct chunk_walk walk = walk_chunk(pool, 0, chunk);
            bool found = false;
            struct hole hole;
            uint64_t start;

            while (next_hole(&walk, &hole, &start)) {
                if (start < low || start >= below || hole_class(hole.end - start) != class)
                    continue;
                *longest = hole;
                found = true;
            }
            if (found)
                return true;
            if (chunk == search.low)
                break;
        }
    }
    return false;
}

/* About the longest part of a hole in [low, high): exactly the longest of those the window cuts, and
 * of the largest class of the others. */
static struct hole longest_in(const struct frame_pool *pool, uint64_t low, uint64_t high)
{
    const struct frame_map *map = &pool->map;
    struct hole best = {0}, whole;
    uint64_t below = high;

    if (!frame_map_used(map, low))
        best = (struct hole){low, smaller(frame_map_next_used(map, low), high)};
    if (!frame_map_used(map, high - 1)) {
        below = larger(frame_map_prev_used(map, high) + 1, low);
        if (high - below > best.end - best.first)
            best = (struct hole){below, high};
    }
    if (low < below && longest_whole(pool, low, below, &whole) &&
        whole.end - whole.first > best.end - best.first)
        best = whole;
    return best;
}

bool frame_pool_find_longest(const struct frame_pool *pool, uint64_t low, uint64_t high,
                             struct frame_place *place)
{
    struct hole part = {0};

    if (high > limits[0])
        part = longest_in(pool, larger(low, limits[0]), high);
    if (part.first == part.end && low < smaller(high, limits[0]))
        part = longest_in(pool, low, smaller(high, limits[0]));
    if (part.first == part.end)
        return false;
    *place = (struct frame_place){.first = part.first,
                                  .count = part.end - part.first,
                                  .hole_first = frame_map_prev_used(&pool->map, part.first + 1) + 1,
                                  .hole_end = frame_map_next_used(&pool->map, part.first)};
    return true;
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

/* Every entry of the lowest level stands for a hole. */
static bool entries_hold(const struct frame_pool *pool)
{
    for (uint64_t chunk = 0; chunk * CHUNK_FRAMES < pool->frames; chunk++)
        for (unsigned grade = 0; grade < HOLE_GRADES; grade++)
            for (unsigned class = 0; class < HOLE_CLASSES; class ++)
                if (hole_index_has(&pool->index, grade, class, chunk) &&
                    !chunk_has(pool, grade, class, chunk))
                    return false;
    return true;
}

/* Every hole has its entries. */
static bool holes_hold(const struct frame_pool *pool)
{
    uint64_t free_frames = 0;

    for (uint64_t first = 0; first < pool->frames; first++) {
        uint64_t end = first;

        while (end < pool->frames && !frame_map_used(&pool->map, end))
            end++;
        free_frames += end - first;
        for (unsigned grade = 0; grade < HOLE_GRADES; grade++) {
            uint64_t start = align_up(first, grade_frames[grade]);

            if (start < end &&
                !hole_index_has(&pool->index, grade, hole_class(end - start), start / CHUNK_FRAMES))
                return false;
        }
        first = end;
    }
    return free_frames == pool->free_frames;
}

bool frame_pool_validate(const struct frame_pool *pool)
{
    return frame_map_validate(&pool->map) && hole_index_validate(&pool->index) &&
           holes_hold(pool) && entries_hold(pool);
}
