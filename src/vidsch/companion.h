/* SPDX-License-Identifier: MIT */
/*
 * Paging companion contexts (GPUVA-137 to GPUVA-140): one for each context that updates page
 * tables. Where the GPU writes these, the driver creates it on the node that it named; it has a
 * paging buffer of its own, whose submissions come before all else in its queue. Where the CPU
 * does, it is no more than a queue of the host (update.h).
 */
#ifndef DXGK_VIDSCH_COMPANION_H
#define DXGK_VIDSCH_COMPANION_H

#include "vidsch/paging.h"
#include "vidsch/vidsch.h"

struct vidsch_companion {
    struct paging_slot slot;
    struct paging_memory memory;
};

/* The node on which the companion of a context runs. */
struct vidsch_node *vidsch_companion_node(const struct vidsch_context *owner);
/* NULL: out of memory. */
struct vidsch_companion *vidsch_companion_create(struct vidsch_context *context);
void vidsch_companion_destroy(struct vidsch *vidsch, struct vidsch_companion *companion);
/* For vidmm (vidmm_scheduler.h). */
struct vidmm_paging_buffer *vidsch_companion_buffer(struct vidmm_context *context);
void vidsch_companion_submit(struct vidmm_context *context, void (*done)(void *context),
                             void *argument);

#endif
