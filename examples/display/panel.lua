-- SPDX-License-Identifier: MIT
-- What a user sees of the Panel: each picture is compared with what was drawn. --set step=N: what the first N steps can do.

local step = math.tointeger(tonumber(dxgk.set.step or "5")) or error("--set step: not a number")

local function pixels(width, height, color)
  local buffer = dxgk.buffer(width * height * 4)
  for i = 0, width * height - 1 do
    buffer:u32(i * 4, color)
  end
  return buffer
end

local function seen(x, y)
  local screen = dxgk.screen() or error("there is no signal")
  return screen.pixels:u32((y * screen.width + x) * 4) & 0xFFFFFF
end

local function expect(what, good)
  if not good then
    error(what)
  end
end

local function await(what, good)
  for _ = 1, 100 do
    if good() then
      return
    end
    dxgk.sleep(1000000)
  end
  error(what .. " does not happen")
end

-- Step 1: a picture.
local function picture()
  local mode = dxgk.mode() or error("the screen is dark")
  dxgk.draw{pixels = pixels(64, 48, 0xFF3366CC), width = 64, height = 48, x = 100, y = 50}
  expect("a square is drawn", seen(100, 50) == 0x3366CC and seen(163, 97) == 0x3366CC and seen(164, 97) == 0 and seen(100, 49) == 0)
  dxgk.draw{pixels = pixels(8, 8, 0xFFFFCC00), width = 8, height = 8, x = mode.width - 4, y = mode.height - 4}
  expect("one at the edge is cut off", seen(mode.width - 1, mode.height - 1) == 0xFFCC00)
end
picture()

-- Step 2: the monitor goes, and comes back.
if step >= 2 then
  dxgk.monitor(false)
  await("the screen goes dark", function() return not dxgk.mode() end)
  dxgk.monitor("1024x768@60,800x600@60")
  await("the screen comes back", function() return dxgk.mode() ~= nil end)
  picture()
end

-- Step 3: every mode of the monitor.
if step >= 3 then
  local modes = dxgk.modes()
  expect("the modes are those of the monitor", #modes == 2)
  for _, mode in ipairs(modes) do
    dxgk.mode{width = mode.width, height = mode.height}
    expect("the screen has the mode", dxgk.screen().width == mode.width and dxgk.screen().height == mode.height)
    picture()
  end
end

-- Step 4: the rate is known.
expect("the rate", (dxgk.mode().hz ~= nil) == (step >= 4))

-- Step 5: a pointer, by the hardware from then on.
local before = dxgk.mode().frames
dxgk.pointer{x = 300, y = 200, shape = {pixels = pixels(16, 16, 0xFFFF0000), width = 16, height = 16, hot_x = 3, hot_y = 4}}
await("the pointer is seen", function() return seen(297, 196) == 0xFF0000 and seen(312, 211) == 0xFF0000 and seen(313, 211) == 0 end)
expect("who draws it", (dxgk.mode().frames == before) == (step >= 5))

dxgk.power("D3")
dxgk.power("D0")
await("the screen comes back with the power", function() local s = dxgk.screen() return s and not s.black end)
return true, "every pixel is where it should be"
