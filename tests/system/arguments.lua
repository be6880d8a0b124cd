-- SPDX-License-Identifier: MIT
-- Members of the D3DKMT calls: types and limits of values, blobs, arrays and names, and errors of each call that is written by hand.
-- For the reference driver.
local DATA = string.pack("<I4I4I8I4I4I4I4I4I4", 0x444D5552, 0x100, 65536, 0, 0, 0, 0, 0, 0)
local PLAIN = string.pack("<I4I4I8I4I4I4I4I4I4", 0x444D5552, 0, 65536, 0, 0, 0, 0, 0, 0)
local ALL_ACCESS = 0x1F0003

local function fails(what, f, ...)
    local good, why = pcall(f, ...)
    if good or not tostring(why):find(what, 1, true) then
        error(string.format("'%s' expected, got '%s'", what, tostring(why)), 2)
    end
    print((tostring(why):gsub("0x%x+", "@")))
    return why
end

local function same(a, b)
    if a ~= b then
        error(string.format("%s is not %s", a, b), 2)
    end
end

local adapter = D3DKMT.EnumAdapters2()[1].hAdapter
local device = D3DKMT.CreateDevice{hAdapter = adapter}.hDevice
local other = D3DKMT.CreateDevice{hAdapter = adapter, Flags = false}.hDevice
local context = D3DKMT.CreateContextVirtual{hDevice = device, NodeOrdinal = true}.hContext

-- ---- values ----

fails("member Flags: integer expected, got string", D3DKMT.CreateDevice, {hAdapter = adapter, Flags = "x"})
fails("member hAdapter: integer expected, got number", D3DKMT.CreateDevice, {hAdapter = 1.5})
fails("member hAdapter: integer expected, got table", D3DKMT.CreateDevice, {hAdapter = {}})
fails("reserved bits", D3DKMT.CreateContextVirtual, {hDevice = device, NodeOrdinal = 1, Flags = 1 << 31})
fails("table expected", D3DKMT.CreateDevice, 5)
fails("table expected", D3DKMT.CreateDevice)

-- ---- blobs ----

fails("member pPrivateDriverData: too long", D3DKMT.Escape, {hAdapter = adapter, pPrivateDriverData = ("x"):rep((16 << 20) + 1)})
fails("dxgk.buffer expected", D3DKMT.Escape, {hAdapter = adapter, pPrivateDriverData = {}})
fails("STATUS_INVALID_PARAMETER", D3DKMT.Escape, {hAdapter = adapter, Type = 999, pPrivateDriverData = ""})
local guid = dxgk.buffer(16)
local answer = D3DKMT.QueryAdapterInfo{hAdapter = adapter, Type = KMTQAITYPE_ADAPTERGUID, pPrivateDriverData = guid}
same(answer.pPrivateDriverData, guid:read())
same(answer.status, "STATUS_SUCCESS")
same(D3DKMT.QueryAdapterInfo{hAdapter = adapter, Type = KMTQAITYPE_ADAPTERGUID, pPrivateDriverData = ("x"):rep(16)}.pPrivateDriverData, guid:read())

-- ---- arrays ----

local gate = D3DKMT.CreateSynchronizationObject2{hDevice = device, Type = D3DDDI_MONITORED_FENCE, InitialFenceValue = 3}.hSyncObject
fails("member ObjectHandleArray: array expected, got number", D3DKMT.WaitForSynchronizationObjectFromCpu, {hDevice = device, ObjectHandleArray = 5})
local many = {}
for i = 1, 65537 do
    many[i] = gate
end
fails("member ObjectHandleArray: 65537 elements, at most 65536 are possible", D3DKMT.WaitForSynchronizationObjectFromCpu,
    {hDevice = device, ObjectHandleArray = many})
many[65537] = nil
fails("65536 handles", D3DKMT.WaitForSynchronizationObjectFromGpu, {hContext = context, ObjectHandleArray = many, MonitoredFenceValueArray = many})
fails("member ObjectHandleArray: integer expected, got string", D3DKMT.WaitForSynchronizationObjectFromCpu,
    {hDevice = device, ObjectHandleArray = {gate, "x"}})
fails("member FenceValueArray: 1 elements, but there are 2 to go with them", D3DKMT.WaitForSynchronizationObjectFromCpu,
    {hDevice = device, ObjectHandleArray = {gate, gate}, FenceValueArray = {3}})
D3DKMT.WaitForSynchronizationObjectFromCpu{hDevice = device, ObjectHandleArray = {gate}, FenceValueArray = {3, 4, 5}}
local list = {}
for i = 1, 33 do
    list[i] = i
end
fails("member ObjectHandleArray: 33 elements, at most 32 are possible", D3DKMT.WaitForSynchronizationObject, {hContext = context, ObjectHandleArray = list})
fails("member WrittenPrimaries: 17 elements, at most 16 are possible", D3DKMT.SubmitCommand,
    {BroadcastContext = {context}, WrittenPrimaries = table.pack(table.unpack(list, 1, 17))})

-- ---- allocations ----

fails("pAllocationInfo: array expected", D3DKMT.CreateAllocation2, {hDevice = device})
fails("pAllocationInfo: array expected", D3DKMT.CreateAllocation, {hDevice = device, pAllocationInfo = 5})
local too_many = {}
for i = 1, 4097 do
    too_many[i] = {}
end
fails("too many allocations", D3DKMT.CreateAllocation2, {hDevice = device, pAllocationInfo = too_many})
fails("table expected", D3DKMT.CreateAllocation2, {hDevice = device, pAllocationInfo = {5}})
fails("pPrivateDriverData", D3DKMT.CreateAllocation2, {hDevice = device, pAllocationInfo = {{pPrivateDriverData = ("x"):rep(1 << 24)}}})
fails("string expected", D3DKMT.CreateAllocation2, {hDevice = device, pAllocationInfo = {{pPrivateDriverData = {}}}})
fails("dxgk.buffer expected", D3DKMT.CreateAllocation2, {hDevice = device, pAllocationInfo = {{pSystemMem = 5}}})
dxgk.expect("KMT-201") -- the driver does not know of memory of the client
fails("CreateAllocation2", D3DKMT.CreateAllocation2, {hDevice = device, pAllocationInfo = {{pPrivateDriverData = DATA, pSystemMem = dxgk.buffer(65536)}}})
fails("D3DKMTCreateAllocation:", D3DKMT.CreateAllocation, {hDevice = 77, pAllocationInfo = {{pPrivateDriverData = DATA}}})
local made = D3DKMT.CreateAllocation2{hDevice = device, pAllocationInfo = {{pPrivateDriverData = PLAIN}, {pPrivateDriverData = dxgk.buffer(DATA), Priority = 0x90000000, VidPnSourceId = 7}}}
same(#made.pAllocationInfo, 2)
same(made.hResource, 0)
same(made.hGlobalShare, 0)
assert(made.pAllocationInfo[1].pPrivateDriverData:sub(1, 4) == DATA:sub(1, 4))
assert(made.pAllocationInfo[2].hAllocation ~= made.pAllocationInfo[1].hAllocation)
local visible = made.pAllocationInfo[2].hAllocation
for _, call in ipairs{"Lock", "Lock2"} do
    fails("Size: how many bytes of the allocation to see", D3DKMT[call], {hDevice = device, hAllocation = visible})
    fails("Size: how many bytes of the allocation to see", D3DKMT[call], {hDevice = device, hAllocation = visible, Size = -1})
    fails("D3DKMT" .. call .. ":", D3DKMT[call], {hDevice = device, hAllocation = 77, Size = 1})
    fails("D3DKMT" .. call .. ":", D3DKMT[call], {hDevice = device, hAllocation = visible, Flags = 3, Size = 1})
    same(#D3DKMT[call]{hDevice = device, hAllocation = visible, Size = 1}.pData, 1)
end
D3DKMT.Unlock{hDevice = device, phAllocations = {visible}}
D3DKMT.Unlock2{hDevice = device, hAllocation = visible}

-- ---- synchronization objects ----

for _, sync in ipairs{
    {call = "CreateSynchronizationObject", {Type = D3DDDI_SYNCHRONIZATION_MUTEX, InitialState = true}},
    {call = "CreateSynchronizationObject", {Type = D3DDDI_SYNCHRONIZATION_MUTEX}},
    {call = "CreateSynchronizationObject", {MaxCount = 4, InitialCount = 4}},
    {call = "CreateSynchronizationObject", {}},
    {call = "CreateSynchronizationObject", bad = "a semaphore", {MaxCount = 4, InitialCount = 5}},
    {call = "CreateSynchronizationObject", bad = "this call creates mutexes and semaphores", {Type = D3DDDI_FENCE}},
    {call = "CreateSynchronizationObject2", {Type = D3DDDI_SYNCHRONIZATION_MUTEX, InitialState = 1}},
    {call = "CreateSynchronizationObject2", {Type = D3DDDI_SEMAPHORE, MaxCount = 2, InitialCount = 2}},
    {call = "CreateSynchronizationObject2", {Type = D3DDDI_SEMAPHORE}},
    {call = "CreateSynchronizationObject2", bad = "a semaphore", {Type = D3DDDI_SEMAPHORE, InitialCount = 2}},
    {call = "CreateSynchronizationObject2", bad = "D3DKMTCreateSynchronizationObject2", {Type = 99}},
    {call = "CreateSynchronizationObject2", bad = "D3DKMTCreateSynchronizationObject2", {Flags = 1 << 30}},
    {call = "CreateSynchronizationObject2", {Flags = 0x80}},
} do
    sync[1].hDevice = device
    if sync.bad then
        fails(sync.bad == "a semaphore" and "D3DKMT" .. sync.call or sync.bad, D3DKMT[sync.call], sync[1])
    else
        local object = D3DKMT[sync.call](sync[1])
        assert(object.hSyncObject ~= 0)
        D3DKMT.DestroySynchronizationObject{hSyncObject = object.hSyncObject}
    end
end
-- a mutex that starts with an owner, and a semaphore without a count, hold a context up until they are signalled
local mutex = D3DKMT.CreateSynchronizationObject{hDevice = device, Type = D3DDDI_SYNCHRONIZATION_MUTEX, InitialState = 1}.hSyncObject
local fence = D3DKMT.CreateSynchronizationObject2{hDevice = device}
local wait = {hContext = context, ObjectHandleArray = {mutex}}
D3DKMT.WaitForSynchronizationObject(wait)
D3DKMT.SignalSynchronizationObjectFromGpu{hContext = context, ObjectHandleArray = {fence.hSyncObject}, MonitoredFenceValueArray = {9}}
dxgk.sleep(1000000)
same(fence.FenceValueCPUVirtualAddress:u64(0), 0)
D3DKMT.SignalSynchronizationObject{hContext = D3DKMT.CreateContextVirtual{hDevice = device, NodeOrdinal = 1}.hContext, ObjectHandleArray = {mutex}}
D3DKMT.WaitForSynchronizationObjectFromCpu{hDevice = device, ObjectHandleArray = {fence.hSyncObject}, FenceValueArray = {9}}
same(fence.FenceValueCPUVirtualAddress:u64(0), 9)

-- ---- sharing ----

local word = "at most 4294967295 is possible"
fails(word, D3DKMT.OpenResource2, {hDevice = 1 << 32})
fails("member NumAllocations: 4097, at most 4096 is possible", D3DKMT.OpenResource2, {NumAllocations = 4097})
for _, member in ipairs{"PrivateRuntimeDataSize", "ResourcePrivateDriverDataSize", "TotalPrivateDriverDataBufferSize"} do
    fails("member " .. member .. ": 16777217, at most 16777216 is possible", D3DKMT.OpenResource2, {[member] = (1 << 24) + 1})
    fails("member " .. member .. ": 16777217, at most 16777216 is possible", D3DKMT.OpenResourceFromNtHandle, {[member] = (1 << 24) + 1})
end
fails("member KeyedMutexPrivateRuntimeDataSize: 16777217", D3DKMT.OpenResourceFromNtHandle, {KeyedMutexPrivateRuntimeDataSize = (1 << 24) + 1})
fails("D3DKMTOpenResource2:", D3DKMT.OpenResource2, {hDevice = device, hGlobalShare = 77, NumAllocations = true})
fails("D3DKMTOpenResourceFromNtHandle:", D3DKMT.OpenResourceFromNtHandle, {hDevice = device, hNtHandle = 77, NumAllocations = 1})
fails("D3DKMTOpenSyncObjectFromNtHandle2:", D3DKMT.OpenSyncObjectFromNtHandle2, {hDevice = device, hNtHandle = 77})
fails("D3DKMTOpenSyncObjectNtHandleFromName:", D3DKMT.OpenSyncObjectNtHandleFromName, {Name = "\\BaseNamedObjects\\none", dwDesiredAccess = ALL_ACCESS})
fails("D3DKMTOpenNtHandleFromName:", D3DKMT.OpenNtHandleFromName, {Name = "\\BaseNamedObjects\\none", dwDesiredAccess = ALL_ACCESS})
fails("D3DKMTShareObjects:", D3DKMT.ShareObjects, {hObjects = {77}, dwDesiredAccess = ALL_ACCESS})
fails("member Name: 1025 characters, at most 1024 are possible", D3DKMT.OpenNtHandleFromName, {Name = ("x"):rep(1025)})
fails("D3DKMTOpenNtHandleFromName:", D3DKMT.OpenNtHandleFromName, {Name = ("x"):rep(1024), dwDesiredAccess = ALL_ACCESS})
local handles = {}
for i = 1, 4097 do
    handles[i] = 77
end
fails("hObjects: too many", D3DKMT.ShareObjects, {hObjects = handles})
handles[4097] = nil
fails("D3DKMTShareObjects:", D3DKMT.ShareObjects, {hObjects = handles})
fails("number expected", D3DKMT.ShareObjects, {hObjects = {"x"}})

-- a monitored fence by its NT handle, with addresses of its own
local shared = D3DKMT.CreateSynchronizationObject2{hDevice = device, Flags = 3, InitialFenceValue = 6}
local nt = D3DKMT.ShareObjects{hObjects = {shared.hSyncObject}, dwDesiredAccess = ALL_ACCESS}.hSharedNtHandle
local opened = D3DKMT.OpenSyncObjectFromNtHandle2{hNtHandle = nt, hDevice = other}
same(opened.FenceValueCPUVirtualAddress:u64(0), 6)
same(#opened.FenceValueCPUVirtualAddress, 8)
assert(opened.FenceValueGPUVirtualAddress ~= 0)
local without = D3DKMT.OpenSyncObjectFromNtHandle2{hNtHandle = nt, hDevice = other, Flags = 0x80}
same(without.FenceValueGPUVirtualAddress, 0)
fails("D3DKMTOpenSyncObjectFromNtHandle2:", D3DKMT.OpenSyncObjectFromNtHandle2, {hNtHandle = nt, hDevice = other, EngineAffinity = 2})
dxgk.close(nt)

-- the private data of a resource, and those of its allocations in their order
for _, flags in ipairs{3, 3 | 0x40} do
    local resource = D3DKMT.CreateAllocation2{hDevice = device, Flags = flags, pPrivateDriverData = "of the resource",
        pAllocationInfo = {{pPrivateDriverData = PLAIN}, {pPrivateDriverData = PLAIN:gsub("\1\0\0", "\2\0\0")}}}
    local query, copy
    if flags == 3 then
        query = D3DKMT.QueryResourceInfo{hDevice = other, hGlobalShare = resource.hGlobalShare}
    else
        nt = D3DKMT.ShareObjects{hObjects = {resource.hResource}, dwDesiredAccess = ALL_ACCESS}.hSharedNtHandle
        query = D3DKMT.QueryResourceInfoFromNtHandle{hDevice = other, hNtHandle = nt}
    end
    same(query.NumAllocations, 2)
    same(query.ResourcePrivateDriverDataSize, 15)
    local arguments = {hDevice = other, NumAllocations = 2, ResourcePrivateDriverDataSize = 15,
        TotalPrivateDriverDataBufferSize = query.TotalPrivateDriverDataSize}
    if flags == 3 then
        arguments.hGlobalShare = resource.hGlobalShare
        copy = D3DKMT.OpenResource2(arguments)
    else
        arguments.hNtHandle = nt
        copy = D3DKMT.OpenResourceFromNtHandle(arguments)
        dxgk.close(nt)
    end
    same(copy.pResourcePrivateDriverData, "of the resource")
    same(copy.pPrivateRuntimeData, nil)
    same(#copy.pOpenAllocationInfo2, 2)
    for i = 1, 2 do
        same(copy.pOpenAllocationInfo2[i].pPrivateDriverData, resource.pAllocationInfo[i].pPrivateDriverData)
        assert(copy.pOpenAllocationInfo2[i].hAllocation ~= 0)
    end
    assert(copy.pOpenAllocationInfo2[1].hAllocation ~= copy.pOpenAllocationInfo2[2].hAllocation)
    D3DKMT.DestroyAllocation2{hDevice = other, hResource = copy.hResource}
    D3DKMT.DestroyAllocation2{hDevice = device, hResource = resource.hResource}
end

-- ---- what else is asked of a call by name ----

fails("cannot be read (KMT-007)", D3DKMT.OpenAdapterFromDeviceName, {})
fails("OpenAdapterFromDeviceName has no member Name", D3DKMT.OpenAdapterFromDeviceName, {Name = "x"})
for _, object in ipairs{opened, without, shared, fence} do
    D3DKMT.DestroySynchronizationObject{hSyncObject = object.hSyncObject}
end
D3DKMT.DestroyDevice{hDevice = other}
D3DKMT.DestroyDevice{hDevice = device}
return true
