/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   The space is cut into pieces, each mapped or free; two free pieces never touch. They are kept
 *   in a B+ tree in the order of their addresses. A piece is the place where it begins and its
 *   owner (none: it is free); it ends where the next one begins. A branch knows two things about
 *   each child: where the first piece below begins, and the longest run that remains in any one
 *   free piece below after its start is rounded up to a multiple of 1, 16 and 512 units: the
 *   *grades* (with pages as units 4 KiB, 64 KiB and 2 MiB, the page sizes of GPUs).
 *
 *       branch       low    0              40             512
 *                    best   17/4/0         24/16/0        588/588/588
 *                           |              |              |
 *       leaves              0 A, 3 -,      40 -, 64 B,    512 -, 1100 C,
 *                           20 A, 22 -,    70 -, 90 A     2000 -, 2010 A
 *                           30 C
 *
 *   So one descent answers what is mapped at an address, and the same one finds the neighbours to
 *   join when a range becomes free. Freeing a range never makes more pieces, so it needs no memory.
 *
 *   Nodes are wide, since what a descent costs is the cache miss of each level: 40 pieces or 64
 *   children, so that a million ranges take four levels, of which all but the lowest are a few
 *   megabytes. The work in a node is one pass over an array: a leaf keeps offsets of 32 bits from
 *   its base, which compilers compare four at a time; a branch keeps the first place of each eight
 *   children in one line (`fence`), so that two rounds of independent loads find the child. Where
 *   pieces are so far apart that an offset does not fit, another leaf begins: there are fewer of
 *   these than the space has spans of 2^31 units.
 *
 *   Search (both directions). Walk the tree in address order from the wanted end, but enter a
 *   child only if its best run of the request's grade is long enough. The request's grade is the
 *   largest one that is at most its alignment.
 *
 *     - Alignment of 1, 16 or 512 without window: nearly every child that is entered contains a
 *       fit, so the walk is one descent. What is known of a child's runs is their class, 15 bits,
 *       which tells lengths apart up to 2047 units and within a thousandth above.
 *     - A window [low, high) adds the paths to its ends. Still O(log n).
 *     - Other alignments are checked piece by piece: a piece whose grade suggests a fit may turn
 *       out not to fit, and the walk continues. A piece whose run of the grade is at least size +
 *       alignment always fits, so only pieces that are nearly too short are visited in vain.
 *
 *   Change. What is recorded of a leaf is exact. A run that grows is told to the branches above, up
 *   to the first where it is not the longest. One that shrinks is not: there the record remains
 *   too long until a search has entered the branch in vain, and corrects it. So a change costs no
 *   search for the second longest run, and each correction is paid for by the take that made it
 *   necessary.
 *
 *   Balance. A full node is split: in the middle, or at the end where ranges are placed one behind
 *   the other. A node that shrinks is joined to a neighbour under the same branch when both fill
 *   less than three quarters of one; whether they do is looked at for every fourth piece that goes.
 */
#include "util/range_map.h"
#include "util/address.h"
#include "util/min_max.h"
#include "util/range_map_node.h"
#include "util/slab.h"

#include <emmintrin.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding ---- */

/* A request in the form in which nodes are searched. */
struct search {
    uint64_t size, mask; /* alignment - 1 */
    uint64_t low, high;  /* inside the space */
    int32_t run;         /* the size, or SATURATED */
    int32_t class;       /* a child whose runs of this grade are of a lower class holds no fit */
    unsigned grade;
};

/* The place for the request inside one free piece. */
static inline bool place(const struct range_leaf *leaf, unsigned at, const struct search *search,
                         uint64_t *start, bool from_end)
{
    uint64_t low = max_of(piece_first(leaf, at), search->low);
    uint64_t end = min_of(piece_end(leaf, at), search->high);
    uint64_t first;

    if (low >= end || end - low < search->size)
        return false;
    if (from_end) {
        first = (end - search->size) & ~search->mask;
        if (first < low)
            return false;
    } else {
        first = (low + search->mask) & ~search->mask;
        if (first >= end || end - first < search->size)
            return false;
    }
    *start = first;
    return true;
}

/* The children with a run of this class, as bits: without a condition, since none could be
 * foreseen. */
static inline uint64_t long_runs(const int16_t *best, int32_t class)
{
    const __m128i *eight = (const __m128i *)(const void *)best;
    __m128i below = _mm_set1_epi16((int16_t)(class - 1));
    uint64_t bits = 0;

    for (unsigned i = 0; i < BRANCH; i += 16, eight += 2)
        bits |= (uint64_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_cmpgt_epi16(eight[0], below),
                                                            _mm_cmpgt_epi16(eight[1], below)))
                << i;
    return bits;
}

/* Entries from this one on. */
static inline uint64_t onward(unsigned from, bool from_end)
{
    uint64_t bit = (uint64_t)1 << from;

    return from_end ? bit | (bit - 1) : ~(bit - 1);
}

static inline unsigned next_of(uint64_t bits, bool from_end)
{
    return (unsigned)(from_end ? 63 - __builtin_clzll(bits) : __builtin_ctzll(bits));
}

/* Free pieces of a leaf that may fit, as bits: all that do if there is no window, and the last
 * one, whose end is not among the offsets. */
static inline uint64_t long_pieces(const struct range_leaf *leaf, const struct search *search)
{
    __m128i mask = _mm_set1_epi32((int32_t)(search->mask & (LEAF_GRAIN - 1)));
    __m128i below = _mm_set1_epi32(search->run - 1), fits[LEAF / 4 + 2];
    uint64_t bits = 0;

    for (unsigned i = 0; i < LEAF / 4; i++) {
        const int32_t *four = &leaf->offset[4 * i];
        __m128i first = _mm_load_si128((const __m128i *)(const void *)four);
        __m128i end = _mm_loadu_si128((const __m128i *)(const void *)(four + 1));

        first = _mm_andnot_si128(mask, _mm_add_epi32(first, mask));
        fits[i] = _mm_cmpgt_epi32(_mm_sub_epi32(end, first), below);
    }
    fits[LEAF / 4] = fits[LEAF / 4 + 1] = _mm_setzero_si128();
    for (unsigned i = 0; i < LEAF; i += 16) {
        __m128i low = _mm_packs_epi32(fits[i / 4], fits[i / 4 + 1]);
        __m128i high = _mm_packs_epi32(fits[i / 4 + 2], fits[i / 4 + 3]);

        bits |= (uint64_t)_mm_movemask_epi8(_mm_packs_epi16(low, high)) << i;
    }
    return (bits | (uint64_t)1 << (leaf->count - 1)) & leaf->free;
}

/* In the leaf at the cursor, among some of its pieces. */
static inline bool search_leaf(struct range_cursor *cursor, const struct search *search,
                               uint64_t bits, uint64_t *start, bool from_end)
{
    const struct range_leaf *leaf = leaf_of(cursor);

    for (bits &= long_pieces(leaf, search); bits != 0;) {
        unsigned at = next_of(bits, from_end);

        if (place(leaf, at, search, start, from_end)) {
            cursor->at[0] = (uint8_t)at;
            return true;
        }
        bits &= ~((uint64_t)1 << at);
    }
    return false;
}

/* Whether the child at `at` lies outside the window, as all that follow do. */
static inline bool beyond(struct range_branch *branch, unsigned at, const struct search *search,
                          bool from_end)
{
    if (!from_end)
        return *low_at(branch, at) >= search->high;
    return at + 1 < branch->count && *low_at(branch, at + 1) <= search->low;
}

/* Find the first fit; the cursor is at the piece that contains it. `from_end` is a constant. */
static inline bool find_towards(struct range_map *map, const struct search *search,
                                struct range_cursor *cursor, uint64_t *start, bool from_end)
{
    unsigned level = map->height - 1;
    uint64_t bits = ~(uint64_t)0; /* entries of the node that are still to be looked at */

    cursor->node[level] = map->root;
    if (from_end ? search->high < map->end : search->low > map->first) {
        range_seek(map, from_end ? search->high - 1 : search->low, cursor);
        level = 0;
        bits = onward(cursor->at[0], from_end);
    }
    for (;;) {
        struct range_branch *branch;
        unsigned at;

        if (level == 0) {
            if (search_leaf(cursor, search, bits, start, from_end))
                return true;
        } else {
            branch = branch_of(cursor, level);
            bits &= long_runs(branch->best[search->grade], search->class);
            if (bits != 0) {
                at = next_of(bits, from_end);
                if (beyond(branch, at, search, from_end))
                    return false;
                cursor->at[level] = (uint8_t)at;
                cursor->node[--level] = *child_at(branch, at);
                range_fetch(cursor->node[level], level, search->grade);
                bits = ~(uint64_t)0;
                continue;
            }
            range_mend(map, cursor, level, search->grade);
        }
        if (++level >= map->height)
            return false;
        bits = onward(cursor->at[level], from_end) & ~((uint64_t)1 << cursor->at[level]);
    }
}

static bool find(struct range_map *map, const struct search *search, bool from_end,
                 struct range_cursor *cursor, uint64_t *start)
{
    if (map->longest[search->grade] < search->class)
        return false;
    return from_end ? find_towards(map, search, cursor, start, true)
                    : find_towards(map, search, cursor, start, false);
}

/* False if no range can ever satisfy it. */
static bool prepare(const struct range_map *map, const struct extent_request *want,
                    struct search *search)
{
    uint64_t align = want->align ? want->align : 1;

    search->size = want->size;
    search->mask = align - 1;
    search->low = max_of(want->low, map->first);
    search->high = want->high == 0 ? map->end : min_of(want->high, map->end);
    search->run = saturate(want->size);
    search->class = class_of(search->run);
    search->grade = align >= 512 ? 2 : align >= 16 ? 1 : 0;
    return want->size > 0 && (align & search->mask) == 0 && align <= LIMIT &&
           search->low < search->high && want->size <= search->high - search->low;
}

/* ---- taking ---- */

/* A large map is validated only when its count of ranges is a multiple of 256; otherwise tests
 * would take minutes. */
static inline void changed(const struct range_map *map)
{
#ifdef DXGK_DEBUG_CHECKS
    bool large = map->ranges > 256 && map->ranges % 256 != 0;

    if (!large && !range_map_validate(map))
        abort();
#else
    (void)map;
#endif
}

/* Describe [start, end) in a leaf with enough room, inside the free piece at `at`. */
static void put_in_leaf(struct range_leaf *leaf, unsigned at, uint64_t start, uint64_t end,
                        void *owner)
{
    bool below = piece_first(leaf, at) < start, above = end < piece_end(leaf, at);

    if (below || above)
        range_leaf_make_room(leaf, at + 1, (unsigned)below + above);
    at += below;
    leaf->offset[at] = (int32_t)(start - leaf->base);
    leaf->owner[at] = owner;
    leaf->free &= ~((uint64_t)1 << at);
    if (!above)
        return;
    leaf->offset[at + 1] = (int32_t)(end - leaf->base);
    leaf->owner[at + 1] = NULL;
    leaf->free |= (uint64_t)1 << (at + 1);
}

/* The same where leaves must be split or begun. */
static void put_between(struct range_map *map, struct range_cursor *cursor, uint64_t start,
                        uint64_t end, void *owner)
{
    if (piece_first(leaf_of(cursor), cursor->at[0]) < start)
        range_divide(map, cursor, start);
    if (piece_end(leaf_of(cursor), cursor->at[0]) > end)
        range_divide(map, cursor, end);
    range_seek(map, start, cursor);
    leaf_of(cursor)->owner[cursor->at[0]] = owner;
    leaf_of(cursor)->free &= ~((uint64_t)1 << cursor->at[0]);
    range_tell(map, cursor, range_leaf_runs(leaf_of(cursor)));
}

/* Map [start, start + size) inside the free piece at the cursor. */
static bool put(struct range_map *map, struct range_cursor *cursor, uint64_t start, uint64_t size,
                void *owner)
{
    struct range_leaf *leaf = leaf_of(cursor);
    uint64_t first = piece_first(leaf, cursor->at[0]), end = piece_end(leaf, cursor->at[0]);

    if (leaf->count + (first < start) + (start + size < end) > LEAF ||
        start + size - leaf->base > FARTHEST) {
        map->out_of_memory = !range_provide(map);
        if (map->out_of_memory)
            return false;
        put_between(map, cursor, start, start + size, owner);
    } else {
        range_runs gone = runs_in(first, end), says = recorded_runs(map, cursor, 0);

        put_in_leaf(leaf, cursor->at[0], start, start + size, owner);
        /* only what was the longest run can leave a shorter one */
        if (!runs_none((gone == says) & (gone > 0)))
            range_tell(map, cursor, range_leaf_runs(leaf));
    }
    map->ranges++;
    map->free_units -= size;
    changed(map);
    return true;
}

/* ---- interface ---- */

bool range_map_init(struct range_map *map, uint64_t first, uint64_t end)
{
    struct range_leaf *leaf;
    range_runs longest;

    *map = (struct range_map){.first = first, .end = end, .height = 1, .free_units = end - first};
    slab_init(&map->leaves, sizeof(struct range_leaf));
    slab_init(&map->branches, sizeof(struct range_branch));
    leaf = slab_take(&map->leaves);
    if (!leaf)
        return false;
    range_leaf_init(leaf, first, end);
    range_leaf_make_room(leaf, 0, 1);
    leaf->offset[0] = (int32_t)(first - leaf->base);
    leaf->free = 1;
    map->root = leaf;
    longest = runs_in(first, end);
    memcpy(map->longest, &longest, sizeof(longest));
    return true;
}

void range_map_finish(struct range_map *map)
{
    slab_finish(&map->leaves);
    slab_finish(&map->branches);
    *map = (struct range_map){0};
}

bool range_map_take(struct range_map *map, const struct extent_request *request, void *owner,
                    uint64_t *start)
{
    struct range_cursor cursor;
    struct search search;
    uint64_t found;

    map->out_of_memory = false;
    if (!prepare(map, request, &search) || !find(map, &search, request->from_end, &cursor, &found) ||
        !put(map, &cursor, found, request->size, owner))
        return false;
    *start = found;
    return true;
}

bool range_map_take_fixed(struct range_map *map, uint64_t start, uint64_t size, void *owner)
{
    struct range_cursor cursor;

    map->out_of_memory = false;
    if (size == 0 || start < map->first || start >= map->end || size > map->end - start)
        return false;
    range_seek(map, start, &cursor);
    if (!piece_free(leaf_of(&cursor), cursor.at[0]) ||
        piece_end(leaf_of(&cursor), cursor.at[0]) - start < size)
        return false;
    return put(map, &cursor, start, size, owner);
}

/* Join the free piece at the cursor to free pieces of the leaves beside its own. */
static void join_across(struct range_map *map, struct range_cursor *cursor)
{
    uint64_t first = piece_first(leaf_of(cursor), cursor->at[0]);
    struct range_cursor beside = *cursor;

    if (cursor->at[0] + 1u == leaf_of(cursor)->count && range_next_leaf(map, &beside) &&
        piece_free(leaf_of(&beside), 0)) {
        range_hand_down(map, &beside);
        range_seek(map, first, cursor);
    }
    beside = *cursor;
    if (cursor->at[0] == 0 && range_previous_leaf(map, &beside) &&
        piece_free(leaf_of(&beside), beside.at[0])) {
        range_hand_down(map, cursor);
        range_seek(map, first, cursor);
    }
}

void *range_map_give(struct range_map *map, uint64_t start)
{
    struct range_cursor cursor;
    struct range_leaf *leaf;
    unsigned at, joined;
    uint64_t count;
    void *owner;

    if (start < map->first || start >= map->end)
        return NULL;
    range_seek(map, start, &cursor);
    leaf = leaf_of(&cursor);
    at = cursor.at[0];
    owner = leaf->owner[at];
    if (!owner || piece_first(leaf, at) != start)
        return NULL;
    map->ranges--;
    map->free_units += piece_end(leaf, at) - start;
    count = leaf->count;
    joined = at + 1 < count && piece_free(leaf, at + 1);
    if (at > 0 && piece_free(leaf, at - 1)) {
        joined++;
        at--;
    }
    if (joined > 0)
        range_leaf_drop(leaf, at + 1, joined);
    leaf->owner[at] = NULL;
    leaf->free |= (uint64_t)1 << at;
    cursor.at[0] = (uint8_t)at;
    range_tell(map, &cursor,
               runs_max(recorded_runs(map, &cursor, 0),
                        runs_in(piece_first(leaf, at), piece_end(leaf, at))));
    if (map->height > 1 && (at == 0 || at + 1 == leaf->count))
        join_across(map, &cursor);
    leaf = leaf_of(&cursor);
    if (leaf->count <= LEAF / 2 && leaf->count / 4 != count / 4)
        range_thin(map, &cursor);
    changed(map);
    return owner;
}

void *range_map_at(const struct range_map *map, uint64_t unit)
{
    struct range_cursor cursor;

    if (unit < map->first || unit >= map->end)
        return NULL;
    range_seek(map, unit, &cursor);
    return leaf_of(&cursor)->owner[cursor.at[0]];
}

static void describe(const struct range_cursor *cursor, struct range_map_entry *entry)
{
    const struct range_leaf *leaf = leaf_of(cursor);
    unsigned at = cursor->at[0];

    entry->first = piece_first(leaf, at);
    entry->size = piece_end(leaf, at) - entry->first;
    entry->owner = leaf->owner[at];
}

bool range_map_from(const struct range_map *map, uint64_t unit, struct range_map_entry *entry)
{
    struct range_cursor cursor;

    if (unit >= map->end)
        return false;
    range_seek(map, max_of(unit, map->first), &cursor);
    if (piece_free(leaf_of(&cursor), cursor.at[0])) {
        /* what follows a free piece is mapped */
        if (cursor.at[0] + 1u < leaf_of(&cursor)->count)
            cursor.at[0]++;
        else if (!range_next_leaf(map, &cursor))
            return false;
    }
    describe(&cursor, entry);
    return true;
}

bool range_map_free_from(struct range_map *map, uint64_t unit, struct range_map_entry *entry)
{
    struct range_cursor cursor;
    struct search search;
    uint64_t start;

    if (!prepare(map, &(struct extent_request){.size = 1, .low = unit}, &search) ||
        !find(map, &search, false, &cursor, &start))
        return false;
    describe(&cursor, entry);
    return true;
}

/* ---- validation ---- */

struct totals {
    uint64_t next; /* where the next piece must begin */
    bool free;     /* the last piece was free */
    uint64_t ranges, free_units, leaves, branches;
};

static bool leaf_valid(const struct range_leaf *leaf, struct totals *totals)
{
    if (leaf->count == 0 || leaf->count > LEAF || leaf->base % LEAF_GRAIN != 0)
        return false;
    totals->leaves++;
    for (unsigned i = 0; i < LEAF; i++) {
        bool free = piece_free(leaf, i), used = i < leaf->count;

        if (!used && (free || leaf->owner[i] || leaf->offset[i] != NO_OFFSET))
            return false;
        if (!used)
            continue;
        if (leaf->offset[i] < 0 || leaf->offset[i] > FARTHEST ||
            piece_first(leaf, i) != totals->next || piece_end(leaf, i) <= totals->next ||
            free != !leaf->owner[i] || (free && totals->free))
            return false;
        totals->next = piece_end(leaf, i);
        totals->free = free;
        totals->ranges += !free;
        totals->free_units += free ? piece_end(leaf, i) - piece_first(leaf, i) : 0;
    }
    return true;
}

static bool branch_valid(struct range_branch *branch, unsigned level, struct totals *totals)
{
    if (branch->count == 0 || branch->count > BRANCH)
        return false;
    totals->branches++;
    for (unsigned i = 0; i < BRANCH; i++) {
        range_runs says = entry_runs(branch, i), runs;
        void *child = *child_at(branch, i);

        if (i > 0 && i % BLOCK == 0 && branch->fence[i / BLOCK - 1] != *low_at(branch, i))
            return false;
        if (i >= branch->count) {
            if (child || *low_at(branch, i) != NO_LOW || !runs_equal(says, (range_runs){0}))
                return false;
            continue;
        }
        if (*low_at(branch, i) != totals->next ||
            !(level == 1 ? leaf_valid(child, totals) : branch_valid(child, level - 1, totals)))
            return false;
        runs = level == 1 ? range_leaf_runs(child) : range_branch_runs(child);
        /* of a branch, more may be recorded than there is */
        if (!runs_equal(says, level == 1 ? runs : runs_max(runs, says)))
            return false;
    }
    return true;
}

bool range_map_validate(const struct range_map *map)
{
    struct totals totals = {.next = map->first};
    range_runs runs, longest;

    if (map->height == 0 || map->height > MAX_HEIGHT ||
        !(map->height == 1 ? leaf_valid(map->root, &totals)
                           : branch_valid(map->root, map->height - 1, &totals)))
        return false;
    runs = map->height == 1 ? range_leaf_runs(map->root) : range_branch_runs(map->root);
    memcpy(&longest, map->longest, sizeof(longest));
    return runs_equal(longest, map->height == 1 ? runs : runs_max(runs, longest)) &&
           totals.next == map->end && totals.ranges == map->ranges &&
           totals.free_units == map->free_units &&
           totals.leaves == map->leaves.objects - map->leaves.spare_objects &&
           totals.branches == map->branches.objects - map->branches.spare_objects &&
           slab_validate(&map->leaves) && slab_validate(&map->branches);
}
