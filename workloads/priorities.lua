-- SPDX-License-Identifier: MIT
-- A context of higher priority among long packets of another one: its packets preempt them, again and again.
local refgpu = require "refgpu"

local LONG, SHORT, ROUNDS = 1 << 20, 4096, 30

local function client(bytes, priority)
    local gpu = refgpu.open()
    local memory = gpu:allocate(bytes, refgpu.PHYSICAL | refgpu.CPU_VISIBLE, refgpu.IN_VRAM)
    gpu:make_resident{memory}
    D3DKMT.SetContextSchedulingPriority{hContext = gpu.context2d.hContext, Priority = priority}
    return function(pattern)
        gpu:render({refgpu.fill(refgpu.ref(0), bytes, pattern)}, {{allocation = memory, write = true}})
    end, gpu, memory
end

local long, low, low_memory = client(LONG, 0)
local short, high, high_memory = client(SHORT, 3)
for round = 1, ROUNDS do
    for _ = 1, 3 do
        long(round)
    end
    short(round)
    high:wait(high:signal(high.context2d.hContext))
end
low:wait(low:signal(low.context2d.hContext))
low:free(low_memory)
high:free(high_memory)
low:close()
high:close()
return true
