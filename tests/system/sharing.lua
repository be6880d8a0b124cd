-- SPDX-License-Identifier: MIT
-- What processes share, in one process: resources, synchronization objects and keyed mutexes, by global and by NT handles and by
-- names; an adapter by the path of its device interface; and synchronization objects described as the structure has it. For the
-- reference driver.
local CREATE_RESOURCE, CREATE_SHARED, NT_SHARING = 1, 2, 0x40
local DATA = string.pack("<I4I4I8I4I4I4I4I4I4", 0x444D5552, 0x100, 65536, 0, 0, 0, 0, 0, 0)
local SYNC_SHARED, SYNC_NT = 1, 2
local ALL_ACCESS = 0x1F0003

local function fails(part, f, ...)
    local ok, why = pcall(f, ...)
    if ok or not tostring(why):find(part, 1, true) then
        error(string.format("'%s' expected, got '%s'", part, tostring(why)), 2)
    end
end

local function same(a, b)
    if a ~= b then
        error(string.format("%s is not %s", a, b), 2)
    end
end

-- ---- an adapter by its path ----

local first = D3DKMT.EnumAdapters2()[1]
local path = dxgk.device_interface()
same(dxgk.device_interface(1), path)
same(dxgk.device_interface(2), nil)
local opened = D3DKMT.OpenAdapterFromDeviceName{pDeviceName = path:upper()}
same(opened.LowPart, first.LowPart)
D3DKMT.CloseAdapter{hAdapter = opened.hAdapter}
fails("no adapter has the device name", D3DKMT.OpenAdapterFromDeviceName, {pDeviceName = path .. "x"})

-- ---- resources ----

local device = D3DKMT.CreateDevice{hAdapter = first.hAdapter}.hDevice
local other = D3DKMT.CreateDevice{hAdapter = first.hAdapter}.hDevice

local function resource(flags)
    local info = {pPrivateDriverData = DATA}
    return D3DKMT.CreateAllocation2{hDevice = device, Flags = CREATE_RESOURCE | flags, pAllocationInfo = {info}}
end

local function arguments(query, handle, value)
    return {hDevice = other, [handle] = value, NumAllocations = query.NumAllocations,
        PrivateRuntimeDataSize = query.PrivateRuntimeDataSize, ResourcePrivateDriverDataSize = query.ResourcePrivateDriverDataSize,
        TotalPrivateDriverDataBufferSize = query.TotalPrivateDriverDataSize}
end

local shared = resource(CREATE_SHARED)
assert(shared.hGlobalShare ~= 0)
local query = D3DKMT.QueryResourceInfo{hDevice = other, hGlobalShare = shared.hGlobalShare}
same(query.NumAllocations, 1)
local copy = D3DKMT.OpenResource2(arguments(query, "hGlobalShare", shared.hGlobalShare))
assert(copy.hResource ~= 0 and copy.hResource ~= shared.hResource)
same(#copy.pOpenAllocationInfo2, 1)
assert(copy.pOpenAllocationInfo2[1].hAllocation ~= 0)
same(copy.pOpenAllocationInfo2[1].pPrivateDriverData:sub(1, 4), DATA:sub(1, 4))
same(#copy.pOpenAllocationInfo2[1].pPrivateDriverData, query.TotalPrivateDriverDataSize)
D3DKMT.DestroyAllocation2{hDevice = other, hResource = copy.hResource}
D3DKMT.DestroyAllocation2{hDevice = device, hResource = shared.hResource}

shared = resource(CREATE_SHARED | NT_SHARING)
local nt = D3DKMT.ShareObjects{hObjects = {shared.hResource}, dwDesiredAccess = ALL_ACCESS, Name = "\\BaseNamedObjects\\picture"}
local again = D3DKMT.OpenNtHandleFromName{Name = "\\BaseNamedObjects\\PICTURE", dwDesiredAccess = ALL_ACCESS}.hNtHandle
query = D3DKMT.QueryResourceInfoFromNtHandle{hDevice = other, hNtHandle = again}
copy = D3DKMT.OpenResourceFromNtHandle(arguments(query, "hNtHandle", again))
assert(copy.hResource ~= 0 and copy.pOpenAllocationInfo2[1].hAllocation ~= 0)
dxgk.close(again)
dxgk.close(nt.hSharedNtHandle)
fails("is no handle", dxgk.close, nt.hSharedNtHandle)
fails("STATUS_OBJECT_NAME_NOT_FOUND", D3DKMT.OpenNtHandleFromName, {Name = "\\BaseNamedObjects\\picture", dwDesiredAccess = ALL_ACCESS})
fails("no member Nam; the nearest is Name", D3DKMT.ShareObjects, {Nam = "x"})
fails("hObjects: array expected", D3DKMT.ShareObjects, {})
D3DKMT.DestroyAllocation2{hDevice = other, hResource = copy.hResource}
D3DKMT.DestroyAllocation2{hDevice = device, hResource = shared.hResource}

-- ---- synchronization objects, as the structure has them ----

local fence = D3DKMT.CreateSynchronizationObject2{hDevice = device,
    Info = {Type = D3DDDI_MONITORED_FENCE, MonitoredFence = {InitialFenceValue = 7}}}
same(fence.Info.MonitoredFence.FenceValueCPUVirtualAddress:u64(0), 7)
same(fence.FenceValueCPUVirtualAddress:u64(0), 7)
same(fence.Info.SharedHandle, 0)
D3DKMT.DestroySynchronizationObject{hSyncObject = fence.hSyncObject}
fails("Info has no member Typ; the nearest is Type", D3DKMT.CreateSynchronizationObject2, {Info = {Typ = 1}})
fails("MonitoredFence has no member InitialValue", D3DKMT.CreateSynchronizationObject2, {Info = {MonitoredFence = {InitialValue = 1}}})
fails("CreateSynchronizationObject2 with Info has no member Type", D3DKMT.CreateSynchronizationObject2, {Info = {}, Type = 1})

local semaphore = D3DKMT.CreateSynchronizationObject2{hDevice = device,
    Info = {Type = D3DDDI_FENCE, Flags = SYNC_SHARED, Fence = {FenceValue = 4}}}
assert(semaphore.SharedHandle ~= 0)
same(semaphore.Info.SharedHandle, semaphore.SharedHandle)
local second = D3DKMT.OpenSynchronizationObject{hSharedHandle = semaphore.SharedHandle}.hSyncObject
assert(second ~= semaphore.hSyncObject)
D3DKMT.DestroySynchronizationObject{hSyncObject = second}
D3DKMT.DestroySynchronizationObject{hSyncObject = semaphore.hSyncObject}

fence = D3DKMT.CreateSynchronizationObject2{hDevice = device, Type = D3DDDI_FENCE, Flags = SYNC_SHARED | SYNC_NT, FenceValue = 4}
nt = D3DKMT.ShareObjects{hObjects = {fence.hSyncObject}, dwDesiredAccess = ALL_ACCESS, Name = "\\BaseNamedObjects\\gate"}.hSharedNtHandle
again = D3DKMT.OpenSyncObjectNtHandleFromName{Name = "\\BaseNamedObjects\\gate", dwDesiredAccess = ALL_ACCESS}.hNtHandle
second = D3DKMT.OpenSyncObjectFromNtHandle{hNtHandle = nt}.hSyncObject
local third = D3DKMT.OpenSyncObjectFromNtHandle2{hNtHandle = again, hDevice = device, Flags = SYNC_SHARED | SYNC_NT}.hSyncObject
for _, object in ipairs{second, third, fence.hSyncObject} do
    D3DKMT.DestroySynchronizationObject{hSyncObject = object}
end
dxgk.close(again)
dxgk.close(nt)

-- ---- keyed mutexes ----

local mutex = D3DKMT.CreateKeyedMutex{InitialValue = 3}
local view = D3DKMT.OpenKeyedMutex{hSharedHandle = mutex.hSharedHandle}.hKeyedMutex
D3DKMT.AcquireKeyedMutex{hKeyedMutex = mutex.hKeyedMutex, Key = 3, pTimeout = {0}}
same(D3DKMT.AcquireKeyedMutex{hKeyedMutex = view, Key = 3, pTimeout = {0}}.status, "STATUS_TIMEOUT")
D3DKMT.ReleaseKeyedMutex{hKeyedMutex = mutex.hKeyedMutex, Key = 4, FenceValue = 9}
same(D3DKMT.AcquireKeyedMutex{hKeyedMutex = view, Key = 4, pTimeout = {0}}.FenceValue, 9)
D3DKMT.ReleaseKeyedMutex{hKeyedMutex = view, Key = 3, FenceValue = 10}
D3DKMT.DestroyKeyedMutex{hKeyedMutex = view}
D3DKMT.DestroyKeyedMutex{hKeyedMutex = mutex.hKeyedMutex}

mutex = D3DKMT.CreateKeyedMutex2{InitialValue = 1, pPrivateRuntimeData = "abcd"}
view = D3DKMT.OpenKeyedMutex2{hSharedHandle = mutex.hSharedHandle, pPrivateRuntimeData = "...."}
D3DKMT.AcquireKeyedMutex2{hKeyedMutex = view.hKeyedMutex, Key = 1, pPrivateRuntimeData = "...."}
D3DKMT.ReleaseKeyedMutex2{hKeyedMutex = view.hKeyedMutex, Key = 2, pPrivateRuntimeData = "efgh"}
same(D3DKMT.AcquireKeyedMutex2{hKeyedMutex = mutex.hKeyedMutex, Key = 2, pPrivateRuntimeData = "...."}.pPrivateRuntimeData, "efgh")
D3DKMT.ReleaseKeyedMutex2{hKeyedMutex = mutex.hKeyedMutex, Key = 1}
D3DKMT.DestroyKeyedMutex{hKeyedMutex = view.hKeyedMutex}
D3DKMT.DestroyKeyedMutex{hKeyedMutex = mutex.hKeyedMutex}

mutex = D3DKMT.CreateKeyedMutex2{InitialValue = 1, Flags = 1}
shared = resource(CREATE_SHARED | NT_SHARING)
fence = D3DKMT.CreateSynchronizationObject2{hDevice = device, Type = D3DDDI_FENCE, Flags = SYNC_SHARED | SYNC_NT, FenceValue = 0}
nt = D3DKMT.ShareObjects{hObjects = {shared.hResource, mutex.hKeyedMutex, fence.hSyncObject}, dwDesiredAccess = ALL_ACCESS}.hSharedNtHandle
view = D3DKMT.OpenKeyedMutexFromNtHandle{hNtHandle = nt}.hKeyedMutex
query = D3DKMT.QueryResourceInfoFromNtHandle{hDevice = other, hNtHandle = nt}
copy = D3DKMT.OpenResourceFromNtHandle(arguments(query, "hNtHandle", nt))
assert(copy.hKeyedMutex ~= 0 and copy.hSyncObject ~= 0)
dxgk.close(nt)
for _, object in ipairs{view, copy.hKeyedMutex, mutex.hKeyedMutex} do
    D3DKMT.DestroyKeyedMutex{hKeyedMutex = object}
end
for _, object in ipairs{copy.hSyncObject, fence.hSyncObject} do
    D3DKMT.DestroySynchronizationObject{hSyncObject = object}
end
D3DKMT.DestroyAllocation2{hDevice = other, hResource = copy.hResource}
D3DKMT.DestroyAllocation2{hDevice = device, hResource = shared.hResource}
D3DKMT.DestroyDevice{hDevice = other}
D3DKMT.DestroyDevice{hDevice = device}
