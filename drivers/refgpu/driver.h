/* SPDX-License-Identifier: MIT */
/*
 * The RefGPU display miniport, WDDM 2.9: render only, unless the board has outputs (display.h).
 * One adapter has two nodes: node 0 runs
 * patched command buffers over physical segments, node 1 (copy and paging) runs in GPU virtual
 * address spaces. If its service key says so, there is a third one, which the device schedules
 * (scheduled.h).
 *
 *   entry.c       DriverEntry, the table, AddDevice, RemoveDevice
 *   settings.c    what the service key says
 *   start.c       StartDevice, StopDevice, power: resources, the hardware's registers
 *   dma.c         system memory the device uses: rings, fence page, log
 *   logger.c      the thread that reads the device's log
 *   caps.c        capability queries
 *   object.c      processes, devices, contexts and their save areas
 *   allocation.c  allocations;  standard.c  those that the host asks for
 *   render.c      checking client commands, Patch
 *   submit.c      rings: submission, preemption, cancellation
 *   interrupt.c   ISR and DPC
 *   paging.c      BuildPagingBuffer;  pagetable.c  its page-table part
 *   reset.c       timeout recovery, exclusive access, debug information
 *   escape.c      private client requests
 *
 * Data that the ISR uses (struct refgpu_node from `completed` on) is accessed elsewhere only at
 * device level, through DxgkCbSynchronizeExecution. The rest of a node belongs to the GPU scheduler
 * class, one thread at a time.
 */
#ifndef REFGPU_DRIVER_H
#define REFGPU_DRIVER_H

#ifndef DXGKDDI_INTERFACE_VERSION
#define DXGKDDI_INTERFACE_VERSION DXGKDDI_INTERFACE_VERSION_WDDM2_9
#endif

#include <ntddk.h>
#include <dispmprt.h>
#include <d3dkmddi.h>

#include "refgpu_umd.h"

#ifndef KeMemoryBarrier /* some toolchains' headers lack it */
#define KeMemoryBarrier() __sync_synchronize()
#endif

#define REFGPU_TAG           0x55504752u /* "RGPU" */
#define REFGPU_RING_ENTRIES  256u
#define REFGPU_DMA_BUFFER    0x10000u /* bytes, for physical contexts and paging buffers */
#define REFGPU_PRIVATE_BYTES 64u
/* offset of the miniport's part; before it: struct refgpu_submit_data */
#define REFGPU_PRIVATE_OFFSET 32u
#define REFGPU_LOG_KEEP       256u /* number of log records that are kept for clients */

struct refgpu_adapter;
struct refgpu_context;

/* System memory that the device reads or writes, with its CPU address and the bus address of
 * each page. */
struct refgpu_dma {
    SIZE_T bytes;
    PVOID cpu;
    ULONGLONG bus;     /* for contiguous memory */
    HANDLE contiguous; /* from DxgkCbAllocateContiguousMemory */
    PVOID common;      /* from AllocateCommonBuffer, twice as many bytes */
    PHYSICAL_ADDRESS common_bus;
    HANDLE object, adapter_object; /* from DxgkCbCreatePhysicalMemoryObject */
    PVOID mapping;
    SIZE_T mapping_bytes;
    DXGK_ADL *adl;
};

#include "scheduled.h"
#include "display.h"

struct refgpu_node {
    struct refgpu_adapter *adapter;
    ULONG index;
    struct refgpu_dma ring;
    struct refgpu_ring_entry *entries;
    const volatile struct refgpu_fence_block *fence;
    /* written by submissions, read by the ISR while they go on */
    struct refgpu_context *volatile slot_context[REFGPU_RING_ENTRIES];
    volatile ULONG slot_fence[REFGPU_RING_ENTRIES];
    volatile ULONG reject_after,
        reject_fence; /* a packet that SubmitCommandVirtual refused, and the one before it */
    ULONG tail;
    ULONG last_submitted;
    ULONGLONG submitted;

    /* shared with the ISR */
    ULONG completed;     /* last completed fence reported to the host */
    ULONG preempt_fence; /* outstanding request; 0: none */
    ULONGLONG faults;
};

struct refgpu_adapter {
    PDEVICE_OBJECT pdo;
    PDMA_ADAPTER dma_adapter; /* while one of its common buffers exists */
    ULONG common_buffers;     /* how many do */
    ULONG dma_bits;
    DXGKRNL_INTERFACE dxgk;
    DXGK_START_INFO start_info;
    BOOLEAN started;
    BOOLEAN no_execute; /* the device has FEATURE_NO_EXECUTE */
    BOOLEAN remapped;   /* bus addresses differ from physical ones */
    BOOLEAN powered;

    PUCHAR registers; /* NULL until mapped: the ISR may run earlier */
    PHYSICAL_ADDRESS vram_bus;
    ULONGLONG vram_bytes; /* size of segment 1; the GART table is after it */
    ULONGLONG gart_table; /* VRAM offset */
    ULONG gart_pages;
    ULONGLONG *gart; /* CPU view of the table */

    struct refgpu_node node[REFGPU_NODES];
    struct refgpu_dma fence_page;
    struct refgpu_scheduled scheduled;
    struct refgpu_display display;

    struct refgpu_dma log;
    KSPIN_LOCK log_lock; /* guards the fields up to log_wanted */
    struct refgpu_log_record log_kept[REFGPU_LOG_KEEP];
    ULONG log_next; /* sequence number after the last kept record */
    ULONG log_read; /* records taken from the device since the log was started */
    ULONGLONG log_drained;
    BOOLEAN log_stop;
    KEVENT log_wake, log_gone;
    PVOID log_thread;         /* referenced thread object */
    volatile LONG log_wanted; /* set by the ISR, served by the DPC */

    volatile LONG contexts;  /* number created so far, which gives their ids */
    volatile LONG processes; /* likewise */
    volatile LONGLONG interrupts;
    volatile LONGLONG residency_notes, aperture_maps, aperture_unmaps;
};

/* Values of the driver's service key. */
struct refgpu_settings {
    /* PageTableUpdateMode: a DXGK_PAGETABLEUPDATEMODE; without it, or with any other number,
     * DXGK_PAGETABLEUPDATE_GPU_PHYSICAL */
    DXGK_PAGETABLEUPDATEMODE update_mode;
    /* CommonBuffers: not 0: rings and fences lie in common buffers of a DMA adapter */
    BOOLEAN common_buffers;
    /* SignalMonitoredFence: not 0: the driver registers DxgkDdiSignalMonitoredFence */
    BOOLEAN signals_fences;
    /* HardwareScheduling: not 0: there is a node that the device schedules, if the host agrees; 2: it
     * pages, too */
    ULONG hardware_scheduling;
};
extern struct refgpu_settings refgpu_settings;

struct refgpu_process {
    HANDLE dxgk_process;
    ULONG id;
    BOOLEAN system;
};

struct refgpu_device {
    struct refgpu_adapter *adapter;
    struct refgpu_process *process; /* NULL: none was named */
    HANDLE dxgk_device;
};

struct refgpu_context {
    struct refgpu_device *device;
    ULONG node;
    BOOLEAN system, virtual_addressing;
    ULONG id;
    HANDLE dxgk_context;
    HANDLE save_allocation; /* the host's handle; NULL: no save area */
    D3DGPU_VIRTUAL_ADDRESS save;
    BOOLEAN root_known;
    ULONGLONG root; /* VRAM offset */
    /* Set by the ISR when a packet of this context was interrupted, consumed when it is submitted
     * again. */
    ULONG stop_fence, stop_offset;
    struct refgpu_context_schedule schedule;
};

/* A hardware queue. */
struct refgpu_queue {
    struct refgpu_context *context;
    HANDLE dxgk_queue;
    BOOLEAN placed;
    ULONG slot;        /* its descriptor */
    ULONG save_offset; /* in the save area of its context; 0: none */
    struct refgpu_dma ring;
    struct refgpu_queue_entry *entries;
    ULONG tail;
};

struct refgpu_allocation {
    struct refgpu_allocation_data data;
    /* from paging operations; read by an escape */
    BOOLEAN resident;
    ULONG segment;
    ULONGLONG offset;
    PVOID cpu;
};

struct refgpu_open {
    struct refgpu_allocation *allocation;
    BOOLEAN read_only;
};

/* The miniport's part of a DMA buffer's private data. */
struct refgpu_private {
    ULONG magic;
    ULONG fence; /* fence of its last submission */
};

/* For DxgkCbUpdateContextAllocation: words to write into a save area. */
struct refgpu_update {
    ULONG offset, count;
    ULONGLONG value[2];
};

#define REFGPU_SAVE_ROOT_OFFSET \
    64u /* in the save area, after the hardware's part: context id, root */

/* ---- hardware access ---- */

static inline ULONG refgpu_read(struct refgpu_adapter *adapter, ULONG reg)
{
    return READ_REGISTER_ULONG((volatile ULONG *)(PVOID)(adapter->registers + reg));
}

static inline void refgpu_write_register(struct refgpu_adapter *adapter, ULONG reg, ULONG value)
{
    WRITE_REGISTER_ULONG((volatile ULONG *)(PVOID)(adapter->registers + reg), value);
}

void refgpu_write_register64(struct refgpu_adapter *adapter, ULONG reg, ULONGLONG value);
ULONGLONG refgpu_read64(struct refgpu_adapter *adapter, ULONG reg);

/* Zeroed nonpaged memory; NULL: out of memory. */
void refgpu_read_settings(PUNICODE_STRING registry_path);
PVOID refgpu_allocate(SIZE_T bytes);
void refgpu_free(PVOID memory); /* NULL is allowed */

/* ---- dma.c ---- */

/* Contiguous memory below 4 GiB that crosses no 64 KiB boundary, zeroed. */
NTSTATUS refgpu_dma_contiguous(struct refgpu_adapter *adapter, SIZE_T bytes, struct refgpu_dma *dma);
/* Any pages, zeroed; detects whether the adapter is remapped. */
NTSTATUS refgpu_dma_pages(struct refgpu_adapter *adapter, SIZE_T bytes, struct refgpu_dma *dma);
void refgpu_dma_free(struct refgpu_adapter *adapter, struct refgpu_dma *dma);
ULONGLONG refgpu_dma_page(const struct refgpu_dma *dma, ULONG page);

/* ---- start.c ---- */

/* program every register; rings are empty */
void refgpu_hardware_start(struct refgpu_adapter *adapter);
void refgpu_hardware_stop(struct refgpu_adapter *adapter); /* no DMA, no interrupts from then on */
void refgpu_engines_stop(struct refgpu_adapter *adapter);  /* the same, but the outputs go on */
void refgpu_stop(struct refgpu_adapter *adapter); /* what is left to be done behind one of the two */
void refgpu_node_restart(struct refgpu_node *node); /* after an engine reset */

/* ---- allocation.c ---- */

ULONG refgpu_pitch(UINT width, UINT pixel); /* bytes of a line that can be scanned out */
ULONG refgpu_pixel_bytes(const struct refgpu_allocation_data *data);
ULONG refgpu_scanned_format(const struct refgpu_allocation_data *data); /* REFGPU_OUT_FORMAT_x */

/* ---- logger.c ---- */

NTSTATUS refgpu_logger_start(struct refgpu_adapter *adapter);
void refgpu_logger_stop(struct refgpu_adapter *adapter);
/* Copy the records that the device has written; PASSIVE_LEVEL to DISPATCH_LEVEL. */
void refgpu_log_drain(struct refgpu_adapter *adapter);

/* ---- submit.c ---- */

BOOLEAN NTAPI
refgpu_report_progress(PVOID context); /* KSYNCHRONIZE_ROUTINE; context: struct refgpu_node */
/* Whether fence a is later than b. Fences wrap around. */
static inline BOOLEAN refgpu_later(ULONG a, ULONG b)
{
    return (LONG)(a - b) > 0;
}

/* The last fence that the node has completed, including packets refused at submission. Call at
 * device level. */
ULONG refgpu_completed(const struct refgpu_node *node, ULONG hardware);
NTSTATUS refgpu_synchronize(struct refgpu_adapter *adapter, PKSYNCHRONIZE_ROUTINE routine,
                            PVOID context);

/* ---- pagetable.c, paging.c ---- */

struct refgpu_emitter {
    uint32_t *at;
    uint32_t room; /* remaining dwords */
};

/* Reserve room for a command and write its header; NULL: not enough room. */
uint32_t *refgpu_emit(struct refgpu_emitter *emitter, ULONG opcode, ULONG flags, ULONG dwords);
NTSTATUS refgpu_build_update_page_table(DXGKARG_BUILDPAGINGBUFFER *args,
                                        struct refgpu_emitter *emitter);
/* Device address of an offset in a segment. */
ULONGLONG refgpu_segment_address(ULONG segment, ULONGLONG offset);

/* ---- DDI entries ---- */

DRIVER_INITIALIZE DriverEntry;
DXGKDDI_ADD_DEVICE RefGpuAddDevice;
DXGKDDI_REMOVE_DEVICE RefGpuRemoveDevice;
DXGKDDI_UNLOAD RefGpuUnload;
DXGKDDI_RESET_DEVICE RefGpuResetDevice;
DXGKDDI_CONTROL_ETW_LOGGING RefGpuControlEtwLogging;
DXGKDDI_START_DEVICE RefGpuStartDevice;
DXGKDDI_STOP_DEVICE RefGpuStopDevice;
DXGKDDI_SET_POWER_STATE RefGpuSetPowerState;
DXGKDDI_QUERYADAPTERINFO RefGpuQueryAdapterInfo;
DXGKDDI_GETNODEMETADATA RefGpuGetNodeMetadata;
DXGKDDI_CREATEPROCESS RefGpuCreateProcess;
DXGKDDI_DESTROYPROCESS RefGpuDestroyProcess;
DXGKDDI_CREATEDEVICE RefGpuCreateDevice;
DXGKDDI_DESTROYDEVICE RefGpuDestroyDevice;
DXGKDDI_CREATECONTEXT RefGpuCreateContext;
DXGKDDI_DESTROYCONTEXT RefGpuDestroyContext;
DXGKDDI_SETROOTPAGETABLE RefGpuSetRootPageTable;
DXGKDDI_GETROOTPAGETABLESIZE RefGpuGetRootPageTableSize;
DXGKDDI_CREATEALLOCATION RefGpuCreateAllocation;
DXGKDDI_DESTROYALLOCATION RefGpuDestroyAllocation;
DXGKDDI_DESCRIBEALLOCATION RefGpuDescribeAllocation;
DXGKDDI_GETSTANDARDALLOCATIONDRIVERDATA RefGpuGetStandardAllocationDriverData;
DXGKDDI_OPENALLOCATIONINFO RefGpuOpenAllocation;
DXGKDDI_CLOSEALLOCATION RefGpuCloseAllocation;
DXGKDDI_RENDER RefGpuRender;
DXGKDDI_PATCH RefGpuPatch;
DXGKDDI_SUBMITCOMMAND RefGpuSubmitCommand;
DXGKDDI_SUBMITCOMMANDVIRTUAL RefGpuSubmitCommandVirtual;
DXGKDDI_PREEMPTCOMMAND RefGpuPreemptCommand;
DXGKDDI_CANCELCOMMAND RefGpuCancelCommand;
DXGKDDI_QUERYCURRENTFENCE RefGpuQueryCurrentFence;
DXGKDDI_CALIBRATEGPUCLOCK RefGpuCalibrateGpuClock;
DXGKDDI_INTERRUPT_ROUTINE RefGpuInterruptRoutine;
DXGKDDI_DPC_ROUTINE RefGpuDpcRoutine;
DXGKDDI_BUILDPAGINGBUFFER RefGpuBuildPagingBuffer;
DXGKDDI_SIGNALMONITOREDFENCE RefGpuSignalMonitoredFence;
DXGKDDI_QUERYDEPENDENTENGINEGROUP RefGpuQueryDependentEngineGroup;
DXGKDDI_QUERYENGINESTATUS RefGpuQueryEngineStatus;
DXGKDDI_RESETENGINE RefGpuResetEngine;
DXGKDDI_RESETFROMTIMEOUT RefGpuResetFromTimeout;
DXGKDDI_RESTARTFROMTIMEOUT RefGpuRestartFromTimeout;
DXGKDDI_COLLECTDBGINFO RefGpuCollectDbgInfo;
DXGKDDI_BEGINEXCLUSIVEACCESS RefGpuBeginExclusiveAccess;
DXGKDDI_ENDEXCLUSIVEACCESS RefGpuEndExclusiveAccess;
DXGKDDI_ESCAPE RefGpuEscape;

#endif
