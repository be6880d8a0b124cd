/* SPDX-License-Identifier: MIT */
/* The IoMmu model: a device that goes by the address spaces of processes. */
#include "bus/bus.h"
#include "iommu/pasid.h"
#include "nt/ps/process.h"
#include "port/support/admission.h"
#include "port/support/client.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "vidmm/context/fence_memory.h"
#include "vidmm/process.h"
#include "vidsch/client.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static const struct probe_options shared = {
    .port = {.iommu_present = true, .shared_address_space = true}};

static void offer(struct probe *p, bool any, bool gpu, bool io)
{
    p->caps.MemoryManagementCaps.VirtualAddressingSupported = any;
    p->caps.MemoryManagementCaps.GpuMmuSupported = gpu;
    p->caps.MemoryManagementCaps.IoMmuSupported = io;
    p->physical.Flags.GpuMmuSupported = gpu;
    p->physical.Flags.IoMmuSupported = io;
    p->iommu.Value = 0; /* DMA remapping has demands of its own */
    p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0;
    p->caps.MemoryManagementCaps.MapAperture2Supported = 1;
    for (unsigned i = 0; i < PROBE_MAX_NODES; i++) {
        p->node[i].GpuMmuSupported = gpu && i > 0;
        p->node[i].IoMmuSupported = io && i > 0;
    }
}

/* ---- admission ---- */

TEST(the_three_bits_belong_together)
{
    for (unsigned bits = 0; bits < 8; bits++) {
        bool any = bits & 4, gpu = bits & 2, io = bits & 1;
        bool fine = any == (gpu || io); /* else the two models say more than the third bit */
        struct probe *p = probe_create(&shared);
        NTSTATUS status;

        offer(p, any, gpu, io);
        status = probe_start(p);
        CHECK_RULE("IOMMU-100/a", NT_SUCCESS(status) && probe_rule(p, "CAPS-060") == !fine);
        CHECK_RULE("IOMMU-100/b", probe_rule(p, "CAPS-061") == (gpu && io));
        probe_destroy(p);
    }
}

/* ---- the feature that is built on it ---- */

#define FEATURE_GPUVAIOMMU ((DXGK_FEATURE_ID)36)

static NTSTATUS feature_status;
static BOOLEAN feature_enabled;

static void ask_feature(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_ISFEATUREENABLED args;

    (void)call;
    memset(&args, 0, sizeof(args));
    args.DeviceHandle = p->state[0].dxgk.DeviceHandle;
    args.FeatureId = FEATURE_GPUVAIOMMU;
    args.Enabled = TRUE;
    feature_status = p->state[0].dxgk.DxgkCbIsFeatureEnabled(&args);
    feature_enabled = args.Enabled;
}

TEST(the_feature_is_never_on)
{
    struct probe_options all = shared;
    struct probe *p;

    all.port.features = UINT64_MAX;
    p = probe_create(&all);
    p->after[PROBE_StartDevice] = ask_feature;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("IOMMU-098/a", !feature_enabled && !NT_SUCCESS(feature_status));
    probe_destroy(p);
}

/* ---- processes ---- */

enum { CLIENTS = 2 };

static struct client {
    struct nt_process *nt;
    struct vidmm_process *mm;
    struct vidsch_device *device[2];
    ULONG pasid;
} clients[CLIENTS];

static struct {
    UINT count[16];
    ULONG pasid[16];
    unsigned calls;
} created;

static void note_process(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEPROCESS *args = (void *)(uintptr_t)call->arg[1];

    (void)p;
    if (created.calls == 16)
        return;
    created.count[created.calls] = args->NumPasid;
    created.pasid[created.calls++] = args->pPasid ? args->pPasid[0] : 0;
}

static ULONG device_pasid[16];
static unsigned devices_made;

static void note_device(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEDEVICE *args = (void *)(uintptr_t)call->arg[1];

    (void)p;
    if (devices_made < 16)
        device_pasid[devices_made++] = args->Pasid;
}

static void open_client(struct probe *p, struct client *c, const char *name)
{
    D3DKMT_CREATEDEVICEFLAGS flags = {0};

    c->nt = probe_process(p, name);
    CHECK(NT_SUCCESS(vidmm_process_open(port_adapter_vidmm(p->adapter[0]), c->nt, &c->mm)));
    for (unsigned i = 0; i < 2; i++)
        CHECK(NT_SUCCESS(vidsch_device_create(port_adapter_vidsch(p->adapter[0]), c->mm, &flags,
                                              &c->device[i])));
    c->pasid = vidmm_process_pasid(c->mm);
}

static void close_client(struct client *c)
{
    for (unsigned i = 0; i < 2; i++)
        vidsch_device_destroy(c->device[i]);
    vidmm_process_close(c->mm);
    nt_process_destroy(c->nt);
}

static void processes_body(struct probe *p)
{
    struct vidmm_fence_slot slot;
    uint64_t value = 0x1122334455667788, read = 0;

    created.calls = devices_made = 0;
    open_client(p, &clients[0], "first");
    open_client(p, &clients[1], "second");
    CHECK_RULE("IOMMU-102/a", created.calls == 2 && created.pasid[0] && created.pasid[1] &&
                                  created.pasid[0] != created.pasid[1]);
    CHECK_RULE("IOMMU-103/a", created.count[0] == 1 && created.count[1] == 1);
    CHECK_RULE("IOMMU-104/a", devices_made == 4 && device_pasid[0] == created.pasid[0] &&
                                  device_pasid[1] == created.pasid[0] &&
                                  device_pasid[2] == created.pasid[1] &&
                                  device_pasid[3] == created.pasid[1]);
    CHECK_RULE("IOMMU-102/b", clients[0].pasid == created.pasid[0] &&
                                  device_pasid[1] == device_pasid[0] &&
                                  probe_nth(p, PROBE_CreateProcess, 1)->order <
                                      probe_nth(p, PROBE_CreateDevice, 2)->order);

    /* The device goes by a process's pointer: there only, and only where the process has something. */
    CHECK(NT_SUCCESS(vidmm_fence_slot_create(clients[0].mm, &slot)));
    CHECK_RULE("IOMMU-106/a", probe_device_pasid(0, clients[0].pasid, (uintptr_t)slot.client,
                                                 &value, sizeof(value), true) &&
                                  *slot.kernel == value);
    CHECK_RULE("IOMMU-107/a", *(volatile uint64_t *)slot.client == value);
    *(volatile uint64_t *)slot.client = 5; /* read-write for the process, too */
    CHECK_RULE("IOMMU-107/a", *slot.kernel == 5);
    CHECK_RULE("IOMMU-106/a", probe_device_pasid(0, clients[0].pasid, (uintptr_t)slot.client, &read,
                                                 sizeof(read), false) &&
                                  read == 5);
    CHECK_RULE("IOMMU-106/b", !probe_device_pasid(0, clients[1].pasid, (uintptr_t)slot.client,
                                                  &read, sizeof(read), false) &&
                                  read == UINT64_MAX && probe_rule(p, "IOMMU-072") == 1);
    vidmm_fence_slot_destroy(clients[0].mm, &slot);
    close_client(&clients[0]);
    close_client(&clients[1]);
}

TEST(a_process_is_one_address_space)
{
    struct probe *p = probe_create(&shared);

    offer(p, true, true, true);
    p->before[PROBE_CreateProcess] = note_process;
    p->before[PROBE_CreateDevice] = note_device;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, processes_body) == SIM_DONE);
    CHECK(probe_stop(p) == 0);
    probe_destroy(p);
}

static void flag_body(struct probe *p)
{
    created.calls = devices_made = 0;
    open_client(p, &clients[0], "first");
    CHECK_RULE("IOMMU-101", probe_rule(p, "CAPS-096") == 1 && created.count[0] == 0 &&
                                created.pasid[0] == 0 && device_pasid[0] == 0);
    close_client(&clients[0]);
}

static void without_body(struct probe *p)
{
    created.calls = devices_made = 0;
    open_client(p, &clients[0], "first");
    CHECK_RULE("IOMMU-103/b", created.calls == 1 && created.count[0] == 0 && created.pasid[0] == 0);
    CHECK_RULE("IOMMU-104/b", devices_made == 2 && device_pasid[0] == 0);
    close_client(&clients[0]);
}

TEST(without_the_model_there_is_none)
{
    struct probe *p = probe_create(NULL);

    p->before[PROBE_CreateProcess] = note_process;
    p->before[PROBE_CreateDevice] = note_device;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, without_body) == SIM_DONE);
    probe_destroy(p);
}

/* What only the physical adapter says does not count. */
TEST(the_flag_alone_is_no_model)
{
    struct probe *p = probe_create(&shared);

    offer(p, true, true, false);
    p->physical.Flags.IoMmuSupported = 1;
    p->before[PROBE_CreateProcess] = note_process;
    p->before[PROBE_CreateDevice] = note_device;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, flag_body) == SIM_DONE);
    probe_destroy(p);
}

static void many_body(struct probe *p)
{
    static bool seen[1 << 20];
    ULONG first;

    memset(seen, 0, sizeof(seen));
    open_client(p, &clients[0], "stays");
    first = clients[0].pasid;
    for (unsigned i = 0; i < 1000; i++) {
        open_client(p, &clients[1], "comes and goes");
        CHECK_RULE("IOMMU-105/ab", clients[1].pasid > 0 && clients[1].pasid < 1u << 20 &&
                                       clients[1].pasid != first && !seen[clients[1].pasid]);
        seen[clients[1].pasid] = true;
        close_client(&clients[1]);
    }
    close_client(&clients[0]);
}

TEST(numbers_are_not_given_twice)
{
    struct probe *p = probe_create(&shared);

    offer(p, true, true, true);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, many_body) == SIM_DONE);
    probe_destroy(p);
}

/* Every allocation of the way fails once. */
static void short_body(struct probe *p)
{
    struct util_heap *heap = &sim_current->heap;
    const uint32_t spaces = bus_pasids(p->bus)->spaces.count;
    struct nt_process *nt = probe_process(p, "poor");
    NTSTATUS status = STATUS_NO_MEMORY;
    struct vidmm_fence_slot slot = {0};
    struct vidmm_process *mm;
    unsigned failed = 0;

    for (uint64_t n = 1; !NT_SUCCESS(status); n++) {
        heap->fail_at = heap->requests + n;
        status = vidmm_process_open(port_adapter_vidmm(p->adapter[0]), nt, &mm);
        if (NT_SUCCESS(status)) {
            status = vidmm_fence_slot_create(mm, &slot);
            if (!NT_SUCCESS(status))
                vidmm_process_close(mm);
        }
        heap->fail_at = 0;
        CHECK(NT_SUCCESS(status) || status == STATUS_NO_MEMORY);
        CHECK(bus_pasids(p->bus)->spaces.count == spaces + NT_SUCCESS(status));
        failed += !NT_SUCCESS(status);
    }
    CHECK(failed > 5);
    vidmm_fence_slot_destroy(mm, &slot);
    vidmm_process_close(mm);
    CHECK(bus_pasids(p->bus)->spaces.count == spaces);
    nt_process_destroy(nt);
}

TEST(a_failed_allocation_leaves_no_number)
{
    struct probe *p = probe_create(&shared);

    offer(p, true, true, true);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, short_body) == SIM_DONE);
    CHECK(probe_stop(p) == 0);
    probe_destroy(p);
}

/* ---- the end of a PASID ---- */

static void late_body(struct probe *p)
{
    uint32_t word;

    open_client(p, &clients[0], "first");
    close_client(&clients[0]);
    (void)probe_device_pasid(0, clients[0].pasid, 0x10000, &word, sizeof(word), false);
}

static void access_in_destroy(struct probe *p, struct probe_call *call)
{
    uint32_t word;

    (void)p;
    (void)call;
    (void)probe_device_pasid(0, clients[0].pasid, 0x10000, &word, sizeof(word), false);
}

static void early_body(struct probe *p)
{
    open_client(p, &clients[0], "first");
    p->before[PROBE_DestroyProcess] = access_in_destroy;
    close_client(&clients[0]);
}

TEST(an_access_after_the_end_is_fatal)
{
    for (unsigned early = 0; early < 2; early++) {
        struct probe *p = probe_create(&shared);

        offer(p, true, true, true);
        CHECK(NT_SUCCESS(probe_start(p)));
        (void)probe_run(p, early ? early_body : late_body);
        CHECK_RULE(early ? "IOMMU-108/b" : "IOMMU-108/a",
                   verify_bugcheck_state(p->log)->happened &&
                       verify_bugcheck_state(p->log)->code == (early ? 0x159 : 0x158));
        probe_destroy(p);
    }
}

/* ---- contexts ---- */

static void use_io_mmu(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATECONTEXT *args = (void *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.SystemContext)
        args->ContextInfo.Caps.UseIoMmu = 1;
}

static NTSTATUS context_status;

static void context_body(struct probe *p)
{
    const struct vidsch_context_request request = {
        .node = 1, .engine_affinity = 1, .virtual_addressing = true};
    struct vidsch_context *context;

    open_client(p, &clients[0], "first");
    context_status = vidsch_context_create(clients[0].device[0], &request, &context);
    if (NT_SUCCESS(context_status))
        vidsch_context_destroy(context);
    close_client(&clients[0]);
}

TEST(contexts_may_use_it_where_it_is)
{
    for (unsigned with = 0; with < 2; with++) {
        struct probe *p = probe_create(&shared);

        offer(p, true, true, with);
        p->after[PROBE_CreateContext] = use_io_mmu;
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK(probe_run(p, context_body) == SIM_DONE);
        CHECK_RULE(with ? "IOMMU-109/c" : "IOMMU-109/a",
                   NT_SUCCESS(context_status) && probe_rule(p, "PATCH-049") == !with);
        probe_destroy(p);
    }
}

TEST(contexts_that_may_not_use_it_can_be_refused)
{
    struct probe *p = probe_create(&shared);

    CHECK(verify_set_severity(p->log, "PATCH-049", VERIFY_ERROR));
    offer(p, true, true, false);
    p->after[PROBE_CreateContext] = use_io_mmu;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, context_body) == SIM_DONE);
    CHECK_RULE("IOMMU-109/b", IS(context_status, STATUS_INVALID_PARAMETER));
    probe_destroy(p);
}

/* ---- fences ---- */

/* The device writes where the process does, and there is no other address. */
static void fence_body(struct probe *p)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT2 fence;
    D3DKMT_CREATEDEVICE device;
    D3DKMT_ENUMADAPTERS adapters;
    uint64_t value = 5;

    (void)p;
    memset(&adapters, 0, sizeof(adapters));
    memset(&device, 0, sizeof(device));
    memset(&fence, 0, sizeof(fence));
    CHECK(IS(D3DKMTEnumAdapters(&adapters), STATUS_SUCCESS) && adapters.NumAdapters == 1);
    device.hAdapter = adapters.Adapters[0].hAdapter;
    CHECK(IS(D3DKMTCreateDevice(&device), STATUS_SUCCESS));
    fence.hDevice = device.hDevice;
    fence.Info.Type = D3DDDI_MONITORED_FENCE;
    fence.Info.MonitoredFence.InitialFenceValue = 2;
    CHECK(IS(D3DKMTCreateSynchronizationObject2(&fence), STATUS_SUCCESS));
    CHECK_RULE("IOMMU-107/b", fence.Info.MonitoredFence.FenceValueGPUVirtualAddress == 0);
    {
        uint64_t *const at = fence.Info.MonitoredFence.FenceValueCPUVirtualAddress;
        const ULONG pasid = created.pasid[created.calls - 1];

        CHECK_RULE("IOMMU-107/a", at && *(volatile uint64_t *)at == 2);
        CHECK_RULE("IOMMU-107/a",
                   probe_device_pasid(0, pasid, (uintptr_t)at, &value, sizeof(value), true) &&
                       *(volatile uint64_t *)at == 5);
        *(volatile uint64_t *)at = 6;
        CHECK_RULE("IOMMU-107/a",
                   probe_device_pasid(0, pasid, (uintptr_t)at, &value, sizeof(value), false) &&
                       value == 6);
    }
    CHECK(IS(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){device.hDevice}), STATUS_SUCCESS));
    CHECK(IS(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){device.hAdapter}), STATUS_SUCCESS));
}

TEST(a_fence_is_reached_by_the_address_of_the_process)
{
    struct probe *p = probe_create(&shared);
    struct probe_client *client;

    created.calls = 0;
    offer(p, true, false, true);
    p->before[PROBE_CreateProcess] = note_process;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, fence_body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}
