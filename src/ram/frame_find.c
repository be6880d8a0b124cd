/* SPDX-License-Identifier: MIT */
/* Where a request goes: search and placing of the frame pool. The theory of operation is in
 * frame_pool.c. */
#include "ram/chunk_walk.h"
#include "ram/frame_map.h"
#include "ram/frame_pool.h"
#include "ram/hole_index.h"
#include "util/address.h"
#include "util/min_max.h"

enum {
    REFUSALS = 4, /* in one class, before the next class is tried */
    LIMITS = 4,
};

/* Requests that do not need low memory are served above these frame numbers. */
static const uint64_t limits[LIMITS] = {1u << 20, 1u << 12, 1u << 8, 0}; /* 4 GiB, 16 MiB, 1 MiB */

/* ---- placing ---- */

static inline bool crosses(const struct frame_want *want, uint64_t first)
{
    return want->boundary && (first ^ (first + want->count - 1)) >= want->boundary;
}

/* The lowest and the highest place in [low, high), which has room for the request. */
static inline bool lowest_place(const struct frame_want *want, uint64_t low, uint64_t high,
                                uint64_t *place)
{
    uint64_t first = align_up(low, want->align);

    if (crosses(want, first))
        first = align_up(first + 1, max_of(want->boundary, want->align));
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

/* What taking [first, first + count) costs later requests: the starts of large pages that are lost,
 * and whether the rest of the hole is split in two. */
static inline uint64_t harm(const struct hole *hole, uint64_t first, uint64_t count)
{
    uint64_t end = first + count;
    uint64_t medium = (end + 15) / 16 - (first + 15) / 16;
    uint64_t large = (end + 511) / 512 - (first + 511) / 512;

    return medium + 128 * large + (first != hole->first && end != hole->end ? 8 : 0);
}

/* The place for the request inside the part of the hole at or above `low`. */
static inline bool place_in(const struct frame_want *want, const struct hole *hole, uint64_t low,
                            uint64_t *place)
{
    uint64_t from = max_of(hole->first, low), to = min_of(hole->end, want->high);
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

/* A search in [low, want->high) for holes that start (as rounded to the grade) below `below`. */
struct quest {
    const struct frame_pool *pool;
    const struct frame_want *want;
    uint64_t low, below;
    unsigned grade;
    struct frame_place *found;
    unsigned refusals;
    bool gave_up; /* in some class, before all of its holes were seen */
};

static unsigned grade_of(uint64_t align)
{
    return align >= hole_grade_frames[2] ? 2 : align >= hole_grade_frames[1] ? 1 : 0;
}

static void found(struct quest *quest, const struct hole *hole, uint64_t first)
{
    *quest->found = (struct frame_place){first, quest->want->count, hole->first, hole->end};
}

/* The lowest hole of the class in the chunk where the request fits. */
static bool quest_chunk(struct quest *quest, unsigned class, uint64_t chunk)
{
    struct chunk_walk walk = chunk_walk_begin(quest->pool, quest->grade, chunk);
    struct hole hole;
    uint64_t start, first;

    while (chunk_walk_next(&walk, &hole, &start)) {
        if (hole_class(hole.end - start) != class || start < quest->low || start >= quest->below)
            continue;
        if (place_in(quest->want, &hole, quest->low, &first)) {
            found(quest, &hole, first);
            return true;
        }
        quest->refusals++;
    }
    return false;
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
        quest.low = max_of(limits[i], want->low);
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

/* Of the holes that start in [low, below), one of the largest class. */
static bool longest_whole(const struct frame_pool *pool, uint64_t low, uint64_t below,
                          struct hole *longest)
{
    struct hole_search search = hole_search_begin(&pool->index, 0, low / CHUNK_FRAMES,
                                                  (below - 1) / CHUNK_FRAMES);

    for (unsigned class = HOLE_CLASSES;
         class > 1 && (class = hole_search_class_below(&search, class - 1)) > 0;) {
        for (uint64_t chunk = search.high; hole_search_chunk(&search, class, &chunk); chunk--) {
            struct chunk_walk walk = chunk_walk_begin(pool, 0, chunk);
            bool found = false;
            struct hole hole;
            uint64_t start;

            while (chunk_walk_next(&walk, &hole, &start)) {
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

/* Approximately the longest part of a hole in [low, high): exact for holes that the window cuts;
 * for the others, some hole of the largest class. */
static struct hole longest_in(const struct frame_pool *pool, uint64_t low, uint64_t high)
{
    const struct frame_map *map = &pool->map;
    struct hole best = {0}, whole;
    uint64_t below = high;

    if (!frame_map_used(map, low))
        best = (struct hole){low, min_of(frame_map_next_used(map, low), high)};
    if (!frame_map_used(map, high - 1)) {
        below = max_of(frame_map_prev_used(map, high) + 1, low);
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
        part = longest_in(pool, max_of(low, limits[0]), high);
    if (part.first == part.end && low < min_of(high, limits[0]))
        part = longest_in(pool, low, min_of(high, limits[0]));
    if (part.first == part.end)
        return false;
    *place = (struct frame_place){.first = part.first,
                                  .count = part.end - part.first,
                                  .hole_first = frame_map_prev_used(&pool->map, part.first + 1) + 1,
                                  .hole_end = frame_map_next_used(&pool->map, part.first)};
    return true;
}
