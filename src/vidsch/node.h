/* SPDX-License-Identifier: MIT */
/*
 * A node: one engine of the GPU, with its fence counter, the packets in flight, and the contexts
 * that are ready for it.
 *
 * Fence ids are 32 bits wide and wrap around. They are in this order, always:
 *
 *   last_completed <= reported <= last_submitted < next_fence
 *
 * Packets in flight are a ring, oldest first; the hardware completes them in that order.
 */
#ifndef DXGK_VIDSCH_NODE_H
#define DXGK_VIDSCH_NODE_H

#include "trace/trace.h"
#include "sim/event.h"
#include "vidsch/vidsch.h"

#define VIDSCH_LEVELS         16u /* ready lists of a node: client priorities -7..7, and paging */
#define VIDSCH_PAGING_LEVEL   15u
#define VIDSCH_PRIORITY_LIMIT 7
#define VIDSCH_MAX_NODES      64u
#define VIDSCH_MAX_DEPTH      64u /* packets in flight on a node */

struct packet;

/* Why the node was asked to give back what it has. */
enum preempt_reason {
    PREEMPT_NONE,
    PREEMPT_PRIORITY,
    PREEMPT_PAGING,
    PREEMPT_TIMEOUT,
    PREEMPT_DEPENDENT, /* a node that depends on it is being reset */
};

/* Why an engine, or the adapter, is to be reset. */
enum recover_cause {
    RECOVER_NONE,
    RECOVER_TIMEOUT,
    RECOVER_PAGE_FAULT,
    RECOVER_DRIVER, /* the driver reported a hang */
    RECOVER_FORCED, /* a client asked for it */
};

struct node_event {
    struct sim_event event;
    struct vidsch_node *node;
};

struct vidsch_node {
    struct vidsch *vidsch;
    uint32_t ordinal;
    struct vidsch_node_info info;
    /* fence ids */
    uint32_t next_fence;
    uint32_t last_submitted;
    uint32_t last_completed; /* as processed */
    uint32_t reported;       /* as notified: runs ahead of last_completed until the DPC */
    /* in flight, oldest first */
    struct packet **ring;
    uint32_t ring_mask, depth, head, count;
    uint64_t oldest_since; /* when the oldest became the oldest */
    /* waiting */
    uint32_t ready_mask; /* levels whose list is not empty */
    struct list ready[VIDSCH_LEVELS];
    struct list resubmit; /* paging packets to be given again with their ids */
    /* While a buffer of this context is between two of its portions, nothing but paging may go to
     * the node besides them (PATCH-126). NULL: no such context. */
    const struct vidsch_context *unbroken;
    uint64_t generation; /* of engine resets; older interrupt records are stale */
    /* preemption */
    enum preempt_reason preempting; /* a request is outstanding */
    bool preempt_answered;          /* at interrupt level; the DPC is to come */
    uint32_t preempt_id;
    uint32_t closed_preempt_id; /* of the last request that a reset closed */
    /* recovery */
    bool stopped;     /* the recovery thread has the node: nothing is submitted */
    bool ignoring;    /* notifications are dropped (TDR-022) */
    bool after_reset; /* no submission since the last reset (TDR-024) */
    enum recover_cause recover;
    bool watch_due;       /* the watch fired: the worker has to look (timeout.h) */
    bool monitored_noted; /* a record of a signaled monitored fence is in the ring (interrupt.h) */
    bool timeout_noted;   /* and one of a hang or fault without a fence */
    struct node_event watch, deadline, quantum;
    trace_track track;
    bool span_open; /* the trace shows a packet as running */
};

bool vidsch_node_init(struct vidsch *vidsch, uint32_t ordinal);
void vidsch_node_cancel_events(struct vidsch_node *node);
void vidsch_node_finish(struct vidsch_node *node);
uint32_t vidsch_node_next_fence(struct vidsch_node *node);

/* The packet becomes the youngest in flight. */
void vidsch_node_push(struct vidsch_node *node, struct packet *packet);
/* Take off the oldest one; take off all, oldest first, and return how many they were. */
struct packet *vidsch_node_pop(struct vidsch_node *node);
uint32_t vidsch_node_take_all(struct vidsch_node *node, struct packet **packets);

/* Set the timer that finds a packet which runs too long, unless it is set. */
void vidsch_node_watch(struct vidsch_node *node);
/* Whether the oldest packet in flight is exempt from timeouts (TDR-006, TDR-007). */
bool vidsch_node_is_exempt(const struct vidsch_node *node);

static inline bool fence_after(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

static inline struct packet *node_in_flight(const struct vidsch_node *node, uint32_t index)
{
    return node->ring[(node->head + index) & node->ring_mask];
}

#endif
