-- SPDX-License-Identifier: MIT
-- Hardware queues: contexts of several processes, of all priorities, on the node that the device schedules. What they compute must be
-- right whoever has the engine when; who is important gets it soon; who waits on the GPU leaves it to others; who hangs or faults is
-- lost alone; the machine sleeps and wakes meanwhile.
--
--     dxgkhost run build/drivers/refgpu.so workloads/queues.lua --registry queues.reg
--
-- with the registry file of docs/refgpu.md (section 13). --set rounds=4, --set links=32, --set only=PART (chains, latency, waits, losses,
-- sleep)

local refgpu = require "refgpu"

local function option(name, default, most)
    local value = math.tointeger(tonumber(dxgk.set[name] or default))
    if not value or value < 1 or value > most then
        error(("--set %s: 1 to %d"):format(name, most))
    end
    return value
end

local ROUNDS, LINKS, ONLY = option("rounds", 4, 10000), option("links", 32, 1000), dxgk.set.only
local LINK, LONG = 64, 1 << 20
local IDLE, NORMAL, HIGH, REALTIME = D3DKMT_SCHEDULINGPRIORITYCLASS_IDLE, D3DKMT_SCHEDULINGPRIORITYCLASS_NORMAL,
    D3DKMT_SCHEDULINGPRIORITYCLASS_HIGH, D3DKMT_SCHEDULINGPRIORITYCLASS_REALTIME

local wrong = {}
local function check(holds, what, ...)
    if not holds then
        wrong[#wrong + 1] = what:format(...)
    end
end

-- A client with memory that it maps: `small` that the CPU sees, with room for commands, and `large` for long copies.
local function client(class)
    local gpu = refgpu.open()
    if not gpu.scheduled then
        error("the adapter has no node that the hardware schedules")
    end
    D3DKMT.SetProcessSchedulingPriorityClass{Priority = class}
    gpu.small = gpu:allocate(1 << 17, refgpu.CPU_VISIBLE, refgpu.IN_APERTURE)
    gpu.large = gpu:allocate(2 * LONG, 0, refgpu.IN_VRAM | refgpu.IN_APERTURE)
    gpu:make_resident{gpu.small, gpu.large}
    gpu:wait_paging(gpu:map(gpu.small))
    gpu:wait_paging(gpu:map(gpu.large))
    gpu.bytes = D3DKMT.Lock2{hDevice = gpu.device, hAllocation = gpu.small.handle, Size = gpu.small.bytes}.pData
    gpu.commands_at = 1 << 16
    return gpu
end

local function leave(gpu)
    D3DKMT.Unlock2{hDevice = gpu.device, hAllocation = gpu.small.handle}
    gpu:free(gpu.small)
    gpu:free(gpu.large)
    gpu:close()
end

-- Commands that stay where they are put: an address and a length for submit().
local function put(gpu, ...)
    local bytes, at = table.concat({...}), gpu.commands_at
    gpu.bytes:write(at, bytes)
    gpu.commands_at = at + (#bytes + 63) // 64 * 64
    return gpu.small.va + at, #bytes
end

local function submit(gpu, queue, ...)
    gpu:submit(queue.hHwQueue, put(gpu, ...))
end

-- The queue's own fence, to the last command.
local function finish(gpu, queue)
    D3DKMT.WaitForSynchronizationObjectFromCpu{hDevice = gpu.device, ObjectHandleArray = {queue.hHwQueueProgressFence}, FenceValueArray = {queue.id}}
    check(queue.HwQueueProgressFenceCPUVirtualAddress:u64(0) == queue.id, "a queue has progress %d after %d was waited for",
        queue.HwQueueProgressFenceCPUVirtualAddress:u64(0), queue.id)
end

-- ---- chains: each link copies what the one before it wrote; two queues of a context, and two contexts ----

local function chains(number, class)
    local gpu = client(class)
    local queues = {gpu.scheduled, gpu:hardware_queue(gpu.scheduled.hHwContext), gpu:hardware_queue()}
    D3DKMT.SetContextSchedulingPriority{hContext = queues[3].hHwContext, Priority = number % 7 - 3}
    local links = {}
    for q = 1, #queues do
        local base = (q - 1) * (LINKS + 1) * LINK
        links[q] = {base = base}
        for i = 0, LINKS - 1 do
            local source, target = gpu.small.va + base + i * LINK, gpu.small.va + base + (i + 1) * LINK
            links[q][i] = {put(gpu, refgpu.copy(target, source, 8), i % 8 == 7 and refgpu.copy(gpu.large.va + LONG, gpu.large.va, LONG // 4) or "")}
        end
    end
    for round = 1, ROUNDS do
        for q, queue in ipairs(queues) do
            gpu.bytes:u64(links[q].base, number << 40 | q << 32 | round)
        end
        for i = 0, LINKS - 1 do
            for q, queue in ipairs(queues) do
                gpu:submit(queue.hHwQueue, table.unpack(links[q][i]))
            end
        end
        for q, queue in ipairs(queues) do
            finish(gpu, queue)
            local last = gpu.bytes:u64(links[q].base + LINKS * LINK)
            check(last == number << 40 | q << 32 | round, "round %d: chain %d of client %d ends with 0x%x", round, q, number, last)
        end
    end
    local ended = dxgk.time()
    D3DKMT.DestroyHwContext{hHwContext = queues[3].hHwContext} -- and its queue
    gpu.queues[queues[3].hHwQueue] = nil
    leave(gpu)
    return ended
end

local function all_chains()
    local classes, running, ended = {IDLE, NORMAL, NORMAL, HIGH, REALTIME}, {}, {}
    for number, class in ipairs(classes) do
        running[number] = dxgk.process("chains " .. number, chains, number, class)
    end
    for number, process in ipairs(running) do
        ended[number] = process:wait()
    end
    check(ended[5] < ended[1], "the process of class real time ended %d ns after the idle one", ended[5] - ended[1])
end

-- ---- latency: short commands of an important process among long ones ----

local busy = true
local function load(class)
    local gpu = client(class)
    local at, bytes = put(gpu, refgpu.copy(gpu.large.va + LONG, gpu.large.va, LONG), refgpu.copy(gpu.large.va + LONG, gpu.large.va, LONG))
    while busy do
        for _ = 1, 8 do
            gpu:submit(gpu.copy, at, bytes)
        end
        finish(gpu, gpu.scheduled)
    end
    leave(gpu)
end

local function measure(class)
    local gpu = client(class)
    local at, bytes = put(gpu, refgpu.fill(gpu.small.va, 64, 0x5EED))
    local worst = 0
    for _ = 1, 10 * ROUNDS do
        dxgk.sleep(700000)
        local since = dxgk.time()
        gpu:submit(gpu.copy, at, bytes)
        finish(gpu, gpu.scheduled)
        worst = math.max(worst, dxgk.time() - since)
    end
    leave(gpu)
    return worst
end

local function latency()
    local loads = {dxgk.process("load 1", load, NORMAL), dxgk.process("load 2", load, NORMAL)}
    local idle, realtime = dxgk.process("real time", measure, REALTIME):wait()
    busy = false
    realtime = idle
    for _, process in ipairs(loads) do
        process:wait()
    end
    dxgk.report("longest wait of real time", ("%d us"):format(realtime // 1000))
    check(realtime < 100000, "a short command of class real time took %d ns among long ones", realtime) -- a slice is 8 us
end

-- ---- waits: on the GPU, by commands and between queues ----

local function waits()
    local gpu = client(NORMAL)
    local a, b = gpu.scheduled, gpu:hardware_queue()
    local ping, pong, count = gpu.small.va, gpu.small.va + 8, gpu.small.va + 16
    gpu.bytes:fill(0, 0, 64)
    for i = 1, 4 * ROUNDS do -- the one that waits for the other is submitted first
        submit(gpu, a, refgpu.wait64(pong, i - 1), refgpu.write64(count, 2 * i - 1), refgpu.write64(ping, i))
        submit(gpu, b, refgpu.wait64(ping, i), refgpu.wait64(count, 2 * i - 1), refgpu.write64(count, 2 * i), refgpu.write64(pong, i))
    end
    finish(gpu, b)
    check(gpu.bytes:u64(16) == 8 * ROUNDS, "the queues have counted to %d", gpu.bytes:u64(16))
    -- by monitored fences: the host holds the second queue until the first has got there
    gpu.bytes:u64(16, 0)
    submit(gpu, a, refgpu.copy(gpu.large.va + LONG, gpu.large.va, LONG), refgpu.write64(count, 77))
    gpu:wait_on(b.hHwQueue, gpu:signal(a.hHwQueue))
    submit(gpu, b, refgpu.copy(gpu.small.va + 24, count, 8))
    gpu:wait(gpu:signal(b.hHwQueue))
    check(gpu.bytes:u64(24) == 77, "behind a wait there was %d", gpu.bytes:u64(24))
    -- commands that wait for a monitored fence of the CPU
    local fence = D3DKMT.CreateSynchronizationObject2{hDevice = gpu.device, Type = D3DDDI_MONITORED_FENCE}
    submit(gpu, a, refgpu.wait64(fence.FenceValueGPUVirtualAddress, 5), refgpu.write64(count, 78))
    submit(gpu, b, refgpu.write64(gpu.small.va + 32, 1))
    finish(gpu, b)
    check(gpu.bytes:u64(16) == 77 and a.HwQueueProgressFenceCPUVirtualAddress:u64(0) < a.id, "a command did not wait")
    D3DKMT.SignalSynchronizationObjectFromCpu{hDevice = gpu.device, ObjectHandleArray = {fence.hSyncObject}, FenceValueArray = {5}}
    finish(gpu, a)
    check(gpu.bytes:u64(16) == 78, "a command waits for a fence that was signalled")
    D3DKMT.DestroySynchronizationObject{hSyncObject = fence.hSyncObject}
    leave(gpu)
end

-- ---- losses: a hang, a page fault, commands that are none; others go on ----

local function lost(commands, state)
    local gpu = client(NORMAL)
    submit(gpu, gpu.scheduled, commands(gpu))
    submit(gpu, gpu.scheduled, refgpu.fill(gpu.small.va, 64, 0xBAD))
    local ended = pcall(finish, gpu, gpu.scheduled)
    local is = D3DKMT.GetDeviceState{hDevice = gpu.device, StateType = 1}.ExecutionState
    check(not ended and is == state, "a device that is to be lost with state %d has state %d", state, is)
    check(gpu.bytes:u32(0) ~= 0xBAD, "what was behind the loss was executed")
    pcall(leave, gpu)
end

local function losses()
    local before = dxgk.statistics().engine_resets
    local kinds = {
        {function() return refgpu.hang() end, D3DKMT_DEVICEEXECUTION_HUNG},
        {function() return refgpu.write64(0x7000000000, 1) end, D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT},
        {function() return "\x99\0\1\0" end, D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT},
    }
    local running = {dxgk.process("chains beside", chains, 9, HIGH), dxgk.process("more chains", chains, 10, IDLE)}
    for number, kind in ipairs(kinds) do
        dxgk.process("lost " .. number, lost, table.unpack(kind)):wait()
    end
    for _, process in ipairs(running) do
        process:wait()
    end
    check(dxgk.statistics().engine_resets - before == #kinds, "%d engine resets", dxgk.statistics().engine_resets - before)
    chains(11, NORMAL)
end

-- ---- sleep, in the middle of long commands ----

local function sleep()
    local process = dxgk.process("chains asleep", chains, 12, NORMAL)
    for _ = 1, ROUNDS do
        dxgk.sleep(300000)
        dxgk.power("D3")
        dxgk.sleep(1000000)
        dxgk.power("D0")
    end
    process:wait()
end

for _, part in ipairs{{"chains", all_chains}, {"latency", latency}, {"waits", waits}, {"losses", losses}, {"sleep", sleep}} do
    if not ONLY or ONLY == part[1] then
        part[2]()
    end
end
if #wrong > 0 then
    return false, ("%d things are wrong: %s"):format(#wrong, table.concat(wrong, "; ", 1, math.min(#wrong, 5)))
end
return true
