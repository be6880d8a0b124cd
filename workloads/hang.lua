-- SPDX-License-Identifier: MIT
-- A command that never ends: the scheduler asks for preemption, gets no answer within TdrDelay (2 s of virtual time), resets the
-- engine, and marks the device that hung it. Work of others goes on.

local refgpu = require "refgpu"

local gpu, other = refgpu.open(), refgpu.open()
local start = dxgk.time()
gpu:render({refgpu.hang()}, {})
pcall(function()
    gpu:wait(gpu:signal(gpu.context2d.hContext))
end)
local took = (dxgk.time() - start) / 1e9
local memory = other:allocate(4096, refgpu.PHYSICAL | refgpu.CPU_VISIBLE, refgpu.IN_VRAM | refgpu.IN_APERTURE)
other:make_resident{memory}
other:render({refgpu.fill(refgpu.ref(0), 4096, 0x600DF00D)}, {{allocation = memory, write = true}})
other:wait(other:signal(other.context2d.hContext))
local value
other:with_bytes(memory, function(b)
    value = b:u32(0)
end)
local counters = dxgk.statistics()
local state = D3DKMT.GetDeviceState{hDevice = gpu.device, StateType = 1}.ExecutionState
other:free(memory)
other:close()
pcall(gpu.close, gpu)
dxgk.report("noticed after", ("%.3f s of virtual time"):format(took))
dxgk.report("engine resets", counters.engine_resets)
dxgk.report("device state", state)
if counters.engine_resets + counters.adapter_resets == 0 then
    return false, "nothing was reset"
end
if value ~= 0x600DF00D then
    return false, "the engine does not work after the reset"
end
return true
