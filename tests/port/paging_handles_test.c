/* SPDX-License-Identifier: MIT */
/*
 * Whom a paging buffer names, and which private data is its own, as a started adapter without GPU virtual addressing sees it: with
 * contexts and without, in ordinary paging, when the power goes, and afterwards.
 */
#include "port/record/adapter_record.h"
#include "port/support/client.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "vidmm/reset.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk
#define BYTES              (1u << 20)
#define PRIVATE_BYTES      64u

/* ---- what the driver was given ---- */

struct packet {
    uint64_t order; /* of the call of SubmitCommand */
    DXGKARG_PATCH patch;
    DXGKARG_SUBMITCOMMAND sent;
};

static struct packet packets[64];
static unsigned packet_count, odd_builds;
static DXGKARG_PATCH patched;
static HANDLE system_context; /* what CreateContext called it */
static unsigned system_devices;
static UINT private_step; /* how far each operation moves pDmaBufferPrivateData */

static void note_device(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEDEVICE *args = (const DXGKARG_CREATEDEVICE *)(uintptr_t)call->arg[1];

    if (p->caps.SchedulingCaps.MultiEngineAware)
        system_devices += args->Flags.SystemDevice;
    else
        *args->pInfo = (DXGK_DEVICEINFO){
            .DmaBufferSize = 4096, .AllocationListSize = 16, .PatchLocationListSize = 16};
}

static void note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.SystemContext)
        system_context = args->hContext;
}

static void move_private(struct probe *p, struct probe_call *call)
{
    DXGKARG_BUILDPAGINGBUFFER *args = (DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    odd_builds += args->hSystemContext != system_context;
    if (NT_SUCCESS((NTSTATUS)call->result) && args->pDmaBuffer && private_step)
        args->pDmaBufferPrivateData = (uint8_t *)args->pDmaBufferPrivateData + private_step;
}

static void want_private(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *args = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)
                                                call->arg[1];

    (void)p;
    if (!args->pDmaBuffer || args->DmaBufferPrivateDataSize >= private_step)
        return;
    call->result = (uint64_t)(uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    call->answered = true;
}

static void note_patch(struct probe *p, struct probe_call *call)
{
    (void)p;
    patched = *(const DXGKARG_PATCH *)(uintptr_t)call->arg[1];
}

static void note_submit(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (packet_count < 64)
        packets[packet_count++] = (struct packet){
            call->order, patched, *(const DXGKARG_SUBMITCOMMAND *)(uintptr_t)call->arg[1]};
}

/* WDDM 2.x by its version, so that clients may page; no GPU virtual addresses. */
static struct probe *create(bool contexts)
{
    struct probe *p = probe_create(NULL);

    probe_make_1x(p);
    p->caps.SchedulingCaps.MultiEngineAware = contexts;
    p->caps.SchedulingCaps.PreemptionAware = 0;
    p->physical.NumExecutionNodes = contexts ? 2 : 1;
    p->physical.PagingNodeIndex = contexts ? 1 : 0;
    p->iommu.DmaRemappingSupported = 0;
    p->paging_private_bytes = PRIVATE_BYTES;
    p->after[PROBE_CreateDevice] = note_device;
    p->after[PROBE_CreateContext] = note_context;
    p->before[PROBE_BuildPagingBuffer] = want_private;
    p->after[PROBE_BuildPagingBuffer] = move_private;
    p->before[PROBE_Patch] = note_patch;
    p->before[PROBE_SubmitCommand] = note_submit;
    packet_count = odd_builds = system_devices = private_step = 0;
    system_context = NULL;
    probe_clients_begin(p);
    return p;
}

static void finish(struct probe *p, struct probe_client *client)
{
    CHECK(probe_reports(p, VERIFY_ERROR) == 0);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

static struct probe_gpu gpu;
static D3DKMT_HANDLE allocation;

static void page_in(struct probe *p)
{
    (void)p;
    (void)probe_gpu_begin(&gpu); /* all but the virtual context, which is none for this driver */
    CHECK(gpu.device && gpu.queue);
    CHECK(IS(probe_gpu_allocate(&gpu, BYTES, &allocation), STATUS_SUCCESS));
}

static void page_in_again(struct probe *p)
{
    (void)p;
    CHECK(IS(probe_gpu_allocate(&gpu, BYTES, &allocation), STATUS_SUCCESS));
}

static void sleep_body(struct probe *p)
{
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
}

static void wake_body(struct probe *p)
{
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
}

/* Packets [from, to) all name `handle`, in both calls, on the paging node. */
static bool all_name(unsigned from, unsigned to, HANDLE handle, UINT node)
{
    for (unsigned i = from; i < to; i++)
        if (packets[i].patch.hContext != handle || packets[i].sent.hContext != handle ||
            packets[i].sent.NodeOrdinal != node || !packets[i].sent.Flags.Paging ||
            !packets[i].patch.Flags.Paging)
            return false;
    return from < to;
}

/* SubmitCommand has what Patch had, and no lists. */
static bool all_agree(void)
{
    for (unsigned i = 0; i < packet_count; i++) {
        const DXGKARG_PATCH *a = &packets[i].patch;
        const DXGKARG_SUBMITCOMMAND *b = &packets[i].sent;

        if (a->SubmissionFenceId != b->SubmissionFenceId ||
            a->DmaBufferSegmentId != b->DmaBufferSegmentId ||
            a->DmaBufferPhysicalAddress.QuadPart != b->DmaBufferPhysicalAddress.QuadPart ||
            a->DmaBufferSize != b->DmaBufferSize ||
            a->DmaBufferSubmissionStartOffset != b->DmaBufferSubmissionStartOffset ||
            a->DmaBufferSubmissionEndOffset != b->DmaBufferSubmissionEndOffset ||
            a->DmaBufferSubmissionEndOffset <= a->DmaBufferSubmissionStartOffset)
            return false;
    }
    return packet_count > 0;
}

/* A segment of 0 and an address in RAM (the probe's 64 MiB): the buffer as the driver wants it. */
static bool all_in_system_memory(void)
{
    for (unsigned i = 0; i < packet_count; i++)
        if (packets[i].sent.DmaBufferSegmentId != 0 ||
            packets[i].sent.DmaBufferPhysicalAddress.QuadPart <= 0 ||
            packets[i].sent.DmaBufferPhysicalAddress.QuadPart >= 64 << 20)
            return false;
    return packet_count > 0;
}

static bool all_private_agree(void)
{
    for (unsigned i = 0; i < packet_count; i++) {
        const DXGKARG_PATCH *a = &packets[i].patch;
        const DXGKARG_SUBMITCOMMAND *b = &packets[i].sent;

        if (a->pDmaBufferPrivateData != b->pDmaBufferPrivateData ||
            a->DmaBufferPrivateDataSize != PRIVATE_BYTES ||
            b->DmaBufferPrivateDataSize != PRIVATE_BYTES ||
            a->DmaBufferPrivateDataSubmissionStartOffset !=
                b->DmaBufferPrivateDataSubmissionStartOffset ||
            a->DmaBufferPrivateDataSubmissionEndOffset != b->DmaBufferPrivateDataSubmissionEndOffset)
            return false;
    }
    return packet_count > 0;
}

/* ---- handles ---- */

/* A client's memory comes in, goes when the power goes, and comes in again. */
struct cycle {
    struct probe *p;
    bool contexts; /* the driver has them */
    UINT node;     /* that pages */
    /* what the driver had created when it was started */
    size_t devices, created;
    unsigned of_system;
    bool has_system_context;
    /* the packets: [0, down) before, [down, up) when the power goes, the rest after it came back */
    unsigned down, up;
};

static void run_cycle(bool contexts, void (*body)(const struct cycle *cycle))
{
    struct cycle cycle = {.p = create(contexts), .contexts = contexts, .node = contexts ? 1 : 0};
    struct probe_client *client;
    struct probe *p = cycle.p;

    CHECK(NT_SUCCESS(probe_start(p)));
    cycle.devices = probe_count(p, PROBE_CreateDevice);
    cycle.created = probe_count(p, PROBE_CreateContext);
    cycle.of_system = system_devices;
    cycle.has_system_context = system_context != NULL;
    client = probe_client_run(p, page_in);
    cycle.down = packet_count;
    CHECK(probe_run(p, sleep_body) == SIM_DONE);
    cycle.up = packet_count;
    CHECK(probe_run(p, wake_body) == SIM_DONE);
    probe_client_go_on(p, client, page_in_again);
    body(&cycle);
    finish(p, client);
}

#define RIG_ARGUMENT_cycle            const struct cycle *cycle
#define RIG_RUN_cycle(body, contexts) run_cycle(contexts, body)

TEST_WITH(cycle, the_system_has_a_device_where_there_are_contexts, true)
{
    CHECK_RULE("PATCH-006",
               cycle->devices == 2u * cycle->contexts && cycle->created == cycle->contexts);
    CHECK_RULE("PAGE-020", cycle->of_system == 2u * cycle->contexts &&
                               cycle->has_system_context == cycle->contexts);
}
TEST_ALSO(cycle, the_system_has_a_device_where_there_are_contexts, without_contexts, false)

TEST_WITH(cycle, paging_names_the_system_context, true)
{
    unsigned down = cycle->down, up = cycle->up;

    CHECK_RULE("PAGE-019", all_name(0, down, system_context, cycle->node));
    CHECK_RULE("SUBMIT-029", all_name(0, down, system_context, cycle->node));
    CHECK_RULE("PATCH-143", all_name(0, down, system_context, cycle->node));
    CHECK_RULE("PAGE-019", all_name(up, packet_count, system_context, cycle->node));
    CHECK_RULE("PATCH-143", all_name(up, packet_count, system_context, cycle->node));
}
TEST_ALSO(cycle, paging_names_the_system_context, without_contexts, false)

TEST_WITH(cycle, a_loss_of_power_is_paged_for_nobody, true)
{
    unsigned down = cycle->down, up = cycle->up;

    CHECK_RULE("PAGE-019", all_name(down, up, NULL, cycle->node));
    CHECK_RULE("SUBMIT-032", all_name(down, up, NULL, cycle->node));
    CHECK_RULE("PATCH-143", all_name(down, up, NULL, cycle->node));
    CHECK(packets[up - 1].order < probe_nth(cycle->p, PROBE_SetPowerState, 0)->order);
    CHECK_RULE("PAGE-083", odd_builds == 0); /* what is built names the context even so */
}
TEST_ALSO(cycle, a_loss_of_power_is_paged_for_nobody, without_contexts, false)

TEST_WITH(cycle, paging_is_submitted_as_it_was_patched, true)
{
    (void)cycle;
    CHECK_RULE("PAGE-018", all_agree());
    CHECK_RULE("SUBMIT-030", all_agree());
    CHECK_RULE("CAPS-075/d", all_in_system_memory());
}
TEST_ALSO(cycle, paging_is_submitted_as_it_was_patched, without_contexts, false)

static struct {
    bool called;
    NTSTATUS status;
} protected;

static VOID NTAPI protected_callback(PVOID context, PVOID argument, NTSTATUS status)
{
    (void)context;
    (void)argument;
    protected.called = true;
    protected.status = status;
}

static void exclude_body(struct probe *p)
{
    CHECK(IS(DXGK.DxgkCbExcludeAdapterAccess(DXGK.DeviceHandle, DXGK_EXCLUDE_EVICT_ALL,
                                             protected_callback, p),
             STATUS_SUCCESS));
    while (!protected.called)
        probe_sleep(1000000);
}

/* The other way of emptying video memory is no power management. */
TEST(an_exclusion_is_paged_as_usual)
{
    struct probe *p = create(true);
    struct probe_client *client;
    unsigned from;

    protected.called = false;
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, page_in);
    from = packet_count;
    CHECK(probe_run(p, exclude_body) == SIM_DONE);
    CHECK(IS(protected.status, STATUS_SUCCESS));
    CHECK_RULE("PAGE-019", all_name(from, packet_count, system_context, 1));
    finish(p, client);
}

/* ---- private data ---- */

TEST(what_the_driver_does_not_move_is_all_its_own)
{
    struct probe *p = create(true);
    struct probe_client *client;
    bool whole = true;

    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, page_in);
    CHECK(probe_run(p, sleep_body) == SIM_DONE && probe_run(p, wake_body) == SIM_DONE);
    for (unsigned i = 0; i < packet_count; i++)
        whole &= packets[i].sent.DmaBufferPrivateDataSubmissionStartOffset == 0 &&
                 packets[i].sent.DmaBufferPrivateDataSubmissionEndOffset == PRIVATE_BYTES;
    CHECK(packet_count > 1 && packets[packet_count - 1].sent.DmaBufferSubmissionStartOffset > 0);
    CHECK_RULE("PAGE-084", whole);
    CHECK_RULE("SUBMIT-101", whole);
    CHECK_RULE("SUBMIT-031", all_private_agree());
    finish(p, client);
}

/* Every operation writes 64 bytes, and `private_step` of private data. */
TEST(each_submission_goes_on_behind_the_one_before)
{
    struct probe *p = create(true);
    struct probe_client *client;
    unsigned behind = 0, anew = 0;

    private_step = 24; /* two operations, and the rest of the block is too small */
    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, page_in);
    for (unsigned i = 0; i < 6; i++)
        probe_client_go_on(p, client, page_in_again);
    CHECK(packet_count >= 7);
    for (unsigned i = 0; i < packet_count; i++) {
        const DXGKARG_PATCH *now = &packets[i].patch, *last = &packets[i ? i - 1 : 0].patch;
        bool same = i && now->pDmaBuffer == last->pDmaBuffer;
        UINT start = now->DmaBufferSubmissionStartOffset;
        UINT private_start = now->DmaBufferPrivateDataSubmissionStartOffset;

        CHECK_RULE("PAGE-016", start == (same ? last->DmaBufferSubmissionEndOffset : 0));
        CHECK_RULE("PATCH-146", start == (same ? last->DmaBufferSubmissionEndOffset : 0));
        CHECK_RULE("SUBMIT-101",
                   private_start == (same ? last->DmaBufferPrivateDataSubmissionEndOffset : 0) &&
                       (now->DmaBufferPrivateDataSubmissionEndOffset - private_start) ==
                           (now->DmaBufferSubmissionEndOffset - start) / 64 * private_step);
        CHECK_RULE("PATCH-147",
                   private_start == (same ? last->DmaBufferPrivateDataSubmissionEndOffset : 0));
        CHECK_RULE("PAGE-084",
                   (now->DmaBufferPrivateDataSubmissionEndOffset - private_start) / private_step ==
                       (now->DmaBufferSubmissionEndOffset - start) / 64);
        CHECK_RULE("SUBMIT-094", now->Flags.Paging);
        behind += same;
        anew += i && !same;
    }
    CHECK_RULE("PAGE-011", anew > 0); /* also where the buffer itself had room */
    CHECK_RULE("PAGE-016", behind > 0);
    CHECK_RULE("SUBMIT-030", all_agree());
    CHECK_RULE("SUBMIT-031", all_private_agree());
    finish(p, client);
}

/* ---- paging that does not come to its end ---- */

static NTSTATUS power_status;
static uint64_t power_ns;
static bool at_rest;

static void stuck_body(struct probe *p)
{
    uint64_t from = sim_now();

    probe_device_packet_ns = 1000 * PROBE_SECOND;
    power_status = port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep);
    power_ns = sim_now() - from;
    at_rest = vidmm_is_evacuated(p->adapter[0]->managers.vidmm);
    probe_device_packet_ns = 1000;
}

/* The engine hangs: the timeout finds it, the adapter is reset, and the power goes nevertheless. */
TEST(a_power_down_that_hangs_ends)
{
    struct probe *p = create(true);
    struct probe_client *client;

    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, page_in);
    at_rest = false;
    CHECK(probe_run(p, stuck_body) == SIM_DONE);
    CHECK(IS(power_status, STATUS_SUCCESS) && power_ns < 10 * PROBE_SECOND);
    CHECK(probe_said(p, "TDR-066", "adapter reset"));
    CHECK_RULE("LIFE-156/c", at_rest && port_adapter_power(p->adapter[0]) == PowerDeviceD3);
    CHECK(probe_nth(p, PROBE_RestartFromTimeout, 0)->order <
          probe_nth(p, PROBE_SetPowerState, 0)->order);
    CHECK(probe_run(p, wake_body) == SIM_DONE);
    finish(p, client);
}

static void refuse(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
    call->answered = true;
}

static void refused_body(struct probe *p)
{
    p->before[PROBE_BuildPagingBuffer] = refuse;
    (void)port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep);
}

TEST(a_power_down_that_is_refused_stops_the_machine)
{
    struct probe *p = create(true);
    struct probe_client *client;

    CHECK(NT_SUCCESS(probe_start(p)));
    client = probe_client_run(p, page_in);
    CHECK_RULE("PAGE-010", probe_run(p, refused_body) == SIM_STOPPED &&
                               probe_said(p, "PAGE-010", "returned 0xC0000001"));
    CHECK(probe_count(p, PROBE_SetPowerState) == 0);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}
