-- SPDX-License-Identifier: MIT
-- What a program does with the Blitter: allocations that together are larger than its video memory are filled, each with its
-- own pattern, copied one to the next by the engine, and compared on the CPU. To make room, the host has the driver move some
-- out and in again: that is what its paging buffers are for.

local MAGIC = 0x31544C42
local FILL, COPY = 1, 2
local BYTES, COUNT = 256 * 1024, tonumber(dxgk.set.count or "24")

local function command(op, bytes, dst, src, pattern)
    return string.pack("<I4I4I8I8I4I4", op, bytes, dst, src or 0, pattern or 0, 0)
end

-- An address in a client's command: element of the allocation list (from 0), byte.
local function ref(index, offset)
    return index << 32 | (offset or 0)
end

local adapter = D3DKMT.EnumAdapters2()[1].hAdapter
local device = D3DKMT.CreateDevice{hAdapter = adapter}.hDevice
local context = D3DKMT.CreateContext{hDevice = device, NodeOrdinal = 0, EngineAffinity = 1}

-- Commands on allocations {handle, written}; the call is one submission.
local function render(commands, list)
    local bytes = table.concat(commands)
    context.pCommandBuffer:write(0, bytes)
    for i, entry in ipairs(list) do
        context.pAllocationList:u32((i - 1) * 8, entry[1])
        context.pAllocationList:u32((i - 1) * 8 + 4, entry[2] and 1 or 0)
    end
    local r = D3DKMT.Render{hContext = context.hContext, CommandLength = #bytes, AllocationCount = #list}
    context.pCommandBuffer, context.pAllocationList = r.pCommandBuffer, r.pAllocationList
end

local queue = D3DKMT.CreatePagingQueue{hDevice = device}
local function make_resident(handles)
    local r = D3DKMT.MakeResident{hPagingQueue = queue.hPagingQueue, AllocationList = handles}
    if r.PagingFenceValue ~= 0 then
        D3DKMT.WaitForSynchronizationObjectFromCpu{hDevice = device, ObjectHandleArray = {queue.hSyncObject},
            FenceValueArray = {r.PagingFenceValue}}
    end
end

local allocations = {}
for i = 1, COUNT do
    local data = string.pack("<I4I4", MAGIC, BYTES)
    local made = D3DKMT.CreateAllocation2{hDevice = device, pAllocationInfo = {{pPrivateDriverData = data}}}
    allocations[i] = made.pAllocationInfo[1].hAllocation
end

local function pattern(i)
    return 0x01010101 * i
end

for i, a in ipairs(allocations) do
    make_resident{a}
    render({command(FILL, BYTES, ref(0), 0, pattern(i))}, {{a, true}})
    D3DKMT.WaitForIdle{hDevice = device}
    D3DKMT.Evict{hDevice = device, AllocationList = {a}}
end
-- The first half of each becomes the first half of the one before.
for i = 2, COUNT do
    make_resident{allocations[i - 1], allocations[i]}
    render({command(COPY, BYTES // 2, ref(0), ref(1))}, {{allocations[i - 1], true}, {allocations[i], false}})
    D3DKMT.WaitForIdle{hDevice = device}
    D3DKMT.Evict{hDevice = device, AllocationList = {allocations[i - 1], allocations[i]}}
end

local wrong = 0
for i, a in ipairs(allocations) do
    local lock = D3DKMT.Lock2{hDevice = device, hAllocation = a, Size = BYTES}
    local first = i < COUNT and pattern(i + 1) or pattern(i)
    for _, at in ipairs{0, BYTES // 2 - 4} do
        wrong = wrong + (lock.pData:u32(at) == first and 0 or 1)
    end
    for _, at in ipairs{BYTES // 2, BYTES - 4} do
        wrong = wrong + (lock.pData:u32(at) == pattern(i) and 0 or 1)
    end
    D3DKMT.Unlock2{hDevice = device, hAllocation = a}
end

-- A bad command is refused by the driver.
local refused = not pcall(render, {command(FILL, BYTES + 4, ref(0), 0, 0)}, {{allocations[1], true}})

D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = allocations}
D3DKMT.DestroyPagingQueue{hPagingQueue = queue.hPagingQueue}
D3DKMT.DestroyContext{hContext = context.hContext}
D3DKMT.DestroyDevice{hDevice = device}
D3DKMT.CloseAdapter{hAdapter = adapter}

local counters = dxgk.statistics()
dxgk.report("allocations", string.format("%d of %d KiB", COUNT, BYTES // 1024))
dxgk.report("evictions", counters.evictions)
if wrong > 0 then
    return false, wrong .. " wrong words"
end
if not refused then
    return false, "a command past the end of its allocation was accepted"
end
return true, "every byte is where it should be"
