/* SPDX-License-Identifier: MIT */
/*
 * A node: one engine of the GPU, with its fence counter, the packets in flight, and the contexts
 * that are ready for it.
 *
 * Fence ids are 32 bits wide and wrap around. At all times:
 *
 *   last_completed <= reported <= last_submitted < next_fence
 *
 * Packets in flight are in a ring, oldest first; the hardware completes them in that order.
 */
#ifndef DXGK_VIDSCH_NODE_H
#define DXGK_VIDSCH_NODE_H

#include "sim/event.h"
#include "trace/trace.h"
#include "vidsch/hw_record.h"
#include "vidsch/vidsch.h"

/* Ready lists of a node: client priorities -7..7 of each class of processes (priority.h), and
 * paging. */
#define VIDSCH_CLASSES        6u
#define VIDSCH_PRIORITIES     15u
#define VIDSCH_PRIORITY_LIMIT 7
#define VIDSCH_PAGING_LEVEL   (VIDSCH_CLASSES * VIDSCH_PRIORITIES)
#define VIDSCH_LEVELS         (VIDSCH_PAGING_LEVEL + 1)
#define VIDSCH_MAX_NODES      64u
#define VIDSCH_MAX_DEPTH      64u   /* packets in flight on a node */
#define VIDSCH_BARREN         256u  /* PREEMPT-046: preemptions in a row that lead nowhere */
#define VIDSCH_STUCK          4096u /* PREEMPT-047: preemptions of one packet, to be told */

struct packet;
struct vidsch_context;

/* Why the driver was asked to preempt the node. */
enum preempt_reason {
    PREEMPT_NONE,
    PREEMPT_PRIORITY,
    PREEMPT_PAGING,
    PREEMPT_TIMEOUT,
    PREEMPT_DEPENDENT, /* another node is being reset, which affects this one */
};

/* Why an engine, or the adapter, is to be reset. */
enum recover_cause {
    RECOVER_NONE,
    RECOVER_TIMEOUT,
    RECOVER_PAGE_FAULT,
    RECOVER_DRIVER, /* the driver reported a hang */
    RECOVER_FORCED, /* a client asked for it */
    RECOVER_FLIP,   /* no vertical sync has completed a flip */
};

/* The last request for preemption since the last reset. */
struct preempt_past {
    enum preempt_reason reason; /* PREEMPT_NONE: there was none */
    uint32_t id;
    bool answered;
    uint64_t asked_at, answered_at; /* virtual ns */
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
    uint32_t next_preempt_id; /* of preemption requests (PREEMPT-011) */
    uint32_t last_submitted;
    uint32_t last_completed; /* as processed by the DPC */
    uint32_t reported;       /* as notified: ahead of last_completed until the DPC */
    /* in flight, oldest first */
    struct packet **ring;
    uint64_t *submitted_at; /* beside the ring: virtual ns */
    uint32_t ring_mask, depth, head, count;
    uint64_t oldest_since; /* time from which the oldest packet has been the oldest */
    /* waiting */
    uint64_t ready_mask[(VIDSCH_LEVELS + 63) / 64]; /* levels whose list is not empty */
    struct list ready[VIDSCH_LEVELS];
    /* who is served at each level until its quantum is used up (ready.h); NULL: nobody */
    struct vidsch_context *holder[VIDSCH_LEVELS];
    struct list resubmit; /* preempted paging packets: submitted first, with their old fence ids */
    /* The context whose DMA buffer is submitted in part: until its last portion, only this context
     * and paging may submit to the node (PATCH-126). NULL: none. */
    const struct vidsch_context *unbroken;
    /* Whose packet was submitted last, so that the hardware may keep its state (null_context.h);
     * NULL: nobody's. */
    struct vidsch_context *current;
    bool current_paging; /* that packet was a paging buffer */
    uint64_t generation; /* counts resets: interrupt records of an earlier count are stale */
    /* preemption */
    enum preempt_reason preempting; /* not NONE: a request is outstanding */
    bool preempt_answered;          /* the answer was notified; its DPC has not run yet */
    bool preempt_unnotified;        /* nor had it when the deadline passed */
    uint32_t preempt_id;
    uint32_t closed_preempt_id; /* of the last request that a reset closed */
    struct preempt_past preempt_past;
    /* since a packet of the node was retired: preemptions, and resets that aborted no packet */
    uint32_t barren_preemptions, barren_resets;
    uint64_t barren_since; /* virtual time of the first of these preemptions */
    /* recovery */
    bool stopped;     /* the node awaits or undergoes recovery: nothing is submitted */
    bool ignoring;    /* notifications are dropped (TDR-022) */
    bool after_reset; /* no submission since the last reset (TDR-024) */
    enum recover_cause recover;
    bool watch_due;       /* the watch fired: the worker must check the node (timeout.h) */
    bool monitored_noted; /* a record of a signaled monitored fence is in the ring (interrupt.h) */
    bool timeout_noted;   /* a record of a hang, or of a fault without a fence, is in the ring */
    struct node_event watch, deadline, quantum;
    struct vidsch_hw_node hw;
    /* if the model tells: fence ids of what its engine executes (0: nothing) and has been rid of
     * last, and when that was */
    uint32_t executing, executed;
    uint64_t executed_at;
    bool tells_work;
    trace_track track;
    bool span_open; /* the trace shows a packet as running */
};

bool vidsch_node_init(struct vidsch *vidsch, uint32_t ordinal);
/* "3D, node 0"; cut where the text is full. */
void vidsch_node_name(const struct vidsch_node *node, char *text, size_t bytes);
void vidsch_node_cancel_events(struct vidsch_node *node);
void vidsch_node_finish(struct vidsch_node *node);
uint32_t vidsch_node_next_fence(struct vidsch_node *node);
uint32_t vidsch_node_next_preempt_id(struct vidsch_node *node);

/* The packet becomes the youngest in flight. */
void vidsch_node_push(struct vidsch_node *node, struct packet *packet);
/* Remove the oldest packet; or remove all, oldest first, and return their number. */
struct packet *vidsch_node_pop(struct vidsch_node *node);
uint32_t vidsch_node_take_all(struct vidsch_node *node, struct packet **packets);

/* Arm the watch, the timer that finds a packet which runs too long, unless it is armed. */
void vidsch_node_watch(struct vidsch_node *node);
/* Is the oldest packet in flight exempt from timeouts (TDR-006, TDR-007)? */
bool vidsch_node_is_exempt(const struct vidsch_node *node);

/* The packets in flight were preempted without end (PREEMPT-046). */
static inline bool node_is_barren(const struct vidsch_node *node)
{
    return node->barren_preemptions >= VIDSCH_BARREN;
}

/* The highest level of a ready_mask; false: it has none. */
static inline bool level_highest(const uint64_t *mask, uint32_t *level)
{
    for (uint32_t i = (VIDSCH_LEVELS + 63) / 64; i-- > 0;) {
        if (mask[i]) {
            *level = 64 * i + 63u - (uint32_t)__builtin_clzll(mask[i]);
            return true;
        }
    }
    return false;
}

static inline void level_clear(uint64_t *mask, uint32_t level)
{
    mask[level / 64] &= ~(1ull << level % 64);
}

static inline bool level_is_set(const uint64_t *mask, uint32_t level)
{
    return mask[level / 64] & 1ull << level % 64;
}

static inline bool fence_after(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) > 0;
}

static inline struct packet *node_in_flight(const struct vidsch_node *node, uint32_t index)
{
    return node->ring[(node->head + index) & node->ring_mask];
}

/* Virtual time of its last submission, in ns. */
static inline uint64_t node_submitted_at(const struct vidsch_node *node, uint32_t index)
{
    return node->submitted_at[(node->head + index) & node->ring_mask];
}

#endif
