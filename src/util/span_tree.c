/* SPDX-License-Identifier: MIT */
#include "util/span_tree.h"

#include <stddef.h>

enum { MAX_DEPTH = 96 };

/* The links from the root to the node that is changed. */
struct path {
    struct span_node **link[MAX_DEPTH];
    unsigned depth;
};

static int height(const struct span_node *node)
{
    return node ? node->height : 0;
}

static void refresh(struct span_node *node)
{
    int below = height(node->child[0]), above = height(node->child[1]);

    node->height = 1 + (below > above ? below : above);
}

/* Lift the child on `side` above its parent; returns it. */
static struct span_node *lift(struct span_node *node, unsigned side)
{
    struct span_node *child = node->child[side];

    node->child[side] = child->child[!side];
    child->child[!side] = node;
    refresh(node);
    refresh(child);
    return child;
}

static void balance(struct span_node **link)
{
    struct span_node *node = *link;
    int lean = height(node->child[1]) - height(node->child[0]);
    unsigned heavy = lean > 0;
    struct span_node *child;

    if (lean >= -1 && lean <= 1) {
        refresh(node);
        return;
    }
    child = node->child[heavy];
    if (height(child->child[!heavy]) > height(child->child[heavy]))
        node->child[heavy] = lift(child, !heavy);
    *link = lift(node, heavy);
}

/* Rebalance upwards; stops where the height of a subtree did not change. */
static void balance_path(struct path *path)
{
    while (path->depth > 0) {
        struct span_node **link = path->link[--path->depth];
        int before = (*link)->height;

        balance(link);
        if ((*link)->height == before)
            return;
    }
}

void span_insert(struct span_tree *tree, struct span_node *node)
{
    struct path path = {.depth = 0};
    struct span_node **link = &tree->root;

    while (*link) {
        path.link[path.depth++] = link;
        link = &(*link)->child[node->first >= (*link)->first];
    }
    node->child[0] = node->child[1] = NULL;
    node->height = 1;
    *link = node;
    tree->count++;
    balance_path(&path);
}

void span_remove(struct span_tree *tree, struct span_node *node)
{
    struct path path = {.depth = 0};
    struct span_node **link = &tree->root;

    while (*link != node) {
        path.link[path.depth++] = link;
        link = &(*link)->child[node->first >= (*link)->first];
    }
    if (!node->child[0] || !node->child[1]) {
        *link = node->child[node->child[0] == NULL];
    } else { /* the next higher span takes its place */
        unsigned place = path.depth;
        struct span_node **lowest = &node->child[1], *heir;

        path.link[path.depth++] = link;
        while ((*lowest)->child[0]) {
            path.link[path.depth++] = lowest;
            lowest = &(*lowest)->child[0];
        }
        heir = *lowest;
        *lowest = heir->child[1];
        heir->child[0] = node->child[0];
        heir->child[1] = node->child[1];
        heir->height = node->height;
        *link = heir;
        if (path.depth > place + 1)
            path.link[place + 1] = &heir->child[1];
    }
    tree->count--;
    balance_path(&path);
}

struct span_node *span_from(const struct span_tree *tree, uint64_t page)
{
    struct span_node *node = tree->root, *found = NULL;

    while (node) {
        if (span_end(node) > page) {
            found = node;
            if (node->first <= page)
                break;
            node = node->child[0];
        } else {
            node = node->child[1];
        }
    }
    return found;
}

struct span_node *span_at(const struct span_tree *tree, uint64_t page)
{
    struct span_node *node = span_from(tree, page);

    return node && node->first <= page ? node : NULL;
}

struct span_node *span_first(const struct span_tree *tree)
{
    return span_from(tree, 0);
}

struct span_node *span_next(const struct span_tree *tree, const struct span_node *node)
{
    return span_from(tree, span_end(node));
}

static bool subtree_valid(const struct span_node *node, uint64_t low, uint64_t high, uint64_t *count)
{
    int lean;

    if (!node)
        return true;
    lean = height(node->child[1]) - height(node->child[0]);
    if (node->pages == 0 || node->first < low || span_end(node) > high || lean < -1 || lean > 1)
        return false;
    if (node->height != 1 + (lean > 0 ? height(node->child[1]) : height(node->child[0])))
        return false;
    ++*count;
    return subtree_valid(node->child[0], low, node->first, count) &&
           subtree_valid(node->child[1], span_end(node), high, count);
}

bool span_validate(const struct span_tree *tree)
{
    uint64_t count = 0;

    return subtree_valid(tree->root, 0, UINT64_MAX, &count) && count == tree->count;
}
