-- SPDX-License-Identifier: MIT
-- The device is told to touch memory that it was not given. Behind an IOMMU that isolates, not one byte of RAM may change, the
-- fault is reported with its logical address, the guilty device is lost, and a new one works. Run it with
-- --iommu isolation and --iommu remap.
--
-- --set address=0x12345000 (where to write), --set bytes=64

local refgpu = require "refgpu"

local address = math.tointeger(tonumber(dxgk.set.address or "0x12345000")) or error("--set address: not a number")
local bytes = math.tointeger(tonumber(dxgk.set.bytes or "64")) or error("--set bytes: not a number")

dxgk.expect("IOMMU-072")

local gpu = refgpu.open()
local before = dxgk.physical(address, 4096)
gpu:render({refgpu.raw_write(address, bytes, 0xDEADBEEF)}, {})
local ok, why = pcall(function()
    gpu:wait(gpu:signal(gpu.context2d.hContext))
end)
local after = dxgk.physical(address, 4096)
local counters = dxgk.statistics()

if before ~= after then
    return false, "RAM changed"
end
if counters.iommu_faults == 0 then
    return false, "the IOMMU reported no fault"
end

-- The device that did it is lost: its submissions are refused from now on.
local state = D3DKMT.GetDeviceState{hDevice = gpu.device, StateType = 1}.ExecutionState
local again, refusal = pcall(gpu.render, gpu, {refgpu.fill(0, 0, 0)}, {})
dxgk.report("device state", state)
dxgk.report("next submission", again and "accepted" or tostring(refusal))
if again then
    return false, "the lost device still takes submissions"
end
pcall(gpu.close, gpu)

-- Another one works.
local other = refgpu.open()
local memory = other:allocate(4096, refgpu.PHYSICAL | refgpu.CPU_VISIBLE, refgpu.IN_VRAM | refgpu.IN_APERTURE)
other:make_resident{memory}
other:render({refgpu.fill(refgpu.ref(0), 4096, 0x600DF00D)}, {{allocation = memory, write = true}})
other:wait(other:signal(other.context2d.hContext))
local value
other:with_bytes(memory, function(b)
    value = b:u32(4092)
end)
other:free(memory)
other:close()
dxgk.report("faults", counters.iommu_faults)
dxgk.report("engine resets", dxgk.statistics().engine_resets)
if value ~= 0x600DF00D then
    return false, "the engine does not work after the recovery"
end
return true, "no byte of RAM changed"
