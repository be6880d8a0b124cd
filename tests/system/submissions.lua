-- SPDX-License-Identifier: MIT
-- Work of every kind, for a driver with a mistake in how it submits, reports, preempts or resets: packets one by one, packets of a context
-- that preempt those of another, and at last a command that never ends. What they compute is not looked at.
package.path = dxgk.set.modules .. "/?.lua;" .. package.path
local refgpu = require("refgpu")

local LONG <const>, SHORT <const> = 1 << 20, 4096

local function client(bytes, priority)
    local gpu = refgpu.open()
    local memory = gpu:allocate(bytes, refgpu.PHYSICAL, refgpu.IN_VRAM)
    gpu:make_resident{memory}
    D3DKMT.SetContextSchedulingPriority{hContext = gpu.context2d.hContext, Priority = priority}
    return {
        gpu = gpu,
        fill = function()
            gpu:render({refgpu.fill(refgpu.ref(0), bytes, 7)}, {{allocation = memory, write = true}})
        end,
        wait = function()
            gpu:wait(gpu:signal(gpu.context2d.hContext))
        end,
        close = function()
            gpu:free(memory)
            gpu:close()
        end,
    }
end

local function work()
    local low, high = client(LONG, 0), client(SHORT, 3)
    for _ = 1, 3 do
        high.fill()
        high.wait()
    end
    for _ = 1, 3 do
        for _ = 1, 3 do
            low.fill()
        end
        high.fill()
        high.wait()
    end
    low.wait()
    high.close()
    low.close()
end

local function hang()
    local gpu = refgpu.open()
    gpu:render({refgpu.hang()}, {})
    pcall(gpu.wait, gpu, gpu:signal(gpu.context2d.hContext))
    pcall(gpu.close, gpu)
end

pcall(work)
pcall(hang)
pcall(work)
return true
