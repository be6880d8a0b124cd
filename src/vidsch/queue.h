/* SPDX-License-Identifier: MIT */
/*
 * The software queue of a context. See queue.c for what happens to its head.
 *
 * Level up to DISPATCH_LEVEL.
 */
#ifndef DXGK_VIDSCH_QUEUE_H
#define DXGK_VIDSCH_QUEUE_H

#include "vidsch/vidsch.h"

struct packet;
struct vidsch_node;

/* Contexts whose head may have become something else: a list in place of recursion, since one
 * signal leads to the next. */
struct vidsch_advance {
    struct list contexts;
    bool running;
};

/* Put the packet behind all others of its context, which must not be lost. PASSIVE_LEVEL. */
void vidsch_queue_push(struct packet *packet);
/* Look at the head of the context again: carry out signals, try waits, make it ready. `schedule`
 * only notes that, for the next `run`. */
void vidsch_queue_advance(struct vidsch_context *context);
void vidsch_queue_schedule(struct vidsch_context *context);
void vidsch_queue_run(struct vidsch *vidsch);
/* Give packets that were preempted, oldest first, back to where they came from. */
void vidsch_queue_return(struct vidsch_node *node, struct packet *const *packets, uint32_t count);

#endif
