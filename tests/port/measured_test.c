/* SPDX-License-Identifier: MIT */
/* What drivers were seen to fail for on Windows, or a page says must fail, each on a started adapter. */
#include "port/support/admission.h"
#include "port/support/client.h"
#include "verify/verify.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- at the start ---- */

static void tables_in_system_memory(struct probe *p)
{
    for (unsigned i = 0; i < p->mmu.PageTableLevelCount; i++)
        p->level[i].PageTableSegmentId = p->level[i].PagingProcessPageTableSegmentId = 0;
}

/* A third segment, whose window is the start of the BAR. */
static void host_aperture(struct probe *p, unsigned segment)
{
    p->segments = 3;
    p->segment[0].Flags.CpuVisible = 0;
    p->segment[2].BaseAddress.QuadPart = 1ll << 36;
    p->segment[2].Size = 16u << 20;
    p->segment[segment].CpuHostAperture.PhysicalAddress =
        (UINT64)p->segment[0].CpuTranslatedAddress.QuadPart;
    p->segment[segment].CpuHostAperture.SizeInPages = 16;
    p->segment[segment].Flags.SupportsCpuHostAperture = 1;
    tables_in_system_memory(p);
}

static void add_entries(struct probe *p)
{
    probe_set_entry(p, PROBE_MapCpuHostAperture, true);
    probe_set_entry(p, PROBE_UnmapCpuHostAperture, true);
}

static void host_aperture_first(struct probe *p, struct probe_call *call)
{
    (void)call;
    host_aperture(p, 0);
}

static void host_aperture_last(struct probe *p, struct probe_call *call)
{
    (void)call;
    host_aperture(p, 2);
}

TEST(a_host_aperture_is_the_last_segment)
{
    struct probe *p;

    SOFTENED("SEG-093", "SEG-093", add_entries(p),
             p->after[PROBE_StartDevice] = host_aperture_first);
    p = probe_create(NULL);
    add_entries(p);
    p->after[PROBE_StartDevice] = host_aperture_last;
    CHECK_RULE("SEG-093", NT_SUCCESS(probe_start(p)) && probe_rule(p, "SEG-093") == 0);
    probe_destroy(p);
}

static struct probe *with_native_fences(uint64_t features)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_1,
                                          .port = {.features = features}};
    struct probe *p = probe_create(&options);

    p->caps.SchedulingCaps.NativeGpuFence = 1;
    return p;
}

TEST(native_fences_need_their_feature)
{
    struct probe *p = with_native_fences(0);

    CHECK_RULE("SUBMIT-148", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                 admission_reported(p, "SUBMIT-148", VERIFY_ERROR, true));
    probe_destroy(p);
    p = with_native_fences(0);
    CHECK(verify_set_severity(p->log, "SUBMIT-148", VERIFY_WARNING));
    CHECK_RULE("SUBMIT-148", NT_SUCCESS(probe_start(p)) &&
                                 admission_reported(p, "SUBMIT-148", VERIFY_WARNING, false) &&
                                 !port_adapter_caps(p->adapter[0])->SchedulingCaps.NativeGpuFence);
    probe_destroy(p);
    p = with_native_fences(0);
    p->caps.SchedulingCaps.NativeGpuFence = 0;
    CHECK_RULE("SUBMIT-148", NT_SUCCESS(probe_start(p)) && probe_rule(p, "SUBMIT-148") == 0);
    probe_destroy(p);
}

/* With tables that need no page of 64 KB each. */
static void large_pages(struct probe *p)
{
    p->segment[0].Flags.Use64KBPages = 1;
    tables_in_system_memory(p);
}

TEST(leaf_tables_of_large_pages_have_a_size)
{
    struct probe *p;

    EXPECTED("GPUVA-021", "GPUVA-021", p->mmu.LeafPageTableSizeFor64KPagesInBytes = 0,
             p->mmu.DualPteSupported = 1);
    EXPECTED("GPUVA-021", "GPUVA-021", p->mmu.LeafPageTableSizeFor64KPagesInBytes = 0,
             large_pages(p));
    EXPECTED("GPUVA-021", "CAPS-086", p->mmu.LeafPageTableSizeFor64KPagesInBytes = 100);
    ACCEPTED("GPUVA-021", p->mmu.LeafPageTableSizeFor64KPagesInBytes = 0);
}

/* ---- what a client makes ---- */

static struct probe_gpu gpu;

static NTSTATUS create(bool shared)
{
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;
    D3DKMT_DESTROYALLOCATION2 destroy;
    uint64_t bytes = 4096;
    NTSTATUS status;

    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    memset(&destroy, 0, sizeof(destroy));
    info.pPrivateDriverData = &bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    args.hDevice = gpu.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    args.Flags.CreateResource = 1;
    args.Flags.CreateShared = args.Flags.NtSecuritySharing = shared;
    status = D3DKMTCreateAllocation2(&args);
    destroy.hDevice = gpu.device;
    destroy.hResource = args.hResource;
    if (NT_SUCCESS(status) && !NT_SUCCESS(D3DKMTDestroyAllocation2(&destroy)))
        return STATUS_INTERNAL_ERROR;
    return status;
}

static UINT set, visible; /* what the driver answers */

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEALLOCATION *args = (DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->pAllocationInfo[0].SupportedReadSegmentSet =
        args->pAllocationInfo[0].SupportedWriteSegmentSet = set;
    args->pAllocationInfo[0].PreferredSegment.Value = 0;
    args->pAllocationInfo[0].FlagsWddm2.Value = visible;
}

static void create_bodies(struct probe *p)
{
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    p->after[PROBE_CreateAllocation] = describe;
    set = 3;
    visible = 1;
    CHECK_RULE("ALLOC-147", IS(create(true), STATUS_INVALID_PARAMETER) &&
                                admission_reported(p, "ALLOC-147", VERIFY_ERROR, true) &&
                                probe_count(p, PROBE_DestroyAllocation) == 1);
    CHECK(strstr(probe_record(p, "ALLOC-147")->seen, "memory segment 1 in its set 0x3"));
    CHECK_RULE("ALLOC-147", IS(create(false), STATUS_SUCCESS));
    set = 2;
    CHECK_RULE("ALLOC-147", IS(create(true), STATUS_SUCCESS));
    set = 3;
    visible = 0;
    CHECK_RULE("ALLOC-147", IS(create(true), STATUS_SUCCESS) && probe_rule(p, "ALLOC-147") == 1);
    visible = 1;
    CHECK(verify_set_severity(p->log, "ALLOC-147", VERIFY_WARNING));
    CHECK_RULE("ALLOC-147", IS(create(true), STATUS_SUCCESS) && probe_rule(p, "ALLOC-147") == 2);
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

TEST(a_shared_allocation_that_the_cpu_sees_is_in_an_aperture)
{
    run(probe_create(NULL), create_bodies);
}

static UINT dma_bytes, dma_set;

static void describe_context(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    args->ContextInfo.DmaBufferSize = dma_bytes;
    args->ContextInfo.DmaBufferSegmentSet = dma_set;
}

static void context_body(struct probe *p)
{
    dma_bytes = 4096;
    dma_set = 2;
    CHECK_RULE("PATCH-161", IS(probe_gpu_begin(&gpu), STATUS_SUCCESS) &&
                                IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
    dma_bytes = dma_set = 0;
    CHECK_RULE("PATCH-161", IS(probe_gpu_begin(&gpu), STATUS_SUCCESS) &&
                                IS(probe_gpu_end(&gpu), STATUS_SUCCESS) &&
                                probe_rule(p, "PATCH-161") == 0);
    dma_bytes = 4096;
    CHECK_RULE("PATCH-161", IS(probe_gpu_begin(&gpu), STATUS_SUCCESS) &&
                                admission_reported(p, "PATCH-161", VERIFY_WARNING, false));
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS) &&
          IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS) && IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
    CHECK(verify_set_severity(p->log, "PATCH-161", VERIFY_ERROR));
    CHECK_RULE("PATCH-161", IS(probe_gpu_begin(&gpu), STATUS_INVALID_PARAMETER));
}

/* The system context leaves the set 0, too. */
TEST(a_dma_buffer_beside_gpu_addresses_names_an_aperture)
{
    struct probe *p = probe_create(NULL);

    p->after[PROBE_CreateContext] = describe_context;
    dma_bytes = 4096;
    dma_set = 0;
    run(p, context_body);
}
