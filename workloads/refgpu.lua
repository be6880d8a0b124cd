-- SPDX-License-Identifier: MIT
-- A small user-mode driver for RefGPU in Lua: private data, command streams, and the objects a workload works with.
-- Numbers are those of docs/refgpu.md ("Client interface").

local refgpu = {}

local MAGIC = 0x444D5552

refgpu.NODE_2D, refgpu.NODE_COPY, refgpu.NODE_SCHEDULED = 0, 1, 2
refgpu.CPU_VISIBLE, refgpu.PHYSICAL, refgpu.CACHED, refgpu.PREFER_SYSTEM = 0x1, 0x2, 0x4, 0x8
refgpu.PRIMARY = 0x200
refgpu.IN_VRAM, refgpu.IN_APERTURE = 0x1, 0x2

local OP = {
    WRITE = 0x01, WAIT = 0x02, HANG = 0x03, FILL = 0x10, FILL_RECT = 0x11, COPY = 0x12, COPY_RECT = 0x13,
    SCALE = 0x14, BLEND = 0x15, CONVOLVE = 0x16, RAW_ACCESS = 0x20,
}

-- An address operand for D3DKMTRender: element of the allocation list (from 0) and byte offset.
function refgpu.ref(index, offset)
    return index << 48 | (offset or 0)
end

-- ---- command streams: each function gives the bytes of one command ----

local function command(opcode, flags, dwords, format, ...)
    local bytes = string.pack("<I4" .. format, opcode | flags << 8 | dwords << 16, ...)
    assert(#bytes == dwords * 4)
    return bytes
end

function refgpu.fill_rect(dst, pitch, width, height, pattern)
    return command(OP.FILL_RECT, 0, 7, "I8I4I4I4I4", dst, pitch, width, height, pattern)
end

function refgpu.fill(dst, bytes, pattern)
    return command(OP.FILL, 0, 6, "I8I8I4", dst, bytes, pattern)
end

function refgpu.copy(dst, src, bytes)
    return command(OP.COPY, 0, 7, "I8I8I8", dst, src, bytes)
end

function refgpu.copy_rect(dst, dst_pitch, src, src_pitch, row_bytes, rows)
    return command(OP.COPY_RECT, 0, 9, "I8I4I8I4I4I4", dst, dst_pitch, src, src_pitch, row_bytes, rows)
end

function refgpu.scale(dst, dst_pitch, dst_width, dst_height, src, src_pitch, src_width, src_height)
    return command(OP.SCALE, 0, 11, "I8I4I4I4I8I4I4I4", dst, dst_pitch, dst_width, dst_height, src, src_pitch, src_width, src_height)
end

function refgpu.blend(dst, dst_pitch, src, src_pitch, width, height, alpha, straight)
    return command(OP.BLEND, straight and 0x10 or 0, 10, "I8I4I8I4I4I4I4", dst, dst_pitch, src, src_pitch, width, height, alpha)
end

function refgpu.convolve(dst, dst_pitch, src, src_pitch, width, height, k, keep_alpha)
    return command(OP.CONVOLVE, keep_alpha and 0x10 or 0, 14, "I8I4I8I4I4I4i2i2i2i2i2i2i2i2i2i2", dst, dst_pitch, src, src_pitch,
        width, height, k[1], k[2], k[3], k[4], k[5], k[6], k[7], k[8], k[9], 0)
end

-- 64-bit semaphore write and wait (at least `value`)
function refgpu.write64(address, value)
    return command(OP.WRITE, 0x10, 5, "I8I8", address, value)
end

function refgpu.wait64(address, value)
    return command(OP.WAIT, 0x10, 5, "I8I8", address, value)
end

function refgpu.hang()
    return command(OP.HANG, 0, 1, "")
end

-- Engine 0 touches a raw bus address: what an IOMMU is there to stop.
function refgpu.raw_write(bus_address, bytes, pattern)
    return command(OP.RAW_ACCESS, 0x10, 8, "I8I4I4I8I4", bus_address, bytes, pattern, 0, 0)
end

function refgpu.raw_read(bus_address, bytes, dst)
    return command(OP.RAW_ACCESS, 0, 8, "I8I4I4I8I4", bus_address, bytes, 0, dst, 0)
end

-- ---- a device with one context on each engine ----
--
-- On an adapter with a node that the hardware schedules (setting HardwareScheduling of the miniport), the copy context is one of that
-- node, with a queue; what has its handle here, and is called so in this file, is then the queue.

local Device = {}
Device.__index = Device

-- A queue of a hardware context, or of a new one: a table with the members of CreateHwQueue, and `id`, that of the command submitted
-- last.
function Device:hardware_queue(context)
    if not context then
        context = D3DKMT.CreateHwContext{hDevice = self.device, NodeOrdinal = refgpu.NODE_SCHEDULED, EngineAffinity = 1}.hHwContext
    end
    local queue = D3DKMT.CreateHwQueue{hHwContext = context}
    queue.id, queue.hHwContext = 0, context
    self.queues[queue.hHwQueue] = queue
    return queue
end

function refgpu.open()
    local adapters = D3DKMT.EnumAdapters2()
    if #adapters == 0 then
        error("no adapter")
    end
    local self = setmetatable({adapter = adapters[1].hAdapter}, Device)
    local info = D3DKMT.QueryAdapterInfo{hAdapter = self.adapter, Type = 0, pPrivateDriverData = string.rep("\0", 40)}
    local magic
    magic, self.version, self.device_version, self.nodes, self.vram, self.aperture, self.remapped =
        string.unpack("<I4I4I4I4I8I8I4", info.pPrivateDriverData)
    if magic ~= MAGIC then
        error("the adapter is no RefGPU")
    end
    self.device = D3DKMT.CreateDevice{hAdapter = self.adapter}.hDevice
    self.queue = D3DKMT.CreatePagingQueue{hDevice = self.device}
    self.context2d = D3DKMT.CreateContext{hDevice = self.device, NodeOrdinal = refgpu.NODE_2D, EngineAffinity = 1}
    self.queues = {}
    if self.nodes > refgpu.NODE_SCHEDULED then
        self.scheduled = self:hardware_queue()
        self.copy = self.scheduled.hHwQueue
    else
        self.copy = D3DKMT.CreateContextVirtual{hDevice = self.device, NodeOrdinal = refgpu.NODE_COPY, EngineAffinity = 1}.hContext
    end
    self.fence = D3DKMT.CreateSynchronizationObject2{hDevice = self.device, Type = 5}
    self.value = 0
    return self
end

-- An allocation of `bytes`; flags: sum of CPU_VISIBLE, PHYSICAL, ...; segments: where it may live.
function Device:allocate(bytes, flags, segments)
    local data = string.pack("<I4I4I8I4I4I4I4I4I4", MAGIC, flags, bytes, 0, segments or 0, 0, 0, 0, 0)
    local made = D3DKMT.CreateAllocation2{hDevice = self.device, pAllocationInfo = {{pPrivateDriverData = data}}}
    return {handle = made.pAllocationInfo[1].hAllocation, bytes = bytes}
end

-- Pixels of 32 bits that presents can copy; with a source, what that source can show.
function Device:surface(width, height, source)
    local pitch = (width * 4 + 63) // 64 * 64
    local flags = refgpu.CPU_VISIBLE | refgpu.PHYSICAL | (source and refgpu.PRIMARY or 0)
    local data = string.pack("<I4I4I8I4I4I4I4I4I4", MAGIC, flags, pitch * height, 0, refgpu.IN_VRAM, 0, width, height, pitch)
    local made = D3DKMT.CreateAllocation2{hDevice = self.device,
        pAllocationInfo = {{pPrivateDriverData = data, Flags = source and 1 or 0, VidPnSourceId = source or 0}}}
    local surface = {handle = made.pAllocationInfo[1].hAllocation, bytes = pitch * height, width = width, height = height, pitch = pitch}
    self:make_resident{surface}
    return surface
end

function Device:free(allocation)
    D3DKMT.DestroyAllocation2{hDevice = self.device, phAllocationList = {allocation.handle}}
end

-- Make allocations resident, wait until they are.
function Device:make_resident(list)
    local handles = {}
    for i, a in ipairs(list) do
        handles[i] = a.handle
    end
    local r = D3DKMT.MakeResident{hPagingQueue = self.queue.hPagingQueue, AllocationList = handles}
    self:wait_paging(r.PagingFenceValue)
end

function Device:evict(list)
    local handles = {}
    for i, a in ipairs(list) do
        handles[i] = a.handle
    end
    D3DKMT.Evict{hDevice = self.device, AllocationList = handles}
end

function Device:wait_paging(value)
    if value ~= 0 then
        D3DKMT.WaitForSynchronizationObjectFromCpu{hDevice = self.device, ObjectHandleArray = {self.queue.hSyncObject}, FenceValueArray = {value}}
    end
end

-- Give the allocation an address in the process's GPU virtual address space.
function Device:map(allocation)
    local r = D3DKMT.MapGpuVirtualAddress{hPagingQueue = self.queue.hPagingQueue, hAllocation = allocation.handle,
        SizeInPages = (allocation.bytes + 4095) // 4096, Protection = 1}
    allocation.va = r.VirtualAddress
    return r.PagingFenceValue
end

function Device:unmap(allocation)
    D3DKMT.FreeGpuVirtualAddress{hAdapter = self.adapter, BaseAddress = allocation.va, Size = (allocation.bytes + 4095) // 4096 * 4096}
    allocation.va = nil
end

-- f(buffer) with the bytes of a CPU-visible allocation
function Device:with_bytes(allocation, f)
    local lock = D3DKMT.Lock2{hDevice = self.device, hAllocation = allocation.handle, Size = allocation.bytes}
    f(lock.pData)
    D3DKMT.Unlock2{hDevice = self.device, hAllocation = allocation.handle}
end

-- Commands for the 2D engine; `list` holds the allocations that refgpu.ref() names, written ones marked by write = true.
function Device:render(commands, list)
    local c = self.context2d
    local bytes = table.concat(commands)
    c.pCommandBuffer:write(0, bytes)
    for i, entry in ipairs(list) do
        c.pAllocationList:u32((i - 1) * 8, entry.allocation.handle)
        c.pAllocationList:u32((i - 1) * 8 + 4, entry.write and 1 or 0)
    end
    local r = D3DKMT.Render{hContext = c.hContext, CommandLength = #bytes, AllocationCount = #list}
    c.pCommandBuffer, c.pAllocationList = r.pCommandBuffer, r.pAllocationList
end

-- Room in the command buffer of the 2D context.
function Device:render_room()
    return self.context2d.pCommandBuffer:bytes(), self.context2d.pAllocationList:bytes() // 8
end

-- Commands for the copy engine, out of a buffer that the CPU writes and the engine reads at its GPU virtual address.
function Device:submit_copy(commands)
    local bytes = table.concat(commands)
    if not self.ring then
        self.ring = self:allocate(1 << 18, refgpu.CPU_VISIBLE, refgpu.IN_APERTURE)
        self:make_resident{self.ring}
        self:wait_paging(self:map(self.ring))
        self.ring_at = 0
        self.ring_bytes = D3DKMT.Lock2{hDevice = self.device, hAllocation = self.ring.handle, Size = self.ring.bytes}.pData
    end
    if self.ring_at + #bytes > self.ring.bytes then
        self:wait(self:signal(self.copy)) -- all that stands in the ring has been read
        self.ring_at = 0
    end
    self.ring_bytes:write(self.ring_at, bytes)
    self:submit(self.copy, self.ring.va + self.ring_at, #bytes)
    self.ring_at = self.ring_at + (#bytes + 63) // 64 * 64
end

-- Commands that lie at a GPU virtual address, for a virtual context or a hardware queue.
function Device:submit(context, address, bytes)
    local queue = self.queues[context]
    if queue then
        queue.id = queue.id + 1
        D3DKMT.SubmitCommandToHwQueue{hHwQueue = context, HwQueueProgressFenceId = queue.id, CommandBuffer = address, CommandLength = bytes}
    else
        D3DKMT.SubmitCommand{Commands = address, CommandLength = bytes, BroadcastContext = {context}}
    end
end

-- Signal the fence from a context or a hardware queue; returns the value it will have.
function Device:signal(context)
    self.value = self.value + 1
    if self.queues[context] then
        D3DKMT.SubmitSignalSyncObjectsToHwQueue{BroadcastHwQueueArray = {context}, ObjectHandleArray = {self.fence.hSyncObject},
            FenceValueArray = {self.value}}
        return self.value
    end
    D3DKMT.SignalSynchronizationObjectFromGpu{hContext = context, ObjectHandleArray = {self.fence.hSyncObject}, MonitoredFenceValueArray = {self.value}}
    return self.value
end

-- One engine waits for a value on its own timeline, or the CPU does.
function Device:wait_on(context, value)
    if self.queues[context] then
        D3DKMT.SubmitWaitForSyncObjectsToHwQueue{hHwQueue = context, ObjectHandleArray = {self.fence.hSyncObject}, FenceValueArray = {value}}
        return
    end
    D3DKMT.WaitForSynchronizationObjectFromGpu{hContext = context, ObjectHandleArray = {self.fence.hSyncObject}, MonitoredFenceValueArray = {value}}
end

function Device:wait(value)
    D3DKMT.WaitForSynchronizationObjectFromCpu{hDevice = self.device, ObjectHandleArray = {self.fence.hSyncObject}, FenceValueArray = {value}}
end

function Device:close()
    if self.ring then
        D3DKMT.Unlock2{hDevice = self.device, hAllocation = self.ring.handle}
        self:free(self.ring)
    end
    D3DKMT.DestroySynchronizationObject{hSyncObject = self.fence.hSyncObject}
    D3DKMT.DestroyContext{hContext = self.context2d.hContext}
    if self.scheduled then
        for handle in pairs(self.queues) do
            D3DKMT.DestroyHwQueue{hHwQueue = handle}
        end
        D3DKMT.DestroyHwContext{hHwContext = self.scheduled.hHwContext}
    else
        D3DKMT.DestroyContext{hContext = self.copy}
    end
    D3DKMT.DestroyPagingQueue{hPagingQueue = self.queue.hPagingQueue}
    D3DKMT.DestroyDevice{hDevice = self.device}
    D3DKMT.CloseAdapter{hAdapter = self.adapter}
end

return refgpu
