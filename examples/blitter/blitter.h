/* SPDX-License-Identifier: MIT */
/* What the sources of the Blitter's miniport share. */
#ifndef BLITTER_H
#define BLITTER_H

#include <ntddk.h>

#ifndef DXGKDDI_INTERFACE_VERSION
#define DXGKDDI_INTERFACE_VERSION DXGKDDI_INTERFACE_VERSION_WDDM2_0
#endif
#include <dispmprt.h>
#include <dxgk_seh.h>

#include "blitter_hw.h"

#define BLITTER_TAG              0x74696C42u /* "Blit" */
#define BLITTER_SEGMENT_VRAM     1u
#define BLITTER_SEGMENT_APERTURE 2u
#define BLITTER_PAGING_BYTES     0x10000u
#define BLITTER_DMA_BYTES        0x4000u
#define BLITTER_COMMAND          ((ULONG)sizeof(struct blitter_command))

/* MiniportDeviceContext, and hAdapter. */
typedef struct _BLITTER_ADAPTER {
    DXGKRNL_INTERFACE Dxgk;
    PUCHAR Registers; /* NULL: not started */
    PHYSICAL_ADDRESS VramBus;
    SIZE_T VramBytes;
    /* Changed under the interrupt lock. */
    ULONG Submitted, Completed; /* last fences */
    ULONG PreemptionFence;      /* asked for; 0: none */
    ULONG Faulted;              /* fence of the last packet that was reported as faulted */
} BLITTER_ADAPTER;

/* hAllocation. A device that opens it gets the same pointer: nothing differs from device to device. */
typedef struct _BLITTER_ALLOCATION {
    ULONG Bytes;
} BLITTER_ALLOCATION;

/* hDevice and hContext. */
typedef struct _BLITTER_DEVICE {
    BLITTER_ADAPTER *Adapter;
} BLITTER_DEVICE;

static __inline ULONG BlitterRead(const BLITTER_ADAPTER *Adapter, ULONG Register)
{
    return READ_REGISTER_ULONG((volatile ULONG *)(PVOID)(Adapter->Registers + Register));
}

static __inline VOID BlitterWrite(const BLITTER_ADAPTER *Adapter, ULONG Register, ULONG Value)
{
    WRITE_REGISTER_ULONG((volatile ULONG *)(PVOID)(Adapter->Registers + Register), Value);
}

#ifdef __cplusplus
extern "C" {
#endif

/* adapter.c */
DRIVER_INITIALIZE DriverEntry;
DXGKDDI_ADD_DEVICE BlitterAddDevice;
DXGKDDI_START_DEVICE BlitterStartDevice;
DXGKDDI_STOP_DEVICE BlitterStopDevice;
DXGKDDI_REMOVE_DEVICE BlitterRemoveDevice;
DXGKDDI_UNLOAD BlitterUnload;
DXGKDDI_SET_POWER_STATE BlitterSetPowerState;
DXGKDDI_RESET_DEVICE BlitterResetDevice;
DXGKDDI_QUERYADAPTERINFO BlitterQueryAdapterInfo;
DXGKDDI_GETNODEMETADATA BlitterGetNodeMetadata;
VOID BlitterStartHardware(BLITTER_ADAPTER *Adapter);

/* memory.c */
DXGKDDI_CREATEDEVICE BlitterCreateDevice;
DXGKDDI_DESTROYDEVICE BlitterDestroyDevice;
DXGKDDI_CREATECONTEXT BlitterCreateContext;
DXGKDDI_DESTROYCONTEXT BlitterDestroyContext;
DXGKDDI_CREATEALLOCATION BlitterCreateAllocation;
DXGKDDI_DESTROYALLOCATION BlitterDestroyAllocation;
DXGKDDI_DESCRIBEALLOCATION BlitterDescribeAllocation;
DXGKDDI_GETSTANDARDALLOCATIONDRIVERDATA BlitterGetStandardAllocationDriverData;
DXGKDDI_OPENALLOCATIONINFO BlitterOpenAllocation;
DXGKDDI_CLOSEALLOCATION BlitterCloseAllocation;
DXGKDDI_BUILDPAGINGBUFFER BlitterBuildPagingBuffer;
PVOID BlitterAllocate(SIZE_T Bytes);

/* work.c */
DXGKDDI_RENDER BlitterRender;
DXGKDDI_PATCH BlitterPatch;
DXGKDDI_SUBMITCOMMAND BlitterSubmitCommand;
DXGKDDI_PREEMPTCOMMAND BlitterPreemptCommand;
DXGKDDI_QUERYCURRENTFENCE BlitterQueryCurrentFence;
DXGKDDI_INTERRUPT_ROUTINE BlitterInterruptRoutine;
DXGKDDI_DPC_ROUTINE BlitterDpcRoutine;
DXGKDDI_QUERYDEPENDENTENGINEGROUP BlitterQueryDependentEngineGroup;
DXGKDDI_QUERYENGINESTATUS BlitterQueryEngineStatus;
DXGKDDI_RESETENGINE BlitterResetEngine;
DXGKDDI_RESETFROMTIMEOUT BlitterResetFromTimeout;
DXGKDDI_RESTARTFROMTIMEOUT BlitterRestartFromTimeout;
DXGKDDI_COLLECTDBGINFO BlitterCollectDbgInfo;

#ifdef __cplusplus
}
#endif

#endif
