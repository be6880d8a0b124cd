/* SPDX-License-Identifier: MIT */
/*
 * Packets: the entries of a context's queue. Each packet of GPU work goes to the driver as one
 * submission with a fence id; waits and signals are carried out by the scheduler itself.
 */
#ifndef DXGK_VIDSCH_PACKET_H
#define DXGK_VIDSCH_PACKET_H

#include "vidsch/vidsch.h"

enum packet_kind {
    PACKET_RENDER,  /* portion of a DMA buffer: Patch, SubmitCommand */
    PACKET_VIRTUAL, /* command buffer at a GPU virtual address: SubmitCommandVirtual */
    PACKET_HW,      /* command buffer of a hardware queue: SubmitCommandToHwQueue */
    PACKET_LEAVE,   /* no commands: the GPU leaves the context (null_context.h) */
    PACKET_PAGING,  /* paging buffer: by either of these ways */
    PACKET_WAIT,
    PACKET_SIGNAL,
    PACKET_UPDATE, /* a batch of page-table updates, in the queue of a companion (update.h) */
};

struct dma_buffer;
struct dma_portion;
struct paging_slot;
struct sync_op;
struct vidsch_update;

struct packet {
    struct list link;        /* in context->queue, `after` of another packet, or node->resubmit */
    struct list after;       /* signals queued behind this packet: carried out when it is retired */
    struct list device_link; /* in device->outstanding, in order of ticket (GPU work only) */
    struct vidsch_context *context;
    struct dma_buffer *buffer; /* render: all of it; virtual: its private block */
    struct paging_slot *paging;
    struct sync_op *op; /* wait, signal */
    uint64_t ticket;    /* number of this piece of work in its device, from 1 */
    uint32_t flow;      /* one number per packet of the adapter, for the trace and the journal */
    uint32_t sequence;  /* its number in its queue, if events are told (vidsch/dxgkrnl_events.h) */
    struct dma_portion *portion; /* render, WDDM 1.x */
    union {
        struct { /* virtual: address and bytes of the commands */
            uint64_t va;
            uint32_t bytes;
            uint32_t umd_private_bytes;
        };
        struct { /* render: the part of the buffer that it covers (PATCH-146, PATCH-150) */
            uint32_t start, end;
            uint32_t first_patch, patch_count;
        };
        struct { /* update */
            struct vidsch_update *update;
            uint32_t operations;
        };
        struct hw_submission *hw; /* of a hardware queue */
    };
    uint32_t fence; /* SubmissionFenceId of the current submission; 0: none yet */
    uint8_t kind;
    bool resubmission : 1; /* was on the node before */
    bool null_rendering : 1;
    bool present : 1;       /* render: DxgkDdiPresent wrote it */
    bool awaits_screen : 1; /* render, virtual: screen_hold.h */
    bool leaves_paging : 1; /* PACKET_LEAVE: the context was running a paging buffer */
    bool refused : 1;       /* SubmitCommandVirtual said STATUS_INVALID_PARAMETER (SUBMIT-107) */
    bool told_ended : 1;    /* the event of its end was told */
    uint8_t stage : 3;      /* how far it is, as was shown last (life.c) */
    uint8_t ending : 3;     /* enum journal_end: how it is going to end */
    uint8_t returns;        /* how often it came back from its node, 255: at least; for the trace */
};
_Static_assert(sizeof(struct packet) <= 128, "two cache lines");

/* Submitted before everything else of its node, and again if it was preempted. */
static inline bool packet_comes_first(const struct packet *packet)
{
    return packet->kind == PACKET_LEAVE || packet->kind == PACKET_PAGING;
}

/* May a context be blocked that has it at the head of its queue? */
static inline bool packet_blocks(const struct packet *packet)
{
    return packet->kind == PACKET_WAIT || packet->kind == PACKET_UPDATE;
}

static inline bool packet_is_work(const struct packet *packet)
{
    return packet->kind <= PACKET_PAGING;
}

/* NULL: out of memory. */
struct packet *vidsch_packet_create(struct vidsch_context *context, enum packet_kind kind);
/* Give a packet of work its number in its device and context, and count it. */
void vidsch_packet_number(struct packet *packet);
/* Free a packet that was never queued. */
void vidsch_packet_free(struct vidsch *vidsch, struct packet *packet);
/* End a queued packet of any kind: update counts, wake waiters, free it. Level up to
 * DISPATCH_LEVEL. */
void vidsch_packet_finish(struct packet *packet);
/* The packet failed: end the signals behind it without carrying them out. */
void vidsch_packet_drop_signals(struct packet *packet);

#endif
