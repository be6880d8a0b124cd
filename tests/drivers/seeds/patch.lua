-- SPDX-License-Identifier: MIT
-- Work that goes through Render, Patch and SubmitCommand in all the ways there are, while the driver compares what it is given with
-- what it knows. Every result is compared on the CPU, too: a wrongly patched address is a wrong word.

local seeds = require "seeds"
local KIB = 1024
local BYTES = tonumber(dxgk.set.bytes or "262144")

-- --set anytime=1: with --power-cycle nobody knows what paging is for.
local any_power = dxgk.set.anytime ~= nil
if any_power then
    seeds.call(seeds.code.KNOB, {2, 2})
end

local device = D3DKMT.CreateDevice{hAdapter = seeds.adapter}.hDevice
local wrong, words = 0, 0

local function idle()
    D3DKMT.WaitForIdle{hDevice = device}
end

local function expect_word(allocation, offset, value)
    words = words + 1
    if seeds.word(allocation, offset) ~= value then
        wrong = wrong + 1
    end
end

-- ---- one buffer, and many ----

local context = seeds.context(device)

local function plain()
    local a, b = seeds.allocate(device, 16 * KIB), seeds.allocate(device, 16 * KIB)
    seeds.make_resident(device, {a, b})
    seeds.render(context, {seeds.fill(seeds.ref(1, 64), 4096, 0x11223344), seeds.copy(seeds.ref(2, 4096), seeds.ref(1, 64), 4096)},
        {{a, true}, {b, true}})
    idle()
    expect_word(a, 64, 0x11223344)
    expect_word(b, 4096, 0x11223344)
    expect_word(b, 8188, 0x11223344)
    -- the same allocation in two elements
    seeds.render(context, {seeds.copy(seeds.ref(2, 12 * KIB), seeds.ref(1, 64), 256)}, {{a, false}, {b, true}, {a, false}})
    idle()
    expect_word(b, 12 * KIB + 252, 0x11223344)
    return a, b
end

-- More commands than a DMA buffer and its list take: several buffers from one Render.
local function several_passes(a)
    local commands = {}
    for i = 1, 150 do
        commands[i] = seeds.fill(seeds.ref(1, 64 + 4 * i), 4, i)
    end
    seeds.render(context, commands, {{a, true}})
    idle()
    for i = 1, 150, 37 do
        expect_word(a, 64 + 4 * i, i)
    end
end

-- Buffers are used again: two in flight at a time, many times over.
local function many(a, b)
    for i = 1, 24 do
        seeds.render(context, {seeds.fill(seeds.ref(1, 64), 64, i), seeds.delay(2000), seeds.copy(seeds.ref(2, 64), seeds.ref(1, 64), 64)},
            {{a, true}, {b, true}})
    end
    idle()
    expect_word(b, 64, 24)
end

local function null_rendering(a)
    seeds.call(seeds.code.KNOB, {1, 1})
    seeds.render(context, {seeds.fill(seeds.ref(1, 128), 64, 0xBAD)}, {{a, true}}, 0x8)
    idle()
    seeds.call(seeds.code.KNOB, {1, 0})
    seeds.probe("render.null-rendering-executes-nothing", "PATCH-096", seeds.word(a, 128) ~= 0xBAD, "the word is 0x%x",
        seeds.word(a, 128))
end

-- ---- more memory than there is: everything moves in and out ----

local function pressure()
    local count = math.max(4, seeds.vram_bytes * 3 // 2 // BYTES)
    local list = {}
    for i = 1, count do
        list[i] = seeds.allocate(device, BYTES, dxgk.set.anywhere and 3 or 1)
    end
    for round = 1, 2 do
        for i = 1, count do
            local a, b = list[i], list[i % count + 1]
            seeds.make_resident(device, {a, b})
            seeds.render(context, {seeds.fill(seeds.ref(1, 64), 64, round << 16 | i),
                seeds.copy(seeds.ref(2, 1024), seeds.ref(1, 64), 64)}, {{a, true}, {b, true}})
            idle()
            seeds.evict(device, {a, b})
        end
    end
    for i = 1, count do
        expect_word(list[i], 64, 2 << 16 | i)
        expect_word(list[i], 1024, 2 << 16 | ((i - 2) % count + 1))
    end
    for _, a in ipairs(list) do
        D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {a.handle}}
    end
end

-- At Render the allocation is nowhere, at Patch it is somewhere (the client decides: WDDM 2.0).
local function move()
    local a, filler = seeds.allocate(device, 64 * KIB, 1), seeds.allocate(device, 64 * KIB, 1)
    local gate = D3DKMT.CreateSynchronizationObject2{hDevice = device}
    seeds.make_resident(device, {filler})
    D3DKMT.WaitForSynchronizationObjectFromGpu{hContext = context.hContext, ObjectHandleArray = {gate.hSyncObject},
        MonitoredFenceValueArray = {1}}
    seeds.render(context, {seeds.fill(seeds.ref(1, 64), 64, 0xACED)}, {{a, true}})
    seeds.make_resident(device, {a})
    D3DKMT.SignalSynchronizationObjectFromCpu{hDevice = device, ObjectHandleArray = {gate.hSyncObject}, FenceValueArray = {1}}
    idle()
    expect_word(a, 64, 0xACED)
    D3DKMT.DestroySynchronizationObject{hSyncObject = gate.hSyncObject}
    D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {a.handle, filler.handle}}
end

-- ---- splitting: one DMA buffer needs more than video memory holds (WDDM 1.x) ----

-- The first allocation is in use from the beginning to the end, each other one for a while.
local function split()
    local count = math.min(seeds.vram_bytes // BYTES + 2, 12) -- the list takes 15
    local list, commands, entries = {}, {seeds.fill(seeds.ref(1, 64), 64, 0xA01)}, {}
    for i = 1, count do
        list[i] = seeds.allocate(device, BYTES, 1)
        entries[i] = {list[i], true}
    end
    for i = 2, count do
        seeds.lock(list[i], function(memory) memory:u32(256, 0xB00 + i) end)
        commands[#commands + 1] = seeds.copy(seeds.ref(1, 128 + 4 * i), seeds.ref(i, 256), 4)
        commands[#commands + 1] = seeds.copy(seeds.ref(1, 256 + 4 * i), seeds.ref(i, 256), 4)
    end
    for i = 2, count do
        commands[#commands + 1] = seeds.copy(seeds.ref(i, 512), seeds.ref(1, 64), 4)
    end
    seeds.render(context, commands, entries)
    idle()
    expect_word(list[1], 64, 0xA01)
    for i = 2, count do
        expect_word(list[1], 128 + 4 * i, 0xB00 + i)
        expect_word(list[1], 256 + 4 * i, 0xB00 + i)
        expect_word(list[i], 512, 0xA01)
    end
    for i = 1, count do
        D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {list[i].handle}}
    end
end

-- Allocations that end while work is queued that uses them: it must still find them (WDDM 1.x; from 2.0 on the client keeps them).
local function destroyed_behind_work()
    local target, list = seeds.allocate(device, 16 * KIB, 1), {}
    for i = 1, 6 do
        list[i] = seeds.allocate(device, 64 * KIB, 1)
        seeds.lock(list[i], function(memory) memory:u32(256, 0xE00 + i) end)
    end
    seeds.render(context, {seeds.delay(5000000)}, {{target, true}})
    for i = 1, 6 do
        seeds.render(context, {seeds.copy(seeds.ref(1, 1024 + 4 * i), seeds.ref(2, 256), 4)}, {{target, true}, {list[i], false}})
    end
    for i = 1, 6 do
        D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {list[i].handle}}
    end
    idle()
    for i = 1, 6 do
        seeds.probe("element.destroyed-behind-its-work-is-there", "ALLOC-088", seeds.word(target, 1024 + 4 * i) == 0xE00 + i,
            "the word is 0x%x", seeds.word(target, 1024 + 4 * i))
    end
    D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {target.handle}}
end

-- ---- preemption: what is queued on the engine comes back, and is patched again ----

local function preempt(a, b)
    local before = dxgk.statistics().preemptions
    local urgent = seeds.context(device)
    D3DKMT.SetContextSchedulingPriority{hContext = urgent.hContext, Priority = 5}
    seeds.make_resident(device, {a, b})
    for i = 1, 6 do
        seeds.render(context, {seeds.delay(10000000), seeds.fill(seeds.ref(1, 64), 64, 0x600 + i),
            seeds.copy(seeds.ref(2, 64 + 64 * i), seeds.ref(1, 64), 64)}, {{a, true}, {b, true}})
    end
    dxgk.sleep(1000000)
    seeds.render(urgent, {seeds.fill(seeds.ref(1, 2048), 64, 0x700)}, {{b, true}})
    idle()
    for i = 1, 6 do
        expect_word(b, 64 + 64 * i, 0x600 + i)
    end
    expect_word(b, 2048, 0x700)
    -- while power goes away clients are held, and nothing is preempted for them
    seeds.probe("again.the-engine-was-preempted", "PATCH-158", any_power or dxgk.statistics().preemptions > before,
        "%d preemptions", dxgk.statistics().preemptions - before)
    D3DKMT.DestroyContext{hContext = urgent.hContext}
end

-- ---- both nodes at once ----

local function both_nodes(a, b)
    local other = seeds.context(device, 1)
    seeds.make_resident(device, {a, b})
    for i = 1, 8 do
        seeds.render(context, {seeds.fill(seeds.ref(1, 64), 64, 0x800 + i), seeds.delay(5000)}, {{a, true}})
        seeds.render(other, {seeds.fill(seeds.ref(1, 64), 64, 0x900 + i), seeds.delay(3000)}, {{b, true}})
    end
    idle()
    expect_word(a, 64, 0x808)
    expect_word(b, 64, 0x908)
    D3DKMT.DestroyContext{hContext = other.hContext}
end

-- ---- power: everything leaves video memory and comes back ----

-- The device wakes because allocations end that did not all fit.
local function asleep_destruction()
    local count, list = seeds.vram_bytes // BYTES + 2, {}
    for i = 1, count do
        list[i] = seeds.allocate(device, BYTES, 1)
        seeds.make_resident(device, {list[i]})
        seeds.render(context, {seeds.fill(seeds.ref(1, 64), 64, i)}, {{list[i], true}})
        idle()
        seeds.evict(device, {list[i]})
    end
    for i = 1, count do
        expect_word(list[i], 64, i)
        D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {list[i].handle}}
    end
    seeds.call(seeds.code.KNOB, {2, 2})
    dxgk.power("D3")
    dxgk.power("D0")
    dxgk.sleep(5000000)
    seeds.call(seeds.code.KNOB, {2, any_power and 2 or 0})
end

local function power(a)
    local list = {}
    for i = 1, 3 do
        list[i] = seeds.allocate(device, 64 * KIB, 1)
    end
    seeds.make_resident(device, {a, table.unpack(list)})
    for i = 1, 3 do
        seeds.render(context, {seeds.fill(seeds.ref(1, 256), 64, 0xD300 + i)}, {{list[i], true}})
    end
    idle()
    dxgk.sleep(5000000) -- nor is there paging on the way
    seeds.call(seeds.code.KNOB, {2, any_power and 2 or 1}) -- until the driver has been told
    dxgk.power("D3")
    dxgk.power("D0")
    seeds.render(context, {seeds.fill(seeds.ref(1, 256), 64, 0xD0D0),
        seeds.copy(seeds.ref(2, 1024), seeds.ref(2, 256), 64)}, {{a, true}, {list[1], true}})
    idle()
    expect_word(a, 256, 0xD0D0)
    expect_word(list[1], 1024, 0xD301)
    for i = 1, 3 do
        seeds.probe("power.content-comes-back", "LIFE-154", seeds.word(list[i], 256) == 0xD300 + i, "the word is 0x%x",
            seeds.word(list[i], 256))
        D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {list[i].handle}}
    end
end

local a, b = plain()
several_passes(a)
many(a, b)
null_rendering(a)
pressure()
if seeds.is_2x then
    move()
end
if dxgk.set.destroyed then
    destroyed_behind_work()
end
if dxgk.set.split then
    split()
end
if seeds.preempt then
    preempt(a, b)
end
if seeds.multi and not seeds.gpummu then
    both_nodes(a, b)
end
power(a)
asleep_destruction()

seeds.probe("patch.the-device-does-what-the-commands-say", "PATCH-148", wrong == 0, "%d of %d words are wrong", wrong, words)
local wanted = {
    "render.dma-buffer-is-aligned-to-4096", "render.capacity-is-at-least-the-promised-one",
    "render.patch-list-has-at-least-the-promised-elements", "render.handle-0-becomes-a-null-element",
    "render.element-has-the-last-place-or-none", "render.multipass-offset-comes-back", "render.buffer-is-not-in-use",
    "patch.adapter-is-the-miniports-context", "patch.is-called-at-passive-level", "patch.overlaps-nothing-of-its-class",
    "patch.follows-its-render", "patch.comes-before-every-submission", "patch.address-shows-the-bytes-of-the-dma-buffer",
    "patch.pointer-is-byte-0-of-the-buffer", "patch.size-is-the-capacity", "patch.portion-starts-where-the-last-ended",
    "patch.portion-ends-within-the-bytes-produced", "patch.last-portion-ends-with-the-bytes-produced",
    "patch.allocation-list-is-the-whole-one", "patch.allocation-list-keeps-its-order", "patch.patch-list-is-the-whole-one",
    "patch.elements-start-after-the-last-portions", "patch.elements-stay-within-the-list", "patch.every-element-is-given-once",
    "patch.elements-belong-to-their-portion", "patch.fence-is-not-0-and-later-than-all-before", "patch.flags-of-a-render-packet",
    "patch.engine-ordinal-is-0", "location.allocation-index-is-kept", "location.slot-id-is-kept", "location.driver-id-is-kept",
    "location.allocation-offset-is-kept", "location.patch-offset-is-kept", "location.split-offset-is-kept",
    "element.write-operation-is-the-clients", "element.reserved-bits-are-0", "element.segment-is-one-that-was-asked-for",
    "element.address-lies-in-its-segment", "element.address-shows-the-allocation", "element.null-has-no-place",
    "submit.is-called-at-dispatch-level", "submit.has-the-fence-of-patch", "submit.has-the-window-of-patch",
    "submit.has-segment-and-address-of-patch", "submit.has-the-private-window-of-patch", "submit.buffer-is-as-patch-left-it",
}

local function want(condition, ...)
    for _, name in ipairs(condition and {...} or {}) do
        wanted[#wanted + 1] = name
    end
end

want(seeds.multi, "patch.context-handle-of-a-multi-engine-driver")
want(not seeds.multi, "patch.device-handle-of-a-single-engine-driver", "paging.device-is-null-for-a-single-engine-driver")
want(seeds.aperture, "patch.segment-of-the-dma-buffer")
want(not seeds.aperture, "patch.segment-0-is-contiguous-system-memory")
want(seeds.private >= 8, "render.private-data-starts-as-zeroes", "render.recycled-private-data-is-left-alone",
    "patch.private-pointer-is-byte-0-of-the-block", "patch.private-size-is-the-whole-block", "patch.private-start-is-0",
    "patch.private-end-is-what-render-used", "patch.private-content-is-what-render-wrote")
want(seeds.private == 0, "patch.no-private-data-is-null-and-0")
want(seeds.is_2x, "element.new-place-after-a-move")
want(seeds.preempt and not any_power, "again.same-portion-is-patched-anew", "again.with-a-new-fence")
want(not seeds.gpummu, "paging.flag-is-the-only-one", "paging.lists-are-null-and-0", "paging.window-is-what-was-built",
    "paging.address-shows-the-bytes-of-the-buffer", "paging.size-is-the-capacity")
want(not seeds.gpummu and seeds.multi, "paging.context-is-the-system-context")
want(not seeds.gpummu and seeds.private > 0 and not seeds.private_stays, "paging.private-window-is-what-was-built")
want(not seeds.gpummu, "paging.segment-0-while-it-is-nowhere-else")
want(not seeds.gpummu and seeds.paging_aperture, "paging.segment-of-the-paging-buffer")
want(not seeds.gpummu and seeds.private_stays, "paging.private-window-is-the-block-if-nothing-moves-it")
want(not seeds.gpummu and not any_power, "paging.context-is-null-in-power-management",
    "submit.paging-names-nobody-in-power-management")
want(seeds.multi, "paging.is-built-for-the-system-context")
want(seeds.multi and not any_power, "paging.is-built-for-it-in-power-management-too")
want(not seeds.multi, "submit.paging-names-no-device-for-a-single-engine-driver")
want(seeds.gpummu, "submit.virtual-paging-names-the-system-context")
want(seeds.gpummu and not any_power, "submit.virtual-paging-names-it-in-power-management-too")
want(dxgk.set.split, "patch.later-portion-starts-above-0")
want(dxgk.set.split == "portions", "again.later-portion-is-patched-anew")
want(seeds.keep and dxgk.set.split, "patch.binding-that-stays-keeps-its-address")
seeds.driver_results(wanted)

for _, allocation in ipairs{a, b} do
    D3DKMT.DestroyAllocation2{hDevice = device, phAllocationList = {allocation.handle}}
end
D3DKMT.DestroyContext{hContext = context.hContext}
seeds.close_queues()
D3DKMT.DestroyDevice{hDevice = device}
return seeds.finish()
