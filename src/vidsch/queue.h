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

/* Contexts whose queue head has to be looked at again. A list in place of recursion: one signal can
 * satisfy waits with further signals behind them. */
struct vidsch_advance {
    struct list contexts;
    bool running;
};

/* Append the packet to the queue of its context, which must not be lost. PASSIVE_LEVEL. */
void vidsch_queue_push(struct packet *packet);
/* The same before all that the context has queued, while it is idle or blocked. */
void vidsch_queue_push_first(struct packet *packet);
/* Process the head of the context's queue: carry out signals, try waits, make the context ready.
 * `schedule` only notes the context for the next `run`. */
void vidsch_queue_advance(struct vidsch_context *context);
void vidsch_queue_schedule(struct vidsch_context *context);
void vidsch_queue_run(struct vidsch *vidsch);
/* Return preempted packets, passed oldest first, to where they came from. */
void vidsch_queue_return(struct vidsch_node *node, struct packet *const *packets, uint32_t count);

#endif
