/* SPDX-License-Identifier: MIT */
/*
 * Nodes of the extent tree: their summaries of what is below them, and how entries are added and
 * removed. See extent.c for the theory of operation.
 */
#include "util/extent_node.h"
#include "util/extent.h"
#include "util/slab.h"

#include <stddef.h>
#include <string.h>

static const unsigned grade_bits[GRADES] = {0, 4, 9};

/* One entry of a node. */
struct entry {
    uint64_t low;
    union extent_thing of;
    struct extent_summary says;
};

/* ---- what nodes say ---- */

/* The longest run that remains of a range, for each grade, after its start is rounded up. */
static inline struct extent_summary runs_of(uint64_t start, uint64_t size)
{
    struct extent_summary runs;

    for (unsigned grade = 0; grade < GRADES; grade++) {
        uint64_t lost = -start & (((uint64_t)1 << grade_bits[grade]) - 1);

        runs.best[grade] = saturate(size > lost ? size - lost : 0);
    }
    return runs;
}

static inline int32_t best_of(const struct extent_node *node, unsigned grade)
{
    int32_t best = 0;

    for (unsigned i = 0; i <= WIDTH; i++)
        best = node->best[grade][i] > best ? node->best[grade][i] : best;
    return best;
}

static struct entry entry_of(struct extent_node *node)
{
    struct entry entry = {.low = node->low[0], .of.child = node};

    for (unsigned grade = 0; grade < GRADES; grade++)
        entry.says.best[grade] = best_of(node, grade);
    return entry;
}

static inline struct extent_summary said_at(const struct extent_node *node, unsigned at)
{
    struct extent_summary says;

    for (unsigned grade = 0; grade < GRADES; grade++)
        says.best[grade] = node->best[grade][at];
    return says;
}

static inline void say_at(struct extent_node *node, unsigned at, uint64_t low,
                          const struct extent_summary *says)
{
    node->low[at] = low;
    for (unsigned grade = 0; grade < GRADES; grade++)
        node->best[grade][at] = says->best[grade];
}

/* One entry of the node on `level` of the path was added, removed or changed from runs `was` to
 * runs `now`: update the branches above. All entries of a node are read only if its best entry got
 * worse. */
static void tell_change(struct extent_tree *tree, const struct extent_cursor *path, unsigned level,
                        struct extent_summary was, struct extent_summary now)
{
    for (;; level++) {
        const struct extent_node *node = path->node[level];
        bool top = level + 1 == tree->height;
        struct extent_node *above = top ? NULL : path->node[level + 1];
        unsigned at = top ? 0 : path->at[level + 1];
        struct extent_summary said = top ? tree->says : said_at(above, at), says = said;
        uint64_t differs = top ? 0 : above->low[at] ^ node->low[0];

        for (unsigned grade = 0; grade < GRADES; grade++) {
            if (now.best[grade] >= said.best[grade])
                says.best[grade] = now.best[grade];
            else if (was.best[grade] == said.best[grade])
                says.best[grade] = best_of(node, grade);
            differs |= (uint64_t)(says.best[grade] ^ said.best[grade]);
        }
        if (top) {
            tree->says = says;
            return;
        }
        if (differs == 0)
            return;
        say_at(above, at, node->low[0], &says);
        was = said;
        now = says;
    }
}

/* The same, after any change to the node. */
static void tell(struct extent_tree *tree, const struct extent_cursor *path, unsigned level)
{
    struct entry entry = entry_of(path->node[level]);

    if (level + 1 < tree->height) {
        struct extent_node *above = path->node[level + 1];
        unsigned at = path->at[level + 1];
        struct extent_summary was = said_at(above, at);

        say_at(above, at, entry.low, &entry.says);
        tell_change(tree, path, level + 1, was, entry.says);
    } else {
        tree->says = entry.says;
    }
}

/* ---- entries in and out of nodes ---- */

static inline struct entry get(const struct extent_node *node, unsigned at)
{
    return (struct entry){.low = node->low[at], .of = node->of[at], .says = said_at(node, at)};
}

static inline void set(struct extent_node *node, unsigned at, const struct entry *entry)
{
    say_at(node, at, entry->low, &entry->says);
    node->of[at] = entry->of;
}

static void put_in(struct extent_node *node, unsigned at, const struct entry *entry)
{
    size_t behind = (size_t)node->count - at;

    memmove(&node->low[at + 1], &node->low[at], behind * sizeof(node->low[0]));
    memmove(&node->of[at + 1], &node->of[at], behind * sizeof(node->of[0]));
    for (unsigned grade = 0; grade < GRADES; grade++)
        memmove(&node->best[grade][at + 1], &node->best[grade][at], behind * sizeof(int32_t));
    set(node, at, entry);
    node->count++;
}

static void take_out(struct extent_node *node, unsigned at)
{
    static const struct extent_summary nothing;
    size_t behind = (size_t)node->count - at - 1;

    memmove(&node->low[at], &node->low[at + 1], behind * sizeof(node->low[0]));
    memmove(&node->of[at], &node->of[at + 1], behind * sizeof(node->of[0]));
    for (unsigned grade = 0; grade < GRADES; grade++)
        memmove(&node->best[grade][at], &node->best[grade][at + 1], behind * sizeof(int32_t));
    node->count--;
    say_at(node, (unsigned)node->count, NO_LOW, &nothing);
}

/* Move entries between neighbours until `left` has `wanted`. */
static void level_out(struct extent_node *left, struct extent_node *right, uint64_t wanted)
{
    struct entry entry;

    while (left->count < wanted) {
        entry = get(right, 0);
        put_in(left, (unsigned)left->count, &entry);
        take_out(right, 0);
    }
    while (left->count > wanted) {
        entry = get(left, (unsigned)left->count - 1);
        put_in(right, 0, &entry);
        take_out(left, (unsigned)left->count - 1);
    }
}

/* ---- nodes ---- */

bool extent_node_provide(struct extent_tree *tree, uint64_t extents)
{
    uint64_t leaves = extents / MIN + 1, nodes = leaves + leaves / (MIN - 1) + 1;

    return tree->nodes.objects >= nodes ||
           slab_reserve(&tree->nodes, tree->nodes.spare_objects + nodes - tree->nodes.objects);
}

/* Never fails: whoever adds a range calls extent_node_provide first. */
static struct extent_node *node_new(struct extent_tree *tree)
{
    struct extent_node *node = slab_take(&tree->nodes);

    node->count = 0;
    memset(node->low, 0xFF, sizeof(node->low)); /* NO_LOW */
    memset(node->best, 0, sizeof(node->best));
    return node;
}

/* ---- growing ---- */

static void new_root(struct extent_tree *tree, const struct entry *left, const struct entry *right)
{
    struct extent_node *root = node_new(tree);

    put_in(root, 0, left);
    if (right)
        put_in(root, 1, right);
    tree->root = root;
    tree->height++;
    tree->says = entry_of(root).says;
}

/* Insert an entry on `level` of the path, before the cursor's place there. */
static void insert(struct extent_tree *tree, const struct extent_cursor *path, unsigned level,
                   const struct entry *entry)
{
    static const struct extent_summary nothing;
    struct extent_node *node = path->node[level], *right;
    struct entry left_entry, right_entry;
    unsigned at = path->at[level];

    if (node->count < WIDTH) {
        put_in(node, at, entry);
        tell_change(tree, path, level, nothing, entry->says);
        return;
    }
    right = node_new(tree);
    level_out(node, right, (WIDTH + 1) / 2);
    if (at <= node->count)
        put_in(node, at, entry);
    else
        put_in(right, at - (unsigned)node->count, entry);
    left_entry = entry_of(node);
    right_entry = entry_of(right);
    if (level + 1 == tree->height) {
        new_root(tree, &left_entry, &right_entry);
    } else {
        struct extent_cursor above = *path;

        tell(tree, path, level);
        above.at[level + 1]++;
        insert(tree, &above, level + 1, &right_entry);
    }
}

void extent_node_insert(struct extent_tree *tree, const struct extent_cursor *cursor,
                        uint64_t start, uint64_t size)
{
    struct entry entry = {.low = start, .of.size = size, .says = runs_of(start, size)};

    tree->extents++;
    if (tree->root)
        insert(tree, cursor, 0, &entry);
    else
        new_root(tree, &entry, NULL);
}

/* ---- shrinking ---- */

/* The child at `at` has too few entries: move some from a neighbor, or merge the two. */
static void refill(struct extent_tree *tree, struct extent_node *branch, unsigned at)
{
    unsigned first = at > 0 ? at - 1 : 0;
    struct extent_node *left = branch->of[first].child, *right = branch->of[first + 1].child;
    uint64_t total = left->count + right->count;
    struct entry entry;

    level_out(left, right, total <= MERGE_MAX ? total : total / 2);
    entry = entry_of(left);
    set(branch, first, &entry);
    if (total <= MERGE_MAX) {
        slab_give(&tree->nodes, right);
        take_out(branch, first + 1);
    } else {
        entry = entry_of(right);
        set(branch, first + 1, &entry);
    }
}

/* Called after a leaf lost an entry and has fewer than MIN. */
static void settle(struct extent_tree *tree, const struct extent_cursor *path)
{
    struct extent_node *root = tree->root;
    unsigned level = 0;

    for (; path->node[level]->count < MIN && level + 1 < tree->height; level++)
        refill(tree, path->node[level + 1], path->at[level + 1]);
    if (level + 1 < tree->height || root->count > (level > 0)) {
        tell(tree, path, level);
        return;
    }
    /* The root is now empty, or a branch with one child. */
    tree->says = said_at(root, 0);
    tree->root = level > 0 ? root->of[0].child : NULL;
    tree->height--;
    slab_give(&tree->nodes, root);
}

void extent_node_remove(struct extent_tree *tree, const struct extent_cursor *cursor)
{
    static const struct extent_summary nothing;
    struct extent_node *leaf = cursor->node[0];
    struct extent_summary was = said_at(leaf, cursor->at[0]);

    tree->extents--;
    take_out(leaf, cursor->at[0]);
    if (leaf->count >= MIN)
        tell_change(tree, cursor, 0, was, nothing);
    else
        settle(tree, cursor);
}

void extent_node_resize(struct extent_tree *tree, const struct extent_cursor *cursor,
                        uint64_t start, uint64_t end)
{
    struct extent_node *leaf = cursor->node[0];
    unsigned at = cursor->at[0];
    struct extent_summary was = said_at(leaf, at), now = runs_of(start, end - start);

    say_at(leaf, at, start, &now);
    leaf->of[at].size = end - start;
    tell_change(tree, cursor, 0, was, now);
}

/* ---- validation ---- */

struct totals {
    uint64_t units, extents, nodes;
    uint64_t last_end; /* of the previous range in address order */
};

static bool validate_range(const struct extent_node *leaf, unsigned at, struct totals *totals)
{
    struct extent_summary runs = runs_of(leaf->low[at], leaf->of[at].size);
    struct extent_summary said = said_at(leaf, at);

    if (leaf->of[at].size == 0 || end_of(leaf, at) > LIMIT ||
        (totals->extents > 0 && leaf->low[at] <= totals->last_end))
        return false;
    totals->last_end = end_of(leaf, at);
    totals->units += leaf->of[at].size;
    totals->extents++;
    return memcmp(&runs, &said, sizeof(runs)) == 0;
}

static bool validate_node(struct extent_node *node, unsigned level, bool root, struct totals *totals)
{
    totals->nodes++;
    if (node->count > WIDTH || node->count < (root ? 1u + (level > 0) : MIN))
        return false;
    for (unsigned i = 0; i < node->count; i++) {
        struct entry entry = get(node, i), right;

        if (level == 0 && !validate_range(node, i, totals))
            return false;
        if (level == 0)
            continue;
        if (!validate_node(node->of[i].child, level - 1, false, totals))
            return false;
        right = entry_of(node->of[i].child);
        if (entry.low != right.low || memcmp(&entry.says, &right.says, sizeof(entry.says)) != 0)
            return false;
    }
    for (unsigned i = (unsigned)node->count; i < WIDTH; i++)
        if (node->low[i] != NO_LOW || node->best[0][i] | node->best[1][i] | node->best[2][i])
            return false;
    return true;
}

bool extent_tree_validate(const struct extent_tree *tree)
{
    struct extent_summary says = {0};
    struct totals totals = {0};

    if ((tree->root == NULL) != (tree->height == 0))
        return false;
    if (tree->root) {
        if (!validate_node(tree->root, tree->height - 1, true, &totals))
            return false;
        says = entry_of(tree->root).says;
    }
    return memcmp(&says, &tree->says, sizeof(says)) == 0 && totals.units == tree->free_units &&
           totals.extents == tree->extents && slab_validate(&tree->nodes) &&
           tree->nodes.objects == tree->nodes.spare_objects + totals.nodes;
}
