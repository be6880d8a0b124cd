/* SPDX-License-Identifier: MIT */
/*
 * Scheduling logs: on a hardware-scheduled node the GPU chooses which context runs, and writes what
 * it did into memory of the host (SUBMIT-086, SUBMIT-087, SUBMIT-121). The host reads it when the
 * driver says so, and shows it in the trace, on the track of each context.
 *
 * A node has two logs, both mapped in the paging process from the start. The first is in use until
 * entries were lost; then the driver gets the second, which has more room.
 */
#ifndef DXGK_VIDSCH_HW_LOG_H
#define DXGK_VIDSCH_HW_LOG_H

#include "vidsch/hw_record.h"

struct vidsch_node;

/* The logs of all nodes that can have one, before any client comes; and their end, when no context
 * is left. PASSIVE_LEVEL. */
void vidsch_hw_logs_begin(struct vidsch *vidsch);
void vidsch_hw_logs_end(struct vidsch *vidsch);
/* Read what is new. Nothing without a log. Level up to DISPATCH_LEVEL. */
void vidsch_hw_log_read(struct vidsch_node *node);
/* On the worker: take the second log in use if entries of the first were lost (yields). */
void vidsch_hw_log_swap(struct vidsch_node *node);

#endif
