/* SPDX-License-Identifier: MIT */
/* Which paging operations a driver gets to see: those that the version of its interface knows. */
#include "port/support/context_client.h"
#include "port/support/paged.h"
#include "port/support/portions.h"

#define BIT(operation) (1u << (operation))
#define NOTIFYING      0x18001u /* CpuVisible, AccessedPhysically, ExplicitResidencyNotification */

/* What was built, a bit for each operation; all others in `more`. */
static unsigned built(unsigned *more)
{
    unsigned bits = 0;

    *more = 0;
    for (unsigned i = 0; i < paged.count; i++) {
        if (paged.op[i].args.Operation <= DXGK_OPERATION_MAP_APERTURE_SEGMENT2)
            bits |= BIT(paged.op[i].args.Operation);
        else
            ++*more;
    }
    return bits;
}

#define PHYSICAL                                               \
    (BIT(DXGK_OPERATION_TRANSFER) | BIT(DXGK_OPERATION_FILL) | \
     BIT(DXGK_OPERATION_MAP_APERTURE_SEGMENT) | BIT(DXGK_OPERATION_UNMAP_APERTURE_SEGMENT))
#define VIRTUAL                                                                               \
    (BIT(DXGK_OPERATION_VIRTUAL_TRANSFER) | BIT(DXGK_OPERATION_VIRTUAL_FILL) |                \
     BIT(DXGK_OPERATION_UNMAP_APERTURE_SEGMENT) | BIT(DXGK_OPERATION_INIT_CONTEXT_RESOURCE) | \
     BIT(DXGK_OPERATION_UPDATE_PAGE_TABLE) | BIT(DXGK_OPERATION_FLUSH_TLB) |                  \
     BIT(DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION) | BIT(DXGK_OPERATION_NOTIFY_RESIDENCY))

static void power_off_and_on(struct probe *p)
{
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
}

/* ---- WDDM 1.x ---- */

static void with_context_allocation(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    context_rig_note_context(p, call);
    if (!p->state[0].dxgk.DxgkCbCreateContextAllocation || !context_rig.context)
        return;
    args = context_request(p);
    CHECK(context_create(p, &args) == STATUS_SUCCESS);
    context_item = args.hAllocation;
}

static void without_context_allocation(struct probe *p, struct probe_call *call)
{
    (void)call;
    if (context_item)
        CHECK(context_destroy(p, context_item) == STATUS_SUCCESS);
    context_item = NULL;
}

static struct portions_gpu old;

static void render_with_all(struct probe *p)
{
    (void)p;
    for (unsigned i = 0; i < 4; i++) {
        portions_element(&old, 0, 0, i + 1, 0);
        CHECK(portions_render(&old, 64, 1) == STATUS_SUCCESS);
    }
    portions_finish(&old);
}

/* Memory is filled, content moves out and in, and the aperture is used. */
static void use_1x(struct probe *p)
{
    portions_open(&old);
    portions_allocate(&old, 0, 9 * PORTIONS_MIB);
    portions_allocate(&old, 1, 9 * PORTIONS_MIB);
    paged.segments = 2;
    portions_allocate(&old, 2, 1 * PORTIONS_MIB);
    paged.segments = 1;
    paged.flags = NOTIFYING; /* bits of 2.x, which mean nothing here */
    portions_allocate(&old, 3, 1 * PORTIONS_MIB);
    render_with_all(p);
    render_with_all(p);
}

static unsigned built_1x(UINT version, bool claims_mmu)
{
    struct probe *p = portions_create(version, false);
    struct probe_client *client;
    unsigned bits, more;

    paged_watch(p);
    paged.segments = 1;
    memset(&context_rig, 0, sizeof(context_rig));
    context_item = NULL;
    p->caps.MemoryManagementCaps.VirtualAddressingSupported = claims_mmu;
    p->caps.MemoryManagementCaps.GpuMmuSupported = claims_mmu;
    p->caps.MemoryManagementCaps.MapAperture2Supported = claims_mmu;
    p->before[PROBE_CreateDevice] = context_rig_note_device;
    p->before[PROBE_CreateContext] = with_context_allocation;
    p->before[PROBE_DestroyContext] = without_context_allocation;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, use_1x);
    CHECK(probe_run(p, power_off_and_on) == SIM_DONE);
    probe_client_go_on(p, client, render_with_all);
    probe_client_end(p, client);
    bits = built(&more);
    CHECK_RULE("PAGE-026", more == 0);
    probe_clients_end(p);
    probe_destroy(p);
    return bits;
}

TEST(drivers_of_1x_get_operations_of_1x)
{
    const unsigned context = BIT(DXGK_OPERATION_INIT_CONTEXT_RESOURCE);

    CHECK_RULE("PAGE-026", built_1x(DXGKDDI_INTERFACE_VERSION_VISTA, false) == PHYSICAL);
    CHECK_RULE("PAGE-026", built_1x(DXGKDDI_INTERFACE_VERSION_WIN7, false) == PHYSICAL);
    CHECK_RULE("PAGE-026", built_1x(DXGKDDI_INTERFACE_VERSION_WIN8, false) == (PHYSICAL | context));
    CHECK_RULE("PAGE-026",
               built_1x(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false) == (PHYSICAL | context));
    CHECK_RULE("PAGE-026",
               built_1x(DXGKDDI_INTERFACE_VERSION_WDDM1_3, true) == (PHYSICAL | context));
}

/* ---- WDDM 2.x ---- */

static void use_2x(struct probe *p)
{
    D3DKMT_HANDLE allocation;
    uint64_t fence;

    (void)p;
    context_begin_client();
    context_rig_inside(0, context_make_item);
    context_rig_inside(0, context_update_item);
    paged.segments = 1;
    paged.flags = NOTIFYING;
    CHECK(NT_SUCCESS(probe_gpu_allocate(G, 9 * PAGED_MIB, &allocation)));
    CHECK(paged_map(G, allocation, 1024 * PAGED_MIB, 0, 16) != 0);
    CHECK(NT_SUCCESS(paged_evict(G, allocation)));
    CHECK(NT_SUCCESS(paged_create(G, 9 * PAGED_MIB, &allocation)));
    CHECK(paged_make_resident(G, allocation, &fence) == STATUS_PENDING);
    CHECK(NT_SUCCESS(paged_wait(G, fence)));
    paged.segments = 2;
    CHECK(NT_SUCCESS(probe_gpu_allocate(G, PAGED_MIB, &allocation)));
    CHECK(NT_SUCCESS(paged_evict(G, allocation)));
    probe_sleep(PROBE_SECOND);
}

static void destroy_item(struct probe *p)
{
    context_rig_inside(0, context_destroy_item);
    (void)p;
}

static unsigned built_2x(UINT version, DXGK_WDDMVERSION wddm, bool aperture2)
{
    const struct probe_options options = {.version = version};
    struct probe *p = context_rig_create(&options);
    struct probe_client *client;
    unsigned bits, more;

    paged_watch(p);
    p->caps.WDDMVersion = p->device_wddm = wddm;
    p->caps.MemoryManagementCaps.MapAperture2Supported = aperture2;
    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, use_2x);
    CHECK(probe_run(p, power_off_and_on) == SIM_DONE);
    probe_client_go_on(p, client, destroy_item);
    probe_client_end(p, client);
    bits = built(&more);
    CHECK_RULE("PAGE-026", more == 0);
    probe_clients_end(p);
    probe_destroy(p);
    return bits;
}

TEST(drivers_of_2x_get_operations_of_their_version)
{
    const unsigned map = BIT(DXGK_OPERATION_MAP_APERTURE_SEGMENT),
                   map2 = BIT(DXGK_OPERATION_MAP_APERTURE_SEGMENT2),
                   fence = BIT(DXGK_OPERATION_SIGNAL_MONITORED_FENCE);

    CHECK_RULE("PAGE-026", built_2x(DXGKDDI_INTERFACE_VERSION_WDDM2_0, DXGKDDI_WDDMv2, false) ==
                               (VIRTUAL | map));
    CHECK_RULE("PAGE-026", built_2x(DXGKDDI_INTERFACE_VERSION_WDDM2_1, DXGKDDI_WDDMv2_1, true) ==
                               (VIRTUAL | map));
    /* the bit of the cap is reserved there */
    CHECK_RULE("PAGE-026", (built_2x(DXGKDDI_INTERFACE_VERSION_WDDM2_8, DXGKDDI_WDDMv2_8, true) &
                            ~fence) == (VIRTUAL | map));
    CHECK_RULE("PAGE-026", (built_2x(DXGKDDI_INTERFACE_VERSION_WDDM2_9, DXGKDDI_WDDMv2_9, false) &
                            ~fence) == (VIRTUAL | map));
    CHECK_RULE("PAGE-026", (built_2x(DXGKDDI_INTERFACE_VERSION_WDDM2_9, DXGKDDI_WDDMv2_9, true) &
                            ~fence) == (VIRTUAL | map2));
    CHECK_RULE("PAGE-026", (built_2x(DXGKDDI_INTERFACE_VERSION_WDDM3_1, DXGKDDI_WDDMv3_1, true) &
                            ~fence) == (VIRTUAL | map2));
}

TEST(reads_and_writes_of_physical_memory_are_not_used)
{
    const unsigned never = BIT(DXGK_OPERATION_READ_PHYSICAL) | BIT(DXGK_OPERATION_WRITE_PHYSICAL),
                   special = BIT(DXGK_OPERATION_SPECIAL_LOCK_TRANSFER),
                   physical = BIT(DXGK_OPERATION_TRANSFER) | BIT(DXGK_OPERATION_FILL) |
                              BIT(DXGK_OPERATION_DISCARD_CONTENT);

    CHECK_RULE("PAGE-043", (built_1x(DXGKDDI_INTERFACE_VERSION_WIN7, false) & never) == 0);
    CHECK_RULE("PAGE-043", (built_1x(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false) & never) == 0);
    CHECK_RULE("PAGE-056", (built_1x(DXGKDDI_INTERFACE_VERSION_WDDM1_3, false) & special) == 0);
    CHECK_RULE("PAGE-027", (built_2x(DXGKDDI_INTERFACE_VERSION_WDDM2_9, DXGKDDI_WDDMv2_9, true) &
                            (physical | special | never)) == 0);
}
