/* SPDX-License-Identifier: MIT */
/* New content is zero, for CPU and GPU, also where other content was before. */
#include "host/support/refgpu_client.h"

#define BYTES 65536u

static NTSTATUS create(const struct gpu *g, UINT flags, UINT segments, bool zeroed, struct memory *m)
{
    struct refgpu_allocation_data data;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;
    NTSTATUS status;

    memset(m, 0, sizeof(*m));
    memset(&data, 0, sizeof(data));
    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    data.magic = REFGPU_UMD_MAGIC;
    data.flags = flags;
    data.bytes = BYTES;
    data.segments = segments;
    info.pPrivateDriverData = &data;
    info.PrivateDriverDataSize = sizeof(data);
    args.hDevice = g->device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    args.Flags.Zeroed = zeroed;
    status = D3DKMTCreateAllocation2(&args);
    m->handle = info.hAllocation;
    m->bytes = BYTES;
    return status;
}

static bool is_all(const void *memory, uint8_t byte)
{
    const uint8_t *bytes = memory;

    for (UINT i = 0; i < BYTES; i++)
        if (bytes[i] != byte)
            return false;
    return true;
}

/* Content, and then its frames or its place in the segment are free again. */
static void dirty(struct client *c, const struct gpu *g, UINT segments, bool resident)
{
    struct memory m[8];

    for (unsigned i = 0; i < 8; i++) {
        TRY(c, create(g, REFGPU_ALLOCATION_CPU_VISIBLE, segments, false, &m[i]) == STATUS_SUCCESS);
        TRY(c, !resident || gpu_make_resident(g, m[i].handle) == STATUS_SUCCESS);
        TRY(c, gpu_lock(g, &m[i]) == STATUS_SUCCESS);
        memset(m[i].cpu, 0xEE, BYTES);
        TRY(c, gpu_unlock(g, &m[i]) == STATUS_SUCCESS);
    }
    for (unsigned i = 0; i < 8; i++)
        TRY(c, gpu_destroy_memory(g, &m[i]) == STATUS_SUCCESS);
    dxgk_client_sleep(10000000);
}

/* The CPU sees system memory before the allocation is resident, and the segment after. */
static void look_by_cpu(struct client *c, const struct gpu *g, UINT segments, bool resident,
                        bool zeroed)
{
    struct memory m;

    dirty(c, g, segments, resident);
    TRY(c, create(g, REFGPU_ALLOCATION_CPU_VISIBLE, segments, zeroed, &m) == STATUS_SUCCESS);
    TRY(c, !resident || gpu_make_resident(g, m.handle) == STATUS_SUCCESS);
    TRY(c, gpu_lock(g, &m) == STATUS_SUCCESS);
    SHOW(c, zeroed ? "KMT-215/a" : "KMT-216", is_all(m.cpu, 0));
    TRY(c, gpu_unlock(g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_destroy_memory(g, &m) == STATUS_SUCCESS);
}

TEST_WITH(client, the_cpu_finds_zeros)
{
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    for (unsigned zeroed = 0; zeroed < 2; zeroed++) {
        look_by_cpu(c, &g, REFGPU_IN_APERTURE, false, zeroed);
        look_by_cpu(c, &g, REFGPU_IN_APERTURE, true, zeroed);
        look_by_cpu(c, &g, REFGPU_IN_VRAM, false, zeroed);
        look_by_cpu(c, &g, REFGPU_IN_VRAM, true, zeroed);
    }
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}

/* The GPU copies what it finds. */
static void look_by_gpu(struct client *c, const struct gpu *g, UINT segments)
{
    struct refgpu_builder b;
    struct memory m, copy, commands;

    dirty(c, g, segments, true);
    TRY(c, create(g, 0, segments, true, &m) == STATUS_SUCCESS);
    TRY(c, gpu_make_resident(g, m.handle) == STATUS_SUCCESS && gpu_map(g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_memory(g, BYTES, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &copy) == STATUS_SUCCESS);
    TRY(c, gpu_memory(g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &commands) == STATUS_SUCCESS);
    memset(copy.cpu, 0x77, BYTES);
    refgpu_builder_init(&b, commands.cpu, 4096);
    refgpu_copy(&b, copy.va, m.va, BYTES);
    TRY(c, gpu_submit(g->copy, commands.va, refgpu_builder_bytes(&b)) == STATUS_SUCCESS);
    TRY(c, gpu_wait_idle(g) == STATUS_SUCCESS);
    SHOW(c, "KMT-215/b", is_all(copy.cpu, 0));
}

TEST_WITH(client, the_gpu_finds_zeros)
{
    struct gpu g;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS);
    look_by_gpu(c, &g, REFGPU_IN_VRAM);
    look_by_gpu(c, &g, REFGPU_IN_APERTURE);
    TRY(c, gpu_end(&g) == STATUS_SUCCESS);
}
