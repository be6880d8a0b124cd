/* SPDX-License-Identifier: MIT */
/*
 * D3DKMT calls for workloads: D3DKMT.CreateDevice{hAdapter = h} fills the structure of that name
 * from the table, calls, and gives back a table of the structure's members. A failing status raises
 * an error; STATUS_PENDING and other successes come back as member `status`. The structures are
 * described by tables of fields, so that each call is one line here.
 */
#include <ntddk.h>
#include <d3dkmthk.h>

#include <lauxlib.h>
#include <lua.h>

#include "lua/d3dkmt.h"
#include "lua/d3dkmt_call.h"
#include "lua/d3dkmt_display.h"
#include "lua/d3dkmt_mutex.h"
#include "lua/d3dkmt_share.h"
#include "lua/d3dkmt_special.h"
#include "lua/d3dkmt_sync.h"
#include "lua/field.h"
#include "lua/nearest.h"
#include "util/array.h"

static int status_tostring(lua_State *L)
{
    lua_getfield(L, 1, "call");
    lua_pushliteral(L, ": ");
    lua_getfield(L, 1, "status");
    if (lua_getfield(L, 1, "reason") == LUA_TNIL) {
        lua_pop(L, 1);
        lua_concat(L, 3);
        return 1;
    }
    lua_pushliteral(L, ": ");
    lua_insert(L, -2);
    lua_concat(L, 5);
    return 1;
}

/* ---- the calls ---- */

static const struct field open_luid[] = {
    VN(D3DKMT_OPENADAPTERFROMLUID, "LowPart", AdapterLuid.LowPart),
    VN(D3DKMT_OPENADAPTERFROMLUID, "HighPart", AdapterLuid.HighPart),
    V(D3DKMT_OPENADAPTERFROMLUID, hAdapter)};
static const struct field close_adapter[] = {V(D3DKMT_CLOSEADAPTER, hAdapter)};
static const struct field query_adapter[] = {
    V(D3DKMT_QUERYADAPTERINFO, hAdapter), V(D3DKMT_QUERYADAPTERINFO, Type),
    B(D3DKMT_QUERYADAPTERINFO, pPrivateDriverData, PrivateDriverDataSize)};
static const struct field create_device[] = {V(D3DKMT_CREATEDEVICE, hAdapter),
                                             VN(D3DKMT_CREATEDEVICE, "Flags", Flags),
                                             V(D3DKMT_CREATEDEVICE, hDevice)};
static const struct field destroy_device[] = {V(D3DKMT_DESTROYDEVICE, hDevice)};
static const struct field create_context[] = {
    V(D3DKMT_CREATECONTEXT, hDevice),
    V(D3DKMT_CREATECONTEXT, NodeOrdinal),
    V(D3DKMT_CREATECONTEXT, EngineAffinity),
    VN(D3DKMT_CREATECONTEXT, "Flags", Flags.Value),
    B(D3DKMT_CREATECONTEXT, pPrivateDriverData, PrivateDriverDataSize),
    V(D3DKMT_CREATECONTEXT, ClientHint),
    V(D3DKMT_CREATECONTEXT, hContext),
    {"pCommandBuffer", FIELD_MEMORY, offsetof(D3DKMT_CREATECONTEXT, pCommandBuffer), 1,
     offsetof(D3DKMT_CREATECONTEXT, CommandBufferSize), 0},
    V(D3DKMT_CREATECONTEXT, CommandBufferSize),
    M(D3DKMT_CREATECONTEXT, pAllocationList, AllocationListSize),
    V(D3DKMT_CREATECONTEXT, AllocationListSize),
    M(D3DKMT_CREATECONTEXT, pPatchLocationList, PatchLocationListSize),
    V(D3DKMT_CREATECONTEXT, PatchLocationListSize)};
static const struct field create_context_virtual[] = {
    V(D3DKMT_CREATECONTEXTVIRTUAL, hDevice),
    V(D3DKMT_CREATECONTEXTVIRTUAL, NodeOrdinal),
    V(D3DKMT_CREATECONTEXTVIRTUAL, EngineAffinity),
    VN(D3DKMT_CREATECONTEXTVIRTUAL, "Flags", Flags.Value),
    B(D3DKMT_CREATECONTEXTVIRTUAL, pPrivateDriverData, PrivateDriverDataSize),
    V(D3DKMT_CREATECONTEXTVIRTUAL, ClientHint),
    V(D3DKMT_CREATECONTEXTVIRTUAL, hContext)};
static const struct field destroy_context[] = {V(D3DKMT_DESTROYCONTEXT, hContext)};
static const struct field destroy_allocation[] = {
    V(D3DKMT_DESTROYALLOCATION2, hDevice), V(D3DKMT_DESTROYALLOCATION2, hResource),
    A(D3DKMT_DESTROYALLOCATION2, phAllocationList, AllocationCount),
    VN(D3DKMT_DESTROYALLOCATION2, "Flags", Flags.Value)};
static const struct field unlock[] = {V(D3DKMT_UNLOCK, hDevice),
                                      A(D3DKMT_UNLOCK, phAllocations, NumAllocations)};
static const struct field set_priority[] = {V(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY, hContext),
                                            V(D3DKMT_SETCONTEXTSCHEDULINGPRIORITY, Priority)};
static const struct field unlock2[] = {V(D3DKMT_UNLOCK2, hDevice), V(D3DKMT_UNLOCK2, hAllocation)};
static const struct field make_resident[] = {
    V(D3DDDI_MAKERESIDENT, hPagingQueue), A(D3DDDI_MAKERESIDENT, AllocationList, NumAllocations),
    VN(D3DDDI_MAKERESIDENT, "Flags", Flags.Value), V(D3DDDI_MAKERESIDENT, PagingFenceValue),
    V(D3DDDI_MAKERESIDENT, NumBytesToTrim)};
static const struct field evict[] = {
    V(D3DKMT_EVICT, hDevice), A(D3DKMT_EVICT, AllocationList, NumAllocations),
    VN(D3DKMT_EVICT, "Flags", Flags.Value), V(D3DKMT_EVICT, NumBytesToTrim)};
static const struct field create_paging_queue[] = {
    V(D3DKMT_CREATEPAGINGQUEUE, hDevice), V(D3DKMT_CREATEPAGINGQUEUE, Priority),
    V(D3DKMT_CREATEPAGINGQUEUE, hPagingQueue), V(D3DKMT_CREATEPAGINGQUEUE, hSyncObject)};
static const struct field destroy_paging_queue[] = {V(D3DDDI_DESTROYPAGINGQUEUE, hPagingQueue)};
static const struct field map_va[] = {
    V(D3DDDI_MAPGPUVIRTUALADDRESS, hPagingQueue),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, BaseAddress),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, MinimumAddress),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, MaximumAddress),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, hAllocation),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, OffsetInPages),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, SizeInPages),
    VN(D3DDDI_MAPGPUVIRTUALADDRESS, "Protection", Protection.Value),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, DriverProtection),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, VirtualAddress),
    V(D3DDDI_MAPGPUVIRTUALADDRESS, PagingFenceValue)};
static const struct field reserve_va[] = {V(D3DDDI_RESERVEGPUVIRTUALADDRESS, hPagingQueue),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, BaseAddress),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, MinimumAddress),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, MaximumAddress),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, Size),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, ReservationType),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, DriverProtection),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, VirtualAddress),
                                          V(D3DDDI_RESERVEGPUVIRTUALADDRESS, PagingFenceValue)};
static const struct field free_va[] = {V(D3DKMT_FREEGPUVIRTUALADDRESS, hAdapter),
                                       V(D3DKMT_FREEGPUVIRTUALADDRESS, BaseAddress),
                                       V(D3DKMT_FREEGPUVIRTUALADDRESS, Size)};
static const struct field render[] = {
    V(D3DKMT_RENDER, hContext),
    V(D3DKMT_RENDER, CommandOffset),
    V(D3DKMT_RENDER, CommandLength),
    V(D3DKMT_RENDER, AllocationCount),
    V(D3DKMT_RENDER, PatchLocationCount),
    VN(D3DKMT_RENDER, "Flags", Flags),
    {"pCommandBuffer", FIELD_MEMORY, offsetof(D3DKMT_RENDER, pNewCommandBuffer), 1,
     offsetof(D3DKMT_RENDER, NewCommandBufferSize), 0},
    VN(D3DKMT_RENDER, "CommandBufferSize", NewCommandBufferSize),
    MN(D3DKMT_RENDER, "pAllocationList", pNewAllocationList, NewAllocationListSize),
    VN(D3DKMT_RENDER, "AllocationListSize", NewAllocationListSize),
    MN(D3DKMT_RENDER, "pPatchLocationList", pNewPatchLocationList, NewPatchLocationListSize),
    VN(D3DKMT_RENDER, "PatchLocationListSize", NewPatchLocationListSize),
    I(D3DKMT_RENDER, BroadcastContext, BroadcastContextCount),
    V(D3DKMT_RENDER, QueuedBufferCount)};
static const struct field destroy_sync[] = {V(D3DKMT_DESTROYSYNCHRONIZATIONOBJECT, hSyncObject)};
static const struct field wait_cpu[] = {
    V(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, hDevice),
    A(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, ObjectHandleArray, ObjectCount),
    P(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, FenceValueArray, ObjectCount),
    VN(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, "Flags", Flags)};
static const struct field signal_cpu[] = {
    V(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU, hDevice),
    A(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU, ObjectHandleArray, ObjectCount),
    P(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU, FenceValueArray, ObjectCount),
    VN(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU, "Flags", Flags)};
static const struct field wait_gpu[] = {
    V(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU, hContext),
    A(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU, ObjectHandleArray, ObjectCount),
    P(D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU, MonitoredFenceValueArray, ObjectCount)};
static const struct field signal_gpu[] = {
    V(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU, hContext),
    A(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU, ObjectHandleArray, ObjectCount),
    P(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU, MonitoredFenceValueArray, ObjectCount)};
static const struct field escape[] = {V(D3DKMT_ESCAPE, hAdapter),
                                      V(D3DKMT_ESCAPE, hDevice),
                                      V(D3DKMT_ESCAPE, Type),
                                      VN(D3DKMT_ESCAPE, "Flags", Flags.Value),
                                      B(D3DKMT_ESCAPE, pPrivateDriverData, PrivateDriverDataSize),
                                      V(D3DKMT_ESCAPE, hContext)};
static const struct field submit_command[] = {
    V(D3DKMT_SUBMITCOMMAND, Commands),
    V(D3DKMT_SUBMITCOMMAND, CommandLength),
    VN(D3DKMT_SUBMITCOMMAND, "Flags", Flags),
    I(D3DKMT_SUBMITCOMMAND, BroadcastContext, BroadcastContextCount),
    B(D3DKMT_SUBMITCOMMAND, pPrivateDriverData, PrivateDriverDataSize),
    I(D3DKMT_SUBMITCOMMAND, WrittenPrimaries, NumPrimaries),
    A(D3DKMT_SUBMITCOMMAND, HistoryBufferArray, NumHistoryBuffers)};
static const struct field create_hw_context[] = {
    V(D3DKMT_CREATEHWCONTEXT, hDevice),
    V(D3DKMT_CREATEHWCONTEXT, NodeOrdinal),
    V(D3DKMT_CREATEHWCONTEXT, EngineAffinity),
    VN(D3DKMT_CREATEHWCONTEXT, "Flags", Flags.Value),
    B(D3DKMT_CREATEHWCONTEXT, pPrivateDriverData, PrivateDriverDataSize),
    V(D3DKMT_CREATEHWCONTEXT, hHwContext)};
static const struct field destroy_hw_context[] = {V(D3DKMT_DESTROYHWCONTEXT, hHwContext)};
static const struct field create_hw_queue[] = {
    V(D3DKMT_CREATEHWQUEUE, hHwContext),
    VN(D3DKMT_CREATEHWQUEUE, "Flags", Flags.Value),
    B(D3DKMT_CREATEHWQUEUE, pPrivateDriverData, PrivateDriverDataSize),
    V(D3DKMT_CREATEHWQUEUE, hHwQueue),
    V(D3DKMT_CREATEHWQUEUE, hHwQueueProgressFence),
    M1(D3DKMT_CREATEHWQUEUE, HwQueueProgressFenceCPUVirtualAddress, sizeof(UINT64)),
    V(D3DKMT_CREATEHWQUEUE, HwQueueProgressFenceGPUVirtualAddress)};
static const struct field destroy_hw_queue[] = {V(D3DKMT_DESTROYHWQUEUE, hHwQueue)};
static const struct field submit_to_hw_queue[] = {
    V(D3DKMT_SUBMITCOMMANDTOHWQUEUE, hHwQueue),
    V(D3DKMT_SUBMITCOMMANDTOHWQUEUE, HwQueueProgressFenceId),
    V(D3DKMT_SUBMITCOMMANDTOHWQUEUE, CommandBuffer),
    V(D3DKMT_SUBMITCOMMANDTOHWQUEUE, CommandLength),
    B(D3DKMT_SUBMITCOMMANDTOHWQUEUE, pPrivateDriverData, PrivateDriverDataSize),
    A(D3DKMT_SUBMITCOMMANDTOHWQUEUE, WrittenPrimaries, NumPrimaries)};
static const struct field wait_on_hw_queue[] = {
    V(D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE, hHwQueue),
    A(D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE, ObjectHandleArray, ObjectCount),
    P(D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE, FenceValueArray, ObjectCount)};
static const struct field signal_from_hw_queue[] = {
    VN(D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE, "Flags", Flags.Value),
    A(D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE, BroadcastHwQueueArray, BroadcastHwQueueCount),
    A(D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE, ObjectHandleArray, ObjectCount),
    P(D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE, FenceValueArray, ObjectCount)};
static const struct field wait_idle[] = {V(D3DKMT_WAITFORIDLE, hDevice)};
static const struct field video_memory[] = {V(D3DKMT_QUERYVIDEOMEMORYINFO, hAdapter),
                                            V(D3DKMT_QUERYVIDEOMEMORYINFO, MemorySegmentGroup),
                                            V(D3DKMT_QUERYVIDEOMEMORYINFO, Budget),
                                            V(D3DKMT_QUERYVIDEOMEMORYINFO, CurrentUsage),
                                            V(D3DKMT_QUERYVIDEOMEMORYINFO, CurrentReservation),
                                            V(D3DKMT_QUERYVIDEOMEMORYINFO, AvailableForReservation)};
static const struct field clock[] = {
    V(D3DKMT_QUERYCLOCKCALIBRATION, hAdapter),
    V(D3DKMT_QUERYCLOCKCALIBRATION, NodeOrdinal),
    V(D3DKMT_QUERYCLOCKCALIBRATION, PhysicalAdapterIndex),
    VN(D3DKMT_QUERYCLOCKCALIBRATION, "GpuFrequency", ClockData.GpuFrequency),
    VN(D3DKMT_QUERYCLOCKCALIBRATION, "GpuClockCounter", ClockData.GpuClockCounter),
    VN(D3DKMT_QUERYCLOCKCALIBRATION, "CpuClockCounter", ClockData.CpuClockCounter)};

static const struct field destroy_allocation1[] = {
    V(D3DKMT_DESTROYALLOCATION, hDevice), V(D3DKMT_DESTROYALLOCATION, hResource),
    A(D3DKMT_DESTROYALLOCATION, phAllocationList, AllocationCount)};
static const struct field set_allocation_priority[] = {
    V(D3DKMT_SETALLOCATIONPRIORITY, hDevice), V(D3DKMT_SETALLOCATIONPRIORITY, hResource),
    A(D3DKMT_SETALLOCATIONPRIORITY, phAllocationList, AllocationCount),
    P(D3DKMT_SETALLOCATIONPRIORITY, pPriorities, AllocationCount)};
static const struct field get_allocation_priority[] = {
    V(D3DKMT_GETALLOCATIONPRIORITY, hDevice), V(D3DKMT_GETALLOCATIONPRIORITY, hResource),
    A(D3DKMT_GETALLOCATIONPRIORITY, phAllocationList, AllocationCount),
    R(D3DKMT_GETALLOCATIONPRIORITY, pPriorities, AllocationCount)};
static const struct field query_residency[] = {
    V(D3DKMT_QUERYALLOCATIONRESIDENCY, hDevice), V(D3DKMT_QUERYALLOCATIONRESIDENCY, hResource),
    A(D3DKMT_QUERYALLOCATIONRESIDENCY, phAllocationList, AllocationCount),
    R(D3DKMT_QUERYALLOCATIONRESIDENCY, pResidencyStatus, AllocationCount)};
static const struct field offer[] = {
    V(D3DKMT_OFFERALLOCATIONS, hDevice), A(D3DKMT_OFFERALLOCATIONS, pResources, NumAllocations),
    A(D3DKMT_OFFERALLOCATIONS, HandleList, NumAllocations), V(D3DKMT_OFFERALLOCATIONS, Priority),
    VN(D3DKMT_OFFERALLOCATIONS, "Flags", Flags)};
static const struct field reclaim[] = {V(D3DKMT_RECLAIMALLOCATIONS, hDevice),
                                       A(D3DKMT_RECLAIMALLOCATIONS, pResources, NumAllocations),
                                       A(D3DKMT_RECLAIMALLOCATIONS, HandleList, NumAllocations),
                                       R(D3DKMT_RECLAIMALLOCATIONS, pDiscarded, NumAllocations)};
static const struct field reclaim2[] = {V(D3DKMT_RECLAIMALLOCATIONS2, hPagingQueue),
                                        A(D3DKMT_RECLAIMALLOCATIONS2, pResources, NumAllocations),
                                        A(D3DKMT_RECLAIMALLOCATIONS2, HandleList, NumAllocations),
                                        R(D3DKMT_RECLAIMALLOCATIONS2, pResults, NumAllocations),
                                        V(D3DKMT_RECLAIMALLOCATIONS2, PagingFenceValue)};
static const struct field get_priority[] = {V(D3DKMT_GETCONTEXTSCHEDULINGPRIORITY, hContext),
                                            V(D3DKMT_GETCONTEXTSCHEDULINGPRIORITY, Priority)};
static const struct field mark_error[] = {V(D3DKMT_MARKDEVICEASERROR, hDevice),
                                          V(D3DKMT_MARKDEVICEASERROR, Reason)};
static const struct field reserve_memory[] = {
    V(D3DKMT_CHANGEVIDEOMEMORYRESERVATION, hAdapter),
    V(D3DKMT_CHANGEVIDEOMEMORYRESERVATION, MemorySegmentGroup),
    V(D3DKMT_CHANGEVIDEOMEMORYRESERVATION, Reservation),
    V(D3DKMT_CHANGEVIDEOMEMORYRESERVATION, PhysicalAdapterIndex)};
static const struct field wait_sync[] = {
    V(D3DKMT_WAITFORSYNCHRONIZATIONOBJECT, hContext),
    I(D3DKMT_WAITFORSYNCHRONIZATIONOBJECT, ObjectHandleArray, ObjectCount)};
static const struct field wait_sync2[] = {
    V(D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2, hContext),
    I(D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2, ObjectHandleArray, ObjectCount),
    VN(D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2, "FenceValue", Fence.FenceValue)};
static const struct field signal_sync[] = {
    V(D3DKMT_SIGNALSYNCHRONIZATIONOBJECT, hContext),
    I(D3DKMT_SIGNALSYNCHRONIZATIONOBJECT, ObjectHandleArray, ObjectCount),
    VN(D3DKMT_SIGNALSYNCHRONIZATIONOBJECT, "Flags", Flags)};
static const struct field signal_sync2[] = {
    V(D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2, hContext),
    I(D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2, ObjectHandleArray, ObjectCount),
    VN(D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2, "Flags", Flags),
    I(D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2, BroadcastContext, BroadcastContextCount),
    VN(D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2, "FenceValue", Fence.FenceValue)};
static const struct field signal_gpu2[] = {
    A(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2, ObjectHandleArray, ObjectCount),
    VN(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2, "Flags", Flags),
    A(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2, BroadcastContextArray, BroadcastContextCount),
    P(D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2, MonitoredFenceValueArray, ObjectCount)};

static const struct field set_in_process_priority[] = {
    V(D3DKMT_SETCONTEXTINPROCESSSCHEDULINGPRIORITY, hContext),
    V(D3DKMT_SETCONTEXTINPROCESSSCHEDULINGPRIORITY, Priority)};
static const struct field get_in_process_priority[] = {
    V(D3DKMT_GETCONTEXTINPROCESSSCHEDULINGPRIORITY, hContext),
    V(D3DKMT_GETCONTEXTINPROCESSSCHEDULINGPRIORITY, Priority)};

/* Calls without a structure, of the calling process. */
struct process_class {
    D3DKMT_SCHEDULINGPRIORITYCLASS Priority;
};
static const struct field process_class[] = {V(struct process_class, Priority)};

static NTSTATUS call_SetProcessSchedulingPriorityClass(void *args)
{
    return D3DKMTSetProcessSchedulingPriorityClass(NtCurrentProcess(),
                                                   ((struct process_class *)args)->Priority);
}

static NTSTATUS call_GetProcessSchedulingPriorityClass(void *args)
{
    return D3DKMTGetProcessSchedulingPriorityClass(NtCurrentProcess(),
                                                   &((struct process_class *)args)->Priority);
}

#define CALLS(X)                                                                                    \
    X(OpenAdapterFromLuid, D3DKMT_OPENADAPTERFROMLUID, open_luid)                                   \
    X(CloseAdapter, D3DKMT_CLOSEADAPTER, close_adapter)                                             \
    X(QueryAdapterInfo, D3DKMT_QUERYADAPTERINFO, query_adapter)                                     \
    X(CreateDevice, D3DKMT_CREATEDEVICE, create_device)                                             \
    X(DestroyDevice, D3DKMT_DESTROYDEVICE, destroy_device)                                          \
    X(CreateContext, D3DKMT_CREATECONTEXT, create_context)                                          \
    X(CreateContextVirtual, D3DKMT_CREATECONTEXTVIRTUAL, create_context_virtual)                    \
    X(DestroyContext, D3DKMT_DESTROYCONTEXT, destroy_context)                                       \
    X(DestroyAllocation2, D3DKMT_DESTROYALLOCATION2, destroy_allocation)                            \
    X(DestroyAllocation, D3DKMT_DESTROYALLOCATION, destroy_allocation1)                             \
    X(SetAllocationPriority, D3DKMT_SETALLOCATIONPRIORITY, set_allocation_priority)                 \
    X(GetAllocationPriority, D3DKMT_GETALLOCATIONPRIORITY, get_allocation_priority)                 \
    X(QueryAllocationResidency, D3DKMT_QUERYALLOCATIONRESIDENCY, query_residency)                   \
    X(OfferAllocations, D3DKMT_OFFERALLOCATIONS, offer)                                             \
    X(ReclaimAllocations, D3DKMT_RECLAIMALLOCATIONS, reclaim)                                       \
    X(ReclaimAllocations2, D3DKMT_RECLAIMALLOCATIONS2, reclaim2)                                    \
    X(GetContextSchedulingPriority, D3DKMT_GETCONTEXTSCHEDULINGPRIORITY, get_priority)              \
    X(MarkDeviceAsError, D3DKMT_MARKDEVICEASERROR, mark_error)                                      \
    X(ChangeVideoMemoryReservation, D3DKMT_CHANGEVIDEOMEMORYRESERVATION, reserve_memory)            \
    X(WaitForSynchronizationObject, D3DKMT_WAITFORSYNCHRONIZATIONOBJECT, wait_sync)                 \
    X(WaitForSynchronizationObject2, D3DKMT_WAITFORSYNCHRONIZATIONOBJECT2, wait_sync2)              \
    X(SignalSynchronizationObject, D3DKMT_SIGNALSYNCHRONIZATIONOBJECT, signal_sync)                 \
    X(SignalSynchronizationObject2, D3DKMT_SIGNALSYNCHRONIZATIONOBJECT2, signal_sync2)              \
    X(SignalSynchronizationObjectFromGpu2, D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2, signal_gpu2) \
    X(Unlock, D3DKMT_UNLOCK, unlock)                                                                \
    X(Unlock2, D3DKMT_UNLOCK2, unlock2)                                                             \
    X(SetContextSchedulingPriority, D3DKMT_SETCONTEXTSCHEDULINGPRIORITY, set_priority)              \
    X(SetContextInProcessSchedulingPriority, D3DKMT_SETCONTEXTINPROCESSSCHEDULINGPRIORITY,          \
      set_in_process_priority)                                                                      \
    X(GetContextInProcessSchedulingPriority, D3DKMT_GETCONTEXTINPROCESSSCHEDULINGPRIORITY,          \
      get_in_process_priority)                                                                      \
    X(MakeResident, D3DDDI_MAKERESIDENT, make_resident)                                             \
    X(Evict, D3DKMT_EVICT, evict)                                                                   \
    X(CreatePagingQueue, D3DKMT_CREATEPAGINGQUEUE, create_paging_queue)                             \
    X(DestroyPagingQueue, D3DDDI_DESTROYPAGINGQUEUE, destroy_paging_queue)                          \
    X(MapGpuVirtualAddress, D3DDDI_MAPGPUVIRTUALADDRESS, map_va)                                    \
    X(ReserveGpuVirtualAddress, D3DDDI_RESERVEGPUVIRTUALADDRESS, reserve_va)                        \
    X(FreeGpuVirtualAddress, D3DKMT_FREEGPUVIRTUALADDRESS, free_va)                                 \
    X(Render, D3DKMT_RENDER, render)                                                                \
    X(DestroySynchronizationObject, D3DKMT_DESTROYSYNCHRONIZATIONOBJECT, destroy_sync)              \
    X(WaitForSynchronizationObjectFromCpu, D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU, wait_cpu)    \
    X(SignalSynchronizationObjectFromCpu, D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU, signal_cpu)    \
    X(WaitForSynchronizationObjectFromGpu, D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU, wait_gpu)    \
    X(SignalSynchronizationObjectFromGpu, D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU, signal_gpu)    \
    X(SubmitCommand, D3DKMT_SUBMITCOMMAND, submit_command)                                          \
    X(CreateHwContext, D3DKMT_CREATEHWCONTEXT, create_hw_context)                                   \
    X(DestroyHwContext, D3DKMT_DESTROYHWCONTEXT, destroy_hw_context)                                \
    X(CreateHwQueue, D3DKMT_CREATEHWQUEUE, create_hw_queue)                                         \
    X(DestroyHwQueue, D3DKMT_DESTROYHWQUEUE, destroy_hw_queue)                                      \
    X(SubmitCommandToHwQueue, D3DKMT_SUBMITCOMMANDTOHWQUEUE, submit_to_hw_queue)                    \
    X(SubmitWaitForSyncObjectsToHwQueue, D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE,                  \
      wait_on_hw_queue)                                                                             \
    X(SubmitSignalSyncObjectsToHwQueue, D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE,                    \
      signal_from_hw_queue)                                                                         \
    X(Escape, D3DKMT_ESCAPE, escape)                                                                \
    X(WaitForIdle, D3DKMT_WAITFORIDLE, wait_idle)                                                   \
    X(QueryVideoMemoryInfo, D3DKMT_QUERYVIDEOMEMORYINFO, video_memory)                              \
    X(QueryClockCalibration, D3DKMT_QUERYCLOCKCALIBRATION, clock)

CALLS(CALLER)

static const struct d3dkmt_call calls[] = {
    CALLS(ENTRY) ENTRY(SetProcessSchedulingPriorityClass, struct process_class, process_class)
        ENTRY(GetProcessSchedulingPriorityClass, struct process_class, process_class)};

void lua_d3dkmt_open(lua_State *L)
{
    luaL_newmetatable(L, "dxgk.status");
    lua_pushcfunction(L, status_tostring);
    lua_setfield(L, -2, "__tostring");
    lua_pop(L, 1);
    lua_newtable(L);
    lua_d3dkmt_add(L, calls, ARRAY_COUNT(calls));
    lua_d3dkmt_special(L);
    lua_d3dkmt_sync(L);
    lua_d3dkmt_share(L);
    lua_d3dkmt_mutex(L);
    lua_d3dkmt_display(L);
    nearest_for_table(L, "D3DKMT");
    lua_setglobal(L, "D3DKMT");
}
