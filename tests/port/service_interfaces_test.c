/* SPDX-License-Identifier: MIT */
/* Interfaces of DxgkCbQueryServices and the drivers' events, at their limits: sizes, pointers, memory, what is left at the stop. */
#include "port/support/probe.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk

static NTSTATUS ask(struct probe *p, DXGK_SERVICES type, USHORT size, void *interface)
{
    ((PINTERFACE)interface)->Size = size;
    ((PINTERFACE)interface)->Version = 1;
    return DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, type, interface);
}

/* ---- asking ---- */

TEST_WITH(probe, what_cannot_be_asked)
{
    DXGK_DEBUG_REPORT_INTERFACE report, before;

    memset(&report, 0x5A, sizeof(report));
    CHECK(IS(DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, DxgkServicesDebugReport, NULL),
             STATUS_INVALID_PARAMETER));
    CHECK(IS(ask(p, (DXGK_SERVICES)99, sizeof(report), &report), STATUS_NOT_SUPPORTED));
    CHECK(strstr(probe_refused_text, "does not offer"));
    report.Size = sizeof(report);
    report.Version = 0;
    CHECK_RULE("LIFE-114/c", IS(DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, DxgkServicesDebugReport,
                                                         (PINTERFACE)(void *)&report),
                                STATUS_NOT_SUPPORTED));
    CHECK(strstr(probe_refused_text, "version 0 of the services"));
    CHECK_RULE("LIFE-114/d", IS(ask(p, DxgkServicesDebugReport, sizeof(report) - 1, &report),
                                STATUS_BUFFER_TOO_SMALL) &&
                                 strstr(probe_refused_text, "Size 55, the interface has 56 bytes"));
    report.Size = sizeof(report);
    before = report;
    p->sim->heap.fail_at = p->sim->heap.requests + 1;
    CHECK(IS(ask(p, DxgkServicesDebugReport, sizeof(report), &report), STATUS_NO_MEMORY));
    p->sim->heap.fail_at = 0;
    CHECK(memcmp(&report, &before, sizeof(report)) == 0);
    /* more room than the interface has */
    CHECK(IS(ask(p, DxgkServicesDebugReport, sizeof(report) + 8, &report), STATUS_SUCCESS));
    CHECK(report.Size == sizeof(report) && report.Version == 1 && report.Context);
    report.InterfaceDereference(report.Context);
    CHECK_RULE("LIFE-115/b", probe_rule(p, "LIFE-115") == 0);
    report.InterfaceReference(report.Context); /* of nothing any more: without effect */
    report.InterfaceDereference(report.Context);
    CHECK_RULE("LIFE-115/b", probe_rule(p, "LIFE-115") == 1 &&
                                 probe_said(p, "LIFE-115", "an interface that is not held"));
}

TEST(a_table_of_nobody_can_be_asked_for)
{
    static const struct port_firmware_table table = {0x41435049u, 1, "x", 1};
    const struct probe_options options = {
        .port = {.wddm_3_2 = true, .firmware = &table, .firmware_tables = 1}};
    struct probe *p = probe_started(&options);
    DXGK_FIRMWARE_TABLE_INTERFACE firmware;
    DXGK_FEATURE_INTERFACE feature;
    DXGK_TIMED_OPERATION_INTERFACE timed[2];

    CHECK(IS(ask(p, DxgkServicesFirmwareTable, sizeof(firmware), &firmware), STATUS_SUCCESS) &&
          firmware.Size == sizeof(firmware));
    CHECK(IS(ask(p, (DXGK_SERVICES)7, sizeof(feature), &feature), STATUS_SUCCESS) &&
          feature.Size == sizeof(feature));
    CHECK(IS(ask(p, DxgkServicesTimedOperation, sizeof(timed[0]), &timed[0]), STATUS_SUCCESS) &&
          IS(ask(p, DxgkServicesTimedOperation, sizeof(timed[1]), &timed[1]), STATUS_SUCCESS) &&
          timed[0].Context != timed[1].Context);
    timed[0].InterfaceDereference(timed[0].Context);
    (void)probe_stop(p);
    CHECK_RULE("LIFE-116/a", probe_rule(p, "LIFE-116") == 3 &&
                                 probe_said(p, "LIFE-116", "the firmware table interface"));
    probe_destroy(p);
}

/* ---- debug reports ---- */

TEST_WITH(probe, data_of_debug_reports)
{
    DXGK_DEBUG_REPORT_INTERFACE report;
    DXGK_DEBUG_REPORT_HANDLE first, second;
    uint8_t *large = calloc(1, DXGK_DEBUG_REPORT_MAX_SIZE + 1);

    CHECK(IS(ask(p, DxgkServicesDebugReport, sizeof(report), &report), STATUS_SUCCESS));
    p->sim->heap.fail_at = p->sim->heap.requests + 1;
    CHECK(report.DbgReportCreate(DXGK.DeviceHandle, 0xEA, 1, 2, 3, 4) == NULL);
    p->sim->heap.fail_at = 0;
    first = report.DbgReportCreate(DXGK.DeviceHandle, 0xEA, 1, 2, 3, 4);
    second = report.DbgReportCreate(DXGK.DeviceHandle, VIDEO_TDR_FAILURE, 1, 2, 3, 4);
    CHECK(first && second && first != second);
    large[0] = 0x77;
    CHECK_RULE("LIFE-120/d",
               report.DbgReportSecondaryData(first, large, DXGK_DEBUG_REPORT_MAX_SIZE) == TRUE);
    CHECK(!report.DbgReportSecondaryData(first, NULL, 1) &&
          !report.DbgReportSecondaryData(first, (PVOID)(uintptr_t)0x1000, 1));
    p->sim->heap.fail_at = p->sim->heap.requests + 1;
    CHECK(!report.DbgReportSecondaryData(first, large, 1));
    p->sim->heap.fail_at = 0;
    CHECK(report.DbgReportSecondaryData(second, large, 0) == TRUE);
    report.DbgReportComplete(first); /* with what it had before the failures */
    CHECK_RULE("LIFE-120/c",
               probe_rule(p, "LIFE-120") == 1 &&
                   probe_said(p, "LIFE-120", "code 0xea with 63488 bytes of data, the first 0x77"));
    report.DbgReportComplete(second);
    CHECK_RULE("LIFE-120/c", probe_rule(p, "LIFE-120") == 2);
    report.DbgReportComplete(second);
    CHECK_RULE("LIFE-120/e", probe_rule(p, "LIFE-120") == 3 &&
                                 probe_said(p, "LIFE-120", "DbgReportComplete was given a handle"));
    CHECK(report.DbgReportCreate(DXGK.DeviceHandle, 0xEB, 0, 0, 0, 0) == NULL &&
          report.DbgReportCreate(DXGK.DeviceHandle, 0xE9, 0, 0, 0, 0) == NULL);
    /* one is left open, with data: the stop takes it away, without a note */
    first = report.DbgReportCreate(DXGK.DeviceHandle, 0xEA, 0, 0, 0, 0);
    CHECK(first && report.DbgReportSecondaryData(first, large, 5));
    report.InterfaceDereference(report.Context);
    probe_remove(p, 0);
    CHECK(probe_rule(p, "LIFE-120") == 3);
    CHECK_RULE("LIFE-120/e",
               !report.DbgReportSecondaryData(first, large, 5) && probe_rule(p, "LIFE-120") == 4);
    free(large);
}

TEST_WITH(probe, a_report_without_bytes)
{
    DXGK_DEBUG_REPORT_INTERFACE report;
    DXGK_DEBUG_REPORT_HANDLE handle;
    uint8_t byte = 0x77;

    CHECK(IS(ask(p, DxgkServicesDebugReport, sizeof(report), &report), STATUS_SUCCESS));
    handle = report.DbgReportCreate(DXGK.DeviceHandle, VIDEO_TDR_FAILURE, 1, 2, 3, 4);
    CHECK(handle && report.DbgReportSecondaryData(handle, &byte, 0) == TRUE);
    report.DbgReportComplete(handle);
    CHECK_RULE("LIFE-120/c",
               probe_said(p, "LIFE-120", "code 0x116 with 0 bytes of data, the first 0x00"));
    report.InterfaceDereference(report.Context);
}

/* ---- firmware tables ---- */

#define RSMB 0x52534D42u
#define FIRM 0x4649524Du

static struct port_firmware_table many[PORT_MAX_FIRMWARE_TABLES + 1];

static void firmware_body(struct probe *p)
{
    ULONG ids[PORT_MAX_FIRMWARE_TABLES + 1], required = 0;
    DXGK_FIRMWARE_TABLE_INTERFACE firmware;
    const ULONG all = PORT_MAX_FIRMWARE_TABLES * sizeof(ULONG);
    uint8_t bytes[4] = {0x5A, 0x5A, 0x5A, 0x5A};

    memset(ids, 0x5A, sizeof(ids));
    CHECK(IS(ask(p, DxgkServicesFirmwareTable, sizeof(firmware), &firmware), STATUS_SUCCESS));
    CHECK_RULE("LIFE-121/b",
               IS(firmware.EnumSystemFirmwareTables(firmware.Context, RSMB, all - 1, ids, &required),
                  STATUS_BUFFER_TOO_SMALL) &&
                   required == all && ids[0] == 0x5A5A5A5A);
    CHECK(IS(firmware.EnumSystemFirmwareTables(firmware.Context, RSMB, all, NULL, &required),
             STATUS_BUFFER_TOO_SMALL));
    CHECK(IS(firmware.EnumSystemFirmwareTables(firmware.Context, RSMB, all,
                                               (PVOID)(uintptr_t)0x1000, &required),
             STATUS_INVALID_PARAMETER));
    CHECK(IS(firmware.EnumSystemFirmwareTables(firmware.Context, RSMB, all, ids, NULL),
             STATUS_INVALID_PARAMETER) &&
          ids[0] == 0x5A5A5A5A);
    CHECK(IS(firmware.EnumSystemFirmwareTables(firmware.Context, RSMB, all, ids, &required),
             STATUS_SUCCESS));
    for (ULONG i = 0; i < PORT_MAX_FIRMWARE_TABLES; i++)
        CHECK(ids[i] == i + 100);
    CHECK(ids[PORT_MAX_FIRMWARE_TABLES] == 0x5A5A5A5A);
    /* the last that is used, and the one after it */
    CHECK(IS(firmware.ReadSystemFirmwareTable(firmware.Context, RSMB, PORT_MAX_FIRMWARE_TABLES + 99,
                                              4, bytes, &required),
             STATUS_SUCCESS) &&
          required == 2 && bytes[0] == 7 && bytes[1] == 8 && bytes[2] == 0x5A);
    CHECK(IS(firmware.ReadSystemFirmwareTable(firmware.Context, RSMB,
                                              PORT_MAX_FIRMWARE_TABLES + 100, 4, bytes, &required),
             STATUS_NOT_FOUND));
    CHECK(IS(firmware.ReadSystemFirmwareTable(firmware.Context, RSMB, 101, 2, NULL, &required),
             STATUS_BUFFER_TOO_SMALL));
    CHECK(IS(firmware.ReadSystemFirmwareTable(firmware.Context, RSMB, 100, 0, NULL, &required),
             STATUS_SUCCESS) &&
          required == 0); /* a table without bytes */
    CHECK_RULE("LIFE-121/e", IS(firmware.ReadSystemFirmwareTable(firmware.Context, 0x12345678, 100,
                                                                 4, bytes, &required),
                                STATUS_NOT_IMPLEMENTED));
    CHECK(IS(firmware.ReadSystemFirmwareTable(firmware.Context, FIRM, 101, 4, bytes, &required),
             STATUS_NOT_FOUND));
    firmware.InterfaceDereference(firmware.Context);
}

TEST(as_many_firmware_tables_as_are_used)
{
    static const uint8_t data[] = {7, 8};
    const struct probe_options options = {
        .port = {.firmware = many, .firmware_tables = PORT_MAX_FIRMWARE_TABLES + 1}};

    for (ULONG i = 0; i <= PORT_MAX_FIRMWARE_TABLES; i++)
        many[i] = (struct port_firmware_table){RSMB, i + 100, data, i ? sizeof(data) : 0};
    probe_end(probe_started(&options), firmware_body);
}

/* ---- the drivers' events ---- */

static void events_body(struct probe *p)
{
    static const GUID guid = {.Data1 = 1};
    KIRQL before;

    KeRaiseIrql(DISPATCH_LEVEL, &before);
    DXGK.DxgkCbLogEtwEvent(&guid, 1, 256, NULL);
    CHECK_RULE("LIFE-105/a", probe_rule(p, "LIFE-105") == 0);
    DXGK.DxgkCbLogEtwEvent(&guid, 1, 257, NULL);
    KeLowerIrql(before);
    CHECK_RULE("LIFE-105/b", probe_rule(p, "LIFE-105") == 1 &&
                                 probe_said(p, "LIFE-105", "with 257 bytes at DISPATCH_LEVEL"));
    DXGK.DxgkCbLogEtwEvent(&guid, 1, 257, NULL);
    CHECK_RULE("LIFE-105/c", probe_rule(p, "LIFE-105") == 1);
    DXGK.DxgkCbLogEtwEvent(NULL, 1, 16, NULL);
}

static void triage_body(struct probe *p)
{
    DXGKDDICB_PARTITIONING_EVENT_NOTIFICATION event;

    memset(&event, 0, sizeof(event));
    event.EventType = DXGK_PARTITION_EVENT_DRIVER_INTERNAL;
    event.PartitionId = 5;
    memcpy(event.EventDescription, L"a~\x7F\xE4z", sizeof(L"a~\x7F\xE4z"));
    DXGK.DxgkCbLogEtwEvent(&GUID_DXGKDDI_AZURE_TRIAGE_EVENT, 1, sizeof(event) - 1, &event);
    CHECK_RULE("LIFE-106", probe_rule(p, "LIFE-106") == 1 &&
                               probe_record(p, "LIFE-106")->severity == VERIFY_WARNING &&
                               probe_said(p, "LIFE-106", "a triage event has no DXGKDDICB"));
    DXGK.DxgkCbLogEtwEvent(&GUID_DXGKDDI_AZURE_TRIAGE_EVENT, 1, sizeof(event), NULL);
    CHECK_RULE("LIFE-106", probe_rule(p, "LIFE-106") == 2);
    DXGK.DxgkCbLogEtwEvent(&GUID_DXGKDDI_AZURE_TRIAGE_EVENT, 1, sizeof(event), &event);
    CHECK_RULE("LIFE-106", probe_rule(p, "LIFE-106") == 3 &&
                               probe_said(p, "LIFE-106", "event 2 of partition 5: a~??z"));
}

static void endless_body(struct probe *p)
{
    DXGKDDICB_PARTITIONING_EVENT_NOTIFICATION event;
    char text[320];

    port_set_etw(p->port, true, 1);
    memset(&event, 0, sizeof(event));
    event.PartitionId = 5;
    for (unsigned i = 0; i < sizeof(event.EventDescription) / sizeof(WCHAR); i++)
        event.EventDescription[i] = (WCHAR)('a' + i % 26); /* no end */
    snprintf(text, sizeof(text), "partition 5: ");
    for (unsigned i = 0; i < DXGKDDI_PARTITION_EVENT_DESCRIPTION_MAX; i++)
        snprintf(text + strlen(text), 2, "%c", (int)('a' + i % 26));
    DXGK.DxgkCbLogEtwEvent(&GUID_DXGKDDI_AZURE_TRIAGE_EVENT, 1, sizeof(event), &event);
    CHECK_RULE("LIFE-106", probe_rule(p, "LIFE-106") == 1 && probe_said(p, "LIFE-106", text));
}

static void toggle_body(struct probe *p)
{
    probe_remove(p, 0);
    probe_forget(p);
    port_set_etw(p->port, true, 3);
    CHECK_RULE("LIFE-107/a", probe_count(p, PROBE_ControlEtwLogging) == 1 &&
                                 (UCHAR)probe_nth(p, PROBE_ControlEtwLogging, 0)->arg[2] == 3);
}

static void logging_body(struct probe *p)
{
    port_set_etw(p->port, true, 1);
    events_body(p);
    triage_body(p);
}

TEST(events_have_limits)
{
    const struct probe_options options = {.adapters = 2};

    probe_end(probe_started(NULL), logging_body);
    probe_end(probe_started(NULL), endless_body);
    probe_end(probe_started(&options), toggle_body);
}

static void no_entry_body(struct probe *p)
{
    probe_forget(p);
    port_set_etw(p->port, true, 3);
    CHECK(probe_count(p, PROBE_ControlEtwLogging) == 0);
}

TEST(a_driver_without_the_entry_is_not_told)
{
    struct probe *p = probe_create(NULL);

    probe_set_entry(p, PROBE_ControlEtwLogging, false);
    CHECK(NT_SUCCESS(probe_start(p)));
    probe_end(p, no_entry_body);
}

static void level_body(struct probe *p)
{
    port_set_etw(p->port, true, 5);
    probe_forget(p);
    probe_restart(p);
    CHECK_RULE("LIFE-107/a", probe_count(p, PROBE_ControlEtwLogging) == 1 &&
                                 (BOOLEAN)probe_nth(p, PROBE_ControlEtwLogging, 0)->arg[0] &&
                                 (ULONG)probe_nth(p, PROBE_ControlEtwLogging, 0)->arg[1] == 0 &&
                                 (UCHAR)probe_nth(p, PROBE_ControlEtwLogging, 0)->arg[2] == 5);
    port_set_etw(p->port, false, 3);
    probe_forget(p);
    probe_restart(p);
    CHECK_RULE("LIFE-107/b", probe_count(p, PROBE_ControlEtwLogging) == 1 &&
                                 !(BOOLEAN)probe_nth(p, PROBE_ControlEtwLogging, 0)->arg[0]);
}

/* A driver that starts later is told what was set before. */
TEST(a_start_tells_what_is_set)
{
    probe_end(probe_started(NULL), level_body);
}
