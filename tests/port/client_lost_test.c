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
    probe_client_go_on(p, client, use_it);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}
