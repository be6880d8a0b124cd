/* SPDX-License-Identifier: MIT */
/*
 * Registration: DriverEntry, DxgkInitialize and its counterparts, Unload (LIFE-005 to LIFE-038).
 */
#include <string.h>

#include "nt/nt.h"
#include "port/boundary.h"
#include "port/callback.h"
#include "port/machine.h"
#include "port/versions.h"

#define EXPORT __attribute__((visibility("default")))

/* LIFE-020: what an old draft left in the table must be zero; it is reported, and never called. */
static void clear_reserved(DRIVER_INITIALIZATION_DATA *table)
{
#define RESERVED(member)                                      \
    {                                                         \
        offsetof(DRIVER_INITIALIZATION_DATA, member), #member \
    }
    static const struct {
        size_t offset;
        const char *name;
    } reserved[] = {
        RESERVED(DxgkDdiDescribePageTable),
        RESERVED(DxgkDdiUpdatePageTable),
        RESERVED(DxgkDdiUpdatePageDirectory),
        RESERVED(DxgkDdiMovePageDirectory),
        RESERVED(DxgkDdiSubmitRender),
        RESERVED(DxgkDdiCreateAllocation2),
        RESERVED(Reserved),
        RESERVED(DxgkDdiSetPowerPState),
        RESERVED(Reserved3),
    };
#undef RESERVED

    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        char *member = (char *)table + reserved[i].offset;
        const void *value;

        memcpy(&value, member, sizeof(value));
        if (value)
            VIOLATION("LIFE-020", "%s is reserved and must be NULL", reserved[i].name);
        memset(member, 0, sizeof(value));
    }
}

static const char *missing_entry(const DRIVER_INITIALIZATION_DATA *t)
{
    if (!t->DxgkDdiAddDevice)
        return "DxgkDdiAddDevice";
    if (!t->DxgkDdiStartDevice)
        return "DxgkDdiStartDevice";
    if (!t->DxgkDdiStopDevice)
        return "DxgkDdiStopDevice";
    if (!t->DxgkDdiRemoveDevice)
        return "DxgkDdiRemoveDevice";
    if (!t->DxgkDdiResetDevice)
        return "DxgkDdiResetDevice";
    if (!t->DxgkDdiUnload)
        return "DxgkDdiUnload";
    if (!t->DxgkDdiInterruptRoutine)
        return "DxgkDdiInterruptRoutine";
    if (!t->DxgkDdiDpcRoutine)
        return "DxgkDdiDpcRoutine";
    if (!t->DxgkDdiSetPowerState)
        return "DxgkDdiSetPowerState";
    if (!t->DxgkDdiQueryAdapterInfo)
        return "DxgkDdiQueryAdapterInfo";
    return NULL;
}

/* The registered driver of this object; it may still be in its DriverEntry. */
static struct port_driver *registered_driver(struct port *port, const DRIVER_OBJECT *object)
{
    if (port->loading && &port->loading->object == object)
        return port->loading->registered ? port->loading : NULL;
    LIST_FOR(node, &port->drivers) {
        struct port_driver *driver = CONTAINER(node, struct port_driver, link);

        if (&driver->object == object && driver->registered)
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

/* The unload routine of a registered driver's object is the host's. */
static VOID NTAPI withdraw(PDRIVER_OBJECT object)
{
    uninitialize(object);
}

static NTSTATUS initialize(struct port *port, PDRIVER_OBJECT object, PUNICODE_STRING path,
                           const DRIVER_INITIALIZATION_DATA *data)
{
    struct port_driver *driver = port ? port->loading : NULL;
    DRIVER_INITIALIZATION_DATA table;
    const char *missing;
    ULONG version = 0;
    size_t bytes;

    if (!object || !path || !data)
        return STATUS_INVALID_PARAMETER; /* LIFE-014 */
    if (!driver || object != &driver->object || driver->registered) {
        VIOLATION("LIFE-015", "DxgkInitialize was called %s",
                  driver && driver->registered ? "a second time"
                                               : "outside the DriverEntry of its driver object");
        return STATUS_INVALID_DEVICE_REQUEST;
    }
    if (!NT_SUCCESS(port->config.initialize_failure))
        return port->config.initialize_failure; /* LIFE-012 */
    if (!PORT_TAKE_MEMBER(DRIVER_INITIALIZATION_DATA, &version, data, Version))
        return STATUS_INVALID_PARAMETER;
    bytes = port_version_table_bytes(version);
    if (!bytes || version > port_version_of_host(port)) {
        VIOLATION("LIFE-019", "the driver was built for interface version 0x%x, which %s", version,
                  bytes ? "is newer than the host's" : "does not exist");
        return STATUS_REVISION_MISMATCH;
    }
    if (!PORT_TAKE_VERSION(DRIVER_INITIALIZATION_DATA, version, &table,
                           data)) /* LIFE-016, LIFE-017 */
        return STATUS_INVALID_PARAMETER;
    missing = missing_entry(&table);
    if (missing) {
        VIOLATION("LIFE-021", "%s is NULL", missing);
        return STATUS_INVALID_PARAMETER;
    }
    clear_reserved(&table);
    driver->table = table;
    driver->registered = true;
    object->DriverUnload = withdraw; /* LIFE-182 */
    return STATUS_SUCCESS;
}

EXPORT NTSTATUS NTAPI DxgkInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                     PDRIVER_INITIALIZATION_DATA DriverInitializationData)
{
    struct port *port = port_current();
    struct ddi_frame frame;
    NTSTATUS status;

    if (!port)
        return STATUS_INVALID_DEVICE_STATE;
    ddi_callback_enter(&frame, NULL, "DxgkInitialize", PORT_CALLER);
    if (sim_irql() != SIM_IRQL_PASSIVE) {
        VIOLATION("LIFE-013", "DxgkInitialize was called at %s", nt_irql_name(sim_irql()));
        status = STATUS_INVALID_DEVICE_REQUEST;
    } else {
        status = initialize(port, DriverObject, RegistryPath, DriverInitializationData);
    }
    if (port->loading && !port->loading->initialize_called) {
        port->loading->initialize_called = true;
        port->loading->initialize_status = status;
    }
    ddi_callback_leave(&frame);
    return status;
}

EXPORT NTSTATUS NTAPI
DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                PKMDDOD_INITIALIZATION_DATA KmdDodInitializationData)
{
    struct ddi_frame frame;
    NTSTATUS status = STATUS_NOT_SUPPORTED; /* LIFE-036 */

    if (!port_current())
        return STATUS_INVALID_DEVICE_STATE;
    ddi_callback_enter(&frame, NULL, "DxgkInitializeDisplayOnlyDriver", PORT_CALLER);
    if (sim_irql() != SIM_IRQL_PASSIVE) {
        VIOLATION("LIFE-013", "DxgkInitializeDisplayOnlyDriver was called at %s",
                  nt_irql_name(sim_irql()));
        status = STATUS_INVALID_DEVICE_REQUEST;
    } else if (!DriverObject || !RegistryPath || !KmdDodInitializationData) {
        status = STATUS_INVALID_PARAMETER;
    }
    ddi_callback_leave(&frame);
    return status;
}

EXPORT NTSTATUS NTAPI DxgkUnInitialize(PDRIVER_OBJECT DriverObject)
{
    return uninitialize(DriverObject);
}
