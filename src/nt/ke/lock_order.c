/* SPDX-License-Identifier: MIT */
/*
 * Deadlock detection, an option (NT-059): a graph of locks, with an edge from each lock to those
 * that were acquired while it was held. An acquisition that closes a cycle is a lock order
 * inversion, whether or not threads ever deadlock in it.
 *
 * Locks are known by address; those in freed pool are forgotten with it. Each inversion is reported
 * once, since the edge that would close the cycle is not added.
 */
#include <stdio.h>
#include <string.h>

#include "nt/ke/lock_order.h"
#include "nt/base/caller.h"
#include "nt/base/current.h"
#include "nt/base/faults.h"
#include "nt/base/kthread.h"
#include "nt/base/nt_report.h"
#include "nt/base/state.h"
#include "nt/ke/processor.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"

struct edge {
    struct list link;
    struct node *to;
    char place[96], thread[32]; /* where, and in which thread, it was first seen */
};

struct node {
    struct list link;  /* in the list of all nodes */
    struct list edges; /* struct edge */
    uintptr_t lock;
    uint64_t visit; /* number of the last search that visited it */
};

struct nt_lock_order {
    struct hash_map nodes;
    struct list all;
    uint64_t searches;
};

static bool init(struct nt *nt)
{
    if (!nt->config.deadlock_detection)
        return true;
    nt->lock_order = util_zalloc(1, sizeof(*nt->lock_order));
    if (!nt->lock_order)
        return false;
    hash_init(&nt->lock_order->nodes);
    list_init(&nt->lock_order->all);
    return true;
}

static void free_edges(struct node *node)
{
    struct list *edge;

    while ((edge = list_pop_front(&node->edges)) != NULL)
        util_free(CONTAINER(edge, struct edge, link));
}

static void finish(struct nt *nt)
{
    struct list *node;

    if (!nt->lock_order)
        return;
    while ((node = list_pop_front(&nt->lock_order->all)) != NULL) {
        free_edges(CONTAINER(node, struct node, link));
        util_free(CONTAINER(node, struct node, link));
    }
    hash_finish(&nt->lock_order->nodes);
    util_free(nt->lock_order);
    nt->lock_order = NULL;
}

const struct nt_component nt_lock_order_component = {.init = init, .finish = finish};

static struct node *get_node(struct nt_lock_order *order, const volatile void *lock)
{
    struct node *node = hash_get(&order->nodes, (uintptr_t)lock);

    if (node)
        return node;
    node = util_zalloc(1, sizeof(*node));
    if (!node)
        return NULL;
    node->lock = (uintptr_t)lock;
    list_init(&node->edges);
    if (!hash_put(&order->nodes, node->lock, node)) {
        util_free(node);
        return NULL;
    }
    list_push_back(&order->all, &node->link);
    return node;
}

/* Whether there is a path. *first gets its first edge. */
static bool leads_to(struct node *from, const struct node *to, uint64_t search,
                     const struct edge **first)
{
    const struct edge *onward;

    if (from == to)
        return true;
    if (from->visit == search)
        return false;
    from->visit = search;
    LIST_FOR(link, &from->edges) {
        const struct edge *edge = CONTAINER(link, struct edge, link);

        if (leads_to(edge->to, to, search, &onward)) {
            *first = edge;
            return true;
        }
    }
    return false;
}

static bool has_edge(const struct node *from, const struct node *to)
{
    LIST_FOR(edge, &from->edges) {
        if (CONTAINER(edge, struct edge, link)->to == to)
            return true;
    }
    return false;
}

/* `lock` is acquired while `held` is. */
static void add_order(struct nt_lock_order *order, const volatile void *held,
                      const volatile void *lock)
{
    struct node *from = get_node(order, held), *to = get_node(order, lock);
    const struct edge *other = NULL;
    char place[96] = "the host";
    struct edge *edge;

    if (!from || !to || from == to || has_edge(from, to))
        return;
    nt_caller_place(place, sizeof(place));
    if (leads_to(to, from, ++order->searches, &other)) {
        NT_VERIFIER("NT-059", 0x1001, (uintptr_t)lock, (uintptr_t)held, 0,
                    "lock order: one is taken at %.60s while another is held; the other way round at "
                    "%.60s (thread %.20s)",
                    place, other->place, other->thread);
        return;
    }
    edge = util_zalloc(1, sizeof(*edge));
    if (!edge)
        return;
    edge->to = to;
    memcpy(edge->place, place, sizeof(place));
    snprintf(edge->thread, sizeof(edge->thread), "%s",
             sim_current->thread ? sim_thread_name(sim_current->thread) : "idle");
    list_push_back(&from->edges, &edge->link);
}

void nt_lock_order_check(const volatile void *lock, struct _KTHREAD *sleeper)
{
    const struct nt *nt = nt_state();
    const struct nt_processor *processor = nt_processor();
    struct _KTHREAD *thread = sleeper ? sleeper : nt_thread();
    struct nt_faults faults;

    if (!nt->lock_order)
        return;
    faults = nt_faults_off();
    for (uint32_t i = 0; i < thread->held_count; i++)
        add_order(nt->lock_order, thread->held[i], lock);
    for (uint32_t i = 0; !sleeper && i < processor->held_count; i++)
        add_order(nt->lock_order, processor->held[i].lock, lock);
    nt_faults_on(faults);
}

void nt_lock_order_acquire(const volatile void *lock, struct _KTHREAD *sleeper)
{
    struct _KTHREAD *thread = sleeper;

    if (!nt_state()->lock_order)
        return;
    nt_lock_order_check(lock, sleeper);
    if (thread && thread->held_count < NT_HELD_LOCKS)
        thread->held[thread->held_count++] = lock;
}

void nt_lock_order_release(const volatile void *lock, struct _KTHREAD *sleeper)
{
    for (uint32_t i = sleeper->held_count; i-- > 0;) {
        if (sleeper->held[i] != lock)
            continue;
        for (sleeper->held_count--; i < sleeper->held_count; i++)
            sleeper->held[i] = sleeper->held[i + 1];
        return;
    }
}

static void forget_node(struct nt_lock_order *order, struct node *gone)
{
    LIST_FOR(other, &order->all) {
        LIST_FOR_SAFE(edge, next, &CONTAINER(other, struct node, link)->edges) {
            if (CONTAINER(edge, struct edge, link)->to != gone)
                continue;
            list_remove(edge);
            util_free(CONTAINER(edge, struct edge, link));
        }
    }
    hash_remove(&order->nodes, gone->lock);
    list_remove(&gone->link);
    free_edges(gone);
    util_free(gone);
}

void nt_lock_order_forget(const void *address, uint64_t bytes)
{
    struct nt_lock_order *order = nt_state()->lock_order;

    if (!order)
        return;
    LIST_FOR_SAFE(node, next, &order->all) {
        struct node *lock = CONTAINER(node, struct node, link);

        if (lock->lock - (uintptr_t)address < bytes)
            forget_node(order, lock);
    }
}
