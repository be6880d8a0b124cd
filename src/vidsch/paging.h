/* SPDX-License-Identifier: MIT */
/*
 * Paging buffers: memory that DxgkDdiBuildPagingBuffer fills for vidmm, and the submissions in it;
 * see paging.c.
 *
 * Each paging submission of an adapter has a number, its ticket. Tickets complete in order.
 */
#ifndef DXGK_VIDSCH_PAGING_H
#define DXGK_VIDSCH_PAGING_H

#include "ddi/guarded.h"
#include "sim/wait.h"
#include "util/address.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/residency/aperture_range.h"
#include "vidsch/dma_view.h"
#include "vidsch/hw_record.h"
#include "vidsch/packet.h"

#define VIDSCH_PAGING_BUFFERS 4u
#define VIDSCH_PAGING_SLOTS   16u /* submissions of paging at a time */

/* A paging buffer. Submissions use it one behind the other (PAGE-016); when all of them have ended,
 * it is used from its start again. */
struct paging_memory {
    struct page_number first;
    struct logical_page first_logical;
    struct vidmm_aperture_range aperture; /* PAGE-002 */
    struct gpu_va va;
    uint64_t pages;
    struct dma_view view; /* of the pages */
    struct ddi_guarded private;
    uint32_t used, private_used; /* by submissions so far */
    uint32_t number;             /* among those of the adapter, from 1; 0: of a companion */
    uint32_t users;              /* submissions being filled, queued, or with the driver */
    bool full;                   /* takes no further submission */
};

/* One submission: a part of a paging buffer. */
struct paging_slot {
    struct vidmm_paging_buffer public;
    struct packet packet;
    struct list link; /* free */
    struct paging_memory *memory;
    struct hw_submission hw; /* of a hardware queue */
    uint64_t last_ticket;    /* the last one that completes with it (GPUVA-187) */
    /* Of a companion context, which is no part of the tickets: it has ended. NULL: not of one. */
    void (*done)(void *argument);
    void *argument;
};

struct vidsch_paging {
    struct vidsch_context *queue; /* the hardware queue (hw_paging.h); NULL: the system context's */
    struct paging_memory *memory; /* VIDSCH_PAGING_BUFFERS of them; NULL: the adapter never pages */
    uint32_t turn;                /* index of the one that is being filled */
    struct paging_slot *slots;    /* VIDSCH_PAGING_SLOTS of them */
    struct list free;             /* slots */
    struct sim_waitq wait;        /* woken when a slot becomes free or a ticket completes */
    uint64_t last, completed;     /* tickets */
    struct paging_slot *youngest; /* the last one queued, unless it is done */
    uint64_t epoch;               /* number of adapter resets, which discard paging work */
    bool discard;                 /* between reset and restart: submissions are dropped (TDR-051) */
};

NTSTATUS vidsch_paging_create(struct vidsch *vidsch);
void vidsch_paging_destroy(struct vidsch *vidsch);
/* The memory of one buffer, and giving it back. */
bool vidsch_paging_memory_take(struct vidsch *vidsch, struct paging_memory *memory);
void vidsch_paging_memory_give(struct vidsch *vidsch, struct paging_memory *memory);
/* What vidmm gets of a submission in the rest of that buffer. */
struct vidmm_paging_buffer vidsch_paging_submission_in(const struct vidsch *vidsch,
                                                       struct paging_memory *memory,
                                                       struct paging_slot *slot);
/* Has the driver written beside the buffer (PAGE-008)? Then it is a bug check, and false. */
bool vidsch_paging_check(const struct vidsch *vidsch, struct paging_slot *slot);
/* Get an empty submission; waits until one is free (yields). */
NTSTATUS vidsch_paging_get(struct vidsch *vidsch, struct paging_slot **slot);
void vidsch_paging_put(struct vidsch *vidsch, struct paging_slot *slot);
/* All submissions up to the ticket have ended; this submission has ended. Level up to
 * DISPATCH_LEVEL. */
void vidsch_paging_complete(struct vidsch *vidsch, uint64_t ticket);
void vidsch_paging_retired(struct vidsch *vidsch, struct paging_slot *slot);

#endif
