/* SPDX-License-Identifier: MIT */
/* Context allocations as allocations: who describes them, whose they can be, and that none comes to the entries of others. */
#include "port/support/context_client.h"

#define DRIVER_HANDLE ((HANDLE)(uintptr_t)0xD1D1D1D0)

static unsigned inits;
static HANDLE init_handle;
static D3DGPU_VIRTUAL_ADDRESS mapped;
static uint64_t leaf_pages[64];
static unsigned leaves;
static HANDLE system_device, system_context;

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const void *)(uintptr_t)call->arg[1];

    (void)p;
    if (op->Operation == DXGK_OPERATION_INIT_CONTEXT_RESOURCE) {
        inits++;
        init_handle = op->InitContextResource.hAllocation;
    }
    if (op->Operation != DXGK_OPERATION_UPDATE_PAGE_TABLE || op->UpdatePageTable.PageTableLevel ||
        op->UpdatePageTable.hAllocation != DRIVER_HANDLE)
        return;
    for (UINT i = 0; i < op->UpdatePageTable.NumPageTableEntries && leaves < 64; i++)
        if (op->UpdatePageTable.pPageTableEntries[i].Valid)
            leaf_pages[leaves++] = op->UpdatePageTable.pPageTableEntries[i].PageAddress;
}

static void create_described(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.hDriverAllocation = DRIVER_HANDLE;
    args.Size = 5000;
    args.Alignment = 1u << 20;
    args.SupportedSegmentSet = 3;
    args.EvictionSegmentSet = 2;
    args.PreferredSegment.SegmentId0 = 1;
    args.PreferredSegment.Direction0 = 1; /* from the end */
    CHECK_RULE("ALLOC-112", context_create(p, &args) == STATUS_SUCCESS && args.hAllocation &&
                                args.hAllocation != DRIVER_HANDLE &&
                                args.hAllocation != (HANDLE)(uintptr_t)0x5A5A);
    context_item = args.hAllocation;
    mapped = context_map_at(p, context_item, 64 * MB);
    CHECK_RULE("ALLOC-112", mapped == 64 * MB && context_update(p, context_item) == STATUS_SUCCESS);
}

TEST_WITH(context, the_driver_describes_it_itself)
{
    context_begin_client();
    inits = leaves = 0;
    p->before[PROBE_BuildPagingBuffer] = note_operation;
    context_rig_inside(0, create_described);
    CHECK_RULE("ALLOC-112", inits == 1 && init_handle == context_item);
    /* 5000 bytes are two pages, at the last multiple of 1 MiB of the 16 MiB segment */
    CHECK_RULE("ALLOC-112", leaves >= 2 && leaf_pages[0] == 15 * (MB >> 12) &&
                                leaf_pages[1] == leaf_pages[0] + 1);
    CHECK_RULE("ALLOC-112", probe_count(p, PROBE_CreateAllocation) == 0 &&
                                probe_count(p, PROBE_OpenAllocation) == 0);
    context_rig_inside(0, context_destroy_item);
    CHECK_RULE("ALLOC-114", probe_count(p, PROBE_DestroyAllocation) == 0 &&
                                probe_count(p, PROBE_CloseAllocation) == 0);
    context_end_client();
}

/* ---- of no system object ---- */

static void note_device(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEDEVICE *args = (const void *)(uintptr_t)call->arg[1];

    context_rig_note_device(p, call);
    if (args->Flags.SystemDevice)
        system_device = args->hDevice;
}

static void note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const void *)(uintptr_t)call->arg[1];

    context_rig_note_context(p, call);
    if (args->Flags.SystemContext)
        system_context = args->hContext;
}

static void create_for_the_system(struct probe *p)
{
    const HANDLE device[] = {system_device, system_device, context_rig.device, NULL, NULL};
    const HANDLE context[] = {NULL, system_context, system_context, NULL, system_context};

    for (unsigned i = 0; i < 5; i++) {
        DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

        args.hDevice = device[i];
        args.hContext = context[i];
        args.ContextAllocationFlags.SharedAcrossContexts = !context[i];
        CHECK_RULE("ALLOC-113",
                   context_create(p, &args) == STATUS_INVALID_PARAMETER && !args.hAllocation);
    }
}

static void system_body(struct probe *p)
{
    context_begin_client();
    CHECK(system_context);
    context_rig_inside(0, create_for_the_system);
    CHECK_RULE("ALLOC-113", probe_rule(p, "CTXA-010") + probe_rule(p, "CTXA-011") == 5);
    context_end_client();
}

TEST(objects_of_the_system_have_none)
{
    struct probe *p = context_rig_create(NULL);

    p->before[PROBE_CreateDevice] = note_device;
    p->before[PROBE_CreateContext] = note_context;
    context_rig_run(p, system_body);
}

/* ---- given back ---- */

static void create_most(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.hDriverAllocation = DRIVER_HANDLE;
    args.Size = 9 * MB;
    CHECK(context_create(p, &args) == STATUS_SUCCESS);
    context_item = args.hAllocation;
    CHECK_RULE("ALLOC-114", context_update(p, context_item) == STATUS_SUCCESS);
}

/* More than half of what there is, again and again while the context lives. */
TEST_WITH(context, memory_is_given_back_while_the_context_lives)
{
    context_begin_client();
    for (unsigned i = 0; i < 4; i++) {
        D3DKMT_HANDLE beside;

        context_rig_inside(0, create_most);
        CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
        context_rig_inside(0, context_destroy_item);
        CHECK_RULE("ALLOC-114", NT_SUCCESS(probe_gpu_allocate(G, 4096, &beside)));
    }
    CHECK_RULE("ALLOC-114", context_errors(p) == 0 && probe_count(p, PROBE_DestroyContext) == 0);
    context_end_client();
}

/* ---- forgotten ---- */

static void forget_two(struct probe *p)
{
    context_make_item(p);
    context_make_item(p);
    CHECK(context_update(p, context_item) == STATUS_SUCCESS);
}

static void begin_and_forget(struct probe *p)
{
    (void)p;
    context_begin_client();
    context_rig_inside(0, forget_two);
}

static void end(struct probe *p)
{
    (void)p;
    context_end_client();
}

TEST(a_forgotten_one_is_reported_and_no_allocation_is_destroyed)
{
    struct probe *p = context_rig_create(NULL);
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, begin_and_forget);
    CHECK_RULE("ALLOC-115", probe_rule(p, "CTXA-066") == 0);
    probe_client_go_on(p, client, end);
    CHECK_RULE("ALLOC-115", probe_rule(p, "CTXA-066") == 2 &&
                                probe_count(p, PROBE_DestroyAllocation) == 0 &&
                                probe_count(p, PROBE_CreateAllocation) == 0);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}
