/* SPDX-License-Identifier: MIT */
/* Preemption of a node: the request, its answer, and when it is worth it. */
#ifndef DXGK_VIDSCH_PREEMPT_H
#define DXGK_VIDSCH_PREEMPT_H

#include "vidsch/node.h"

void vidsch_preempt_init(struct vidsch_node *node);
/* Ask the node to give back what it has. By the worker, or by the recovery thread (yields). */
void vidsch_preempt_request(struct vidsch_node *node, enum preempt_reason reason);
/* The worker found nothing that it may submit: ask the node if something better waits than what
 * runs (yields). */
void vidsch_preempt_consider(struct vidsch_node *node);
/* The driver answered. Level up to DISPATCH_LEVEL. */
void vidsch_preempt_answered(struct vidsch_node *node, uint32_t last_completed);
/* A reset: the node is as if nobody had asked; a late answer to the request is dropped (TDR-044).
 */
void vidsch_preempt_close(struct vidsch_node *node);

#endif
