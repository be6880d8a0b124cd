/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   The free ranges are kept in a B+ tree by address. Two neighbours never touch (they would have
 *   been merged), so the tree holds exactly the maximal free ranges. A branch knows two things
 *   about each child: the start of its first range, and the longest run that remains in any one of
 *   its ranges after its start is rounded up to a multiple of 1, 16 and 512 units: the *grades*.
 *   With pages as units these are 4 KiB, 64 KiB and 2 MiB, the page sizes of GPUs.
 *
 *       branch       low    3             40             512
 *                    best   17/4/0        24/16/0        588/588/588
 *                           |             |              |
 *       leaves              [3,20)        [40,64)        [512,1100)
 *                           [22,30)       [70,90)        [2000,2010)
 *
 *   Nodes are wide (15 ranges or children) because a descent costs a cache miss and a few
 *   mispredicted branches for each level: ten thousand ranges take four levels. Leaves have the
 *   same layout as branches, with a range in place of a child, so all work inside a node is a short
 *   loop over an array, which compilers vectorize.
 *
 *   Search (one function, both directions). Walk the tree in address order from the wanted end, but
 *   enter a child only if its best run of the request's grade is long enough. The request's grade
 *   is the largest one that is at most its alignment.
 *
 *     - Alignment of 1, 16 or 512 without window: every child that is entered contains a fit, so
 *       the walk is one descent.
 *     - A window [low, high) adds the two paths to its ends: children between them lie inside,
 *       those outside are cut off by the starts in the branch. Still O(log n).
 *     - Other alignments are checked range by range: a range whose grade suggests a fit may turn
 *       out not to fit, and the walk continues with the next candidate. A range whose run of the
 *       grade is at least size + alignment always fits, so only ranges that are nearly too short
 *       are visited in vain.
 *
 *   Change. Every operation ends in a pass up the path just descended, which updates what each
 *   branch knows about its child, and stops at the first one where nothing changes. For a range
 *   given back, the descent ends at its lower neighbor; the upper neighbor is the next entry, or
 *   the first one in the next leaf.
 *
 *   Balance is the textbook's: a full node is split in two; one with fewer than MIN entries takes
 *   some from a neighbor or is merged with it.
 *
 *   Memory. Every node but the root has at least MIN entries, so e ranges need at most e / MIN + 1
 *   leaves, and a sixth of that in branches. A take may fail, so it allocates nodes ahead: enough
 *   for the existing ranges plus one for each outstanding take. A give ends one take and adds at
 *   most one range, so its nodes are always available.
 */
#include "util/extent.h"
#include "util/address.h"
#include "util/extent_node.h"
#include "util/min_max.h"
#include "util/slab.h"

#include <stddef.h>
#include <stdlib.h>

/* ---- finding ---- */

/* The number of entries that begin at or below the unit. */
static inline unsigned rank(const struct extent_node *node, uint64_t unit)
{
    unsigned below = 0;

    for (unsigned i = 0; i < WIDTH; i++)
        below += node->low[i] <= unit;
    return below;
}

/* Set the cursor just after the last range that starts at or below the unit. The tree must not be
 * empty. */
static void seek(const struct extent_tree *tree, uint64_t unit, struct extent_cursor *cursor)
{
    struct extent_node *node = tree->root;

    for (unsigned level = tree->height; --level > 0;) {
        unsigned below = rank(node, unit), at = below - (below > 0);

        cursor->node[level] = node;
        cursor->at[level] = (uint8_t)at;
        node = node->of[at].child;
    }
    cursor->node[0] = node;
    cursor->at[0] = (uint8_t)rank(node, unit);
}

/* Move from the end of a leaf to the first range of the next leaf; false at the end of the tree. */
static bool to_next_leaf(const struct extent_tree *tree, struct extent_cursor *cursor)
{
    for (unsigned level = 1; level < tree->height; level++) {
        unsigned next = cursor->at[level] + 1u;
        struct extent_node *node = cursor->node[level];

        if (next >= node->count)
            continue;
        cursor->at[level] = (uint8_t)next;
        node = node->of[next].child;
        while (--level > 0) {
            cursor->node[level] = node;
            cursor->at[level] = 0;
            node = node->of[0].child;
        }
        cursor->node[0] = node;
        cursor->at[0] = 0;
        return true;
    }
    return false;
}

/* The place for the request inside one free range. */
static inline bool place(const struct extent_node *leaf, unsigned at,
                         const struct extent_request *want, uint64_t *start)
{
    uint64_t low = max_of(leaf->low[at], want->low);
    uint64_t end = end_of(leaf, at);
    uint64_t first;

    if (end > want->high)
        end = want->high;
    if (low >= end || end - low < want->size)
        return false;
    if (want->from_end) {
        first = align_down(end - want->size, want->align);
        if (first < low)
            return false;
    } else {
        first = align_up(low, want->align);
        if (first >= end || end - first < want->size)
            return false;
    }
    *start = first;
    return true;
}

/* The entries that could contain a fit, as bits. Nothing in an entry reaches the `low` of the next
 * entry. */
static inline unsigned candidates(const struct extent_node *node, const struct extent_request *want,
                                  unsigned grade)
{
    static const uint32_t bit[WIDTH + 1] = {
        1u << 0, 1u << 1, 1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
        1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15};
    const int32_t *best = node->best[grade];
    int32_t size = saturate(want->size);
    uint32_t bits = 0;

    for (unsigned i = 0; i <= WIDTH; i++)
        bits |= best[i] >= size ? bit[i] : 0;
    for (unsigned i = 0; want->low > 0 && i + 1 < node->count && node->low[i + 1] <= want->low; i++)
        bits &= ~bit[i];
    for (unsigned i = (unsigned)node->count;
         want->high < LIMIT && i-- > 0 && node->low[i] >= want->high;)
        bits &= ~bit[i];
    return bits;
}

/* First fit below `node`, from the end that is wanted; leaves the cursor at the range that contains
 * it. */
static bool search(struct extent_node *node, unsigned level, const struct extent_request *want,
                   unsigned grade, struct extent_cursor *cursor, uint64_t *start)
{
    unsigned bits = candidates(node, want, grade);

    cursor->node[level] = node;
    while (bits != 0) {
        unsigned at = (unsigned)(want->from_end ? 31 - __builtin_clz(bits) : __builtin_ctz(bits));

        cursor->at[level] = (uint8_t)at;
        if (level == 0 ? place(node, at, want, start)
                       : search(node->of[at].child, level - 1, want, grade, cursor, start))
            return true;
        bits &= ~(1u << at);
    }
    return false;
}

static bool find(const struct extent_tree *tree, const struct extent_request *want,
                 struct extent_cursor *cursor, uint64_t *start)
{
    unsigned grade = want->align >= 512 ? 2 : want->align >= 16 ? 1 : 0;

    return tree->root && tree->says.best[grade] >= saturate(want->size) &&
           search(tree->root, tree->height - 1, want, grade, cursor, start);
}

/* Fill in defaults; false if no range can ever satisfy it. */
static bool normalise(struct extent_request *want)
{
    if (want->align == 0)
        want->align = 1;
    if (want->high == 0 || want->high > LIMIT)
        want->high = LIMIT;
    return want->size > 0 && want->size <= LIMIT && is_power_of_two(want->align) &&
           want->align <= LIMIT;
}

/* ---- taking ---- */

/* Called before a take, which may split a range in two, and must be undoable by a give. */
static inline bool reserve(struct extent_tree *tree)
{
    tree->out_of_memory = !extent_node_provide(tree, tree->extents + tree->taken + 2);
    return !tree->out_of_memory;
}

/* Cut [start, start + size) out of the range at the cursor. */
static void carve(struct extent_tree *tree, struct extent_cursor *cursor, uint64_t start,
                  uint64_t size)
{
    const struct extent_node *leaf = cursor->node[0];
    uint64_t low = leaf->low[cursor->at[0]], end = end_of(leaf, cursor->at[0]);

    tree->free_units -= size;
    tree->taken++;
    if (low == start && end == start + size) {
        extent_node_remove(tree, cursor);
    } else if (low == start) {
        extent_node_resize(tree, cursor, start + size, end);
    } else {
        extent_node_resize(tree, cursor, low, start);
        if (end > start + size) {
            cursor->at[0]++;
            extent_node_insert(tree, cursor, start + size, end - (start + size));
        }
    }
}

/* ---- interface ---- */

/* A large tree is validated only when its count of ranges is a multiple of 256; otherwise tests
 * would take minutes. */
static inline void changed(const struct extent_tree *tree)
{
#ifdef DXGK_DEBUG_CHECKS
    bool large = tree->extents > 256 && tree->extents % 256 != 0;

    if (!large && !extent_tree_validate(tree))
        abort();
#else
    (void)tree;
#endif
}

void extent_tree_init(struct extent_tree *tree)
{
    *tree = (struct extent_tree){0};
    slab_init(&tree->nodes, sizeof(struct extent_node));
}

void extent_tree_finish(struct extent_tree *tree)
{
    slab_finish(&tree->nodes);
    extent_tree_init(tree);
}

/* Extend the range at the cursor down to `start`, and join it to the range that ends at `start` if
 * `joins_below`. */
static void merge_above(struct extent_tree *tree, struct extent_cursor *cursor, uint64_t start,
                        bool joins_below)
{
    uint64_t end = end_of(cursor->node[0], cursor->at[0]);
    struct extent_cursor below;

    if (!joins_below) {
        extent_node_resize(tree, cursor, start, end);
        return;
    }
    /* Remove the upper range, then grow the lower one. */
    extent_node_remove(tree, cursor);
    seek(tree, start - 1, &below);
    below.at[0]--;
    extent_node_resize(tree, &below, below.node[0]->low[below.at[0]], end);
}

/* No free range begins at the end of this one: insert it after `at` in the leaf, or add it to the
 * range there. */
static void merge_below(struct extent_tree *tree, struct extent_cursor *cursor, uint64_t start,
                        uint64_t size, bool joins_below)
{
    if (joins_below) {
        cursor->at[0]--;
        extent_node_resize(tree, cursor, cursor->node[0]->low[cursor->at[0]], start + size);
    } else {
        extent_node_insert(tree, cursor, start, size);
    }
}

bool extent_give(struct extent_tree *tree, uint64_t start, uint64_t size)
{
    bool joins_below = false, joins_above = false;
    struct extent_cursor cursor;

    if (size == 0 || size > LIMIT || start > LIMIT - size)
        return false;
    if (tree->root) {
        const struct extent_node *leaf;
        unsigned at;

        seek(tree, start, &cursor);
        leaf = cursor.node[0];
        at = cursor.at[0];
        if (at > 0 && end_of(leaf, at - 1) > start)
            return false;
        joins_below = at > 0 && end_of(leaf, at - 1) == start;
        if (at < leaf->count || to_next_leaf(tree, &cursor)) {
            uint64_t next = cursor.node[0]->low[cursor.at[0]];

            if (next < start + size)
                return false;
            joins_above = next == start + size;
            if (!joins_above && cursor.node[0] != leaf)
                seek(tree, start, &cursor);
        }
    }
    if (!joins_below && !joins_above && !extent_node_provide(tree, tree->extents + 1))
        return false;
    if (joins_above)
        merge_above(tree, &cursor, start, joins_below);
    else
        merge_below(tree, &cursor, start, size, joins_below);
    tree->free_units += size;
    if (tree->taken > 0)
        tree->taken--;
    changed(tree);
    return true;
}

bool extent_take(struct extent_tree *tree, const struct extent_request *request, uint64_t *start)
{
    struct extent_request want = *request;
    struct extent_cursor cursor;
    uint64_t found;

    tree->out_of_memory = false;
    if (!normalise(&want) || !find(tree, &want, &cursor, &found) || !reserve(tree))
        return false;
    carve(tree, &cursor, found, want.size);
    changed(tree);
    *start = found;
    return true;
}

/* Set the cursor to the range that contains the unit, and return the end of that range; false if
 * the unit is not free. */
static bool seek_holder(const struct extent_tree *tree, uint64_t unit, struct extent_cursor *cursor,
                        uint64_t *end)
{
    if (!tree->root)
        return false;
    seek(tree, unit, cursor);
    if (cursor->at[0] == 0)
        return false;
    *end = end_of(cursor->node[0], --cursor->at[0]);
    return *end > unit;
}

bool extent_take_fixed(struct extent_tree *tree, uint64_t start, uint64_t size)
{
    struct extent_cursor cursor;
    uint64_t end;

    tree->out_of_memory = false;
    if (size == 0 || !seek_holder(tree, start, &cursor, &end) || end - start < size ||
        !reserve(tree))
        return false;
    carve(tree, &cursor, start, size);
    changed(tree);
    return true;
}

bool extent_is_free(const struct extent_tree *tree, uint64_t start, uint64_t size)
{
    struct extent_cursor cursor;
    uint64_t end;

    return seek_holder(tree, start, &cursor, &end) && size <= end - start;
}

/* The largest range below a node. */
static uint64_t largest(const struct extent_node *node, unsigned level)
{
    uint64_t best = 0;

    for (unsigned i = 0; i < node->count; i++) {
        uint64_t here = (uint64_t)node->best[0][i];

        if (here == SATURATED) /* the true length may be larger */
            here = level == 0 ? node->of[i].size : largest(node->of[i].child, level - 1);
        best = max_of(best, here);
    }
    return best;
}

uint64_t extent_largest(const struct extent_tree *tree)
{
    return tree->says.best[0] == SATURATED ? largest(tree->root, tree->height - 1)
                                           : (uint64_t)tree->says.best[0];
}

bool extent_next(const struct extent_tree *tree, uint64_t from, uint64_t *start, uint64_t *size)
{
    struct extent_cursor cursor;

    if (!tree->root)
        return false;
    seek(tree, from, &cursor);
    if (cursor.at[0] > 0 && end_of(cursor.node[0], cursor.at[0] - 1u) > from)
        cursor.at[0]--;
    if (cursor.at[0] >= cursor.node[0]->count && !to_next_leaf(tree, &cursor))
        return false;
    *start = cursor.node[0]->low[cursor.at[0]];
    *size = cursor.node[0]->of[cursor.at[0]].size;
    return true;
}
