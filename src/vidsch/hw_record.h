/* SPDX-License-Identifier: MIT */
/*
 * What hardware scheduling adds to nodes, contexts and queues.
 *
 *   node, hw.on       ContextSchedulingSupported, the feature granted: the GPU chooses what runs
 *    +- context, hw   owns hardware queues; has no software queue of its own
 *        +- queue, hw_queue    a struct vidsch_context with a software queue: waits, signals, and
 *                              packets PACKET_HW, which the worker gives to the driver
 *
 * Packets of a queue are in flight until its progress fence, memory that the GPU writes, has
 * reached their ids.
 */
#ifndef DXGK_VIDSCH_HW_RECORD_H
#define DXGK_VIDSCH_HW_RECORD_H

#include "sim/event.h"
#include "util/address.h"
#include "util/list.h"
#include "vidsch/dma_view.h"
#include "vidsch/vidsch.h"

#define VIDSCH_HW_LOGS 2u

/* Memory that the GPU writes (hw_log.h). */
struct vidsch_hw_log {
    struct page_number first;
    struct logical_page first_logical;
    struct dma_view view; /* pages 0: there is none */
    struct gpu_va va;
    uint32_t entries;
    uint64_t read;    /* entries since it was given to the driver */
    uint64_t left_as; /* sum over the memory when the driver got another one */
};

struct vidsch_hw_node {
    bool on;
    bool resetting; /* DxgkDdiResetHwEngine is in progress: contexts may be invalidated (TDR-075) */
    bool closed;    /* reset, and not yet resumed: nothing may be notified (TDR-023) */
    bool suspend_noted; /* a record of a suspended context is in the ring (interrupt.c) */
    bool fault_noted;   /* and of a page fault */
    bool unannounced;   /* a command has ended, as the watch found, and nothing was notified */
    bool watch_due;
    bool native_noted;              /* and of signaled native fences */
    bool native_all, native_legacy; /* it names none: all of them; the monitored fences as well */
    struct list contexts;           /* struct vidsch_hw_context */
    struct list ready;              /* queues whose head is a packet, in order of arrival */
    uint32_t count;                 /* packets in flight */
    uint64_t submissions;
    bool rest_noted;      /* the engine goes to F1: a record of it is in the ring */
    bool rest_due;        /* and its doorbells are to be disconnected */
    uint64_t rests;       /* how often it has */
    bool logs, log_noted; /* the driver has a scheduling log; a record of it is in the ring */
    bool log_full;        /* entries were lost: the worker gives the driver the next log */
    unsigned log_turn;    /* index of the one in use */
    struct vidsch_hw_log log[VIDSCH_HW_LOGS];
    uint32_t limit; /* MaxInFlightHwQueueBuffers; 0: none (SUBMIT-118) */
    struct sim_event watch;
};

enum hw_context_state {
    HW_RUNS,       /* the GPU may schedule it */
    HW_SUSPENDING, /* asked for, and not acknowledged yet */
    HW_SUSPENDED,  /* until the next submission, or until its work is to go on */
};

struct vidsch_hw_context {
    struct vidsch_context *context;
    struct list node_link;
    struct list queues; /* struct vidsch_hw_queue */
    bool own_entries;   /* of DxgkDdiCreateHwContext; else of DxgkDdiCreateContext */
    enum hw_context_state state;
    uint64_t suspend_fence; /* of the last request; 0: there was none (PREEMPT-042) */
    bool acknowledged;      /* it was notified; its DPC has not run yet */
    bool unnotified;        /* nor had it when the deadline passed */
    bool active;            /* something was submitted since it was suspended */
    bool abandoning;        /* its device is lost: what is in flight ends when it is suspended */
    bool leaving;           /* the driver destroys it, or has: nothing of it is on the GPU */
    bool invalidated, collateral; /* by the driver, in a reset (TDR-075, TDR-076) */
    bool hit;                     /* in the last one */
    struct sim_event deadline;    /* of the acknowledgement (TDR-074) */
};

/* See marks.h. */
#define VIDSCH_MARKS 4u
struct vidsch_mark {
    uint64_t ticket, value;
};

struct vidsch_hw_queue {
    struct vidsch_context *queue; /* its software queue */
    struct vidsch_context *parent;
    struct list link;
    struct list in_flight; /* packets, oldest first */
    HANDLE driver_handle;
    struct vidsch_sync *progress;
    D3DDDI_CREATEHWQUEUEFLAGS flags;
    uint64_t last_id;                 /* of the last command queued (KMT-326) */
    uint64_t given_id;                /* of the last command given to the driver */
    uint64_t seen;                    /* what the progress fence held when it was read last */
    struct vidsch_doorbell *doorbell; /* doorbell.h; NULL: none */
    bool doorbell_begins;             /* the driver is making it */
    uint64_t looked_at;               /* progress at the last look of the watch, while pending */
    bool given_up;                    /* what the client has queued there is not waited for */
    uint64_t moved_at; /* progress was seen, or none was to be expected, while there are marks */
    unsigned marks;
    struct vidsch_mark mark[VIDSCH_MARKS]; /* oldest first */
    uint64_t oldest_since;                 /* virtual ns */
};

/* What a packet of a hardware queue carries. */
struct hw_submission {
    uint64_t id; /* HwQueueProgressFenceId */
    uint64_t va;
    uint32_t bytes, private_bytes;
    uint64_t submitted_at;
    void *private_data;
};

#endif
