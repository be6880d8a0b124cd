-- SPDX-License-Identifier: MIT
-- Short packets on both engines, some at a time and some one by one, with memory that comes and goes: much of what a driver does
-- in little time, made for dxgkhost explore.
--
-- --set rounds=3, --set packets=12 (a round)

local refgpu = require "refgpu"

local rounds = math.tointeger(tonumber(dxgk.set.rounds or "3")) or error("--set rounds: not a number")
local packets = math.tointeger(tonumber(dxgk.set.packets or "12")) or error("--set packets: not a number")
local BYTES = 16384

local gpu = refgpu.open()
for round = 1, rounds do
    local memory = gpu:allocate(BYTES, refgpu.PHYSICAL | refgpu.CPU_VISIBLE, refgpu.IN_VRAM | refgpu.IN_APERTURE)
    gpu:make_resident{memory}
    for packet = 1, packets do
        gpu:render({refgpu.fill(refgpu.ref(0), BYTES, round << 16 | packet)}, {{allocation = memory, write = true}})
        if packet % 4 == 0 then
            gpu:submit_copy{refgpu.copy(gpu.ring.va + gpu.ring.bytes - 64, gpu.ring.va, 64)}
        elseif packet == 1 then
            gpu:submit_copy{} -- makes the ring
        end
    end
    gpu:wait(gpu:signal(gpu.copy))
    gpu:wait(gpu:signal(gpu.context2d.hContext))
    local value
    gpu:with_bytes(memory, function(bytes)
        value = bytes:u32(BYTES - 4)
    end)
    if value ~= round << 16 | packets then
        return false, string.format("round %d: the last packet was to write 0x%x, there is 0x%x", round, round << 16 | packets, value)
    end
    gpu:free(memory)
end
gpu:close()
return true
