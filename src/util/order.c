/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "util/order.h"
#include "util/rng.h"

static bool key_less(const struct order_node *a, uint64_t major, uint64_t minor)
{
    return a->major != major ? a->major < major : a->minor < minor;
}

/* Where the pointer to `node` is stored. */
static struct order_node **slot_of(struct order_tree *tree, struct order_node *node)
{
    if (!node->parent)
        return &tree->root;
    return node->parent->left == node ? &node->parent->left : &node->parent->right;
}

/* Lift `node` above its parent. */
static void rotate_up(struct order_tree *tree, struct order_node *node)
{
    struct order_node *parent = node->parent;
    struct order_node *inner;

    *slot_of(tree, parent) = node;
    node->parent = parent->parent;
    if (parent->left == node) {
        inner = node->right;
        parent->left = inner;
        node->right = parent;
    } else {
        inner = node->left;
        parent->right = inner;
        node->left = parent;
    }
    if (inner)
        inner->parent = parent;
    parent->parent = node;
}

void order_insert(struct order_tree *tree, struct order_node *node, uint64_t major, uint64_t minor)
{
    struct rng rng = {.state = major * 31 + minor};
    struct order_node *parent = NULL;
    struct order_node **slot = &tree->root;

    node->major = major;
    node->minor = minor;
    node->weight = rng_next(&rng);
    node->left = node->right = NULL;
    while (*slot) {
        parent = *slot;
        /* Equal keys go right, after those already there. */
        slot = key_less(parent, major, minor) || (parent->major == major && parent->minor == minor)
                   ? &parent->right
                   : &parent->left;
    }
    node->parent = parent;
    *slot = node;
    while (node->parent && node->parent->weight < node->weight)
        rotate_up(tree, node);
    tree->count++;
}

void order_remove(struct order_tree *tree, struct order_node *node)
{
    while (node->left && node->right)
        rotate_up(tree, node->left->weight > node->right->weight ? node->left : node->right);

    struct order_node *child = node->left ? node->left : node->right;

    *slot_of(tree, node) = child;
    if (child)
        child->parent = node->parent;
    node->parent = node->left = node->right = NULL;
    tree->count--;
}

struct order_node *order_first(const struct order_tree *tree)
{
    struct order_node *node = tree->root;

    while (node && node->left)
        node = node->left;
    return node;
}

struct order_node *order_next(const struct order_node *node)
{
    struct order_node *next;

    if (node->right) {
        next = node->right;
        while (next->left)
            next = next->left;
        return next;
    }
    while (node->parent && node->parent->right == node)
        node = node->parent;
    return node->parent;
}

bool order_validate(const struct order_tree *tree)
{
    uint64_t count = 0;

    if (tree->root && tree->root->parent)
        return false;
    for (struct order_node *node = order_first(tree), *next; node; node = next) {
        next = order_next(node);
        if ((node->left && node->left->parent != node) ||
            (node->right && node->right->parent != node))
            return false;
        if (node->parent && node->parent->weight < node->weight)
            return false;
        if (next && key_less(next, node->major, node->minor))
            return false;
        count++;
    }
    return count == tree->count;
}
