-- SPDX-License-Identifier: MIT
-- Address spaces: processes whose page tables do not fit video memory together, so that they evict each other's. Each maps pages
-- of its data at addresses far apart, has the copy engine write and read through them, and compares what comes back with what it
-- knows; in between it maps some addresses anew, whether its tables are there or not.
--
--     dxgkhost run build/drivers/refgpu.so workloads/address_spaces.lua --vram 8M --check-page-tables
--
-- --set processes=10, --set mappings=2000 (of each process), --set rounds=4, --set apart=8 (mappings to a page table of the lowest
-- level), --set seed=1 (which addresses are used)

local refgpu = require "refgpu"

local function option(name, default, most)
    local value = math.tointeger(tonumber(dxgk.set[name] or default))
    if not value or value < 1 or value > most then
        error(("--set %s: 1 to %d"):format(name, most))
    end
    return value
end

local PROCESSES, MAPPINGS = option("processes", 10, 32), option("mappings", 2000, 20000)
local ROUNDS, APART = option("rounds", 4, 1000), option("apart", 8, 512)
local SEED = option("seed", 1, 1 << 31)

local PAGE, BASE, SPAN = 4096, 1 << 36, 2 << 20
local PAGES = 64 -- of the data of a process
local WRITES, READS, SLOT = 25, 100, 64 -- of a submission; bytes of what is read

-- Pseudo-random numbers of a process: 0 to n - 1
local function generator(state)
    return function(n)
        state = state * 6364136223846793005 + 1442695040888963407
        return ((state >> 33) ~ (state >> 49)) % n
    end
end

local function address(i)
    return BASE + i // APART * SPAN + i % APART * (SPAN // APART) // PAGE * PAGE
end

local wrong, reads = 0, 0

local function client(number)
    local gpu = refgpu.open()
    local random = generator(SEED * 1000 + number)
    local data = gpu:allocate(PAGES * PAGE, 0, refgpu.IN_VRAM | refgpu.IN_APERTURE)
    local back = gpu:allocate(READS * SLOT, refgpu.CPU_VISIBLE, refgpu.IN_APERTURE)
    local page_of, content = {}, {}

    -- where address i leads to
    local function map(i, page)
        page_of[i] = page
        return D3DKMT.MapGpuVirtualAddress{hPagingQueue = gpu.queue.hPagingQueue, BaseAddress = address(i), hAllocation = data.handle,
            OffsetInPages = page, SizeInPages = 1, Protection = 1}.PagingFenceValue
    end

    local function unmap(i)
        D3DKMT.FreeGpuVirtualAddress{hAdapter = gpu.adapter, BaseAddress = address(i), Size = PAGE}
    end

    gpu:make_resident{data, back}
    gpu:wait_paging(gpu:map(back))
    local fence = 0
    for i = 0, MAPPINGS - 1 do
        fence = map(i, random(PAGES))
    end
    gpu:wait_paging(fence)
    local first = {}
    for i = 0, MAPPINGS - 1 do
        local page = page_of[i]
        if not content[page] then
            content[page] = number << 24 | page
            first[#first + 1] = refgpu.fill(address(i), PAGE, content[page])
        end
    end
    gpu:submit_copy(first)
    for round = 1, ROUNDS do
        local commands, expected = {}, {}
        for n = 1, WRITES do
            local i = random(MAPPINGS)
            content[page_of[i]] = number << 24 | round << 8 | n
            commands[n] = refgpu.fill(address(i), PAGE, content[page_of[i]])
        end
        -- behind all writes: a submission that is preempted may begin again
        for slot = 0, READS - 1 do
            local i = random(MAPPINGS)
            commands[#commands + 1] = refgpu.copy(back.va + slot * SLOT, address(i) + random(PAGE // SLOT) * SLOT, SLOT)
            expected[slot] = content[page_of[i]]
        end
        gpu:submit_copy(commands)
        gpu:wait(gpu:signal(gpu.copy))
        gpu:with_bytes(back, function(bytes)
            for slot = 0, READS - 1 do
                reads = reads + 1
                if bytes:u32(slot * SLOT) ~= expected[slot] or bytes:u32(slot * SLOT + SLOT - 4) ~= expected[slot] then
                    wrong = wrong + 1
                end
            end
        end)
        dxgk.sleep(1000 * random(200)) -- others come
        for _ = 1, 1 + MAPPINGS // 100 do
            local i = random(MAPPINGS)
            unmap(i)
            fence = map(i, page_of[random(MAPPINGS)])
        end
        gpu:wait_paging(fence)
    end
    for i = 0, MAPPINGS - 1 do
        unmap(i)
    end
    gpu:free(data)
    gpu:free(back)
    gpu:close()
end

local running = {}
for number = 1, PROCESSES do
    running[number] = dxgk.process("space " .. number, client, number)
end
for number, process in ipairs(running) do
    process:wait()
    dxgk.progress(number / PROCESSES, "address spaces")
end

local s = dxgk.statistics()
dxgk.report("address spaces", ("%d, of %d mappings in %d leaf tables each"):format(PROCESSES, MAPPINGS, (MAPPINGS + APART - 1) // APART))
dxgk.report("reads compared", reads)
dxgk.report("page tables evicted", s.table_evictions)
if wrong > 0 then
    return false, ("%d of %d reads found other memory than was mapped"):format(wrong, reads)
end
return true
