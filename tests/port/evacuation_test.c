/* SPDX-License-Identifier: MIT */
/* Level three with clients on the adapter: what moves out of video memory before the driver is called, and what may stay. */
#include "port/support/client.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk
#define BYTES              (1u << 20)

/* ---- transfers between a memory segment and system memory, as the driver builds them ---- */

struct transfer {
    uint64_t order; /* of the call */
    bool out;
    uint64_t bytes;
};

static struct transfer transfers[256];
static unsigned transfer_count;

static void note_transfer(struct probe *p, struct probe_call *call)
{
    const DXGKARG_BUILDPAGINGBUFFER *op = (const DXGKARG_BUILDPAGINGBUFFER *)(uintptr_t)call->arg[1];

    (void)p;
    if (op->Operation != DXGK_OPERATION_VIRTUAL_TRANSFER || transfer_count == 256)
        return;
    transfers[transfer_count++] = (struct transfer){
        call->order, op->TransferVirtual.TransferDirection == DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM,
        op->TransferVirtual.TransferSizeInBytes};
}

/* Moved out before a call, of all there was. */
static uint64_t moved(bool out, uint64_t from, uint64_t before)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < transfer_count; i++)
        if (transfers[i].out == out && transfers[i].order >= from && transfers[i].order < before)
            bytes += transfers[i].bytes;
    return bytes;
}

static uint64_t order_of(struct probe *p, enum probe_ddi ddi, size_t n)
{
    return probe_nth(p, ddi, n)->order;
}

static bool submitted_between(struct probe *p, uint64_t from, uint64_t to)
{
    for (size_t i = 0; i < p->calls; i++)
        if (p->call[i]->order >= from && p->call[i]->order < to &&
            (p->call[i]->ddi == PROBE_SubmitCommandVirtual ||
             p->call[i]->ddi == PROBE_SubmitCommand || p->call[i]->ddi == PROBE_BuildPagingBuffer))
            return true;
    return false;
}

static bool engines_idle(struct probe *p)
{
    for (unsigned node = 0; node < 2; node++)
        if (A->reported[node] != A->submitted[node])
            return false;
    return true;
}

static struct probe *create(void)
{
    struct probe *p = probe_create(NULL);

    transfer_count = 0;
    p->before[PROBE_BuildPagingBuffer] = note_transfer;
    probe_clients_begin(p);
    return p;
}

static void finish(struct probe *p, struct probe_client *client)
{
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- a client that keeps an allocation in use ---- */

static struct probe_gpu gpu;
static D3DKMT_HANDLE allocation;

static void set_up(struct probe *p)
{
    (void)p;
    CHECK(IS(probe_gpu_begin(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_allocate(&gpu, BYTES, &allocation), STATUS_SUCCESS));
    for (unsigned i = 0; i < 4; i++) /* still under way when the body ends */
        CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
}

static struct probe_client *started(struct probe *p)
{
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_device_packet_ns = 1000000;
    return probe_client_run(p, set_up);
}

/* ---- a change of power ---- */

static bool idle_at_call;
static HANDLE system_context;
static unsigned paged, paged_for_others;

static void note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.SystemContext)
        system_context = args->hContext;
}

static void note_submission(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = (const DXGKARG_SUBMITCOMMANDVIRTUAL *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    paged += args->Flags.Paging;
    paged_for_others += args->Flags.Paging && args->hContext != system_context;
}

static void look_at_engines(struct probe *p, struct probe_call *call)
{
    (void)call;
    idle_at_call = engines_idle(p);
}

static void sleep_body(struct probe *p)
{
    probe_sleep(100000);
    CHECK(!engines_idle(p));
    idle_at_call = false;
    p->before[PROBE_SetPowerState] = look_at_engines;
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
}

static void wake_body(struct probe *p)
{
    probe_sleep(PROBE_SECOND);
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
}

static void submit_again(struct probe *p)
{
    (void)p;
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    CHECK(IS(probe_gpu_wait_idle(&gpu), STATUS_SUCCESS));
}

TEST(video_memory_is_empty_before_power_goes)
{
    struct probe *p = create();
    struct probe_client *client;
    uint64_t from, down, up;

    p->after[PROBE_CreateContext] = note_context;
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    client = started(p);
    from = p->calls;
    paged = paged_for_others = 0;
    CHECK(probe_run(p, sleep_body) == SIM_DONE);
    CHECK_RULE("PAGE-083", paged > 0 && paged_for_others == 0 && system_context);
    down = order_of(p, PROBE_SetPowerState, 0);
    CHECK_RULE("LIFE-154/a", idle_at_call);
    CHECK_RULE("LIFE-154/a", moved(true, from, down) >= BYTES);
    CHECK_RULE("THREAD-029", moved(true, from, down) >= BYTES);
    CHECK(probe_run(p, wake_body) == SIM_DONE);
    up = order_of(p, PROBE_SetPowerState, 1);
    CHECK_RULE("LIFE-156/c", !submitted_between(p, down, up));
    probe_client_go_on(p, client, submit_again);
    CHECK_RULE("LIFE-154/c", moved(false, up, p->calls) >= BYTES);
    finish(p, client);
}

static POWER_ACTION sleep_action;
static ULONG exclude_attributes;
static bool no_self_refresh, hybrid;

static void sleep_as(struct probe *p)
{
    CHECK(IS(hybrid ? port_adapter_hybrid_sleep(p->adapter[0], PowerDeviceD3)
                    : port_adapter_set_power(p->adapter[0], PowerDeviceD3, sleep_action),
             STATUS_SUCCESS));
}

/* Which actions leave a segment as it is. */
static uint64_t moved_at(POWER_ACTION action, UINT flags, SIZE_T end)
{
    struct probe *p = create();
    struct probe_client *client;
    uint64_t from, bytes;

    p->segment[0].Flags.Value |= flags;
    p->segment[0].SystemMemoryEndAddress = end;
    p->caps.MemoryManagementCaps.DisableSelfRefreshVRAMInS3 = no_self_refresh;
    client = started(p);
    from = p->calls;
    sleep_action = action;
    CHECK(probe_run(p, sleep_as) == SIM_DONE);
    bytes = moved(true, from, order_of(p, PROBE_SetPowerState, 0));
    finish(p, client);
    return bytes;
}

TEST(a_preserved_segment_stays)
{
    DXGK_SEGMENTFLAGS standby = {.PreservedDuringStandby = 1};
    DXGK_SEGMENTFLAGS both = {.PreservedDuringStandby = 1, .PreservedDuringHibernate = 1};
    DXGK_SEGMENTFLAGS part = {.PreservedDuringStandby = 1, .PartiallyPreservedDuringHibernate = 1};

    CHECK_RULE("LIFE-154/b", moved_at(PowerActionSleep, standby.Value, 0) == 0);
    CHECK_RULE("LIFE-154/b", moved_at(PowerActionHibernate, standby.Value, 0) >= BYTES);
    CHECK_RULE("LIFE-154/b", moved_at(PowerActionHibernate, both.Value, 0) == 0);
    CHECK_RULE("LIFE-154/b", moved_at(PowerActionHibernate, part.Value, (15u << 20) - 1) == 0);
    CHECK_RULE("LIFE-154/b", moved_at(PowerActionHibernate, part.Value, 0xFFF) >= BYTES);
}

/* What the flags do not promise for an action, or contradict, does not stay. */
TEST(other_segments_do_not)
{
    DXGK_SEGMENTFLAGS standby = {.PreservedDuringStandby = 1};
    DXGK_SEGMENTFLAGS both = {.PreservedDuringStandby = 1, .PreservedDuringHibernate = 1};
    DXGK_SEGMENTFLAGS all = {.PreservedDuringStandby = 1,
                             .PreservedDuringHibernate = 1,
                             .PartiallyPreservedDuringHibernate = 1};

    CHECK_RULE("LIFE-154/b", moved_at(PowerActionSleep, 0, 0) >= BYTES);
    CHECK_RULE("LIFE-154/b", moved_at(PowerActionSleep, both.Value, 0) == 0);
    CHECK_RULE("LIFE-154/b", moved_at(PowerActionShutdown, both.Value, 0) >= BYTES);
    CHECK_RULE("LIFE-154/b", moved_at(PowerActionNone, standby.Value, 0) >= BYTES);
    CHECK(moved_at(PowerActionHibernate, all.Value, (15u << 20) - 1) >= BYTES);
    CHECK(moved_at(PowerActionSleep, all.Value, (15u << 20) - 1) >= BYTES);
    no_self_refresh = true;
    CHECK_RULE("SEG-083", moved_at(PowerActionSleep, standby.Value, 0) >= BYTES);
    CHECK_RULE("SEG-083", moved_at(PowerActionSleep, both.Value, 0) >= BYTES);
    CHECK_RULE("SEG-083", moved_at(PowerActionHibernate, both.Value, 0) == 0);
    hybrid = true; /* what survives hibernation alone does not survive this */
    CHECK_RULE("SEG-083", moved_at(PowerActionSleep, both.Value, 0) >= BYTES);
    no_self_refresh = false;
    CHECK_RULE("RES-081", moved_at(PowerActionSleep, both.Value, 0) == 0);
    hybrid = false;
}

/* ---- DXGK_EXCLUDE_EVICT_ALL ---- */

static struct {
    bool called;
    uint64_t order;
    NTSTATUS status;
    bool idle;
} protected;

static VOID NTAPI protected_callback(PVOID context, PVOID argument, NTSTATUS status)
{
    struct probe *p = argument;

    CHECK(context == A->context);
    protected.called = true;
    protected.order = p->calls;
    protected.status = status;
    protected.idle = engines_idle(p);
}

static void exclude_body(struct probe *p)
{
    probe_sleep(100000);
    CHECK(!engines_idle(p));
    CHECK_RULE("LIFE-109/b",
               IS(DXGK.DxgkCbExcludeAdapterAccess(
                      DXGK.DeviceHandle, DXGK_EXCLUDE_EVICT_ALL | DXGK_EXCLUDE_CALL_SYNCHRONOUS,
                      protected_callback, p),
                  STATUS_INVALID_PARAMETER));
    CHECK(IS(DXGK.DxgkCbExcludeAdapterAccess(DXGK.DeviceHandle, exclude_attributes,
                                             protected_callback, p),
             STATUS_SUCCESS));
    while (!protected.called)
        probe_sleep(1000000);
}

TEST(exclusive_access_can_empty_video_memory)
{
    for (unsigned evict = 0; evict < 2; evict++) {
        struct probe *p = create();
        struct probe_client *client = started(p);
        uint64_t from = p->calls;

        memset(&protected, 0, sizeof(protected));
        exclude_attributes = evict ? DXGK_EXCLUDE_EVICT_ALL : 0;
        CHECK(probe_run(p, exclude_body) == SIM_DONE);
        CHECK_RULE("LIFE-109/a", IS(protected.status, STATUS_SUCCESS) &&
                                     (moved(true, from, protected.order) >= BYTES) == (evict != 0));
        CHECK_RULE("LIFE-108/b", protected.idle);
        probe_client_go_on(p, client, submit_again);
        CHECK_RULE("LIFE-109/a", !evict || moved(false, protected.order, p->calls) >= BYTES);
        finish(p, client);
    }
}

/* ---- a GPU that does not come to rest, long before its recovery ---- */

static bool stays;

static void stay_in_submit(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    if (stays)
        probe_sleep(70 * PROBE_SECOND);
    stays = false;
}

static void sleep_in_vain(struct probe *p)
{
    CHECK(IS(probe_gpu_submit(&gpu), STATUS_SUCCESS));
    probe_sleep(10000000);
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep),
             STATUS_IO_TIMEOUT));
    CHECK(probe_count(p, PROBE_SetPowerState) == 0);
    probe_sleep(100 * PROBE_SECOND);
}

static void told_why(bool in_driver, const char *why)
{
    const struct probe_options options = {
        .port.tdr = {.level = 3, .delay = 1000, .ddi_delay = 5, .limit_count = 5, .limit_time = 60}};
    struct probe *p = probe_create(&options);
    struct probe_client *client;

    probe_clients_begin(p);
    p->before[PROBE_SubmitCommandVirtual] = stay_in_submit;
    client = started(p);
    probe_device_packet_ns = in_driver ? 1000000 : 100 * PROBE_SECOND;
    stays = in_driver;
    probe_client_go_on(p, client, sleep_in_vain);
    CHECK_RULE("THREAD-037/b", probe_rule(p, "THREAD-037") == 1 && probe_said(p, "THREAD-037", why));
    probe_device_packet_ns = 1000;
    probe_client_go_on(p, client, submit_again);
    finish(p, client);
}

TEST(what_keeps_the_gpu_from_its_rest_is_told)
{
    told_why(true, "DxgkDdiSetPowerState waited 60 s for the driver to be left by "
                   "DxgkDdiSubmitCommandVirtual");
    told_why(false, "DxgkDdiSetPowerState waited 60 s for the GPU to finish its work");
}

/* ---- several at a time ---- */

#define CALLBACK_NS (PROBE_SECOND / 20)

static struct {
    unsigned called, ended;
    bool paged; /* while the driver was told that video memory is empty and its own */
} overlapping;

static VOID NTAPI long_callback(PVOID context, PVOID argument, NTSTATUS status)
{
    struct probe *p = argument;
    uint64_t from = p->calls;

    (void)context;
    overlapping.called++;
    CHECK_RULE("LIFE-109/a", IS(status, STATUS_SUCCESS));
    probe_sleep(CALLBACK_NS);
    overlapping.paged |= submitted_between(p, from, p->calls);
    overlapping.ended++;
}

static void exclude_and_empty(struct probe *p)
{
    CHECK(IS(DXGK.DxgkCbExcludeAdapterAccess(DXGK.DeviceHandle, DXGK_EXCLUDE_EVICT_ALL,
                                             long_callback, p),
             STATUS_SUCCESS));
}

static void wait_for_callbacks(unsigned count)
{
    while (overlapping.ended < count)
        probe_sleep(1000000);
}

static void two_exclusions_body(struct probe *p)
{
    exclude_and_empty(p);
    while (!overlapping.called)
        probe_sleep(1000000);
    exclude_and_empty(p);
    wait_for_callbacks(2);
}

TEST(overlapping_exclusions_each_find_video_memory_empty)
{
    struct probe *p = create();
    struct probe_client *client = started(p);

    memset(&overlapping, 0, sizeof(overlapping));
    CHECK(probe_run(p, two_exclusions_body) == SIM_DONE);
    CHECK_RULE("LIFE-109/a", !overlapping.paged);
    probe_client_go_on(p, client, submit_again);
    finish(p, client);
}

/* The second begins while the first empties video memory. */
static void two_at_once_body(struct probe *p)
{
    exclude_and_empty(p);
    exclude_and_empty(p);
    wait_for_callbacks(2);
}

TEST(exclusions_may_begin_together)
{
    struct probe *p = create();
    struct probe_client *client = started(p);

    memset(&overlapping, 0, sizeof(overlapping));
    CHECK(probe_run(p, two_at_once_body) == SIM_DONE);
    CHECK_RULE("LIFE-109/a", !overlapping.paged);
    probe_client_go_on(p, client, submit_again);
    finish(p, client);
}

static void sleep_beside_body(struct probe *p)
{
    exclude_and_empty(p);
    while (!overlapping.called)
        probe_sleep(1000000);
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK(overlapping.ended == 1);
    probe_sleep(PROBE_SECOND);
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
}

TEST(an_exclusion_that_ends_leaves_a_sleeping_adapter_alone)
{
    struct probe *p = create();
    struct probe_client *client = started(p);
    uint64_t down, up;

    memset(&overlapping, 0, sizeof(overlapping));
    CHECK(probe_run(p, sleep_beside_body) == SIM_DONE);
    down = order_of(p, PROBE_SetPowerState, 0);
    up = order_of(p, PROBE_SetPowerState, 1);
    CHECK_RULE("LIFE-156/c", !submitted_between(p, down, up));
    probe_client_go_on(p, client, submit_again);
    finish(p, client);
}

/* It begins while the adapter sleeps, and still runs when that wakes. */
static void wake_beside_body(struct probe *p)
{
    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    exclude_and_empty(p);
    while (!overlapping.called)
        probe_sleep(1000000);
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    wait_for_callbacks(1);
}

TEST(an_exclusion_outlasts_the_sleep_it_began_in)
{
    struct probe *p = create();
    struct probe_client *client = started(p);

    memset(&overlapping, 0, sizeof(overlapping));
    CHECK(probe_run(p, wake_beside_body) == SIM_DONE);
    CHECK_RULE("LIFE-109/a", !overlapping.paged);
    probe_client_go_on(p, client, submit_again);
    finish(p, client);
}
