/* SPDX-License-Identifier: MIT */
/* What Windows was recorded to answer about resources that are shared by global handles
 * (docs/client-answers.md). */
#include "support/recorded.h"

static const char runtime_data[4] = {7, 8, 9, 10};

/* A shared resource that wraps a heap. */
static NTSTATUS share(struct heap *h)
{
    h->args.Flags.CreateResource = h->args.Flags.CreateShared = 1;
    h->args.pPrivateRuntimeData = runtime_data;
    h->args.PrivateRuntimeDataSize = sizeof(runtime_data);
    return heap_create(h);
}

/* An open of a resource with one allocation, and what it fills. */
struct open {
    D3DKMT_OPENRESOURCE args;
    D3DDDI_OPENALLOCATIONINFO info;
    D3DDDI_OPENALLOCATIONINFO2 info2;
    uint8_t runtime[64], resource[64], total[1024], own[64];
};

static void open_init(struct open *o, const struct gpu *g, D3DKMT_HANDLE global)
{
    memset(o, 0x77, sizeof(*o));
    memset(&o->args, 0, sizeof(o->args));
    o->args.hDevice = g->device;
    o->args.hGlobalShare = global;
    o->args.NumAllocations = 1;
    o->args.pOpenAllocationInfo = &o->info;
    o->args.pPrivateRuntimeData = o->runtime;
    o->args.PrivateRuntimeDataSize = sizeof(runtime_data);
    o->args.pResourcePrivateDriverData = o->resource;
    o->args.pTotalPrivateDriverDataBuffer = o->total;
    o->args.TotalPrivateDriverDataBufferSize = sizeof(o->total);
    o->info.pPrivateDriverData = o->own;
    o->info.PrivateDriverDataSize = sizeof(o->own);
    o->args.hResource = NONSENSE;
}

TEST_WITH(client, only_global_handles_are_asked_about_and_opened)
{
    D3DKMT_QUERYRESOURCEINFO query;
    D3DKMT_HANDLE last;
    struct gpu g;
    struct heap h;
    struct open o;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g));
    h.args.Flags.CreateResource = 1;
    TRY(c, heap_create(&h) == STATUS_SUCCESS);
    memset(&query, 0, sizeof(query));
    query.hDevice = g.device;
    query.hGlobalShare = h.args.hResource;
    SHOW(c, "KMT-029", D3DKMTQueryResourceInfo(&query) == STATUS_INVALID_PARAMETER);
    open_init(&o, &g, h.args.hResource);
    SHOW(c, "KMT-029", D3DKMTOpenResource(&o.args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "KMT-008", o.args.hResource == NONSENSE);
    TRY(c, resource_destroy(&g, h.args.hResource) == STATUS_SUCCESS && device_end(&g));
}

TEST_WITH(client, a_query_tells_sizes_and_copies_nothing)
{
    D3DKMT_QUERYRESOURCEINFO query;
    D3DKMT_HANDLE last;
    uint8_t buffer[64];
    struct gpu g;
    struct heap h;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g));
    SHOW(c, "KMT-193", share(&h) == STATUS_SUCCESS && is_global(h.args.hGlobalShare));
    SHOW(c, "KMT-028", is_next_local(h.args.hResource, &last));
    SHOW(c, "KMT-028", is_next_local(h.info[0].hAllocation, &last));
    memset(&query, 0, sizeof(query));
    memset(buffer, 0x77, sizeof(buffer));
    query.hDevice = g.device;
    query.hGlobalShare = h.args.hGlobalShare;
    query.pPrivateRuntimeData = buffer;
    query.PrivateRuntimeDataSize = sizeof(buffer);
    SHOW(c, "KMT-226", D3DKMTQueryResourceInfo(&query) == STATUS_SUCCESS);
    SHOW(c, "KMT-227", query.PrivateRuntimeDataSize == sizeof(runtime_data) && buffer[0] == 0x77);
    SHOW(c, "KMT-226",
         query.TotalPrivateDriverDataSize > 0 && query.TotalPrivateDriverDataSize < 1024);
    SHOW(c, "KMT-226", query.ResourcePrivateDriverDataSize == 0 && query.NumAllocations == 1);
    query.PrivateRuntimeDataSize = 1; /* the capacity is not looked at */
    SHOW(c, "KMT-229",
         D3DKMTQueryResourceInfo(&query) == STATUS_SUCCESS && query.PrivateRuntimeDataSize == 4);
    query.hDevice = 0;
    SHOW(c, "KMT-226", D3DKMTQueryResourceInfo(&query) == STATUS_INVALID_PARAMETER);
    TRY(c, resource_destroy(&g, h.args.hResource) == STATUS_SUCCESS);
    query.hDevice = g.device;
    SHOW(c, "KMT-224", D3DKMTQueryResourceInfo(&query) == STATUS_INVALID_PARAMETER);
    TRY(c, device_end(&g));
}

TEST_WITH(client, an_open_fills_all_buffers)
{
    D3DKMT_HANDLE last;
    struct gpu g;
    struct heap h;
    struct open o;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g) && share(&h) == STATUS_SUCCESS);
    last = h.info[0].hAllocation;
    open_init(&o, &g, h.args.hGlobalShare);
    SHOW(c, "KMT-231", D3DKMTOpenResource(&o.args) == STATUS_SUCCESS);
    SHOW(c, "KMT-231", o.args.hGlobalShare == h.args.hGlobalShare && o.args.NumAllocations == 1);
    SHOW(c, "KMT-028", is_next_local(o.args.hResource, &last));
    SHOW(c, "KMT-028", is_next_local(o.info.hAllocation, &last));
    SHOW(c, "KMT-235", o.args.PrivateRuntimeDataSize == sizeof(runtime_data));
    SHOW(c, "KMT-235", memcmp(o.runtime, runtime_data, sizeof(runtime_data)) == 0);
    SHOW(c, "KMT-235", o.runtime[4] == 0x77 && o.resource[0] == 0x77);
    SHOW(c, "KMT-235", o.args.ResourcePrivateDriverDataSize == 0);
    SHOW(c, "KMT-234",
         o.args.TotalPrivateDriverDataBufferSize == sizeof(struct refgpu_allocation_data) &&
             o.total[0] != 0x77);
    SHOW(c, "KMT-232",
         o.info.PrivateDriverDataSize == sizeof(struct refgpu_allocation_data) &&
             o.info.pPrivateDriverData == o.total && o.own[0] == 0x77);
    SHOW(c, "KMT-490",
         ((struct refgpu_allocation_data *)o.info.pPrivateDriverData)->bytes == HEAP_BYTES);
    TRY(c, resource_destroy(&g, o.args.hResource) == STATUS_SUCCESS);
    /* the second form */
    open_init(&o, &g, h.args.hGlobalShare);
    o.args.pOpenAllocationInfo2 = &o.info2;
    SHOW(c, "KMT-236", D3DKMTOpenResource2(&o.args) == STATUS_SUCCESS);
    SHOW(c, "KMT-028", is_next_local(o.args.hResource, &last));
    SHOW(c, "KMT-028", is_next_local(o.info2.hAllocation, &last));
    SHOW(c, "KMT-236",
         o.info2.PrivateDriverDataSize == sizeof(struct refgpu_allocation_data) &&
             o.info2.GpuVirtualAddress == 0 && o.args.PrivateRuntimeDataSize == 4);
    TRY(c, resource_destroy(&g, o.args.hResource) == STATUS_SUCCESS);
    TRY(c, resource_destroy(&g, h.args.hResource) == STATUS_SUCCESS && device_end(&g));
}

TEST_WITH(client, an_open_has_exact_sizes)
{
    D3DKMT_HANDLE last;
    struct gpu g;
    struct heap h;
    struct open o;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g) && share(&h) == STATUS_SUCCESS);
#define REFUSED(rule, change)                                                   \
    do {                                                                        \
        open_init(&o, &g, h.args.hGlobalShare);                                 \
        change;                                                                 \
        SHOW(c, rule, D3DKMTOpenResource(&o.args) == STATUS_INVALID_PARAMETER); \
        TRY(c, o.args.hResource == NONSENSE && o.total[0] == 0x77);             \
    } while (0)
    REFUSED("ALLOC-081", o.args.NumAllocations = 0);
    REFUSED("ALLOC-081", o.args.NumAllocations = 2);
    REFUSED("KMT-006", o.args.pOpenAllocationInfo = NULL);
    REFUSED("ALLOC-081", o.args.PrivateRuntimeDataSize++);
    REFUSED("ALLOC-081", o.args.PrivateRuntimeDataSize--);
    REFUSED("ALLOC-081", o.args.ResourcePrivateDriverDataSize++);
    REFUSED("KMT-006", o.args.pPrivateRuntimeData = NULL);
    REFUSED("KMT-006", o.args.pTotalPrivateDriverDataBuffer = NULL);
    REFUSED("ALLOC-081",
            o.args.TotalPrivateDriverDataBufferSize = sizeof(struct refgpu_allocation_data) - 1);
    REFUSED("KMT-026", o.args.hDevice = g.adapter);
#undef REFUSED
    open_init(&o, &g, h.args.hGlobalShare);
    o.args.TotalPrivateDriverDataBufferSize = sizeof(struct refgpu_allocation_data);
    SHOW(c, "ALLOC-081", D3DKMTOpenResource(&o.args) == STATUS_SUCCESS);
    TRY(c, device_end(&g));
}

/* The resource that its creator has destroyed is alive where it is open. */
TEST_WITH(client, a_shared_resource_lives_until_its_last_open)
{
    D3DKMT_GETSHAREDRESOURCEADAPTERLUID where = {0};
    D3DKMT_HANDLE last;
    struct gpu g, other;
    struct heap h;
    struct memory m;
    struct open o;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g) && share(&h) == STATUS_SUCCESS);
    *(char *)(uintptr_t)h.info[0].pSystemMem = 0x44;
    where.hGlobalShare = h.args.hGlobalShare;
    SHOW(c, "KMT-255", D3DKMTGetSharedResourceAdapterLuid(&where) == STATUS_SUCCESS);
    SHOW(c, "KMT-255", where.AdapterLuid.LowPart != 0);
    where.hNtHandle = (HANDLE)(uintptr_t)4;
    SHOW(c, "KMT-256", D3DKMTGetSharedResourceAdapterLuid(&where) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_begin(&other) == STATUS_SUCCESS);
    open_init(&o, &other, h.args.hGlobalShare);
    TRY(c, D3DKMTOpenResource(&o.args) == STATUS_SUCCESS);
    TRY(c, gpu_destroy_device(&g) == STATUS_SUCCESS);
    m.handle = o.info.hAllocation;
    m.bytes = HEAP_BYTES;
    SHOW(c, "KMT-240",
         gpu_make_resident(&other, m.handle) == STATUS_SUCCESS &&
             gpu_map(&other, &m) == STATUS_SUCCESS && gpu_lock(&other, &m) == STATUS_SUCCESS);
    SHOW(c, "KMT-240", *(char *)m.cpu == 0x44);
    SHOW(c, "KMT-202", !dxgk_client_free((void *)(uintptr_t)h.info[0].pSystemMem));
    TRY(c, resource_destroy(&other, o.args.hResource) == STATUS_SUCCESS);
    TRY(c, gpu_wait_idle(&other) == STATUS_SUCCESS && gpu_end(&other) == STATUS_SUCCESS);
    SHOW(c, "KMT-240", dxgk_client_free((void *)(uintptr_t)h.info[0].pSystemMem));
    open_init(&o, &g, h.args.hGlobalShare);
    SHOW(c, "KMT-224", D3DKMTOpenResource(&o.args) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_close_adapter(&g) == STATUS_SUCCESS);
}

/* The memory goes when the GPU is done, but nobody opens it meanwhile. */
TEST_WITH(client, a_resource_that_waits_for_the_gpu_is_gone)
{
    D3DKMT_QUERYRESOURCEINFO query;
    struct gpu g;
    struct heap h;
    struct memory m;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && heap_init(&h, &g) && share(&h) == STATUS_SUCCESS);
    TRY(c, gpu_memory(&g, 4096, REFGPU_ALLOCATION_CPU_VISIBLE, 0, &m) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 4; i++)
        TRY(c, gpu_submit(g.copy, m.va, 0) == STATUS_SUCCESS);
    TRY(c, resource_destroy(&g, h.args.hResource) == STATUS_SUCCESS);
    SHOW(c, "ALLOC-088", !dxgk_client_free((void *)(uintptr_t)h.info[0].pSystemMem));
    memset(&query, 0, sizeof(query));
    query.hDevice = g.device;
    query.hGlobalShare = h.args.hGlobalShare;
    SHOW(c, "KMT-224", D3DKMTQueryResourceInfo(&query) == STATUS_INVALID_PARAMETER);
    TRY(c, gpu_wait_idle(&g) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
}
