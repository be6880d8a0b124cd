-- SPDX-License-Identifier: MIT
-- The table dxgk: options, counters, time, power, pages, and rows of the report, each at its limits. For the reference driver, with
-- --set one=1 --set two=2=2 --set three=.

local function fails(what, f, ...)
    local good, why = pcall(f, ...)
    if good or not tostring(why):find(what, 1, true) then
        error(string.format("'%s' expected, got '%s'", what, tostring(why)), 2)
    end
    print((tostring(why)))
end

local function same(a, b)
    if a ~= b then
        error(string.format("%s is not %s", a, b), 2)
    end
end

-- ---- options ----

local seen, count = {}, 0
for name, value in pairs(dxgk.set) do
    seen[name], count = value, count + 1
end
same(count, 3)
same(seen.one, "1")
same(seen.two, "2=2")
same(seen.three, "")
same(dxgk.set.one, "1")
same(dxgk.set.four, nil)
same(dxgk.set[1], nil)

-- ---- time ----

local before = dxgk.time()
assert(select("#", dxgk.sleep(0)) == 0)
dxgk.sleep(12345)
assert(dxgk.time() >= before + 12345 and dxgk.time() < before + 20000)
fails("nanoseconds", dxgk.sleep, -1)
fails("number expected", dxgk.sleep, "x")

-- ---- counters ----

local names = "adapter_resets bytes_paged_in bytes_paged_out ddi_calls engine_resets evictions interrupts iommu_faults iommu_maps " ..
    "page_table_updates paging_submissions patches preemptions submissions table_evictions violations virtual_ns warnings"
local s, sorted = dxgk.statistics(), {}
for name in pairs(s) do
    sorted[#sorted + 1] = name
end
table.sort(sorted)
same(table.concat(sorted, " "), names)
same(s.virtual_ns, dxgk.time())
assert(s.ddi_calls > 20 and s.submissions == 0 and s.violations == 0)
local device = D3DKMT.CreateDevice{hAdapter = D3DKMT.EnumAdapters2()[1].hAdapter}.hDevice
assert(dxgk.statistics().ddi_calls > s.ddi_calls)
D3DKMT.DestroyDevice{hDevice = device}

-- ---- processes ----

local mine = D3DKMT.EnumAdapters2()[1].hAdapter
local child = dxgk.process("child", function(a, b)
    dxgk.sleep(1000)
    fails("STATUS_INVALID_PARAMETER", D3DKMT.CreateDevice, {hAdapter = mine + (1 << 20)})
    local own = D3DKMT.CreateDevice{hAdapter = D3DKMT.EnumAdapters2()[1].hAdapter}.hDevice
    D3DKMT.DestroyDevice{hDevice = own}
    return a + b, coroutine.wrap(function() return dxgk.time() end)()
end, 3, 4)
local sum, time = child:wait()
same(sum, 7)
assert(time <= dxgk.time())
fails("it has been waited for", child.wait, child)
fails("no luck", child.wait, dxgk.process("child", function() error("no luck") end))
fails("function expected", dxgk.process, "child")
fails("string expected", dxgk.process)
local values = {dxgk.process("child", function() end):wait()}
same(#values, 0)
local many = {}
for i = 1, 20 do
    many[i] = dxgk.process("one of many", function()
        dxgk.sleep(1000 * (21 - i))
        return i
    end)
end
for i = 20, 1, -1 do
    same(many[i]:wait(), i)
end

-- ---- pages ----

same(#dxgk.physical(0x100000, 1), 1)
same(#dxgk.physical(0x100000, 4096), 4096)
same(#dxgk.physical(0, 1 << 24), 1 << 24)
local wrong = "1 to 2^24 bytes"
for _, bytes in ipairs{0, -1, (1 << 24) + 1} do
    fails(wrong, dxgk.physical, 0, bytes)
end
fails("no RAM at address 0x400000000000", dxgk.physical, 1 << 46, 4)
fails("no RAM at address 0x400000000000", dxgk.page, 1 << 46)
fails("no RAM at address 0xffffffffffffffff", dxgk.page, -1)
local page = dxgk.page(0x100000)
for _, name in ipairs{"owner", "cache", "locks", "iommu_maps"} do
    assert(page[name] ~= nil, name)
end

-- ---- adapters ----

local path = dxgk.device_interface()
same(dxgk.device_interface(1), path)
same(dxgk.device_interface(2), nil)
same(dxgk.device_interface(65535), nil)
for _, number in ipairs{0, -1, 65536} do
    fails("adapters are counted from 1", dxgk.device_interface, number)
end

-- ---- power ----

for _, reason in ipairs{"sleep", "hibernate", "shutdown", "idle", "hybrid sleep"} do
    for _, state in ipairs{"D3", "D2", "D1"} do
        dxgk.power(state, reason)
        same(dxgk.power(), state)
        dxgk.power("D0", reason)
        same(dxgk.power(), "D0")
    end
end
fails("invalid option 'D4'", dxgk.power, "D4")
fails("invalid option 'why'", dxgk.power, "D3", "why")
same(dxgk.power(), "D0")

-- ---- coroutines ----

local turn = coroutine.wrap(function(a)
    local b = coroutine.yield(a + 1)
    error("of a coroutine " .. b)
end)
same(turn(5), 6)
fails("of a coroutine 7", turn, 7)
fails("dead", turn)
fails("thread expected", coroutine.resume, 5)
fails("thread expected", coroutine.close)
fails("function expected", coroutine.wrap, 5)
local plain = coroutine.create(function(...) return select("#", ...), ... end)
local good, number, first, last = coroutine.resume(plain, "a", nil, "c")
assert(good and number == 3 and first == "a" and last == nil)
assert(coroutine.close(plain) and coroutine.status(plain) == "dead")

-- ---- rules and rows ----

local rules = {"LIFE-001", "LIFE-002", "LIFE-003", "LIFE-004", "LIFE-005", "LIFE-006", "LIFE-007", "LIFE-008", "LIFE-009", "LIFE-010",
    "LIFE-011", "LIFE-012", "LIFE-013", "LIFE-014", "LIFE-015", "LIFE-016", "LIFE-017"}
for i = 1, 16 do
    dxgk.expect(rules[i])
    dxgk.expect(rules[i]) -- is one
end
fails("too many expected rules", dxgk.expect, rules[17])
dxgk.expect(rules[16])
dxgk.progress(0.5)
fails("number expected", dxgk.progress)
for i = 1, 32 do
    dxgk.report("row " .. i, i == 1 and true or i == 2 and ("x"):rep(200) or i / 4)
end
fails("too many report rows", dxgk.report, "row 33", 1)
return true, "done"
