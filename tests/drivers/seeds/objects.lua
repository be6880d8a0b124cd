-- SPDX-License-Identifier: MIT
-- DXGKARGCB_MAP_PHYSICAL_MEMORY, statement by statement, over physical memory objects of every kind.

local seeds = require "seeds"
local code, status, probe = seeds.code, seeds.status, seeds.probe
local PAGE, KIB, MIB = 4096, 1024, 1024 * 1024
local TOP = 0x7FFFFFFFFFFFFFFF
local GARBAGE = 0x5A5A5A5A5A5A5000

local function aligned(value, to)
    return value % to == 0
end

local MDL, CONTIGUOUS, SECTION, IO = 0, 1, 2, 3
local KERNEL, USER = 0, 1
local NAMES = {[MDL] = "mdl", [CONTIGUOUS] = "contiguous", [SECTION] = "section", [IO] = "io-space"}

local function create(kind, bytes, a)
    a = a or {}
    local members = {[MDL] = {0, TOP, 0, 0}, [CONTIGUOUS] = {0, TOP, 0, 0}, [SECTION] = {0xF001F, 0, a.protection or 4, 0},
        [IO] = {a.base or seeds.register_bus, 0, 0, 0}}
    local m = members[kind] or {0, 0, 0, 0}
    local s, out = seeds.call(code.CREATE_OBJECT, {a.alone and 0 or 1, bytes, 0xC0FFEE, kind, a.cache or (kind == IO and 0 or 1), m[1],
        m[2], m[3], m[4], GARBAGE, GARBAGE}, {how = a.how})
    return {status = s, object = out[9], adapter = out[10], bytes = bytes, kind = kind}
end

local function destroy(o)
    seeds.call(code.DESTROY_OBJECT, {o.object, o.adapter})
end

local function map(o, offset, size, a)
    a = a or {}
    local s, out = seeds.call(code.MAP_OBJECT, {a.object or o.object, a.mode or KERNEL, offset, size, GARBAGE}, {how = a.how})
    return {status = s, object = o.object, offset = out[2], size = out[3], base = out[4], data = out[4] + out[2], mode = out[1]}
end

local function unmap(view, a)
    a = a or {}
    return (seeds.call(code.UNMAP_OBJECT, {view.object, a.base or view.base, a.size or view.size}))
end

-- The device's address of a byte of the object; the list is given back by `done`.
local function device_view(o, offset)
    local s, out = seeds.call(code.ALLOCATE_ADL, {o.adapter, offset // PAGE * PAGE, PAGE, 0})
    if s ~= 0 then
        return nil, function() end
    end
    return seeds.BUS | out[7] * PAGE + offset % PAGE, function() seeds.call(code.FREE_ADL, {o.adapter, out[4]}) end
end

local GRAIN = {[MDL] = PAGE, [CONTIGUOUS] = PAGE, [SECTION] = 64 * KIB, [IO] = PAGE}

-- One kind of memory: place, length and content of a view.
local function views(kind)
    local name = "map." .. NAMES[kind] .. "."
    local bytes = 40 * PAGE
    local o = create(kind, bytes)
    if not probe(name .. "object-is-created", "PHYS-110", o.status == 0 and o.object ~= 0 and o.adapter ~= 0 and o.object ~= o.adapter,
        "status 0x%x, objects 0x%x and 0x%x", o.status, o.object, o.adapter) then
        return
    end
    local whole = map(o, 0, bytes)
    probe(name .. "whole-object", "PHYS-145", whole.status == 0 and whole.base ~= 0 and whole.offset == 0 and whole.size == bytes,
        "status 0x%x, base 0x%x, offset 0x%x, size 0x%x", whole.status, whole.base, whole.offset, whole.size)
    for page = 0, 39 do
        seeds.write(whole.data + page * PAGE + 0x238, 0xAB0000 + page)
    end
    local part = map(o, 17 * PAGE + 0x230, 0x1010)
    probe(name .. "actual-address-is-base-plus-offset", "PHYS-145", part.status == 0 and seeds.read(part.data + 8) == 0xAB0000 + 17,
        "at base + 0x%x stands 0x%x", part.offset + 8, seeds.read(part.data + 8) or 0)
    probe(name .. "offset-comes-back-within-the-view", "PHYS-147", part.offset == (17 * PAGE + 0x230) % GRAIN[kind],
        "offset 0x%x came back for 0x%x", part.offset, 17 * PAGE + 0x230)
    probe(name .. "size-comes-back-in-pages", "PHYS-147", part.size == (part.offset + 0x1010 + PAGE - 1) // PAGE * PAGE,
        "size 0x%x came back for 0x1010 at 0x%x", part.size, part.offset)
    probe(name .. "size-covers-the-request", "PHYS-146", part.size >= part.offset + 0x1010, "size 0x%x, offset 0x%x", part.size,
        part.offset)
    probe(name .. "view-reaches-its-size", "PHYS-146", seeds.read(part.base) ~= nil and seeds.read(part.base + part.size - 8) ~= nil,
        "from 0x%x to 0x%x", part.base, part.base + part.size)
    probe(name .. "views-start-on-a-page", "PHYS-147", aligned(part.base, PAGE) and aligned(whole.base, PAGE), "0x%x and 0x%x",
        part.base, whole.base)
    seeds.write(part.data + 8, 0xFACE)
    probe(name .. "views-show-one-memory", "PHYS-153", seeds.read(whole.data + 17 * PAGE + 0x238) == 0xFACE and
        part.base ~= whole.base, "the other view shows 0x%x", seeds.read(whole.data + 17 * PAGE + 0x238))
    local address, done = device_view(o, 17 * PAGE + 0x238)
    probe(name .. "device-finds-what-the-view-wrote", "PHYS-160", address and seeds.peek(address) == 0xFACE, "the device reads 0x%x at 0x%x",
        address and seeds.peek(address) or 0, address or 0)
    if address then
        seeds.poke(address, 0xBEEF)
    end
    probe(name .. "view-finds-what-the-device-wrote", "PHYS-160", seeds.read(part.data + 8) == 0xBEEF, "the CPU reads 0x%x",
        seeds.read(part.data + 8))
    done()
    probe(name .. "kernel-view-is-valid-in-other-processes", "PHYS-149", seeds.read(part.data + 8, 8, seeds.IN_SYSTEM) == 0xBEEF,
        "the system process reads 0x%x", seeds.read(part.data + 8, 8, seeds.IN_SYSTEM) or 0)
    unmap(part)
    if dxgk.set.only == "late-use-of-memory" then -- and a handler of the driver does not take it
        seeds.read(part.data + 8, 8, seeds.UNASKED)
        return probe(name .. "late-use-stops-the-machine", "PHYS-194", false, "it did not")
    end
    probe(name .. "unmapped-view-is-gone", "PHYS-156", seeds.read(part.data + 8) == nil, "the CPU reads 0x%x",
        seeds.read(part.data + 8) or 0)
    probe(name .. "other-view-stays", "PHYS-153", seeds.read(whole.data + 17 * PAGE + 0x238) == 0xBEEF, "it shows 0x%x",
        seeds.read(whole.data + 17 * PAGE + 0x238) or 0)
    local user = map(o, 17 * PAGE + 0x230, 0x10, {mode = USER})
    probe(name .. "user-view-of-this-process", "PHYS-149", user.status == 0 and seeds.read(user.data + 8) == 0xBEEF,
        "status 0x%x, the CPU reads 0x%x", user.status, user.status == 0 and seeds.read(user.data + 8) or 0)
    probe(name .. "user-view-is-not-of-other-processes", "PHYS-149", seeds.read(user.data + 8, 8, seeds.IN_SYSTEM) == nil,
        "the system process reads 0x%x at 0x%x", seeds.read(user.data + 8, 8, seeds.IN_SYSTEM) or 0, user.data)
    unmap(user)
    unmap(whole)
    destroy(o)
end

local function io_views()
    local o = create(IO, PAGE)
    probe("map.io-space.object-is-created", "PHYS-128", o.status == 0, "status 0x%x", o.status)
    local view = map(o, 0, PAGE)
    probe("map.io-space.view-shows-the-registers", "PHYS-145", view.status == 0 and seeds.read(view.data, 4) == 0x44454553,
        "status 0x%x, the identification is 0x%x", view.status, seeds.read(view.data, 4) or 0)
    seeds.write(view.data + 0x14, 0x5C4A7C, 4)
    local part = map(o, 0x14, 4)
    probe("map.io-space.actual-address-is-base-plus-offset", "PHYS-147", part.status == 0 and part.offset == 0x14 and
        part.size == PAGE and seeds.read(part.data, 4) == 0x5C4A7C, "offset 0x%x, size 0x%x, the register is 0x%x", part.offset, part.size,
        seeds.read(part.data, 4) or 0)
    local twin = map(o, 0, PAGE)
    probe("map.io-space.views-have-addresses-of-their-own", "PHYS-153", twin.base ~= view.base and twin.base ~= part.base,
        "0x%x, 0x%x and 0x%x", view.base, part.base, twin.base)
    probe("map.io-space.kernel-view-is-valid-in-other-processes", "PHYS-149", seeds.read(part.data, 4, seeds.IN_SYSTEM) == 0x5C4A7C,
        "the system process reads 0x%x", seeds.read(part.data, 4, seeds.IN_SYSTEM) or 0)
    local user = map(o, 0, PAGE, {mode = USER})
    probe("map.io-space.is-for-the-kernel-only", "PHYS-150", user.status == status.INVALID_PARAMETER, "status 0x%x", user.status)
    probe("map.io-space.failure-leaves-null", "PHYS-018", user.base == 0, "pMappedAddress 0x%x", user.base)
    unmap(part)
    probe("map.io-space.other-view-stays", "PHYS-153", seeds.read(view.data + 0x14, 4) == 0x5C4A7C, "the register is 0x%x",
        seeds.read(view.data + 0x14, 4) or 0)
    local function gone(name, v, value) -- caught by the host, or by an exception
        value = seeds.read(v.data + 0x14, 4, seeds.UNASKED)
        probe("map.io-space." .. name, "PHYS-156", value == nil or value == 0xFFFFFFFF, "the CPU reads 0x%x", value or 0)
    end
    unmap(twin)
    gone("unmapped-view-is-gone-while-another-lives", twin)
    probe("map.io-space.twin-stays", "PHYS-153", seeds.read(view.data + 0x14, 4) == 0x5C4A7C, "the register is 0x%x",
        seeds.read(view.data + 0x14, 4) or 0)
    unmap(view)
    gone("unmapped-view-is-gone", view)
    destroy(o)
    local odd = create(IO, PAGE, {base = seeds.register_bus + 16})
    probe("object.io-space-starts-on-a-page", "PHYS-128", odd.status == status.INVALID_PARAMETER, "status 0x%x", odd.status)
    local ram = create(IO, PAGE, {base = MIB})
    probe("object.io-space-is-no-ram", "PHYS-129", ram.status == status.INVALID_PARAMETER, "status 0x%x", ram.status)
end

-- The same for memory of the device.
local function device_memory_views()
    local vram = create(IO, 4 * PAGE, {base = seeds.vram_bus + PAGE})
    local window = map(vram, PAGE + 8, 8)
    seeds.write(window.data, 0x7777)
    probe("map.io-space.view-of-device-memory", "PHYS-129", window.status == 0 and seeds.peek(seeds.VRAM + 2 * PAGE + 8) == 0x7777,
        "the device reads 0x%x", seeds.peek(seeds.VRAM + 2 * PAGE + 8) or 0)
    local second = map(vram, PAGE + 8, 8)
    probe("map.io-space.views-of-device-memory-have-addresses-of-their-own", "PHYS-153", second.base ~= window.base,
        "0x%x and 0x%x", window.base, second.base)
    unmap(second)
    if dxgk.set.only == "late-use" then -- an access like any other to where nothing is
        seeds.read(second.data, 8, seeds.UNASKED)
        return probe("map.io-space.late-use-stops-the-machine", "PHYS-194", false, "it did not")
    end
    local function gone(name, view)
        local value = seeds.has_register_routines and seeds.read_register(view.data) or 0xFFFFFFFF
        probe("map.io-space." .. name, "PHYS-194", value == 0xFFFFFFFF, "a register routine reads 0x%x", value)
    end
    gone("unmapped-view-of-device-memory-is-gone", second)
    local value = seeds.read(window.data)
    probe("map.io-space.other-view-of-device-memory-stays", "PHYS-153", value == 0x7777, "the CPU reads 0x%x", value or 0)
    unmap(window)
    gone("last-view-of-device-memory-is-gone", window)
    destroy(vram)
    seeds.expect(seeds.has_register_routines and {["NT-139"] = 2} or {})
end

local function map_arguments()
    local o = create(MDL, 4 * PAGE)
    local function refused(name, rule, wanted, offset, size, a)
        a = a or {}
        local view = map(o, offset, size, a)
        probe("map." .. name, rule, view.status == wanted, "offset 0x%x, size 0x%x: status 0x%x", offset, size, view.status)
        if not a.how then
            probe("map." .. name .. ".leaves-null", "PHYS-018", view.base == 0, "pMappedAddress 0x%x", view.base)
            probe("map." .. name .. ".leaves-the-in-members", "PHYS-018", view.offset == offset and view.size == size,
                "offset 0x%x, size 0x%x", view.offset, view.size)
        end
    end
    refused("no-bytes-is-invalid", "PHYS-148", status.INVALID_PARAMETER, 0, 0)
    refused("one-byte-too-many-is-invalid", "PHYS-148", status.INVALID_PARAMETER, 1, 4 * PAGE)
    refused("start-beyond-the-end-is-invalid", "PHYS-148", status.INVALID_PARAMETER, 4 * PAGE, 1)
    refused("overflow-is-invalid", "PHYS-148", status.INVALID_PARAMETER, PAGE, -PAGE)
    refused("unknown-mode-is-invalid", "PHYS-149", status.INVALID_PARAMETER, 0, PAGE, {mode = 2})
    refused("unknown-object-is-an-invalid-handle", "PHYS-017", status.INVALID_HANDLE, 0, PAGE, {object = GARBAGE})
    refused("adapter-object-is-an-invalid-handle", "PHYS-130", status.INVALID_HANDLE, 0, PAGE, {object = o.adapter})
    refused("no-arguments-is-invalid", "PHYS-015", status.INVALID_PARAMETER, 0, PAGE, {how = seeds.NO_ARGUMENTS})
    local last = map(o, 4 * PAGE - 1, 1)
    probe("map.last-byte-can-be-mapped", "PHYS-148", last.status == 0 and last.offset == PAGE - 1 and last.size == PAGE,
        "status 0x%x, offset 0x%x, size 0x%x", last.status, last.offset, last.size)
    local high = map(o, 0, PAGE, {how = seeds.AT_APC})
    probe("map.is-legal-at-apc-level", "PHYS-011", high.status == 0, "status 0x%x", high.status)
    unmap(high)
    -- unmapping what is not a view, and with another size
    unmap(last, {base = last.base + PAGE})
    probe("unmap.other-base-unmaps-nothing", "PHYS-157", seeds.read(last.data, 1) ~= nil, "the view is still there")
    unmap(last, {size = 2 * PAGE})
    probe("unmap.other-size-unmaps-all", "PHYS-157", seeds.read(last.data, 1) == nil, "the CPU reads 0x%x", seeds.read(last.data, 1) or 0)
    destroy(o)
    refused("destroyed-object-is-an-invalid-handle", "PHYS-017", status.INVALID_HANDLE, 0, PAGE)
end

local function objects()
    local fresh = create(MDL, 3 * PAGE)
    local view = map(fresh, 0, 3 * PAGE)
    local zero = true
    for at = 0, 3 * PAGE - 8, 504 do
        zero = zero and seeds.read(view.data + at) == 0
    end
    probe("object.mdl-starts-as-zeroes", "PHYS-118", zero, "3 pages")
    unmap(view)
    destroy(fresh)
    local section = create(SECTION, 2 * PAGE)
    view = map(section, 0, 2 * PAGE)
    probe("object.section-starts-as-zeroes", "PHYS-127", seeds.read(view.data) == 0 and seeds.read(view.data + 2 * PAGE - 8) == 0,
        "the last 8 bytes are 0x%x", seeds.read(view.data + 2 * PAGE - 8))
    unmap(view)
    destroy(section)
    local readonly = create(SECTION, PAGE, {protection = 2})
    view = map(readonly, 0, PAGE)
    local written = seeds.has_exceptions and seeds.write(view.data, 1) or 1 -- what gcc makes for Windows would not survive it
    probe("map.section.read-only-view-cannot-be-written", "PHYS-152", view.status == 0 and seeds.read(view.data) == 0 and written ~= 0,
        "status 0x%x, writing gave 0x%x", view.status, written)
    unmap(view)
    destroy(readonly)
    local noncached = create(SECTION, PAGE, {cache = 0})
    probe("object.section-is-not-non-cached", "PHYS-117", noncached.status == status.INVALID_PARAMETER and noncached.object == 0,
        "status 0x%x, object 0x%x", noncached.status, noncached.object)
    local protection = create(SECTION, PAGE, {protection = 0x204})
    probe("object.section-protection-has-no-cache-bits", "PHYS-123", protection.status == status.INVALID_PAGE_PROTECTION,
        "status 0x%x", protection.status)
    local unknown = create(7, PAGE, {})
    probe("object.unknown-type-is-invalid", "PHYS-113", unknown.status == status.INVALID_PARAMETER and unknown.object == 0 and
        unknown.adapter == 0, "status 0x%x, objects 0x%x and 0x%x", unknown.status, unknown.object, unknown.adapter)
    local empty = create(MDL, 0)
    probe("object.no-bytes-is-invalid", "PHYS-115", empty.status == status.INVALID_PARAMETER, "status 0x%x", empty.status)
    local alone = create(CONTIGUOUS, PAGE, {alone = true})
    probe("object.without-adapter-has-no-adapter-object", "PHYS-111", alone.status == 0 and alone.adapter == 0, "adapter object 0x%x",
        alone.adapter)
    view = map(alone, 0, PAGE)
    seeds.write(view.data, 0x4242)
    probe("object.without-adapter-can-be-mapped", "PHYS-154", view.status == 0 and seeds.read(view.data) == 0x4242, "status 0x%x",
        view.status)
    local s, out = seeds.call(code.OPEN_OBJECT, {alone.object})
    local address, done = device_view({adapter = out[1]}, 0)
    probe("object.opened-is-for-the-device", "PHYS-131", s == 0 and address and seeds.peek(address) == 0x4242,
        "status 0x%x, the device reads 0x%x", s, address and seeds.peek(address) or 0)
    done()
    local twice = seeds.call(code.OPEN_OBJECT, {alone.object})
    probe("object.cannot-be-opened-twice", "PHYS-132", twice == status.ALREADY_REGISTERED, "status 0x%x", twice)
    unmap(view)
    seeds.call(code.CLOSE_OBJECT, {out[1]})
    destroy(alone)
end

-- What the CPU makes of CacheType: it holds for every view.
local function caches()
    local names = {[0] = "non-cached", [1] = "cached", [2] = "write-combined"}
    for _, kind in ipairs{MDL, CONTIGUOUS, SECTION} do
        for cache = kind == SECTION and 1 or 0, 2 do
            local o = create(kind, 2 * PAGE, {cache = cache})
            local _, done = device_view(o, 0) -- pages of a section are in memory then
            local _, done_too = device_view(o, PAGE)
            local one, two = map(o, 0, 2 * PAGE), map(o, PAGE, 8)
            local found, other = seeds.cache_of(one.data), seeds.cache_of(two.data)
            probe("map." .. NAMES[kind] .. ".view-is-" .. names[cache], "PHYS-024", found == names[cache] and other == names[cache],
                "pages 0 and 1 are %s and %s", found, other)
            unmap(one)
            unmap(two)
            done()
            done_too()
            destroy(o)
        end
    end
end

-- An object is system memory: a loss of power does not touch it.
local function power()
    local o = create(MDL, 2 * PAGE)
    local view = map(o, 0, 2 * PAGE)
    seeds.write(view.data + PAGE, 0xD3D0)
    dxgk.power("D3")
    dxgk.power("D0")
    local address, done = device_view(o, PAGE)
    probe("map.view-survives-a-loss-of-power", "PHYS-153", seeds.read(view.data + PAGE) == 0xD3D0 and seeds.peek(address) == 0xD3D0,
        "the CPU reads 0x%x", seeds.read(view.data + PAGE) or 0)
    done()
    unmap(view)
    destroy(o)
end

-- ---- the run ----

if dxgk.set.only then
    if dxgk.set.only == "late-use-of-memory" then
        views(MDL)
    else
        device_memory_views()
    end
    return seeds.finish()
end
for _, kind in ipairs{MDL, CONTIGUOUS, SECTION} do
    views(kind)
end
caches()
io_views()
map_arguments()
objects()
power()
-- What the probes do wrong on purpose.
seeds.expect{["PHYS-015"] = 1, ["PHYS-113"] = 1, ["PHYS-115"] = 1, ["PHYS-117"] = 1, ["PHYS-123"] = 1, ["PHYS-128"] = 1,
    ["PHYS-129"] = 1, ["PHYS-130"] = 3, ["PHYS-132"] = 1, ["PHYS-148"] = 4, ["PHYS-149"] = 1, ["PHYS-150"] = 1, ["PHYS-157"] = 2}
if seeds.has_exceptions then -- the others ask before they touch the registers
    seeds.expect{["NT-139"] = 2}
end
return seeds.finish()
