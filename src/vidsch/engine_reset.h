/* SPDX-License-Identifier: MIT */
/* Reset of one engine; see engine_reset.c. */
#ifndef DXGK_VIDSCH_ENGINE_RESET_H
#define DXGK_VIDSCH_ENGINE_RESET_H

struct vidsch_node;

/* By the recovery thread, for a node that it was asked to reset (yields). */
void vidsch_engine_reset(struct vidsch_node *node);

#endif
