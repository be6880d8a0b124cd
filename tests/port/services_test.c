/* SPDX-License-Identifier: MIT */
/* Interfaces a driver asks for, exclusive access to the adapter, the drivers' own events. */
#include "port/running/acpi.h"
#include "port/support/probe.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk
#define MS                 1000000ull

static NTSTATUS ask(struct probe *p, DXGK_SERVICES type, USHORT version, USHORT size,
                    void *interface)
{
    ((PINTERFACE)interface)->Size = size;
    ((PINTERFACE)interface)->Version = version;
    return DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, type, interface);
}

/* ---- asking, references ---- */

static bool untouched(const void *interface)
{
    const uint8_t *byte = interface;

    for (size_t i = 2 * sizeof(USHORT); i < sizeof(DXGK_TIMED_OPERATION_INTERFACE); i++)
        if (byte[i] != 0x5A)
            return false;
    return true;
}

TEST_WITH(probe, services_are_asked_for)
{
    DXGK_TIMED_OPERATION_INTERFACE timed;
    DXGK_DEBUG_REPORT_INTERFACE report;
    KIRQL before;

    memset(&timed, 0x5A, sizeof(timed));
    CHECK_RULE("LIFE-114/a",
               IS(ask(p, DxgkServicesAgp, 1, sizeof(timed), &timed), STATUS_NOT_SUPPORTED) &&
                   untouched(&timed));
    CHECK_RULE("LIFE-114/b", IS(ask(p, DxgkServicesFirmwareTable, 1, sizeof(timed), &timed),
                                STATUS_NOT_SUPPORTED) &&
                                 untouched(&timed));
    CHECK_RULE("LIFE-114/c", IS(ask(p, DxgkServicesTimedOperation, 2, sizeof(timed), &timed),
                                STATUS_NOT_SUPPORTED) &&
                                 untouched(&timed));
    CHECK_RULE("LIFE-114/d", IS(ask(p, DxgkServicesTimedOperation, 1, sizeof(timed) - 1, &timed),
                                STATUS_BUFFER_TOO_SMALL) &&
                                 untouched(&timed));
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    CHECK_RULE("LIFE-113/c",
               !NT_SUCCESS(ask(p, DxgkServicesTimedOperation, 1, sizeof(timed), &timed)) &&
                   untouched(&timed));
    KeLowerIrql(before);
    CHECK_RULE("LIFE-113/a",
               IS(ask(p, DxgkServicesTimedOperation, 1, sizeof(timed), &timed), STATUS_SUCCESS) &&
                   timed.InterfaceReference && timed.TimedOperationStart &&
                   timed.TimedOperationDelay && timed.TimedOperationWaitForSingleObject);
    CHECK_RULE("LIFE-113/b",
               IS(ask(p, DxgkServicesDebugReport, 1, sizeof(report), &report), STATUS_SUCCESS) &&
                   report.DbgReportCreate && report.DbgReportSecondaryData &&
                   report.DbgReportComplete);
    /* handed out with one reference; one more is taken and both are given back */
    timed.InterfaceReference(timed.Context);
    timed.InterfaceDereference(timed.Context);
    timed.InterfaceDereference(timed.Context);
    CHECK_RULE("LIFE-115/a", probe_rule(p, "LIFE-115") == 0);
    timed.InterfaceDereference(timed.Context);
    CHECK_RULE("LIFE-115/b", probe_rule(p, "LIFE-115") == 1);
    (void)probe_remove(p, 0);
    CHECK_RULE("LIFE-116/a", probe_rule(p, "LIFE-116") == 1 &&
                                 probe_record(p, "LIFE-116")->severity == VERIFY_WARNING &&
                                 probe_said(p, "LIFE-116", "debug report"));
    CHECK_RULE("LIFE-116/b", report.DbgReportCreate(DXGK.DeviceHandle, VIDEO_TDR_FAILURE, 0, 0, 0,
                                                    0) == NULL); /* revoked */
}

/* ---- firmware tables ---- */

#define ACPI 0x41435049u
#define FIRM 0x4649524Du
#define RSMB 0x52534D42u

static const uint8_t first_table[5] = {1, 2, 3, 4, 5}, second_table[3] = {6, 7, 8},
                     bios_table[2] = {9, 10};
static const struct port_firmware_table tables[] = {
    {ACPI, 0x54445344, first_table, sizeof(first_table)},
    {ACPI, 0x54445353, second_table, sizeof(second_table)},
    {RSMB, 0, bios_table, sizeof(bios_table)},
};

static DXGK_FIRMWARE_TABLE_INTERFACE firmware;

static NTSTATUS list_tables(ULONG provider, ULONG room, void *buffer, ULONG *required)
{
    *required = 77;
    return firmware.EnumSystemFirmwareTables(firmware.Context, provider, room, buffer, required);
}

static NTSTATUS read_table(ULONG provider, ULONG id, ULONG room, void *buffer, ULONG *required)
{
    *required = 77;
    return firmware.ReadSystemFirmwareTable(firmware.Context, provider, id, room, buffer, required);
}

static void firmware_body(struct probe *p)
{
    ULONG ids[4] = {0}, required;
    uint8_t bytes[8];

    CHECK(IS(ask(p, DxgkServicesFirmwareTable, 1, sizeof(firmware), &firmware), STATUS_SUCCESS));
    CHECK_RULE("LIFE-121/a",
               IS(list_tables(ACPI, 0, NULL, &required), STATUS_BUFFER_TOO_SMALL) && required == 8);
    CHECK_RULE("LIFE-121/a", IS(list_tables(ACPI, sizeof(ids), ids, &required), STATUS_SUCCESS) &&
                                 ids[0] == 0x54445344 && ids[1] == 0x54445353 && required == 8);
    CHECK_RULE("LIFE-121/b",
               IS(list_tables(FIRM, 0, NULL, &required), STATUS_SUCCESS) && required == 0);
    CHECK_RULE("LIFE-121/c",
               IS(read_table(ACPI, 0x54445344, 4, bytes, &required), STATUS_BUFFER_TOO_SMALL) &&
                   required == 5);
    CHECK_RULE("LIFE-121/c",
               IS(read_table(ACPI, 0x54445344, 0, NULL, &required), STATUS_BUFFER_TOO_SMALL) &&
                   required == 5);
    CHECK_RULE("LIFE-121/c",
               IS(read_table(ACPI, 0x54445353, sizeof(bytes), bytes, &required), STATUS_SUCCESS) &&
                   required == 3 && memcmp(bytes, second_table, 3) == 0);
    CHECK_RULE("LIFE-121/d", IS(read_table(RSMB, 0, 2, bytes, &required), STATUS_SUCCESS) &&
                                 required == 2 && bytes[1] == 10);
    CHECK_RULE("LIFE-121/e",
               IS(list_tables(0x12345678, 0, NULL, &required), STATUS_NOT_IMPLEMENTED) &&
                   IS(read_table(ACPI, 1, 8, bytes, &required), STATUS_NOT_FOUND));
    CHECK_RULE("LIFE-121/e",
               IS(firmware.ReadSystemFirmwareTable(firmware.Context, RSMB, 0, 8, bytes, NULL),
                  STATUS_INVALID_PARAMETER));
    firmware.InterfaceDereference(firmware.Context);
}

TEST(firmware_tables)
{
    const struct probe_options options = {
        .port = {.firmware = tables, .firmware_tables = sizeof(tables) / sizeof(tables[0])}};
    struct probe *p = probe_create(&options);

    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, firmware_body);
}

/* ---- timed operations ---- */

static KEVENT never;

static LARGE_INTEGER ms(LONGLONG count)
{
    return (LARGE_INTEGER){.QuadPart = count * 10000};
}

TEST_WITH(probe, timed_operations)
{
    DXGK_TIMED_OPERATION_INTERFACE timed;
    DXGK_TIMED_OPERATION op = {.Size = sizeof(op)};
    LARGE_INTEGER limit = ms(30), ten = ms(10), minus_ten = ms(-10), much = ms(-1000);
    uint64_t begin;

    CHECK(NT_SUCCESS(ask(p, DxgkServicesTimedOperation, 1, sizeof(timed), &timed)));
    KeInitializeEvent(&never, NotificationEvent, FALSE);
    op.Size--;
    CHECK_RULE("LIFE-117/a",
               IS(timed.TimedOperationStart(&op, &limit, FALSE), STATUS_INVALID_PARAMETER));
    op.Size++;
    CHECK_RULE("LIFE-117/b", IS(timed.TimedOperationStart(&op, &limit, TRUE), STATUS_SUCCESS) &&
                                 op.OsHandled && !op.TimeoutTriggered &&
                                 op.Timeout.QuadPart == ms(30).QuadPart);
    begin = sim_now();
    CHECK_RULE("LIFE-118/a",
               IS(timed.TimedOperationDelay(&op, KernelMode, FALSE, &ten), STATUS_SUCCESS) &&
                   sim_now() - begin >= 10 * MS && sim_now() - begin < 11 * MS);
    begin = sim_now();
    CHECK_RULE("LIFE-118/b", IS(timed.TimedOperationWaitForSingleObject(
                                    &op, &never, Executive, KernelMode, FALSE, &minus_ten),
                                STATUS_TIMEOUT) &&
                                 sim_now() - begin >= 10 * MS && sim_now() - begin < 11 * MS &&
                                 !op.TimeoutTriggered);
    CHECK_RULE("LIFE-118/c",
               IS(timed.TimedOperationDelay(&op, KernelMode, FALSE, &much), STATUS_TIMEOUT) &&
                   sim_now() - begin < 21 * MS);
    CHECK_RULE("LIFE-117/c", op.TimeoutTriggered);
    CHECK_RULE("LIFE-117/d", IS(timed.TimedOperationStart(&op, &limit, FALSE), STATUS_SUCCESS) &&
                                 !op.TimeoutTriggered && !op.OsHandled);
    begin = sim_now();
    CHECK_RULE(
        "LIFE-118/d",
        IS(timed.TimedOperationWaitForSingleObject(&op, &never, Executive, KernelMode, FALSE, NULL),
           STATUS_TIMEOUT) &&
            sim_now() - begin >= 30 * MS && sim_now() - begin < 31 * MS && op.TimeoutTriggered);
    CHECK(NT_SUCCESS(timed.TimedOperationStart(&op, &limit, FALSE)));
    KeSetEvent(&never, IO_NO_INCREMENT, FALSE);
    CHECK_RULE("LIFE-118/d", IS(timed.TimedOperationWaitForSingleObject(&op, &never, Executive,
                                                                        KernelMode, FALSE, NULL),
                                STATUS_SUCCESS));
    CHECK_RULE("LIFE-119/a", probe_rule(p, "LIFE-119") == 0);
    op.StartTick.QuadPart += 1000000;
    begin = sim_now();
    CHECK_RULE("LIFE-119/b",
               IS(timed.TimedOperationDelay(&op, KernelMode, FALSE, &much), STATUS_TIMEOUT) &&
                   probe_rule(p, "LIFE-119") == 1 && sim_now() - begin < 31 * MS);
    timed.InterfaceDereference(timed.Context);
}

/* ---- debug reports ---- */

TEST_WITH(probe, debug_reports)
{
    static const ULONG accepted[] = {0xEA, VIDEO_DRIVER_DEBUG_REPORT_REQUEST, VIDEO_TDR_FAILURE,
                                     VIDEO_TDR_TIMEOUT_DETECTED};
    DXGK_DEBUG_REPORT_INTERFACE report;
    DXGK_DEBUG_REPORT_HANDLE handle;
    uint8_t *large = calloc(1, DXGK_DEBUG_REPORT_MAX_SIZE + 1);
    uint8_t first[3] = {0x11}, second[2] = {0x22};
    KIRQL before;

    CHECK(NT_SUCCESS(ask(p, DxgkServicesDebugReport, 1, sizeof(report), &report)));
    CHECK_RULE("LIFE-120/a", report.DbgReportCreate(DXGK.DeviceHandle, 0xD1, 0, 0, 0, 0) == NULL);
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    CHECK_RULE("LIFE-120/b",
               report.DbgReportCreate(DXGK.DeviceHandle, accepted[0], 0, 0, 0, 0) == NULL &&
                   probe_rule(p, "LIFE-120") == 1);
    KeLowerIrql(before);
    for (size_t i = 0; i < sizeof(accepted) / sizeof(accepted[0]); i++) {
        handle = report.DbgReportCreate(DXGK.DeviceHandle, accepted[i], 1, 2, 3, 4);
        CHECK_RULE("LIFE-120/c",
                   handle != NULL && report.DbgReportSecondaryData(handle, first, sizeof(first)));
        CHECK_RULE("LIFE-120/d",
                   !report.DbgReportSecondaryData(handle, large, DXGK_DEBUG_REPORT_MAX_SIZE + 1));
        CHECK_RULE("LIFE-120/c", report.DbgReportSecondaryData(handle, second, sizeof(second)));
        report.DbgReportComplete(handle);
    }
    CHECK_RULE("LIFE-120/c",
               probe_said(p, "LIFE-120", "code 0xea with 2 bytes of data, the first 0x22"));
    CHECK_RULE("LIFE-120/d", probe_rule(p, "LIFE-120") == 5);
    CHECK_RULE("LIFE-120/e", !report.DbgReportSecondaryData(handle, first, sizeof(first)) &&
                                 probe_rule(p, "LIFE-120") == 6 &&
                                 probe_said(p, "LIFE-120", "no open debug report"));
    report.InterfaceDereference(report.Context);
    free(large);
}

/* ---- exclusion ---- */

static struct {
    unsigned calls, callbacks;
    NTSTATUS asked, status, bridge;
    uint8_t irql;
    const struct sim_thread *thread;
    uint64_t begin, end; /* of the callback */
    uint64_t outsider;   /* when the other thread's DDI was entered */
    PVOID context, own;
    bool returned;
    ULONG attributes;
} exclusion;

static NTSTATUS read_bridge(struct probe *p)
{
    UCHAR byte;
    ULONG moved;

    return DXGK.DxgkCbReadDeviceSpace(DXGK.DeviceHandle, DXGK_WHICHSPACE_BRIDGE, &byte, 0, 1,
                                      &moved);
}

static void NTAPI protected_callback(IN_CONST_PVOID context, PVOID own, NTSTATUS status)
{
    struct probe *p = probe;

    exclusion.callbacks++;
    exclusion.context = (PVOID)(uintptr_t)context;
    exclusion.own = own;
    exclusion.status = status;
    exclusion.irql = KeGetCurrentIrql();
    exclusion.thread = sim_current->thread;
    exclusion.begin = sim_now();
    exclusion.bridge = read_bridge(p);
    probe_sleep(5 * MS);
    exclusion.end = sim_now();
}

static void exclude(struct probe *p, ULONG attributes)
{
    memset(&exclusion, 0, sizeof(exclusion));
    exclusion.asked = DXGK.DxgkCbExcludeAdapterAccess(DXGK.DeviceHandle, attributes,
                                                      protected_callback, &exclusion);
}

static void outsider_body(struct probe *p)
{
    DXGKARG_CREATEDEVICE args = {.hDevice = (HANDLE)(uintptr_t)1};

    while (!exclusion.callbacks)
        probe_sleep(MS / 10);
    CHECK(NT_SUCCESS(ddi_create_device(port_adapter_ddi(p->adapter[0]), &args)));
}

TEST_WITH(probe, access_is_excluded)
{
    struct nt_process *process = probe_process(p, "outsider");
    struct sim_thread *thread = probe_thread(p, process, "outsider", outsider_body);

    exclude(p, 0);
    CHECK_RULE("LIFE-111/b", IS(exclusion.asked, STATUS_SUCCESS));
    probe_sleep(100 * MS);
    CHECK_RULE("LIFE-108/a", exclusion.callbacks == 1 && IS(exclusion.status, STATUS_SUCCESS) &&
                                 exclusion.irql == PASSIVE_LEVEL &&
                                 exclusion.context == A->context && exclusion.own == &exclusion);
    CHECK_RULE("LIFE-108/c",
               probe_nth(p, PROBE_CreateDevice, probe_count(p, PROBE_CreateDevice) - 1)->time >=
                   exclusion.end);
    CHECK_RULE("LIFE-111/b", exclusion.thread != sim_current->thread);
    CHECK_RULE("LIFE-094/a", !NT_SUCCESS(exclusion.bridge) && probe_rule(p, "LIFE-094") == 1);
    exclude(p, DXGK_EXCLUDE_BRIDGE_ACCESS);
    probe_sleep(100 * MS);
    CHECK_RULE("LIFE-094/b", exclusion.callbacks == 1 && probe_rule(p, "LIFE-094") == 1);
    (void)read_bridge(p);
    CHECK_RULE("LIFE-094/c", probe_rule(p, "LIFE-094") == 2);
    exclude(p, 0x80);
    CHECK_RULE("LIFE-111/a", IS(exclusion.asked, STATUS_INVALID_PARAMETER));
    exclude(p, DXGK_EXCLUDE_EVICT_ALL | DXGK_EXCLUDE_CALL_SYNCHRONOUS);
    CHECK(IS(exclusion.asked, STATUS_INVALID_PARAMETER));
    exclude(p, DXGK_EXCLUDE_CALL_SYNCHRONOUS); /* in no DDI at all */
    CHECK_RULE("LIFE-110/a", IS(exclusion.asked, STATUS_INVALID_PARAMETER));
    probe_sleep(100 * MS);
    CHECK_RULE("LIFE-111/a", exclusion.callbacks == 0);
    sim_thread_release(thread);
}

static void exclude_synchronously(struct probe *p, struct probe_call *call)
{
    (void)call;
    exclude(p, DXGK_EXCLUDE_CALL_SYNCHRONOUS);
    exclusion.returned = exclusion.callbacks == 1 && exclusion.thread == sim_current->thread;
}

static void query_body(struct probe *p)
{
    DXGKARG_CREATEDEVICE args = {.hDevice = (HANDLE)(uintptr_t)1};

    CHECK(NT_SUCCESS(ddi_create_device(port_adapter_ddi(p->adapter[0]), &args)));
}

static void mains_body(struct probe *p)
{
    CHECK(NT_SUCCESS(port_adapter_notify_mains(p->adapter[0], true)));
}

TEST(synchronous_exclusion)
{
    struct probe *p = probe_create(NULL);

    probe_set_entry(p, PROBE_NotifyAcpiEvent, true);
    CHECK(NT_SUCCESS(probe_start(p)));
    p->before[PROBE_CreateDevice] = exclude_synchronously; /* level zero */
    CHECK(probe_run(p, query_body) == SIM_DONE);
    CHECK_RULE("LIFE-110/b",
               IS(exclusion.asked, STATUS_INVALID_PARAMETER) && exclusion.callbacks == 0);
    p->before[PROBE_NotifyAcpiEvent] = exclude_synchronously; /* level two */
    CHECK(probe_run(p, mains_body) == SIM_DONE);
    CHECK_RULE("LIFE-110/c", IS(exclusion.asked, STATUS_SUCCESS) && exclusion.returned &&
                                 IS(exclusion.status, STATUS_SUCCESS));
    probe_destroy(p);
}

static void wait_for_own_callback(struct probe *p, struct probe_call *call)
{
    (void)call;
    exclude(p, 0);
    while (!exclusion.callbacks)
        probe_sleep(10 * MS);
}

TEST(waiting_for_oneself)
{
    struct probe *p = probe_started(NULL);

    p->before[PROBE_CreateDevice] = wait_for_own_callback;
    CHECK(probe_run(p, query_body) == SIM_DONE);
    CHECK_RULE("LIFE-112", probe_rule(p, "LIFE-112") == 1);
    CHECK_RULE("LIFE-111/c", exclusion.callbacks == 1 && !NT_SUCCESS(exclusion.status));
    probe_destroy(p);
}

/* ---- the drivers' events ---- */

static uint64_t trace_clock;

static void log_one(struct probe *p, UCHAR type)
{
    DXGK.DxgkCbLogEtwEvent(&(GUID){.Data1 = 1}, type, 16, NULL);
}

static void log_body(struct probe *p)
{
    log_one(p, 1);
}

static void toggle_body(struct probe *p)
{
    const struct probe_call *call;

    probe_forget(p);
    port_set_etw(p->port, true, 5);
    call = probe_nth(p, PROBE_ControlEtwLogging, 0);
    CHECK_RULE("LIFE-107/a", probe_count(p, PROBE_ControlEtwLogging) == 1 &&
                                 (BOOLEAN)call->arg[0] && (ULONG)call->arg[1] == 0 &&
                                 (UCHAR)call->arg[2] == 5 && call->irql == PASSIVE_LEVEL);
    port_set_etw(p->port, false, 0);
    call = probe_nth(p, PROBE_ControlEtwLogging, 1);
    CHECK_RULE("LIFE-107/b", probe_count(p, PROBE_ControlEtwLogging) == 2 &&
                                 !(BOOLEAN)call->arg[0] && (ULONG)call->arg[1] == 0);
}

TEST(tracing_is_toggled)
{
    const struct probe_options options = {.adapters = 2};
    struct probe *p = probe_create(&options);

    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, toggle_body);
}

static void triage_body(struct probe *p)
{
    DXGKDDICB_PARTITIONING_EVENT_NOTIFICATION event;

    memset(&event, 0, sizeof(event));
    event.EventType = DXGK_PARTITION_EVENT_DRIVER_INTERNAL;
    event.PartitionId = 77;
    memcpy(event.EventDescription, L"overheated", sizeof(L"overheated"));
    DXGK.DxgkCbLogEtwEvent(&GUID_DXGKDDI_AZURE_TRIAGE_EVENT, 200, sizeof(event), &event);
    CHECK_RULE("LIFE-106", probe_rule(p, "LIFE-106") == 1 &&
                               probe_said(p, "LIFE-106", "event 2 of partition 77: overheated"));
    port_set_etw(p->port, false, 0);
    DXGK.DxgkCbLogEtwEvent(&GUID_DXGKDDI_AZURE_TRIAGE_EVENT, 200, sizeof(event), &event);
    CHECK_RULE("LIFE-105/d", probe_rule(p, "LIFE-106") == 1);
}

TEST(events_are_logged)
{
    struct trace_sink *sink = trace_sink_create();
    struct probe *p;
    uint64_t before;

    trace_sink_install(sink, &trace_clock);
    p = probe_started(NULL); /* a machine with a trace has logging on */
    before = trace_records(sink);
    CHECK(probe_run(p, log_body) == SIM_DONE);
    CHECK_RULE("LIFE-105/a", trace_records(sink) == before + 3); /* the call, and the event in it */
    CHECK(probe_run(p, triage_body) == SIM_DONE);
    before = trace_records(sink);
    CHECK(probe_run(p, log_body) == SIM_DONE);
    CHECK_RULE("LIFE-105/d", trace_records(sink) == before + 2); /* off by now */
    probe_destroy(p);
    trace_sink_destroy(sink);
}
