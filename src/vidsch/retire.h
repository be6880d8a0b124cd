/* SPDX-License-Identifier: MIT */
/* Retiring packets from a node, completed or failed. Level up to DISPATCH_LEVEL. */
#ifndef DXGK_VIDSCH_RETIRE_H
#define DXGK_VIDSCH_RETIRE_H

#include <stdint.h>

struct vidsch_node;

/* Retire all packets up to the fence as completed. */
void vidsch_retire_through(struct vidsch_node *node, uint32_t fence);
/* Retire the oldest packets as failed while they are ones that the driver refused. */
void vidsch_retire_refused(struct vidsch_node *node);
/* Retire the oldest packet as failed: the signals behind it are dropped. */
void vidsch_retire_failed(struct vidsch_node *node);

#endif
