/* SPDX-License-Identifier: MIT */
/*
 * Disjoint spans of pages, ordered by address: an intrusive AVL tree. Every operation costs O(log
 * spans); nothing here allocates. A span's bounds may be changed in place as long as the spans stay
 * disjoint and in order.
 */
#ifndef DXGK_UTIL_SPAN_TREE_H
#define DXGK_UTIL_SPAN_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct span_node {
    struct span_node *child[2]; /* below, above */
    uint64_t first;             /* page */
    uint64_t pages;
    int height;
};

struct span_tree {
    struct span_node *root;
    uint64_t count;
};

static inline uint64_t span_end(const struct span_node *node)
{
    return node->first + node->pages;
}

/* `node->first` and `pages` must be set, and must overlap no span of the tree. */
void span_insert(struct span_tree *tree, struct span_node *node);
/* The node must be in the tree. */
void span_remove(struct span_tree *tree, struct span_node *node);
/* The span that contains the page, or NULL. */
struct span_node *span_at(const struct span_tree *tree, uint64_t page);
/* The lowest span that ends above the page: the one that contains it, else the next one; NULL:
 * none. */
struct span_node *span_from(const struct span_tree *tree, uint64_t page);
/* The lowest span, or the one after `node`; NULL at the end. */
struct span_node *span_first(const struct span_tree *tree);
struct span_node *span_next(const struct span_tree *tree, const struct span_node *node);
/* Order, balance, disjointness and count; for tests and debug builds. */
bool span_validate(const struct span_tree *tree);

#endif
