-- SPDX-License-Identifier: MIT
-- DXGKARGCB_ALLOCATECONTIGUOUSMEMORY, statement by statement. What the CPU writes the device must find at the physical address, and the
-- other way round. --set iommu=MODE says what --iommu the run has.

local seeds = require "seeds"
local code, status, probe = seeds.code, seeds.status, seeds.probe
local PAGE, KIB, MIB = 4096, 1024, 1024 * 1024
local TOP = 0x7FFFFFFFFFFFFFFF
local mode = dxgk.set.iommu or "off"
local GARBAGE = 0x5A5A5A5A5A5A5000

local function aligned(value, to)
    return value % to == 0
end

local function allocate(bytes, a)
    a = a or {}
    local s, out = seeds.call(code.ALLOCATE_CONTIGUOUS, {bytes, a.low or 0, a.high or TOP, a.boundary or 0, a.cache or 1, GARBAGE, GARBAGE}, {how = a.how})
    local block = {status = s, out = out, handle = out[5], memory = out[6], bytes = bytes}
    if s == 0 then
        block.physical = seeds.physical(block.memory)
    end
    return block
end

local function free(block, how)
    return (seeds.call(code.FREE_CONTIGUOUS, {block.handle}, {how = how}))
end

local function is_refused(block, wanted)
    return block.status == wanted and block.handle == 0 and block.memory == 0
end

local function contiguous_results()
    local block = allocate(5 * PAGE)
    probe("contiguous.success-gives-memory-and-handle", "PHYS-043", block.status == 0 and block.handle ~= 0 and block.memory ~= 0,
        "status 0x%x, handle 0x%x, pMemory 0x%x", block.status, block.handle, block.memory)
    local together = true
    for page = 1, 4 do
        together = together and seeds.physical(block.memory + page * PAGE) == block.physical + page * PAGE
    end
    probe("contiguous.pages-follow-one-another", "PHYS-043", together, "5 pages from 0x%x", block.physical)
    probe("contiguous.starts-on-a-page", "PHYS-045", aligned(block.memory, PAGE) and aligned(block.physical, PAGE),
        "pMemory 0x%x, physical 0x%x", block.memory, block.physical)
    probe("contiguous.page-0-is-never-given", "PHYS-004", block.physical >= PAGE, "physical 0x%x", block.physical)
    seeds.write(block.memory + 3 * PAGE + 8, 0x1122334455667788)
    local found = seeds.peek(seeds.BUS | block.physical + 3 * PAGE + 8)
    probe("contiguous.device-finds-what-the-cpu-wrote", "PHYS-053", found == 0x1122334455667788, "the device reads 0x%x", found or 0)
    local poked = seeds.poke(seeds.BUS | block.physical + 4 * PAGE + 4088, 0x99AA)
    probe("contiguous.cpu-finds-what-the-device-wrote", "PHYS-053", poked and seeds.read(block.memory + 4 * PAGE + 4088) == 0x99AA,
        "at the last 8 bytes the CPU reads 0x%x", seeds.read(block.memory + 4 * PAGE + 4088))
    probe("contiguous.is-not-paged", "PHYS-043", seeds.write(block.memory + 8, 0x5AFE, 8, seeds.AT_DISPATCH) == 0 and
        seeds.read(block.memory + 8, 8, seeds.AT_DISPATCH) == 0x5AFE, "at DISPATCH_LEVEL the CPU reads 0x%x",
        seeds.read(block.memory + 8, 8, seeds.AT_DISPATCH) or 0)
    local other = allocate(PAGE)
    probe("contiguous.handles-differ", "PHYS-016", other.handle ~= block.handle and other.memory ~= block.memory,
        "handles 0x%x and 0x%x", block.handle, other.handle)
    probe("contiguous.content-is-undefined", "PHYS-052", seeds.read(other.memory) ~= 0 or seeds.read(other.memory + 2048) ~= 0,
        "the first 8 bytes are 0x%x", seeds.read(other.memory))
    probe("contiguous.free-succeeds", "PHYS-054", free(other) == 0, "handle 0x%x", other.handle)
    probe("contiguous.memory-is-gone-after-free", "PHYS-054", seeds.read(other.memory) == nil, "the CPU reads 0x%x at 0x%x",
        seeds.read(other.memory) or 0, other.memory)
    local reached = seeds.peek(seeds.BUS | other.physical) -- judged in every mode, stopped where there is a domain
    if mode ~= "off" then
        probe("contiguous.device-is-stopped-after-free", "PHYS-054", reached == nil, "the device reads 0x%x at 0x%x", reached or 0,
            other.physical)
    end
    local again = free(other)
    probe("contiguous.free-twice-is-an-invalid-handle", "PHYS-017", again == status.INVALID_HANDLE, "status 0x%x", again)
    return block
end

local function contiguous_bounds()
    local first = allocate(4 * PAGE)
    local at = first.physical
    free(first)
    local exact = allocate(4 * PAGE, {low = at, high = at + 4 * PAGE - 1})
    probe("contiguous.bounds-are-inclusive", "PHYS-047", exact.status == 0 and exact.physical == at,
        "4 pages between 0x%x and 0x%x: status 0x%x, at 0x%x", at, at + 4 * PAGE - 1, exact.status, exact.physical or 0)
    if exact.status == 0 then
        free(exact)
    end
    local tight = allocate(4 * PAGE, {low = at, high = at + 4 * PAGE - 2})
    probe("contiguous.last-byte-counts", "PHYS-047", is_refused(tight, status.NO_MEMORY), "one byte less: status 0x%x", tight.status)
    local late = allocate(4 * PAGE, {low = at + 1, high = at + 4 * PAGE - 1})
    probe("contiguous.first-byte-counts", "PHYS-047", is_refused(late, status.NO_MEMORY), "one byte later: status 0x%x", late.status)
    for _, window in ipairs{{16 * MIB, 32 * MIB - 1}, {0, 64 * KIB - 1}, {256 * MIB, 256 * MIB + 64 * KIB - 1}} do
        local block = allocate(3 * PAGE + 1, {low = window[1], high = window[2]})
        probe("contiguous.block-is-in-its-window", "PHYS-047", block.status == 0 and block.physical >= window[1] and
            block.physical + 3 * PAGE <= window[2], "0x%x bytes at 0x%x, window 0x%x to 0x%x", block.bytes, block.physical or 0, window[1],
            window[2])
        if block.status == 0 then
            free(block)
        end
    end
    local upside = allocate(PAGE, {low = 2 * MIB, high = MIB})
    probe("contiguous.lowest-above-highest-is-invalid", "PHYS-048", upside.status == status.INVALID_PARAMETER, "status 0x%x",
        upside.status)
    probe("contiguous.failure-leaves-null", "PHYS-018", upside.handle == 0 and upside.memory == 0, "handle 0x%x, pMemory 0x%x",
        upside.handle, upside.memory)
    probe("contiguous.failure-leaves-the-in-members", "PHYS-018", upside.out[0] == PAGE and upside.out[1] == 2 * MIB and
        upside.out[2] == MIB and upside.out[4] == 1, "bytes 0x%x, bounds 0x%x and 0x%x", upside.out[0], upside.out[1], upside.out[2])
    local nowhere = allocate(PAGE, {low = 1 << 47})
    probe("contiguous.window-without-memory-has-no-room", "PHYS-048", is_refused(nowhere, status.NO_MEMORY), "status 0x%x",
        nowhere.status)
    local huge = allocate(1 << 46, {})
    probe("contiguous.lack-of-memory-leaves-null", "PHYS-018", huge.status ~= 0 and huge.handle == 0 and huge.memory == 0,
        "64 TiB: status 0x%x, handle 0x%x, pMemory 0x%x", huge.status, huge.handle, huge.memory)
end

local function contiguous_boundary()
    local kept, crossing = {}, 0
    for i = 1, 24 do
        local block = allocate(5 * PAGE, {boundary = 32 * KIB})
        kept[i] = block
        if block.status ~= 0 or block.physical // (32 * KIB) ~= (block.physical + 5 * PAGE - 1) // (32 * KIB) then
            crossing = crossing + 1
        end
    end
    probe("contiguous.crosses-no-boundary", "PHYS-050", crossing == 0, "%d of %d blocks of 5 pages cross a multiple of 32 KiB", crossing,
        #kept)
    for _, block in ipairs(kept) do
        free(block)
    end
    local whole = allocate(64 * KIB, {boundary = 64 * KIB})
    probe("contiguous.block-as-large-as-the-boundary", "PHYS-050", whole.status == 0 and aligned(whole.physical, 64 * KIB),
        "status 0x%x, at 0x%x", whole.status, whole.physical or 0)
    if whole.status == 0 then
        free(whole)
    end
    local none = allocate(300 * KIB, {boundary = 0})
    probe("contiguous.boundary-0-is-none", "PHYS-049", none.status == 0, "300 KiB: status 0x%x", none.status)
    if none.status == 0 then
        free(none)
    end
    local odd = allocate(PAGE, {boundary = 0x3000})
    probe("contiguous.boundary-is-a-power-of-two", "PHYS-049", is_refused(odd, status.INVALID_PARAMETER), "0x3000: status 0x%x",
        odd.status)
    local small = allocate(2 * PAGE, {boundary = PAGE})
    probe("contiguous.block-larger-than-the-boundary-is-invalid", "PHYS-051", is_refused(small, status.INVALID_PARAMETER),
        "2 pages in one: status 0x%x", small.status)
end

local function contiguous_arguments()
    local zero = allocate(0)
    probe("contiguous.no-bytes-is-invalid", "PHYS-044", is_refused(zero, status.INVALID_PARAMETER), "status 0x%x", zero.status)
    local uneven = allocate(5001)
    probe("contiguous.any-number-of-bytes", "PHYS-044", uneven.status == 0 and seeds.write(uneven.memory + 5000, 1, 1) == 0,
        "5001 bytes: status 0x%x", uneven.status)
    free(uneven)
    for cache, name in pairs{[0] = "non-cached", [1] = "cached", [2] = "write-combined"} do
        local block = allocate(PAGE, {cache = cache})
        probe("contiguous.cache-type-" .. name, "PHYS-024", block.status == 0 and seeds.cache_of(block.memory) == name,
            "status 0x%x, the page is %s", block.status, block.status == 0 and seeds.cache_of(block.memory) or "none")
        free(block)
    end
    local unknown = allocate(PAGE, {cache = 3})
    probe("contiguous.cache-type-unknown-is-invalid", "PHYS-024", is_refused(unknown, status.INVALID_PARAMETER), "status 0x%x",
        unknown.status)
    local high = allocate(PAGE, {how = seeds.AT_APC})
    probe("contiguous.is-legal-at-apc-level", "PHYS-011", high.status == 0 and free(high, seeds.AT_APC) == 0, "status 0x%x", high.status)
    local wrong = allocate(PAGE, {how = seeds.WRONG_ADAPTER})
    probe("contiguous.adapter-is-the-device-handle", "PHYS-009", is_refused(wrong, status.INVALID_PARAMETER), "status 0x%x",
        wrong.status)
    local none = allocate(PAGE, {how = seeds.NO_ARGUMENTS})
    probe("contiguous.no-arguments-is-invalid", "PHYS-015", none.status == status.INVALID_PARAMETER, "status 0x%x", none.status)
    local stranger = free{handle = GARBAGE}
    probe("contiguous.unknown-handle-is-invalid", "PHYS-017", stranger == status.INVALID_HANDLE, "status 0x%x", stranger)
end

local function contiguous_refused()
    local block = allocate(PAGE, {})
    probe("contiguous.is-not-offered-with-remapping", "IOMMU-094", is_refused(block, status.NOT_SUPPORTED),
        "status 0x%x, handle 0x%x, pMemory 0x%x", block.status, block.handle, block.memory)
end

-- ---- the run ----

if mode == "remap" then
    contiguous_refused()
    return seeds.finish()
end
local held = contiguous_results()
contiguous_bounds()
contiguous_boundary()
contiguous_arguments()
probe("contiguous.stays-where-it-is", "PHYS-053", seeds.physical(held.memory) == held.physical and
    seeds.peek(seeds.BUS | held.physical + 3 * PAGE + 8) == 0x1122334455667788, "0x%x", held.physical)
dxgk.power("D3")
dxgk.power("D0")
probe("contiguous.survives-a-loss-of-power", "PHYS-053", seeds.physical(held.memory) == held.physical and
    seeds.peek(seeds.BUS | held.physical + 3 * PAGE + 8) == 0x1122334455667788 and
    seeds.read(held.memory + 3 * PAGE + 8) == 0x1122334455667788, "0x%x", held.physical)
free(held)
-- What the probes do wrong on purpose.
seeds.expect{["PHYS-015"] = 1, ["PHYS-017"] = 2, ["PHYS-024"] = 1, ["PHYS-044"] = 1, ["PHYS-048"] = 1, ["PHYS-049"] = 1,
    ["PHYS-051"] = 1, ["LIFE-063"] = 1, [mode == "off" and "IOMMU-075" or "IOMMU-072"] = 1}
return seeds.finish()
