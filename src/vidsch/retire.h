/* SPDX-License-Identifier: MIT */
/* The end of packets that were with the GPU. Level up to DISPATCH_LEVEL. */
#ifndef DXGK_VIDSCH_RETIRE_H
#define DXGK_VIDSCH_RETIRE_H

#include <stdint.h>

struct vidsch_node;

/* Everything up to the fence is completed. */
void vidsch_retire_through(struct vidsch_node *node, uint32_t fence);
/* What the driver refused ends once all before it has. */
void vidsch_retire_refused(struct vidsch_node *node);
/* Take the oldest packet off the node as failed: signals behind it are dropped. */
void vidsch_retire_failed(struct vidsch_node *node);

#endif
