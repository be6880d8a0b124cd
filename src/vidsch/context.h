/* SPDX-License-Identifier: MIT */
/*
 * Contexts: a software queue of packets for one node, the buffers and sizes promised to the client
 * for its next Render, and a pool of DMA buffers of these sizes.
 */
#ifndef DXGK_VIDSCH_CONTEXT_H
#define DXGK_VIDSCH_CONTEXT_H

#include "sim/mutex.h"
#include "trace/trace.h"
#include "vidmm/record/context_record.h"
#include "vidmm/va_update.h"
#include "vidsch/client_block.h"
#include "vidsch/vidsch.h"

enum context_state {
    CONTEXT_IDLE,       /* queue empty */
    CONTEXT_READY,      /* on a ready list of its node */
    CONTEXT_SUBMITTING, /* the worker is submitting its head packet */
    CONTEXT_BLOCKED,    /* head is a wait that is not satisfied */
    CONTEXT_PARKED,     /* on device->parked, or waiting for the keeper (portion.h) */
    CONTEXT_LOST,       /* packets leave its queue only to be canceled */
};

/* What the client may pass to its next Render: its three blocks of memory, and their sizes. */
struct vidsch_promise {
    struct client_block commands, allocations, patches;
    uint32_t command_bytes, allocation_count, patch_count;
};

/* The packet of a context that was preempted last while it had the engine. */
struct preempted_packet {
    uint64_t ticket; /* of the packet; 0: none yet */
    uint64_t since;  /* virtual time of the first time */
    uint32_t times;
};

struct vidsch_companion;

struct vidsch_context {
    struct vidmm_context mm; /* first: the driver's host handle resolves to it */
    struct vidsch_device *device;
    struct vidsch_node *node;
    enum ddi_handle kind;     /* of its host handle: a context, or a hardware queue */
    struct list link;         /* device->contexts */
    struct list queue;        /* packets, first in first out */
    struct list run_link;     /* ready list, or device->parked */
    struct list advance_link; /* vidsch->advance.contexts */
    struct packet *last_in_flight;
    struct preempted_packet preempted;
    enum context_state state;
    uint32_t level;        /* index of its ready list: the priority counted from 0, or paging */
    uint64_t quantum_left; /* ns, while it holds its level of the node (ready.h) */
    INT priority;
    bool ahead;              /* of the other contexts of its process (priority.h) */
    bool untold, being_told; /* the driver is to know of a change of priority; and is told now */
    uint32_t pending;        /* packets of any kind */
    uint32_t work;           /* GPU packets among them */
    uint32_t sequence;       /* number of the last packet that was queued, if events are told */
    D3DDDI_CREATECONTEXTFLAGS flags;
    DXGK_CONTEXTINFO info; /* the driver's answer */
    bool has_lists;        /* physical mode, and not for synchronization only */
    bool dying;
    /* Its paging companion context, on which its page-table updates run (companion.h); NULL: it has
     * made none yet. */
    struct vidsch_context *companion;
    bool is_companion;
    bool hosts_own;                  /* the driver does not know it */
    struct va_updates updates;       /* of a companion */
    struct vidsch_companion *paging; /* of a companion that the driver knows */
    uint32_t operations;             /* of a companion: of updates that are not carried out yet */
    bool leaving;                    /* its PACKET_LEAVE is under way (null_context.h) */
    struct vidsch_promise promise;
    struct list free_buffers;
    struct dma_buffer *reserve; /* for the next Render (PATCH-054) */
    struct sim_mutex render_lock;
    uint32_t buffers, buffers_free;
    struct list mutexes;
    /* hardware scheduling (hw_record.h): of a context that owns queues; of such a queue */
    struct vidsch_hw_context *hw;
    struct vidsch_hw_queue *hw_queue;
    trace_track track;
};

/* A record without the driver's part, for a client's queue of the kind; NULL: out of memory. */
struct vidsch_context *vidsch_context_alloc(struct vidsch_device *device, struct vidsch_node *node,
                                            enum ddi_handle kind);
/* One of which the driver has no part: it never had, or has no more. */
void vidsch_context_abandon(struct vidsch_context *context);
/* And of which the memory manager has none, either. */
void vidsch_context_free(struct vidsch_context *context);
NTSTATUS vidsch_context_create_system(struct vidsch *vidsch);
/* Make the companion of a context (companion.h). */
NTSTATUS vidsch_context_create_companion(struct vidsch_context *owner, struct vidsch_context **out);

#endif
