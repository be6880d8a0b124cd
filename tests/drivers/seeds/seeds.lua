-- SPDX-License-Identifier: MIT
-- What the workloads of the test driver "seeds" share: its escapes, client objects, and the lines of the probes. Numbers are those
-- of seeds_hw.h.

local seeds = {}

local MAGIC, TEXT = 0x31444553, 256
local HEAD = "<I4I4i4I4i8i8i8i8i8i8i8i8i8i8i8i8"

seeds.BUS, seeds.VRAM, seeds.APERTURE = 1 << 63, 1 << 32, 1 << 40
seeds.AT_APC, seeds.IN_SYSTEM, seeds.NO_ARGUMENTS, seeds.WRONG_ADAPTER, seeds.AT_DISPATCH = 1, 2, 4, 8, 16
seeds.UNASKED = 32
seeds.code = {
    INFO = 1, RESULT = 2, SETTLE = 3, KNOB = 4, ALLOCATE_CONTIGUOUS = 0x10, FREE_CONTIGUOUS = 0x11, CREATE_OBJECT = 0x12,
    DESTROY_OBJECT = 0x13, MAP_OBJECT = 0x14, UNMAP_OBJECT = 0x15, OPEN_OBJECT = 0x16, CLOSE_OBJECT = 0x17, ALLOCATE_ADL = 0x18,
    FREE_ADL = 0x19, CPU_READ = 0x1A, CPU_WRITE = 0x1B, PHYSICAL = 0x1C, PEEK = 0x1D, POKE = 0x1E, VIRTUAL_PEEK = 0x1F,
    CREATE = 0x30, MAP = 0x31, UPDATE = 0x32, DESTROY = 0x33, INITIALISED = 0x34, LAST_PROTECTION = 0x35, LAST_UPDATE = 0x36,
}
seeds.status = {
    SUCCESS = 0, INVALID_PARAMETER = 0xC000000D, INVALID_HANDLE = 0xC0000008, NO_MEMORY = 0xC0000017, NOT_SUPPORTED = 0xC00000BB,
    ACCESS_VIOLATION = 0xC0000005, INVALID_DEVICE_REQUEST = 0xC0000010, INVALID_PAGE_PROTECTION = 0xC0000045,
    ALREADY_REGISTERED = 0xC0000718,
}

-- ---- the lines ----

local counts = {ok = 0, failed = 0}
local seen = {}

local function line(word, name, rule, text)
    print(string.format("%-7s %s (%s): %s", word, name, rule, text))
end

-- One probe: what was found, in a sentence with its values.
function seeds.probe(name, rule, good, text, ...)
    text = select("#", ...) > 0 and string.format(text, ...) or text
    seen[name] = true
    if good then
        line("ok", name, rule, text)
        counts.ok = counts.ok + 1
    else
        line("FAILED", name, rule, text)
        counts.failed = counts.failed + 1
    end
    return good
end

local expected = 0

-- What the probes do wrong on purpose: {RULE = how often}, and nothing else.
function seeds.expect(rules)
    for rule, times in pairs(rules) do
        dxgk.expect(rule)
        expected = expected + times
    end
end

-- The end of a workload.
function seeds.finish()
    local violations = dxgk.statistics().violations
    if violations ~= expected then
        line("FAILED", "run", "-", string.format("%d violations, expected are %d", violations, expected))
        counts.failed = counts.failed + 1
    end
    dxgk.report("probes", string.format("%d ok, %d failed", counts.ok, counts.failed))
    if counts.failed > 0 then
        return false, counts.failed .. " probes failed"
    end
    return true, counts.ok .. " probes passed"
end

-- ---- the driver's services ----

local function find_adapter()
    return D3DKMT.EnumAdapters2()[1].hAdapter
end
seeds.adapter = find_adapter()

-- A service of the driver: status as an unsigned number, out values from 0 on, text. `where`: {device=, context=, how=, flags=}.
function seeds.call(code, arguments, where)
    local a, w = {}, where or {}
    for i = 0, 11 do
        a[i + 1] = arguments and arguments[i + 1] or 0
    end
    local data = string.pack(HEAD, MAGIC, code, 0, w.how or 0, table.unpack(a)) .. string.rep("\0", TEXT)
    local r = D3DKMT.Escape{hAdapter = seeds.adapter, hDevice = w.device or 0, hContext = w.context or 0, Type = 0,
        Flags = w.flags or 0, pPrivateDriverData = data}
    local values = {string.unpack(HEAD, r.pPrivateDriverData)}
    local out = {}
    for i = 0, 11 do
        out[i] = values[5 + i]
    end
    return values[3] & 0xFFFFFFFF, out, r.pPrivateDriverData:sub(113):match("^[^\0]*")
end

local _, info = seeds.call(seeds.code.INFO)
seeds.version, seeds.config, seeds.vram_bytes = info[0], info[1], info[2]
seeds.has_exceptions, seeds.has_register_routines = info[6] ~= 0, info[8] ~= 0
seeds.register_bus, seeds.vram_bus, seeds.device_handle = info[3], info[4], info[5]
seeds.is_2x, seeds.is_29 = seeds.version >= 0x5023, seeds.version >= 0xE003
seeds.multi, seeds.preempt, seeds.gpummu = seeds.config & 1 ~= 0, seeds.config & 2 ~= 0, seeds.is_2x and seeds.config & 4 ~= 0
seeds.aperture, seeds.noexec = seeds.config & 8 ~= 0, seeds.config & 16 ~= 0
seeds.private = (seeds.config >> 8 & 0xFF) * 8
seeds.paging_aperture = seeds.config & 0x40 ~= 0
seeds.private_stays, seeds.keep = seeds.config & 0x10000 ~= 0, seeds.config & 0x40000 ~= 0

-- The device's own look at 8 bytes; nil: it cannot.
function seeds.peek(address)
    local _, out = seeds.call(seeds.code.PEEK, {address})
    return out[2] ~= 0 and out[1] or nil
end

function seeds.poke(address, value)
    local _, out = seeds.call(seeds.code.POKE, {address, value})
    return out[2] ~= 0
end

-- The CPU's, in the driver; nil and the status: it cannot.
function seeds.read(address, width, how)
    local status, out = seeds.call(seeds.code.CPU_READ, {address, width or 8}, {how = how})
    if status ~= 0 then
        return nil, status
    end
    return out[2]
end

function seeds.write(address, value, width, how)
    return seeds.call(seeds.code.CPU_WRITE, {address, width or 8, value}, {how = how})
end

-- By the register routines of the kernel, 32 bits.
function seeds.read_register(address)
    return seeds.read(address, 0x104)
end

function seeds.physical(address)
    local _, out = seeds.call(seeds.code.PHYSICAL, {address})
    return out[1]
end

-- How the CPU's mappings of the page behind an address are cached.
function seeds.cache_of(address)
    return dxgk.page(seeds.physical(address)).cache
end

-- ---- clients ----

local FILL, COPY, DELAY, PROBE, TRY, FETCH = 1, 2, 5, 6, 7, 10

local function command(op, bytes, dst, src, pattern)
    return string.pack("<I4I4i8i8I4I4", op, bytes, dst or 0, src or 0, pattern or 0, 0)
end

-- An operand of Render: element of the list (1 is the first of the caller's; element 0 is NULL) and byte.
function seeds.ref(index, offset)
    return index << 32 | (offset or 0)
end

function seeds.fill(dst, bytes, pattern) return command(FILL, bytes, dst, 0, pattern) end
function seeds.copy(dst, src, bytes) return command(COPY, bytes, dst, src) end
function seeds.delay(ns) return command(DELAY, ns) end
function seeds.probe_read(dst, src) return command(PROBE, 4, dst, src) end
function seeds.probe_fetch(dst, src) return command(FETCH, 4, dst, src) end
function seeds.probe_write(dst, src, pattern) return command(TRY, 4, dst, src, pattern) end

local tags = 0x7A67000000000000

-- An allocation of `bytes` whose first 8 bytes hold a tag of its own. segments: 1 video memory, 2 aperture, 3 both.
function seeds.allocate(device, bytes, segments)
    tags = tags + 1
    local data = string.pack("<I4I4I4I4i8", MAGIC, bytes, segments or 3, 0, tags)
    local made = D3DKMT.CreateAllocation2{hDevice = device, pAllocationInfo = {{pPrivateDriverData = data}}}
    local allocation = {handle = made.pAllocationInfo[1].hAllocation, bytes = bytes, tag = tags, device = device}
    seeds.lock(allocation, function(memory) memory:u64(0, tags) end)
    return allocation
end

function seeds.lock(allocation, what)
    local lock = (seeds.is_2x and D3DKMT.Lock2 or D3DKMT.Lock){hDevice = allocation.device, hAllocation = allocation.handle,
        Size = allocation.bytes}
    local result = what(lock.pData)
    if seeds.is_2x then
        D3DKMT.Unlock2{hDevice = allocation.device, hAllocation = allocation.handle}
    else
        D3DKMT.Unlock{hDevice = allocation.device, phAllocations = {allocation.handle}}
    end
    return result
end

function seeds.word(allocation, offset)
    return seeds.lock(allocation, function(memory) return memory:u32(offset) end)
end

function seeds.context(device, node)
    local context = D3DKMT.CreateContext{hDevice = device, NodeOrdinal = node or 0, EngineAffinity = 1}
    context.device = device
    return context
end

-- Residency is the client's from WDDM 2.0 on.
local queues = {}
function seeds.make_resident(device, allocations)
    if not seeds.is_2x then
        return
    end
    if not queues[device] then
        queues[device] = D3DKMT.CreatePagingQueue{hDevice = device}
    end
    local handles = {}
    for i, a in ipairs(allocations) do
        handles[i] = a.handle
    end
    local r = D3DKMT.MakeResident{hPagingQueue = queues[device].hPagingQueue, AllocationList = handles}
    if r.PagingFenceValue ~= 0 then
        D3DKMT.WaitForSynchronizationObjectFromCpu{hDevice = device, ObjectHandleArray = {queues[device].hSyncObject},
            FenceValueArray = {r.PagingFenceValue}}
    end
end

function seeds.evict(device, allocations)
    if not seeds.is_2x then
        return
    end
    local handles = {}
    for i, a in ipairs(allocations) do
        handles[i] = a.handle
    end
    D3DKMT.Evict{hDevice = device, AllocationList = handles}
end

function seeds.queue(device)
    if not queues[device] then
        queues[device] = D3DKMT.CreatePagingQueue{hDevice = device}
    end
    return queues[device]
end

function seeds.close_queues()
    for _, queue in pairs(queues) do
        D3DKMT.DestroyPagingQueue{hPagingQueue = queue.hPagingQueue}
    end
    queues = {}
end

-- One submission: commands on allocations {allocation, written}; element 0 of the list is NULL.
function seeds.render(context, commands, list, flags)
    local bytes = table.concat(commands)
    context.pCommandBuffer:write(0, bytes)
    context.pAllocationList:u32(0, 0)
    context.pAllocationList:u32(4, 0)
    for i, entry in ipairs(list) do
        context.pAllocationList:u32(i * 8, entry[1].handle)
        context.pAllocationList:u32(i * 8 + 4, entry[2] and 1 or 0)
    end
    local r = D3DKMT.Render{hContext = context.hContext, CommandLength = #bytes, AllocationCount = #list + 1, Flags = flags or 0}
    context.pCommandBuffer, context.pAllocationList = r.pCommandBuffer, r.pAllocationList
    context.CommandBufferSize = r.CommandBufferSize
    return r
end

-- The probes that the driver made by itself, one line each; those named in `wanted` must have been made.
function seeds.driver_results(wanted)
    seeds.call(seeds.code.SETTLE)
    local index, made = 0, {}
    while true do
        local status, out, text = seeds.call(seeds.code.RESULT, {index})
        if status ~= 0 then
            break
        end
        local name, rule, sentence = text:match("^(.-)\n(.-)\n(.-)\n")
        made[name] = rule
        if out[1] + out[2] > 0 then
            sentence = string.format(sentence, out[3], out[4], out[5], out[6])
            seeds.probe(name, rule, out[2] == 0, "%s; %d times, %d wrong", sentence, out[1] + out[2], out[2])
        end
        index = index + 1
    end
    for _, name in ipairs(wanted or {}) do
        if not made[name] then
            error("there is no probe " .. name)
        end
        if not seen[name] then
            seeds.probe(name, made[name], false, "it was never made")
        end
    end
end

return seeds
