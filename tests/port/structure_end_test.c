/* SPDX-License-Identifier: MIT */
/* Structures that end before they are whole: callbacks read the first member and not the rest. */
#include "port/support/probe.h"

#include <string.h>
#include <sys/mman.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define A                  (&p->state[0])
#define DXGK               A->dxgk

static char *pages; /* one that can be read and written, and one that cannot */

static void open_pages(void)
{
    pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED && mprotect(pages + 4096, 4096, PROT_NONE) == 0);
}

static void close_pages(void)
{
    (void)munmap(pages, 8192);
}

/* Its first bytes are the last that there are. */
static void *first_bytes(const void *structure, size_t bytes)
{
    return memcpy(pages + 4096 - bytes, structure, bytes);
}

TEST_WITH(probe, context_allocations)
{
    DXGKARGCB_CREATECONTEXTALLOCATION create = {.hAdapter = DXGK.DeviceHandle};

    open_pages();
    CHECK_RULE("CTXA-005",
               IS(DXGK.DxgkCbCreateContextAllocation(first_bytes(&create, sizeof(HANDLE))),
                  STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "CTXA-005") == 1 && probe_said(p, "CTXA-005", "cannot be read"));
    CHECK(IS(DXGK.DxgkCbUpdateContextAllocation(DXGK.DeviceHandle, first_bytes(&create, 8)),
             STATUS_INVALID_PARAMETER));
    CHECK_RULE("CTXA-005", probe_rule(p, "CTXA-005") == 2);
    CHECK(DXGK.DxgkCbMapContextAllocation(DXGK.DeviceHandle, first_bytes(&create, 8)) == 0);
    CHECK_RULE("CTXA-005", probe_rule(p, "CTXA-005") == 3);
    CHECK(IS(DXGK.DxgkCbCreateContextAllocation((void *)(uintptr_t)0x1000),
             STATUS_INVALID_PARAMETER));
    CHECK_RULE("CTXA-005", probe_rule(p, "CTXA-005") == 4);
    CHECK(IS(DXGK.DxgkCbCreateContextAllocation(NULL), STATUS_INVALID_PARAMETER));
    CHECK_RULE("CTXA-005", probe_rule(p, "CTXA-005") == 5);
    close_pages();
}

/* The outputs that can be written are cleared, as far as the structure is there. */
TEST_WITH(probe, services)
{
    INTERFACE interface = {.Size = sizeof(DXGK_TIMED_OPERATION_INTERFACE), .Version = 1};
    PINTERFACE short_one;

    open_pages();
    short_one = first_bytes(&interface, sizeof(interface));
    CHECK(IS(DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, DxgkServicesTimedOperation, short_one),
             STATUS_INVALID_PARAMETER));
    CHECK(strstr(probe_refused_text, "cannot be written"));
    CHECK(IS(DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, DxgkServicesTimedOperation,
                                      first_bytes(&interface, sizeof(USHORT))),
             STATUS_INVALID_PARAMETER));
    CHECK(strstr(probe_refused_text, "cannot be read"));
    close_pages();
    probe_remove(p, 0); /* nobody holds one */
    CHECK(probe_rule(p, "LIFE-116") == 0);
}

TEST_WITH(probe, debug_data)
{
    DXGK_DEBUG_REPORT_INTERFACE report = {.Size = sizeof(report), .Version = 1};
    DXGK_DEBUG_REPORT_HANDLE handle;
    uint8_t bytes[8] = {0x11};

    open_pages();
    CHECK(IS(DXGK.DxgkCbQueryServices(DXGK.DeviceHandle, DxgkServicesDebugReport,
                                      (PINTERFACE)(void *)&report),
             STATUS_SUCCESS));
    handle = report.DbgReportCreate(DXGK.DeviceHandle, 0xEA, 0, 0, 0, 0);
    CHECK(handle && report.DbgReportSecondaryData(handle, bytes, sizeof(bytes)));
    CHECK(!report.DbgReportSecondaryData(handle, first_bytes(bytes, 4), 5));
    CHECK(report.DbgReportSecondaryData(handle, first_bytes(bytes, 4), 4));
    report.DbgReportComplete(handle);
    CHECK_RULE("LIFE-120/c",
               probe_said(p, "LIFE-120", "code 0xea with 4 bytes of data, the first 0x11"));
    report.InterfaceDereference(report.Context);
    close_pages();
}

TEST_WITH(probe, notifications_of_interrupts)
{
    DXGKARGCB_SIGNALEVENT event = {.CpuEventObject = 1};

    if (!DXGK.DxgkCbSignalEvent)
        skip();
    open_pages();
    CHECK(IS(DXGK.DxgkCbSignalEvent(first_bytes(&event, 8)), STATUS_INVALID_PARAMETER));
    CHECK_RULE("LIFE-130", probe_rule(p, "LIFE-130") == 0);
    close_pages();
}
