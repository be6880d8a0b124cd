/* SPDX-License-Identifier: MIT */
/* Reset of the whole adapter; see adapter_reset.c. */
#ifndef DXGK_VIDSCH_ADAPTER_RESET_H
#define DXGK_VIDSCH_ADAPTER_RESET_H

#include "vidsch/node.h"

/* Recovery thread only (yields). */
void vidsch_adapter_reset(struct vidsch *vidsch, enum recover_cause cause);
/* A node hung while memory was restored after a reset (TDR-086): stop the machine. Worker only. */
void vidsch_adapter_reset_failed(struct vidsch *vidsch);

#endif
