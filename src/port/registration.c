/* SPDX-License-Identifier: MIT */
/*
 * Registration: DriverEntry, DxgkInitialize and its counterparts, Unload (LIFE-005 to LIFE-038).
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "port/port_private.h"

#define EXPORT __attribute__((visibility("default")))

static struct port *current_port(void)
{
    return sim_current ? sim_current->room[SIM_ROOM_PORT] : NULL;
}

void port_log(struct port *port, const char *format, ...)
{
    char line[512];
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
    if (!port->config.required_dma_queue_entry)
        port->config.required_dma_queue_entry = 2; /* LIFE-053 */
    port->physical = port_physical_create(port);
    if (!port->physical) {
        util_free(port);
        return STATUS_NO_MEMORY;
    }
    handle_table_init(&port->adapters);
    list_init(&port->drivers);
    list_init(&port->adapter_list);
    sim_mutex_init(&port->add_lock);
    port->next_luid = 0x1000;
    sim_current->room[SIM_ROOM_PORT] = port;
    *out = port;
    return STATUS_SUCCESS;
}

void port_destroy(struct port *port)
{
    if (!port)
        return;
    physical_memory_destroy(port->physical);
    handle_table_finish(&port->adapters);
    sim_current->room[SIM_ROOM_PORT] = NULL;
    util_free(port);
}

/* ---- versions ---- */

static const struct version {
    ULONG version;
    size_t table_bytes; /* of DRIVER_INITIALIZATION_DATA at that version (tests/abi/tables.tsv) */
} versions[] = {
    {0x1052, 496},  {0x1053, 496},  {0x2005, 568},  {0x300E, 664},  {0x4002, 712},  {0x4003, 712},  {0x5023, 832},
    {0x6002, 880},  {0x6003, 880},  {0x6010, 880},  {0x6011, 880},  {0x700A, 1032}, {0x8001, 1056}, {0x9006, 1152},
    {0xA00B, 1192}, {0xB004, 1224}, {0xC004, 1232}, {0xD001, 1232}, {0xE003, 1264}, {0xF003, 1296}, {0x10004, 1376},
};

static const struct version *find_version(ULONG version)
{
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++)
        if (versions[i].version == version)
            return &versions[i];
    return NULL;
}

bool port_version_official(ULONG version)
{
    return find_version(version) != NULL;
}

size_t port_table_bytes(ULONG version)
{
    const struct version *found = find_version(version);

    return found ? found->table_bytes : 0;
}

UINT port_interface_version(const struct port *port)
{
    return port->config.interface_version ? port->config.interface_version : DXGKDDI_INTERFACE_VERSION_WDDM3_1;
}

/* ---- DxgkInitialize ---- */

/* LIFE-020: what an old draft left in the table must be zero. */
static void check_reserved(const DRIVER_INITIALIZATION_DATA *table)
{
    static const struct {
        size_t offset;
        const char *name;
    } reserved[] = {
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiDescribePageTable), "DxgkDdiDescribePageTable"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiUpdatePageTable), "DxgkDdiUpdatePageTable"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiUpdatePageDirectory), "DxgkDdiUpdatePageDirectory"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiMovePageDirectory), "DxgkDdiMovePageDirectory"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiSubmitRender), "DxgkDdiSubmitRender"},
        {offsetof(DRIVER_INITIALIZATION_DATA, DxgkDdiCreateAllocation2), "DxgkDdiCreateAllocation2"},
    };

    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        const void *value;

        memcpy(&value, (const char *)table + reserved[i].offset, sizeof(value));
        if (value)
            VIOLATION("LIFE-020", "%s is reserved and must be NULL", reserved[i].name);
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

static NTSTATUS initialize(struct port *port, PDRIVER_OBJECT object, PUNICODE_STRING path, const DRIVER_INITIALIZATION_DATA *data)
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
                  driver && driver->registered ? "a second time" : "outside the DriverEntry of its driver object");
        return STATUS_INVALID_DEVICE_REQUEST;
    }
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
    check_reserved(&table);
    driver->table = table;
    driver->registered = true;
    return STATUS_SUCCESS;
}

EXPORT NTSTATUS NTAPI DxgkInitialize(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                     PDRIVER_INITIALIZATION_DATA DriverInitializationData)
{
    struct port *port = current_port();
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
    if (port->loading)
        port->loading->initialize_status = status;
    ddi_callback_leave(&frame);
    return status;
}

EXPORT NTSTATUS NTAPI DxgkInitializeDisplayOnlyDriver(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath,
                                                      PKMDDOD_INITIALIZATION_DATA KmdDodInitializationData)
{
    if (sim_irql() != SIM_IRQL_PASSIVE)
        VIOLATION("LIFE-013", "DxgkInitializeDisplayOnlyDriver was called at %s", nt_irql_name(sim_irql()));
    if (!DriverObject || !RegistryPath || !KmdDodInitializationData)
        return STATUS_INVALID_PARAMETER;
    return STATUS_NOT_SUPPORTED; /* LIFE-036 */
}

EXPORT NTSTATUS NTAPI DxgkUnInitialize(PDRIVER_OBJECT DriverObject)
{
    struct port *port = current_port();

    if (!port)
        return STATUS_INVALID_DEVICE_STATE;
    LIST_FOR(node, &port->drivers) {
        struct port_driver *driver = CONTAINER(node, struct port_driver, link);

        if (&driver->object != DriverObject || !driver->registered)
            continue;
        if (driver->adapters)
            return STATUS_DEVICE_BUSY;
        driver->registered = false;
        return STATUS_SUCCESS;
    }
    return STATUS_INVALID_PARAMETER; /* LIFE-037 */
}

/* ---- DriverEntry and Unload ---- */

static void registry_path(const char *service, WCHAR *buffer, size_t capacity, UNICODE_STRING *path)
{
    static const char prefix[] = "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\";
    size_t length = 0;

    for (const char *p = prefix; *p && length + 1 < capacity; p++)
        buffer[length++] = (WCHAR)(unsigned char)*p;
    for (const char *p = service; *p && length + 1 < capacity; p++)
        buffer[length++] = (WCHAR)(unsigned char)*p;
    buffer[length] = 0;
    path->Buffer = buffer;
    path->Length = (USHORT)(length * sizeof(WCHAR));
    path->MaximumLength = (USHORT)((length + 1) * sizeof(WCHAR));
}

static NTSTATUS call_driver_entry(struct port_driver *driver, PDRIVER_INITIALIZE entry)
{
    struct ddi_frame frame = {.outer = sim_current->frame, .name = "DriverEntry"};
    struct nt_image *outer_image;
    UNICODE_STRING *path;
    WCHAR *buffer;
    NTSTATUS status;
    uint64_t deadline;

    path = util_zalloc(1, sizeof(*path));
    buffer = util_zalloc(256, sizeof(WCHAR));
    if (!path || !buffer) {
        util_free(path);
        util_free(buffer);
        return STATUS_NO_MEMORY;
    }
    registry_path(driver->service, buffer, 256, path);
    sim_current->frame = &frame;
    outer_image = nt_image_enter(driver->image);
    trace_begin(TRACE_PROCESSOR(sim_current->processor), "DriverEntry", NULL, 0);
    deadline = sim_inside_enter(60000000000u);
    status = entry(&driver->object, path);
    sim_inside_leave(deadline);
    trace_end(TRACE_PROCESSOR(sim_current->processor), "DriverEntry");
    nt_image_enter(outer_image);
    sim_current->frame = frame.outer;
    if (sim_irql() != SIM_IRQL_PASSIVE) {
        VIOLATION("THREAD-006", "DriverEntry returned at %s", nt_irql_name(sim_irql()));
        if (sim_irql() > SIM_IRQL_PASSIVE)
            sim_lower_irql(SIM_IRQL_PASSIVE);
    }
    /* LIFE-008: a driver that kept the pointer reads this. */
    memset(buffer, 0xDD, 256 * sizeof(WCHAR));
    util_free(buffer);
    util_free(path);
    return status;
}

NTSTATUS port_driver_start(struct port *port, const char *service, struct nt_image *image, PDRIVER_INITIALIZE entry,
                           struct port_driver **out)
{
    struct port_driver *driver = util_zalloc(1, sizeof(*driver));
    NTSTATUS status;

    if (!driver)
        return STATUS_NO_MEMORY;
    driver->port = port;
    driver->image = image;
    driver->initialize_status = STATUS_UNSUCCESSFUL;
    snprintf(driver->service, sizeof(driver->service), "%s", service);
    driver->object.Type = 4; /* IO_TYPE_DRIVER */
    driver->object.Size = sizeof(DRIVER_OBJECT);
    driver->object.DriverExtension = &driver->extension;
    driver->extension.DriverObject = &driver->object;
    port->loading = driver;
    status = call_driver_entry(driver, entry);
    port->loading = NULL;
    if (driver->registered && status != driver->initialize_status)
        VIOLATION("LIFE-010", "DriverEntry returned 0x%08x, but DxgkInitialize had returned 0x%08x", (unsigned)status,
                  (unsigned)driver->initialize_status);
    if (NT_SUCCESS(status) && !driver->registered)
        status = NT_SUCCESS(driver->initialize_status) ? STATUS_UNSUCCESSFUL : driver->initialize_status; /* LIFE-011 */
    if (NT_SUCCESS(status))
        status = ddi_adapter_init(&driver->unload_door, &driver->table, image, service);
    if (!NT_SUCCESS(status)) {
        nt_image_leak_check(image); /* LIFE-009 */
        util_free(driver);
        return status;
    }
    list_push_back(&port->drivers, &driver->link);
    *out = driver;
    return STATUS_SUCCESS;
}

uint64_t port_driver_stop(struct port_driver *driver)
{
    uint64_t left = 0;

    if (!sim_current->stopped) {
        ddi_unload(&driver->unload_door);
        left = physical_memory_driver_unloaded(driver->port->physical, driver->image);
        left += nt_image_leak_check(driver->image);
    }
    ddi_adapter_finish(&driver->unload_door);
    list_remove(&driver->link);
    util_free(driver);
    return left;
}
