-- SPDX-License-Identifier: MIT
-- The compositor: a picture out of many allocations, by both engines of the GPU, while they do not all fit in its memory.
--
--   1. PNG images are read; the background is cut into a grid of tiles, one allocation each, together larger than VRAM.
--   2. The copy engine (GPU virtual addresses) uploads every tile from a staging buffer.
--   3. The 2D engine (physical addresses, patched) scales the tiles into the canvas, blends overlays with soft shadows over
--      it, and sharpens the whole. Tiles that were evicted meanwhile come back by paging.
--   4. The copy engine brings the picture back; it is compared, bit by bit, with the same picture computed on the CPU.
--
-- --set background=FILE --set overlays=FILE,FILE,... --set width=1920 --set height=1080 --set columns=16 --set rows=10
-- --set oversubscribe=1.25 (tile bytes as a multiple of VRAM, at most --set most=402653184 bytes) --set output=FILE

local refgpu = require "refgpu"
local reference = require "reference"

local function option(name, default)
    local value = dxgk.set[name]
    if value == nil then
        return default
    end
    if type(default) == "number" then
        return math.tointeger(tonumber(value)) or tonumber(value) or error("--set " .. name .. ": not a number: " .. value)
    end
    return value
end

local WIDTH, HEIGHT = option("width", 1920), option("height", 1080)
local COLUMNS, ROWS = option("columns", 16), option("rows", 10)
local images = dxgk.directory .. "/images/"
local output = option("output", dxgk.out .. "/compositor.png")

if WIDTH < 64 or HEIGHT < 64 or WIDTH > 16384 or HEIGHT > 16384 then
    error("--set width, height: 64 to 16384")
end
if COLUMNS < 1 or ROWS < 1 or COLUMNS * ROWS > 1024 or COLUMNS > WIDTH // 4 or ROWS > HEIGHT // 4 then
    error("--set columns, rows: at least 1, together at most 1024 tiles of 4 pixels or more")
end

local background = dxgk.image.read(option("background", images .. "landscape.png"))
local overlays = {}
for file in option("overlays", images .. "spheres.png," .. images .. "julia.png," .. images .. "wordmark.png"):gmatch("[^,]+") do
    overlays[#overlays + 1] = dxgk.image.read(file)
end
if background.width < COLUMNS or background.height < ROWS then
    error("the background is smaller than the grid of tiles")
end

local gpu = refgpu.open()
local pitch = WIDTH * 4
local canvas_bytes = pitch * HEIGHT

-- ---- where everything goes ----

-- Edges of n parts of `total`
local function edge(i, n, total)
    return total * i // n
end

local tiles = {}
for row = 0, ROWS - 1 do
    for column = 0, COLUMNS - 1 do
        local sx, sy = edge(column, COLUMNS, background.width), edge(row, ROWS, background.height)
        local dx, dy = edge(column, COLUMNS, WIDTH), edge(row, ROWS, HEIGHT)
        tiles[#tiles + 1] = {
            sx = sx, sy = sy,
            -- one pixel more on the right and below, so that neighbours meet
            sw = math.min(edge(column + 1, COLUMNS, background.width) + 1, background.width) - sx,
            sh = math.min(edge(row + 1, ROWS, background.height) + 1, background.height) - sy,
            dx = dx, dy = dy, dw = edge(column + 1, COLUMNS, WIDTH) - dx, dh = edge(row + 1, ROWS, HEIGHT) - dy,
        }
    end
end

local BORDER, SOFTEN = 12, 8 -- pixels around an overlay's shadow; how often it is softened

-- Overlays: scaled to a share of the height, set on the lower part, the last one (the wordmark) above.
local places = {}
for i, image in ipairs(overlays) do
    local last = i == #overlays and #overlays > 1
    local h = last and HEIGHT // 9 or HEIGHT * 2 // 5
    local w = math.max(1, image.width * h // image.height)
    if w > WIDTH * 9 // 10 then
        w = WIDTH * 9 // 10
        h = math.max(1, image.height * w // image.width)
    end
    local columns = math.max(1, #overlays - 1)
    local x = last and (WIDTH - w) // 2 or math.max(0, math.min(WIDTH - w, WIDTH * (2 * i - 1) // (2 * columns) - w // 2))
    local y = last and HEIGHT // 12 or HEIGHT * 11 // 20
    y = math.min(y, HEIGHT - h)
    -- the shadow is larger by a border and lies a little to the right and below, inside the picture
    local sw, sh = math.min(w + 2 * BORDER, WIDTH), math.min(h + 2 * BORDER, HEIGHT)
    places[i] = {x = x, y = y, w = math.min(w, sw - BORDER), h = math.min(h, sh - BORDER), alpha = last and 235 or 255, sw = sw, sh = sh,
        shx = math.max(0, math.min(WIDTH - sw, x - BORDER + 10)), shy = math.max(0, math.min(HEIGHT - sh, y - BORDER + 14))}
end

-- Tile allocations: as large as it takes to exceed VRAM; the tile stands at their start, the rest is a pattern that is
-- checked, too.
local most = option("most", 384 << 20)
local wanted = math.min(math.floor(gpu.vram * option("oversubscribe", 1.25)), most)
local smallest = 0
for _, t in ipairs(tiles) do
    smallest = math.max(smallest, t.sw * t.sh * 4)
end
local tile_bytes = math.max(smallest + 4096, wanted // #tiles + 4095) // 4096 * 4096

local BLUR = {16, 32, 16, 32, 64, 32, 16, 32, 16}
local SHARPEN = {0, -24, 0, -24, 352, -24, 0, -24, 0}

-- ---- the picture, on the CPU ----

local function compute_reference()
    local canvas = dxgk.buffer(canvas_bytes)
    for _, t in ipairs(tiles) do
        reference.scale(canvas, t.dy * pitch + t.dx * 4, pitch, t.dw, t.dh, background.pixels,
            (t.sy * background.width + t.sx) * 4, background.width * 4, t.sw, t.sh)
    end
    for i, p in ipairs(places) do
        local image = overlays[i]
        local scaled = dxgk.buffer(p.w * p.h * 4)
        reference.scale(scaled, 0, p.w * 4, p.w, p.h, image.pixels, 0, image.width * 4, image.width, image.height)
        -- shadow: the overlay itself with a border, softened some times; its edges go to black
        local shadow, other = dxgk.buffer(p.sw * p.sh * 4), dxgk.buffer(p.sw * p.sh * 4)
        shadow:copy_rect((BORDER * p.sw + BORDER) * 4, p.sw * 4, scaled, 0, p.w * 4, p.w * 4, p.h)
        for _ = 1, SOFTEN do
            reference.convolve(other, 0, p.sw * 4, shadow, 0, p.sw * 4, p.sw, p.sh, BLUR, false)
            shadow, other = other, shadow
        end
        reference.blend(canvas, p.shy * pitch + p.shx * 4, pitch, shadow, 0, p.sw * 4, p.sw, p.sh, 130, true)
        reference.blend(canvas, p.y * pitch + p.x * 4, pitch, scaled, 0, p.w * 4, p.w, p.h, p.alpha, true)
    end
    local final = dxgk.buffer(canvas_bytes)
    reference.convolve(final, 0, pitch, canvas, 0, pitch, WIDTH, HEIGHT, SHARPEN, true)
    return final
end

-- ---- the picture, on the GPU ----

local function batches(list, size)
    local out = {}
    for i = 1, #list, size do
        out[#out + 1] = table.move(list, i, math.min(i + size - 1, #list), 1, {})
    end
    return out
end

-- As many tiles at a time as leave room for everything else.
local spare = gpu.vram - 3 * canvas_bytes - (4 << 20)
local batch_size = math.max(1, math.min(32, math.max(spare, gpu.vram // 8) // tile_bytes))

for i, t in ipairs(tiles) do
    t.allocation = gpu:allocate(tile_bytes, refgpu.PHYSICAL, refgpu.IN_VRAM | refgpu.IN_APERTURE)
end
local staging = gpu:allocate(tile_bytes * batch_size, refgpu.CPU_VISIBLE, refgpu.IN_APERTURE)
gpu:make_resident{staging}
gpu:wait_paging(gpu:map(staging))

local function upload(batch, done)
    local list, fence = {}, 0
    for i, t in ipairs(batch) do
        list[i] = t.allocation
    end
    gpu:make_resident(list)
    for _, t in ipairs(batch) do
        fence = gpu:map(t.allocation)
    end
    gpu:wait_paging(fence)
    gpu:with_bytes(staging, function(bytes)
        for i, t in ipairs(batch) do
            local at = (i - 1) * tile_bytes
            bytes:copy_rect(at, t.sw * 4, background.pixels, (t.sy * background.width + t.sx) * 4, background.width * 4, t.sw * 4, t.sh)
            bytes:u64(at + tile_bytes - 8, t.sx << 32 | t.sy) -- a mark at the very end
        end
    end)
    local commands = {}
    for i, t in ipairs(batch) do
        local at, head = (i - 1) * tile_bytes, (t.sw * t.sh * 4 + 63) // 64 * 64
        commands[#commands + 1] = refgpu.copy(t.allocation.va, staging.va + at, head)
        commands[#commands + 1] = refgpu.fill(t.allocation.va + head, tile_bytes - head - 64, 0xC0FFEE00 | (done + i) & 0xFF)
        commands[#commands + 1] = refgpu.copy(t.allocation.va + tile_bytes - 64, staging.va + at + tile_bytes - 64, 64)
    end
    gpu:submit_copy(commands)
    gpu:wait(gpu:signal(gpu.copy)) -- the staging buffer is used again
    for _, t in ipairs(batch) do
        gpu:unmap(t.allocation)
    end
    gpu:evict(list)
end

local parts = batches(tiles, batch_size)
local done = 0
for n, batch in ipairs(parts) do
    upload(batch, done)
    done = done + #batch
    dxgk.progress(0.4 * n / #parts, "upload")
end
gpu:unmap(staging)
gpu:free(staging)

local canvas = gpu:allocate(canvas_bytes, refgpu.PHYSICAL, refgpu.IN_VRAM | refgpu.IN_APERTURE)
local final = gpu:allocate(canvas_bytes, refgpu.PHYSICAL, refgpu.IN_VRAM | refgpu.IN_APERTURE)
gpu:make_resident{canvas}

-- Scale the tiles into the canvas, some to a submission, several addresses each to patch.
local marks_wrong = 0
for n, batch in ipairs(parts) do
    local list = {}
    for i, t in ipairs(batch) do
        list[i] = t.allocation
    end
    gpu:make_resident(list)
    for _, group in ipairs(batches(batch, 8)) do
        local commands, entries = {}, {{allocation = canvas, write = true}}
        for _, t in ipairs(group) do
            entries[#entries + 1] = {allocation = t.allocation}
            commands[#commands + 1] = refgpu.scale(refgpu.ref(0, t.dy * pitch + t.dx * 4), pitch, t.dw, t.dh,
                refgpu.ref(#entries - 1), t.sw * 4, t.sw, t.sh)
        end
        gpu:render(commands, entries)
    end
    gpu:wait(gpu:signal(gpu.context2d.hContext))
    gpu:evict(list)
    dxgk.progress(0.4 + 0.3 * n / #parts, "compose")
end

-- Overlays: upload with the copy engine, wait for it on the 2D engine's own timeline, shadow, blend.
for i, p in ipairs(places) do
    local image = overlays[i]
    local bytes = image.width * image.height * 4
    local source = gpu:allocate(bytes, refgpu.PHYSICAL, refgpu.IN_VRAM | refgpu.IN_APERTURE)
    local upload_buffer = gpu:allocate(bytes, refgpu.CPU_VISIBLE, refgpu.IN_APERTURE)
    local scaled = gpu:allocate(p.w * p.h * 4, refgpu.PHYSICAL, refgpu.IN_VRAM | refgpu.IN_APERTURE)
    local shadow = gpu:allocate(p.sw * p.sh * 4, refgpu.PHYSICAL, refgpu.IN_VRAM | refgpu.IN_APERTURE)
    local other = gpu:allocate(p.sw * p.sh * 4, refgpu.PHYSICAL, refgpu.IN_VRAM | refgpu.IN_APERTURE)
    gpu:make_resident{source, upload_buffer, scaled, shadow, other}
    gpu:with_bytes(upload_buffer, function(b)
        b:copy(0, image.pixels, 0, bytes)
    end)
    gpu:map(source)
    gpu:wait_paging(gpu:map(upload_buffer))
    gpu:submit_copy{refgpu.copy(source.va, upload_buffer.va, bytes)}
    gpu:wait_on(gpu.context2d.hContext, gpu:signal(gpu.copy))
    gpu:render({refgpu.scale(refgpu.ref(1), p.w * 4, p.w, p.h, refgpu.ref(0), image.width * 4, image.width, image.height)},
        {{allocation = source}, {allocation = scaled, write = true}})
    local soften = {
        refgpu.fill_rect(refgpu.ref(0), p.sw * 4, p.sw, p.sh, 0),
        refgpu.copy_rect(refgpu.ref(0, (BORDER * p.sw + BORDER) * 4), p.sw * 4, refgpu.ref(2), p.w * 4, p.w * 4, p.h),
    }
    for n = 1, SOFTEN do
        soften[#soften + 1] = refgpu.convolve(refgpu.ref(n & 1), p.sw * 4, refgpu.ref(1 - (n & 1)), p.sw * 4, p.sw, p.sh, BLUR, false)
    end
    gpu:render(soften, {{allocation = shadow, write = true}, {allocation = other, write = true}, {allocation = scaled}})
    local commands = {refgpu.blend(refgpu.ref(0, p.shy * pitch + p.shx * 4), pitch, refgpu.ref(2), p.sw * 4, p.sw, p.sh, 130, true)}
    commands[#commands + 1] = refgpu.blend(refgpu.ref(0, p.y * pitch + p.x * 4), pitch, refgpu.ref(1), p.w * 4, p.w, p.h, p.alpha, true)
    gpu:render(commands, {{allocation = canvas, write = true}, {allocation = scaled}, {allocation = SOFTEN & 1 == 1 and other or shadow}})
    gpu:wait(gpu:signal(gpu.context2d.hContext))
    for _, a in ipairs{source, upload_buffer, scaled, shadow, other} do
        gpu:free(a)
    end
    dxgk.progress(0.7 + 0.1 * i / #places, "overlays")
end

-- Sharpen, then bring the picture back through the copy engine.
gpu:make_resident{final}
gpu:render({refgpu.convolve(refgpu.ref(1), pitch, refgpu.ref(0), pitch, WIDTH, HEIGHT, SHARPEN, true)},
    {{allocation = canvas}, {allocation = final, write = true}})
local back = gpu:allocate(canvas_bytes, refgpu.CPU_VISIBLE, refgpu.IN_APERTURE)
gpu:make_resident{back}
gpu:map(final)
gpu:wait_paging(gpu:map(back))
gpu:wait_on(gpu.copy, gpu:signal(gpu.context2d.hContext))
gpu:submit_copy{refgpu.copy_rect(back.va, pitch, final.va, pitch, pitch, HEIGHT)}
gpu:wait(gpu:signal(gpu.copy))

local picture = dxgk.buffer(canvas_bytes)
gpu:with_bytes(back, function(bytes)
    picture:copy(0, bytes, 0, canvas_bytes)
end)
dxgk.progress(0.85, "compare")

-- Every tile must still be what it was: paged out and in, its last bytes are the mark that was put there.
local check = gpu:allocate(4096, refgpu.CPU_VISIBLE, refgpu.IN_APERTURE)
gpu:make_resident{check}
gpu:wait_paging(gpu:map(check))
for i = 1, #tiles, math.max(1, #tiles // 16) do
    local t = tiles[i]
    gpu:make_resident{t.allocation}
    gpu:wait_paging(gpu:map(t.allocation))
    gpu:submit_copy{refgpu.copy(check.va, t.allocation.va + tile_bytes - 128, 128)}
    gpu:wait(gpu:signal(gpu.copy))
    gpu:with_bytes(check, function(bytes)
        if bytes:u64(120) ~= (t.sx << 32 | t.sy) or bytes:u32(0) ~= (0xC0FFEE00 | i & 0xFF) then
            marks_wrong = marks_wrong + 1
        end
    end)
    gpu:unmap(t.allocation)
    gpu:evict{t.allocation}
end

dxgk.report("adapter", ("RefGPU, %d MiB VRAM, %d MiB aperture%s"):format(gpu.vram >> 20, gpu.aperture >> 20,
    gpu.remapped ~= 0 and ", remapped" or ""))
dxgk.report("picture", ("%dx%d from %d tiles of %d KiB and %d overlays"):format(WIDTH, HEIGHT, #tiles, tile_bytes >> 10, #overlays))
dxgk.report("tiles / VRAM", ("%.2f"):format(#tiles * tile_bytes / gpu.vram))

for _, t in ipairs(tiles) do
    gpu:free(t.allocation)
end
for _, a in ipairs{canvas, final, back, check} do
    gpu:free(a)
end
gpu:close()

dxgk.image.write(output, picture, WIDTH, HEIGHT)
local first, wrong = picture:difference(compute_reference())
dxgk.progress(1, "done")
if first then
    return false, ("%d bytes of the picture are wrong, the first at x %d, y %d"):format(wrong, first % pitch // 4, first // pitch)
end
if marks_wrong > 0 then
    return false, marks_wrong .. " tiles changed while they were paged"
end
return true, output
