/* SPDX-License-Identifier: MIT */
/* The watch of a node: a timer that finds a packet which runs too long (TDR-003 to TDR-005). */
#ifndef DXGK_VIDSCH_TIMEOUT_H
#define DXGK_VIDSCH_TIMEOUT_H

struct vidsch_node;

void vidsch_timeout_init(struct vidsch_node *node);
/* Check a node whose watch fired. Worker only (yields). */
void vidsch_timeout_check(struct vidsch_node *node);

#endif
