/* SPDX-License-Identifier: MIT */
/* The watch over a node: it finds the packet that runs too long (TDR-003 to TDR-005). */
#ifndef DXGK_VIDSCH_TIMEOUT_H
#define DXGK_VIDSCH_TIMEOUT_H

struct vidsch_node;

void vidsch_timeout_init(struct vidsch_node *node);
/* The watch fired. By the worker (yields). */
void vidsch_timeout_check(struct vidsch_node *node);

#endif
