-- SPDX-License-Identifier: MIT
-- What a program does with the NPU: inputs of many samples go through a network of two layers, batch after batch in a stream of
-- commands at virtual addresses; every result is compared with the same network in Lua.

local MAGIC = 0x3154504E
local FILL, COPY, MATMUL, RELU = 1, 2, 3, 4
local SAMPLES, INPUTS, HIDDEN, OUTPUTS, SHIFT = 16, 48, 32, 10, 6
local BATCHES = tonumber(dxgk.set.batches or "6")

local adapter = D3DKMT.EnumAdapters2()[1].hAdapter
local device = D3DKMT.CreateDevice{hAdapter = adapter}.hDevice
local paging = D3DKMT.CreatePagingQueue{hDevice = device}
local context = D3DKMT.CreateContextVirtual{hDevice = device, NodeOrdinal = 0, EngineAffinity = 1}.hContext
local fence = D3DKMT.CreateSynchronizationObject2{hDevice = device, Type = 5}
local signalled = 0

local function wait_for(object, value)
    D3DKMT.WaitForSynchronizationObjectFromCpu{hDevice = device, ObjectHandleArray = {object}, FenceValueArray = {value}}
end

-- ---- memory: resident, with a virtual address, seen by the CPU ----

local function allocate(bytes)
    local data = string.pack("<I4I4", MAGIC, bytes)
    local a = {bytes = (bytes + 4095) // 4096 * 4096}
    a.handle = D3DKMT.CreateAllocation2{hDevice = device, pAllocationInfo = {{pPrivateDriverData = data}}}.pAllocationInfo[1].hAllocation
    local resident = D3DKMT.MakeResident{hPagingQueue = paging.hPagingQueue, AllocationList = {a.handle}}
    if resident.PagingFenceValue ~= 0 then
        wait_for(paging.hSyncObject, resident.PagingFenceValue)
    end
    local map = D3DKMT.MapGpuVirtualAddress{hPagingQueue = paging.hPagingQueue, hAllocation = a.handle, SizeInPages = a.bytes // 4096,
        Protection = 1}
    a.va = map.VirtualAddress
    if map.PagingFenceValue ~= 0 then
        wait_for(paging.hSyncObject, map.PagingFenceValue)
    end
    a.data = D3DKMT.Lock2{hDevice = device, hAllocation = a.handle, Size = a.bytes}.pData
    return a
end

local function free(a)
    D3DKMT.Unlock2{hDevice = device, hAllocation = a.handle}
    D3DKMT.FreeGpuVirtualAddress{hAdapter = adapter, BaseAddress = a.va, Size = a.bytes}
    D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {a.handle}}
end

-- ---- commands ----

local function command(op, count, dst, a, b, rows, inner, cols, value)
    return string.pack("<I4I4I8I8I8I4I4I4I4", op, count or 0, dst, a or 0, b or 0, rows or 0, inner or 0, cols or 0, value or 0)
end

local stream = allocate(65536)
local stream_at = 0
local function submit(commands)
    local bytes = table.concat(commands)
    if stream_at + #bytes > stream.bytes then
        wait_for(fence.hSyncObject, signalled) -- all that stands there has been read
        stream_at = 0
    end
    stream.data:write(stream_at, bytes)
    D3DKMT.SubmitCommand{Commands = stream.va + stream_at, CommandLength = #bytes, BroadcastContext = {context}}
    stream_at = stream_at + (#bytes + 63) // 64 * 64
    signalled = signalled + 1
    D3DKMT.SignalSynchronizationObjectFromGpu{hContext = context, ObjectHandleArray = {fence.hSyncObject}, MonitoredFenceValueArray = {signalled}}
end

-- ---- the network: numbers of one byte that a seed gives ----

local state = 12345
local function number()
    state = (state * 1103515245 + 12345) & 0x7FFFFFFF
    return (state >> 16) % 256 - 128
end

local function matrix(count)
    local numbers = {}
    for i = 1, count do
        numbers[i] = number()
    end
    return numbers
end

local function bytes_of(numbers)
    local parts = {}
    for i, n in ipairs(numbers) do
        parts[i] = string.char(n & 255)
    end
    return table.concat(parts)
end

local function multiply(a, b, rows, inner, cols)
    local product = {}
    for i = 0, rows - 1 do
        for j = 0, cols - 1 do
            local sum = 0
            for k = 0, inner - 1 do
                sum = sum + a[i * inner + k + 1] * b[k * cols + j + 1]
            end
            product[i * cols + j + 1] = sum
        end
    end
    return product
end

local first, second = matrix(INPUTS * HIDDEN), matrix(HIDDEN * OUTPUTS)
local function expected(inputs)
    local hidden = multiply(inputs, first, SAMPLES, INPUTS, HIDDEN)
    for i, sum in ipairs(hidden) do
        hidden[i] = math.max(0, math.min(127, sum >= 0 and sum >> SHIFT or 0))
    end
    return multiply(hidden, second, SAMPLES, HIDDEN, OUTPUTS)
end

local weights = allocate(INPUTS * HIDDEN + HIDDEN * OUTPUTS)
weights.data:write(0, bytes_of(first))
weights.data:write(INPUTS * HIDDEN, bytes_of(second))

-- ---- batches: each with memory of its own, all submitted before the first is waited for; a second round has the same addresses ----

local function compute()
    local inputs = matrix(SAMPLES * INPUTS)
    local memory = allocate(3 * 4096)
    local sums, hidden, results = memory.va + 4096, memory.va + 2048, memory.va + 2 * 4096
    memory.data:write(0, bytes_of(inputs))
    submit{command(FILL, 4096, results, 0, 0, 0, 0, 0, 0xDEADBEEF),
        command(MATMUL, 0, sums, memory.va, weights.va, SAMPLES, INPUTS, HIDDEN),
        command(RELU, SAMPLES * HIDDEN, hidden, sums, 0, 0, 0, 0, SHIFT),
        command(MATMUL, 0, results, hidden, weights.va + INPUTS * HIDDEN, SAMPLES, HIDDEN, OUTPUTS),
        command(COPY, 4096, sums, results)}
    return {memory = memory, expected = expected(inputs), done = signalled}
end

-- A small command that does not wait its turn behind the batches: the scheduler preempts them for it.
local urgent = D3DKMT.CreateContextVirtual{hDevice = device, NodeOrdinal = 0, EngineAffinity = 1}.hContext
D3DKMT.SetContextSchedulingPriority{hContext = urgent, Priority = 7}
local beat = allocate(4096)
local function ask_now(round)
    beat.data:write(64, command(FILL, 64, beat.va, 0, 0, 0, 0, 0, round))
    D3DKMT.SubmitCommand{Commands = beat.va + 64, CommandLength = 48, BroadcastContext = {urgent}}
end

local wrong = 0
for round = 1, 2 do
    local batches = {}
    for i = 1, BATCHES do
        batches[i] = compute()
    end
    ask_now(round)
    for _, batch in ipairs(batches) do
        wait_for(fence.hSyncObject, batch.done)
        for i, value in ipairs(batch.expected) do
            local seen = string.unpack("<i4", batch.memory.data:read(4096 + (i - 1) * 4, 4)) -- the copy
            wrong = wrong + (seen == value and 0 or 1)
        end
        free(batch.memory)
    end
    D3DKMT.WaitForIdle{hDevice = device}
    wrong = wrong + (beat.data:u32(0) == round and 0 or 1)
end

local function counter(what)
    local answer = D3DKMT.Escape{hAdapter = adapter, pPrivateDriverData = string.pack("<I4I4I8", MAGIC, what, 0)}
    return (string.unpack("<I8", answer.pPrivateDriverData, 9))
end
dxgk.report("batches", string.format("2 times %d of %d samples", BATCHES, SAMPLES))
dxgk.report("packets", counter(1))
dxgk.report("allocated", string.format("%d bytes", counter(2)))
local refused = not pcall(counter, 77)

free(beat)
free(weights)
free(stream)
D3DKMT.DestroySynchronizationObject{hSyncObject = fence.hSyncObject}
D3DKMT.DestroyContext{hContext = urgent}
D3DKMT.DestroyContext{hContext = context}
D3DKMT.DestroyPagingQueue{hPagingQueue = paging.hPagingQueue}
D3DKMT.DestroyDevice{hDevice = device}
D3DKMT.CloseAdapter{hAdapter = adapter}

if wrong > 0 then
    return false, wrong .. " wrong results"
end
if not refused then
    return false, "an escape of an unknown kind was accepted"
end
return true, "every result is as the CPU computes it"
