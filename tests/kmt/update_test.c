/* SPDX-License-Identifier: MIT */
/* Page-table updates in step with commands, to the end: what the reference GPU finds at the addresses. */
#include "host/support/refgpu_client.h"

#define PAGE 4096u

struct scene {
    struct gpu g;
    struct memory commands, pool;
    D3DKMT_HANDLE fence;
    D3DGPU_VIRTUAL_ADDRESS tiles;
    UINT64 value; /* of the fence, so far */
};

static NTSTATUS begin(struct scene *s, UINT segments)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DDDI_RESERVEGPUVIRTUALADDRESS reserve;
    NTSTATUS status;

    memset(s, 0, sizeof(*s));
    status = gpu_begin(&s->g);
    if (NT_SUCCESS(status))
        status = gpu_memory(&s->g, PAGE, REFGPU_ALLOCATION_CPU_VISIBLE, REFGPU_IN_APERTURE,
                            &s->commands);
    if (NT_SUCCESS(status))
        status = gpu_memory(&s->g, 16 * PAGE, REFGPU_ALLOCATION_CPU_VISIBLE, segments, &s->pool);
    if (NT_SUCCESS(status))
        status = gpu_create_fence(&s->g, &fence);
    s->fence = fence.hSyncObject;
    memset(&reserve, 0, sizeof(reserve));
    reserve.hAdapter = s->g.adapter;
    reserve.Size = 16 * PAGE;
    reserve.ReservationType = D3DDDIGPUVIRTUALADDRESS_RESERVE_NO_ACCESS;
    if (NT_SUCCESS(status))
        status = D3DKMTReserveGpuVirtualAddress(&reserve);
    s->tiles = reserve.VirtualAddress;
    return status;
}

/* Tile `tile` maps page `page` of the pool, when the fence has its present value. */
static NTSTATUS map_tile(struct scene *s, UINT tile, UINT page)
{
    D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION operation;
    D3DKMT_UPDATEGPUVIRTUALADDRESS args;

    memset(&operation, 0, sizeof(operation));
    operation.OperationType = D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP;
    operation.Map.BaseAddress = s->tiles + tile * PAGE;
    operation.Map.SizeInBytes = PAGE;
    operation.Map.hAllocation = s->pool.handle;
    operation.Map.AllocationOffsetInBytes = page * PAGE;
    memset(&args, 0, sizeof(args));
    args.hDevice = s->g.device;
    args.hContext = s->g.copy;
    args.hFenceObject = s->fence;
    args.NumOperations = 1;
    args.Operations = &operation;
    args.FenceValue = s->value;
    s->value++;
    return D3DKMTUpdateGpuVirtualAddress(&args);
}

/* Commands that write to a tile wait for the latest update. */
static NTSTATUS write_tile(struct scene *s, UINT tile, UINT64 value)
{
    struct refgpu_builder b;
    NTSTATUS status = gpu_wait(s->g.copy, s->fence, s->value);

    refgpu_builder_init(&b, s->commands.cpu, PAGE);
    refgpu_write(&b, s->tiles + tile * PAGE + 8, value, REFGPU_WRITE_64);
    if (NT_SUCCESS(status))
        status = gpu_submit(s->g.copy, s->commands.va, refgpu_builder_bytes(&b));
    return NT_SUCCESS(status) ? gpu_wait_idle(&s->g) : status;
}

static UINT64 in_pool(const struct scene *s, UINT page)
{
    UINT64 value;

    memcpy(&value, (const uint8_t *)s->pool.cpu + page * PAGE + 8, sizeof(value));
    return value;
}

static void tiles_of(struct client *c, UINT segments)
{
    struct scene s;

    TRY(c, begin(&s, segments) == STATUS_SUCCESS);
    SHOW(c, "GPUVA-123", map_tile(&s, 1, 3) == STATUS_SUCCESS);
    TRY(c, write_tile(&s, 1, 0x1111) == STATUS_SUCCESS);
    SHOW(c, "GPUVA-129", in_pool(&s, 3) == 0x1111 && in_pool(&s, 5) == 0);
    /* the tile moves on, while the other stays */
    TRY(c, map_tile(&s, 2, 3) == STATUS_SUCCESS && map_tile(&s, 1, 5) == STATUS_SUCCESS);
    TRY(c, write_tile(&s, 1, 0x2222) == STATUS_SUCCESS);
    SHOW(c, "GPUVA-122", in_pool(&s, 5) == 0x2222 && in_pool(&s, 3) == 0x1111);
    TRY(c, write_tile(&s, 2, 0x3333) == STATUS_SUCCESS);
    SHOW(c, "GPUVA-144", in_pool(&s, 3) == 0x3333 && in_pool(&s, 5) == 0x2222);
    TRY(c, gpu_end(&s.g) == STATUS_SUCCESS);
}

static void tiles_in_video_memory(struct client *c)
{
    tiles_of(c, REFGPU_IN_VRAM);
}

static void tiles_in_system_memory(struct client *c)
{
    tiles_of(c, REFGPU_IN_APERTURE);
}

TEST(tiles_are_where_the_gpu_looks)
{
    machine_test(DXGK_IOMMU_OFF, tiles_in_video_memory);
    machine_test(DXGK_IOMMU_OFF, tiles_in_system_memory);
    machine_test(DXGK_IOMMU_REMAP, tiles_in_system_memory);
}
