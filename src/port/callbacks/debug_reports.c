/* SPDX-License-Identifier: MIT */
/* Debug reports (LIFE-120): a driver creates a report, adds data and completes it; then the report
 * is shown as a note. */
#include "port/callbacks/debug_reports.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "sim/irql.h"
#include "util/alloc.h"

#define THREAD_STUCK_IN_DEVICE_DRIVER 0xEAu
#define VIDEO_TDR_SUCCESS             0x117u /* the same number as VIDEO_TDR_TIMEOUT_DETECTED */

struct debug_report {
    struct list link;
    ULONG code;
    ULONG bytes;
    uint8_t *data;
};

static struct debug_report *find_report(DXGK_DEBUG_REPORT_HANDLE handle, const char *routine)
{
    struct port *port = port_current();

    if (!port)
        return NULL;
    LIST_FOR(node, &port->adapter_list) {
        struct port_adapter *adapter = CONTAINER(node, struct port_adapter, link);

        LIST_FOR(entry, &adapter->services.debug_reports)
            if ((void *)CONTAINER(entry, struct debug_report, link) == (void *)handle)
                return CONTAINER(entry, struct debug_report, link);
    }
    VIOLATION("LIFE-120", "%s was given a handle of no open debug report", routine);
    return NULL;
}

static DXGK_DEBUG_REPORT_HANDLE NTAPI debug_report_create(HANDLE handle, ULONG code, ULONG_PTR arg1,
                                                          ULONG_PTR arg2, ULONG_PTR arg3,
                                                          ULONG_PTR arg4)
{
    struct port_callback cb;
    struct debug_report *report = NULL;

    (void)arg1;
    (void)arg2;
    (void)arg3;
    (void)arg4;
    if (!NT_SUCCESS(port_callback_begin(&cb, handle, "DbgReportCreate", PORT_CALLER,
                                        SIM_IRQL_PASSIVE, "LIFE-120", 0)))
        return NULL;
    if (code == THREAD_STUCK_IN_DEVICE_DRIVER || code == VIDEO_DRIVER_DEBUG_REPORT_REQUEST ||
        code == VIDEO_TDR_FAILURE || code == VIDEO_TDR_SUCCESS)
        report = util_zalloc(1, sizeof(*report));
    if (report) {
        report->code = code;
        list_push_back(&cb.adapter->services.debug_reports, &report->link);
    }
    port_callback_end(&cb);
    return (DXGK_DEBUG_REPORT_HANDLE)(void *)report;
}

static BOOLEAN NTAPI debug_report_data(DXGK_DEBUG_REPORT_HANDLE handle, PVOID data, ULONG bytes)
{
    struct debug_report *report = find_report(handle, "DbgReportSecondaryData");
    uint8_t *copy;

    if (!report || !data || bytes > DXGK_DEBUG_REPORT_MAX_SIZE)
        return FALSE;
    copy = util_alloc(bytes);
    if (!copy || !port_boundary_take_bytes(copy, data, bytes)) {
        util_free(copy);
        return FALSE;
    }
    util_free(report->data);
    report->data = copy;
    report->bytes = bytes;
    return TRUE;
}

static void free_report(struct debug_report *report)
{
    list_remove(&report->link);
    util_free(report->data);
    util_free(report);
}

static void NTAPI debug_report_complete(DXGK_DEBUG_REPORT_HANDLE handle)
{
    struct debug_report *report = find_report(handle, "DbgReportComplete");

    if (!report)
        return;
    NOTE("LIFE-120", "debug report of the driver: code 0x%x with %u bytes of data, the first 0x%02x",
         report->code, report->bytes, report->bytes ? report->data[0] : 0u);
    free_report(report);
}

void port_debug_reports_fill(DXGK_DEBUG_REPORT_INTERFACE *interface)
{
    interface->DbgReportCreate = debug_report_create;
    interface->DbgReportSecondaryData = debug_report_data;
    interface->DbgReportComplete = debug_report_complete;
}

void port_debug_reports_forget(struct port_adapter *adapter)
{
    struct list *reports = &adapter->services.debug_reports;

    while (!list_empty(reports))
        free_report(CONTAINER(reports->next, struct debug_report, link));
}
