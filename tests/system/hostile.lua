-- SPDX-License-Identifier: MIT
-- What a script may do to itself: nothing of it ends the process.
package.path = dxgk.set.modules .. "/?.lua;" .. package.path
local refgpu = require("refgpu")

local function fails(part, f, ...)
    local ok, why = pcall(f, ...)
    if ok or not tostring(why):find(part, 1, true) then
        error(string.format("'%s' expected, got '%s'", part, tostring(why)), 2)
    end
end

-- ---- nesting ----

local adapter = D3DKMT.EnumAdapters2()[1].hAdapter
local deepest

-- The deepest place calls the host, and the driver.
local function bottom()
    deepest = D3DKMT.CreateDevice{hAdapter = adapter}.hDevice
    D3DKMT.DestroyDevice{hDevice = deepest}
end

local function nested(enter)
    local function inner()
        bottom()
        return enter(inner)
    end
    fails("C stack overflow", inner)
end

nested(function(f) return (string.gsub("a", "a", f)) end)
nested(function(f) return string.format("%s", setmetatable({}, {__tostring = f})) end)
nested(function(f) return tostring(setmetatable({}, {__tostring = f})) end)
nested(function(f) table.sort({1, 2, 3}, f) end)
nested(function(f) return coroutine.wrap(f)() end)
nested(function(f) return select(2, load(f)):find("C stack overflow", 1, true) and error("C stack overflow") end)
nested(function(f) return (string.gsub(("a"):rep(250), ("a?"):rep(30) .. ("a"):rep(30), f)) end)
assert(not load(("("):rep(1000) .. "1" .. (")"):rep(1000)))

-- ---- memory that is gone ----

local gpu = refgpu.open()
local lock = {hDevice = gpu.device, hAllocation = gpu:allocate(65536, refgpu.CPU_VISIBLE).handle, Size = 65536}
local view = D3DKMT.Lock2(lock).pData
view:fill(7)
local part, own = view:view(4096, 4096), dxgk.buffer(65536)
D3DKMT.DestroyAllocation2{hDevice = gpu.device, phAllocationList = {lock.hAllocation}, Flags = 0}
local path = dxgk.out .. "/gone"
for _, b in ipairs{view, part} do
    fails("is gone", b.u8, b, 0)
    fails("is gone", b.u32, b, 0, 1)
    fails("is gone", b.u64, b, 0)
    fails("is gone", b.read, b, 0, 4)
    fails("is gone", b.read, b)
    fails("is gone", b.write, b, 0, "abc")
    fails("is gone", b.fill, b, 1)
    fails("is gone", b.copy, b, 0, own, 0, 16)
    fails("is gone", own.copy, own, 0, b, 0, 16)
    fails("is gone", b.copy_rect, b, 0, 64, own, 0, 64, 64, 4)
    fails("is gone", own.copy_rect, own, 0, 64, b, 0, 64, 64, 4)
    fails("is gone", b.difference, b, own)
    fails("is gone", own.difference, own, b)
    fails("is gone", dxgk.image.write, path, b, 16, 16)
    fails("is gone", dxgk.file.write, path, b)
    fails("cannot be", D3DKMT.Escape, {hAdapter = adapter, Type = 0, pPrivateDriverData = b})
    fails("STATUS_INVALID_PARAMETER", D3DKMT.QueryAdapterInfo, {hAdapter = adapter, Type = KMTQAITYPE_ADAPTERGUID, pPrivateDriverData = b})
end
assert(io.open(path) == nil)

-- ---- numbers ----

for _, n in ipairs{math.mininteger, math.maxinteger, -1, 65537} do
    fails("outside a buffer", own.read, own, n)
    fails("outside a buffer", own.fill, own, 0, n)
    fails("outside a buffer", own.u64, own, n)
    fails("outside a buffer", own.write, own, n, "a")
    fails("outside a buffer", own.view, own, n, 1)
    fails("outside a buffer", own.copy, own, n, own, 0, 1)
    fails("outside a buffer", own.copy_rect, own, n, 16, own, 0, 16, 16, 4)
end
fails("outside a buffer", own.read, own, 0, -1)
fails("2^30", own.read, own, 0, 1 << 40)
fails("", own.copy_rect, own, 0, 16, own, 0, 16, 16, math.mininteger)
assert(getmetatable(own) == "dxgk.buffer")
assert(#own:read(65536) == 0 and #own:read() == 65536)

-- ---- files ----

-- An isolated machine has no right to what the options do not name.
local isolated = dxgk.set.isolated
for _, bad in ipairs{"/dev/zero", "/", dxgk.set.fifo} do
    local why = isolated and bad == "/dev/zero" and "Permission denied" or "must be a file"
    fails(why, dxgk.file.read, bad)
    fails(why, dxgk.image.read, bad)
end
local full = isolated and "Permission denied" or "No space left"
fails(full, dxgk.file.write, "/dev/full", own)
fails(full, dxgk.image.write, "/dev/full", own, 16, 16)

-- ---- what would end the process ----

local chunk = string.dump(function() return 1 end)
local compiled = dxgk.out .. "/compiled"
local file = assert(io.open(compiled, "wb"))
file:write(chunk)
file:close()
for _, mode in ipairs{"b", "bt", "t", false} do
    local loaded, why = load(chunk, "chunk", mode or nil)
    assert(not loaded and why:find("attempt to load a binary chunk", 1, true))
    loaded, why = loadfile(compiled, mode or nil)
    assert(not loaded and why:find("attempt to load a binary chunk", 1, true))
end
fails("attempt to load a binary chunk", dofile, compiled)
assert(load("return 1, ...", "chunk", "t", {})(2) == 1 and load("return x", "chunk", "t", {x = 5})() == 5)
assert(load("return print")() == print and load(function() end)() == nil)
for _, name in ipairs{"sethook", "setlocal", "setmetatable", "setupvalue", "setuservalue", "upvaluejoin", "getregistry", "getmetatable", "setcstacklimit"} do
    assert(debug[name] == nil, name)
end
fails("finalizers (__gc) are not run here", setmetatable, {}, {__gc = print})
fails("finalizers (__gc) are not run here", setmetatable, {}, {__gc = false})
assert(getmetatable(io.stdout) == "FILE*" and getmetatable(setmetatable({}, {__index = print})).__index == print)
fails("nil or table expected", setmetatable, {}, 1)
fails("such as PATCH-017", dxgk.expect, "PATCH-999")
fails("such as PATCH-017", dxgk.expect, "a")
for _, handle in ipairs{0, -1, 4, 1 << 31, math.mininteger, 0xFFFFFFFF80000004} do
    fails("is no handle", dxgk.close, handle)
end
assert(debug.traceback("x"):find("stack traceback", 1, true) and debug.getinfo(1, "l").currentline > 0)
return true
