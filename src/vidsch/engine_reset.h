/* SPDX-License-Identifier: MIT */
/* Reset of one engine; see engine_reset.c. */
#ifndef DXGK_VIDSCH_ENGINE_RESET_H
#define DXGK_VIDSCH_ENGINE_RESET_H

struct vidsch_node;

/* Recovery thread only, for a node whose reset was asked for (yields). */
void vidsch_engine_reset(struct vidsch_node *node);

#endif
