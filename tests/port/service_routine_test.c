/* SPDX-License-Identifier: MIT */
/* What an interrupt service routine may call, and what it shares with the rest of the driver. */
#include "port/support/interrupts.h"
#include "sim/point.h"

/* ---- what an ISR may call ---- */

static void call_others(struct probe *p, struct probe_call *call)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection};
    UCHAR event[100];

    (void)call;
    DXGK.DxgkCbLogEtwEvent(NULL, 1, sizeof(event), event);
    CHECK_RULE("THREAD-060", probe_rule(p, "THREAD-060") == 0);
    CHECK_RULE("THREAD-060", IS(DXGK.DxgkCbIndicateChildStatus(DXGK.DeviceHandle, &status),
                                STATUS_INVALID_DEVICE_REQUEST) &&
                                 probe_rule(p, "THREAD-060") == 1);
    CHECK_RULE("SUBMIT-052", probe_rule(p, "THREAD-060") == 1);
    DXGK.DxgkCbNotifyDpc(DXGK.DeviceHandle);
    CHECK_RULE("THREAD-060", probe_rule(p, "THREAD-060") == 2);
    CHECK_RULE("SUBMIT-052", probe_rule(p, "THREAD-060") == 2);
    (void)DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
    notify(p);
    CHECK_RULE("SUBMIT-052", probe_rule(p, "THREAD-060") == 2);
}

TEST(isr_has_three_callbacks)
{
    struct probe *p = start_with(NULL, NULL);

    p->before[PROBE_InterruptRoutine] = call_others;
    CHECK(probe_run(p, cause_body) == SIM_DONE && probe_rule(p, "THREAD-060") == 2);
    probe_destroy(p);
}

static void one_child(struct probe *p)
{
    p->children = 1;
    p->child[0].ChildDeviceType = TypeOther;
    p->child[0].ChildUid = 7;
    p->child[0].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    probe_set_entry(p, PROBE_QueryChildRelations, true);
    probe_set_entry(p, PROBE_QueryChildStatus, true);
    probe_set_entry(p, PROBE_QueryDeviceDescriptor, true);
    probe_use_components(p, 1);
}

static bool synchronized;

static BOOLEAN NTAPI note_synchronized(PVOID context)
{
    (void)context;
    synchronized = true;
    return TRUE;
}

static void call_up_to_dispatch(struct probe *p, struct probe_call *call)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = 7, .HotPlug.Connected = FALSE};
    BOOLEAN result;

    (void)call;
    CHECK_RULE("LIFE-082", NT_SUCCESS(DXGK.DxgkCbIndicateChildStatus(DXGK.DeviceHandle, &status)) &&
                               !port_adapter_child_connected(p->adapter[0], 7));
    status.ChildUid = 8;
    CHECK_RULE("LIFE-083/b", IS(DXGK.DxgkCbIndicateChildStatus(DXGK.DeviceHandle, &status),
                                STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "LIFE-083") == 1);
    CHECK_RULE("THREAD-050", NT_SUCCESS(DXGK.DxgkCbSynchronizeExecution(
                                 DXGK.DeviceHandle, note_synchronized, NULL, 0, &result)) &&
                                 synchronized);
    DXGK.DxgkCbSetPowerComponentLatency(DXGK.DeviceHandle, 0, 1);
    DXGK.DxgkCbSetPowerComponentResidency(DXGK.DeviceHandle, 0, 1);
    (void)DXGK.DxgkCbPowerRuntimeControlRequest(DXGK.DeviceHandle, &(GUID){0}, NULL, 0, NULL, 0,
                                                NULL);
    CHECK_RULE("THREAD-050", probe_rule(p, "THREAD-050") == 0);
}

static void call_at_dirql(struct probe *p, struct probe_call *call)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = 7};
    uint64_t reports = probe_rule(p, "THREAD-060");

    (void)call;
    (void)DXGK.DxgkCbIndicateChildStatus(DXGK.DeviceHandle, &status);
    DXGK.DxgkCbSetPowerComponentLatency(DXGK.DeviceHandle, 0, 1);
    DXGK.DxgkCbSetPowerComponentResidency(DXGK.DeviceHandle, 0, 1);
    DXGK.DxgkCbCompleteFStateTransition(DXGK.DeviceHandle, 0);
    (void)DXGK.DxgkCbPowerRuntimeControlRequest(DXGK.DeviceHandle, &(GUID){0}, NULL, 0, NULL, 0,
                                                NULL);
    CHECK_RULE("THREAD-050", probe_rule(p, "THREAD-060") == reports + 5);
}

TEST(callbacks_up_to_dispatch_level)
{
    struct probe *p = start_with(NULL, one_child);

    p->before[PROBE_DpcRoutine] = call_up_to_dispatch;
    CHECK(probe_run(p, cause_body) == SIM_DONE && synchronized);
    p->before[PROBE_DpcRoutine] = NULL;
    p->before[PROBE_InterruptRoutine] = call_at_dirql;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    probe_destroy(p);
}

static void log_too_much(struct probe *p, struct probe_call *call)
{
    (void)call;
    DXGK.DxgkCbLogEtwEvent(NULL, 1, 256, NULL);
    CHECK_RULE("LIFE-105/a", probe_rule(p, "LIFE-105") == 0);
    DXGK.DxgkCbLogEtwEvent(NULL, 1, 300, NULL);
    CHECK_RULE("LIFE-105/b", probe_rule(p, "LIFE-105") == 1);
}

static void log_at_passive(struct probe *p)
{
    DXGK.DxgkCbLogEtwEvent(NULL, 1, 300, NULL);
    CHECK_RULE("LIFE-105/c", probe_rule(p, "LIFE-105") == 0);
}

TEST(event_sizes)
{
    struct probe *p = start_with(NULL, NULL);

    p->before[PROBE_DpcRoutine] = log_too_much;
    CHECK(probe_run(p, cause_body) == SIM_DONE && probe_count(p, PROBE_DpcRoutine) == 1);
    probe_destroy(p);
    probe_end(start_with(NULL, NULL), log_at_passive);
}

/* ---- synchronized execution ---- */

static struct {
    KIRQL level;
    PVOID context;
    unsigned runs, running, isr_running, overlaps;
    bool notifies;
} sync;

static BOOLEAN NTAPI sync_routine(PVOID context)
{
    struct probe *p = probe;

    sync.level = KeGetCurrentIrql();
    sync.context = context;
    sync.runs++;
    sync.running++;
    sync.overlaps += sync.isr_running != 0;
    for (int i = 0; i < 200; i++)
        sim_point();
    sync.running--;
    if (sync.notifies)
        notify(p);
    return TRUE;
}

static void isr_against_sync(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    sync.isr_running++;
    sync.overlaps += sync.running != 0;
    for (int i = 0; i < 200; i++)
        sim_point();
    sync.isr_running--;
}

static void sync_body(struct probe *p)
{
    BOOLEAN result = FALSE;
    KIRQL before;

    CHECK_RULE("THREAD-068", IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine,
                                                                &sync, 0, &result),
                                STATUS_SUCCESS) &&
                                 result && sync.level == 5 && sync.context == &sync &&
                                 KeGetCurrentIrql() == PASSIVE_LEVEL);
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    CHECK_RULE("THREAD-068",
               IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 0, &result),
                  STATUS_SUCCESS) &&
                   KeGetCurrentIrql() == DISPATCH_LEVEL);
    KeLowerIrql(before);
    CHECK_RULE("SUBMIT-066", sync.runs == 2 && result && sync.level == 5 && !sync.context);
    KeRaiseIrql(DISPATCH_LEVEL + 1, &before);
    CHECK_RULE("SUBMIT-066",
               IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 0, &result),
                  STATUS_INVALID_DEVICE_REQUEST) &&
                   sync.runs == 2 && probe_rule(p, "THREAD-050") == 1);
    KeLowerIrql(before);
    sync.runs = 0;
    CHECK_RULE(
        "THREAD-070",
        IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, NULL, NULL, 0, &result),
           STATUS_INVALID_PARAMETER) &&
            IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 0, NULL),
               STATUS_INVALID_PARAMETER) &&
            IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 3, &result),
               STATUS_INVALID_PARAMETER) &&
            sync.runs == 0);
    CHECK_RULE(
        "SUBMIT-067",
        IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 2, &result),
           STATUS_SUCCESS) &&
            IS(DXGK.DxgkCbSynchronizeExecution(A->context, sync_routine, NULL, 0, &result),
               STATUS_INVALID_PARAMETER) &&
            IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 3, &result),
               STATUS_INVALID_PARAMETER) &&
            IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, NULL, NULL, 0, &result),
               STATUS_INVALID_PARAMETER) &&
            IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 0, NULL),
               STATUS_INVALID_PARAMETER) &&
            sync.runs == 1);
    sync.runs = 0;
    for (unsigned i = 0; i < 100; i++) {
        probe_device_cause(0, PROBE_CAUSE_TEST, 0);
        (void)DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 0, &result);
    }
    CHECK_RULE("THREAD-068", sync.runs == 100 && sync.overlaps == 0);
    CHECK_RULE("SUBMIT-053", sync.overlaps == 0);
    CHECK_RULE("SUBMIT-066", sync.runs == 100 && sync.overlaps == 0);
}

static NTSTATUS sync_status;

static void sync_in_isr(struct probe *p, struct probe_call *call)
{
    BOOLEAN result;

    (void)call;
    sync_status = DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 0, &result);
}

static void sync_in_start(struct probe *p, struct probe_call *call)
{
    BOOLEAN result;

    (void)call;
    sync_status = DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 1, &result);
}

static BOOLEAN NTAPI nest(PVOID context)
{
    struct probe *p = probe;
    BOOLEAN result;

    (void)context;
    sync_status = DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 0, &result);
    return FALSE;
}

static void sync_in_sync(struct probe *p)
{
    BOOLEAN result = TRUE;

    CHECK_RULE("SUBMIT-068",
               IS(DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, nest, NULL, 0, &result),
                  STATUS_SUCCESS) &&
                   probe_rule(p, "THREAD-070") == 1);
    CHECK_RULE("SUBMIT-066", !result); /* what the routine said */
}

TEST(synchronized_execution)
{
    const struct probe_options options = {.device = three_messages, .processors = 3};
    struct probe *p;

    p = start_with(&options, NULL);
    p->before[PROBE_InterruptRoutine] = isr_against_sync;
    probe_end(p, sync_body);

    p = start_with(NULL, NULL);
    sync.runs = 0;
    sync_status = STATUS_SUCCESS;
    p->before[PROBE_InterruptRoutine] = sync_in_isr;
    CHECK(probe_run(p, cause_body) == SIM_DONE);
    CHECK_RULE("THREAD-070", IS(sync_status, STATUS_INVALID_PARAMETER) && sync.runs == 0 &&
                                 probe_rule(p, "THREAD-070") == 1);
    CHECK_RULE("SUBMIT-068", IS(sync_status, STATUS_INVALID_PARAMETER) && sync.runs == 0 &&
                                 probe_rule(p, "THREAD-070") == 1);
    probe_destroy(p);

    p = start_with(NULL, NULL);
    sync_status = STATUS_SUCCESS;
    probe_end(p, sync_in_sync);
    CHECK_RULE("SUBMIT-068", IS(sync_status, STATUS_INVALID_PARAMETER) && sync.runs == 0);

    p = probe_create(NULL); /* one message: 1 is none */
    p->after[PROBE_StartDevice] = sync_in_start;
    CHECK_RULE("THREAD-069", NT_SUCCESS(probe_start(p)) &&
                                 IS(sync_status, STATUS_INVALID_PARAMETER) && sync.runs == 0);
    probe_destroy(p);
}

/* ---- notifying from a synchronized routine ---- */

static bool queues;

static void notify_synchronized(struct probe *p, struct probe_call *call)
{
    BOOLEAN result;

    (void)call;
    sync.notifies = true;
    (void)DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, sync_routine, NULL, 0, &result);
    sync.notifies = false;
    if (queues)
        (void)DXGK.DxgkCbQueueDpc(DXGK.DeviceHandle);
}

static void ddi_body(struct probe *p)
{
    DXGKARG_QUERYADAPTERINFO args;
    DXGK_DRIVERCAPS caps;

    memset(&args, 0, sizeof(args));
    args.Type = DXGKQAITYPE_DRIVERCAPS;
    args.pOutputData = &caps;
    args.OutputDataSize = sizeof(caps);
    (void)ddi_query_adapter_info(port_adapter_ddi(p->adapter[0]), &args);
    probe_sleep(1000000);
}

TEST(notifying_from_a_synchronized_routine)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = start_with(NULL, NULL);

        queues = i == 0;
        p->before[PROBE_QueryAdapterInfo] = notify_synchronized;
        CHECK(probe_run(p, ddi_body) == SIM_DONE);
        CHECK_RULE("THREAD-062",
                   probe_rule(p, "THREAD-062") == i && probe_count(p, PROBE_DpcRoutine) == !i);
        CHECK_RULE("SUBMIT-060", probe_rule(p, "THREAD-062") == i);
        CHECK_RULE("THREAD-051", probe_rule(p, "THREAD-051") == 0);
        CHECK_RULE("SUBMIT-054", probe_rule(p, "THREAD-051") == 0);
        probe_destroy(p);
    }
}

/* ---- what the service routine shares with the rest ---- */

static unsigned shared;

/* As a driver counts that reads, does something that takes its time, and writes. */
static void count_shared(void)
{
    unsigned value = shared;

    KeStallExecutionProcessor(3);
    shared = value + 1;
}

static BOOLEAN NTAPI count_synchronized(PVOID context)
{
    (void)context;
    count_shared();
    return TRUE;
}

static void count_in_isr(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = TRUE;
    count_shared();
}

static void count_beside(struct probe *p)
{
    const bool locked = p->user != NULL;
    BOOLEAN result;

    shared = 0;
    for (unsigned i = 0; i < 200; i++) {
        probe_device_raise(0, 0);
        if (locked)
            (void)DXGK.DxgkCbSynchronizeExecution(DXGK.DeviceHandle, count_synchronized, NULL, 0,
                                                  &result);
        else
            count_shared();
        KeStallExecutionProcessor(20);
    }
}

TEST(what_a_service_routine_shares_needs_its_lock)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = start_with(NULL, NULL);

        p->user = i ? p : NULL;
        p->before[PROBE_InterruptRoutine] = count_in_isr;
        CHECK(probe_run(p, count_beside) == SIM_DONE);
        CHECK(probe_count(p, PROBE_InterruptRoutine) == 200);
        if (i == 0)
            CHECK_RULE("THREAD-071/a", shared < 400);
        else
            CHECK_RULE("THREAD-071/b", shared == 400);
        probe_destroy(p);
    }
}
