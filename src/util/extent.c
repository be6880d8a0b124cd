/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   The free ranges stand in an AVL tree by address. Two neighbours never touch (they would have been merged), so the tree
 *   holds exactly the maximal free ranges. Each node also knows, for its whole subtree, the longest run that is left in
 *   one range after its start was rounded up to a multiple of 1, 16 and 512 units: the *classes*. With pages as units
 *   these are 4 KiB, 64 KiB and 2 MiB, the page sizes of the subject.
 *
 *                         [40,64)                 best: longest run of class 1, 16, 512 at or below this node
 *                        /       \
 *                  [3,20)         [512,1100)      [3,20): 17 units, 4 after rounding 3 up to 16, none of class 512
 *
 *   Search (one function, both directions). Walk the tree in address order from the wanted end, but enter a subtree only
 *   if its best run of the request's class is long enough. The class is the largest not above the alignment asked for.
 *
 *     - Alignment of 1, 16 or 512 without window and boundary: a subtree that is entered always holds a fit, so the walk
 *       is one descent.
 *     - A window [low, high) adds the two paths to its ends: subtrees between them lie inside, those outside are cut off
 *       by the start addresses on the path. Still O(log n).
 *     - Other alignments, and boundaries, are checked range by range: what the class promises may then be refuted by the
 *       range itself, which costs a step to the next candidate. A range of class run >= size + alignment, or >= 2 * size
 *       for a boundary, cannot be refuted; so only ranges that barely fit are visited in vain.
 *
 *   Change. All three operations end in one pass up the path just descended, which restores heights and bests and stops
 *   as soon as a node comes out as it was. Giving a range back visits both its neighbours on one descent: the last node
 *   where the path turned right is the one below, the last where it turned left the one above. If the range closes the gap
 *   between two, the deeper of them has no child on the side of the gap, so it can be unlinked where it stands, and the
 *   shallower one takes over all.
 *
 *   Memory. Nodes come from a slab of the tree. Invariant: spare nodes >= takes outstanding. A give uses at most one node
 *   and ends one take, so it never asks for memory; a take, which may fail anyway, buys ahead.
 */
#include "util/extent.h"

#include <stddef.h>

#include "util/address.h"

enum { CLASSES = 3, MAX_DEPTH = 96 };

#define LIMIT ((uint64_t)1 << 63)

static const unsigned class_bits[CLASSES] = {0, 4, 9};

struct extent_node {
    struct extent_node *child[2]; /* below, above */
    uint64_t start;
    uint64_t size;
    uint64_t best[CLASSES]; /* of the subtree */
    int64_t height;
};

_Static_assert(sizeof(struct extent_node) == 64, "one cache line");

/* The nodes from the root to the place of work, and the side taken at each. */
struct path {
    unsigned depth;
    struct extent_node *node[MAX_DEPTH];
    uint8_t side[MAX_DEPTH];
};

static inline uint64_t node_end(const struct extent_node *node)
{
    return node->start + node->size;
}

static inline int64_t height(const struct extent_node *node)
{
    return node ? node->height : 0;
}

static inline void push(struct path *path, struct extent_node *node, unsigned side)
{
    path->node[path->depth] = node;
    path->side[path->depth] = (uint8_t)side;
    path->depth++;
}

/* ---- balance and summaries ---------------------------------------------------------------------------------------- */

static inline uint64_t run_of_class(const struct extent_node *node, unsigned class)
{
    uint64_t first = align_up(node->start, (uint64_t)1 << class_bits[class]);
    uint64_t end = node_end(node);

    return end > first ? end - first : 0;
}

/* Recompute what the node says about its subtree; true if it said something else before. */
static inline bool refresh(struct extent_node *node)
{
    const struct extent_node *below = node->child[0], *above = node->child[1];
    int64_t tall = 1 + (height(below) > height(above) ? height(below) : height(above));
    bool changed = tall != node->height;

    node->height = tall;
    for (unsigned class = 0; class < CLASSES; class ++) {
        uint64_t best = run_of_class(node, class);

        if (below && below->best[class] > best)
            best = below->best[class];
        if (above && above->best[class] > best)
            best = above->best[class];
        changed |= best != node->best[class];
        node->best[class] = best;
    }
    return changed;
}

/* Lift the child on `side` above its parent. */
static struct extent_node *lift(struct extent_node *node, unsigned side)
{
    struct extent_node *child = node->child[side];

    node->child[side] = child->child[!side];
    child->child[!side] = node;
    refresh(node);
    refresh(child);
    return child;
}

static struct extent_node *rebalance(struct extent_node *node)
{
    unsigned heavy = height(node->child[1]) > height(node->child[0]);
    struct extent_node *child = node->child[heavy];

    if (height(child->child[!heavy]) > height(child->child[heavy]))
        node->child[heavy] = lift(child, !heavy);
    return lift(node, heavy);
}

static inline void link_at(struct extent_tree *tree, const struct path *path, unsigned depth,
                           struct extent_node *node)
{
    if (depth == 0)
        tree->root = node;
    else
        path->node[depth - 1]->child[path->side[depth - 1]] = node;
}

/* Restore heights and bests from the end of the path up. Nodes at `dirty` and below were changed by hand; above it, a node
 * that stays as it was ends the pass. */
static void repair(struct extent_tree *tree, const struct path *path, unsigned dirty)
{
    for (unsigned depth = path->depth; depth-- > 0;) {
        struct extent_node *node = path->node[depth];
        int64_t lean = height(node->child[0]) - height(node->child[1]);
        bool changed = true;

        if (lean > 1 || lean < -1)
            link_at(tree, path, depth, rebalance(node));
        else
            changed = refresh(node);
        if (!changed && depth <= dirty)
            return;
    }
}

/* ---- nodes in and out ------------------------------------------------------------------------------------------------ */

/* The node at the end of the path has at most one child: replace it by that, and free it. */
static void unlink_last(struct extent_tree *tree, struct path *path)
{
    struct extent_node *node = path->node[--path->depth];

    link_at(tree, path, path->depth, node->child[0] ? node->child[0] : node->child[1]);
    slab_give(&tree->nodes, node);
    tree->extents--;
}

static void remove_last(struct extent_tree *tree, struct path *path)
{
    struct extent_node *node = path->node[path->depth - 1];
    unsigned dirty = path->depth - 1;

    if (node->child[0] && node->child[1]) {
        struct extent_node *next = node->child[1];

        path->side[dirty] = 1;
        push(path, next, 0);
        for (; next->child[0]; push(path, next, 0))
            next = next->child[0];
        node->start = next->start;
        node->size = next->size;
    }
    unlink_last(tree, path);
    repair(tree, path, dirty);
}

/* A new leaf at the free place the path points to. A node is in reserve or the caller has made sure. */
static void insert_leaf(struct extent_tree *tree, struct path *path, uint64_t start, uint64_t size,
                        unsigned dirty)
{
    struct extent_node *node = slab_take(&tree->nodes);

    *node = (struct extent_node){.start = start, .size = size};
    refresh(node);
    link_at(tree, path, path->depth, node);
    tree->extents++;
    repair(tree, path, dirty);
}

/* Cut [start, start + size) out of the range at the end of the path. */
static void carve(struct extent_tree *tree, struct path *path, uint64_t start, uint64_t size)
{
    unsigned last = path->depth - 1;
    struct extent_node *node = path->node[last];
    uint64_t below = start - node->start, above = node_end(node) - (start + size);

    tree->free_units -= size;
    tree->taken++;
    if (below == 0 && above == 0) {
        remove_last(tree, path);
        return;
    }
    if (below == 0) {
        node->start = start + size;
        node->size = above;
        repair(tree, path, last);
        return;
    }
    node->size = below;
    if (above == 0) {
        repair(tree, path, last);
        return;
    }
    path->side[last] = 1;
    for (node = node->child[1]; node; node = node->child[0])
        push(path, node, 0);
    insert_leaf(tree, path, start + size, above, last);
}

/* Before a take: one node to split a range, one for each take outstanding, and one for this take. */
static bool reserve(struct extent_tree *tree)
{
    tree->out_of_memory = !slab_reserve(&tree->nodes, tree->taken + 2);
    return !tree->out_of_memory;
}

/* ---- search -------------------------------------------------------------------------------------------------------- */

/* The place of the request inside one free range. */
static bool place(const struct extent_node *node, const struct extent_request *want, uint64_t *start)
{
    uint64_t low = node->start > want->low ? node->start : want->low;
    uint64_t end = node_end(node);
    uint64_t first;

    if (end > want->high)
        end = want->high;
    if (low >= end || end - low < want->size)
        return false;
    if (want->from_end) {
        first = align_down(end - want->size, want->align);
        if (want->boundary && (first ^ (first + want->size - 1)) >= want->boundary)
            first = align_down(align_down(first + want->size - 1, want->boundary) - want->size,
                               want->align);
        if (first < low)
            return false;
    } else {
        first = align_up(low, want->align);
        if (want->boundary && (first ^ (first + want->size - 1)) >= want->boundary)
            first = align_up(first + 1, want->boundary);
        if (first >= end || end - first < want->size)
            return false;
    }
    *start = first;
    return true;
}

/* Could the subtree on `side` of the node hold a fit? */
static inline bool worth(const struct extent_node *node, unsigned side,
                         const struct extent_request *want, unsigned class)
{
    const struct extent_node *child = node->child[side];

    if (!child || child->best[class] < want->size)
        return false;
    return side == 0 ? node->start > want->low : node_end(node) < want->high;
}

/* First fit from the wanted end; the path ends at the range that holds it. */
static bool search(const struct extent_tree *tree, const struct extent_request *want,
                   struct path *path, uint64_t *start)
{
    unsigned near = want->from_end, class = want->align >= 512 ? 2 : want->align >= 16 ? 1 : 0;
    struct extent_node *node = tree->root;

    path->depth = 0;
    if (!node || node->best[class] < want->size)
        return false;
    for (;;) {
        for (; worth(node, near, want, class); node = node->child[near])
            push(path, node, near);
        for (;;) {
            if (place(node, want, start)) {
                push(path, node, near);
                return true;
            }
            if (worth(node, !near, want, class)) {
                push(path, node, !near);
                node = node->child[!near];
                break;
            }
            /* Back to the last node whose near side was entered. */
            do {
                if (path->depth == 0)
                    return false;
                node = path->node[--path->depth];
            } while (path->side[path->depth] != near);
        }
    }
}

/* Fill in defaults; false if no range can ever satisfy it. */
static bool normalise(struct extent_request *want)
{
    if (want->align == 0)
        want->align = 1;
    if (want->high == 0 || want->high > LIMIT)
        want->high = LIMIT;
    if (want->size == 0 || want->size > LIMIT || !is_power_of_two(want->align) ||
        want->align > LIMIT)
        return false;
    return want->boundary == 0 || (is_power_of_two(want->boundary) && want->size <= want->boundary);
}

/* The range that contains the unit, at the end of the path; NULL if it is not free (the path leads to its place). */
static struct extent_node *descend(const struct extent_tree *tree, uint64_t unit, struct path *path)
{
    path->depth = 0;
    for (struct extent_node *node = tree->root; node;) {
        unsigned side = unit >= node->start;

        push(path, node, side);
        if (side == 1 && unit < node_end(node))
            return node;
        node = node->child[side];
    }
    return NULL;
}

/* ---- interface ----------------------------------------------------------------------------------------------------- */

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

/* Both neighbours touch the range: the shallower one takes over, the deeper one (the last of the path) goes. */
static void bridge(struct extent_tree *tree, struct path *path, unsigned below_at, unsigned above_at)
{
    struct extent_node *below = path->node[below_at], *above = path->node[above_at];
    uint64_t start = below->start, end = node_end(above);
    unsigned shallow = below_at < above_at ? below_at : above_at;

    path->node[shallow]->start = start;
    path->node[shallow]->size = end - start;
    unlink_last(tree, path);
    repair(tree, path, shallow);
}

bool extent_give(struct extent_tree *tree, uint64_t start, uint64_t size)
{
    const unsigned none = MAX_DEPTH;
    unsigned below_at = none, above_at = none;
    struct path path;

    if (size == 0 || size > LIMIT || start > LIMIT - size || descend(tree, start, &path))
        return false;
    for (unsigned depth = path.depth; depth-- > 0 && (below_at == none || above_at == none);) {
        if (path.side[depth] == 1 && below_at == none)
            below_at = depth;
        else if (path.side[depth] == 0 && above_at == none)
            above_at = depth;
    }
    if (above_at != none && path.node[above_at]->start < start + size)
        return false;
    if (below_at != none && node_end(path.node[below_at]) != start)
        below_at = none;
    if (above_at != none && path.node[above_at]->start != start + size)
        above_at = none;

    if (below_at == none && above_at == none) {
        if (!slab_reserve(&tree->nodes, 1))
            return false;
        insert_leaf(tree, &path, start, size, path.depth);
    } else if (above_at == none) {
        path.node[below_at]->size += size;
        path.depth = below_at + 1;
        repair(tree, &path, below_at);
    } else if (below_at == none) {
        path.node[above_at]->start = start;
        path.node[above_at]->size += size;
        path.depth = above_at + 1;
        repair(tree, &path, above_at);
    } else {
        bridge(tree, &path, below_at, above_at);
    }
    tree->free_units += size;
    if (tree->taken > 0)
        tree->taken--;
    return true;
}

bool extent_take(struct extent_tree *tree, const struct extent_request *request, uint64_t *start)
{
    struct extent_request want = *request;
    struct path path;
    uint64_t found;

    tree->out_of_memory = false;
    if (!normalise(&want) || !search(tree, &want, &path, &found) || !reserve(tree))
        return false;
    carve(tree, &path, found, want.size);
    *start = found;
    return true;
}

bool extent_take_fixed(struct extent_tree *tree, uint64_t start, uint64_t size)
{
    const struct extent_node *node;
    struct path path;

    tree->out_of_memory = false;
    if (size == 0)
        return false;
    node = descend(tree, start, &path);
    if (!node || node_end(node) - start < size || !reserve(tree))
        return false;
    carve(tree, &path, start, size);
    return true;
}

uint64_t extent_take_some(struct extent_tree *tree, uint64_t size, uint64_t low, uint64_t high,
                          uint64_t *start)
{
    struct extent_request want = {.size = 1, .low = low, .high = high};
    struct path path;
    uint64_t found, end;

    tree->out_of_memory = false;
    if (size == 0 || !normalise(&want) || !search(tree, &want, &path, &found) || !reserve(tree))
        return 0;
    end = node_end(path.node[path.depth - 1]);
    if (end > want.high)
        end = want.high;
    if (size > end - found)
        size = end - found;
    carve(tree, &path, found, size);
    *start = found;
    return size;
}

bool extent_is_free(const struct extent_tree *tree, uint64_t start, uint64_t size)
{
    const struct extent_node *node = tree->root;

    while (node && !(start >= node->start && start < node_end(node)))
        node = node->child[start >= node->start];
    return node && size <= node_end(node) - start;
}

uint64_t extent_largest(const struct extent_tree *tree)
{
    return tree->root ? tree->root->best[0] : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t best_of(const struct extent_node *node)
{
    return node ? node->best[0] : 0;
}

static uint64_t cut_size(const struct extent_node *node, uint64_t low, uint64_t high)
{
    uint64_t start = larger(node->start, low), end = node_end(node) < high ? node_end(node) : high;

    return end > start ? end - start : 0;
}

uint64_t extent_largest_in(const struct extent_tree *tree, uint64_t low, uint64_t high)
{
    const struct extent_node *fork = tree->root, *node;
    uint64_t best;

    if (high == 0 || high > LIMIT)
        high = LIMIT;
    if (low >= high)
        return 0;
    while (fork && (node_end(fork) <= low || fork->start >= high))
        fork = fork->child[node_end(fork) <= low];
    if (!fork)
        return 0;
    best = cut_size(fork, low, high);
    /* From the fork, one path to each end of the window; what hangs inside of the paths counts whole. */
    for (node = fork->child[0]; node; node = node->child[node->start <= low]) {
        best = larger(best, cut_size(node, low, high));
        if (node->start >= low)
            best = larger(best, best_of(node->child[1]));
    }
    for (node = fork->child[1]; node; node = node->child[node_end(node) < high]) {
        best = larger(best, cut_size(node, low, high));
        if (node_end(node) <= high)
            best = larger(best, best_of(node->child[0]));
    }
    return best;
}

bool extent_next(const struct extent_tree *tree, uint64_t from, uint64_t *start, uint64_t *size)
{
    const struct extent_node *found = NULL;

    for (const struct extent_node *node = tree->root; node;
         node = node->child[node_end(node) <= from])
        if (node_end(node) > from)
            found = node;
    if (!found)
        return false;
    *start = found->start;
    *size = found->size;
    return true;
}

/* ---- validation ----------------------------------------------------------------------------------------------------- */

struct totals {
    uint64_t units, extents;
    uint64_t last_end; /* of the range before, in address order */
    bool any;
};

static bool validate_node(const struct extent_node *node, struct totals *totals)
{
    struct extent_node copy;

    if (!node)
        return true;
    if (node->height < 1 || node->height >= MAX_DEPTH || !validate_node(node->child[0], totals))
        return false;
    if (node->size == 0 || node_end(node) > LIMIT ||
        (totals->any && node->start <= totals->last_end))
        return false;
    totals->any = true;
    totals->last_end = node_end(node);
    totals->units += node->size;
    totals->extents++;
    if (!validate_node(node->child[1], totals))
        return false;
    copy = *node;
    if (refresh(&copy))
        return false;
    copy.height = height(node->child[0]) - height(node->child[1]);
    return copy.height >= -1 && copy.height <= 1;
}

bool extent_tree_validate(const struct extent_tree *tree)
{
    struct totals totals = {0};

    return validate_node(tree->root, &totals) && totals.units == tree->free_units &&
           totals.extents == tree->extents && slab_validate(&tree->nodes) &&
           tree->nodes.objects == tree->nodes.spare_objects + tree->extents;
}
