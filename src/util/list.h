/* SPDX-License-Identifier: MIT */
/* Intrusive doubly linked list. All operations are O(1). A node that is on no list points to
 * itself. */
#ifndef DXGK_UTIL_LIST_H
#define DXGK_UTIL_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next;
    struct list *prev;
};

/* clang-format off */
#define CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
/* clang-format on */

/* Loops over a list; the second form allows removal of the current node. */
#define LIST_FOR(node, head) \
    for (struct list *node = (head)->next; node != (head); node = node->next)
#define LIST_FOR_SAFE(node, following, head)                                        \
    for (struct list *node = (head)->next, *following = node->next; node != (head); \
         node = following, following = node->next)

static inline void list_init(struct list *node)
{
    node->next = node->prev = node;
}

static inline bool list_empty(const struct list *head)
{
    return head->next == head;
}

static inline void list_insert_between(struct list *node, struct list *prev, struct list *next)
{
    node->prev = prev;
    node->next = next;
    prev->next = node;
    next->prev = node;
}

static inline void list_push_back(struct list *head, struct list *node)
{
    list_insert_between(node, head->prev, head);
}

static inline void list_push_front(struct list *head, struct list *node)
{
    list_insert_between(node, head, head->next);
}

/* Harmless for a node that is on no list. */
static inline void list_remove(struct list *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

static inline struct list *list_pop_front(struct list *head)
{
    struct list *node = head->next;

    if (node == head)
        return NULL;
    list_remove(node);
    return node;
}

/* Move everything from one list to another one, which must be empty. */
static inline void list_take_all(struct list *from, struct list *to)
{
    list_init(to);
    if (list_empty(from))
        return;
    *to = *from;
    to->next->prev = to->prev->next = to;
    list_init(from);
}

#endif
