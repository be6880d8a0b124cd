/* SPDX-License-Identifier: MIT */
/* Changing the nodes of a range map. Theory of operation in range_map.c. */
#include "util/range_map_node.h"

#include <stddef.h>
#include <string.h>

#include "util/address.h"
#include "util/min_max.h"
#include "util/slab.h"

/* ---- runs ---- */

range_runs range_leaf_runs(const struct range_leaf *leaf)
{
    static const range_runs grain = {0, 15, 511, 0};
    uint64_t bits = leaf->free, most = leaf->end - leaf->base;
    range_runs longest = {0}, runs = {0};

    if (most > FARTHEST) { /* only the last piece can be so long */
        unsigned last = (unsigned)leaf->count - 1;

        if (piece_free(leaf, last))
            runs = runs_in(piece_first(leaf, last), leaf->end);
        bits &= ~((uint64_t)1 << last);
    }
    /* the base is a multiple of every grain, so what is aligned as an offset is aligned */
    for (; bits != 0; bits &= bits - 1) {
        unsigned at = (unsigned)__builtin_ctzll(bits);
        int32_t first = leaf->offset[at];
        int32_t end = at + 1 < leaf->count ? leaf->offset[at + 1] : (int32_t)most;

        if (first > FARTHEST - (int32_t)LEAF_GRAIN) { /* rounding it up could overflow */
            runs = runs_max(runs, runs_in(piece_first(leaf, at), piece_end(leaf, at)));
            continue;
        }
        longest = runs_max(longest,
                           end - (((range_runs){first, first, first, first} + grain) & ~grain));
    }
    longest = (range_runs){class_of(longest[0]), class_of(longest[1]), class_of(longest[2]), 0};
    return runs_max(runs, longest);
}

static int32_t longest_of(const struct range_branch *branch, unsigned grade)
{
    const int16_t *best = branch->best[grade];
    int16_t most = 0;

    for (unsigned i = 0; i < BRANCH; i++)
        most = best[i] > most ? best[i] : most;
    return most;
}

range_runs range_branch_runs(const struct range_branch *branch)
{
    return (range_runs){longest_of(branch, 0), longest_of(branch, 1), longest_of(branch, 2), 0};
}

void range_mend(struct range_map *map, const struct range_cursor *cursor, unsigned level,
                unsigned grade)
{
    int32_t longest = longest_of(branch_of(cursor, level), grade);

    if (level + 1 == map->height)
        map->longest[grade] = longest;
    else
        branch_of(cursor, level + 1)->best[grade][cursor->at[level + 1]] = (int16_t)longest;
}

static void set_entry_runs(struct range_branch *branch, unsigned at, range_runs runs)
{
    for (unsigned i = 0; i < GRADES; i++)
        branch->best[i][at] = (int16_t)runs[i];
}

void range_tell(struct range_map *map, const struct range_cursor *cursor, range_runs runs)
{
    int16_t now[GRADES] = {(int16_t)runs[0], (int16_t)runs[1], (int16_t)runs[2]};
    bool longer = true;

    for (unsigned level = 1; level < map->height && longer; level++) {
        struct range_branch *branch = branch_of(cursor, level);
        unsigned at = cursor->at[level];

        longer = false;
        for (unsigned i = 0; i < GRADES; i++) {
            int16_t *best = &branch->best[i][at];

            longer |= now[i] > *best;
            /* only a leaf's record becomes shorter here */
            *best = level == 1 || now[i] > *best ? now[i] : *best;
        }
    }
    for (unsigned i = 0; i < GRADES && longer; i++)
        if (map->height == 1 || now[i] > map->longest[i])
            map->longest[i] = now[i];
}

/* ---- walking ---- */

/* The child that contains the unit. */
static inline unsigned child_of_unit(const struct range_branch *branch, uint64_t unit)
{
    const struct range_block *block = branch->block;
    unsigned at = 0, below = 0;

    for (unsigned i = 0; i < BRANCH / BLOCK - 1; i++)
        at += branch->fence[i] <= unit;
    block += at;
    __builtin_prefetch(block->child);
    for (unsigned i = 0; i < BLOCK; i++)
        below += block->low[i] <= unit;
    return at * BLOCK + below - 1;
}

static inline unsigned piece_of_unit(const struct range_leaf *leaf, uint64_t unit)
{
    uint64_t distance = unit - leaf->base;
    int32_t offset = distance < FARTHEST ? (int32_t)distance : FARTHEST;
    unsigned below = 0;

    for (unsigned i = 0; i < LEAF; i++)
        below += leaf->offset[i] <= offset;
    return below - 1;
}

void range_seek(const struct range_map *map, uint64_t unit, struct range_cursor *cursor)
{
    void *node = map->root;

    for (unsigned level = map->height; --level > 0;) {
        struct range_branch *branch = node;
        unsigned at = child_of_unit(branch, unit);

        cursor->node[level] = branch;
        cursor->at[level] = (uint8_t)at;
        node = *child_at(branch, at);
        if (level == 1) {
            range_fetch(node, 0, 0);
            /* what is recorded of the leaf is likely to change */
            for (unsigned i = 0; i < GRADES; i++)
                __builtin_prefetch(&branch->best[i][at]);
        }
    }
    cursor->node[0] = node;
    cursor->at[0] = (uint8_t)piece_of_unit(node, unit);
}

/* From the child at the cursor of this level down to its first or last piece. */
static void descend(struct range_cursor *cursor, unsigned level, bool to_last)
{
    for (unsigned above = level; above > 0; above--) {
        void *node = *child_at(branch_of(cursor, above), cursor->at[above]);
        uint64_t count = above > 1 ? ((struct range_branch *)node)->count
                                   : ((struct range_leaf *)node)->count;

        cursor->node[above - 1] = node;
        cursor->at[above - 1] = (uint8_t)(to_last ? count - 1 : 0);
    }
}

bool range_next_leaf(const struct range_map *map, struct range_cursor *cursor)
{
    for (unsigned level = 1; level < map->height; level++)
        if (cursor->at[level] + 1u < branch_of(cursor, level)->count) {
            cursor->at[level]++;
            descend(cursor, level, false);
            return true;
        }
    return false;
}

bool range_previous_leaf(const struct range_map *map, struct range_cursor *cursor)
{
    for (unsigned level = 1; level < map->height; level++)
        if (cursor->at[level] > 0) {
            cursor->at[level]--;
            descend(cursor, level, true);
            return true;
        }
    return false;
}

/* ---- entries of a branch ---- */

static void set_fences(struct range_branch *branch)
{
    for (unsigned i = 1; i < BRANCH / BLOCK; i++)
        branch->fence[i - 1] = branch->block[i].low[0];
}

static void clear_entries(struct range_branch *branch, unsigned from)
{
    for (unsigned i = from; i < BRANCH; i++) {
        *low_at(branch, i) = NO_LOW;
        *child_at(branch, i) = NULL;
        set_entry_runs(branch, i, (range_runs){0});
    }
    branch->count = from;
    set_fences(branch);
}

static void copy_entry(struct range_branch *to, unsigned at, struct range_branch *from,
                       unsigned from_at)
{
    *low_at(to, at) = *low_at(from, from_at);
    *child_at(to, at) = *child_at(from, from_at);
    set_entry_runs(to, at, entry_runs(from, from_at));
}

static void insert_entry(struct range_branch *branch, unsigned at, void *child, uint64_t low,
                         range_runs runs)
{
    for (unsigned i = (unsigned)branch->count++; i > at; i--)
        copy_entry(branch, i, branch, i - 1);
    *low_at(branch, at) = low;
    *child_at(branch, at) = child;
    set_entry_runs(branch, at, runs);
    set_fences(branch);
}

static void remove_entry(struct range_branch *branch, unsigned at)
{
    for (unsigned i = at; i + 1 < branch->count; i++)
        copy_entry(branch, i, branch, i + 1);
    clear_entries(branch, (unsigned)branch->count - 1);
}

/* Move the entries from `from` on to the end of another branch. */
static void move_entries(struct range_branch *to, struct range_branch *branch, unsigned from)
{
    unsigned at = (unsigned)to->count;

    for (unsigned i = from; i < branch->count; i++)
        copy_entry(to, at++, branch, i);
    to->count = at;
    set_fences(to);
    clear_entries(branch, from);
}

/* ---- growing ---- */

/* How many of `width` entries stay when a full node is split for an insertion behind `at`. Where
 * ranges are placed one behind the other, always at the same end, nodes are left nearly full. */
static unsigned kept(unsigned at, unsigned width)
{
    return at + 1 == width ? width - width / 8 : at == 0 ? width / 8 : width / 2;
}

static void grow_root(struct range_map *map, struct range_cursor *cursor)
{
    struct range_branch *root = slab_take(&map->branches);

    clear_entries(root, 0);
    insert_entry(root, 0, map->root, map->first, recorded_runs(map, cursor, map->height - 1));
    map->root = root;
    cursor->node[map->height] = root;
    cursor->at[map->height] = 0;
    map->height++;
}

/* Insert a child behind the cursor's one in the branch at this level. The cursor stays at its
 * child, wherever that is now, and the new one is the next entry of the same branch. All that is
 * below remains the same, so only records of divided branches change. */
static void adopt(struct range_map *map, struct range_cursor *cursor, unsigned level, void *child,
                  uint64_t low, range_runs runs)
{
    struct range_branch *branch;

    if (level == map->height)
        grow_root(map, cursor);
    branch = branch_of(cursor, level);
    if (branch->count == BRANCH) {
        struct range_branch *upper = slab_take(&map->branches);
        unsigned keep = kept(cursor->at[level], BRANCH);

        clear_entries(upper, 0);
        move_entries(upper, branch, keep);
        adopt(map, cursor, level + 1, upper, *low_at(upper, 0), range_branch_runs(upper));
        if (cursor->at[level] >= keep) {
            cursor->at[level + 1]++;
            cursor->at[level] = (uint8_t)(cursor->at[level] - keep);
            cursor->node[level] = branch = upper;
        }
    }
    insert_entry(branch, cursor->at[level] + 1u, child, low, runs);
}

static void clear_pieces(struct range_leaf *leaf, unsigned from)
{
    for (unsigned i = from; i < LEAF; i++) {
        leaf->offset[i] = NO_OFFSET;
        leaf->owner[i] = NULL;
    }
    leaf->free &= ((uint64_t)1 << from) - 1;
    leaf->count = from;
}

void range_leaf_init(struct range_leaf *leaf, uint64_t first, uint64_t end)
{
    memset(leaf, 0, sizeof(*leaf));
    leaf->base = align_down(first, LEAF_GRAIN);
    leaf->end = end;
    clear_pieces(leaf, 0);
}

/* Put a piece at the end of a leaf. */
static void append_piece(struct range_leaf *leaf, uint64_t first, void *owner)
{
    unsigned at = (unsigned)leaf->count++;

    leaf->offset[at] = (int32_t)(first - leaf->base);
    leaf->owner[at] = owner;
    if (!owner)
        leaf->free |= (uint64_t)1 << at;
}

/* Move the pieces from `from` on to the end of another leaf. */
static void move_pieces(struct range_leaf *to, struct range_leaf *leaf, unsigned from)
{
    uint64_t count = leaf->count;

    to->end = leaf->end;
    if (from < count)
        leaf->end = piece_first(leaf, from);
    for (unsigned i = from; i < count; i++)
        append_piece(to, piece_first(leaf, i), leaf->owner[i]);
    clear_pieces(leaf, from);
}

static void split(struct range_map *map, struct range_cursor *cursor)
{
    struct range_leaf *leaf = leaf_of(cursor), *upper = slab_take(&map->leaves);
    unsigned keep = kept(cursor->at[0], LEAF);
    uint64_t low = piece_first(leaf, keep);

    range_leaf_init(upper, low, leaf->end);
    move_pieces(upper, leaf, keep);
    adopt(map, cursor, 1, upper, low, range_leaf_runs(upper));
    range_tell(map, cursor, range_leaf_runs(leaf));
    if (cursor->at[0] >= keep) {
        cursor->at[1]++;
        cursor->at[0] = (uint8_t)(cursor->at[0] - keep);
        cursor->node[0] = upper;
    }
}

/* Begin a leaf at the unit, which is inside the last piece of the leaf at the cursor. */
static void begin_leaf(struct range_map *map, struct range_cursor *cursor, uint64_t unit)
{
    struct range_leaf *leaf = leaf_of(cursor), *upper = slab_take(&map->leaves);

    range_leaf_init(upper, unit, leaf->end);
    append_piece(upper, unit, leaf->owner[cursor->at[0]]);
    leaf->end = unit;
    adopt(map, cursor, 1, upper, unit, range_leaf_runs(upper));
    range_tell(map, cursor, range_leaf_runs(leaf));
    cursor->at[1]++;
    cursor->at[0] = 0;
    cursor->node[0] = upper;
}

bool range_provide(struct range_map *map)
{
    /* a division can split a leaf, all branches above it and the root, which needs a new one */
    return slab_reserve(&map->leaves, 2) && slab_reserve(&map->branches, 2 * (map->height + 1));
}

void range_leaf_make_room(struct range_leaf *leaf, unsigned at, unsigned pieces)
{
    size_t moved = leaf->count - at;
    uint64_t below = leaf->free & (((uint64_t)1 << at) - 1);

    memmove(&leaf->offset[at + pieces], &leaf->offset[at], moved * sizeof(leaf->offset[0]));
    memmove(&leaf->owner[at + pieces], &leaf->owner[at], moved * sizeof(leaf->owner[0]));
    leaf->free = below | (leaf->free ^ below) << pieces;
    leaf->count += pieces;
}

void range_divide(struct range_map *map, struct range_cursor *cursor, uint64_t unit)
{
    struct range_leaf *leaf = leaf_of(cursor);
    unsigned at;

    if (unit - leaf->base > FARTHEST) {
        begin_leaf(map, cursor, unit);
        return;
    }
    if (leaf->count == LEAF)
        split(map, cursor);
    leaf = leaf_of(cursor);
    at = cursor->at[0]++;
    range_leaf_make_room(leaf, at + 1, 1);
    leaf->offset[at + 1] = (int32_t)(unit - leaf->base);
    leaf->owner[at + 1] = leaf->owner[at];
    leaf->free |= (leaf->free >> at & 1) << (at + 1);
    range_tell(map, cursor, range_leaf_runs(leaf));
}

/* ---- shrinking ---- */

void range_leaf_drop(struct range_leaf *leaf, unsigned at, unsigned pieces)
{
    size_t moved = leaf->count - at - pieces;
    uint64_t below = leaf->free & (((uint64_t)1 << at) - 1);

    memmove(&leaf->offset[at], &leaf->offset[at + pieces], moved * sizeof(leaf->offset[0]));
    memmove(&leaf->owner[at], &leaf->owner[at + pieces], moved * sizeof(leaf->owner[0]));
    leaf->free = below | (leaf->free >> pieces & ~(((uint64_t)1 << at) - 1));
    for (unsigned i = 1; i <= pieces; i++) {
        leaf->offset[leaf->count - i] = NO_OFFSET;
        leaf->owner[leaf->count - i] = NULL;
    }
    leaf->count -= pieces;
}

/* The first piece below the cursor's entry of this level begins here now. */
static void set_low(struct range_map *map, const struct range_cursor *cursor, unsigned level,
                    uint64_t low)
{
    for (; level < map->height; level++) {
        struct range_branch *branch = branch_of(cursor, level);
        unsigned at = cursor->at[level];

        *low_at(branch, at) = low;
        set_fences(branch);
        if (at > 0)
            return;
    }
}

static void lower_root(struct range_map *map)
{
    range_runs runs;

    while (map->height > 1 && ((struct range_branch *)map->root)->count == 1) {
        struct range_branch *root = map->root;

        map->root = *child_at(root, 0);
        map->height--;
        slab_give(&map->branches, root);
    }
    if (map->height > 1)
        return;
    runs = range_leaf_runs(map->root);
    memcpy(map->longest, &runs, sizeof(runs));
}

static void thin_branch(struct range_map *map, struct range_cursor *cursor, unsigned level);

/* Remove the cursor's entry of the branch at this level; nothing is free below it any more. */
static void disown(struct range_map *map, struct range_cursor *cursor, unsigned level)
{
    struct range_branch *branch = branch_of(cursor, level);
    unsigned at = cursor->at[level];

    if (branch->count == 1) {
        disown(map, cursor, level + 1);
        slab_give(&map->branches, branch);
        return;
    }
    remove_entry(branch, at);
    if (at == 0)
        set_low(map, cursor, level + 1, *low_at(branch, 0));
    if (level + 1 == map->height) {
        lower_root(map);
    } else if (branch->count <= BRANCH / 2 && branch->count % 4 == 0) {
        thin_branch(map, cursor, level);
    }
}

/* Join the branch at this level to a neighbour if both have few entries. */
static void thin_branch(struct range_map *map, struct range_cursor *cursor, unsigned level)
{
    struct range_branch *above, *lower, *upper;
    range_runs runs;
    unsigned at;

    if (level + 1 == map->height)
        return;
    above = branch_of(cursor, level + 1);
    at = cursor->at[level + 1];
    if (at + 1 == above->count && at-- == 0)
        return;
    lower = *child_at(above, at);
    upper = *child_at(above, at + 1);
    if (lower->count + upper->count > BRANCH_JOIN)
        return;
    runs = runs_max(entry_runs(above, at), entry_runs(above, at + 1));
    move_entries(lower, upper, 0);
    set_entry_runs(above, at, runs);
    cursor->at[level + 1] = (uint8_t)(at + 1);
    disown(map, cursor, level + 1);
    slab_give(&map->branches, upper);
}

void range_hand_down(struct range_map *map, struct range_cursor *cursor)
{
    struct range_leaf *leaf = leaf_of(cursor), *lower;
    struct range_cursor below = *cursor;
    uint64_t low;

    (void)range_previous_leaf(map, &below);
    lower = leaf_of(&below);
    lower->end = piece_end(leaf, 0);
    range_tell(map, &below, range_leaf_runs(lower));
    if (leaf->count == 1) {
        disown(map, cursor, 1);
        slab_give(&map->leaves, leaf);
        return;
    }
    low = piece_first(leaf, 1);
    range_leaf_drop(leaf, 0, 1);
    set_low(map, cursor, 1, low);
    range_tell(map, cursor, range_leaf_runs(leaf));
}

void range_thin(struct range_map *map, struct range_cursor *cursor)
{
    struct range_leaf *lower, *upper;
    struct range_branch *above;
    unsigned at;

    if (map->height == 1)
        return;
    above = branch_of(cursor, 1);
    at = cursor->at[1];
    if (at + 1 == above->count && at-- == 0)
        return;
    lower = *child_at(above, at);
    upper = *child_at(above, at + 1);
    if (lower->count + upper->count > LEAF_JOIN ||
        piece_first(upper, (unsigned)upper->count - 1) - lower->base > FARTHEST)
        return;
    move_pieces(lower, upper, 0);
    cursor->at[1] = (uint8_t)at;
    range_tell(map, cursor, range_leaf_runs(lower));
    cursor->at[1]++;
    disown(map, cursor, 1);
    slab_give(&map->leaves, upper);
}
