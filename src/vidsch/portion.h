/* SPDX-License-Identifier: MIT */
/*
 * Portions: the parts in which a DMA buffer of a WDDM 1.x driver is submitted, cut at split points
 * (SplitOffset). Each portion is a packet; usually one is the whole buffer. See portion.c.
 *
 * No function here yields. Level PASSIVE_LEVEL for those that decide (create, ready, taken,
 * is_kept_for); up to DISPATCH_LEVEL for the rest.
 */
#ifndef DXGK_VIDSCH_PORTION_H
#define DXGK_VIDSCH_PORTION_H

#include "vidmm/residency/portion.h"
#include "vidsch/vidsch.h"

struct packet;

struct dma_portion {
    struct vidmm_portion mm;
    bool checked; /* bindings that leak into it were looked for (PATCH-134) */
};

/* The keeper: the one context of the adapter whose memory stays in place between its portions. */
struct vidsch_keeper {
    const struct vidsch_context *context; /* NULL: none at present */
    uint32_t portions;                    /* its portions that keep memory in place */
    struct list waiting;                  /* contexts parked until there is no keeper */
};

/* Make a new packet a portion, from its start to the end of its buffer. False: out of memory. */
bool vidsch_portion_create(struct packet *packet);
/* May the packet, which heads its queue, be submitted now? False: not yet, or its device is
 * lost. */
bool vidsch_portion_ready(struct packet *packet);
/* The packet left its queue for the driver; or it returns there, because the node was closed or
 * preempted. Both decide who else may use the node meanwhile (PATCH-126). */
void vidsch_portion_taken(const struct packet *packet);
void vidsch_portion_put_back(const struct packet *packet);
/* The packet is about to be submitted. */
void vidsch_portion_in_flight(const struct packet *packet);
/* Must the packet at the head of the keeper's queue run before the memory may move? */
bool vidsch_portion_is_kept_for(const struct packet *packet);
void vidsch_portion_free(struct packet *packet);

#endif
