/* SPDX-License-Identifier: MIT */
/* Level three with clients on the adapter: what moves out of video memory before the driver is called, and what may stay. */
#include "port/support/client.h"

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

static void video_memory_is_empty_before_power_goes(void **state)
{
    struct probe *p = create();
    struct probe_client *client;
    uint64_t from, down, up;

    (void)state;
    p->after[PROBE_CreateContext] = note_context;
    p->before[PROBE_SubmitCommandVirtual] = note_submission;
    client = started(p);
    from = p->calls;
    paged = paged_for_others = 0;
    CHECK(probe_run(p, sleep_body) == SIM_DONE);
    CHECK_RULE("PAGE-083", paged > 0 && paged_for_others == 0 && system_context);
    down = order_of(p, PROBE_SetPowerState, 0);
    CHECK_RULE("LIFE-154", idle_at_call);
    CHECK_RULE("LIFE-154", moved(true, from, down) >= BYTES);
    CHECK_RULE("THREAD-029", moved(true, from, down) >= BYTES);
    CHECK(probe_run(p, wake_body) == SIM_DONE);
    up = order_of(p, PROBE_SetPowerState, 1);
    CHECK_RULE("LIFE-156", !submitted_between(p, down, up));
    probe_client_go_on(p, client, submit_again);
    CHECK_RULE("LIFE-154", moved(false, up, p->calls) >= BYTES);
    finish(p, client);
}

static POWER_ACTION sleep_action;
static ULONG exclude_attributes;

static void sleep_as(struct probe *p)
{
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, sleep_action), STATUS_SUCCESS));
}

/* Which actions leave a segment as it is. */
static uint64_t moved_at(POWER_ACTION action, UINT flags, SIZE_T end)
{
    struct probe *p = create();
    struct probe_client *client;
    uint64_t from, bytes;

    p->segment[0].Flags.Value |= flags;
    p->segment[0].SystemMemoryEndAddress = end;
    client = started(p);
    from = p->calls;
    sleep_action = action;
    CHECK(probe_run(p, sleep_as) == SIM_DONE);
    bytes = moved(true, from, order_of(p, PROBE_SetPowerState, 0));
    finish(p, client);
    return bytes;
}

static void a_preserved_segment_stays(void **state)
{
    DXGK_SEGMENTFLAGS standby = {.PreservedDuringStandby = 1};
    DXGK_SEGMENTFLAGS both = {.PreservedDuringStandby = 1, .PreservedDuringHibernate = 1};
    DXGK_SEGMENTFLAGS part = {.PreservedDuringStandby = 1, .PartiallyPreservedDuringHibernate = 1};

    (void)state;
    CHECK_RULE("LIFE-154", moved_at(PowerActionSleep, standby.Value, 0) == 0);
    CHECK_RULE("LIFE-154", moved_at(PowerActionHibernate, standby.Value, 0) >= BYTES);
    CHECK_RULE("LIFE-154", moved_at(PowerActionHibernate, both.Value, 0) == 0);
    CHECK_RULE("LIFE-154", moved_at(PowerActionHibernate, part.Value, (15u << 20) - 1) == 0);
    CHECK_RULE("LIFE-154", moved_at(PowerActionHibernate, part.Value, 0xFFF) >= BYTES);
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
    CHECK_RULE("LIFE-109",
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

static void exclusive_access_can_empty_video_memory(void **state)
{
    (void)state;
    for (unsigned evict = 0; evict < 2; evict++) {
        struct probe *p = create();
        struct probe_client *client = started(p);
        uint64_t from = p->calls;

        memset(&protected, 0, sizeof(protected));
        exclude_attributes = evict ? DXGK_EXCLUDE_EVICT_ALL : 0;
        CHECK(probe_run(p, exclude_body) == SIM_DONE);
        CHECK_RULE("LIFE-109", IS(protected.status, STATUS_SUCCESS) &&
                                   (moved(true, from, protected.order) >= BYTES) == (evict != 0));
        CHECK_RULE("LIFE-108", protected.idle);
        probe_client_go_on(p, client, submit_again);
        CHECK_RULE("LIFE-109", !evict || moved(false, protected.order, p->calls) >= BYTES);
        finish(p, client);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(video_memory_is_empty_before_power_goes),
        cmocka_unit_test(a_preserved_segment_stays),
        cmocka_unit_test(exclusive_access_can_empty_video_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
