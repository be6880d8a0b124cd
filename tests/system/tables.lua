-- SPDX-License-Identifier: MIT
-- Mappings on which the drivers of tests/drivers/tables make their mistakes: 24 pages that come, are read by the GPU, and go.
package.path = dxgk.directory .. "/../../workloads/?.lua;" .. package.path
local refgpu = require("refgpu")

local PAGES = 24
local gpu = refgpu.open()

local function victim(protection)
    local memory = gpu:allocate(PAGES * 4096, 0, refgpu.IN_VRAM)
    gpu:make_resident{memory}
    local r = D3DKMT.MapGpuVirtualAddress{hPagingQueue = gpu.queue.hPagingQueue, hAllocation = memory.handle, SizeInPages = PAGES,
        Protection = protection}
    memory.va = r.VirtualAddress
    gpu:wait_paging(r.PagingFenceValue)
    dxgk.sleep(1000000)
    return memory
end

-- A driver's mistake may cost the device.
pcall(function()
    local to = gpu:allocate(65536, refgpu.CPU_VISIBLE, refgpu.IN_APERTURE)
    gpu:make_resident{to}
    gpu:wait_paging(gpu:map(to))
    local first, second = victim(1), victim(0)
    gpu:submit_copy{refgpu.copy(to.va, first.va, 4096)}
    gpu:wait(gpu:signal(gpu.copy))
    gpu:unmap(first)
    dxgk.sleep(1000000)
    gpu:submit_copy{refgpu.copy(to.va, second.va, 4096)}
    gpu:wait(gpu:signal(gpu.copy))
    victim(1)
end)
