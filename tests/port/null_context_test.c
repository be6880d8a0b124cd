/* SPDX-License-Identifier: MIT */
/* Lazy context switching on a started adapter: before memory of the context that ran last moves, the hardware leaves it. */
#include "dxgkhost/device.h"
#include "port/support/context_client.h"

#define NAME ((HANDLE)(uintptr_t)0xA110C)

/* ---- what was submitted, and what moved ---- */

static struct sent {
    uint64_t order;
    DXGKARG_SUBMITCOMMANDVIRTUAL args;
} sent[64];
static unsigned sent_count;
static struct {
    uint64_t order;
    HANDLE allocation;
    uint64_t bytes;
    bool out;
    ULONG reported; /* fences of node 1 when it was built */
} moved[16];
static unsigned moved_count, initialised;

static void note_submission(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (sent_count < 64)
        sent[sent_count++] = (struct sent){
            call->order, *(const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)call->arg[1]};
}

static void note_operation(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    initialised += op->Operation == DXGK_OPERATION_INIT_CONTEXT_RESOURCE;
    if (op->Operation != DXGK_OPERATION_VIRTUAL_TRANSFER || moved_count == 16)
        return;
    moved[moved_count].order = call->order;
    moved[moved_count].allocation = op->TransferVirtual.hAllocation;
    moved[moved_count].bytes = op->TransferVirtual.TransferSizeInBytes;
    moved[moved_count].out = op->TransferVirtual.TransferDirection ==
                             DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM;
    moved[moved_count++].reported = p->state[0].reported[1];
}

/* The first null-context submission after that call; NULL: none. */
static const struct sent *null_switch(uint64_t from)
{
    for (unsigned i = 0; i < sent_count; i++)
        if (sent[i].order >= from && sent[i].args.Flags.ContextSwitch)
            return &sent[i];
    return NULL;
}

/* ---- the scene ---- */

static UINT node_of_context;
static bool shared;

static void make_named(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.hDriverAllocation = NAME;
    args.ContextAllocationFlags.SharedAcrossContexts = shared;
    if (shared)
        args.hContext = NULL;
    CHECK(context_create(p, &args) == STATUS_SUCCESS);
    context_item = args.hAllocation;
}

static void sleep_and_wake(struct probe *p)
{
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
}

static void begin(struct probe *p)
{
    sent_count = moved_count = initialised = 0;
    context_begin_client();
    context_rig_inside(0, make_named);
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    (void)p;
}

static struct probe *create(bool aware)
{
    struct probe *p = context_rig_create(NULL);

    p->caps.SchedulingCaps.PreemptionAware = aware;
    p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 3;
    p->physical.NumExecutionNodes = 3;
    p->physical.PagingNodeIndex = 2; /* the client's node runs nothing else */
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    p->before[PROBE_BuildPagingBuffer] = note_operation;
    shared = false;
    return p;
}

/* ---- the switch ---- */

static void switch_body(struct probe *p)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args;
    const struct sent *left;
    uint64_t from;
    UINT last;

    begin(p);
    last = sent[sent_count - 1].args.SubmissionFenceId;
    from = p->calls;
    sleep_and_wake(p);
    left = null_switch(from);
    CHECK_RULE("CTXA-033", left != NULL && moved_count >= 1 && left->order < moved[0].order);
    CHECK_RULE("RES-076", left && left->args.Flags.Value == 0x40);
    CHECK_RULE("PREEMPT-033", left && !left->args.Flags.Paging && left->args.NodeOrdinal == 1);
    args = &left->args;
    CHECK_RULE("PREEMPT-034", !args->hContext && args->DmaBufferVirtualAddress == 0 &&
                                  args->DmaBufferSize == 0 && args->DmaBufferPrivateDataSize == 0 &&
                                  args->DmaBufferUmdPrivateDataSize == 0 &&
                                  !args->pDmaBufferPrivateData);
    CHECK_RULE("PREEMPT-034", args->SubmissionFenceId == last + 1);
    CHECK_RULE("PREEMPT-034", moved[0].reported == args->SubmissionFenceId);
    CHECK_RULE("CTXA-033", !null_switch(left->order + 1)); /* it is nobody's now */
    /* a sleep again, with no work in between */
    from = p->calls;
    sleep_and_wake(p);
    CHECK_RULE("CTXA-033", !null_switch(from));
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(the_hardware_leaves_a_context_before_its_memory_moves)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = create(true);

        shared = i != 0;
        context_rig_run(p, switch_body);
    }
}

/* Nothing else in the packet's way: it is waited for. */
static void slow_body(struct probe *p)
{
    uint64_t from;

    begin(p);
    from = p->calls;
    probe_device_packet_ns = PROBE_SECOND / 100;
    sleep_and_wake(p);
    probe_device_packet_ns = 1000;
    CHECK_RULE("PREEMPT-034", null_switch(from) && moved_count >= 1 &&
                                  moved[0].reported == null_switch(from)->args.SubmissionFenceId);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(the_memory_moves_after_the_switch)
{
    context_rig_run(create(true), slow_body);
}

static void unaware_body(struct probe *p)
{
    uint64_t from;

    begin(p);
    from = p->calls;
    sleep_and_wake(p);
    CHECK_RULE("PREEMPT-036", moved_count >= 1 && !null_switch(from));
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(a_driver_without_preemption_gets_no_switch)
{
    context_rig_run(create(false), unaware_body);
}

/* By commands of the driver's own. */
static void leave_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];
    struct dxgk_device_work work = {.node = args->NodeOrdinal,
                                    .fence = args->SubmissionFenceId,
                                    .begins = true,
                                    .address = 0x7000,
                                    .bytes = 32};

    note_submission(p, call);
    if (!args->Flags.ContextSwitch)
        return;
    call->marked = true;
    probe_device_work(0, &work);
    work.begins = false;
    probe_device_work(0, &work);
}

static void own_commands_body(struct probe *p)
{
    uint64_t from;

    begin(p);
    from = p->calls;
    sleep_and_wake(p);
    CHECK(null_switch(from) && p->call[null_switch(from)->order]->marked);
    CHECK_RULE("SUBMIT-030", probe_rule(p, "SUBMIT-030") == 0);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(the_driver_may_have_commands_of_its_own_for_it)
{
    struct probe *p = create(true);

    p->before[PROBE_SubmitCommandVirtual] = leave_context;
    context_rig_run(p, own_commands_body);
}

/* Another context's commands were queued since. */
static D3DKMT_HANDLE other_context(void)
{
    D3DKMT_CREATECONTEXTVIRTUAL args;

    memset(&args, 0, sizeof(args));
    args.hDevice = G->device;
    args.NodeOrdinal = node_of_context;
    CHECK(IS(D3DKMTCreateContextVirtual(&args), STATUS_SUCCESS));
    return args.hContext;
}

static void submit_on(D3DKMT_HANDLE context)
{
    struct probe_gpu other = *G;

    other.context = context;
    CHECK(NT_SUCCESS(probe_gpu_submit(&other)) && NT_SUCCESS(probe_gpu_wait_idle(&other)));
}

static void not_current_body(struct probe *p)
{
    D3DKMT_HANDLE other;
    uint64_t from;

    begin(p);
    other = other_context();
    submit_on(other);
    from = p->calls;
    sleep_and_wake(p);
    CHECK_RULE("CTXA-033", moved_count >= 1 && !null_switch(from));
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(a_context_that_another_one_followed_was_left)
{
    node_of_context = 1;
    context_rig_run(create(true), not_current_body);
}

/* ---- in system memory ---- */

static bool physically;

static void make_in_system_memory(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.SupportedSegmentSet = 2;
    args.Flags.AccessedPhysically = physically;
    CHECK(context_create(p, &args) == STATUS_SUCCESS);
    context_item = args.hAllocation;
}

/* It leaves the aperture for other pages' sake, or stays where the GPU reaches it by its tables. */
static void system_body(struct probe *p)
{
    uint64_t from;

    sent_count = moved_count = 0;
    context_begin_client();
    context_rig_inside(0, make_in_system_memory);
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    from = p->calls;
    sleep_and_wake(p);
    CHECK(moved_count == 0);
    CHECK_RULE("CTXA-033", (null_switch(from) != NULL) == physically);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(leaving_the_aperture_is_a_move)
{
    for (unsigned i = 0; i < 2; i++) {
        physically = i != 0;
        context_rig_run(create(true), system_body);
    }
}

/* ---- what moves ---- */

static void moves_body(struct probe *p)
{
    uint64_t out = 0, in = 0;
    unsigned unknown = 0;

    begin(p);
    CHECK(initialised == 1);
    sleep_and_wake(p);
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
    for (unsigned i = 0; i < moved_count; i++) {
        out += moved[i].out ? moved[i].bytes : 0;
        in += moved[i].out ? 0 : moved[i].bytes;
        unknown += moved[i].allocation != NAME;
    }
    CHECK_RULE("CTXA-025", moved_count >= 2 && unknown == 0);
    CHECK_RULE("CTXA-037", initialised == 1 && out == 2 * 4096 && in == 2 * 4096);
    CHECK_RULE("PREEMPT-031", initialised == 1 && out == 2 * 4096 && in == 2 * 4096);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(the_driver_knows_what_moves_by_its_own_name)
{
    context_rig_run(create(true), moves_body);
}

/* ---- whose turn it is ---- */

static uint64_t first_move(bool out, uint64_t from)
{
    for (unsigned i = 0; i < moved_count; i++)
        if (moved[i].out == out && moved[i].order >= from && moved[i].allocation == NAME)
            return moved[i].order;
    return UINT64_MAX;
}

/* Of two contexts the first has memory of its own. */
static void alternate(struct probe *p)
{
    uint64_t slept, from;
    D3DKMT_HANDLE other;

    begin(p);
    node_of_context = 1;
    other = other_context();
    slept = p->calls; /* it ran last: it is left before its memory goes */
    sleep_and_wake(p);
    CHECK_RULE("PREEMPT-029/b", null_switch(slept) &&
                                    null_switch(slept)->order < first_move(true, slept) &&
                                    first_move(true, slept) < p->calls);
    from = p->calls; /* its memory is back before its next packet */
    submit_on(G->context);
    CHECK_RULE("PREEMPT-029/a", first_move(false, slept) > first_move(true, slept) &&
                                    first_move(false, slept) < sent[sent_count - 1].order &&
                                    sent[sent_count - 1].order >= from);
    from = p->calls; /* it stays while nobody else runs */
    submit_on(G->context);
    CHECK_RULE("PREEMPT-029/b",
               first_move(true, from) == UINT64_MAX && first_move(false, from) == UINT64_MAX);
    submit_on(other); /* and may go once a packet of another context was put on the node */
    slept = p->calls;
    sleep_and_wake(p);
    CHECK_RULE("PREEMPT-029/c", !null_switch(slept) && first_move(true, slept) < p->calls);
    submit_on(G->context);
    CHECK_RULE("PREEMPT-029/a", first_move(false, slept) < sent[sent_count - 1].order);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(memory_of_a_context_is_there_for_its_turn)
{
    context_rig_run(create(true), alternate);
}
