-- SPDX-License-Identifier: MIT
-- Every call of the client interface that workloads have: with a good value for each member that it takes, then with others in turn,
-- and what comes of each, for its transcript. For the reference driver.
local DATA = string.pack("<I4I4I8I4I4I4I4I4I4", 0x444D5552, 0x100, 65536, 0, 0, 0, 0, 0, 0)

-- ---- results as text ----

local function text(value, depth)
    if type(value) == "table" then
        local names, parts = {}, {}
        for name in pairs(value) do
            names[#names + 1] = name
        end
        table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
        for i, name in ipairs(names) do
            parts[i] = tostring(name) .. "=" .. (depth > 4 and "..." or text(value[name], depth + 1))
        end
        return "{" .. table.concat(parts, " ") .. "}"
    elseif type(value) == "string" then
        return #value > 200 and string.format("%q and more, %d bytes", value:sub(1, 64), #value) or string.format("%q", value)
    elseif math.type(value) == "integer" then
        return string.format("0x%x", value)
    elseif type(value) == "userdata" then
        return (tostring(value):gsub("0x%x+", "@"))
    end
    return tostring(value)
end

-- ---- what calls are about ----

local now = {}

local function make()
    local first = D3DKMT.EnumAdapters2()[1]
    now = {adapter = first.hAdapter, low = first.LowPart, high = first.HighPart}
    now.device = D3DKMT.CreateDevice{hAdapter = now.adapter}.hDevice
    now.other = D3DKMT.CreateDevice{hAdapter = now.adapter}.hDevice
    local made = D3DKMT.CreateAllocation2{hDevice = now.device, pAllocationInfo = {{pPrivateDriverData = DATA}, {pPrivateDriverData = DATA}}}
    now.one, now.two = made.pAllocationInfo[1].hAllocation, made.pAllocationInfo[2].hAllocation
    now.shared = D3DKMT.CreateAllocation2{hDevice = now.device, Flags = 3, pAllocationInfo = {{pPrivateDriverData = DATA}}}
    now.queue = D3DKMT.CreatePagingQueue{hDevice = now.device}
    now.fence = D3DKMT.CreateSynchronizationObject2{hDevice = now.device, Info = {Type = D3DDDI_MONITORED_FENCE,
        MonitoredFence = {InitialFenceValue = 5}}}.hSyncObject
    local mutex = D3DKMT.CreateKeyedMutex{InitialValue = 0}
    now.mutex, now.mutex_share = mutex.hKeyedMutex, mutex.hSharedHandle
    now.context = D3DKMT.CreateContextVirtual{hDevice = now.device, NodeOrdinal = 1}.hContext
    local scheduled, hardware = pcall(D3DKMT.CreateHwContext, {hDevice = now.device, NodeOrdinal = 2}) -- with the setting HardwareScheduling
    now.hw_context = scheduled and hardware.hHwContext or 0
    now.hw_queue = scheduled and D3DKMT.CreateHwQueue{hHwContext = now.hw_context}.hHwQueue or 0
    now.render = D3DKMT.CreateContext{hDevice = now.device}.hContext
    local semaphore = D3DKMT.CreateSynchronizationObject2{hDevice = now.device, Type = D3DDDI_SEMAPHORE, MaxCount = 1000, InitialCount = 500, Flags = 1}
    now.semaphore, now.semaphore_share = semaphore.hSyncObject, semaphore.SharedHandle
    now.secure = D3DKMT.CreateSynchronizationObject2{hDevice = now.device, Flags = 3}.hSyncObject
    now.second = D3DKMT.CreateSynchronizationObject2{hDevice = now.device, Type = D3DDDI_FENCE, Flags = 3}.hSyncObject
    now.picture = D3DKMT.CreateAllocation2{hDevice = now.device, Flags = 0x43, pAllocationInfo = {{pPrivateDriverData = DATA}}}.hResource
end

-- Values by member: functions, since objects change; the first one is good.
local function of(...)
    local names = table.pack(...)
    return function()
        local values = {}
        for i, name in ipairs(names) do
            values[i] = type(name) == "string" and now[name] or name
        end
        return values
    end
end

local members = {
    hAdapter = of("adapter", 0, "device", 0x40000077, 1 << 40, "x"),
    AdapterLuid = function() return {{LowPart = now.low, HighPart = now.high}, {LowPart = 7, HighPart = 7}, 5} end,
    LowPart = of("low", 7), HighPart = of("high", 7),
    pDeviceName = function() return {dxgk.device_interface(), "nothing", ""} end,
    hDevice = of("device", 0, "other", "adapter", 0x40000077, 1.5),
    hContext = of("context", 0, "device", 0x40000077),
    hHwContext = of("hw_context", 0, "context", 0x40000077),
    hHwQueue = of("hw_queue", 0, "context", 0x40000077),
    HwQueueProgressFenceId = of(1, 0, -1),
    CommandBuffer = of(0, 1, 1 << 48),
    BroadcastHwQueueArray = function() return {{now.hw_queue}, {}, {now.hw_queue, now.hw_queue}, {now.context}} end,
    hAllocation = of("one", 0, "device", 0x40000077),
    phAllocationList = function() return {{now.one, now.two}, {}, {now.one, 0x77}, {now.one, now.one}, 5} end,
    AllocationList = function() return {{now.one, now.two}, {}, {now.one, 0x77}, 5} end,
    pPriorities = function() return {{0x78000000, 0xA0000000}, {0x78000000}, {1, 2}} end,
    hResource = function() return {0, now.shared.hResource, 0x77} end,
    hGlobalShare = function() return {now.shared.hGlobalShare, 0, 0x77} end,
    hPagingQueue = function() return {now.queue.hPagingQueue, 0, now.device} end,
    hSyncObject = of("fence", 0, "device"), hKeyedMutex = of("mutex", 0, "device"), hSharedHandle = of("mutex_share", 0, 0x77),
    ObjectHandleArray = function() return {{now.fence}, {}, {0x77}, {now.fence, now.fence}} end,
    FenceValueArray = function() return {{3}, {}, {3, 3}, {5}} end,
    MonitoredFenceValueArray = function() return {{3}, {}, {5}} end,
    BroadcastContextArray = function() return {{now.context}, {}, {0x77}} end,
    BroadcastContext = function() return {{now.context}, {}, {0x77}} end,
    hObjects = function() return {{now.fence}, {}, {0x77}, {now.fence, now.shared.hResource}} end,
    pAllocationInfo = function()
        return {{{pPrivateDriverData = DATA}}, {}, {{pPrivateDriverData = "x"}}, {{pPrivateDriverData = DATA, Flags = 0x80000000}},
            {{pPrivateDriverData = DATA, VidPnSourceId = 7}}, {{pPrivateDriverData = DATA, Priority = 5}},
            {{pPrivateDriverData = DATA}, {pPrivateDriverData = DATA}}, {5}}
    end,
    Info = function()
        return {{Type = D3DDDI_MONITORED_FENCE, MonitoredFence = {InitialFenceValue = 7}}, {Type = D3DDDI_FENCE, Fence = {FenceValue = 3}},
            {Type = D3DDDI_SYNCHRONIZATION_MUTEX}, {Type = D3DDDI_SEMAPHORE, Semaphore = {MaxCount = 3, InitialCount = 4}},
            {Type = D3DDDI_SEMAPHORE, Semaphore = {MaxCount = 4, InitialCount = 4}}, {Type = 0}, {Type = 99}, 5}
    end,
    Type = of(15, 0, 1, 6, 13, 31, 62, 70, 99), Flags = of(0, 1, 2, 4, 8, 16, 0x80000000), Size = of(65536, 0, 1, 4096, 1 << 40),
    SizeInPages = of(16, 0, 17, 1 << 36), OffsetInPages = of(0, 1, 16), BaseAddress = of(0, 0x10000, 0x1001, 1 << 50),
    MinimumAddress = of(0, 0x100000, 1 << 47), MaximumAddress = of(0, 0x200000, 0x1000), Protection = of(1, 0, 2, 4, 8, 64),
    DriverProtection = of(0, 1), ReservationType = of(0, 1, 2, 3), NodeOrdinal = of(1, 0, 77), EngineAffinity = of(0, 1, 2),
    ClientHint = of(0, 5), Priority = of(0, 7, -7, 8, -8, 2), pPrivateDriverData = of(DATA, "", "four"),
    MemorySegmentGroup = of(0, 1, 2), Reservation = of(0, 65536, 1 << 40), NumBytesToTrim = of(0), Name = of("name", ""), pName = of("name", ""),
    dwDesiredAccess = of(0x1F0003, 0), hNtHandle = of(0, 0x77), hSharedNtHandle = of(0, 0x77), Key = of(0, 1), InitialValue = of(0, 1),
    pTimeout = function() return {{0}, {-10000}} end, DiscardedList = of(nil), Wait = of(0), PageCount = of(1, 0, 99),
    NumPages = of(1, 0, 99), FenceValue = of(3, 0), CommandLength = of(0, 8, 1 << 31), Commands = of(0, 0x10000), Reason = of(0, 1),
    phAllocations = function() return {{now.one}, {}, {now.one, now.one}, {0x77}, 5} end,
    HandleList = function() return {{now.one, now.two}, {}, {now.one, 0x77}, 5} end,
    pResources = function() return {nil, {now.shared.hResource}, {}, {0x77}} end,
    WrittenPrimaries = function() return {{}, {now.one}, {0x77}} end,
    HistoryBufferArray = function() return {nil, {}, {now.one}} end,
    CommandOffset = of(0, 4, 8), AllocationCount = of(0, 1, 5000), PatchLocationCount = of(0, 1, 5000), QueuedBufferCount = of(0, 1),
    InitialState = of(0, 1, true), MaxCount = of(1, 0, 4), InitialCount = of(0, 1, 5), InitialFenceValue = of(0, 5),
    NumAllocations = of(1, 0, 2), TotalPrivateDriverDataBufferSize = of(40, 0, 39, 41), ResourcePrivateDriverDataSize = of(0, 16),
    PrivateRuntimeDataSize = of(0, 4), KeyedMutexPrivateRuntimeDataSize = of(0, 4), PhysicalAdapterIndex = of(0, 1),
    PrivateDriverData = of(0, 1), pPrivateRuntimeData = of(nil, "abcd", ""),
    DeviceState = of(1, 2, 3, 4, 99), StateType = of(1, 2, 3, 4, 5, 99), Value = of(0, 1),
}

-- What a call needs first, and the good values that are its own.
local made_nt = {}
local function nt_of(object)
    made_nt[#made_nt + 1] = D3DKMT.ShareObjects{hObjects = {object}, dwDesiredAccess = 0x1F0003}.hSharedNtHandle
    return made_nt[#made_nt]
end

local function old_list()
    return {hContext = now.context, ObjectHandleArray = {now.semaphore}, BroadcastContext = {now.render}}
end

local own = {
    CreateContext = function() return {NodeOrdinal = 0, pPrivateDriverData = ""} end,
    CreateContextVirtual = function() return {pPrivateDriverData = ""} end,
    MarkDeviceAsError = function() return {Reason = D3DKMT_DEVICE_ERROR_REASON_GENERIC} end,
    CreateSynchronizationObject = function() return {Type = D3DDDI_SEMAPHORE} end,
    OfferAllocations = function()
        pcall(D3DKMT.ReclaimAllocations2, {hPagingQueue = now.queue.hPagingQueue, HandleList = {now.one, now.two}})
        return {Priority = 1}
    end,
    ReclaimAllocations = function()
        pcall(D3DKMT.OfferAllocations, {hDevice = now.device, HandleList = {now.one, now.two}, Priority = 3})
        return {}
    end,
    ReclaimAllocations2 = function()
        pcall(D3DKMT.OfferAllocations, {hDevice = now.device, HandleList = {now.one, now.two}, Priority = 2})
        return {}
    end,
    SignalSynchronizationObject = old_list, SignalSynchronizationObject2 = old_list,
    WaitForSynchronizationObject = old_list, WaitForSynchronizationObject2 = old_list,
    SignalSynchronizationObjectFromCpu = function() return {FenceValueArray = {9}} end,
    SignalSynchronizationObjectFromGpu = function() return {MonitoredFenceValueArray = {9}} end,
    SignalSynchronizationObjectFromGpu2 = function() return {MonitoredFenceValueArray = {9}} end,
    Render = function() return {hContext = now.render, BroadcastContext = {}} end,
    Escape = function() return {Type = 0} end,
    SubmitCommand = function() return {pPrivateDriverData = ""} end,
    CreateHwContext = function() return {NodeOrdinal = 2, pPrivateDriverData = ""} end,
    CreateHwQueue = function() return {pPrivateDriverData = ""} end,
    SubmitCommandToHwQueue = function()
        now.id = (now.id or 0) + 1
        return {HwQueueProgressFenceId = now.id, CommandLength = 0, pPrivateDriverData = ""}
    end,
    SubmitSignalSyncObjectsToHwQueue = function() return {FenceValueArray = {9}} end,
    OpenSyncObjectFromNtHandle = function() return {hNtHandle = nt_of(now.second)} end,
    OpenSyncObjectFromNtHandle2 = function() return {hNtHandle = nt_of(now.secure), EngineAffinity = 0} end,
    OpenResourceFromNtHandle = function() return {hNtHandle = nt_of(now.picture)} end,
    QueryResourceInfoFromNtHandle = function() return {hNtHandle = nt_of(now.picture)} end,
    ShareObjects = function() return {hObjects = {now.picture}, Name = "\\BaseNamedObjects\\" .. #made_nt} end,
    OpenSynchronizationObject = function() return {hSharedHandle = now.semaphore_share} end,
    ReleaseKeyedMutex = function()
        pcall(D3DKMT.AcquireKeyedMutex, {hKeyedMutex = now.mutex, pTimeout = {0}})
        return {}
    end,
    Unlock = function() return {hAllocation = D3DKMT.Lock2{hDevice = now.device, hAllocation = now.one, Size = 1} and now.one} end,
    Unlock2 = function() return {hAllocation = D3DKMT.Lock2{hDevice = now.device, hAllocation = now.one, Size = 1} and now.one} end,
    Evict = function()
        D3DKMT.MakeResident{hPagingQueue = now.queue.hPagingQueue, AllocationList = {now.one, now.two}}
        return {}
    end,
    FreeGpuVirtualAddress = function()
        return {BaseAddress = D3DKMT.ReserveGpuVirtualAddress{hPagingQueue = now.queue.hPagingQueue, Size = 65536}.VirtualAddress}
    end,
}
own.ReleaseKeyedMutex2 = own.ReleaseKeyedMutex

-- ---- the calls ----

local function take(name, arguments)
    while true do
        local results = table.pack(pcall(D3DKMT[name], arguments))
        local member = type(results[2]) == "string" and results[2]:match("has no member (%w+)")
        if results[1] or not member or arguments[member] == nil then
            return results
        end
        arguments[member] = nil
    end
end

local function tell(name, how, results)
    for i = 2, results.n do
        results[i - 1] = text(results[i], 0)
    end
    print(string.format("%s, %s: %s", name, how, table.concat(results, ", ", 1, results.n - 1)))
end

local function good_ones(name)
    local arguments = {}
    for member, values in pairs(members) do
        arguments[member] = values()[1]
    end
    for member, value in pairs(own[name] and own[name]() or {}) do
        arguments[member] = value
    end
    return arguments
end

local names, sorted = {}, {}
for name in pairs(D3DKMT) do
    names[#names + 1] = name
end
for member in pairs(members) do
    sorted[#sorted + 1] = member
end
table.sort(names)
table.sort(sorted)

for _, name in ipairs(names) do
    local ends = name:find("^Destroy") or name:find("^Close") or name == "MarkDeviceAsError"
    make()
    local taken = good_ones(name)
    tell(name, "nothing", table.pack(pcall(D3DKMT[name], {})))
    tell(name, "no table", table.pack(pcall(D3DKMT[name], 5)))
    tell(name, "good ones", take(name, taken))
    for _, member in ipairs(sorted) do
        for i = 1, taken[member] ~= nil and #members[member]() or 0 do
            if ends then
                make()
            end
            local arguments = good_ones(name)
            arguments[member] = members[member]()[i]
            tell(name, member .. "=" .. text(arguments[member], 0), take(name, arguments))
        end
        if taken[member] ~= nil then
            local arguments = good_ones(name)
            arguments[member] = nil
            if ends then
                make()
            end
            tell(name, "without " .. member, take(name, arguments))
        end
    end
    for _, handle in ipairs(made_nt) do
        dxgk.close(handle)
    end
    made_nt = {}
end

-- ---- each type of question, and of escape ----

make()
for type = -1, 80 do
    for _, bytes in ipairs{8192, 4, 0} do
        tell("QueryAdapterInfo", string.format("Type=%d in %d bytes", type, bytes), table.pack(pcall(D3DKMT.QueryAdapterInfo,
            {hAdapter = now.adapter, Type = type, pPrivateDriverData = ("\0"):rep(bytes)})))
    end
end
for type = -1, 1040 do
    if type < 45 and type ~= 25 or type > 1020 then -- 25: the end of the machine
        for _, bytes in ipairs{0, 4, 8, 16} do
            tell("Escape", string.format("Type=%d in %d bytes", type, bytes), table.pack(pcall(D3DKMT.Escape,
                {hAdapter = now.adapter, hDevice = now.device, Type = type, pPrivateDriverData = ("\1"):rep(bytes)})))
        end
    end
end
