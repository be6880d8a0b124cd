/* SPDX-License-Identifier: MIT */
/* Paging operations about context allocations and residency notices on a started adapter: what they say, and when they come. */
#include "port/support/context_client.h"
#include "port/support/paged.h"
#include "sim/fault.h"

#define INIT   DXGK_OPERATION_INIT_CONTEXT_RESOURCE
#define CHANGE DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION
#define BASE   (2ll << 32) /* of the memory segment */
#define DRIVER ((HANDLE)(uintptr_t)0xD417E4)

static struct probe *rig(void)
{
    struct probe *p = context_rig_create(NULL);

    paged_watch(p);
    p->segment[0].BaseAddress.QuadPart = BASE;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    context_rig_run(p, body);
}

static uint64_t last_order(const struct probe *p, enum probe_ddi ddi)
{
    return probe_nth(p, ddi, probe_count(p, ddi) - 1)->order;
}

/* ---- INIT_CONTEXT_RESOURCE ---- */

static void make_for_driver(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.hDriverAllocation = DRIVER;
    CHECK(context_create(p, &args) == STATUS_SUCCESS);
    context_item = args.hAllocation;
}

static void submit(struct probe *p)
{
    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_submit(G)) && NT_SUCCESS(probe_gpu_wait_idle(G)));
}

static void make_and_submit(struct probe *p)
{
    context_begin_client();
    context_rig_inside(0, make_for_driver);
    CHECK_RULE("PAGE-074", paged_count(INIT, 0) == 0);
    submit(p);
    submit(p);
}

static void end(struct probe *p)
{
    context_rig_inside(0, context_destroy_item);
    CHECK(context_errors(p) == 0);
    context_end_client();
}

static void off(struct probe *p)
{
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
}

static void on(struct probe *p)
{
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
}

TEST(a_context_allocation_is_initialised_once)
{
    struct probe *p = rig();
    struct probe_client *client;
    const struct paged_op *init, *out, *in;
    unsigned mark;

    probe_clients_begin(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, make_and_submit);
    init = paged_nth(INIT, 0, 0);
    CHECK_RULE("PAGE-074", paged_count(INIT, 0) == 1 &&
                               init->args.InitContextResource.hAllocation == context_item &&
                               init->args.InitContextResource.Destination.SegmentId == 1);
    CHECK_RULE("PAGE-074",
               init->args.InitContextResource.Destination.SegmentAddress.QuadPart >= BASE &&
                   init->args.InitContextResource.Destination.SegmentAddress.QuadPart <
                       BASE + (16 << 20));
    CHECK_RULE("PAGE-074", init->order < last_order(p, PROBE_SubmitCommandVirtual));
    /* its content leaves memory, and is brought back as it was */
    mark = paged.count;
    CHECK(probe_run(p, off) == SIM_DONE);
    CHECK_RULE("RES-077", paged_moves(DRIVER, DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM, mark) == 1);
    CHECK_RULE("RES-075", paged_moves(DRIVER, DXGK_MEMORY_TRANSFER_SYSTEM_TO_LOCAL, mark) == 0);
    out = paged_nth(DXGK_OPERATION_VIRTUAL_TRANSFER, mark, 0);
    CHECK(probe_run(p, on) == SIM_DONE);
    probe_client_go_on(p, client, submit);
    in = paged_nth(DXGK_OPERATION_VIRTUAL_TRANSFER, mark, 1);
    CHECK_RULE("PAGE-074",
               paged_count(INIT, 0) == 1 && in && in->args.TransferVirtual.hAllocation == DRIVER);
    CHECK_RULE("RES-077", in &&
                              in->args.TransferVirtual.TransferDirection ==
                                  DXGK_MEMORY_TRANSFER_SYSTEM_TO_LOCAL &&
                              in->args.TransferVirtual.TransferSizeInBytes == 2 * PAGED_PAGE &&
                              out->args.TransferVirtual.TransferSizeInBytes == 2 * PAGED_PAGE);
    CHECK_RULE("RES-075", in && in->order < last_order(p, PROBE_SubmitCommandVirtual));
    probe_client_go_on(p, client, end);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* The device's, with a second context of it; the first has never run. */
static D3DKMT_HANDLE other_context;

static void make_shared(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.hContext = NULL;
    args.ContextAllocationFlags.SharedAcrossContexts = 1;
    CHECK(context_create(p, &args) == STATUS_SUCCESS);
    context_item = args.hAllocation;
}

static void share(struct probe *p)
{
    D3DKMT_CREATECONTEXTVIRTUAL create;

    context_begin_client();
    memset(&create, 0, sizeof(create));
    create.hDevice = G->device;
    create.NodeOrdinal = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateContextVirtual(&create)));
    other_context = G->context;
    context_rig_inside(0, make_shared);
    CHECK_RULE("RES-075", paged_count(INIT, 0) == 0);
    G->context = create.hContext;
    submit(p);
    CHECK_RULE("RES-075",
               paged_count(INIT, 0) == 1 &&
                   paged_nth(INIT, 0, 0)->order < last_order(p, PROBE_SubmitCommandVirtual));
    G->context = other_context;
    submit(p);
    CHECK_RULE("RES-075", paged_count(INIT, 0) == 1);
    end(p);
}

TEST(one_of_the_device_is_there_for_each_context)
{
    run(rig(), share);
}

/* ---- its address for the processor ---- */

static const struct {
    UINT flags, segments;
    bool address;
} views[] = {
    {0x9, 2, true},                   /* CpuVisible, Protected, the aperture */
    {0x1, 2, false},                  /* one flag less */
    {0x8, 2, false}, {0x9, 3, false}, /* memory, too */
    {0x9, 1, false},
};
static unsigned view;

static void make_visible(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.Flags.Value = views[view].flags;
    args.SupportedSegmentSet = views[view].segments;
    CHECK(context_create(p, &args) == STATUS_SUCCESS);
    context_item = args.hAllocation;
}

static void write_view(struct probe *p)
{
    const UINT32 word = 0x51DE;

    context_begin_client();
    context_rig_inside(0, make_visible);
    submit(p);
    if (views[view].address)
        CHECK_RULE("PAGE-075",
                   sim_copy_checked((uint8_t *)paged_nth(INIT, 0, 0)
                                            ->args.InitContextResource.Destination.VirtualAddress +
                                        2 * PAGED_PAGE - sizeof(word),
                                    &word, sizeof(word)));
}

TEST(only_a_protected_one_in_system_memory_has_an_address)
{
    for (view = 0; view < sizeof(views) / sizeof(views[0]); view++) {
        struct probe *p = rig();
        struct probe_client *client;
        UINT32 word = 0;
        uint8_t *address;

        probe_clients_begin(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        client = probe_client_run(p, write_view);
        address = paged_nth(INIT, 0, 0)->args.InitContextResource.Destination.VirtualAddress;
        CHECK_RULE("PAGE-075", (address != NULL) == views[view].address);
        CHECK(probe_run(p, off) == SIM_DONE);
        if (address)
            CHECK_RULE("PAGE-075", sim_copy_checked(&word, address + 2 * PAGED_PAGE - sizeof(word),
                                                    sizeof(word)) &&
                                       word == 0x51DE);
        CHECK(probe_run(p, on) == SIM_DONE);
        probe_client_go_on(p, client, submit);
        if (address)
            CHECK_RULE("PAGE-075", sim_copy_checked(&word, address + 2 * PAGED_PAGE - sizeof(word),
                                                    sizeof(word)) &&
                                       word == 0x51DE);
        probe_client_go_on(p, client, end);
        probe_client_end(p, client);
        probe_clients_end(p);
        probe_destroy(p);
    }
}

/* ---- UPDATE_CONTEXT_ALLOCATION ---- */

static uint32_t data_seen[4];
static UINT data_bytes;

static void look_at_data(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];

    (void)p;
    if (args->Operation != CHANGE)
        return;
    data_bytes = args->UpdateContextAllocation.DriverPrivateDataSize;
    memcpy(data_seen, args->UpdateContextAllocation.pDriverPrivateData, sizeof(data_seen));
}

static void make_odd(struct probe *p)
{
    DXGKARGCB_CREATECONTEXTALLOCATION args = context_request(p);

    args.Size = 5000;
    CHECK(context_create(p, &args) == STATUS_SUCCESS);
    context_item = args.hAllocation;
}

/* The entries of the paging process that show it at the address, before `op`. */
static bool mapped_before(const struct paged_op *op, D3DGPU_VIRTUAL_ADDRESS at)
{
    bool valid = false;

    for (const struct paged_op *before = paged.op; before < op; before++) {
        const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *u = &before->args.UpdatePageTable;

        if (before->args.Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE &&
            u->hProcess == paged.system_process && u->PageTableLevel == 0 &&
            u->FirstPteVirtualAddress <= at &&
            u->FirstPteVirtualAddress + u->NumPageTableEntries * PAGED_PAGE > at)
            valid = before->entry.Valid && u->NumPageTableEntries == 2;
    }
    return valid;
}

static void update_slowly(struct probe *p)
{
    uint64_t before = p->state[0].reported[1];
    uint64_t now = sim_now();

    probe_device_packet_ns = PROBE_SECOND / 20;
    CHECK_RULE("PAGE-076", context_update(p, context_item) == STATUS_SUCCESS);
    CHECK_RULE("PAGE-076", sim_now() >= now + PROBE_SECOND / 20 &&
                               p->state[0].reported[1] > before &&
                               p->state[0].reported[1] == p->state[0].submitted[1]);
    probe_device_packet_ns = 1000;
}

static void update_all(struct probe *p)
{
    const struct paged_op *op;

    context_begin_client();
    context_rig_inside(0, make_odd);
    context_rig_inside(0, update_slowly);
    op = paged_nth(CHANGE, 0, 0);
    CHECK_RULE("PAGE-076", paged_count(CHANGE, 0) == 1 &&
                               op->args.UpdateContextAllocation.ContextAllocationSize == 5000);
    CHECK_RULE("PAGE-076", data_bytes == 16 && data_seen[0] == 1 && data_seen[3] == 4);
    CHECK_RULE("PAGE-076",
               op->args.hSystemContext == paged.system_context &&
                   mapped_before(op, op->args.UpdateContextAllocation.ContextAllocation));
    end(p);
}

TEST(an_update_is_done_when_the_call_returns)
{
    struct probe *p = rig();

    p->after[PROBE_BuildPagingBuffer] = look_at_data;
    run(p, update_all);
}

static NTSTATUS inside;
static unsigned asked;

static void ask_inside(struct probe *p, struct probe_call *call)
{
    (void)call;
    if (!context_item || asked)
        return;
    asked++;
    inside = context_update(p, context_item);
}

static void update_inside(struct probe *p)
{
    uint64_t now;

    context_begin_client();
    context_rig_inside(0, context_make_item);
    asked = 0;
    now = sim_now();
    submit(p); /* commits it */
    CHECK_RULE("PAGE-077", asked == 1 && inside == STATUS_INVALID_DEVICE_REQUEST &&
                               probe_rule(p, "CTXA-060") == 1 && sim_now() - now < PROBE_SECOND);
    context_rig_inside(0, context_update_item);
    context_rig_inside(0, context_destroy_item);
    context_end_client();
}

TEST(no_update_comes_from_inside_of_paging)
{
    static const enum probe_ddi where[] = {PROBE_BuildPagingBuffer, PROBE_SubmitCommandVirtual};

    for (size_t i = 0; i < 2; i++) {
        struct probe *p = rig();

        context_item = NULL;
        asked = 1;
        p->after[where[i]] = ask_inside;
        run(p, update_inside);
    }
}

/* ---- NOTIFY_RESIDENCY ---- */

static struct {
    unsigned notices, passes;
    ULONG done; /* the last fence of the paging node when it was built */
    uint64_t order;
    D3DGPU_PHYSICAL_ADDRESS at;
    bool resident;
} notice;

/* It finds no room in the buffer with the fill, which is then submitted on its own. */
static void build_apart(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];

    if (args->Operation != DXGK_OPERATION_NOTIFY_RESIDENCY)
        return;
    if (args->DmaBufferWriteOffset) {
        notice.passes++;
        call->answered = true;
        call->result = (uint64_t)(uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        return;
    }
    notice.notices++;
    notice.at = args->NotifyResidency.PhysicalAddress;
    notice.resident = args->NotifyResidency.Resident;
    notice.done = p->state[0].reported[1];
    notice.order = call->order;
}

static void arrive_slowly(struct probe *p)
{
    D3DKMT_HANDLE allocation;
    uint64_t fence;

    (void)p;
    context_begin_client();
    paged.segments = 1;
    paged.flags = 0x18001; /* CpuVisible, AccessedPhysically, ExplicitResidencyNotification */
    CHECK(NT_SUCCESS(paged_create(G, PAGED_MIB, &allocation)));
    probe_device_packet_ns = PROBE_SECOND / 10;
    CHECK(paged_make_resident(G, allocation, &fence) == STATUS_PENDING);
    CHECK(NT_SUCCESS(paged_wait(G, fence)));
    CHECK_RULE("PAGE-073", notice.notices == 1 && notice.passes == 1 && notice.resident &&
                               notice.at.SegmentId == 1);
    /* the packet of the fill was not done: it and that of the notice came to an end later */
    CHECK_RULE("PAGE-073", p->state[0].reported[1] >= notice.done + 2 &&
                               notice.order < probe_nth(p, PROBE_InterruptRoutine,
                                                        probe_count(p, PROBE_InterruptRoutine) - 2)
                                                  ->order);
    probe_device_packet_ns = 1000;
    memset(&notice, 0, sizeof(notice));
    CHECK(NT_SUCCESS(paged_evict(G, allocation)));
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("PAGE-073", notice.notices == 1 && !notice.resident && notice.at.SegmentId == 0 &&
                               notice.at.SegmentOffset == 0);
    context_end_client();
}

TEST(a_notice_does_not_wait_for_the_content)
{
    struct probe *p = rig();

    memset(&notice, 0, sizeof(notice));
    p->before[PROBE_BuildPagingBuffer] = build_apart;
    run(p, arrive_slowly);
}
