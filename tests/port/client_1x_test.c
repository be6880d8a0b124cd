/* SPDX-License-Identifier: MIT */
/* Clients of adapters whose driver is one of WDDM 1.x, has no GPU virtual addresses, or lacks an entry. */
#include "port/support/client.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

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

static struct probe *driver_1x(void)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM1_3};
    struct probe *p = probe_create(&options);

    probe_make_1x(p);
    return p;
}

/* ---- what a client of any version has ---- */

static struct {
    D3DKMT_HANDLE adapter, device, context, semaphore;
} old;

static void begin_old(void)
{
    D3DKMT_ENUMADAPTERS adapters = {0};
    D3DKMT_CREATEDEVICE device = {0};
    D3DKMT_CREATECONTEXT context = {0};
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 semaphore = {0};

    CHECK(IS(D3DKMTEnumAdapters(&adapters), STATUS_SUCCESS) && adapters.NumAdapters == 1);
    old.adapter = device.hAdapter = adapters.Adapters[0].hAdapter;
    CHECK(IS(D3DKMTCreateDevice(&device), STATUS_SUCCESS));
    old.device = context.hDevice = semaphore.hDevice = device.hDevice;
    CHECK(IS(D3DKMTCreateContext(&context), STATUS_SUCCESS) && context.pCommandBuffer);
    old.context = context.hContext;
    semaphore.Info.Type = D3DDDI_SEMAPHORE;
    semaphore.Info.Semaphore.MaxCount = 4;
    CHECK(IS(D3DKMTCreateSynchronizationObject2(&semaphore), STATUS_SUCCESS));
    old.semaphore = semaphore.hSyncObject;
}

static void end_old(void)
{
    CHECK(IS(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){old.device}), STATUS_SUCCESS));
    CHECK(IS(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){old.adapter}), STATUS_SUCCESS));
}

static NTSTATUS ask(KMTQUERYADAPTERINFOTYPE type, void *answer, UINT bytes)
{
    return D3DKMTQueryAdapterInfo(&(D3DKMT_QUERYADAPTERINFO){old.adapter, type, answer, bytes});
}

static bool refused_1x(NTSTATUS status)
{
    return IS(status, STATUS_NOT_SUPPORTED) && strcmp(probe_refused_rule, "KMT-022") == 0 &&
           strstr(probe_refused_text, "the driver of the adapter is of 1.x");
}

/* ---- the calls of 2.x ---- */

static void call_2x(struct probe *p)
{
    D3DKMT_CREATECONTEXTVIRTUAL virtual_context = {0};
    D3DKMT_CREATEPAGINGQUEUE queue = {0};
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence = {0};
    D3DDDI_RESERVEGPUVIRTUALADDRESS reserve = {0};
    D3DKMT_FREEGPUVIRTUALADDRESS free_range = {0};
    D3DKMT_SUBMITCOMMAND submit = {0};
    D3DKMT_EVICT evict = {0};
    D3DDDI_ALLOCATIONINFO info = {0};
    D3DKMT_CREATEALLOCATION create = {.NumAllocations = 1};
    D3DKMT_LOCK2 lock = {0};
    D3DKMT_HANDLE some = 77;

    begin_old();
    create.hDevice = lock.hDevice = old.device;
    create.pAllocationInfo = &info;
    CHECK(IS(D3DKMTCreateAllocation(&create), STATUS_SUCCESS) && info.hAllocation);
    lock.hAllocation = info.hAllocation;
    probe_forget(p);
    CHECK_RULE("KMT-022", refused_1x(D3DKMTLock2(&lock)) && !lock.pData);
    CHECK_RULE("KMT-022",
               refused_1x(D3DKMTUnlock2(&(D3DKMT_UNLOCK2){old.device, info.hAllocation})));
    queue.hDevice = virtual_context.hDevice = fence.hDevice = evict.hDevice = old.device;
    CHECK_RULE("KMT-022", refused_1x(D3DKMTCreatePagingQueue(&queue)) && !queue.hPagingQueue);
    CHECK_RULE("KMT-022", IS(D3DKMTCreateContextVirtual(&virtual_context), STATUS_NOT_SUPPORTED) &&
                              strstr(probe_refused_text, "its driver is of WDDM 1.x"));
    fence.Info.Type = D3DDDI_MONITORED_FENCE;
    CHECK_RULE("KMT-022", refused_1x(D3DKMTCreateSynchronizationObject2(&fence)));
    reserve.hAdapter = free_range.hAdapter = old.adapter;
    reserve.Size = 65536;
    CHECK_RULE("KMT-022", refused_1x(D3DKMTReserveGpuVirtualAddress(&reserve)));
    CHECK_RULE("KMT-022", refused_1x(D3DKMTFreeGpuVirtualAddress(&free_range)));
    evict.NumAllocations = 1;
    evict.AllocationList = &some;
    CHECK_RULE("KMT-022", refused_1x(D3DKMTEvict(&evict)));
    submit.BroadcastContextCount = 1;
    submit.BroadcastContext[0] = old.context;
    CHECK_RULE("KMT-022", refused_1x(D3DKMTSubmitCommand(&submit)));
    CHECK_RULE("KMT-022", p->calls == 0);
    end_old();
}

TEST(a_driver_of_1x_has_no_calls_of_2x)
{
    run(driver_1x(), call_2x);
}

static void synchronize_2x(struct probe *p)
{
    static const UINT64 value[1] = {1};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU signal = {0};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMGPU2 newest = {0};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU wait = {0};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU signal_cpu = {0};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU wait_cpu = {0};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT old_signal = {0};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT old_wait = {0};

    (void)p;
    begin_old();
    signal.hContext = wait.hContext = old_signal.hContext = old_wait.hContext = old.context;
    signal_cpu.hDevice = wait_cpu.hDevice = old.device;
    signal.ObjectCount = newest.ObjectCount = wait.ObjectCount = 1;
    signal_cpu.ObjectCount = wait_cpu.ObjectCount = 1;
    old_signal.ObjectCount = old_wait.ObjectCount = 1;
    signal.ObjectHandleArray = newest.ObjectHandleArray = wait.ObjectHandleArray = &old.semaphore;
    signal_cpu.ObjectHandleArray = wait_cpu.ObjectHandleArray = &old.semaphore;
    signal_cpu.FenceValueArray = wait_cpu.FenceValueArray = value;
    old_signal.ObjectHandleArray[0] = old_wait.ObjectHandleArray[0] = old.semaphore;
    newest.BroadcastContextCount = 1;
    newest.BroadcastContextArray = &old.context;
    CHECK_RULE("KMT-373", refused_1x(D3DKMTSignalSynchronizationObjectFromGpu(&signal)));
    CHECK_RULE("KMT-373", refused_1x(D3DKMTSignalSynchronizationObjectFromGpu2(&newest)));
    CHECK_RULE("KMT-373", refused_1x(D3DKMTWaitForSynchronizationObjectFromGpu(&wait)));
    CHECK_RULE("KMT-373", refused_1x(D3DKMTSignalSynchronizationObjectFromCpu(&signal_cpu)));
    CHECK_RULE("KMT-373", refused_1x(D3DKMTWaitForSynchronizationObjectFromCpu(&wait_cpu)));
    /* the older calls do the same */
    CHECK(IS(D3DKMTSignalSynchronizationObject(&old_signal), STATUS_SUCCESS));
    CHECK(IS(D3DKMTWaitForSynchronizationObject(&old_wait), STATUS_SUCCESS));
    CHECK(IS(D3DKMTWaitForIdle(&(D3DKMT_WAITFORIDLE){old.device}), STATUS_SUCCESS));
    end_old();
}

TEST(a_driver_of_1x_has_the_older_synchronization)
{
    run(driver_1x(), synchronize_2x);
}

/* ---- what it answers ---- */

static void ask_1x(struct probe *p)
{
    D3DKMT_WDDM_1_2_CAPS caps12;
    D3DKMT_WDDM_1_3_CAPS caps13;
    D3DKMT_WDDM_2_0_CAPS caps20;
    D3DKMT_QUERY_GPUMMU_CAPS mmu = {0};
    D3DKMT_VIRTUALADDRESSINFO info;

    (void)p;
    begin_old();
    memset(&caps20, 0x5A, sizeof(caps20));
    CHECK_RULE("KMT-063",
               IS(ask(KMTQAITYPE_WDDM_2_0_CAPS, &caps20, sizeof(caps20)), STATUS_SUCCESS) &&
                   caps20.Value == 0);
    CHECK(IS(ask(KMTQAITYPE_WDDM_1_3_CAPS, &caps13, sizeof(caps13)), STATUS_SUCCESS) &&
          caps13.IsHybridDiscreteGPU && !caps13.IsHybridIntegratedGPU);
    CHECK(IS(ask(KMTQAITYPE_WDDM_1_2_CAPS, &caps12, sizeof(caps12)), STATUS_SUCCESS) &&
          caps12.PreemptionCaps.GraphicsPreemptionGranularity ==
              D3DKMDT_GRAPHICS_PREEMPTION_TRIANGLE_BOUNDARY);
    CHECK_RULE("KMT-099",
               IS(ask(KMTQAITYPE_QUERY_GPUMMU_CAPS, &mmu, sizeof(mmu)), STATUS_NOT_SUPPORTED) &&
                   strcmp(probe_refused_rule, "KMT-099") == 0);
    CHECK(IS(ask(KMTQAITYPE_VIRTUALADDRESSINFO, &info, sizeof(info)), STATUS_SUCCESS) &&
          !info.VirtualAddressFlags.VirtualAddressSupported);
    end_old();
}

TEST(caps_of_later_versions_are_empty)
{
    struct probe *p = driver_1x();

    p->caps.HybridDiscrete = TRUE;
    p->caps.PreemptionCaps.GraphicsPreemptionGranularity =
        D3DKMDT_GRAPHICS_PREEMPTION_TRIANGLE_BOUNDARY;
    run(p, ask_1x);
}

static void ask_vista(struct probe *p)
{
    D3DKMT_WDDM_1_2_CAPS caps12;
    D3DKMT_WDDM_1_3_CAPS caps13;

    (void)p;
    begin_old();
    memset(&caps12, 0x5A, sizeof(caps12));
    memset(&caps13, 0x5A, sizeof(caps13));
    CHECK_RULE("KMT-063",
               IS(ask(KMTQAITYPE_WDDM_1_2_CAPS, &caps12, sizeof(caps12)), STATUS_SUCCESS) &&
                   caps12.Value == 0 && caps12.PreemptionCaps.GraphicsPreemptionGranularity == 0);
    CHECK_RULE("KMT-063",
               IS(ask(KMTQAITYPE_WDDM_1_3_CAPS, &caps13, sizeof(caps13)), STATUS_SUCCESS) &&
                   caps13.Value == 0);
    end_old();
}

TEST(caps_of_1x_are_empty_for_the_first_drivers)
{
    const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WIN7};
    struct probe *p = probe_create(&options);

    probe_make_1x(p);
    run(p, ask_vista);
}

/* ---- cross-adapter resources, and tracked workloads ---- */

static D3DKMT_CROSSADAPTERRESOURCE_SUPPORT_TIER tier;
static BOOL tracked[2];

static void ask_tier(struct probe *p)
{
    D3DKMT_CROSSADAPTERRESOURCE_SUPPORT support;
    D3DKMT_TRACKEDWORKLOAD_SUPPORT workload = {0};
    D3DKMT_ENUMADAPTERS adapters = {0};

    (void)p;
    CHECK(IS(D3DKMTEnumAdapters(&adapters), STATUS_SUCCESS));
    old.adapter = adapters.Adapters[0].hAdapter;
    CHECK(IS(ask(KMTQAITYPE_CROSSADAPTERRESOURCE_SUPPORT, &support, sizeof(support)),
             STATUS_SUCCESS));
    tier = support.SupportTier;
    for (unsigned i = 0; i < 2; i++) {
        workload.EngineType = i ? DXGK_ENGINE_TYPE_COPY : DXGK_ENGINE_TYPE_3D;
        CHECK(IS(ask(KMTQAITYPE_TRACKEDWORKLOAD_SUPPORT, &workload, sizeof(workload)),
                 STATUS_SUCCESS));
        tracked[i] = workload.Support;
    }
}

TEST(support_across_adapters_has_four_tiers)
{
    for (unsigned i = 0; i < 4; i++) {
        struct probe *p = probe_create(NULL);

        p->caps.MemoryManagementCaps.CrossAdapterResource = i >= 1;
        p->caps.MemoryManagementCaps.CrossAdapterResourceTexture = i >= 2;
        p->caps.MemoryManagementCaps.CrossAdapterResourceScanout = i >= 3;
        run(p, ask_tier);
        CHECK_RULE("KMT-110", (unsigned)tier == i);
        CHECK_RULE("KMT-111", !tracked[0] && !tracked[1]);
    }
}

TEST(workloads_are_tracked_on_engines_that_can)
{
    struct probe *p = probe_create(NULL);

    p->node[1].EngineType = DXGK_ENGINE_TYPE_COPY;
    p->node[1].Flags.SupportTrackedWorkload = 1;
    run(p, ask_tier);
    CHECK_RULE("KMT-111", !tracked[0] && tracked[1]);
    p = probe_create(NULL);
    p->node[0].EngineType = DXGK_ENGINE_TYPE_3D;
    p->node[0].Flags.SupportTrackedWorkload = 1;
    run(p, ask_tier);
    CHECK_RULE("KMT-111", tracked[0] && !tracked[1]);
}

/* ---- a missing entry ---- */

static void escape_nowhere(struct probe *p)
{
    uint32_t data = 0;
    D3DKMT_ESCAPE escape = {.pPrivateDriverData = &data, .PrivateDriverDataSize = sizeof(data)};
    D3DKMT_ENUMADAPTERS adapters = {0};

    (void)p;
    CHECK(IS(D3DKMTEnumAdapters(&adapters), STATUS_SUCCESS));
    escape.hAdapter = adapters.Adapters[0].hAdapter;
    CHECK_RULE("KMT-428", IS(D3DKMTEscape(&escape), STATUS_NOT_SUPPORTED) &&
                              strcmp(probe_refused_rule, "KMT-428") == 0);
}

TEST(escapes_need_an_entry_of_the_driver)
{
    struct probe *p = probe_create(NULL);

    probe_set_entry(p, PROBE_Escape, false);
    run(p, escape_nowhere);
}
