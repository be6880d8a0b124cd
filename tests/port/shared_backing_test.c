/* SPDX-License-Identifier: MIT */
/* Shared backing stores: who is told that there are any, and one from a client's creation on. */
#include "nt/base/current.h"
#include "port/support/probe.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "vidmm/allocation/allocation.h"
#include "vidmm/allocation/destroy.h"
#include "vidmm/process.h"
#include "vidmm/residency/cpu_access.h"
#include "vidsch/client.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk
#define SHARING            DXGK_FEATURE_SHARE_BACKING_STORE_WITH_KMD

/* ---- who may share backing stores ---- */

static bool answer[2];
static unsigned ways = 3; /* bit 0: DxgkCbIsFeatureEnabled, 1: DxgkCbQueryFeatureSupport */

static void ask_for_sharing(struct probe *p, struct probe_call *call)
{
    NTSTATUS status[2] = {STATUS_SUCCESS, STATUS_SUCCESS};

    (void)call;
    if (ways & 1)
        answer[0] = probe_feature_enabled(p, SHARING, &status[0]);
    if (ways & 2)
        answer[1] = probe_feature_supported(p, SHARING, DXGK_FEATURE_SUPPORT_STABLE, &status[1]);
    CHECK(NT_SUCCESS(status[0]) && NT_SUCCESS(status[1]));
}

static bool told(UINT version, bool entry, bool wanted)
{
    const struct probe_options options = {.version = version};
    struct probe *p = probe_create(&options);

    probe_set_entry(p, PROBE_SetAllocationBackingStore, entry);
    p->after[PROBE_StartDevice] = ask_for_sharing;
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_destroy(p);
    return answer[0] == wanted && answer[1] == wanted;
}

TEST(sharing_is_for_those_who_can)
{
    CHECK_RULE("PHYS-183/a", told(DXGKDDI_INTERFACE_VERSION_WDDM3_1, true, true));
    CHECK_RULE("PHYS-183/b", told(DXGKDDI_INTERFACE_VERSION_WDDM3_1, false, false));
    CHECK_RULE("PHYS-183/c", told(DXGKDDI_INTERFACE_VERSION_WDDM3_0, true, false));
}

/* ---- a client's allocation, from its creation on ---- */

static struct client {
    bool asked, done;
    uint8_t *store;                /* as the driver got it */
    HANDLE given, told;            /* the driver's allocation, as it said, and as it was told */
    const struct spoiled *spoiled; /* NULL: good answers */
    struct vidmm_device *device;
    void *memory; /* that the client may want to wrap */
} client;

/* What makes a shared backing store impossible. */
static const struct spoiled {
    const char *clause;
    bool private; /* not created shared */
    bool memory;  /* over memory of the client */
    UINT segments, flags;
} spoiled[] = {
    {"PHYS-184/a", true, false, 2, 0},
    {"PHYS-184/b", false, true, 2, 0x10},  /* ExistingSysMem */
    {"PHYS-184/b", false, false, 2, 0x20}, /* ExistingKernelSysMem */
    {"PHYS-184/c", false, false, 1, 0},
    {"PHYS-184/c", false, false, 3, 0},
};

static void want_sharing(struct probe *p, struct probe_call *call)
{
    DXGKARG_CREATEALLOCATION *args = (DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->pAllocationInfo[0].SupportedWriteSegmentSet = 2; /* the aperture */
    args->pAllocationInfo[0].SupportedReadSegmentSet = 2;
    args->pAllocationInfo[0].PreferredSegment.Value = 0;
    args->pAllocationInfo[0].Flags2.ShareBackingStoreWithKmd = 1;
    client.given = args->pAllocationInfo[0].hAllocation;
    if (!client.spoiled)
        return;
    args->pAllocationInfo[0].SupportedWriteSegmentSet = client.spoiled->segments;
    args->pAllocationInfo[0].SupportedReadSegmentSet = client.spoiled->segments;
    args->pAllocationInfo[0].Flags.Value |= client.spoiled->flags;
}

static void keep_store(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETALLOCATIONBACKINGSTORE *args =
        (const DXGKARG_SETALLOCATIONBACKINGSTORE *)(uintptr_t)call->arg[1];

    (void)p;
    client.store = args->pBackingStore;
    client.told = args->hDriverAllocation;
    memset(client.store, 0xD7, PAGE_SIZE);
}

static NTSTATUS create_shared(D3DKMT_HANDLE *resource, D3DKMT_HANDLE *allocation)
{
    D3DDDI_ALLOCATIONINFO2 info = {0};
    struct vidmm_create_item item = {.info = &info};
    struct vidmm_create_request request = {.count = 1, .item = &item};
    NTSTATUS status;

    request.flags.CreateResource = request.flags.CreateShared = 1;
    if (client.spoiled) {
        request.flags.CreateShared = !client.spoiled->private;
        item.system_memory = client.spoiled->memory ? client.memory : NULL;
    }
    status = vidmm_allocation_create(client.device, &request, resource);
    *allocation = info.hAllocation;
    return status;
}

static void use_spoiled(struct probe *p)
{
    D3DKMT_HANDLE resource, allocation;

    client.memory = MmAllocateContiguousMemory(1 << 20, (PHYSICAL_ADDRESS){.QuadPart = -1});
    CHECK(client.memory != NULL);
    for (unsigned i = 0; i < sizeof(spoiled) / sizeof(spoiled[0]); i++) {
        client.spoiled = &spoiled[i];
        CHECK_RULE(spoiled[i].clause,
                   IS(create_shared(&resource, &allocation), STATUS_INVALID_PARAMETER) &&
                       probe_rule(p, "PHYS-184") == i + 1 &&
                       probe_count(p, PROBE_SetAllocationBackingStore) == 0 &&
                       probe_count(p, PROBE_DestroyAllocation) == i + 1);
    }
    client.spoiled = NULL;
    MmFreeContiguousMemory(client.memory);
    probe_forget(p);
}

static void use_shared(struct probe *p)
{
    D3DDDICB_DESTROYALLOCATION2FLAGS at_once = {.SynchronousDestroy = 1};
    const struct probe_call *create;
    const struct probe_call *set;
    D3DKMT_HANDLE resource;
    D3DKMT_HANDLE allocation;
    NTSTATUS status = create_shared(&resource, &allocation);
    void *address;
    uint8_t *bytes;

    if (!client.asked) {
        CHECK_RULE("PHYS-182/a", IS(status, STATUS_INVALID_PARAMETER) &&
                                     probe_rule(p, "PHYS-182") == 1 &&
                                     probe_count(p, PROBE_SetAllocationBackingStore) == 0);
        return;
    }
    CHECK_RULE("PHYS-182/b", NT_SUCCESS(status) && probe_rule(p, "PHYS-182") == 0);
    create = probe_nth(p, PROBE_CreateAllocation, 0);
    set = probe_nth(p, PROBE_SetAllocationBackingStore, 0);
    CHECK_RULE("PHYS-185", probe_count(p, PROBE_SetAllocationBackingStore) == 1 &&
                               set->order > create->order && set->irql == PASSIVE_LEVEL &&
                               client.told != NULL && client.told == client.given &&
                               set->thread == sim_current->thread);
    CHECK(NT_SUCCESS(vidmm_lock2(client.device, allocation, &address)));
    bytes = address;
    CHECK_RULE("PHYS-186",
               bytes != client.store && bytes[0] == 0xD7 && bytes[PAGE_SIZE - 1] == 0xD7);
    bytes[100] = 0x2C;
    CHECK_RULE("PHYS-186", client.store[100] == 0x2C);
    CHECK(NT_SUCCESS(vidmm_unlock2(client.device, allocation)));
    CHECK_RULE("PHYS-186", client.store[100] == 0x2C);
    CHECK(NT_SUCCESS(vidmm_allocation_destroy(client.device, resource, NULL, 0, at_once)));
}

static void refuse_store(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_NO_MEMORY;
    call->answered = true;
}

static void use_refused(struct probe *p)
{
    D3DKMT_HANDLE resource;
    D3DKMT_HANDLE allocation;

    p->before[PROBE_SetAllocationBackingStore] = refuse_store;
    probe_forget(p);
    CHECK_RULE("PHYS-187", IS(create_shared(&resource, &allocation), STATUS_NO_MEMORY) &&
                               probe_count(p, PROBE_DestroyAllocation) == 1 &&
                               probe_nth(p, PROBE_DestroyAllocation, 0)->order >
                                   probe_nth(p, PROBE_SetAllocationBackingStore, 0)->order);
}

static void client_body(struct probe *p)
{
    const D3DKMT_CREATEDEVICEFLAGS flags = {0};
    struct vidsch_device *device;
    struct vidmm_process *mm;

    CHECK(NT_SUCCESS(
        vidmm_process_open(port_adapter_vidmm(p->adapter[0]), nt_process_current(), &mm)));
    CHECK(NT_SUCCESS(vidsch_device_create(port_adapter_vidsch(p->adapter[0]), mm, &flags, &device)));
    client.device = vidsch_device_mm(device);
    if (client.asked)
        use_spoiled(p);
    use_shared(p);
    if (client.asked)
        use_refused(p);
    vidsch_device_destroy(device);
    vidmm_process_close(mm);
    client.done = true;
}

static void run_client(struct probe *p)
{
    struct sim_thread *thread = probe_thread(p, probe_process(p, "client"), "client", client_body);

    while (!client.done)
        probe_sleep(1000000);
    sim_thread_release(thread);
}

TEST(backing_stores_are_shared)
{
    for (unsigned asks = 0; asks < 4; asks++) { /* in no way, in one, in the other, in both */
        const struct probe_options options = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_1};
        struct probe *p = probe_create(&options);

        memset(&client, 0, sizeof(client));
        client.asked = asks != 0;
        ways = asks;
        p->caps.WDDMVersion = p->device_wddm = DXGKDDI_WDDMv3_1;
        probe_set_entry(p, PROBE_SetAllocationBackingStore, true);
        p->after[PROBE_StartDevice] = asks ? ask_for_sharing : NULL;
        p->after[PROBE_CreateAllocation] = want_sharing;
        p->before[PROBE_SetAllocationBackingStore] = keep_store;
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK(probe_run(p, run_client) == SIM_DONE);
        ways = 3;
        probe_destroy(p);
    }
}
