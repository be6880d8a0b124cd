-- SPDX-License-Identifier: MIT
-- A client of the reference GPU that means harm: packets of garbage on both nodes, commands with garbage operands, private data
-- of garbage, allocations that vanish in flight. Whatever it does, the machine goes on. --set packets=N, --set seed=N.
package.path = dxgk.set.modules .. "/?.lua;" .. package.path
local refgpu = require("refgpu")
local packets = tonumber(dxgk.set.packets or 1000)
local hangs = tonumber(dxgk.set.hangs or 0) -- one in so many of those that would wait or hang does; 0: none
math.randomseed(tonumber(dxgk.set.seed or 1))

local rnd = math.random
local MAGIC = 0x444D5552
local gpu, memory, lost, sent, failed, hung = nil, {}, 0, 0, 0, 0

local function pick(list)
    return list[rnd(#list)]
end

local function one_in(n)
    return n > 0 and rnd(n) == 1
end

local function garbage(bytes)
    local t = {}
    for i = 1, (bytes + 7) // 8 do
        t[i] = string.pack("<i8", rnd(0))
    end
    return table.concat(t):sub(1, bytes)
end

local function number()
    return pick{0, 1, 3, 4, 64, 65, 4095, 4096, 4097, 65536, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, rnd(0) & 0xFFFFFFFF}
end

-- ---- commands: mostly well formed, with operands that are not ----

local function address()
    local a = #memory > 0 and pick(memory)
    return pick{a and a.va or 0, (a and a.va or 0) + (rnd(0) & 0xFFFFF), rnd(0), rnd(0) & 0xFFFFFFFFFF, 0, -1, refgpu.ref(rnd(0, 4), number()),
        1 << 47, 1 << 48, (1 << 62) + (rnd(0) & 0xFFFFFF)}
end

local DWORDS = {[0x01] = 5, [0x02] = 5, [0x03] = 1, [0x04] = 3, [0x05] = 2, [0x10] = 6, [0x11] = 7, [0x12] = 7, [0x13] = 9, [0x14] = 11,
    [0x15] = 10, [0x16] = 14, [0x40] = 6, [0x41] = 8, [0x42] = 6, [0x43] = 7, [0x44] = 1}
local OPCODES = {}
for opcode in pairs(DWORDS) do
    OPCODES[#OPCODES + 1] = opcode
end
table.sort(OPCODES)

local function command()
    local opcode = pick(OPCODES)
    if one_in(20) then
        opcode = rnd(0, 255)
    end
    if opcode == 0x20 then -- RAW_ACCESS may touch what it likes (docs/refgpu.md)
        opcode = 0x21
    elseif opcode == 0x02 or opcode == 0x03 then -- five timeouts block the process (TDR-041)
        if hung < 4 and one_in(hangs) then
            hung = hung + 1
            return opcode == 0x03 and refgpu.hang() or refgpu.wait64(#memory > 0 and pick(memory).va or 0, -7)
        end
        opcode = 0x10
    end
    local dwords = one_in(15) and rnd(0, 70) or DWORDS[opcode] or rnd(1, 16)
    local flags = one_in(3) and rnd(0, 255) or pick{0, 0x10}
    local words = {string.pack("<I4", opcode | flags << 8 | (dwords & 0xFFFF) << 16)}
    local left = dwords - 1
    while left >= 2 and #words < 64 do
        words[#words + 1] = one_in(2) and string.pack("<i8", address()) or string.pack("<I4I4", number(), number())
        left = left - 2
    end
    if left == 1 then
        words[#words + 1] = string.pack("<I4", opcode == 0x05 and rnd(100000) or number())
    end
    return table.concat(words)
end

local function commands()
    if one_in(6) then
        return garbage(rnd(0, 600))
    end
    local t = {}
    for i = 1, rnd(6) do
        t[i] = command()
    end
    local bytes = table.concat(t)
    return one_in(8) and bytes:sub(1, rnd(#bytes)) or bytes
end

-- Commands as a driver's client makes them, of which a word may be spoilt. `place` gives an operand's address.
local function sound(place)
    local t = {}
    for i = 1, rnd(8) do
        t[i] = pick{function() return refgpu.fill(place(), 4 * rnd(1024), rnd(0) & 0xFFFFFFFF) end,
            function() return refgpu.copy(place(), place(), rnd(4096)) end,
            function() return refgpu.fill_rect(place(), 256, rnd(64), rnd(64), 7) end,
            function() return refgpu.copy_rect(place(), 256, place(), 256, rnd(256), rnd(64)) end,
            function() return refgpu.scale(place(), 256, rnd(64), rnd(64), place(), 256, rnd(64), rnd(64)) end,
            function() return refgpu.blend(place(), 256, place(), 256, rnd(64), rnd(64), rnd(255)) end,
            function() return refgpu.write64(place(), rnd(0)) end}()
    end
    local bytes = table.concat(t)
    if one_in(3) then
        local at = rnd(#bytes // 4) * 4 - 3
        bytes = bytes:sub(1, at - 1) .. string.pack("<I4", at % 4 == 1 and one_in(2) and number() or rnd(0) & 0xFFFFFFFF) .. bytes:sub(at + 4)
    end
    return bytes
end

-- ---- acts; each may fail ----

local function private()
    if one_in(2) then
        return nil
    end
    return pick{garbage(rnd(0, 64)), string.pack("<I4I4I8", MAGIC, rnd(0, 3), 0), string.pack("<I4", MAGIC), string.pack("<I4I4", MAGIC, 0)}
end

local act = {}

function act.packet()
    local ring = gpu.attack_ring
    local bytes = one_in(2) and commands() or sound(function() return (pick(memory).va or 0) + 64 * rnd(0, 512) end)
    local at = rnd(0, 200) * 256
    gpu.attack_bytes:write(at, bytes)
    D3DKMT.SubmitCommand{Commands = one_in(10) and address() or ring.va + at + (one_in(20) and rnd(3) or 0),
        CommandLength = one_in(10) and number() or #bytes, BroadcastContext = {gpu.copy}, pPrivateDriverData = private(),
        Flags = one_in(10) and rnd(0, 7) or 0}
    sent = sent + 1
end

function act.render()
    local c = gpu.context2d
    local plain = one_in(2)
    local bytes = plain and sound(function() return refgpu.ref(rnd(0, 3), 64 * rnd(0, 512)) end) or commands()
    local count = plain and 4 or rnd(0, 5)
    c.pCommandBuffer:write(0, bytes)
    for i = 1, count do
        c.pAllocationList:u32((i - 1) * 8, plain and gpu.attack_memory[i].handle or not one_in(10) and pick(memory).handle or number())
        c.pAllocationList:u32((i - 1) * 8 + 4, plain and 1 or one_in(10) and number() or rnd(0, 1))
    end
    if plain then
        local r = D3DKMT.Render{hContext = c.hContext, CommandLength = #bytes, AllocationCount = count}
        c.pCommandBuffer, c.pAllocationList = r.pCommandBuffer, r.pAllocationList
        sent = sent + 1
        return
    end
    local r = D3DKMT.Render{hContext = c.hContext, CommandLength = one_in(20) and number() or #bytes, CommandOffset = one_in(20) and number() or 0,
        AllocationCount = one_in(20) and number() or count, PatchLocationCount = one_in(20) and number() or 0}
    c.pCommandBuffer, c.pAllocationList = r.pCommandBuffer, r.pAllocationList
    sent = sent + 1
end

function act.allocate()
    local data = one_in(4) and garbage(rnd(0, 48)) or
        string.pack("<I4I4I8I4I4I4I4I4I4", MAGIC, rnd(0, 0x1FF), rnd(1 << 20), one_in(8) and number() or 0, rnd(0, 3), one_in(8) and number() or 0, 0, 0, 0)
    local made = D3DKMT.CreateAllocation2{hDevice = gpu.device, pAllocationInfo = {{pPrivateDriverData = data}}}
    local a = {handle = made.pAllocationInfo[1].hAllocation, bytes = 4096}
    memory[#memory + 1] = a
    pcall(D3DKMT.MakeResident, {hPagingQueue = gpu.queue.hPagingQueue, AllocationList = {a.handle}})
    pcall(gpu.map, gpu, a)
end

function act.free()
    if #memory > 8 then
        gpu:free(table.remove(memory, one_in(10) and rnd(#memory) or rnd(5, #memory)))
    end
end

function act.unmap()
    local a = #memory > 0 and pick(memory)
    if a and a.va then
        gpu:unmap(a)
    end
end

function act.evict()
    if #memory > 0 then
        gpu:evict{pick(memory)}
    end
end

function act.map()
    if #memory > 0 then
        local a = pick(memory)
        a.va = D3DKMT.MapGpuVirtualAddress{hPagingQueue = gpu.queue.hPagingQueue, hAllocation = a.handle, BaseAddress = one_in(3) and address() or 0,
            OffsetInPages = one_in(10) and number() or 0, SizeInPages = one_in(5) and number() or 1, Protection = one_in(5) and number() or 1,
            DriverProtection = one_in(5) and rnd(0) or 0}.VirtualAddress
    end
end

function act.escape()
    D3DKMT.Escape{hAdapter = gpu.adapter, hDevice = one_in(2) and gpu.device or 0, Type = 0, Flags = rnd(0, 3),
        pPrivateDriverData = string.pack("<I4I4", one_in(8) and number() or MAGIC, rnd(0, 6)) .. garbage(rnd(0, 2100))}
end

function act.context()
    local data = pick{garbage(rnd(0, 40)), string.pack("<I4I4I8", MAGIC, rnd(0, 3), rnd(0)), string.pack("<I4I4I8", MAGIC, 0, rnd(0) & 0xFFFFFFFFF000)}
    local h
    if one_in(2) then
        h = D3DKMT.CreateContext{hDevice = gpu.device, NodeOrdinal = rnd(0, 2), EngineAffinity = rnd(0, 2), pPrivateDriverData = data}.hContext
    else
        h = D3DKMT.CreateContextVirtual{hDevice = gpu.device, NodeOrdinal = rnd(0, 2), EngineAffinity = rnd(0, 2), pPrivateDriverData = data}.hContext
    end
    D3DKMT.DestroyContext{hContext = h}
end

function act.signal()
    local c = pick{gpu.copy, gpu.context2d.hContext}
    gpu:signal(c)
end

function act.idle()
    D3DKMT.WaitForIdle{hDevice = gpu.device}
end

function act.sleep()
    dxgk.sleep(rnd(1000000))
end

local ACTS = {}
for name, weight in pairs{packet = 12, render = 12, allocate = 2, free = 1, unmap = 1, evict = 1, map = 1, escape = 1, context = 1, signal = 1, idle = 1,
    sleep = 2} do
    for _ = 1, weight do
        ACTS[#ACTS + 1] = name
    end
end
table.sort(ACTS)

-- ---- devices come and go ----

local function open()
    gpu, memory = refgpu.open(), {}
    gpu.attack_ring = gpu:allocate(1 << 16, refgpu.CPU_VISIBLE, refgpu.IN_APERTURE)
    gpu:make_resident{gpu.attack_ring}
    gpu:wait_paging(gpu:map(gpu.attack_ring))
    gpu.attack_bytes = D3DKMT.Lock2{hDevice = gpu.device, hAllocation = gpu.attack_ring.handle, Size = 1 << 16}.pData
    for _ = 1, 4 do
        local a = gpu:allocate(65536, refgpu.CPU_VISIBLE | refgpu.PHYSICAL)
        memory[#memory + 1] = a
        gpu:make_resident{a}
        gpu:wait_paging(gpu:map(a))
    end
    gpu.attack_memory = table.move(memory, 1, 4, 1, {})
end

local function close()
    pcall(D3DKMT.DestroyDevice, {hDevice = gpu.device})
    pcall(D3DKMT.CloseAdapter, {hAdapter = gpu.adapter})
end

local function is_lost()
    local state = D3DKMT.GetDeviceState{hDevice = gpu.device, StateType = 1}
    return state.ExecutionState ~= 1
end

-- Garbage may wait, too: a process that has caused five timeouts gets no device any more (TDR-042).
local function open_again()
    local opened, why = pcall(open)
    if not opened and not tostring(why):find("STATUS_ACCESS_DENIED", 1, true) then
        error(why, 0)
    end
    return opened
end

local blocked = false
open()
while sent + failed < packets and not blocked do
    local name = pick(ACTS)
    if not pcall(act[name]) and (name == "packet" or name == "render") then
        failed = failed + 1
    end
    if one_in(4) then
        local ok, gone = pcall(is_lost)
        if not ok or gone or one_in(400) then
            lost = lost + 1
            close()
            blocked = not open_again()
        end
    end
end
if not blocked then
    close()
end
dxgk.report("packets", string.format("%d sent, %d refused", sent, failed))
dxgk.report("devices lost", lost)
return true
