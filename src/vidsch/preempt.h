/* SPDX-License-Identifier: MIT */
/* Preemption of a node: the request, its answer, and the decision to ask. */
#ifndef DXGK_VIDSCH_PREEMPT_H
#define DXGK_VIDSCH_PREEMPT_H

#include "vidsch/node.h"

void vidsch_preempt_init(struct vidsch_node *node);
/* Ask the driver to preempt the node. Worker or recovery thread (yields). */
void vidsch_preempt_request(struct vidsch_node *node, enum preempt_reason reason);
/* Is preemption to be asked for before a packet of this level is submitted (PREEMPT-039)? */
bool vidsch_preempt_comes_first(const struct vidsch_node *node, uint32_t level);
/* The worker has nothing that it may submit to the node: ask for preemption if more important work
 * waits than what runs (yields). */
void vidsch_preempt_consider(struct vidsch_node *node);
/* The driver answered the request. Level up to DISPATCH_LEVEL. */
void vidsch_preempt_answered(struct vidsch_node *node, uint32_t last_completed);
/* The packets that were to be preempted have all been completed: a request that is still to be
 * answered is told (PREEMPT-048). */
void vidsch_preempt_unanswered(struct vidsch_node *node);
/* A reset closes the request as if it had not been made; a late answer is dropped (TDR-044). */
void vidsch_preempt_close(struct vidsch_node *node);

#endif
