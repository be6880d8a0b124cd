/* SPDX-License-Identifier: MIT */
/* Packets of hardware queues in flight: they end when the queue's progress fence has reached their
 * ids (SUBMIT-117), or fail. Level up to DISPATCH_LEVEL. */
#ifndef DXGK_VIDSCH_HW_RETIRE_H
#define DXGK_VIDSCH_HW_RETIRE_H

#include "vidsch/hw_record.h"

struct vidsch_node;

bool vidsch_hw_in_flight(const struct vidsch_hw_context *hw);
/* Retire what the fences say is done: of a context, or of all of a node. */
void vidsch_hw_retire_context(struct vidsch_hw_context *hw);
void vidsch_hw_retire_node(struct vidsch_node *node);
/* Report a progress fence that its queue cannot have (SUBMIT-117, PREEMPT-044). */
void vidsch_hw_check_progress(const struct vidsch_hw_context *hw);
/* All in flight end as failed. */
void vidsch_hw_fail_context(struct vidsch_hw_context *hw);
void vidsch_hw_fail_node(struct vidsch_node *node);

#endif
