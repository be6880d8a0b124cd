/* SPDX-License-Identifier: MIT */
/*
 * The hardware-scheduled node (setting HardwareScheduling): its contexts and queues are descriptors
 * in two tables, and the device decides what runs (section 13 of docs/refgpu.md).
 *
 *   scheduled.c         the tables, the node's registers, bands and priorities, submission
 *   scheduled_object.c  contexts and queues
 *   scheduled_run.c     what the device says; suspension; resets
 *
 * Tables and what points to them change at device level, through DxgkCbSynchronizeExecution. A
 * queue's ring belongs to whoever submits to it, one thread at a time.
 */
#ifndef REFGPU_SCHEDULED_H
#define REFGPU_SCHEDULED_H

#include "refgpu_sched_hw.h"

#define REFGPU_QUEUE_ENTRIES 256u /* of a ring, which holds one less: MaxInFlightHwQueueBuffers */

/* Where queues keep their place, in the save area of their context: behind what section 8 has. */
#define REFGPU_SAVE_QUEUES      1024u
#define REFGPU_SAVE_QUEUE_BYTES 64u
#define REFGPU_SAVE_QUEUES_COUNT \
    ((REFGPU_SAVE_BYTES - REFGPU_SAVE_QUEUES) / REFGPU_SAVE_QUEUE_BYTES)

struct refgpu_adapter;
struct refgpu_context;
struct refgpu_queue;

struct refgpu_scheduled {
    BOOLEAN on;               /* the node is there */
    struct refgpu_dma memory; /* both tables */
    struct refgpu_context_descriptor *contexts;
    struct refgpu_queue_descriptor *queues;
    struct refgpu_context *context[REFGPU_SCHED_CONTEXTS]; /* by descriptor */
    struct refgpu_queue *queue[REFGPU_SCHED_QUEUES];
    KMUTEX memory_lock; /* rings are made and freed by one thread at a time */
    ULONG band[REFGPU_SCHED_BANDS][3];
    ULONG normal_share;
    volatile LONGLONG submitted;
    ULONGLONG faults;
    DXGKARG_SETSCHEDULINGLOGBUFFER log; /* NumberOfEntries 0: there is none */
    ULONGLONG log_root;                 /* VRAM offset: that of the paging process */
};

/* What a context of this node has besides. */
struct refgpu_context_schedule {
    BOOLEAN on;              /* it is one */
    ULONG slot;              /* its descriptor */
    BOOLEAN off;             /* suspended, or to be */
    ULONGLONG suspend_fence; /* of a request that is not answered; 0: none */
    ULONGLONG save_used;     /* bit n: a queue has part n of the save area */
};

/* ---- scheduled.c ---- */

/* In StartDevice, with the registers mapped: is the node to be there, and its tables. */
NTSTATUS refgpu_scheduled_start(struct refgpu_adapter *adapter);
void refgpu_scheduled_free(struct refgpu_adapter *adapter);
/* Program the registers, and let the engine go. */
void refgpu_scheduled_program(struct refgpu_adapter *adapter);
/* The root table of the paging process, where the scheduling log is mapped. */
void refgpu_scheduled_log_root(struct refgpu_adapter *adapter, ULONGLONG root);
/* Paging comes before all else: others wait for it. */
void refgpu_scheduled_first(struct refgpu_context_descriptor *descriptor);
/* One of REFGPU_SCHED_COMMAND_x. */
void refgpu_scheduled_command(struct refgpu_adapter *adapter, ULONG opcode, ULONG index);
ULONG refgpu_nodes(const struct refgpu_adapter *adapter); /* this one included */
ULONG refgpu_paging_node(const struct refgpu_adapter *adapter);
ULONG refgpu_causes(const struct refgpu_adapter *adapter); /* for IRQ_ENABLE */

/* What the debug report says of the node, if it is there and there is room. */
void refgpu_scheduled_collect(struct refgpu_adapter *adapter, PVOID buffer, SIZE_T room);

/* ---- scheduled_object.c ---- */

/* Give the context a descriptor, or take it away. */
NTSTATUS refgpu_scheduled_add(struct refgpu_context *context);
void refgpu_scheduled_remove(struct refgpu_context *context);
/* Its root table or save area is another one. */
void refgpu_scheduled_tell(struct refgpu_context *context);

/* ---- scheduled_run.c ---- */

void refgpu_scheduled_serve(struct refgpu_adapter *adapter, ULONG causes); /* in the ISR */
/* At device level, after a reset of the device: nothing is queued, nothing is suspended. */
void refgpu_scheduled_empty(struct refgpu_adapter *adapter);

DXGKDDI_CREATEHWCONTEXT RefGpuCreateHwContext;
DXGKDDI_DESTROYHWCONTEXT RefGpuDestroyHwContext;
DXGKDDI_CREATEHWQUEUE RefGpuCreateHwQueue;
DXGKDDI_DESTROYHWQUEUE RefGpuDestroyHwQueue;
DXGKDDI_SUBMITCOMMANDTOHWQUEUE RefGpuSubmitCommandToHwQueue;
DXGKDDI_VALIDATESUBMITCOMMAND RefGpuValidateSubmitCommand;
DXGKDDI_SETUPPRIORITYBANDS RefGpuSetupPriorityBands;
DXGKDDI_SETCONTEXTSCHEDULINGPROPERTIES RefGpuSetContextSchedulingProperties;
DXGKDDI_SETSCHEDULINGLOGBUFFER RefGpuSetSchedulingLogBuffer;
DXGKDDI_SUSPENDCONTEXT RefGpuSuspendContext;
DXGKDDI_RESUMECONTEXT RefGpuResumeContext;
DXGKDDI_RESETHWENGINE RefGpuResetHwEngine;
DXGKDDI_RESUMEHWENGINE RefGpuResumeHwEngine;

#endif
