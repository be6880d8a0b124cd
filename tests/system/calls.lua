-- SPDX-License-Identifier: MIT
-- The calls of a client of WDDM 1.x, with constants by name, and what is said of misspelt names. For the driver "seeds".
local V1X, MAGIC = dxgk.set.version == "1.x", 0x31444553

local function fails(part, f, ...)
    local ok, why = pcall(f, ...)
    if ok or not tostring(why):find(part, 1, true) then
        error(string.format("'%s' expected, got '%s'", part, tostring(why)), 2)
    end
    return why
end

local function same(a, b)
    if a ~= b then
        error(string.format("%s is not %s", a, b), 2)
    end
end

-- ---- names ----

fails("D3DKMT has no CreateDevise; the nearest is CreateDevice", function() return D3DKMT.CreateDevise end)
fails("D3DKMT has no Lok2; the nearest is Lock2", function() return D3DKMT.Lok2 end)
fails("dxgk has no sleeep; the nearest is sleep", function() return dxgk.sleeep end)
fails("CreateDevice has no member hAdaptr; the nearest is hAdapter", D3DKMT.CreateDevice, {hAdaptr = 1})
fails("CreateDevice: members have names", D3DKMT.CreateDevice, {1})
fails("Lock has no member hAlocation; the nearest is hAllocation", D3DKMT.Lock, {hDevice = 1, hAlocation = 2, Size = 4})
fails("Lock2 has no member NumPages", D3DKMT.Lock2, {NumPages = 1})
fails("CreateAllocation2 has no member hdevice; the nearest is hDevice", D3DKMT.CreateAllocation2, {hdevice = 1})
fails("pAllocationInfo has no member pPrivateData; the nearest is pPrivateDriverData", D3DKMT.CreateAllocation,
    {pAllocationInfo = {{pPrivateData = "x"}}})
fails("CreateSynchronizationObject2 has no member Typ; the nearest is Type", D3DKMT.CreateSynchronizationObject2, {Typ = 1})
fails("CreateSynchronizationObject has no member FenceValue", D3DKMT.CreateSynchronizationObject, {FenceValue = 1})
fails("no constant is named D3DDDI_MONITERED_FENCE; the nearest is D3DDDI_MONITORED_FENCE",
    function() return D3DDDI_MONITERED_FENCE end)
fails("BroadcastContext: 65 elements, at most 64", D3DKMT.SubmitCommand, {BroadcastContext = table.pack(("x"):rep(65):byte(1, -1))})
fails("pPriorities: 1 elements, but there are 2", D3DKMT.SetAllocationPriority, {phAllocationList = {1, 2}, pPriorities = {1}})
same(unset_variable, nil) -- luacheck: ignore

-- ---- constants ----

same(D3DDDI_SYNCHRONIZATION_MUTEX, 1)
same(D3DDDI_MONITORED_FENCE, 5)
same(KMTQAITYPE_ADAPTERGUID, 4)
same(D3DKMT_OFFER_PRIORITY_HIGH, 3)
same(STATUS_INVALID_PARAMETER, 0xC000000D)
local why = fails("STATUS_INVALID_PARAMETER", D3DKMT.CreateDevice, {hAdapter = 77})
same(why.code, STATUS_INVALID_PARAMETER)

-- ---- a client ----

local adapter = D3DKMT.EnumAdapters2()[1].hAdapter
local device = D3DKMT.CreateDevice{hAdapter = adapter}.hDevice
local context = D3DKMT.CreateContext{hDevice = device, NodeOrdinal = 0, EngineAffinity = 1}.hContext
local handle = {}
for i = 1, 2 do
    local data = string.pack("<I4I4I4I4i8", MAGIC, 8192, 3, 0, i)
    if i == 2 then -- a buffer does as well
        data = dxgk.buffer(data)
    end
    local made = D3DKMT.CreateAllocation{hDevice = device, pAllocationInfo = {{pPrivateDriverData = data, Flags = 0}}}
    handle[i] = made.pAllocationInfo[1].hAllocation
end
local list = {hDevice = device, phAllocationList = handle}

D3DKMT.SetAllocationPriority{hDevice = device, phAllocationList = handle, pPriorities = {0x50000000, 0xA0000000}}
local priority = D3DKMT.GetAllocationPriority(list).pPriorities
same(#priority, 2)
same(priority[1], 0x50000000)
same(priority[2], 0xA0000000)

D3DKMT.SetContextSchedulingPriority{hContext = context, Priority = -3 & 0xFFFFFFFF}
same(D3DKMT.GetContextSchedulingPriority{hContext = context}.Priority, -3 & 0xFFFFFFFF)

if V1X then
    local memory = D3DKMT.Lock{hDevice = device, hAllocation = handle[1], Size = 8192}.pData
    memory:u32(4096, 77)
    same(#memory, 8192)
    D3DKMT.Unlock{hDevice = device, phAllocations = {handle[1]}}
    memory = D3DKMT.Lock{hDevice = device, hAllocation = handle[1], Size = 8192}.pData
    same(memory:u32(4096), 77)
    D3DKMT.Unlock{hDevice = device, phAllocations = {handle[1]}}
    local where = D3DKMT.QueryAllocationResidency(list).pResidencyStatus
    same(#where, 2)
    for _, status in ipairs(where) do
        assert(status >= D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY and
               status <= D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT)
    end
end

local semaphore = D3DKMT.CreateSynchronizationObject{hDevice = device, Type = D3DDDI_SEMAPHORE, MaxCount = 2, InitialCount = 1}
local gate = {hContext = context, ObjectHandleArray = {semaphore.hSyncObject}}
D3DKMT.WaitForSynchronizationObject(gate)
D3DKMT.SignalSynchronizationObject(gate)
D3DKMT.DestroySynchronizationObject{hSyncObject = semaphore.hSyncObject}
local fence = D3DKMT.CreateSynchronizationObject2{hDevice = device, Type = D3DDDI_FENCE, FenceValue = 4}.hSyncObject
D3DKMT.SignalSynchronizationObject2{hContext = context, ObjectHandleArray = {fence}, FenceValue = 5}
D3DKMT.WaitForSynchronizationObject2{hContext = context, ObjectHandleArray = {fence}, FenceValue = 5}
D3DKMT.WaitForIdle{hDevice = device}
D3DKMT.DestroySynchronizationObject{hSyncObject = fence}

D3DKMT.OfferAllocations{hDevice = device, HandleList = handle, Priority = D3DKMT_OFFER_PRIORITY_LOW}
if not V1X then
    local queue = D3DKMT.CreatePagingQueue{hDevice = device}
    local results = D3DKMT.ReclaimAllocations2{hPagingQueue = queue.hPagingQueue, HandleList = handle}.pResults
    same(#results, 2)
    same(results[2], D3DDDI_RECLAIM_RESULT_OK)
    D3DKMT.DestroyPagingQueue{hPagingQueue = queue.hPagingQueue}
end
D3DKMT.DestroyAllocation(list)
D3DKMT.DestroyContext{hContext = context}
D3DKMT.MarkDeviceAsError{hDevice = device, Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC}
same(D3DKMT.GetDeviceState{hDevice = device, StateType = D3DKMT_DEVICESTATE_EXECUTION}.ExecutionState ~=
     D3DKMT_DEVICEEXECUTION_ACTIVE, true)
D3DKMT.DestroyDevice{hDevice = device}
