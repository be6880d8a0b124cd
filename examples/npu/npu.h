/* SPDX-License-Identifier: MIT */
/* What the sources of the NPU's miniport share. */
#ifndef NPU_H
#define NPU_H

#include <ntddk.h>

#ifndef DXGKDDI_INTERFACE_VERSION
#define DXGKDDI_INTERFACE_VERSION DXGKDDI_INTERFACE_VERSION_WDDM2_9
#endif
#include <dispmprt.h>
#include <dxgk_seh.h>

#include "npu_hw.h"

#define NPU_TAG             0x7475704Eu /* "Nput" */
#define NPU_SEGMENT         1u          /* the aperture: system memory that page tables show */
#define NPU_PAGING_BYTES    0x4000u
#define NPU_HIGHEST_ADDRESS 0xFFFFFFFFFFll /* 40 bits */

/* Memory that driver and engine share, whatever the IOMMU does. */
typedef struct _NPU_SHARED {
    HANDLE Object, AdapterObject;
    PVOID Mapping; /* NULL: there is none */
    SIZE_T MappingBytes;
    DXGK_ADL *Adl;
    volatile struct npu_status *Status; /* in the mapping */
} NPU_SHARED;

/* MiniportDeviceContext, and hAdapter. */
typedef struct _NPU_ADAPTER {
    DXGKRNL_INTERFACE Dxgk;
    PUCHAR Registers; /* NULL: not started */
    NPU_SHARED Shared;
    volatile LONG64 AllocatedBytes; /* of allocations that there are */
    volatile LONG Packets;          /* completed since the start */
    /* Changed under the interrupt lock. */
    ULONG Submitted, Completed; /* last fences */
    ULONG PreemptionFence;      /* asked for; 0: none */
    ULONG FaultedFence;         /* the engine stands still in this packet; 0: it runs */
} NPU_ADAPTER;

/* hKmdProcess. */
typedef struct _NPU_PROCESS {
    HANDLE DxgkProcess;
} NPU_PROCESS;

/* hDevice. */
typedef struct _NPU_DEVICE {
    NPU_ADAPTER *Adapter;
    NPU_PROCESS *Process; /* NULL: of the system */
} NPU_DEVICE;

/* hContext. */
typedef struct _NPU_CONTEXT {
    NPU_DEVICE *Device;
    BOOLEAN System; /* the host's own, for paging buffers */
    ULONGLONG Root; /* bus address of the root table; 0: none yet */
} NPU_CONTEXT;

/* hAllocation. */
typedef struct _NPU_ALLOCATION {
    ULONG Bytes;
} NPU_ALLOCATION;

static __inline ULONG NpuRead(const NPU_ADAPTER *Adapter, ULONG Register)
{
    return READ_REGISTER_ULONG((volatile ULONG *)(PVOID)(Adapter->Registers + Register));
}

static __inline VOID NpuWrite(const NPU_ADAPTER *Adapter, ULONG Register, ULONG Value)
{
    WRITE_REGISTER_ULONG((volatile ULONG *)(PVOID)(Adapter->Registers + Register), Value);
}

static __inline VOID NpuWrite64(const NPU_ADAPTER *Adapter, ULONG Register, ULONGLONG Value)
{
    NpuWrite(Adapter, Register, (ULONG)Value);
    NpuWrite(Adapter, Register + 4, (ULONG)(Value >> 32));
}

#ifdef __cplusplus
extern "C" {
#endif

extern DXGK_PAGETABLEUPDATEMODE NpuUpdateMode;

/* adapter.c */
DRIVER_INITIALIZE DriverEntry;
DXGKDDI_ADD_DEVICE NpuAddDevice;
DXGKDDI_START_DEVICE NpuStartDevice;
DXGKDDI_STOP_DEVICE NpuStopDevice;
DXGKDDI_REMOVE_DEVICE NpuRemoveDevice;
DXGKDDI_UNLOAD NpuUnload;
DXGKDDI_SET_POWER_STATE NpuSetPowerState;
DXGKDDI_RESET_DEVICE NpuResetDevice;
DXGKDDI_QUERYADAPTERINFO NpuQueryAdapterInfo;
DXGKDDI_GETNODEMETADATA NpuGetNodeMetadata;
DXGKDDI_ESCAPE NpuEscape;
PVOID NpuAllocate(SIZE_T Bytes);
VOID NpuStartHardware(NPU_ADAPTER *Adapter);

/* shared.c */
NTSTATUS NpuShare(NPU_ADAPTER *Adapter, NPU_SHARED *Shared);
VOID NpuUnshare(NPU_ADAPTER *Adapter, NPU_SHARED *Shared);
ULONGLONG NpuBusAddress(const NPU_SHARED *Shared);

/* memory.c */
DXGKDDI_CREATEPROCESS NpuCreateProcess;
DXGKDDI_DESTROYPROCESS NpuDestroyProcess;
DXGKDDI_CREATEDEVICE NpuCreateDevice;
DXGKDDI_DESTROYDEVICE NpuDestroyDevice;
DXGKDDI_CREATECONTEXT NpuCreateContext;
DXGKDDI_DESTROYCONTEXT NpuDestroyContext;
DXGKDDI_CREATEALLOCATION NpuCreateAllocation;
DXGKDDI_DESTROYALLOCATION NpuDestroyAllocation;
DXGKDDI_DESCRIBEALLOCATION NpuDescribeAllocation;
DXGKDDI_GETSTANDARDALLOCATIONDRIVERDATA NpuGetStandardAllocationDriverData;
DXGKDDI_OPENALLOCATIONINFO NpuOpenAllocation;
DXGKDDI_CLOSEALLOCATION NpuCloseAllocation;

/* tables.c */
DXGKDDI_SETROOTPAGETABLE NpuSetRootPageTable;
DXGKDDI_GETROOTPAGETABLESIZE NpuGetRootPageTableSize;
DXGKDDI_BUILDPAGINGBUFFER NpuBuildPagingBuffer;

/* absent.c */
DXGKDDI_QUERY_CHILD_RELATIONS NpuQueryChildRelations;
DXGKDDI_QUERY_CHILD_STATUS NpuQueryChildStatus;
DXGKDDI_QUERY_DEVICE_DESCRIPTOR NpuQueryDeviceDescriptor;
DXGKDDI_SETSTABLEPOWERSTATE NpuSetStablePowerState;
DXGKDDI_SETVIRTUALMACHINEDATA NpuSetVirtualMachineData;
DXGKDDI_FORMATHISTORYBUFFER NpuFormatHistoryBuffer;
DXGKDDI_CALIBRATEGPUCLOCK NpuCalibrateGpuClock;

/* work.c */
DXGKDDI_SUBMITCOMMAND NpuSubmitCommand;
DXGKDDI_SUBMITCOMMANDVIRTUAL NpuSubmitCommandVirtual;
DXGKDDI_PREEMPTCOMMAND NpuPreemptCommand;
DXGKDDI_INTERRUPT_ROUTINE NpuInterruptRoutine;
DXGKDDI_DPC_ROUTINE NpuDpcRoutine;
DXGKDDI_QUERYDEPENDENTENGINEGROUP NpuQueryDependentEngineGroup;
DXGKDDI_QUERYENGINESTATUS NpuQueryEngineStatus;
DXGKDDI_BEGINEXCLUSIVEACCESS NpuBeginExclusiveAccess;
DXGKDDI_ENDEXCLUSIVEACCESS NpuEndExclusiveAccess;
DXGKDDI_RESETENGINE NpuResetEngine;
DXGKDDI_RESETFROMTIMEOUT NpuResetFromTimeout;
DXGKDDI_RESTARTFROMTIMEOUT NpuRestartFromTimeout;
DXGKDDI_COLLECTDBGINFO NpuCollectDbgInfo;

#ifdef __cplusplus
}
#endif

#endif
