/* SPDX-License-Identifier: MIT */
/*
 * Registration: DriverEntry, DxgkInitialize and its counterparts, Unload (LIFE-005 to LIFE-038).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "port/port_private.h"
#include "sim/fault.h"
#include "sim/inside.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/slot.h"

#define EXPORT __attribute__((visibility("default")))

static struct sim_slot port_slot;
SIM_SLOT_CLAIM(port_slot)

struct port *port_current(void)
{
    return sim_slot_get(&port_slot);
}

void port_log(struct port *port, const char *format, ...)
{
    char line[1024];
    va_list arguments;

    if (!port->config.log)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    port->config.log(port->config.log_context, line);
}

NTSTATUS port_create(const struct port_config *config, struct port **out)
{
    struct port *port = util_zalloc(1, sizeof(*port));

    if (!port)
        return STATUS_NO_MEMORY;
    port->config = *config;
    port->config.iommu_present |= config->iommu != IOMMU_OFF;
    if (config->iommu == IOMMU_ISOLATION)
        port->config.iommu_flags |= PORT_IOMMU_DOMAIN | PORT_IOMMU_MAPPINGS | PORT_IOMMU_ATTACHED;
    if (!port->config.required_dma_queue_entry)
        port->config.required_dma_queue_entry = 2; /* LIFE-053 */
    port->physical = port_physical_create(port);
    if (!port->physical || !port_registration_device_init(port)) {
        physical_memory_destroy(port->physical);
        util_free(port);
        return STATUS_NO_MEMORY;
    }
    ddi_handles_init(&port->handles);
    list_init(&port->drivers);
    list_init(&port->adapter_list);
    sim_mutex_init(&port->add_lock);
    port->next_luid = 0x1000;
    port->etw = trace_current != NULL;
    sim_slot_set(&port_slot, port);
    *out = port;
    return STATUS_SUCCESS;
}

void port_on_stop(struct port *port, void (*end)(void *context, struct port_adapter *adapter),
                  void *context)
{
    port->end_clients = end;
    port->end_clients_context = context;
}

void port_destroy(struct port *port)
{
    if (!port)
        return;
    port_registration_device_finish(port);
    physical_memory_destroy(port->physical);
    ddi_handles_finish(&port->handles);
    sim_slot_set(&port_slot, NULL);
    util_free(port);
}

/* ---- DxgkInitialize ---- */

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
    if (!sim_copy_checked(&version, &data->Version, sizeof(version)))
        return STATUS_INVALID_PARAMETER;
    bytes = port_table_bytes(version);
    if (!bytes || version > port_interface_version(port)) {
        VIOLATION("LIFE-019", "the driver was built for interface version 0x%x, which %s", version,
                  bytes ? "is newer than the host's" : "does not exist");
        return STATUS_REVISION_MISMATCH;
    }
    memset(&table, 0, sizeof(table));
    if (bytes > sizeof(table))
        bytes = sizeof(table);
    if (!sim_copy_checked(&table, data, bytes)) /* LIFE-016, LIFE-017 */
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
    ddi_callback_enter(&frame, NULL, "DxgkInitialize", CALLER);
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
    ddi_callback_enter(&frame, NULL, "DxgkInitializeDisplayOnlyDriver", CALLER);
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

/* ---- DriverEntry and Unload ---- */

#define SERVICES "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\"

/* The key that installing a driver makes, which it may open by RegistryPath; values that are there already stay. */
static bool make_service_key(const char *service)
{
    static const struct {
        const char *name;
        uint32_t value;
    } values[] = {{"Type", 1}, {"Start", 3}, {"ErrorControl", 0}}; /* a kernel driver, on demand */
    char path[sizeof(SERVICES) + sizeof(((struct port_driver *)0)->service)];

    snprintf(path, sizeof(path), "%s%s", SERVICES, service);
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        uint32_t type, bytes;

        if (!nt_registry_get(path, values[i].name, &type, &bytes) &&
            !nt_registry_set(path, values[i].name, REG_DWORD, &values[i].value, sizeof(uint32_t)))
            return false;
    }
    return true;
}

static void registry_path(const char *service, WCHAR *buffer, size_t capacity, UNICODE_STRING *path)
{
    size_t length = 0;

    for (const char *p = SERVICES; *p && length + 1 < capacity; p++)
        buffer[length++] = (WCHAR)(unsigned char)*p;
    for (const char *p = service; *p && length + 1 < capacity; p++)
        buffer[length++] = (WCHAR)(unsigned char)*p;
    buffer[length] = 0;
    path->Buffer = buffer;
    path->Length = (USHORT)(length * sizeof(WCHAR));
    path->MaximumLength = (USHORT)((length + 1) * sizeof(WCHAR));
}

struct entry_arguments {
    UNICODE_STRING path;
    WCHAR buffer[256];
};

static NTSTATUS call_driver_entry(struct port_driver *driver, PDRIVER_INITIALIZE entry)
{
    struct ddi_frame frame = {.outer = sim_current->frame,
                              .name = "DriverEntry",
                              .track = TRACE_PROCESSOR(sim_current->processor)};
    struct entry_arguments *arguments = driver->registry_path.address;
    struct nt_image *outer_image;
    struct nt_call_state state;
    NTSTATUS status;
    uint64_t deadline;

    registry_path(driver->service, arguments->buffer, sizeof(arguments->buffer) / sizeof(WCHAR),
                  &arguments->path);
    sim_current->frame = &frame;
    outer_image = nt_image_enter(driver->image);
    nt_call_state(&state);
    trace_begin(frame.track, "DriverEntry", NULL, 0);
    deadline = sim_inside_enter(60000000000u);
    status = entry(&driver->object, &arguments->path);
    sim_inside_leave(deadline);
    trace_end(frame.track, "DriverEntry");
    nt_call_check(&state, "DriverEntry");
    nt_image_enter(outer_image);
    sim_current->frame = frame.outer;
    ddi_loan_revoke(
        &driver->registry_path); /* LIFE-008: a driver that kept the pointer faults on it */
    return status;
}

/* LIFE-010, LIFE-011: what the load comes to. */
static NTSTATUS load_status(const struct port_driver *driver, NTSTATUS returned)
{
    if (driver->initialize_called && returned != driver->initialize_status)
        VIOLATION("LIFE-010", "DriverEntry returned 0x%08x, but DxgkInitialize had returned 0x%08x",
                  (unsigned)returned, (unsigned)driver->initialize_status);
    if (driver->initialize_called && !NT_SUCCESS(driver->initialize_status))
        return driver->initialize_status;
    if (!NT_SUCCESS(returned))
        return returned;
    return driver->registered ? STATUS_SUCCESS : STATUS_UNSUCCESSFUL;
}

static void free_driver(struct port_driver *driver)
{
    ddi_loan_finish(&driver->registry_path);
    nt_device_object_unregister(&driver->object);
    util_free(driver);
}

NTSTATUS port_driver_start(struct port *port, const char *service, struct nt_image *image,
                           PDRIVER_INITIALIZE entry, struct port_driver **out)
{
    struct port_driver *driver = util_zalloc(1, sizeof(*driver));
    NTSTATUS status;

    if (!driver)
        return STATUS_NO_MEMORY;
    driver->port = port;
    driver->image = image;
    snprintf(driver->service, sizeof(driver->service), "%s", service);
    driver->object.Type = 4; /* IO_TYPE_DRIVER */
    driver->object.Size = sizeof(DRIVER_OBJECT);
    driver->object.DriverExtension = &driver->extension;
    driver->extension.DriverObject = &driver->object;
    if (!make_service_key(service) ||
        !ddi_loan_init(&driver->registry_path, sizeof(struct entry_arguments), "LIFE-008",
                       "the RegistryPath of DriverEntry, which has returned") ||
        !nt_device_object_register(&driver->object)) {
        free_driver(driver);
        return STATUS_NO_MEMORY;
    }
    port->loading = driver;
    status = call_driver_entry(driver, entry);
    port->loading = NULL;
    status = load_status(driver, status);
    if (NT_SUCCESS(status))
        status = ddi_adapter_init(&driver->unload_door, &driver->table, image, service);
    if (!NT_SUCCESS(status)) {
        /* LIFE-009: not loaded; what DriverEntry left is a leak. */
        physical_memory_driver_unloaded(port->physical, image);
        nt_image_leak_check(image);
        free_driver(driver);
        return status;
    }
    list_push_back(&port->drivers, &driver->link);
    if (port->config.observe)
        port->config.observe(port->config.observe_context,
                             &(struct port_answers){.table = &driver->table});
    *out = driver;
    return STATUS_SUCCESS;
}

uint64_t port_driver_stop(struct port_driver *driver)
{
    const struct port_config *config = &driver->port->config;
    uint64_t limit = config->unload_limit_ns ? config->unload_limit_ns : 10000000000u;
    uint64_t left = 0;

    if (!sim_current->stopped) {
        nt_image_unloading(driver->image);
        ddi_unload(&driver->unload_door);
        if (!nt_image_drain(driver->image, limit)) {
            VIOLATION(
                "LIFE-178",
                "%s cannot be unloaded: its threads, work items or DPCs still run after %llu ms",
                driver->service, (unsigned long long)(limit / 1000000u));
            left++;
        }
        left += physical_memory_driver_unloaded(driver->port->physical, driver->image);
        left += nt_image_leak_check(driver->image); /* LIFE-177 */
    }
    ddi_adapter_finish(&driver->unload_door);
    list_remove(&driver->link);
    free_driver(driver);
    return left;
}
