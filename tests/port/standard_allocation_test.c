/* SPDX-License-Identifier: MIT */
/* How the driver is asked to describe an existing heap, and what its answer must have. */
#include "port/support/client.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define HEAP_BYTES         16384u

static struct probe_gpu gpu;
static UINT bytes, resource_bytes, pitch; /* what the driver answers */
static DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA seen[2];
static D3DKMDT_GDISURFACEDATA surface[2];
static unsigned asked;
static bool zeroed;

static void answer(struct probe *p, struct probe_call *call)
{
    DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args = (void *)(uintptr_t)call->arg[1];

    (void)p;
    CHECK(asked < 2);
    seen[asked] = *args;
    surface[asked++] = *args->pCreateGdiSurfaceData;
    args->pCreateGdiSurfaceData->Pitch = pitch;
    if (!args->pAllocationPrivateDriverData && !args->pResourcePrivateDriverData) {
        args->AllocationPrivateDriverDataSize = bytes;
        args->ResourcePrivateDriverDataSize = resource_bytes;
        return;
    }
    for (UINT i = 0; i < bytes; i++)
        zeroed = zeroed && ((uint8_t *)args->pAllocationPrivateDriverData)[i] == 0;
    call->answered = true; /* far enough: no memory is wrapped here */
    call->result = (uint32_t)STATUS_GRAPHICS_DRIVER_MISMATCH;
}

static NTSTATUS create(void)
{
    D3DKMT_CREATESTANDARDALLOCATION standard;
    D3DDDI_ALLOCATIONINFO info;
    D3DKMT_CREATEALLOCATION args;

    memset(&standard, 0, sizeof(standard));
    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    standard.Type = D3DKMT_STANDARDALLOCATIONTYPE_EXISTINGHEAP;
    standard.ExistingHeapData.Size = HEAP_BYTES;
    info.pSystemMem = (void *)(uintptr_t)0x7000;
    args.hDevice = gpu.device;
    args.Flags.StandardAllocation = args.Flags.ExistingSysMem = 1;
    args.pStandardAllocation = &standard;
    args.NumAllocations = 1;
    args.pAllocationInfo = &info;
    asked = 0;
    zeroed = true;
    return D3DKMTCreateAllocation(&args);
}

static void body(struct probe *p)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    bytes = 40;
    resource_bytes = 8;
    pitch = HEAP_BYTES;
    CHECK_RULE("KMT-014", IS(create(), STATUS_GRAPHICS_DRIVER_MISMATCH));
    CHECK_RULE("ALLOC-022", asked == 2 && !seen[0].pAllocationPrivateDriverData &&
                                !seen[0].pResourcePrivateDriverData);
    CHECK_RULE("ALLOC-022", seen[1].pAllocationPrivateDriverData &&
                                seen[1].AllocationPrivateDriverDataSize == 40 &&
                                seen[1].pResourcePrivateDriverData &&
                                seen[1].ResourcePrivateDriverDataSize == 8 && zeroed);
    CHECK_RULE("ALLOC-025", seen[0].StandardAllocationType == D3DKMDT_STANDARDALLOCATION_GDISURFACE);
    for (unsigned i = 0; i < 2; i++)
        CHECK_RULE("ALLOC-021", surface[i].Width == HEAP_BYTES && surface[i].Height == 1 &&
                                    surface[i].Format == D3DDDIFMT_UNKNOWN &&
                                    surface[i].Type == D3DKMDT_GDISURFACE_TEXTURE_CROSSADAPTER &&
                                    surface[i].Pitch == 0);
    resource_bytes = 0;
    CHECK_RULE("ALLOC-022", IS(create(), STATUS_GRAPHICS_DRIVER_MISMATCH) && asked == 2 &&
                                !seen[1].pResourcePrivateDriverData);
    bytes = 0; /* its resource alone has data */
    resource_bytes = 8;
    CHECK_RULE("ALLOC-022", IS(create(), STATUS_GRAPHICS_DRIVER_MISMATCH) && asked == 2 &&
                                !seen[1].pAllocationPrivateDriverData &&
                                seen[1].AllocationPrivateDriverDataSize == 0 &&
                                seen[1].pResourcePrivateDriverData &&
                                seen[1].ResourcePrivateDriverDataSize == 8);
    bytes = resource_bytes = 16u << 20; /* as much as there may be */
    CHECK_RULE("ALLOC-023", IS(create(), STATUS_GRAPHICS_DRIVER_MISMATCH) && asked == 2 &&
                                probe_rule(p, "ALLOC-023") == 0);
    resource_bytes = 0;
    bytes = (16u << 20) + 1;
    CHECK_RULE("ALLOC-023", IS(create(), STATUS_INVALID_PARAMETER) && asked == 1 &&
                                probe_record(p, "ALLOC-023")->refuses);
    bytes = 40;
    resource_bytes = (16u << 20) + 1;
    CHECK_RULE("ALLOC-023", IS(create(), STATUS_INVALID_PARAMETER) && asked == 1 &&
                                probe_rule(p, "ALLOC-023") == 2);
    bytes = resource_bytes = 0;
    CHECK(verify_set_severity(p->log, "ALLOC-023", VERIFY_ERROR));
    CHECK_RULE("ALLOC-023", IS(create(), STATUS_INVALID_PARAMETER) && asked == 1 &&
                                probe_rule(p, "ALLOC-023") == 3);
    CHECK(probe_count(p, PROBE_CreateAllocation) == 0);
    CHECK(verify_set_severity(p->log, "ALLOC-023", VERIFY_WARNING));
    (void)create(); /* the driver makes it of nothing; this heap is no memory of the client */
    CHECK_RULE("ALLOC-023", asked == 1 && probe_rule(p, "ALLOC-023") == 4 &&
                                probe_count(p, PROBE_CreateAllocation) == 1);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_heap_is_described_by_the_driver)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    p->before[PROBE_GetStandardAllocationDriverData] = answer;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- the pitch ---- */

static void answer_pitch(struct probe *p, struct probe_call *call)
{
    DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args = (void *)(uintptr_t)call->arg[1];

    (void)p;
    args->AllocationPrivateDriverDataSize = 40;
    args->pCreateGdiSurfaceData->Pitch = pitch;
}

static void pitch_body(struct probe *p)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    pitch = 0;
    (void)create(); /* only not expected */
    CHECK_RULE("ALLOC-024", probe_record(p, "ALLOC-024")->severity == VERIFY_WARNING &&
                                probe_count(p, PROBE_CreateAllocation) == 1);
    probe_forget(p);
    CHECK(verify_set_severity(p->log, "ALLOC-024", VERIFY_ERROR));
    CHECK_RULE("ALLOC-024",
               IS(create(), STATUS_INVALID_PARAMETER) && probe_rule(p, "ALLOC-024") == 2);
    pitch = HEAP_BYTES + 64;
    CHECK_RULE("ALLOC-024", IS(create(), STATUS_INVALID_PARAMETER) &&
                                probe_count(p, PROBE_CreateAllocation) == 0);
    pitch = HEAP_BYTES;
    (void)create();
    CHECK_RULE("ALLOC-024", probe_count(p, PROBE_CreateAllocation) == 1);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(the_pitch_of_a_heap_is_a_multiple_of_128)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    p->before[PROBE_GetStandardAllocationDriverData] = answer_pitch;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, pitch_body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- what fails ---- */

static void run(struct probe *p, void (*client_body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, client_body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static void missing_body(struct probe *p)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(create(), STATUS_NOT_SUPPORTED) && probe_count(p, PROBE_CreateAllocation) == 0);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(a_driver_without_the_entry_makes_no_heap)
{
    struct probe *p = probe_create(NULL);

    p->table.DxgkDdiGetStandardAllocationDriverData = NULL;
    run(p, missing_body);
}

static void refuse_at_once(struct probe *p, struct probe_call *call)
{
    (void)p;
    asked++;
    call->answered = true;
    call->result = (uint32_t)STATUS_GRAPHICS_INVALID_ALLOCATION_USAGE;
}

static void refused_body(struct probe *p)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK_RULE("KMT-014", IS(create(), STATUS_GRAPHICS_INVALID_ALLOCATION_USAGE) && asked == 1);
    CHECK(probe_count(p, PROBE_CreateAllocation) == 0);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(the_answer_of_the_driver_is_the_clients)
{
    struct probe *p = probe_create(NULL);

    p->before[PROBE_GetStandardAllocationDriverData] = refuse_at_once;
    run(p, refused_body);
}

/* Each request of memory fails in turn: what there was of the data is given back. */
static void fault_body(struct probe *p)
{
    struct util_heap *heap = &p->sim->heap;
    NTSTATUS status = STATUS_NO_MEMORY;
    uint64_t nth;

    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    bytes = 40;
    resource_bytes = 8;
    (void)create();
    for (nth = 1; status == STATUS_NO_MEMORY; nth++) {
        uint64_t blocks = heap->live_blocks;

        CHECK(nth < 60);
        heap->fail_at = heap->requests + nth;
        status = create();
        heap->fail_at = 0;
        CHECK(heap->live_blocks == blocks);
    }
    CHECK(IS(status, STATUS_GRAPHICS_DRIVER_MISMATCH) && nth > 3 &&
          probe_count(p, PROBE_CreateAllocation) == 0);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(describing_a_heap_survives_every_fault)
{
    struct probe *p = probe_create(NULL);

    p->before[PROBE_GetStandardAllocationDriverData] = answer;
    run(p, fault_body);
}
