/* SPDX-License-Identifier: MIT */
/* What Windows was recorded to answer about allocations that wrap memory of the client, and about
 * destroying them (docs/client-answers.md). */
#include "support/recorded.h"

/* ---- creation ---- */

TEST_WITH(client, a_heap_is_wrapped_by_an_allocation)
{
    static char data[] = {1, 2, 3, 4, 5, 6};
    static const char runtime[] = {7, 8, 9, 10};
    D3DKMT_HANDLE last;
    struct gpu g;
    struct heap h;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g));
    h.args.hPrivateRuntimeResourceHandle = (HANDLE)(uintptr_t)NONSENSE;
    SHOW(c, "KMT-218", heap_create(&h) == STATUS_SUCCESS);
    SHOW(c, "KMT-194", h.args.hGlobalShare == 0);
    SHOW(c, "KMT-191", h.args.hResource == 0);
    SHOW(c, "KMT-028", is_next_local(h.info[0].hAllocation, &last));
    SHOW(c, "KMT-206", h.args.hPrivateRuntimeResourceHandle == (HANDLE)(uintptr_t)NONSENSE);
    SHOW(c, "KMT-202", !dxgk_client_free((void *)(uintptr_t)h.info[0].pSystemMem));
    TRY(c, heap_destroy_list(&h, &h.info[0].hAllocation) == STATUS_SUCCESS);
    /* private data of the element and of the runtime are allowed */
    h.info[0].pPrivateDriverData = data;
    h.info[0].PrivateDriverDataSize = sizeof(data);
    TRY(c, heap_create(&h) == STATUS_SUCCESS && h.args.hGlobalShare == 0 && h.args.hResource == 0);
    SHOW(c, "KMT-028", is_next_local(h.info[0].hAllocation, &last));
    SHOW(c, "KMT-490", data[0] == 1 && data[5] == 6 && h.info[0].PrivateDriverDataSize == 6);
    TRY(c, heap_destroy_list(&h, &h.info[0].hAllocation) == STATUS_SUCCESS);
    h.args.pPrivateRuntimeData = runtime;
    h.args.PrivateRuntimeDataSize = sizeof(runtime);
    TRY(c, heap_create(&h) == STATUS_SUCCESS && h.args.hGlobalShare == 0 && h.args.hResource == 0);
    SHOW(c, "KMT-028", is_next_local(h.info[0].hAllocation, &last));
    TRY(c, heap_destroy_list(&h, &h.info[0].hAllocation) == STATUS_SUCCESS);
    SHOW(c, "KMT-202", dxgk_client_free((void *)(uintptr_t)h.info[0].pSystemMem));
    TRY(c, device_end(&g));
}

TEST_WITH(client, the_newer_form_wraps_a_heap_too)
{
    D3DKMT_DESTROYALLOCATION2 destroy;
    D3DKMT_HANDLE last;
    struct gpu g;
    struct heap h;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g));
    h.args.pAllocationInfo2 = h.info2;
    h.info2[0].hAllocation = h.args.hGlobalShare = NONSENSE;
    SHOW(c, "KMT-218", D3DKMTCreateAllocation2(&h.args) == STATUS_SUCCESS);
    TRY(c, h.args.hGlobalShare == 0 && h.args.hResource == 0);
    SHOW(c, "KMT-028", is_next_local(h.info2[0].hAllocation, &last));
    SHOW(c, "KMT-490",
         h.args.PrivateRuntimeDataSize == 0 && h.args.PrivateDriverDataSize == 0 &&
             h.info2[0].PrivateDriverDataSize == 0);
    TRY(c, heap_destroy_list(&h, &h.info2[0].hAllocation) == STATUS_SUCCESS);
    h.args.pAllocationInfo = h.info;
    TRY(c, heap_create(&h) == STATUS_SUCCESS && h.args.hGlobalShare == 0 && h.args.hResource == 0);
    SHOW(c, "KMT-028", is_next_local(h.info[0].hAllocation, &last));
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = g.device;
    destroy.AllocationCount = 1;
    destroy.phAllocationList = &h.info[0].hAllocation;
    SHOW(c, "KMT-261", D3DKMTDestroyAllocation2(&destroy) == STATUS_SUCCESS);
    TRY(c, device_end(&g));
}

/* Each is a request that works but for one member; none takes a handle. */
TEST_WITH(client, requests_for_a_heap_have_one_form)
{
    D3DKMT_CREATEALLOCATION none;
    D3DKMT_HANDLE last;
    struct gpu g;
    struct heap good, h;

    memset(&none, 0, sizeof(none));
    SHOW(c, "KMT-192", D3DKMTCreateAllocation(&none) == STATUS_INVALID_PARAMETER);
    TRY(c, device_begin(&g, &last) && heap_init(&good, &g));
#define REFUSED(rule, change, status)               \
    do {                                            \
        h = good;                                   \
        h.args.pStandardAllocation = h.standard;    \
        h.args.pAllocationInfo = h.info;            \
        change;                                     \
        SHOW(c, rule, heap_create(&h) == (status)); \
        TRY(c, h.info[0].hAllocation == NONSENSE);  \
    } while (0)
    REFUSED("ALLOC-019", h.args.PrivateDriverDataSize = 64, STATUS_INVALID_PARAMETER);
    REFUSED("KMT-026", h.args.hDevice = 0, STATUS_INVALID_PARAMETER);
    REFUSED("KMT-191", h.args.hResource = NONSENSE, STATUS_INVALID_HANDLE);
    REFUSED("KMT-191", (h.args.hResource = NONSENSE, h.args.Flags.CreateResource = 1),
            STATUS_INVALID_HANDLE);
    REFUSED("ALLOC-019", h.args.NumAllocations = 0, STATUS_INVALID_PARAMETER);
    REFUSED("ALLOC-019", (h.args.NumAllocations = 0, h.args.Flags.CreateResource = 1),
            STATUS_INVALID_PARAMETER);
    REFUSED("KMT-220", h.standard[0].Type = 0, STATUS_INVALID_PARAMETER);
    REFUSED("KMT-220", h.standard[0].Type = 9, STATUS_INVALID_PARAMETER);
    REFUSED("KMT-220", h.standard[0].Flags.Value = 1, STATUS_INVALID_PARAMETER);
    REFUSED("KMT-220", h.args.pStandardAllocation = NULL, STATUS_INVALID_PARAMETER);
    REFUSED("KMT-220", h.standard[0].ExistingHeapData.Size = 0, STATUS_INVALID_PARAMETER);
    REFUSED("ALLOC-020", h.info[0].pSystemMem = NULL, STATUS_INVALID_PARAMETER);
    REFUSED("ALLOC-020", h.info[0].pSystemMem = (const char *)h.info[0].pSystemMem + 512,
            STATUS_INVALID_PARAMETER);
    REFUSED("ALLOC-019", h.args.NumAllocations = 2, STATUS_INVALID_PARAMETER);
    REFUSED("KMT-219", h.standard[0].ExistingHeapData.Size = HEAP_BYTES - 256,
            STATUS_INVALID_PARAMETER);
    /* a page more than there is */
    REFUSED("ALLOC-020", h.standard[0].ExistingHeapData.Size = HEAP_BYTES + 4096,
            STATUS_INVALID_PARAMETER);
    REFUSED("ALLOC-019", h.args.Flags.ExistingSysMem = 0, STATUS_INVALID_PARAMETER);
    REFUSED("ALLOC-019", h.args.Flags.StandardAllocation = 0, STATUS_INVALID_PARAMETER);
    REFUSED("ALLOC-019", h.args.Flags.ExistingSection = 1, STATUS_INVALID_PARAMETER);
    REFUSED("ALLOC-018", h.args.Flags.CreateShared = 1, STATUS_INVALID_PARAMETER);
#undef REFUSED
    SHOW(c, "KMT-028",
         heap_create(&good) == STATUS_SUCCESS && is_next_local(good.info[0].hAllocation, &last));
    TRY(c, device_end(&g));
}

/* ---- destruction ---- */

TEST_WITH(client, an_allocation_is_destroyed_once)
{
    D3DKMT_DESTROYALLOCATION destroy;
    D3DKMT_HANDLE last;
    struct gpu g;
    struct heap h;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g) && heap_create(&h) == STATUS_SUCCESS);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = g.device;
    SHOW(c, "KMT-263", D3DKMTDestroyAllocation(&destroy) == STATUS_SUCCESS);
    destroy.AllocationCount = 1;
    SHOW(c, "KMT-006", D3DKMTDestroyAllocation(&destroy) == STATUS_INVALID_PARAMETER);
    destroy.phAllocationList = &h.info[0].hAllocation;
    SHOW(c, "KMT-261", D3DKMTDestroyAllocation(&destroy) == STATUS_SUCCESS);
    SHOW(c, "KMT-032", D3DKMTDestroyAllocation(&destroy) == STATUS_INVALID_PARAMETER);
    TRY(c, device_end(&g));
}

TEST_WITH(client, a_resource_outlives_its_allocations_but_not_the_reverse)
{
    D3DKMT_DESTROYALLOCATION destroy;
    D3DKMT_HANDLE last;
    struct gpu g;
    struct heap h;

    TRY(c, device_begin(&g, &last) && heap_init(&h, &g));
    h.args.Flags.CreateResource = 1;
    h.args.hPrivateRuntimeResourceHandle = (HANDLE)(uintptr_t)NONSENSE;
    TRY(c, heap_create(&h) == STATUS_SUCCESS && h.args.hGlobalShare == 0);
    SHOW(c, "KMT-028", is_next_local(h.args.hResource, &last)); /* the resource comes first */
    SHOW(c, "KMT-028", is_next_local(h.info[0].hAllocation, &last));
    TRY(c, h.args.hPrivateRuntimeResourceHandle == (HANDLE)(uintptr_t)NONSENSE);
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = g.device;
    destroy.phAllocationList = &h.info[0].hAllocation;
    destroy.AllocationCount = 1;
    SHOW(c, "ALLOC-087", D3DKMTDestroyAllocation(&destroy) == STATUS_SUCCESS);
    destroy.hResource = h.args.hResource;
    destroy.AllocationCount = 0; /* and a list, which is not looked at */
    SHOW(c, "ALLOC-085", D3DKMTDestroyAllocation(&destroy) == STATUS_SUCCESS);
    SHOW(c, "KMT-032", D3DKMTDestroyAllocation(&destroy) == STATUS_INVALID_PARAMETER);

    h.args.hResource = 0;
    TRY(c, heap_create(&h) == STATUS_SUCCESS && h.args.hGlobalShare == 0);
    SHOW(c, "KMT-028", is_next_local(h.args.hResource, &last));
    SHOW(c, "KMT-028", is_next_local(h.info[0].hAllocation, &last));
    destroy.hResource = h.args.hResource;
    /* a heap cannot join a resource that exists */
    h.args.Flags.CreateResource = 0;
    h.args.pAllocationInfo = &h.info[1];
    SHOW(c, "ALLOC-019", D3DKMTCreateAllocation(&h.args) == STATUS_INVALID_PARAMETER);
    SHOW(c, "ALLOC-085", D3DKMTDestroyAllocation(&destroy) == STATUS_SUCCESS);
    destroy.hResource = 0;
    destroy.AllocationCount = 1;
    SHOW(c, "ALLOC-085", D3DKMTDestroyAllocation(&destroy) == STATUS_INVALID_PARAMETER);
    TRY(c, device_end(&g));
}

/* ---- content ---- */

/* A view of the allocation and the client's own address are the same bytes. */
TEST_WITH(client, the_memory_stays_the_client_s)
{
    struct gpu g;
    struct heap h;
    struct memory m = {.bytes = HEAP_BYTES};
    uint8_t *own;

    TRY(c, gpu_begin(&g) == STATUS_SUCCESS && heap_init(&h, &g));
    own = (uint8_t *)(uintptr_t)h.info[0].pSystemMem;
    memset(own, 0x11, HEAP_BYTES);
    TRY(c, heap_create(&h) == STATUS_SUCCESS);
    m.handle = h.info[0].hAllocation;
    TRY(c, gpu_make_resident(&g, m.handle) == STATUS_SUCCESS && gpu_map(&g, &m) == STATUS_SUCCESS);
    TRY(c, gpu_lock(&g, &m) == STATUS_SUCCESS);
    SHOW(c, "KMT-202", ((uint8_t *)m.cpu)[0] == 0x11 && ((uint8_t *)m.cpu)[HEAP_BYTES - 1] == 0x11);
    ((uint8_t *)m.cpu)[4096] = 0x22;
    SHOW(c, "KMT-202", own[4096] == 0x22 && own[4095] == 0x11);
    TRY(c, gpu_unlock(&g, &m) == STATUS_SUCCESS && gpu_end(&g) == STATUS_SUCCESS);
    SHOW(c, "KMT-202", own[0] == 0x11 && dxgk_client_free(own) && !dxgk_client_free(own));
}
