-- SPDX-License-Identifier: MIT
-- Images and raw files: pixels of a PNG that is made here, byte by byte; rows with a pitch; and what is no picture.

local function fails(what, f, ...)
    local good, why = pcall(f, ...)
    if good or not tostring(why):find(what, 1, true) then
        error(string.format("'%s' expected, got '%s'", what, tostring(why)), 2)
    end
    print((tostring(why):gsub(dxgk.out, "OUT", 1):gsub("PNG %(.*", "PNG")))
end

local function path(name)
    return dxgk.out .. "/" .. name
end

local function save(name, bytes)
    local file = assert(io.open(path(name), "wb"))
    file:write(bytes)
    file:close()
    return path(name)
end

-- ---- a PNG without compression ----

local function crc(bytes)
    local sum = 0xFFFFFFFF
    for i = 1, #bytes do
        sum = sum ~ bytes:byte(i)
        for _ = 1, 8 do
            sum = sum & 1 == 1 and sum >> 1 ~ 0xEDB88320 or sum >> 1
        end
    end
    return sum ~ 0xFFFFFFFF
end

local function adler(bytes)
    local a, b = 1, 0
    for i = 1, #bytes do
        a = (a + bytes:byte(i)) % 65521
        b = (b + a) % 65521
    end
    return b << 16 | a
end

local function chunk(name, data)
    return string.pack(">I4", #data) .. name .. data .. string.pack(">I4", crc(name .. data))
end

-- `rows`: strings of R, G, B, A bytes, or of R, G, B for the type 2.
local function png(width, kind, rows, more)
    local raw = "\0" .. table.concat(rows, "\0")
    return "\x89PNG\r\n\x1a\n" .. chunk("IHDR", string.pack(">I4I4BBBBB", width, #rows, 8, kind, 0, 0, 0)) .. (more or "") ..
        chunk("IDAT", "\x78\x01\x01" .. string.pack("<I2I2", #raw, ~#raw & 0xFFFF) .. raw .. string.pack(">I4", adler(raw))) ..
        chunk("IEND", "")
end

-- ---- reading ----

local picture = dxgk.image.read(save("three.png", png(3, 6, {"\1\2\3\4\5\6\7\8\9\10\11\12", "\x11\x12\x13\x14\x15\x16\x17\x18\xF1\xF2\xF3\xF4"})))
assert(picture.width == 3 and picture.height == 2 and #picture.pixels == 24)
assert(picture.pixels:read() == "\3\2\1\4\7\6\5\8\11\10\9\12\x13\x12\x11\x14\x17\x16\x15\x18\xF3\xF2\xF1\xF4")
-- without alpha; and one color that is transparent
picture = dxgk.image.read(save("plain.png", png(2, 2, {"\1\2\3\4\5\6"})))
assert(picture.width == 2 and picture.height == 1 and picture.pixels:read() == "\3\2\1\255\6\5\4\255")
picture = dxgk.image.read(save("key.png", png(2, 2, {"\1\2\3\4\5\6"}, chunk("tRNS", "\0\4\0\5\0\6"))))
assert(picture.pixels:read() == "\3\2\1\255\6\5\4\0")

-- ---- writing ----

local pixels = dxgk.buffer("\3\2\1\4\7\6\5\8\11\10\9\12\x13\x12\x11\x14\x17\x16\x15\x18\xF3\xF2\xF1\xF4")
dxgk.image.write(path("made.png"), pixels, 3, 2)
picture = dxgk.image.read(path("made.png"))
assert(picture.width == 3 and picture.height == 2 and picture.pixels:difference(pixels) == nil)
assert(pixels:read(0, 4) == "\3\2\1\4") -- it is a copy that was turned
dxgk.image.write(path("made.png"), pixels, 2, 2, 12) -- the first two of each row
picture = dxgk.image.read(path("made.png"))
assert(picture.width == 2 and picture.height == 2)
assert(picture.pixels:read() == "\3\2\1\4\7\6\5\8" .. "\x13\x12\x11\x14\x17\x16\x15\x18")
dxgk.image.write(path("made.png"), pixels:view(4, 4), 1, 1)
assert(dxgk.image.read(path("made.png")).pixels:read() == "\7\6\5\8")
dxgk.image.write(path("made.png"), pixels, 2, 2, 16) -- up to the last byte
assert(dxgk.image.read(path("made.png")).pixels:read() == "\3\2\1\4\7\6\5\8" .. "\x17\x16\x15\x18\xF3\xF2\xF1\xF4")
local small = "buffer smaller than the picture"
fails(small, dxgk.image.write, path("made.png"), pixels, 2, 2, 17)
fails(small, dxgk.image.write, path("made.png"), pixels, 2, 2, 7)
fails(small, dxgk.image.write, path("made.png"), pixels, 2, 4)
fails(small, dxgk.image.write, path("made.png"), pixels, 7, 1)
fails(small, dxgk.image.write, path("made.png"), pixels, 1, 1, (1 << 24) + 1)
dxgk.image.write(path("made.png"), pixels, 1, 1, 1 << 24)
dxgk.image.write(path("made.png"), pixels, 6, 1)
local row = dxgk.buffer(16384 * 4)
dxgk.image.write(path("row.png"), row, 16384, 1)
assert(dxgk.image.read(path("row.png")).width == 16384)
dxgk.image.write(path("row.png"), row, 1, 16384)
assert(dxgk.image.read(path("row.png")).height == 16384)
for _, side in ipairs{0, -1, 16385, math.mininteger, math.maxinteger} do
    fails("width of 1 to 16384", dxgk.image.write, path("none.png"), row, side, 1)
    fails("height of 1 to 16384", dxgk.image.write, path("none.png"), row, 1, side)
end
fails("number expected", dxgk.image.write, path("none.png"), row, "x", 1)
fails("dxgk.buffer expected", dxgk.image.write, path("none.png"), "row", 1, 1)
fails("No such file", dxgk.image.write, path("no/none.png"), row, 1, 1)

-- ---- no pictures ----

local good = png(1, 6, {"\1\2\3\4"})
fails("No such file", dxgk.image.read, path("none.png"))
fails("not a readable PNG", dxgk.image.read, save("bad.png", ""))
fails("not a readable PNG", dxgk.image.read, save("bad.png", "no picture at all"))
fails("not a readable PNG", dxgk.image.read, save("bad.png", good:sub(1, 50)))
fails("not a readable PNG", dxgk.image.read, save("bad.png", png(16385, 6, {("\1\2\3\4"):rep(16385 // 4)})))
fails("not a readable PNG", dxgk.image.read, save("bad.png", good:gsub("IDAT", "IDAX")))
assert(dxgk.image.read(save("good.png", good)).pixels:read() == "\3\2\1\4")

-- ---- raw files ----

dxgk.file.write(path("raw"), dxgk.buffer("a\0b"))
assert(dxgk.file.read(path("raw")):read() == "a\0b")
dxgk.file.write(path("raw"), pixels:view(4, 8))
assert(dxgk.file.read(path("raw")):read() == "\7\6\5\8\11\10\9\12")
dxgk.file.write(path("raw"), dxgk.buffer(0))
assert(#dxgk.file.read(path("raw")) == 0)
fails("No such file", dxgk.file.read, path("nothing"))
fails("No such file", dxgk.file.write, path("no/thing"), pixels)
fails("dxgk.buffer expected", dxgk.file.write, path("raw"), "text")
return true
