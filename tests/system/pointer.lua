-- What dxgk.pointer takes and refuses, with a driver that has no pointer of its own.

local SIDE = 16

local function pixel(x, y)
  dxgk.sleep(40000000)
  local screen = dxgk.screen()
  return screen.pixels:u32((y * screen.width + x) * 4) & 0xFFFFFF
end

local function refuses(text, table)
  local ok, why = pcall(dxgk.pointer, table)
  assert(not ok and why:find(text, 1, true), why)
end

local pixels = dxgk.buffer(SIDE * SIDE * 4)
for i = 0, SIDE * SIDE - 1 do pixels:u32(i * 4, 0xFF00FF00) end
local shape = { pixels = pixels, width = SIDE, height = SIDE, hot_x = 3, hot_y = 5 }

dxgk.pointer { shape = shape, x = 50, y = 60 }
assert(pixel(47, 55) == 0x00FF00 and pixel(46, 55) == 0 and pixel(62, 70) == 0x00FF00)
dxgk.pointer { x = 100, y = 100 }
assert(pixel(47, 55) == 0 and pixel(97, 95) == 0x00FF00)
shape.pitch = 32
shape.width = 8
dxgk.pointer { shape = shape }
assert(pixel(104, 95) == 0x00FF00 and pixel(105, 95) == 0)
dxgk.pointer { visible = false }
assert(pixel(97, 95) == 0)
dxgk.pointer { shape = { kind = "monochrome", pixels = dxgk.buffer(8), width = 8, height = 4 }, x = 0, y = 0 }

refuses("the buffer is smaller than the shape", { shape = { pixels = dxgk.buffer(8), width = 2, height = 2 } })
refuses("hot_x is to be a whole number from 0 to 7", { shape = { pixels = pixels, width = 8, height = 8, hot_x = 8 } })
refuses("invalid option", { shape = { kind = "round", pixels = pixels, width = 8, height = 8 } })
refuses("has no video present source 1", { x = 0, y = 0, source = 1 })
refuses("adapter 1 has no display that runs", { x = 0, y = 0, adapter = 1 })
