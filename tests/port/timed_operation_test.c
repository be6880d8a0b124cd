/* SPDX-License-Identifier: MIT */
/* Timed operations: what is refused, to the tick where they end, whose they are, and what a driver changes in them. */
#include "port/support/probe.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk
#define TICKS(time)        ((LONGLONG)((time) / 100))

static DXGK_TIMED_OPERATION_INTERFACE timed;

static void take(struct probe *p)
{
    memset(&timed, 0, sizeof(timed));
    timed.Size = sizeof(timed);
    timed.Version = 1;
    CHECK(IS(DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, DxgkServicesTimedOperation,
                                      (PINTERFACE)(void *)&timed),
             STATUS_SUCCESS));
}

static NTSTATUS start(DXGK_TIMED_OPERATION *op, LONGLONG timeout)
{
    LARGE_INTEGER limit = {.QuadPart = timeout};

    return timed.TimedOperationStart(op, &limit, TRUE);
}

static NTSTATUS delay(DXGK_TIMED_OPERATION *op, LONGLONG interval)
{
    LARGE_INTEGER wait = {.QuadPart = interval};

    return timed.TimedOperationDelay(op, KernelMode, FALSE, &wait);
}

static NTSTATUS wait_for(DXGK_TIMED_OPERATION *op, KEVENT *event, LONGLONG interval)
{
    LARGE_INTEGER wait = {.QuadPart = interval};

    return timed.TimedOperationWaitForSingleObject(op, event, Executive, KernelMode, FALSE, &wait);
}

/* So many ticks since its start, and a moment. */
static bool lasted(const DXGK_TIMED_OPERATION *op, LONGLONG ticks)
{
    LONGLONG gone = TICKS(sim_now()) - op->StartTick.QuadPart;

    return gone >= ticks && gone < ticks + 10;
}

/* ---- refused ---- */

TEST_WITH(probe, arguments)
{
    DXGK_TIMED_OPERATION op = {.Size = sizeof(op) + 1}, other = {.Size = sizeof(other)};
    LARGE_INTEGER limit = {.QuadPart = 1000};
    KEVENT event;

    KeInitializeEvent(&event, NotificationEvent, TRUE);
    take(p);
    CHECK_RULE("LIFE-117/a", IS(start(&op, 1000), STATUS_INVALID_PARAMETER));
    CHECK(op.OwnerTag == 0 && op.Timeout.QuadPart == 0 && !op.OsHandled);
    CHECK(IS(start(NULL, 1000), STATUS_INVALID_PARAMETER) &&
          IS(timed.TimedOperationStart(&other, NULL, TRUE), STATUS_INVALID_PARAMETER));
    CHECK(other.Timeout.QuadPart == 0);
    /* never started */
    CHECK(IS(delay(&op, 10), STATUS_INVALID_PARAMETER) &&
          IS(delay(NULL, 10), STATUS_INVALID_PARAMETER));
    CHECK(IS(wait_for(&op, &event, 10), STATUS_INVALID_PARAMETER));
    op.Size = sizeof(op);
    p->sim->heap.fail_at = p->sim->heap.requests + 1;
    CHECK(IS(start(&op, 1000), STATUS_NO_MEMORY) && op.Timeout.QuadPart == 0);
    p->sim->heap.fail_at = 0;
    CHECK(IS(start(&op, 1000), STATUS_SUCCESS));
    CHECK(IS(timed.TimedOperationDelay(&op, KernelMode, FALSE, NULL), STATUS_INVALID_PARAMETER));
    CHECK(IS(timed.TimedOperationWaitForSingleObject(&op, &event, Executive, KernelMode, FALSE,
                                                     (const LARGE_INTEGER *)(uintptr_t)0x1000),
             STATUS_INVALID_PARAMETER));
    CHECK(IS(
        timed.TimedOperationWaitForSingleObject(&op, &event, Executive, KernelMode, FALSE, &limit),
        STATUS_SUCCESS));
    timed.InterfaceDereference(timed.Context);
    CHECK(IS(start(&other, 1000), STATUS_INVALID_DEVICE_STATE) && other.Timeout.QuadPart == 0);
}

/* ---- the members ---- */

TEST_WITH(probe, the_host_fills_it_in)
{
    DXGK_TIMED_OPERATION op;

    take(p);
    probe_sleep(12345600);
    memset(&op, 0x5A, sizeof(op));
    op.Size = sizeof(op);
    CHECK_RULE("LIFE-117/b", IS(start(&op, -70), STATUS_SUCCESS) && op.OsHandled == TRUE &&
                                 op.Timeout.QuadPart == 70);
    CHECK(op.Size == sizeof(op) && op.OwnerTag == (ULONG_PTR)DXGK.DeviceHandle &&
          op.TimeoutTriggered == FALSE && op.StartTick.QuadPart == TICKS(sim_now()) &&
          op.StartTick.QuadPart > 123456);
    CHECK(IS(start(&op, INT64_MIN), STATUS_SUCCESS) && op.Timeout.QuadPart == INT64_MAX);
    CHECK(IS(start(&op, 0), STATUS_SUCCESS) && op.Timeout.QuadPart == 0);
    timed.InterfaceDereference(timed.Context);
}

/* ---- where it ends ---- */

TEST_WITH(probe, the_end_is_exact)
{
    DXGK_TIMED_OPERATION op = {.Size = sizeof(op)};
    uint64_t begin;
    KEVENT event;

    KeInitializeEvent(&event, NotificationEvent, FALSE);
    take(p);
    CHECK(IS(start(&op, 100000), STATUS_SUCCESS));
    begin = sim_now();
    CHECK_RULE("LIFE-118/a", IS(delay(&op, 40000), STATUS_SUCCESS) && !op.TimeoutTriggered &&
                                 TICKS(sim_now() - begin) == 40000);
    CHECK_RULE("LIFE-118/a", IS(delay(&op, -59999), STATUS_SUCCESS) && !op.TimeoutTriggered);
    CHECK_RULE("LIFE-118/c", IS(delay(&op, 1), STATUS_TIMEOUT) && op.TimeoutTriggered &&
                                 TICKS(sim_now() - begin) == 100000);
    CHECK_RULE("LIFE-118/c", IS(delay(&op, 50000), STATUS_TIMEOUT) && /* long over */
                                 TICKS(sim_now() - begin) == 100000);
    probe_sleep(1000000);
    begin = sim_now();
    CHECK(IS(wait_for(&op, &event, 50000), STATUS_TIMEOUT) && sim_now() - begin < 10000);
    /* an object: not before the end, at it, and signaled */
    CHECK(IS(start(&op, 100000), STATUS_SUCCESS));
    begin = sim_now();
    CHECK(IS(wait_for(&op, &event, 99999), STATUS_TIMEOUT) && !op.TimeoutTriggered);
    CHECK(IS(wait_for(&op, &event, INT64_MIN), STATUS_TIMEOUT) && op.TimeoutTriggered &&
          TICKS(sim_now() - begin) == 100000);
    KeSetEvent(&event, IO_NO_INCREMENT, FALSE);
    CHECK(IS(start(&op, 100000), STATUS_SUCCESS));
    CHECK(IS(wait_for(&op, &event, 200000), STATUS_SUCCESS) && !op.TimeoutTriggered);
    timed.InterfaceDereference(timed.Context);
}

TEST_WITH(probe, each_operation_has_its_own_end)
{
    DXGK_TIMED_OPERATION op[3];

    take(p);
    for (unsigned i = 0; i < 3; i++) {
        memset(&op[i], 0, sizeof(op[i]));
        op[i].Size = sizeof(op[i]);
        CHECK(IS(start(&op[i], 10000 * (i + 1)), STATUS_SUCCESS));
    }
    CHECK(IS(delay(&op[1], 1000000), STATUS_TIMEOUT) && lasted(&op[1], 20000));
    CHECK(op[1].TimeoutTriggered && !op[0].TimeoutTriggered && !op[2].TimeoutTriggered);
    CHECK(IS(delay(&op[2], 1000000), STATUS_TIMEOUT) && lasted(&op[2], 30000));
    CHECK(op[2].TimeoutTriggered && !op[0].TimeoutTriggered);
    timed.InterfaceDereference(timed.Context);
}

/* ---- what a driver changes ---- */

TEST_WITH(probe, changes_are_undone)
{
    DXGK_TIMED_OPERATION op = {.Size = sizeof(op)}, written;

    take(p);
    CHECK(IS(start(&op, 1000000), STATUS_SUCCESS));
    written = op;
    op.TimeoutTriggered = TRUE; /* for anybody to write */
    CHECK(IS(delay(&op, 10), STATUS_SUCCESS));
    CHECK_RULE("LIFE-119/a", probe_rule(p, "LIFE-119") == 0 && op.TimeoutTriggered);
    op.OwnerTag++;
    CHECK(IS(delay(&op, 10), STATUS_SUCCESS));
    CHECK_RULE("LIFE-119/b",
               probe_rule(p, "LIFE-119") == 1 && memcmp(&op, &written, sizeof(op)) == 0);
    op.OsHandled = FALSE;
    CHECK(IS(delay(&op, 10), STATUS_SUCCESS));
    CHECK_RULE("LIFE-119/b",
               probe_rule(p, "LIFE-119") == 2 && memcmp(&op, &written, sizeof(op)) == 0);
    op.Timeout.QuadPart = 5;
    CHECK(IS(delay(&op, 10), STATUS_SUCCESS));
    CHECK_RULE("LIFE-119/b",
               probe_rule(p, "LIFE-119") == 3 && memcmp(&op, &written, sizeof(op)) == 0);
    op.StartTick.QuadPart--;
    CHECK(IS(delay(&op, 10), STATUS_SUCCESS));
    CHECK_RULE("LIFE-119/b",
               probe_rule(p, "LIFE-119") == 4 && memcmp(&op, &written, sizeof(op)) == 0);
    CHECK(IS(delay(&op, 10), STATUS_SUCCESS) && probe_rule(p, "LIFE-119") == 4);
    timed.InterfaceDereference(timed.Context);
}

/* ---- whose it is ---- */

static DXGK_TIMED_OPERATION own, others;
static NTSTATUS own_status, others_status;

static void start_inside(struct probe *p, struct probe_call *call)
{
    bool first = call->arg[0] == (uint64_t)(uintptr_t)A->context;

    if (first)
        own_status = start(&own, 1000);
    else
        others_status = start(&others, 1000);
}

static void inside_body(struct probe *p)
{
    DXGKARG_CREATEDEVICE args = {.hDevice = (HANDLE)(uintptr_t)1};

    take(p);
    p->before[PROBE_CreateDevice] = start_inside;
    for (unsigned i = 0; i < 2; i++)
        CHECK(NT_SUCCESS(ddi_create_device(port_adapter_ddi(p->adapter[i]), &args)));
    CHECK(IS(own_status, STATUS_SUCCESS) && own.OwnerTag == (ULONG_PTR)DXGK.DeviceHandle);
    CHECK(IS(others_status, STATUS_INVALID_DEVICE_STATE) && others.OwnerTag == 0);
    timed.InterfaceDereference(timed.Context);
    /* now the second one has the interface, and the first another one */
    timed.Size = sizeof(timed);
    CHECK(IS(p->state[1].dxgk.DxgkCbQueryServices(p->state[1].dxgk.DeviceHandle,
                                                  DxgkServicesTimedOperation,
                                                  (PINTERFACE)(void *)&timed),
             STATUS_SUCCESS));
    CHECK(IS(start(&others, 1000), STATUS_SUCCESS) &&
          others.OwnerTag == (ULONG_PTR)p->state[1].dxgk.DeviceHandle);
    timed.InterfaceDereference(timed.Context);
}

TEST(an_operation_belongs_to_the_adapter_that_has_the_interface)
{
    const struct probe_options options = {.adapters = 2};

    own = others = (DXGK_TIMED_OPERATION){.Size = sizeof(own)};
    probe_end(probe_started(&options), inside_body);
}

static void another_interface(struct probe *p)
{
    DXGK_TIMED_OPERATION op = {.Size = sizeof(op)};
    DXGK_DEBUG_REPORT_INTERFACE report = {.Size = sizeof(report), .Version = 1};

    take(p);
    timed.InterfaceDereference(timed.Context);
    CHECK(NT_SUCCESS(DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, DxgkServicesDebugReport,
                                              (PINTERFACE)(void *)&report)));
    CHECK(IS(start(&op, 1000), STATUS_INVALID_DEVICE_STATE));
    report.InterfaceDereference(report.Context);
}

TEST(another_interface_is_not_enough)
{
    probe_end(probe_started(NULL), another_interface);
}
