-- SPDX-License-Identifier: MIT
-- Byte buffers of workloads: each method with and without its optional arguments, at the ends of a buffer, and one beyond.

local function fails(what, f, ...)
    local good, why = pcall(f, ...)
    assert(not good and tostring(why):find(what, 1, true), tostring(why))
end

local outside = "is outside a buffer of"

-- ---- integers: little-endian, of 1, 4 and 8 bytes ----

local b = dxgk.buffer(16)
assert(#b == 16 and b:bytes() == 16)
for name, width in pairs{u8 = 1, u32 = 4, u64 = 8} do
    local value = 0x1122334455667788 & ((width < 8 and 1 << width * 8 or 0) - 1)
    b:fill(0xEE)
    b[name](b, 16 - width, value)
    assert(b[name](b, 16 - width) == value)
    assert(b:u8(16 - width) == 0x88 and b:u8(15 - width) == 0xEE)
    fails(outside, b[name], b, 17 - width)
    fails(outside, b[name], b, 17 - width, 0)
    fails(outside, b[name], b, -1)
end

-- ---- strings ----

b = dxgk.buffer("0123456789")
assert(b:read() == "0123456789" and b:read(3) == "3456789" and b:read(3, 4) == "3456")
assert(b:read(10) == "" and b:read(10, 0) == "" and b:read(9, 1) == "9")
fails(outside, b.read, b, 11)
fails(outside, b.read, b, 9, 2)
fails(outside, b.read, b, 0, -1)
fails("at most 2^30 bytes", b.read, b, 0, (1 << 30) + 1)
b:write(7, "abc")
assert(b:read() == "0123456abc")
fails(outside, b.write, b, 8, "abc")
b:write(10, "")

-- ---- fill ----

b = dxgk.buffer(10000) -- more than two blocks
b:fill(0x141)
assert(b:read() == ("A"):rep(10000))
b:fill(0x42, 5000)
assert(b:read() == ("A"):rep(5000) .. ("B"):rep(5000))
b:fill(0x43, 4999, 2)
assert(b:read() == ("A"):rep(4999) .. "CC" .. ("B"):rep(4999))
b:fill(0x44, 100, 4096)
b:fill(0x45, 5100, 4097)
assert(b:read(99, 4098) == "A" .. ("D"):rep(4096) .. "A" and b:read(5099, 4099) == "B" .. ("E"):rep(4097) .. "B")
b:fill(0x46, 10000)
b:fill(0x46, 0, 0)
fails(outside, b.fill, b, 0, 9999, 2)
fails(outside, b.fill, b, 0, 10001)

-- ---- copies ----

local from, to = dxgk.buffer("abcdefgh"), dxgk.buffer(8)
to:copy(2, from, 5, 3)
assert(to:read() == "\0\0fgh\0\0\0")
fails(outside, to.copy, to, 6, from, 0, 3)
fails(outside, to.copy, to, 0, from, 6, 3)
from, to = dxgk.buffer("ab..cd..ef"), dxgk.buffer(9)
to:copy_rect(1, 3, from, 0, 4, 2, 3)
assert(to:read() == "\0ab\0cd\0ef")
fails(outside, to.copy_rect, to, 2, 3, from, 0, 4, 2, 3)
fails(outside, to.copy_rect, to, 1, 3, from, 1, 4, 2, 3)
fails("pitch smaller", to.copy_rect, to, 0, 1, from, 0, 4, 2, 1)
fails("pitch smaller", to.copy_rect, to, 0, 3, from, 0, 1, 2, 1)
to:copy_rect(0, 2, from, 0, 2, 2, 1)
fails("1 to 2^20 rows", to.copy_rect, to, 0, 2, from, 0, 2, 2, 0)
fails("row of 0", to.copy_rect, to, 0, 2, from, 0, 2, -1, 1)

-- ---- differences ----

local one, other = dxgk.buffer(9000), dxgk.buffer(9000)
assert(one:difference(other) == nil)
other:u8(8999, 1)
local first, count = one:difference(other)
assert(first == 8999 and count == 1)
other:u8(4095, 1)
other:u8(4096, 1)
first, count = one:difference(other)
assert(first == 4095 and count == 3)
first, count = dxgk.buffer("abc"):difference(dxgk.buffer("abcde"))
assert(first == 3 and count == 2)
first, count = dxgk.buffer("abcde"):difference(dxgk.buffer("xbc"))
assert(first == 0 and count == 3)

-- ---- views ----

local view = one:view(100, 8)
view:write(0, "in a row")
assert(one:read(100, 8) == "in a row" and #view == 8)
fails(outside, view.u8, view, 8)
fails(outside, one.view, one, 8999, 2)
assert(#one:view(9000, 0) == 0)
one = nil
collectgarbage()
assert(view:read() == "in a row")

-- ---- making them ----

assert(#dxgk.buffer(0) == 0 and #dxgk.buffer("") == 0 and dxgk.buffer(5):read() == ("\0"):rep(5))
fails("0 to 2^34 bytes", dxgk.buffer, -1)
fails("0 to 2^34 bytes", dxgk.buffer, (1 << 34) + 1)
return true
