/* SPDX-License-Identifier: MIT */
/*
 * History buffers (WDDM 1.3): allocations in which the GPU has written when it began and ended a
 * DMA buffer, and what else the commands asked for. The allocation list of a DMA buffer names them;
 * they are read when it has run.
 *
 *     retired, in the DPC -> copy of the allocation -> worker: time stamps as they are, or those
 *                                                      of DxgkDdiFormatHistoryBuffer -> trace
 */
#ifndef DXGK_VIDSCH_HISTORY_H
#define DXGK_VIDSCH_HISTORY_H

#include <stdbool.h>

#include "util/list.h"

struct packet;
struct vidsch;
struct vidsch_context;

struct vidsch_histories {
    struct list waiting;               /* copies for the worker, oldest first */
    const struct vidsch_context *busy; /* whose copy the worker has; NULL: none */
};

/* The GPU has run the packet, whose allocations are still where they were. A copy for which there
 * is no memory is left out. Up to DISPATCH_LEVEL. */
void vidsch_history_note(const struct packet *packet);
/* On the worker: log the oldest copy; true: it did (yields). */
bool vidsch_history_log(struct vidsch *vidsch);
/* The context ends: nothing of it is logged any more (yields). */
void vidsch_history_forget(struct vidsch_context *context);

#endif
