/* SPDX-License-Identifier: MIT */
/* Context allocations of a driver on a started adapter: whose they are, and what becomes of each at its end. */
#include "port/support/context_client.h"

/* ---- the end of one ---- */

static void destroy_and_map_again(struct probe *p)
{
    HANDLE next;

    CHECK(context_destroy(p, context_item) == STATUS_SUCCESS);
    next = context_make(p);
    CHECK_RULE("CTXA-064", context_map_at(p, next, 64 * MB) == 64 * MB);
    CHECK_RULE("CTXA-052", context_map_at(p, next, 72 * MB) == 72 * MB);
    context_item = next;
}

static void make_mapped(struct probe *p)
{
    context_item = context_make(p);
    CHECK(context_map_at(p, context_item, 64 * MB) == 64 * MB &&
          context_map_at(p, context_item, 72 * MB) == 72 * MB);
}

static void make_mapped_and_committed(struct probe *p)
{
    make_mapped(p);
    CHECK(context_update(p, context_item) == STATUS_SUCCESS);
}

TEST_WITH(context, addresses_are_free_at_once)
{
    context_begin_client();
    context_rig_inside(0, make_mapped); /* never on the GPU */
    context_rig_inside(0, destroy_and_map_again);
    context_rig_inside(0, context_destroy_item);
    context_rig_inside(0, make_mapped_and_committed); /* resident, its context idle */
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    context_rig_inside(0, destroy_and_map_again);
    context_rig_inside(0, context_destroy_item);
    CHECK(context_errors(p) == 0);
    context_end_client();
}

static void destroy_while_busy(struct probe *p)
{
    HANDLE next;

    CHECK(context_destroy(p, context_item) == STATUS_SUCCESS);
    next = context_make(p);
    CHECK_RULE("CTXA-064", context_map_at(p, next, 64 * MB) == 0 && probe_rule(p, "CTXA-046") == 1);
    context_item = next;
}

TEST_WITH(context, addresses_stay_while_the_context_runs)
{
    context_begin_client();
    context_rig_inside(0, make_mapped_and_committed);
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(NT_SUCCESS(probe_gpu_submit(G)));
    probe_sleep(1000000);
    context_rig_inside(0, destroy_while_busy);
    probe_device_packet_ns = 1000;
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(G)));
    probe_sleep(1000000);
    context_rig_inside(0, context_map_item_again);
    context_rig_inside(0, context_destroy_item);
    CHECK(context_errors(p) == 0);
    context_end_client();
}

/* What the GPU never had is free at once, whatever else of the context runs. */
static void make_and_destroy_while_busy(struct probe *p)
{
    make_mapped(p);
    destroy_and_map_again(p);
}

TEST_WITH(context, addresses_of_what_was_not_used_are_free)
{
    context_begin_client();
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(NT_SUCCESS(probe_gpu_submit(G)));
    probe_sleep(1000000);
    context_rig_inside(0, make_and_destroy_while_busy);
    probe_device_packet_ns = 1000;
    CHECK(NT_SUCCESS(probe_gpu_wait_idle(G)));
    context_rig_inside(0, context_destroy_item);
    CHECK(context_errors(p) == 0);
    context_end_client();
}

/* Destroyed by another thread in the middle of an update: it stays until that is over. */
static void destroy_beside(struct probe *p)
{
    probe_sleep(PROBE_SECOND / 100);
    CHECK_RULE("CTXA-062", context_destroy(p, context_item) == STATUS_SUCCESS);
}

static void destroy_in_an_update(struct probe *p)
{
    probe_device_packet_ns = PROBE_SECOND / 10;
    context_beside = probe_client_start(p, destroy_beside);
    CHECK_RULE("CTXA-054",
               context_update(p, context_item) == STATUS_SUCCESS && context_beside->done);
    probe_device_packet_ns = 1000;
    CHECK_RULE("CTXA-063", context_destroy(p, context_item) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(context_beside, one_in_an_update_may_be_destroyed)
{
    context_begin_client();
    context_rig_inside(0, context_make_item);
    context_rig_inside(0, destroy_in_an_update);
    CHECK_RULE("CTXA-066", probe_rule(p, "CTXA-066") == 0);
    context_end_client();
}

/* ---- owners ---- */

static NTSTATUS owner_status[3];
static HANDLE kept;
static unsigned asked;

/* A device allocation while the device is made; one of the context while the context goes. */
static void create_in_create_device(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    context_rig_note_device(p, call);
    if (!context_rig.device)
        return;
    args = context_request(p);
    args.hContext = NULL;
    args.ContextAllocationFlags.SharedAcrossContexts = 1;
    owner_status[0] = context_create(p, &args);
    context_item = args.hAllocation;
}

static void create_in_create_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *created = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];
    DXGKARGCB_CREATECONTEXTALLOCATION args;

    context_rig_note_context(p, call);
    if (created->Flags.SystemContext)
        return;
    args = context_request(p);
    owner_status[2] = context_create(p, &args);
    kept = args.hAllocation;
}

/* The driver's own, which has taken its place, is none of the host's. */
static void create_with_own_handle(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.hContext = (HANDLE)(uintptr_t)0xC0FFEE000;
    CHECK_RULE("CTXA-009", context_create(p, &args) == STATUS_INVALID_PARAMETER &&
                               probe_rule(p, "CTXA-010") == 1);
}

static void create_in_destroy_context(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    (void)call;
    if (!context_item)
        return;
    owner_status[1] = context_create(p, &args);
    CHECK_RULE("CTXA-028", args.hAllocation == NULL);
    CHECK_RULE("CTXA-065", context_destroy(p, context_item) == STATUS_SUCCESS &&
                               context_destroy(p, kept) == STATUS_SUCCESS);
    context_item = NULL;
}

/* One more device, whose context is none of the latest one's. */
static void create_for_another_device(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    CHECK_RULE("CTXA-010", context_create(p, &args) == STATUS_INVALID_PARAMETER &&
                               args.hAllocation == NULL &&
                               probe_said(p, "CTXA-010", "of another device than hDevice"));
}

static void create_in_destroy_device(struct probe *p, struct probe_call *call)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    (void)call;
    if (asked++)
        return;
    args.hContext = NULL;
    args.ContextAllocationFlags.SharedAcrossContexts = 1;
    CHECK_RULE("CTXA-012", context_create(p, &args) == STATUS_INVALID_DEVICE_REQUEST &&
                               args.hAllocation == NULL &&
                               probe_said(p, "CTXA-012", "DxgkDdiDestroyDevice of the device"));
}

TEST_WITH(context, a_device_has_its_own)
{
    D3DKMT_CREATEDEVICE device;
    D3DKMT_DESTROYDEVICE destroy;

    context_begin_client();
    memset(&device, 0, sizeof(device));
    device.hAdapter = G->adapter;
    CHECK(NT_SUCCESS(D3DKMTCreateDevice(&device)));
    context_rig_inside(0, create_for_another_device);
    asked = 0;
    p->before[PROBE_DestroyDevice] = create_in_destroy_device;
    memset(&destroy, 0, sizeof(destroy));
    destroy.hDevice = device.hDevice;
    CHECK(NT_SUCCESS(D3DKMTDestroyDevice(&destroy)) && asked == 1);
    context_end_client();
}

static void owners_body(struct probe *p)
{
    context_begin_client();
    CHECK_RULE("CTXA-012", IS(owner_status[0], STATUS_SUCCESS) && context_item);
    CHECK_RULE("CTXA-009", IS(owner_status[2], STATUS_SUCCESS) && kept);
    context_rig_inside(0, create_with_own_handle);
    CHECK_RULE("CTXA-031", NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    context_end_client();
    CHECK_RULE("CTXA-012", IS(owner_status[1], STATUS_INVALID_DEVICE_REQUEST) &&
                               probe_rule(p, "CTXA-012") == 1 &&
                               probe_said(p, "CTXA-012", "DxgkDdiDestroyContext"));
}

TEST(owners_while_they_are_made_and_go)
{
    struct probe *p = context_rig_create(NULL);

    context_item = NULL;
    p->before[PROBE_CreateDevice] = create_in_create_device;
    p->before[PROBE_CreateContext] = create_in_create_context;
    p->before[PROBE_DestroyContext] = create_in_destroy_context;
    context_rig_run(p, owners_body);
}
