/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbQueryServices: the interfaces a driver may ask for, counted per adapter and revoked when it stops (LIFE-113 to LIFE-121).
 * Timed operations and debug reports exist, firmware tables where the machine has any, features on a host of WDDM 3.2; AGP, boot
 * displays and serial buses do not.
 */
#include <string.h>

#include "port/port_private.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"

struct service {
    struct list link;
    struct port_adapter *adapter;
    DXGK_SERVICES type;
    uint32_t references;
};

/* ---- references: the Context of an interface is only compared, never followed ---- */

static struct service *find_service(const void *context)
{
    struct port *port = port_current();

    if (!port)
        return NULL;
    LIST_FOR(node, &port->adapter_list) {
        struct port_adapter *adapter = CONTAINER(node, struct port_adapter, link);

        LIST_FOR(entry, &adapter->services)
            if (CONTAINER(entry, struct service, link) == context)
                return CONTAINER(entry, struct service, link);
    }
    return NULL;
}

static void NTAPI reference(PVOID context)
{
    struct service *service = find_service(context);

    if (service)
        service->references++;
}

static void NTAPI dereference(PVOID context)
{
    struct service *service = find_service(context);

    if (!service) {
        VIOLATION("LIFE-115", "InterfaceDereference for an interface that is not held");
        return;
    }
    if (--service->references)
        return;
    list_remove(&service->link);
    util_free(service);
}

/* ---- timed operations: the host keeps what it wrote into each (LIFE-119) ---- */

struct timed_operation {
    struct list link;
    DXGK_TIMED_OPERATION *address;
    DXGK_TIMED_OPERATION written;
};

static struct timed_operation *find_operation(const DXGK_TIMED_OPERATION *address,
                                              struct port_adapter **owner)
{
    struct port *port = port_current();

    if (!port)
        return NULL;
    LIST_FOR(node, &port->adapter_list) {
        struct port_adapter *adapter = CONTAINER(node, struct port_adapter, link);

        LIST_FOR(entry, &adapter->timed_operations) {
            struct timed_operation *operation = CONTAINER(entry, struct timed_operation, link);

            if (operation->address == address) {
                *owner = adapter;
                return operation;
            }
        }
    }
    return NULL;
}

/* Which adapter a start is for: the one whose interface the driver holds and whose code runs. */
static struct port_adapter *starting_adapter(void)
{
    struct port *port = port_current();
    struct ddi_adapter *current = ddi_current_adapter();

    LIST_FOR(node, &port->adapter_list) {
        struct port_adapter *adapter = CONTAINER(node, struct port_adapter, link);

        LIST_FOR(entry, &adapter->services)
            if (CONTAINER(entry, struct service, link)->type == DxgkServicesTimedOperation &&
                (!current || current == &adapter->ddi))
                return adapter;
    }
    return NULL;
}

/* The sign says nothing: always relative (LIFE-118). */
static LONGLONG magnitude(LONGLONG interval)
{
    if (interval == INT64_MIN)
        return INT64_MAX;
    return interval < 0 ? -interval : interval;
}

static NTSTATUS NTAPI timed_operation_start(DXGK_TIMED_OPERATION *op, const LARGE_INTEGER *timeout,
                                            BOOLEAN os_handled)
{
    struct port_adapter *adapter;
    struct timed_operation *operation;
    DXGK_TIMED_OPERATION copy;
    LARGE_INTEGER limit;

    if (!op || !timeout || !sim_copy_checked(&copy, op, sizeof(copy)) ||
        !sim_copy_checked(&limit, timeout, sizeof(limit)) || copy.Size != sizeof(copy))
        return STATUS_INVALID_PARAMETER;
    operation = find_operation(op, &adapter);
    if (!operation) {
        adapter = starting_adapter();
        if (!adapter)
            return STATUS_INVALID_DEVICE_STATE; /* the interface was given back, or revoked */
        operation = util_zalloc(1, sizeof(*operation));
        if (!operation)
            return STATUS_NO_MEMORY;
        operation->address = op;
        list_push_back(&adapter->timed_operations, &operation->link);
    }
    copy.OwnerTag = (ULONG_PTR)adapter->handle;
    copy.OsHandled = os_handled;
    copy.TimeoutTriggered = FALSE;
    copy.Timeout.QuadPart = magnitude(limit.QuadPart); /* 100 ns units */
    copy.StartTick.QuadPart = (LONGLONG)(sim_now() / 100);
    operation->written = copy;
    return sim_copy_checked(op, &copy, sizeof(copy)) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

/* The operation as the host left it; what a driver changed meanwhile is reported and put back. NULL: never started. */
static struct timed_operation *check_operation(DXGK_TIMED_OPERATION *op)
{
    struct port_adapter *adapter;
    struct timed_operation *operation = find_operation(op, &adapter);
    DXGK_TIMED_OPERATION copy;

    if (!operation || !sim_copy_checked(&copy, op, sizeof(copy)))
        return NULL;
    if (copy.OwnerTag != operation->written.OwnerTag ||
        copy.OsHandled != operation->written.OsHandled ||
        copy.Timeout.QuadPart != operation->written.Timeout.QuadPart ||
        copy.StartTick.QuadPart != operation->written.StartTick.QuadPart) {
        VIOLATION(
            "LIFE-119",
            "the driver changed OwnerTag, OsHandled, Timeout or StartTick of a timed operation");
        (void)sim_copy_checked(op, &operation->written, sizeof(operation->written));
    }
    return operation;
}

/* How long one may wait, 100 ns units: what is wanted, but not beyond the operation's own end (LIFE-118). */
static LONGLONG clip(const struct timed_operation *operation, LONGLONG wanted, bool *clipped)
{
    LONGLONG gone = (LONGLONG)(sim_now() / 100) - operation->written.StartTick.QuadPart;
    LONGLONG left = operation->written.Timeout.QuadPart > gone
                        ? operation->written.Timeout.QuadPart - gone
                        : 0;

    wanted = magnitude(wanted);
    *clipped = wanted >= left;
    return *clipped ? left : wanted;
}

static void trigger(struct timed_operation *operation)
{
    operation->written.TimeoutTriggered = TRUE;
    (void)sim_copy_checked(operation->address, &operation->written, sizeof(operation->written));
}

static NTSTATUS NTAPI timed_operation_delay(DXGK_TIMED_OPERATION *op, KPROCESSOR_MODE mode,
                                            BOOLEAN alertable, const LARGE_INTEGER *interval)
{
    struct timed_operation *operation = check_operation(op);
    LARGE_INTEGER wait;
    NTSTATUS status;
    bool clipped;

    if (!operation || !interval || !sim_copy_checked(&wait, interval, sizeof(wait)))
        return STATUS_INVALID_PARAMETER;
    wait.QuadPart = -clip(operation, wait.QuadPart, &clipped);
    status = KeDelayExecutionThread(mode, alertable, &wait);
    if (status != STATUS_SUCCESS || !clipped)
        return status;
    trigger(operation);
    return STATUS_TIMEOUT;
}

static NTSTATUS NTAPI timed_operation_wait(DXGK_TIMED_OPERATION *op, PVOID object,
                                           KWAIT_REASON reason, KPROCESSOR_MODE mode,
                                           BOOLEAN alertable, const LARGE_INTEGER *timeout)
{
    struct timed_operation *operation = check_operation(op);
    LARGE_INTEGER wait = {.QuadPart = INT64_MAX};
    NTSTATUS status;
    bool clipped;

    if (!operation || (timeout && !sim_copy_checked(&wait, timeout, sizeof(wait))))
        return STATUS_INVALID_PARAMETER;
    wait.QuadPart = -clip(operation, wait.QuadPart, &clipped);
    status = KeWaitForSingleObject(object, reason, mode, alertable, &wait);
    if (status == STATUS_TIMEOUT && clipped)
        trigger(operation);
    return status;
}

/* ---- debug reports (LIFE-120) ---- */

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

        LIST_FOR(entry, &adapter->debug_reports)
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
    struct callback cb;
    struct debug_report *report = NULL;

    (void)arg1;
    (void)arg2;
    (void)arg3;
    (void)arg4;
    if (!NT_SUCCESS(callback_begin(&cb, handle, "DbgReportCreate", CALLER, SIM_IRQL_PASSIVE,
                                   "LIFE-120", 0)))
        return NULL;
    if (code == THREAD_STUCK_IN_DEVICE_DRIVER || code == VIDEO_DRIVER_DEBUG_REPORT_REQUEST ||
        code == VIDEO_TDR_FAILURE || code == VIDEO_TDR_SUCCESS)
        report = util_zalloc(1, sizeof(*report));
    if (report) {
        report->code = code;
        list_push_back(&cb.adapter->debug_reports, &report->link);
    }
    callback_end(&cb);
    return (DXGK_DEBUG_REPORT_HANDLE)(void *)report;
}

static BOOLEAN NTAPI debug_report_data(DXGK_DEBUG_REPORT_HANDLE handle, PVOID data, ULONG bytes)
{
    struct debug_report *report = find_report(handle, "DbgReportSecondaryData");
    uint8_t *copy;

    if (!report || !data || bytes > DXGK_DEBUG_REPORT_MAX_SIZE)
        return FALSE;
    copy = util_alloc(bytes);
    if (!copy || !sim_copy_checked(copy, data, bytes)) {
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

/* ---- the callback ---- */

static void fill_timed_operations(INTERFACE *interface)
{
    DXGK_TIMED_OPERATION_INTERFACE *timed = (void *)interface;

    timed->TimedOperationStart = timed_operation_start;
    timed->TimedOperationDelay = timed_operation_delay;
    timed->TimedOperationWaitForSingleObject = timed_operation_wait;
}

static void fill_debug_reports(INTERFACE *interface)
{
    DXGK_DEBUG_REPORT_INTERFACE *report = (void *)interface;

    report->DbgReportCreate = debug_report_create;
    report->DbgReportSecondaryData = debug_report_data;
    report->DbgReportComplete = debug_report_complete;
}

static void fill_features(INTERFACE *interface)
{
    port_fill_feature_interface((void *)interface);
}

static void fill_firmware(INTERFACE *interface)
{
    port_fill_firmware_interface((void *)interface);
}

static bool has_firmware(const struct port_adapter *adapter)
{
    return adapter->port->config.firmware_tables > 0; /* LIFE-114 */
}

static bool always(const struct port_adapter *adapter)
{
    (void)adapter;
    return true;
}

static bool is_3_2(const struct port_adapter *adapter)
{
    return adapter->port->config.wddm_3_2; /* LIFE-127 */
}

static const struct service_kind {
    DXGK_SERVICES type;
    USHORT bytes;
    const char *name;
    bool (*offered)(const struct port_adapter *adapter);
    void (*fill)(INTERFACE *interface);
} service_kinds[] = {
    {DxgkServicesTimedOperation, sizeof(DXGK_TIMED_OPERATION_INTERFACE), "timed operation", always,
     fill_timed_operations},
    {DxgkServicesDebugReport, sizeof(DXGK_DEBUG_REPORT_INTERFACE), "debug report", always,
     fill_debug_reports},
    {DxgkServicesFirmwareTable, sizeof(DXGK_FIRMWARE_TABLE_INTERFACE), "firmware table",
     has_firmware, fill_firmware},
    {DxgkServicesFeature, sizeof(DXGK_FEATURE_INTERFACE), "feature", is_3_2, fill_features},
};

static const struct service_kind *kind_of(DXGK_SERVICES type)
{
    for (size_t i = 0; i < sizeof(service_kinds) / sizeof(service_kinds[0]); i++)
        if (service_kinds[i].type == type)
            return &service_kinds[i];
    return NULL;
}

static NTSTATUS fill_interface(const struct service_kind *kind, PINTERFACE user,
                               struct service *service)
{
    union {
        INTERFACE header;
        DXGK_TIMED_OPERATION_INTERFACE timed;
        DXGK_DEBUG_REPORT_INTERFACE report;
        DXGK_FIRMWARE_TABLE_INTERFACE firmware;
        DXGK_FEATURE_INTERFACE feature;
    } out;

    memset(&out, 0, sizeof(out));
    kind->fill(&out.header);
    out.header.Size = kind->bytes;
    out.header.Version = 1;
    out.header.Context = service;
    out.header.InterfaceReference = reference;
    out.header.InterfaceDereference = dereference;
    return sim_copy_checked(user, &out, kind->bytes) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

static NTSTATUS check_request(const struct port_adapter *adapter, const struct service_kind *kind,
                              PINTERFACE user)
{
    USHORT preset[2]; /* Size, Version */

    if (!user || !sim_copy_checked(preset, user, sizeof(preset)))
        return STATUS_INVALID_PARAMETER;
    if (!kind || !kind->offered(adapter))
        return STATUS_NOT_SUPPORTED; /* LIFE-114 */
    if (preset[1] != 1)
        return STATUS_NOT_SUPPORTED;
    return preset[0] < kind->bytes ? STATUS_BUFFER_TOO_SMALL : STATUS_SUCCESS;
}

NTSTATUS NTAPI port_cb_query_services(HANDLE DeviceHandle, DXGK_SERVICES ServicesType,
                                      PINTERFACE Interface)
{
    const struct service_kind *kind = kind_of(ServicesType);
    struct callback cb;
    struct service *service = NULL;
    NTSTATUS status = callback_begin(&cb, DeviceHandle, "DxgkCbQueryServices", CALLER,
                                     SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    status = check_request(cb.adapter, kind, Interface);
    if (NT_SUCCESS(status)) {
        service = util_zalloc(1, sizeof(*service));
        status = service ? fill_interface(kind, Interface, service) : STATUS_NO_MEMORY;
    }
    if (NT_SUCCESS(status)) {
        service->adapter = cb.adapter;
        service->type = ServicesType;
        service->references = 1; /* LIFE-115 */
        list_push_back(&cb.adapter->services, &service->link);
    } else {
        util_free(service);
    }
    callback_end(&cb);
    return status;
}

void port_services_revoke(struct port_adapter *adapter)
{
    struct list *node;

    while ((node = list_pop_front(&adapter->services)) != NULL) {
        struct service *service = CONTAINER(node, struct service, link);

        WARNING("LIFE-116",
                "the %s interface of DxgkCbQueryServices is still referenced after StopDevice",
                kind_of(service->type)->name);
        util_free(service);
    }
    while ((node = list_pop_front(&adapter->timed_operations)) != NULL)
        util_free(CONTAINER(node, struct timed_operation, link));
    while (!list_empty(&adapter->debug_reports))
        free_report(CONTAINER(adapter->debug_reports.next, struct debug_report, link));
}
