-- SPDX-License-Identifier: MIT
-- Copies between two allocations, for a driver with a mistake in what it patches. What they copy is not looked at.
package.path = dxgk.set.modules .. "/?.lua;" .. package.path
local refgpu = require("refgpu")

local gpu = refgpu.open()
local from = gpu:allocate(0x40000, refgpu.PHYSICAL, refgpu.IN_VRAM)
local to = gpu:allocate(0x40000, refgpu.PHYSICAL, refgpu.IN_VRAM)
gpu:make_resident{from, to}
for packet = 1, 4 do
    gpu:render({refgpu.copy(refgpu.ref(0, 0x1000), refgpu.ref(1, 0x2000), 64)}, {{allocation = to, write = true}, {allocation = from}})
end
pcall(function() gpu:wait(gpu:signal(gpu.context2d.hContext)) end)
pcall(function() gpu:close() end)
return true
