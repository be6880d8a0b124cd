/* SPDX-License-Identifier: MIT */
/* What a client can still do with an adapter whose device was pulled out, and what it is told. */
#include "port/support/client.h"

#include "port/running/power.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct probe_gpu gpu;
static D3DKMT_HANDLE allocation;

static void set_up(struct probe *p)
{
    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, 4096, &allocation), STATUS_SUCCESS));
}

static void pull_out(struct probe *p)
{
    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, false)));
    CHECK(port_adapter_lost(p->adapter[0]));
}

static bool removed(NTSTATUS status)
{
    return IS(status, STATUS_DEVICE_REMOVED);
}

static void use_it(struct probe *p)
{
    static const UINT64 value = 1;
    D3DKMT_GETDEVICESTATE state = {.hDevice = gpu.device};
    UINT version;
    D3DKMT_QUERYADAPTERINFO query = {gpu.adapter, KMTQAITYPE_DRIVERVERSION, &version,
                                     sizeof(version)};
    D3DKMT_ENUMADAPTERS adapters = {0};
    D3DKMT_OPENADAPTERFROMLUID open = {.AdapterLuid = port_adapter_luid(p->adapter[0])};
    D3DKMT_CREATEDEVICE device = {.hAdapter = gpu.adapter};
    D3DKMT_QUERYVIDEOMEMORYINFO memory = {.hAdapter = gpu.adapter};
    D3DKMT_CHANGEVIDEOMEMORYRESERVATION reservation = {.hAdapter = gpu.adapter};
    D3DDDI_RESERVEGPUVIRTUALADDRESS range = {.hAdapter = gpu.adapter, .Size = 65536};
    D3DKMT_LOCK2 lock = {.hDevice = gpu.device, .hAllocation = allocation};
    D3DKMT_EVICT evict = {.hDevice = gpu.device, .NumAllocations = 1, .AllocationList = &allocation};
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU signal = {.hDevice = gpu.device,
                                                        .ObjectCount = 1,
                                                        .ObjectHandleArray = &gpu.queue_fence,
                                                        .FenceValueArray = &value};
    uint32_t data = 0;
    D3DKMT_ESCAPE escape = {.hAdapter = gpu.adapter,
                            .pPrivateDriverData = &data,
                            .PrivateDriverDataSize = sizeof(data)};

    CHECK_RULE("KMT-057", removed(D3DKMTQueryAdapterInfo(&query)) &&
                              strstr(probe_refused_text, "the adapter was stopped, or is lost"));
    CHECK_RULE("KMT-044",
               IS(D3DKMTEnumAdapters(&adapters), STATUS_SUCCESS) && adapters.NumAdapters == 0);
    CHECK_RULE("KMT-044", IS(D3DKMTOpenAdapterFromLuid(&open), STATUS_INVALID_PARAMETER));
    CHECK(removed(D3DKMTCreateDevice(&device)) && !device.hDevice);
    CHECK(removed(D3DKMTQueryVideoMemoryInfo(&memory)));
    CHECK(removed(D3DKMTChangeVideoMemoryReservation(&reservation)));
    CHECK(removed(D3DKMTReserveGpuVirtualAddress(&range)) && removed(D3DKMTLock2(&lock)));
    CHECK(!NT_SUCCESS(D3DKMTSignalSynchronizationObjectFromCpu(&signal)));
    CHECK(removed(D3DKMTEscape(&escape)));
    escape.Type = D3DKMT_ESCAPE_TDRDBGCTRL;
    CHECK(removed(D3DKMTEscape(&escape)));
    state.StateType = D3DKMT_DEVICESTATE_EXECUTION;
    CHECK_RULE("KMT-128", IS(D3DKMTGetDeviceState(&state), STATUS_SUCCESS) &&
                              state.ExecutionState == D3DKMT_DEVICEEXECUTION_STOPPED);
    state.StateType = D3DKMT_DEVICESTATE_RESET;
    CHECK_RULE("KMT-128", removed(D3DKMTGetDeviceState(&state)));
    CHECK_RULE("KMT-124", IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    CHECK_RULE("KMT-124", IS(D3DKMTEvict(&evict), STATUS_SUCCESS));
    CHECK_RULE("KMT-120", IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

/* Each call that makes or moves something. */
static void ask_for_more(struct probe *p)
{
    static const UINT priority = D3DDDI_ALLOCATIONPRIORITY_NORMAL;
    uint64_t bytes = 4096;
    D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = &bytes,
                                   .PrivateDriverDataSize = sizeof(bytes)};
    D3DKMT_CREATEALLOCATION create = {
        .hDevice = gpu.device, .NumAllocations = 1, .pAllocationInfo2 = &info};
    D3DKMT_CREATEPAGINGQUEUE queue = {.hDevice = gpu.device};
    D3DKMT_CREATECONTEXTVIRTUAL context = {.hDevice = gpu.device, .NodeOrdinal = 1};
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence = {.hDevice = gpu.device,
                                                 .Info.Type = D3DDDI_MONITORED_FENCE};
    D3DDDI_MAKERESIDENT resident = {
        .hPagingQueue = gpu.queue, .NumAllocations = 1, .AllocationList = &allocation};
    D3DDDI_MAPGPUVIRTUALADDRESS map = {.hPagingQueue = gpu.queue,
                                       .hAllocation = allocation,
                                       .SizeInPages = 1,
                                       .MaximumAddress = 1ull << 32};
    D3DKMT_OFFERALLOCATIONS offer = {.hDevice = gpu.device,
                                     .HandleList = &allocation,
                                     .NumAllocations = 1,
                                     .Priority = D3DKMT_OFFER_PRIORITY_LOW};
    D3DKMT_SETALLOCATIONPRIORITY set = {.hDevice = gpu.device,
                                        .phAllocationList = &allocation,
                                        .AllocationCount = 1,
                                        .pPriorities = &priority};
    D3DKMT_SETCONTEXTSCHEDULINGPRIORITY schedule = {.hContext = gpu.context, .Priority = 1};

    probe_forget(p);
    CHECK_RULE("KMT-485", removed(D3DKMTCreatePagingQueue(&queue)) && !queue.hPagingQueue &&
                              strstr(probe_refused_text, "the adapter was stopped"));
    CHECK_RULE("KMT-485", removed(D3DKMTCreateContextVirtual(&context)) && !context.hContext);
    CHECK_RULE("KMT-485", removed(D3DKMTCreateSynchronizationObject2(&fence)) && !fence.hSyncObject);
    CHECK_RULE("KMT-485", removed(D3DKMTCreateAllocation2(&create)) && !info.hAllocation);
    CHECK_RULE("KMT-485", removed(D3DKMTMakeResident(&resident)));
    CHECK_RULE("KMT-485", removed(D3DKMTMapGpuVirtualAddress(&map)));
    CHECK_RULE("KMT-485", removed(D3DKMTOfferAllocations(&offer)));
    CHECK_RULE("KMT-485", removed(D3DKMTSetAllocationPriority(&set)));
    CHECK_RULE("KMT-485", removed(D3DKMTSetContextSchedulingPriority(&schedule)));
    CHECK_RULE("KMT-485", removed(probe_gpu_submit(&gpu)) && p->calls == 0);
}

TEST(an_adapter_that_was_pulled_out_can_only_be_left)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    probe_set_entry(p, PROBE_NotifySurpriseRemoval, true);
    probe_set_entry(p, PROBE_Escape, true);
    p->caps.SupportSurpriseRemoval = TRUE;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, set_up);
    CHECK(probe_run(p, pull_out) == SIM_DONE);
    probe_client_go_on(p, client, ask_for_more);
    probe_client_go_on(p, client, use_it);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- who waits ---- */

static bool released;

static void wait_for_ever(struct probe *p)
{
    static const UINT64 value = 5;
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence = {.Info.Type = D3DDDI_MONITORED_FENCE};
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMGPU gpu_wait = {.ObjectCount = 1,
                                                           .ObjectHandleArray = &fence.hSyncObject,
                                                           .MonitoredFenceValueArray = &value};

    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    fence.hDevice = gpu.device;
    CHECK(IS(D3DKMTCreateSynchronizationObject2(&fence), STATUS_SUCCESS));
    gpu_wait.hContext = gpu.context;
    CHECK(IS(D3DKMTWaitForSynchronizationObjectFromGpu(&gpu_wait), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS)); /* behind that */
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
    released = true;
}

static void pull_out_late(struct probe *p)
{
    probe_sleep(PROBE_SECOND / 10);
    CHECK(!released);
    pull_out(p);
    probe_sleep(PROBE_SECOND / 10);
    CHECK_RULE("KMT-485", released);
}

static void leave(struct probe *p)
{
    (void)p;
    CHECK(IS(probe_gpu_end(&gpu), STATUS_SUCCESS));
}

TEST(whoever_waits_for_it_is_released)
{
    struct probe *p = probe_create(NULL);
    struct probe_client *client;

    probe_set_entry(p, PROBE_NotifySurpriseRemoval, true);
    p->caps.SupportSurpriseRemoval = TRUE;
    released = false;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_start(p, wait_for_ever);
    CHECK(probe_run(p, pull_out_late) == SIM_DONE);
    probe_client_wait(p, client);
    probe_client_go_on(p, client, leave);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}
