/* SPDX-License-Identifier: MIT */
/*
 * An ordered set of embedded nodes: smallest (major, minor) first. Insert and remove cost O(log
 * nodes) expected; the shape is a treap whose weights are a hash of the key, so that the same
 * history gives the same tree on every host.
 */
#ifndef DXGK_UTIL_ORDER_H
#define DXGK_UTIL_ORDER_H

#include <stdbool.h>
#include <stdint.h>

struct order_node {
    struct order_node *parent, *left, *right;
    uint64_t major, minor;
    uint64_t weight;
};

struct order_tree {
    struct order_node *root;
    uint64_t count;
};

/* Keys need not be unique; equal keys keep their order of insertion. The node must be on no
 * tree. */
void order_insert(struct order_tree *tree, struct order_node *node, uint64_t major, uint64_t minor);
void order_remove(struct order_tree *tree, struct order_node *node);
struct order_node *order_first(const struct order_tree *tree);
struct order_node *order_next(const struct order_node *node);
bool order_validate(const struct order_tree *tree);

#endif
