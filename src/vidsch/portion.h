/* SPDX-License-Identifier: MIT */
/*
 * Portions: how much of a DMA buffer of a WDDM 1.x driver goes to the GPU at once; see portion.c.
 *
 * No function here yields. Level PASSIVE_LEVEL for the decisions, which the worker makes (create,
 * ready, taken, is_kept_for); up to DISPATCH_LEVEL for the rest.
 */
#ifndef DXGK_VIDSCH_PORTION_H
#define DXGK_VIDSCH_PORTION_H

#include "vidmm/residency/portion.h"
#include "vidsch/vidsch.h"

struct packet;

struct dma_portion {
    struct vidmm_portion mm;
    bool checked; /* for bindings that leak (PATCH-134) */
};

/* The keeper: the one context of the adapter whose memory stays in place between its portions. */
struct vidsch_keeper {
    const struct vidsch_context *context; /* NULL: none at present */
    uint32_t portions;                    /* of it that keep memory */
    struct list waiting;                  /* contexts that go on when there is no keeper */
};

/* A fresh packet becomes the first portion of its buffer, or all of it. False: out of memory. */
bool vidsch_portion_create(struct packet *packet);
/* May the packet at the head of its queue go? False: not yet, or its device is lost. */
bool vidsch_portion_ready(struct packet *packet);
/* It leaves the queue for the driver, and comes back because the node was closed, or from the node:
 * what else may go there meanwhile (PATCH-126). */
void vidsch_portion_taken(const struct packet *packet);
void vidsch_portion_put_back(const struct packet *packet);
/* It is with the driver from now on. */
void vidsch_portion_in_flight(const struct packet *packet);
/* Must the packet at the head of the keeper's queue run before the memory may move? */
bool vidsch_portion_is_kept_for(const struct packet *packet);
void vidsch_portion_free(struct packet *packet);

#endif
