-- SPDX-License-Identifier: MIT
-- Days of mixed load: packets in chains on both engines, storms of paging, packets that are preempted, commands that never end.
--
--     dxgkhost run build/drivers/refgpu.so workloads/soak.lua --vram 8M --limit 0 --set hours=72 --set submissions=10000000
--
-- A link of a chain copies what the link before it wrote: if a packet is lost, or runs before one that was submitted earlier, the
-- end of the chain is not what was put into its beginning. A fence is waited for after each chain, and its value read. What hangs
-- loses its device, and begins again with another; nobody else may notice.
--
-- --set hours=1 (virtual), --set submissions=100000, --set seed=1

local refgpu = require "refgpu"

local function option(name, default, most)
    local value = math.tointeger(tonumber(dxgk.set[name] or default))
    if not value or value < 1 or value > most then
        error(("--set %s: 1 to %d"):format(name, most))
    end
    return value
end

local HOURS, SUBMISSIONS, SEED = option("hours", 1, 1000), option("submissions", 100000, 1 << 40), option("seed", 1, 1 << 31)

local SECOND <const> = 1000000000
local LINKS, LINK = 64, 64 -- of a chain; bytes from one to the next
local CHAINS = 4           -- clients of each engine
local VIRTUAL_SHARE = 0.9  -- of the submissions, on the engine with GPU virtual addresses

local END = dxgk.time() + HOURS * 3600 * SECOND
local wrong, chains, storms, contests, hangs = 0, 0, 0, 0, 0

local function generator(state)
    return function(n)
        state = state * 6364136223846793005 + 1442695040888963407
        return ((state >> 33) ~ (state >> 49)) % n
    end
end

-- Calls f now and then until the end, `times` times: f is called with the number of the turn.
local function turns(number, times, f)
    local random = generator(SEED * 1000 + number)
    local begin = dxgk.time()
    for turn = 1, times do
        local from = begin + (END - begin) // times * (turn - 1)
        local now = dxgk.time()
        if now < from then
            dxgk.sleep(from - now + random((END - begin) // times // 2 + 1))
        end
        f(turn, random)
    end
end

local function check(holds, what, ...)
    if not holds then
        wrong = wrong + 1
        if wrong <= 10 then
            print("soak: " .. what:format(...))
        end
    end
end

-- What the fence says: it has the value that was waited for, and nothing behind it was signalled.
local function wait(gpu, context)
    local value = gpu:signal(context)
    gpu:wait(value)
    local seen = gpu.fence.FenceValueCPUVirtualAddress:u64(0)
    check(seen == value, "the fence has %d after %d was waited for", seen, value)
end

-- ---- chains ----

local function virtual_chain(number, count)
    local gpu = refgpu.open()
    local slots = gpu:allocate((LINKS + 1) * LINK, refgpu.CPU_VISIBLE, refgpu.IN_APERTURE)
    local ring = gpu:allocate(LINKS * LINK, refgpu.CPU_VISIBLE, refgpu.IN_APERTURE)
    gpu:make_resident{slots, ring}
    gpu:wait_paging(gpu:map(slots))
    gpu:wait_paging(gpu:map(ring))
    local bytes = D3DKMT.Lock2{hDevice = gpu.device, hAllocation = slots.handle, Size = slots.bytes}.pData
    local length
    gpu:with_bytes(ring, function(b)
        for i = 0, LINKS - 1 do
            local command = refgpu.copy(slots.va + (i + 1) * LINK, slots.va + i * LINK, 8)
            length = #command
            b:write(i * LINK, command)
        end
    end)
    turns(number, count, function(turn)
        bytes:u64(0, number << 40 | turn)
        for i = 0, LINKS - 1 do
            gpu:submit(gpu.copy, ring.va + i * LINK, length)
        end
        wait(gpu, gpu.copy)
        check(bytes:u64(LINKS * LINK) == number << 40 | turn, "chain %d of client %d ends with 0x%x", turn, number, bytes:u64(LINKS * LINK))
        chains = chains + 1
    end)
    D3DKMT.Unlock2{hDevice = gpu.device, hAllocation = slots.handle}
    gpu:free(slots)
    gpu:free(ring)
    gpu:close()
end

local function physical_chain(number, count)
    local gpu = refgpu.open()
    local slots = gpu:allocate((LINKS + 1) * LINK, refgpu.PHYSICAL | refgpu.CPU_VISIBLE, refgpu.IN_VRAM | refgpu.IN_APERTURE)
    local list = {{allocation = slots, write = true}}
    gpu:make_resident{slots}
    turns(number, count, function(turn)
        gpu:with_bytes(slots, function(b)
            b:u64(0, number << 40 | turn)
        end)
        for i = 0, LINKS - 1 do
            gpu:render({refgpu.copy(refgpu.ref(0, (i + 1) * LINK), refgpu.ref(0, i * LINK), 8)}, list)
        end
        wait(gpu, gpu.context2d.hContext)
        gpu:with_bytes(slots, function(b)
            check(b:u64(LINKS * LINK) == number << 40 | turn, "chain %d of client %d ends with 0x%x", turn, number, b:u64(LINKS * LINK))
        end)
        chains = chains + 1
    end)
    gpu:free(slots)
    gpu:close()
end

-- ---- what disturbs ----

-- More memory than there is, filled and read back.
local function storm(number, count)
    local PIECE <const> = 512 << 10
    turns(number, count, function(turn)
        local gpu = refgpu.open()
        local pieces = {}
        for i = 1, gpu.vram // PIECE + 4 do
            pieces[i] = gpu:allocate(PIECE, refgpu.PHYSICAL | refgpu.CPU_VISIBLE, refgpu.IN_VRAM)
            gpu:make_resident{pieces[i]}
            gpu:render({refgpu.fill(refgpu.ref(0), PIECE, turn << 8 | i)}, {{allocation = pieces[i], write = true}})
            wait(gpu, gpu.context2d.hContext)
            gpu:evict{pieces[i]}
        end
        for i, piece in ipairs(pieces) do
            gpu:with_bytes(piece, function(b)
                check(b:u32(PIECE - 4) == turn << 8 | i, "piece %d of storm %d has 0x%x", i, turn, b:u32(PIECE - 4))
            end)
            gpu:free(piece)
        end
        gpu:close()
        storms = storms + 1
    end)
end

-- Long packets of one context, and a short one of another that is more important.
local function contest(number, count)
    local LONG <const> = 1 << 20
    turns(number, count, function(turn)
        local low, high = refgpu.open(), refgpu.open()
        local long = low:allocate(LONG, refgpu.PHYSICAL | refgpu.CPU_VISIBLE, refgpu.IN_VRAM)
        local short = high:allocate(4096, refgpu.PHYSICAL | refgpu.CPU_VISIBLE, refgpu.IN_VRAM)
        low:make_resident{long}
        high:make_resident{short}
        D3DKMT.SetContextSchedulingPriority{hContext = high.context2d.hContext, Priority = 3}
        for i = 1, 4 do
            low:render({refgpu.fill(refgpu.ref(0), LONG, turn << 8 | i)}, {{allocation = long, write = true}})
        end
        high:render({refgpu.fill(refgpu.ref(0), 4096, turn)}, {{allocation = short, write = true}})
        wait(high, high.context2d.hContext)
        wait(low, low.context2d.hContext)
        low:with_bytes(long, function(b)
            check(b:u32(LONG - 4) == turn << 8 | 4, "contest %d: the long packets left 0x%x", turn, b:u32(LONG - 4))
        end)
        high:with_bytes(short, function(b)
            check(b:u32(4092) == turn, "contest %d: the short packet left 0x%x", turn, b:u32(4092))
        end)
        low:free(long)
        high:free(short)
        low:close()
        high:close()
        contests = contests + 1
    end)
end

-- The device is lost, and with it nothing else.
local function hang(number, count)
    turns(number, count, function(turn)
        local gpu = refgpu.open()
        if turn % 2 == 0 then
            gpu:render({refgpu.hang()}, {})
            check(not pcall(wait, gpu, gpu.context2d.hContext), "a command that never ends has ended")
        else
            gpu:submit_copy{refgpu.hang()}
            check(not pcall(wait, gpu, gpu.copy), "a command that never ends has ended")
        end
        local state = D3DKMT.GetDeviceState{hDevice = gpu.device, StateType = 1}.ExecutionState
        check(state ~= 1, "the device that hung is active")
        pcall(gpu.close, gpu)
        hangs = hangs + 1
    end)
end

local running = {}
local function start(f, count)
    running[#running + 1] = dxgk.process("soak " .. #running + 1, f, #running + 1, math.max(1, count))
end

local per_client = SUBMISSIONS / LINKS / CHAINS
for _ = 1, CHAINS do
    start(virtual_chain, math.ceil(per_client * VIRTUAL_SHARE))
    start(physical_chain, math.ceil(per_client * (1 - VIRTUAL_SHARE)))
end
for _ = 1, 2 do
    start(storm, HOURS * 4)
end
start(contest, HOURS * 12)
start(hang, HOURS * 6)
for number, process in ipairs(running) do
    process:wait()
    dxgk.progress(number / #running, "clients")
end

local s = dxgk.statistics()
dxgk.report("virtual hours", ("%.1f"):format(s.virtual_ns / SECOND / 3600))
dxgk.report("chains of " .. LINKS .. " packets", chains)
dxgk.report("storms, contests, hangs", ("%d, %d, %d"):format(storms, contests, hangs))
dxgk.report("preemptions", s.preemptions)
dxgk.report("engine resets", s.engine_resets)
if wrong > 0 then
    return false, ("%d observations were wrong"):format(wrong)
end
if s.engine_resets ~= hangs or s.adapter_resets > 0 then
    return false, ("%d hangs, %d engine resets, %d adapter resets"):format(hangs, s.engine_resets, s.adapter_resets)
end
return true
