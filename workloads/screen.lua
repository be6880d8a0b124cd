-- The screen of a display-only driver: pictures in each of its modes, turned, and over a loss of power,
-- compared pixel by pixel with what was drawn.
--
--   dxgkhost run bootfb.so screen.lua --device null --screen screen.png
--
-- Set: frames=N (pictures in each mode, default 4), turned=no (no turned modes), more=WxH (one more size).

local frames = math.tointeger(tonumber(dxgk.set.frames or "4")) or error("--set frames: not a number")

local TILE = 64

-- A tile whose pixels differ from those of any other by their place or by `k`.
local function tile(k)
  local pixels = dxgk.buffer(TILE * TILE * 4)
  for y = 0, TILE - 1 do
    for x = 0, TILE - 1 do
      pixels:u32((y * TILE + x) * 4, 0xFF000000 | (x * 4) << 16 | (y * 4) << 8 | k & 255)
    end
  end
  return pixels
end

-- Where pixel (x, y) of what is drawn is on the screen: turned counter-clockwise, and in the middle.
local function place(mode, screen, x, y)
  local w, h = mode.width, mode.height
  local turned = {
    [0] = function() return x, y end,
    [90] = function() return y, h - 1 - x end,
    [180] = function() return w - 1 - x, h - 1 - y end,
    [270] = function() return w - 1 - y, x end,
  }
  local column, line = turned[mode.rotation]()
  return column + (screen.width - w) // 2, line + (screen.height - h) // 2
end

-- What the screen shows; a screen of an adapter that sleeps (--power-cycle) is awaited.
local function look()
  for _ = 1, 1000 do
    local screen = dxgk.screen()
    if screen and not screen.black then
      return screen
    end
    dxgk.sleep(1000000)
  end
  error("no signal")
end

-- The first pixel that is not as it was drawn, as a text; nil: there is none. And how many were compared.
local function difference(mode, x0, y0, k)
  local screen = look()
  local count = 0
  for i = 0, 255 do
    local x, y = i * 7 % TILE, i * 13 % TILE
    if x0 + x < mode.canvas_width and y0 + y < mode.canvas_height then
      local column, line = place(mode, screen, x0 + x, y0 + y)
      if column < 0 or line < 0 or column >= screen.width or line >= screen.height then
        return ("a screen of %d x %d"):format(screen.width, screen.height)
      end
      local is = screen.pixels:u32((line * screen.width + column) * 4) & 0xFFFFFF
      local due = (x * 4) << 16 | (y * 4) << 8 | k & 255
      if is ~= due then
        return ("pixel %d, %d is 0x%06x, not 0x%06x"):format(x0 + x, y0 + y, is, due)
      end
      count = count + 1
    end
  end
  return nil, count
end

local compared = 0

-- A device may still be at work when its driver says that the picture is there: it has one period of 60 Hz.
local function compare(mode, x0, y0, k)
  local what, count = difference(mode, x0, y0, k)
  for _ = 1, 16 do
    if not what then break end
    dxgk.sleep(1000000)
    what, count = difference(mode, x0, y0, k)
  end
  if what then error(("%d x %d by %d degrees: %s"):format(mode.width, mode.height, mode.rotation, what)) end
  compared = compared + count
end

-- Tiles in the corners and in the middle, then all of them again in one picture.
local function show(k)
  local mode = assert(dxgk.mode(), "the source is dark")
  local right, bottom = mode.canvas_width - TILE, mode.canvas_height - TILE
  local places = { { 0, 0 }, { right, 0 }, { 0, bottom }, { right, bottom }, { right // 2, bottom // 2 } }
  for n = 1, frames do
    local at = places[(n - 1) % #places + 1]
    dxgk.draw { pixels = tile(k + n), width = TILE, height = TILE, x = at[1], y = at[2] }
    compare(mode, at[1], at[2], k + n)
  end
  return mode, places, k
end

local first = assert(dxgk.mode(), "the driver lights no screen")
local shown = 0
local sizes = { { first.width, first.height }, { 800, 600 }, { 640, 480 } }
if dxgk.set.more then
  local w, h = dxgk.set.more:match("^(%d+)x(%d+)$")
  sizes[#sizes + 1] = { math.tointeger(w) or error("--set more: not WIDTHxHEIGHT"), math.tointeger(h) }
end
for i, size in ipairs(sizes) do
  for rotation = 0, dxgk.set.turned == "no" and 0 or 270, 90 do
    local ok, why = pcall(dxgk.mode, { width = size[1], height = size[2], rotation = rotation })
    if ok then
      show(i * 40 + rotation // 10)
      shown = shown + 1
    elseif rotation == 0 and i == 1 then
      error(why)
    end
  end
end

-- The picture is there again after a loss of power, without anybody drawing it.
dxgk.mode { width = first.width, height = first.height }
show(200)
local before = look().checksum
dxgk.power("D3")
dxgk.power("D0")
dxgk.sleep(100000000)
assert(look().checksum == before, "another picture after D3")

dxgk.report("modes", shown)
dxgk.report("pixels compared", compared)
dxgk.report("frames", dxgk.mode().frames)
