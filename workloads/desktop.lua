-- SPDX-License-Identifier: MIT
-- A desktop: windows that open, move and cross one another on the screens of the reference GPU, and a pointer over them. What each
-- screen shows is compared, bit by bit, with the same picture computed on the CPU.
--
--   dxgkhost run refgpu.so desktop.lua --device-set outputs=2 --animation desktop.png
--
--   1. Windows open: fills and copies into what the screen shows (D3DKMTPresent with ColorFill and Blt).
--   2. The owner of the screen composes frames with the 2D engine and flips to them, one at each vertical blank.
--   3. The same in another mode; the monitor is unplugged, and plugged in again.
--   4. A second monitor; the pointer goes over to it.
--
-- --set frames=N (composed in each mode, default 24), --set output=FILE (the last frame)

local refgpu = require "refgpu"
local reference = require "reference"

local FRAMES = math.tointeger(tonumber(dxgk.set.frames or "24")) or error("--set frames: not a number")
if FRAMES < 1 or FRAMES > 10000 then
    error("--set frames: 1 to 10000")
end
local images = dxgk.directory .. "/images/"
local output = dxgk.set.output or dxgk.out .. "/desktop.png"
local BLT, FILL, FLIP, TO, FROM, ON_SOURCE = 0x1, 0x2, 0x4, 0x40, 0x80, 0x100 -- D3DKMT_PRESENTFLAGS
local EXCLUSIVE = 2 -- D3DKMT_VIDPNSOURCEOWNER_TYPE
local TITLE, EDGE, SHADOW = 22, 2, 10

local gpu = refgpu.open()
local compared = {copies = 0, flips = 0}

-- ---- pictures that both sides have ----

-- A picture of this size in the computer's memory.
local function picture(width, height, color)
    local p = {width = width, height = height, pitch = width * 4, pixels = dxgk.buffer(width * height * 4)}
    reference.fill(p.pixels, 0, p.pitch, width, height, color)
    return p
end

local function at(p, x, y)
    return y * p.pitch + x * 4
end

local function scaled(image, width, height)
    local p = picture(width, height, 0)
    reference.scale(p.pixels, 0, p.pitch, width, height, image.pixels, 0, image.width * 4, image.width, image.height)
    return p
end

-- The same on the GPU.
local function upload(p)
    local surface = gpu:surface(p.width, p.height)
    gpu:with_bytes(surface, function(bytes)
        bytes:copy_rect(0, surface.pitch, p.pixels, 0, p.pitch, p.width * 4, p.height)
    end)
    p.surface = surface
    return p
end

local landscape = dxgk.image.read(images .. "landscape.png")
landscape.pitch = landscape.width * 4
upload(landscape)

-- A window: a frame with a title, and an image in it.
local function window(name, width, height, color)
    local image = dxgk.image.read(images .. name .. ".png")
    local w = picture(width + 2 * EDGE, height + TITLE + EDGE, 0xFF000000 | color)
    local inside = scaled(image, width, height)
    for i = 0, 2 do
        reference.fill(w.pixels, at(w, w.width - 18 * (i + 1), 6), w.pitch, 10, 10, 0xFFF0F0F0 - i * 0x303030)
    end
    reference.fill(w.pixels, at(w, EDGE, TITLE), w.pitch, width, height, 0xFF101018)
    reference.blend(w.pixels, at(w, EDGE, TITLE), w.pitch, inside.pixels, 0, inside.pitch, width, height, 255, true)
    return upload(w)
end

local windows = {window("spheres", 300, 220, 0x2F6FB0), window("julia", 240, 240, 0x7A3FA0), window("landscape", 280, 150, 0x2E8B57)}
windows[2].alpha = 215 -- one can see through it
local shade = {}
for i, w in ipairs(windows) do
    shade[i] = upload(picture(w.width, w.height, 0x60000000))
end
local mark = dxgk.image.read(images .. "wordmark.png")
local bar = picture(340, 60, 0xB0202030)
reference.blend(bar.pixels, at(bar, 23, 3), bar.pitch, mark.pixels, 0, mark.width * 4, mark.width, mark.height, 255, true)
upload(bar)

-- The pointer: an arrow, white with a dark edge.
local arrow = picture(32, 32, 0)
for y = 0, 27 do
    for x = 0, y * 2 // 3 do
        local edge = x == 0 or x == y * 2 // 3 or y == 27
        arrow.pixels:u32(at(arrow, x, y), edge and 0xC0000000 or 0xFFFFFFFF)
    end
end

-- ---- scenes ----

-- Where everything is in frame `n` of a desktop of this size: the pictures, from below.
local function layout(width, height, n)
    local t = n / FRAMES * 2 * math.pi
    local list = {}
    for i, w in ipairs(windows) do
        local rx, ry = (width - w.width - SHADOW) // 2, (height - w.height - SHADOW) // 2
        local x = rx + math.floor(rx * math.cos(t * (1 + i % 2) + i * 2))
        local y = ry + math.floor(ry * math.sin(t + i * 2.5))
        list[#list + 1] = {of = shade[i], x = x + SHADOW, y = y + SHADOW, alpha = 255}
        list[#list + 1] = {of = w, x = x, y = y, alpha = w.alpha}
    end
    list[#list + 1] = {of = bar, x = (width - bar.width) // 2, y = height - bar.height - 8, alpha = 255}
    return list
end

local function compose(desk, list)
    local p = picture(desk.width, desk.height, 0)
    p.pixels:copy(0, desk.pixels, 0, #desk.pixels)
    for _, item in ipairs(list) do
        local of = item.of
        if item.alpha then
            reference.blend(p.pixels, at(p, item.x, item.y), p.pitch, of.pixels, 0, of.pitch, of.width, of.height, item.alpha, true)
        else
            p.pixels:copy_rect(at(p, item.x, item.y), p.pitch, of.pixels, 0, of.pitch, of.width * 4, of.height)
        end
    end
    return p
end

-- The same by the 2D engine, into a primary.
local function render(desk, list, primary)
    local commands = {refgpu.copy_rect(refgpu.ref(0), primary.pitch, refgpu.ref(1), desk.surface.pitch, desk.width * 4, desk.height)}
    local entries = {{allocation = primary, write = true}, {allocation = desk.surface}}
    for _, item in ipairs(list) do
        local of, to = item.of, item.y * primary.pitch + item.x * 4
        entries[#entries + 1] = {allocation = of.surface}
        if item.alpha then
            commands[#commands + 1] = refgpu.blend(refgpu.ref(0, to), primary.pitch, refgpu.ref(#entries - 1), of.surface.pitch,
                of.width, of.height, item.alpha, true)
        else
            commands[#commands + 1] = refgpu.copy_rect(refgpu.ref(0, to), primary.pitch, refgpu.ref(#entries - 1), of.surface.pitch,
                of.width * 4, of.height)
        end
    end
    gpu:render(commands, entries)
end

-- ---- what is seen ----

local pointer = {source = 0, x = 0, y = 0, visible = false}

local function point(source, x, y)
    pointer.source, pointer.x, pointer.y, pointer.visible = source, x, y, true
    dxgk.pointer{source = source, x = x, y = y}
end

-- `p` with the pointer, as far as it is on this source; `p` itself stays as it is.
local function with_pointer(p, source)
    local w, h = math.min(arrow.width, p.width - pointer.x), math.min(arrow.height, p.height - pointer.y)
    if not pointer.visible or pointer.source ~= source then
        return p
    end
    local seen = picture(p.width, p.height, 0)
    seen.pixels:copy(0, p.pixels, 0, #p.pixels)
    reference.blend(seen.pixels, at(seen, pointer.x, pointer.y), seen.pitch, arrow.pixels, 0, arrow.pitch, w, h, 255, true)
    return seen
end

-- What the screen shows; one of an adapter that sleeps (--power-cycle) is awaited.
local function look(source, what)
    for _ = 1, 1000 do
        local screen = dxgk.screen(source)
        if screen and not screen.black then
            return screen
        end
        dxgk.sleep(100000)
    end
    error(what .. ": there is no signal")
end

local function check(p, source, kind, what)
    local screen = look(source, what)
    if screen.width ~= p.width or screen.height ~= p.height then
        error(("%s: the screen has %dx%d pixels"):format(what, screen.width, screen.height))
    end
    local first, wrong = screen.pixels:difference(with_pointer(p, source).pixels)
    if first then
        error(("%s: %d bytes are wrong, the first at x %d, y %d"):format(what, wrong, first % p.pitch // 4, first // p.pitch))
    end
    compared[kind] = compared[kind] + 1
end

-- ---- 1: copies ----

local function rect(x, y, width, height)
    return {left = x, top = y, right = x + width, bottom = y + height}
end

local function fill(source, color, r)
    D3DKMT.Present{hContext = gpu.context2d.hContext, Flags = FILL | TO | ON_SOURCE, VidPnSourceId = source, Color = color, DstRect = r}
end

local function blt(source, of, to, parts)
    D3DKMT.Present{hContext = gpu.context2d.hContext, hSource = of.surface.handle, Flags = BLT | TO | FROM | ON_SOURCE,
        VidPnSourceId = source, SrcRect = rect(0, 0, of.width, of.height), DstRect = to,
        pSrcSubRects = parts or {rect(0, 0, of.width, of.height)}}
end

local function idle()
    gpu:wait(gpu:signal(gpu.context2d.hContext))
end

-- A background and windows on it, which roll down: only what is new of each is copied.
local function open_windows(source, what)
    local mode = dxgk.mode(source)
    local desk = picture(mode.width, mode.height, 0xFF204060)
    fill(source, 0xFF204060, rect(0, 0, mode.width, mode.height))
    idle()
    check(desk, source, "copies", what .. ": a fill")
    desk = scaled(landscape, mode.width, mode.height)
    blt(source, landscape, rect(0, 0, mode.width, mode.height))
    idle()
    check(desk, source, "copies", what .. ": a stretched copy")
    for i, w in ipairs(windows) do
        local x, y, steps = 40 + 150 * (i - 1), 30 + 90 * (i - 1), 4
        for n = 0, steps - 1 do
            local top, bottom = w.height * n // steps, w.height * (n + 1) // steps
            desk.pixels:copy_rect(at(desk, x, y + top), desk.pitch, w.pixels, at(w, 0, top), w.pitch, w.width * 4, bottom - top)
            blt(source, w, rect(x, y, w.width, w.height), {rect(0, top, w.width // 2, bottom - top), rect(w.width // 2, top, w.width - w.width // 2, bottom - top)})
            idle()
            check(desk, source, "copies", ("%s: window %d, part %d"):format(what, i, n))
        end
    end
    return desk
end

-- ---- 2, 3: flips ----

local flips = 0

local function await_flip()
    for _ = 1, 10 do
        local state = D3DKMT.GetDeviceState{hDevice = gpu.device, StateType = 2, VidPnSourceId = 0}
        if state.PresentState.PresentStats.PresentCount >= flips then
            return
        end
        D3DKMT.WaitForVerticalBlankEvent{hAdapter = gpu.adapter, hDevice = gpu.device, VidPnSourceId = 0}
    end
    error("the flip is not shown after ten vertical blanks")
end

local function flip(primary)
    D3DKMT.Present{hContext = gpu.context2d.hContext, hSource = primary.handle, Flags = FLIP, FlipInterval = 1}
    flips = flips + 1
end

-- Primaries of a mode, the first of them shown; `change(k)` between two frames. Returns the last frame.
local function animate(width, height, what, change)
    local desk, primaries, last = upload(scaled(landscape, width, height)), {}, nil
    for i = 1, 2 do
        primaries[i] = gpu:surface(width, height, 0)
    end
    render(desk, layout(width, height, 0), primaries[1])
    idle()
    D3DKMT.SetDisplayMode{hDevice = gpu.device, hPrimaryAllocation = primaries[1].handle}
    check(compose(desk, layout(width, height, 0)), 0, "flips", what .. ": the first frame")
    for n = 1, FRAMES do
        local list, primary = layout(width, height, n), primaries[n % 2 + 1]
        render(desk, list, primary)
        flip(primary)
        await_flip()
        point(0, (n * 37) % (width - 8), (n * 23) % (height - 8))
        last = compose(desk, list)
        check(last, 0, "flips", ("%s: frame %d"):format(what, n))
        dxgk.progress(n / FRAMES, what)
        if change then
            change(n, width, height)
        end
    end
    return last, primaries, desk
end

local function await_screen(source, there)
    for _ = 1, 100 do
        if (dxgk.screen(source) ~= nil) == there then
            return
        end
        dxgk.sleep(2000000)
    end
    error(("source %d: the screen is still %s"):format(source, there and "dark" or "lit"))
end

-- What clients have shown is lost with the path, and the mode comes back black.
local function replug(n, width, height)
    if n ~= FRAMES // 2 then -- so a frame follows
        return
    end
    dxgk.monitor(false)
    await_screen(0, false)
    dxgk.monitor(("%dx%d@60,640x480@60"):format(width, height))
    await_screen(0, true)
    check(picture(width, height, 0xFF000000), 0, "flips", "the monitor is back")
end

-- ---- all of it ----

local lit, first = pcall(dxgk.mode)
if not lit or not first then
    error("the screen is dark: this wants --device-set outputs=2")
end
-- another mode, 1280x720 if there is that
local another
for _, mode in ipairs(dxgk.modes()) do
    if mode.width ~= first.width and (not another or mode.width == 1280 and mode.height == 720) then
        another = mode
    end
end
if not another or math.min(first.width, another.width) < 640 or math.min(first.height, another.height) < 480 then
    error("two sizes of at least 640x480 are needed, of which the monitor has one")
end
dxgk.pointer{x = 0, y = 0, visible = false, shape = {pixels = arrow.pixels, width = arrow.width, height = arrow.height}}
open_windows(0, "windows open")
D3DKMT.SetVidPnSourceOwner{hDevice = gpu.device, pType = {EXCLUSIVE}, pVidPnSourceId = {0}}
local _, old = animate(first.width, first.height, "windows move")
local last, primaries = animate(another.width, another.height, "another mode", replug)
for _, p in ipairs(old) do
    gpu:free(p)
end
dxgk.image.write(output, with_pointer(last, 0).pixels, last.width, last.height)

dxgk.monitor("800x600@75", 1)
await_screen(1, true)
local second = open_windows(1, "a second monitor")
point(1, 300, 200)
check(second, 1, "copies", "the pointer on the second monitor")
check(last, 0, "flips", "no pointer on the first one")

local outputs = #D3DKMT.GetDisplayModeList{hAdapter = gpu.adapter, VidPnSourceId = 0}.pModeList
dxgk.report("screens", ("%dx%d, then %dx%d of %d modes, and a second one of 800x600"):format(first.width, first.height,
    another.width, another.height, outputs))
dxgk.report("compared", ("%d pictures after copies, %d after flips"):format(compared.copies, compared.flips))
for _, p in ipairs(primaries) do
    gpu:free(p)
end
gpu:close()
return true, output
