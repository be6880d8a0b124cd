/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbQueryServices: the interfaces that a driver may ask for, counted per adapter and revoked
 * when it stops (LIFE-113 to LIFE-121). Offered are timed operations and debug reports; firmware
 * tables, if the machine has any; features, on a host of WDDM 3.2. AGP, boot displays and serial
 * buses are not.
 */
#include <string.h>

#include "port/callbacks/services.h"
#include "port/callbacks/callback.h"
#include "port/callbacks/debug_reports.h"
#include "port/callbacks/feature_interface.h"
#include "port/callbacks/firmware.h"
#include "port/callbacks/service_record.h"
#include "port/callbacks/timed_operations.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "sim/irql.h"
#include "util/alloc.h"
#include "verify/refusal.h"

/* ---- references: the Context of an interface is only compared, never followed ---- */

static struct port_service *find_service(const void *context)
{
    struct port *port = port_current();

    if (!port)
        return NULL;
    LIST_FOR(node, &port->adapter_list) {
        struct port_adapter *adapter = CONTAINER(node, struct port_adapter, link);

        LIST_FOR(entry, &adapter->services.interfaces)
            if (CONTAINER(entry, struct port_service, link) == context)
                return CONTAINER(entry, struct port_service, link);
    }
    return NULL;
}

static void NTAPI reference(PVOID context)
{
    struct port_service *service = find_service(context);

    if (service)
        service->references++;
}

static void NTAPI dereference(PVOID context)
{
    struct port_service *service = find_service(context);

    if (!service) {
        VIOLATION("LIFE-115", "InterfaceDereference for an interface that is not held");
        return;
    }
    if (--service->references)
        return;
    list_remove(&service->link);
    util_free(service);
}

/* ---- kinds of services ---- */

static void fill_timed_operations(INTERFACE *interface)
{
    port_timed_operations_fill((void *)interface);
}

static void fill_debug_reports(INTERFACE *interface)
{
    port_debug_reports_fill((void *)interface);
}

static void fill_features(INTERFACE *interface)
{
    port_feature_interface_fill((void *)interface);
}

static void fill_firmware(INTERFACE *interface)
{
    port_firmware_fill((void *)interface);
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

/* ---- the callback ---- */

static NTSTATUS fill_interface(const struct service_kind *kind, PINTERFACE user,
                               struct port_service *service)
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
    return port_boundary_give_bytes(user, &out, kind->bytes) ? STATUS_SUCCESS
                                                             : STATUS_INVALID_PARAMETER;
}

static NTSTATUS check_request(const struct port_adapter *adapter, const struct service_kind *kind,
                              PINTERFACE user)
{
    USHORT size, version; /* as preset */

    if (!PORT_TAKE_MEMBER(INTERFACE, &size, user, Size) ||
        !PORT_TAKE_MEMBER(INTERFACE, &version, user, Version))
        return STATUS_INVALID_PARAMETER;
    if (!kind || !kind->offered(adapter))
        return refuse(STATUS_NOT_SUPPORTED, "LIFE-114", "the adapter does not offer the services");
    if (version != 1)
        return refuse(STATUS_NOT_SUPPORTED, NULL, "version %u of the services, there is 1",
                      (unsigned)version);
    return size < kind->bytes
               ? refuse(STATUS_BUFFER_TOO_SMALL, NULL, "Size %u, the interface has %u bytes",
                        (unsigned)size, (unsigned)kind->bytes)
               : STATUS_SUCCESS;
}

static NTSTATUS NTAPI query_services(HANDLE DeviceHandle, DXGK_SERVICES ServicesType,
                                     PINTERFACE Interface)
{
    const struct service_kind *kind = kind_of(ServicesType);
    struct port_callback cb;
    struct port_service *service = NULL;
    NTSTATUS status = port_callback_begin(&cb, DeviceHandle, "DxgkCbQueryServices", PORT_CALLER,
                                          SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    status = check_request(cb.adapter, kind, Interface);
    if (NT_SUCCESS(status)) {
        service = util_zalloc(1, sizeof(*service));
        status = service ? fill_interface(kind, Interface, service) : STATUS_NO_MEMORY;
    }
    if (NT_SUCCESS(status)) {
        service->type = ServicesType;
        service->references = 1; /* LIFE-115 */
        list_push_back(&cb.adapter->services.interfaces, &service->link);
    } else {
        util_free(service);
    }
    return port_callback_return(&cb, status);
}

void port_services_revoke(struct port_adapter *adapter)
{
    struct list *node;

    while ((node = list_pop_front(&adapter->services.interfaces)) != NULL) {
        struct port_service *service = CONTAINER(node, struct port_service, link);

        if (!adapter->ddi.gone)
            WARNING("LIFE-116",
                    "the %s interface of DxgkCbQueryServices is still referenced after StopDevice",
                    kind_of(service->type)->name);
        util_free(service);
    }
    port_timed_operations_forget(adapter);
    port_debug_reports_forget(adapter);
}

void port_services_init(struct port_adapter *adapter)
{
    list_init(&adapter->services.interfaces);
    list_init(&adapter->services.timed_operations);
    list_init(&adapter->services.debug_reports);
}

void port_services_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbQueryServices = query_services;
}
