/* SPDX-License-Identifier: MIT */
/*
 * A compute-only miniport without hardware: a thread of the driver executes what is submitted, in GPU virtual addresses that it
 * translates itself by page tables in system memory, which VidMm has the CPU write.
 *
 * The queue is guarded by a spin lock. What the interrupt routine of a real driver would share (the fences) changes inside
 * DxgkCbSynchronizeExecution.
 */
#ifndef DXGK_TESTS_COMPUTE_H
#define DXGK_TESTS_COMPUTE_H

#include <ntddk.h>

#define DXGKDDI_INTERFACE_VERSION DXGKDDI_INTERFACE_VERSION_WDDM2_6
#include <dispmprt.h>

#include "compute_hw.h"

#define COMPUTE_TAG             0x706D6F43u /* "Comp" */
#define COMPUTE_APERTURE        1u          /* the only segment, and nothing uses it */
#define COMPUTE_SYSTEM          2u          /* NbSegment + 1 */
#define COMPUTE_QUEUE           64u
#define COMPUTE_PAGING_BYTES    4096u
#define COMPUTE_ENTRY_VALID     1ull
#define COMPUTE_ENTRY_ZERO      2ull
#define COMPUTE_ENTRY_READ_ONLY 4ull
#define COMPUTE_ENTRY_ADDRESS   0x000FFFFFFFFFF000ull

/* What differs from habit to habit. */
typedef struct _COMPUTE_HABITS {
    UINT SystemSegment;      /* as allocations name system memory: a segment of their set */
    UINT TableSegment;       /* as page tables do */
    UINT IndexBits;          /* of a leaf table */
    UINT RootBits;           /* of the root */
    UINT TableBytes;         /* of a leaf table */
    UINT RootBytes;          /* as GetRootPageTableSize answers */
    UINT SystemContextBytes; /* DmaBufferSize of the system's context */
    UINT PitchAlignment;     /* of the segment, where no allocation has a PitchAlignedSize */
} COMPUTE_HABITS;

typedef struct _COMPUTE_CONTEXT {
    struct _COMPUTE_ADAPTER *Adapter;
    ULONGLONG Root; /* physical address; 0: none yet */
    UINT RootEntries;
} COMPUTE_CONTEXT;

typedef struct _COMPUTE_PACKET {
    COMPUTE_CONTEXT *Context;
    ULONGLONG Address; /* GPU virtual, or physical for a paging buffer */
    UINT Bytes, Fence;
    BOOLEAN Paging;
} COMPUTE_PACKET;

/* MiniportDeviceContext, and hAdapter. */
typedef struct _COMPUTE_ADAPTER {
    DXGKRNL_INTERFACE Dxgk;
    PVOID Thread; /* referenced thread object; NULL: not started */
    KEVENT Wake;
    KSPIN_LOCK Lock; /* guards the members up to Resets */
    COMPUTE_PACKET Queue[COMPUTE_QUEUE];
    UINT First, Count;
    UINT PreemptionFence; /* asked for; 0: none */
    BOOLEAN Stop;
    UINT Resets; /* what was taken from the queue before a reset is not reported any more */
    UINT Words[PAGE_SIZE / 4], Sums[PAGE_SIZE / 4]; /* the thread's operands */
    /* Changed by DxgkCbSynchronizeExecution. */
    UINT Submitted, Completed;
} COMPUTE_ADAPTER;

extern COMPUTE_HABITS ComputeHabits;

DRIVER_INITIALIZE DriverEntry; /* in the driver's own file */

/* adapter.c */
DXGKDDI_ADD_DEVICE ComputeAddDevice;
DXGKDDI_START_DEVICE ComputeStartDevice;
DXGKDDI_STOP_DEVICE ComputeStopDevice;
DXGKDDI_REMOVE_DEVICE ComputeRemoveDevice;
DXGKDDI_UNLOAD ComputeUnload;
DXGKDDI_SET_POWER_STATE ComputeSetPowerState;
DXGKDDI_RESET_DEVICE ComputeResetDevice;
DXGKDDI_QUERYADAPTERINFO ComputeQueryAdapterInfo;
DXGKDDI_GETNODEMETADATA ComputeGetNodeMetadata;
PVOID ComputeAllocate(SIZE_T Bytes);

/* absent.c */
DXGKDDI_QUERY_CHILD_RELATIONS ComputeQueryChildRelations;
DXGKDDI_QUERY_CHILD_STATUS ComputeQueryChildStatus;
DXGKDDI_QUERY_DEVICE_DESCRIPTOR ComputeQueryDeviceDescriptor;
DXGKDDI_SETSTABLEPOWERSTATE ComputeSetStablePowerState;
DXGKDDI_SETVIRTUALMACHINEDATA ComputeSetVirtualMachineData;
DXGKDDI_FORMATHISTORYBUFFER ComputeFormatHistoryBuffer;
DXGKDDI_CALIBRATEGPUCLOCK ComputeCalibrateGpuClock;

/* memory.c */
DXGKDDI_CREATEPROCESS ComputeCreateProcess;
DXGKDDI_DESTROYPROCESS ComputeDestroyProcess;
DXGKDDI_CREATEDEVICE ComputeCreateDevice;
DXGKDDI_DESTROYDEVICE ComputeDestroyDevice;
DXGKDDI_CREATECONTEXT ComputeCreateContext;
DXGKDDI_DESTROYCONTEXT ComputeDestroyContext;
DXGKDDI_SETROOTPAGETABLE ComputeSetRootPageTable;
DXGKDDI_GETROOTPAGETABLESIZE ComputeGetRootPageTableSize;
DXGKDDI_CREATEALLOCATION ComputeCreateAllocation;
DXGKDDI_DESTROYALLOCATION ComputeDestroyAllocation;
DXGKDDI_DESCRIBEALLOCATION ComputeDescribeAllocation;
DXGKDDI_GETSTANDARDALLOCATIONDRIVERDATA ComputeGetStandardAllocationDriverData;
DXGKDDI_OPENALLOCATIONINFO ComputeOpenAllocation;
DXGKDDI_CLOSEALLOCATION ComputeCloseAllocation;
DXGKDDI_BUILDPAGINGBUFFER ComputeBuildPagingBuffer;

/* engine.c */
DXGKDDI_SUBMITCOMMAND ComputeSubmitCommand;
DXGKDDI_SUBMITCOMMANDVIRTUAL ComputeSubmitCommandVirtual;
DXGKDDI_PREEMPTCOMMAND ComputePreemptCommand;
DXGKDDI_INTERRUPT_ROUTINE ComputeInterruptRoutine;
DXGKDDI_DPC_ROUTINE ComputeDpcRoutine;
DXGKDDI_QUERYDEPENDENTENGINEGROUP ComputeQueryDependentEngineGroup;
DXGKDDI_QUERYENGINESTATUS ComputeQueryEngineStatus;
DXGKDDI_RESETENGINE ComputeResetEngine;
DXGKDDI_RESETFROMTIMEOUT ComputeResetFromTimeout;
DXGKDDI_RESTARTFROMTIMEOUT ComputeRestartFromTimeout;
DXGKDDI_COLLECTDBGINFO ComputeCollectDbgInfo;
KSTART_ROUTINE ComputeThread;

#endif
