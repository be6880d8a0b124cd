/* SPDX-License-Identifier: MIT */
/*
 * Registration: DxgkInitialize and its counterparts (LIFE-012 to LIFE-038).
 */
#include <string.h>

#include "ddi/ddi.h"
#include "nt/ke/level.h"
#include "port/callbacks/callback.h"
#include "port/record/boundary.h"
#include "port/record/cause.h"
#include "port/record/machine.h"
#include "port/record/port_entries.h"
#include "port/record/versions.h"
#include "port/registration_display.h"
#include "sim/irql.h"

#define EXPORT __attribute__((visibility("default")))

/* LIFE-020: entries left over from old drafts must be NULL. Others are reported, and never
 * called. */
static void clear_reserved(DRIVER_INITIALIZATION_DATA *table)
{
    static const struct port_entry reserved[] = {
        PORT_ENTRY(DxgkDdiDescribePageTable),
        PORT_ENTRY(DxgkDdiUpdatePageTable),
        PORT_ENTRY(DxgkDdiUpdatePageDirectory),
        PORT_ENTRY(DxgkDdiMovePageDirectory),
        PORT_ENTRY(DxgkDdiSubmitRender),
        PORT_ENTRY(DxgkDdiCreateAllocation2),
        PORT_ENTRY(Reserved),
        PORT_ENTRY(DxgkDdiSetPowerPState),
        PORT_ENTRY(Reserved3),
    };

    for (size_t i = 0; i < PORT_ENTRY_COUNT(reserved); i++) {
        if (port_entry_there(table, &reserved[i]))
            VIOLATION("LIFE-020", "%s is reserved and must be NULL", reserved[i].name);
        memset((char *)table + reserved[i].offset, 0, sizeof(void *));
    }
}

/* LIFE-021: all that is missing is told. True: registration is refused. */
static bool entries_missing(const DRIVER_INITIALIZATION_DATA *table)
{
    static const struct port_entry entries[] = {
        PORT_CALLED(DxgkDdiAddDevice),       PORT_CALLED(DxgkDdiStartDevice),
        PORT_CALLED(DxgkDdiStopDevice),      PORT_CALLED(DxgkDdiRemoveDevice),
        PORT_ENTRY(DxgkDdiResetDevice),      PORT_ENTRY(DxgkDdiUnload),
        PORT_ENTRY(DxgkDdiInterruptRoutine), PORT_ENTRY(DxgkDdiDpcRoutine),
        PORT_ENTRY(DxgkDdiSetPowerState),    PORT_CALLED(DxgkDdiQueryAdapterInfo),
    };
    bool refused = false;

    for (size_t i = 0; i < PORT_ENTRY_COUNT(entries); i++) {
        if (port_entry_there(table, &entries[i]))
            continue;
        if (entries[i].called) {
            verify_refusal("LIFE-021", "%s is NULL", entries[i].name);
            refused = true;
        } else {
            refused |= verify_expected("LIFE-021", "%s is NULL; it is never called",
                                       entries[i].name);
        }
    }
    return refused;
}

/* The registered driver of this object; it may still be in its DriverEntry. */
static struct port_driver *registered_driver(struct port *port, const DRIVER_OBJECT *object)
{
    if (port->loading && port->loading->object == object)
        return port->loading->registered ? port->loading : NULL;
    LIST_FOR(node, &port->drivers) {
        struct port_driver *driver = CONTAINER(node, struct port_driver, link);

        if (driver->object == object && driver->registered)
            return driver;
    }
    return NULL;
}

static NTSTATUS uninitialize(const DRIVER_OBJECT *object)
{
    struct port *port = port_current();
    struct port_driver *driver;

    if (!port)
        return STATUS_INVALID_DEVICE_STATE;
    driver = registered_driver(port, object);
    if (!driver)
        return STATUS_INVALID_PARAMETER; /* LIFE-037 */
    if (driver->adapters)
        return STATUS_DEVICE_BUSY;
    driver->registered = false;
    return STATUS_SUCCESS;
}

/* The host's unload routine, which registration puts into the driver object. */
static VOID NTAPI withdraw(PDRIVER_OBJECT object)
{
    uninitialize(object);
}

/* LIFE-014, LIFE-015, DISP-005: may a driver register now, with these arguments? */
static NTSTATUS may_register(struct port *port, const char *name, const DRIVER_OBJECT *object,
                             const UNICODE_STRING *path, const void *data)
{
    const struct port_driver *driver = port ? port->loading : NULL;

    if (!object || !path || !data) {
        if (driver)
            port_cause(port, "%s was called with %s NULL", name,
                       !object ? "DriverObject"
                       : !path ? "RegistryPath"
                               : "its initialization data");
        return STATUS_INVALID_PARAMETER;
    }
    if (!driver || object != driver->object || driver->registered) {
        verify_refusal("LIFE-015", "%s was called %s", name,
                       driver && driver->registered
                           ? "a second time"
                           : "outside the DriverEntry of its driver object");
        return STATUS_INVALID_DEVICE_REQUEST;
    }
    return port->config.initialize_failure; /* LIFE-012; 0: it succeeds */
}

static void note_registered(struct port_driver *driver, PDRIVER_OBJECT object,
                            const DRIVER_INITIALIZATION_DATA *table)
{
    driver->table = *table;
    driver->registered = true;
    object->DriverUnload = withdraw; /* LIFE-182 */
}

static NTSTATUS initialize(struct port *port, PDRIVER_OBJECT object, PUNICODE_STRING path,
                           const DRIVER_INITIALIZATION_DATA *data)
{
    NTSTATUS status = may_register(port, "DxgkInitialize", object, path, data);
    DRIVER_INITIALIZATION_DATA table;
    ULONG version = 0;
    size_t bytes;

    if (!NT_SUCCESS(status))
        return status;
    if (!PORT_TAKE_MEMBER(DRIVER_INITIALIZATION_DATA, &version, data, Version))
        return STATUS_INVALID_PARAMETER;
    bytes = port_version_table_bytes(version);
    if (!bytes || version > port_version_of_host(port)) {
        verify_refusal("LIFE-019", "the driver was built for interface version 0x%x, which %s",
                       version, bytes ? "is newer than the host's" : "does not exist");
        return STATUS_REVISION_MISMATCH;
    }
    if (!PORT_TAKE_VERSION(DRIVER_INITIALIZATION_DATA, version, &table,
                           data)) /* LIFE-016, LIFE-017 */
        return STATUS_INVALID_PARAMETER;
    if (entries_missing(&table))
        return STATUS_INVALID_PARAMETER;
    clear_reserved(&table);
    note_registered(port->loading, object, &table);
    return STATUS_SUCCESS;
}

/* The status of the call that registered the driver, else of the last one (LIFE-010). */
static void note_call(struct port *port, NTSTATUS status)
{
    if (!port->loading ||
        (port->loading->initialize_called && NT_SUCCESS(port->loading->initialize_status)))
        return;
    port->loading->initialize_called = true;
    port->loading->initialize_status = status;
}

EXPORT NTSTATUS NTAPI DxgkInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                     PDRIVER_INITIALIZATION_DATA DriverInitializationData)
{
    struct port *port = port_current();
    struct ddi_frame *frame;
    NTSTATUS status;

    if (!port)
        return STATUS_INVALID_DEVICE_STATE;
    frame = ddi_callback_enter(NULL, "DxgkInitialize", PORT_CALLER);
    if (sim_irql() != SIM_IRQL_PASSIVE &&
        verify_finding("LIFE-013", "DxgkInitialize was called at %s", nt_irql_name(sim_irql())))
        status = STATUS_INVALID_DEVICE_REQUEST;
    else
        status = initialize(port, DriverObject, RegistryPath, DriverInitializationData);
    note_call(port, status);
    ddi_callback_leave(frame);
    return status;
}

EXPORT NTSTATUS NTAPI
DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                PKMDDOD_INITIALIZATION_DATA KmdDodInitializationData)
{
    struct port *port = port_current();
    DRIVER_INITIALIZATION_DATA table;
    PDXGKDDI_PRESENTDISPLAYONLY present = NULL;
    struct ddi_frame *frame;
    NTSTATUS status;

    if (!port)
        return STATUS_INVALID_DEVICE_STATE;
    frame = ddi_callback_enter(NULL, "DxgkInitializeDisplayOnlyDriver", PORT_CALLER);
    if (sim_irql() != SIM_IRQL_PASSIVE &&
        verify_finding("LIFE-013", "DxgkInitializeDisplayOnlyDriver was called at %s",
                       nt_irql_name(sim_irql())))
        status = STATUS_INVALID_DEVICE_REQUEST;
    else
        status = may_register(port, "DxgkInitializeDisplayOnlyDriver", DriverObject, RegistryPath,
                              KmdDodInitializationData);
    if (NT_SUCCESS(status) && port->config.no_displays) {
        verify_decline("LIFE-036", "a display-only driver registers itself, and displays are off");
        status = STATUS_NOT_SUPPORTED;
    }
    if (NT_SUCCESS(status))
        status = port_display_only_table(port, KmdDodInitializationData, &table, &present);
    if (NT_SUCCESS(status)) {
        note_registered(port->loading, DriverObject, &table);
        port->loading->present_display_only = present;
    }
    note_call(port, status);
    ddi_callback_leave(frame);
    return status;
}

EXPORT NTSTATUS NTAPI DxgkUnInitialize(PDRIVER_OBJECT DriverObject)
{
    return uninitialize(DriverObject);
}
