-- SPDX-License-Identifier: MIT
-- DXGKARGCB_MAPCONTEXTALLOCATION, statement by statement. Page i of a context allocation is filled by its INIT_CONTEXT_RESOURCE operation
-- with a word that names the allocation and i, so that the device, reading through an address, tells what that address shows.

local seeds = require "seeds"
local code, status, probe = seeds.code, seeds.status, seeds.probe
local PAGE, KIB, MIB = 4096, 1024, 1024 * 1024
local GARBAGE = 0x5A5A5A5A5A5A5000
local WRITE, EXECUTE, ZERO, NO_ACCESS = 1, 2, 4, 8
local VRAM_BIT, APERTURE_BIT, ACCESSED_PHYSICALLY = 1, 2, 0x8000
local MAP_GPU = 2 -- DXGK_CREATECONTEXTALLOCATIONFLAGS.MapGpuVirtualAddress

local device = D3DKMT.CreateDevice{hAdapter = seeds.adapter}.hDevice
local context, other, queue
if seeds.gpummu then
    context = D3DKMT.CreateContextVirtual{hDevice = device, NodeOrdinal = 1, EngineAffinity = 1}.hContext
    other = D3DKMT.CreateContextVirtual{hDevice = device, NodeOrdinal = 1, EngineAffinity = 1}.hContext
    queue = seeds.queue(device)
else
    context = seeds.context(device).hContext
end
local where = {device = device, context = context}

-- ---- the callbacks ----

local function create(bytes, a)
    a = a or {}
    local flags = a.kind or MAP_GPU
    local s, out = seeds.call(code.CREATE, {a.no_device and 0 or 1, a.no_context and 0 or 1, bytes, a.alignment or 0,
        a.segments or VRAM_BIT, 0, a.flags or 0, flags, 0xD417E4, GARBAGE}, {device = device, context = a.context or context, how = a.how,
        flags = a.at})
    return {status = s, handle = out[9], bytes = bytes}
end

local function map(allocation, pages, a)
    a = a or {}
    local _, out = seeds.call(code.MAP, {a.base or 0, a.min or 0, a.max or 0, a.handle or allocation.handle, a.offset or 0, pages,
        a.protection or WRITE, a.driver or 0}, {device = device, context = context, how = a.how, flags = a.flags})
    return out[8]
end

local function update(allocation, offset, value, a)
    a = a or {}
    return (seeds.call(code.UPDATE, {a.handle or allocation.handle, offset, value, a.size or 16, a.null and 0 or 1}, where))
end

local function destroy(allocation, flags)
    return (seeds.call(code.DESTROY, {allocation.handle}, {device = device, context = context, flags = flags}))
end

-- ---- work on the context ----

local commands, target

-- An allocation of the client, mapped and visible to the CPU.
local function client_memory(bytes)
    local a = seeds.allocate(device, bytes, 3)
    local m = D3DKMT.MapGpuVirtualAddress{hPagingQueue = queue.hPagingQueue, hAllocation = a.handle, SizeInPages = bytes // PAGE,
        Protection = WRITE}
    seeds.make_resident(device, {a})
    D3DKMT.WaitForSynchronizationObjectFromCpu{hDevice = device, ObjectHandleArray = {queue.hSyncObject},
        FenceValueArray = {m.PagingFenceValue}}
    a.va = m.VirtualAddress
    return a
end

local function submit(list, on)
    local bytes = table.concat(list)
    seeds.lock(commands, function(memory) memory:write(64, bytes) end)
    D3DKMT.SubmitCommand{Commands = commands.va + 64, CommandLength = #bytes, BroadcastContext = {on or context}}
    D3DKMT.WaitForIdle{hDevice = device}
end

-- What the device finds at GPU virtual addresses, in one submission of the context: words, or nil where it cannot read.
local function look(...)
    local list, found = {}, {}
    for i, va in ipairs{...} do
        list[i] = seeds.probe_read(target.va + 64 + 8 * i, va)
    end
    submit(list)
    seeds.lock(target, function(memory)
        for i = 1, #list do
            found[i] = memory:u32(64 + 8 * i) == 1 and memory:u32(68 + 8 * i) or nil
        end
    end)
    return table.unpack(found, 1, #list)
end

-- As code; nil: it must not.
local function fetch(va)
    submit{seeds.probe_fetch(target.va + 40, va)}
    return seeds.lock(target, function(memory) return memory:u32(40) == 1 and memory:u32(44) or nil end)
end

local function try_write(va, value)
    submit{seeds.probe_write(target.va + 32, va, value)}
    return seeds.lock(target, function(memory) return memory:u32(32) == 1 end)
end

local function word(allocation, page)
    return (allocation.handle << 8 | page) & 0xFFFFFFFF
end

local function last_update(va)
    local s, out = seeds.call(code.LAST_PROTECTION, {va}, where)
    return s == 0 and out[1] or nil, s == 0 and out[2] or 0
end

-- ---- creation, as far as mapping needs it ----

local function creation()
    local a = create(4 * PAGE)
    probe("context.create-gives-a-handle", "CTXA-026", a.status == 0 and a.handle ~= 0 and a.handle ~= GARBAGE, "status 0x%x, handle 0x%x",
        a.status, a.handle)
    local s = create(PAGE, {no_context = true})
    probe("context.create-needs-a-context", "CTXA-010", s.status == status.INVALID_PARAMETER, "status 0x%x", s.status)
    probe("context.create-failure-leaves-null", "CTXA-028", s.handle == 0, "hAllocation 0x%x", s.handle)
    local shared = create(PAGE, {kind = MAP_GPU | 1})
    probe("context.shared-one-has-no-context", "CTXA-008", shared.status == status.INVALID_PARAMETER, "status 0x%x", shared.status)
    local of_device = create(PAGE, {kind = MAP_GPU | 1, no_context = true})
    probe("context.shared-one-is-of-the-device", "CTXA-006", of_device.status == 0, "status 0x%x", of_device.status)
    destroy(of_device)
    local bit = create(PAGE, {kind = 0x80000000})
    probe("context.create-flags-are-known", "CTXA-014", bit.status == status.INVALID_PARAMETER, "status 0x%x", bit.status)
    local empty = create(0)
    probe("context.create-no-bytes-is-invalid", "CTXA-018", empty.status == status.INVALID_PARAMETER, "status 0x%x", empty.status)
    local none = create(PAGE, {segments = 8})
    probe("context.create-segment-exists", "CTXA-022", none.status == status.INVALID_PARAMETER, "status 0x%x", none.status)
    return a
end

-- ---- what a mapping shows ----

local function contents(a)
    local va = map(a, 4)
    probe("map.gives-an-address", "CTXA-044", va ~= 0 and va % PAGE == 0, "0x%x", va)
    local w0, w1, w3, behind = look(va, va + PAGE + 4092, va + 3 * PAGE, va + 4 * PAGE)
    probe("map.shows-the-allocation", "CTXA-044", w0 == word(a, 0) and w1 == word(a, 1) and w3 == word(a, 3),
        "pages 0, 1 and 3 hold 0x%x, 0x%x, 0x%x of allocation 0x%x", w0 or 0, w1 or 0, w3 or 0, a.handle)
    probe("map.is-in-force-for-the-next-submission", "CTXA-051", w0 ~= nil, "the device reads 0x%x", w0 or 0)
    probe("map.ends-with-its-size", "CTXA-048", behind == nil, "behind it the device reads 0x%x", behind or 0)
    local _, out = seeds.call(code.INITIALISED, {a.handle}, where)
    probe("context.initialised-once-by-its-own-handle", "CTXA-036", out[1] == 1, "%d operations for 0x%x", out[1], a.handle)
    local part = map(a, 1, {offset = 2})
    local p, q = look(part, part + PAGE)
    probe("map.starts-at-the-offset-in-pages", "CTXA-048", p == word(a, 2), "page 2 is 0x%x, the device reads 0x%x", word(a, 2), p or 0)
    probe("map.one-page-is-one-page", "CTXA-048", q == nil, "behind it the device reads 0x%x", q or 0)
    probe("map.several-times", "CTXA-052", part ~= va and (look(va)) == word(a, 0), "0x%x and 0x%x", va, part)
    local wrote = try_write(part + 8, 0xCAFE)
    probe("map.write-protection-allows-writing", "CTXA-049", wrote and (look(va + 2 * PAGE + 8)) == 0xCAFE,
        "through the other address the device reads 0x%x", look(va + 2 * PAGE + 8) or 0)
    local readonly = map(a, 1, {protection = 0})
    probe("map.without-write-it-is-read-only", "CTXA-049", (look(readonly)) == word(a, 0) and not try_write(readonly + 16, 1),
        "the device reads 0x%x there", look(readonly) or 0)
    local tagged = map(a, 1, {driver = 0x1234567890ABCD})
    look(tagged)
    local protection, entry = last_update(tagged)
    probe("map.driver-protection-reaches-the-page", "CTXA-049", protection == 0x1234567890ABCD, "DriverProtection 0x%x, entry 0x%x",
        protection or 0, entry)
    local run = map(a, 1, {protection = EXECUTE})
    look(run, va)
    local _, code_entry = last_update(run)
    local _, data_entry = last_update(va)
    if seeds.noexec then
        probe("map.execute-protection-is-in-the-entry", "CTXA-049", code_entry & 8 == 0 and data_entry & 8 == 8,
            "with Execute the entry is 0x%x, without 0x%x", code_entry, data_entry)
        probe("map.execute-protection-lets-the-engine-fetch", "CTXA-049", fetch(run) == word(a, 0) and fetch(va) == nil,
            "with Execute it fetches 0x%x, without 0x%x", fetch(run) or 0, fetch(va) or 0)
    else
        probe("map.execute-is-taken-without-the-cap", "CTXA-049", run ~= 0, "0x%x", run)
    end
    return va
end

-- ---- BaseAddress, MinimumAddress, MaximumAddress ----

local FREE = 0x1200000000

local function places(a)
    local exact = map(a, 4, {base = FREE, min = FREE + MIB, max = FREE + 2 * MIB})
    probe("map.base-address-is-taken", "CTXA-046", exact == FREE, "0x%x for 0x%x", exact, FREE)
    probe("map.base-address-ignores-the-window", "CTXA-046", exact == FREE, "the window was 0x%x to 0x%x", FREE + MIB, FREE + 2 * MIB)
    probe("map.base-address-shows-the-allocation", "CTXA-046", (look(FREE + PAGE)) == word(a, 1), "the device reads 0x%x",
        look(FREE + PAGE) or 0)
    for _, row in ipairs{{"same", FREE}, {"first-page", FREE - 3 * PAGE}, {"last-page", FREE + 3 * PAGE}} do
        local name, base = table.unpack(row)
        local taken = map(a, 4, {base = base})
        probe("map.taken-base-gives-0." .. name, "CTXA-046", taken == 0, "4 pages at 0x%x: 0x%x", base, taken)
    end
    local next_to = map(a, 2, {base = FREE + 4 * PAGE})
    probe("map.base-next-to-another-is-free", "CTXA-046", next_to == FREE + 4 * PAGE, "0x%x", next_to)
    probe("map.failed-call-changes-nothing", "CTXA-046", (look(FREE)) == word(a, 0), "the device reads 0x%x", look(FREE) or 0)
    local low, high = 0x1300000000, 0x1300000000 + 64 * KIB
    local inside = map(a, 4, {min = low, max = high})
    probe("map.lies-in-its-window", "CTXA-047", inside >= low and inside + 4 * PAGE <= high, "0x%x, window 0x%x to 0x%x", inside, low, high)
    local tight = map(a, 4, {min = low + MIB, max = low + MIB + 4 * PAGE})
    probe("map.fills-its-window", "CTXA-047", tight == low + MIB, "0x%x, window of 4 pages at 0x%x", tight, low + MIB)
    local full = map(a, 1, {min = low + MIB, max = low + MIB + 4 * PAGE})
    probe("map.full-window-gives-0", "CTXA-047", full == 0, "0x%x", full)
    local narrow = map(a, 4, {min = low + 2 * MIB, max = low + 2 * MIB + 3 * PAGE})
    probe("map.window-too-small-gives-0", "CTXA-047", narrow == 0, "0x%x", narrow)
    local above = map(a, 4, {min = 0x4000000000})
    probe("map.maximum-0-is-no-limit", "CTXA-047", above >= 0x4000000000, "0x%x from 0x4000000000 on", above)
    local below = map(a, 4, {max = 0x10000000})
    probe("map.ends-below-the-maximum", "CTXA-047", below ~= 0 and below + 4 * PAGE <= 0x10000000, "0x%x, maximum 0x10000000", below)
    -- The client cannot put something there, nor take it away.
    local client = seeds.allocate(device, 16 * KIB, 3)
    local over = pcall(D3DKMT.MapGpuVirtualAddress, {hPagingQueue = queue.hPagingQueue, hAllocation = client.handle, SizeInPages = 4,
        BaseAddress = FREE, Protection = WRITE})
    local freed = pcall(D3DKMT.FreeGpuVirtualAddress, {hAdapter = seeds.adapter, BaseAddress = FREE, Size = 4 * PAGE})
    probe("map.client-cannot-touch-the-range", "CTXA-053", not over and not freed and (look(FREE)) == word(a, 0),
        "mapped over: %s, freed: %s, the device reads 0x%x", over, freed, look(FREE) or 0)
    -- Nor the driver over what is the client's.
    local m = D3DKMT.MapGpuVirtualAddress{hPagingQueue = queue.hPagingQueue, hAllocation = client.handle, SizeInPages = 4,
        BaseAddress = 0x1400000000, Protection = WRITE}
    local taken = map(a, 1, {base = 0x1400000000 + 2 * PAGE})
    probe("map.clients-range-is-not-free", "CTXA-046", taken == 0, "in the client's 0x%x: 0x%x", m.VirtualAddress, taken)
    D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {client.handle}}
end

-- ---- what gives 0 ----

local function refusals(a)
    local function zero(name, rule, pages, arguments, handle_of)
        local va = map(handle_of or a, pages, arguments)
        probe("map." .. name .. "-gives-0", rule, va == 0, "0x%x", va)
    end
    zero("size-beyond-the-allocation", "CTXA-048", 5)
    zero("offset-beyond-the-allocation", "CTXA-048", 1, {offset = 4})
    zero("overflow", "CTXA-048", 2, {offset = -1})
    zero("no-pages", "CTXA-050", 0)
    zero("misaligned-base", "CTXA-050", 1, {base = FREE + 256 * MIB + 8})
    zero("protection-zero", "CTXA-050", 1, {protection = ZERO})
    zero("protection-no-access", "CTXA-050", 1, {protection = NO_ACCESS})
    zero("system-use-only", "CTXA-050", 1, {protection = 16})
    zero("reserved-protection", "CTXA-050", 1, {protection = 1 << 40})
    zero("unknown-handle", "CTXA-045", 1, {handle = GARBAGE})
    zero("null-handle", "CTXA-045", 1, {handle = 0}, {handle = 0})
    zero("no-arguments", "CTXA-005", 1, {how = seeds.NO_ARGUMENTS})
    zero("wrong-adapter", "CTXA-005", 1, {how = seeds.WRONG_ADAPTER})
    -- Handles of the client's are nobody's here, whatever their numbers.
    local clients, own, equal, mapped = {}, {[a.handle] = true}, 0, 0
    local made = {}
    for i = 1, 24 do
        clients[i] = seeds.allocate(device, 16 * KIB, 3)
        made[i] = create(PAGE)
        own[made[i].handle] = true
    end
    for _, client in ipairs(clients) do
        equal = equal + (own[client.handle] and 1 or 0)
        mapped = mapped + (map(a, 1, {handle = client.handle}) ~= 0 and 1 or 0)
    end
    for _, handle in ipairs{device, context, queue.hPagingQueue} do
        equal = equal + (own[handle] and 1 or 0)
        mapped = mapped + (map(a, 1, {handle = handle}) ~= 0 and 1 or 0)
    end
    probe("map.ordinary-allocation-gives-0", "CTXA-045", mapped == 0, "%d of 27 handles of the client were mapped", mapped)
    probe("context.handles-are-not-those-of-the-client", "CTXA-026", equal == 0, "%d of 27 handles of the client are also one of ours",
        equal)
    for i, client in ipairs(clients) do
        D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {client.handle}}
        destroy(made[i])
    end
end

-- ---- DxgkCbUpdateContextAllocation ----

local function updates(a, va)
    local s = update(a, PAGE + 512, 0x0DDBA11)
    local _, out = seeds.call(code.LAST_UPDATE, nil, where)
    probe("update.private-data-reaches-the-operation", "CTXA-055", s == 0 and out[1] == 16 and out[2] == 0x0DDBA11,
        "status 0x%x, %d bytes, value 0x%x", s, out[1], out[2])
    probe("update.operation-has-the-size", "CTXA-057", out[3] == a.bytes, "0x%x of 0x%x bytes", out[3], a.bytes)
    probe("update.has-been-executed", "CTXA-054", (look(va + PAGE + 512)) == 0x0DDBA11, "the device reads 0x%x", look(va + PAGE + 512) or 0)
    local null = update(a, 0, 0, {null = true, size = 8})
    probe("update.no-data-with-a-size-is-invalid", "CTXA-058", null == status.INVALID_PARAMETER, "status 0x%x", null)
    local nothing = update(a, 0, 0, {null = true, size = 0})
    probe("update.no-data-and-no-size-is-fine", "CTXA-058", nothing == 0, "status 0x%x", nothing)
    local stranger = update(a, 0, 0, {handle = GARBAGE})
    probe("update.unknown-handle-is-invalid", "CTXA-058", stranger == status.INVALID_PARAMETER, "status 0x%x", stranger)
end

-- ---- eviction, the end ----

-- Everything else that fits into video memory comes in once: the allocation goes out and comes back.
local function pressure(a, va)
    local list, count = {}, seeds.vram_bytes // (256 * KIB) + 2
    for i = 1, count do
        list[i] = seeds.allocate(device, 256 * KIB, 1)
    end
    submit({seeds.delay(100)}, other) -- now another context is the current one
    for i = 1, count do
        seeds.make_resident(device, {list[i]})
        seeds.evict(device, {list[i]})
        D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {list[i].handle}}
    end
    probe("map.survives-eviction", "CTXA-037", (look(va + 3 * PAGE)) == word(a, 3), "the device reads 0x%x, page 3 is 0x%x",
        look(va + 3 * PAGE) or 0, word(a, 3))
    local _, out = seeds.call(code.INITIALISED, {a.handle}, where)
    probe("context.is-not-initialised-again", "CTXA-036", out[1] == 1, "%d operations", out[1])
end

local function the_end(a)
    local handle = {handle = a.handle}
    local s = destroy(a)
    probe("destroy.succeeds", "CTXA-062", s == 0, "status 0x%x", s)
    probe("destroy.handle-is-dead", "CTXA-062", map(handle, 1) == 0, "0x%x", a.handle)
    local twice = destroy(handle)
    probe("destroy.twice-is-invalid", "CTXA-063", twice == status.INVALID_PARAMETER, "status 0x%x", twice)
    D3DKMT.WaitForIdle{hDevice = device}
    submit({seeds.delay(100)}, other)
    submit({seeds.delay(100)}, other)
    local b = create(PAGE)
    local again = map(b, 1, {base = FREE})
    probe("destroy.releases-the-ranges", "CTXA-052", again == FREE, "0x%x for 0x%x", again, FREE)
    probe("destroy.new-mapping-shows-the-new-allocation", "CTXA-052", (look(FREE)) == word(b, 0), "the device reads 0x%x",
        look(FREE) or 0)
    destroy(b)
end

-- A base address that is taken is no mistake of the driver's: 0, and nothing is reported as one. In a run of its own, which expects no rule.
local function taken(a)
    map(a, 4, {base = FREE})
    local va = map(a, 1, {base = FREE + PAGE})
    probe("map.taken-base-is-no-violation", "CTXA-046", va == 0, "0x%x", va)
end

-- With HardwareAccess the GPU stands still, and what needs paging would wait for it.
local function in_hardware_access(a)
    local first = map(a, 4)
    look(first) -- now it is resident
    local va = map(a, 1, {flags = 1})
    probe("map.inside-an-escape-with-hardware-access-gives-0", "CTXA-067", va == 0, "0x%x", va)
    local s = seeds.call(code.UPDATE, {a.handle, 0, 1, 16, 1}, {device = device, context = context, flags = 1})
    probe("update.inside-an-escape-with-hardware-access-is-refused", "CTXA-060", s == status.INVALID_DEVICE_REQUEST, "status 0x%x", s)
    local fresh = create(PAGE, {at = 1})
    probe("context.create-inside-an-escape-with-hardware-access", "CTXA-067", fresh.status == 0, "status 0x%x", fresh.status)
    va = map(fresh, 1, {flags = 1})
    probe("map.what-is-not-resident-waits-for-nothing", "CTXA-067", va ~= 0, "0x%x", va)
    probe("map.what-is-not-resident-is-there-afterwards", "CTXA-067", (look(va)) == word(fresh, 0), "the device reads 0x%x", look(va) or 0)
    s = destroy(fresh, 1)
    probe("destroy.inside-an-escape-with-hardware-access", "CTXA-067", s == 0, "status 0x%x", s)
    seeds.expect{["CTXA-067"] = 1, ["CTXA-060"] = 1}
end

-- All of it leaves video memory, and is there again.
local function power(a, va)
    dxgk.power("D3")
    dxgk.power("D0")
    probe("map.survives-a-loss-of-power", "CTXA-037", (look(va + 3 * PAGE)) == word(a, 3), "the device reads 0x%x, page 3 is 0x%x",
        look(va + 3 * PAGE) or 0, word(a, 3))
end

-- ---- the run ----

local function without_mmu()
    local a = create(PAGE, {kind = 0})
    probe("context.create-needs-no-mmu", "CTXA-026", a.status == 0, "status 0x%x", a.status)
    local va = map(a, 1)
    probe("map.without-mmu-gives-0", "CTXA-050", va == 0, "0x%x", va)
    local s = update(a, 0, 0)
    probe("update.without-mmu-is-not-supported", "CTXA-058", s == status.NOT_SUPPORTED, "status 0x%x", s)
    local flagged = create(PAGE, {kind = MAP_GPU})
    probe("context.create-with-an-address-needs-an-mmu", "CTXA-015", flagged.status == status.NOT_SUPPORTED, "status 0x%x", flagged.status)
    destroy(a)
end

if not seeds.gpummu then
    without_mmu()
    D3DKMT.DestroyContext{hContext = context}
    D3DKMT.DestroyDevice{hDevice = device}
    return seeds.finish()
end

commands, target = client_memory(64 * KIB), client_memory(64 * KIB)
if dxgk.set.only == "hardware" then
    local a = create(4 * PAGE)
    in_hardware_access(a)
    destroy(a)
elseif dxgk.set.only == "taken" then
    local a = create(4 * PAGE)
    taken(a)
    destroy(a)
else
    local a = creation()
    local va = contents(a)
    places(a)
    refusals(a)
    updates(a, va)
    pressure(a, va)
    power(a, va)
    the_end(a)
    -- What the probes do wrong on purpose.
    seeds.expect{["CTXA-005"] = 1, ["LIFE-063"] = 1, ["CTXA-008"] = 1, ["CTXA-010"] = 1, ["CTXA-014"] = 1, ["CTXA-018"] = 1, ["CTXA-022"] = 1,
        ["CTXA-045"] = 30, ["CTXA-050"] = 9, ["CTXA-058"] = 2, ["CTXA-063"] = 1}
end
for _, memory in ipairs{commands, target} do
    D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {memory.handle}}
end
seeds.close_queues()
D3DKMT.DestroyContext{hContext = context}
D3DKMT.DestroyContext{hContext = other}
D3DKMT.DestroyDevice{hDevice = device}
return seeds.finish()
