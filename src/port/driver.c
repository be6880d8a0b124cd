/* SPDX-License-Identifier: MIT */
/* A miniport from its DriverEntry to its Unload (LIFE-005 to LIFE-010, LIFE-176 to LIFE-178). */
#include <stdio.h>

#include "port/driver.h"
#include "ddi/ddi.h"
#include "ddi/loan.h"
#include "nt/base/image.h"
#include "nt/base/status_name.h"
#include "nt/cm/registry.h"
#include "nt/io/device_object.h"
#include "nt/io/image_life.h"
#include "nt/ke/driver_call.h"
#include "physmem/physical_memory.h"
#include "port/record/cause.h"
#include "port/record/machine.h"
#include "sim/inside.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "trace/trace.h"
#include "util/alloc.h"

#define SERVICES "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\"

/* The registry key that the installation of a driver makes; the driver may open it by RegistryPath.
 * Existing values stay. */
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

static void check_object(const struct port_driver *driver, const char *routine)
{
    ddi_guarded_check(&driver->object_memory, routine);
    ddi_guarded_check(&driver->extension_memory, routine);
}

/* With the terminating zero. */
static size_t path_bytes(const char *service)
{
    return (strlen(SERVICES) + strlen(service) + 1) * sizeof(WCHAR);
}

static NTSTATUS call_driver_entry(struct port_driver *driver, PDRIVER_INITIALIZE entry)
{
    struct ddi_frame *frame = ddi_frame_push(sizeof(*frame), "DriverEntry");
    struct nt_call_guard guard;
    UNICODE_STRING *path = driver->registry_path.address;
    struct nt_image *outer_image;
    struct nt_call_state state;
    NTSTATUS status;
    uint64_t deadline;

    registry_path(driver->service, driver->registry_buffer.address,
                  driver->registry_buffer.bytes / sizeof(WCHAR), path);
    frame->track = TRACE_PROCESSOR(sim_current->processor);
    outer_image = nt_image_enter(driver->image);
    nt_call_state(&state);
    trace_begin(frame->track, "DriverEntry", NULL, 0);
    nt_call_guard(&guard, true);
    frame->guard = &guard;
    deadline = sim_inside_enter(60000000000u);
    status = entry(driver->object, path);
    nt_call_returned(&guard, true, "DriverEntry");
    sim_order_tell_host();
    check_object(driver, "DriverEntry");
    ddi_loan_check(&driver->registry_path, (uintptr_t)entry);
    ddi_loan_check(&driver->registry_buffer, (uintptr_t)entry);
    sim_inside_leave(deadline);
    trace_end(frame->track, "DriverEntry");
    nt_call_check(&state, "DriverEntry");
    nt_image_enter(outer_image);
    ddi_frame_end(frame);
    ddi_loan_revoke(
        &driver->registry_path); /* LIFE-008: a driver that kept the pointer now faults on it */
    ddi_loan_revoke(&driver->registry_buffer);
    return status;
}

/* LIFE-010, LIFE-011: does the driver count as loaded? */
static NTSTATUS load_status(const struct port_driver *driver, NTSTATUS returned)
{
    if (driver->initialize_called && returned != driver->initialize_status)
        VIOLATION("LIFE-010", "DriverEntry returned %s, but DxgkInitialize had returned %s",
                  nt_status_text(returned).text, nt_status_text(driver->initialize_status).text);
    if (driver->initialize_called && !NT_SUCCESS(driver->initialize_status)) {
        port_cause(driver->port, "DxgkInitialize returned %s",
                   nt_status_text(driver->initialize_status).text);
        return driver->initialize_status;
    }
    if (!NT_SUCCESS(returned)) {
        port_cause(driver->port, "DriverEntry returned %s", nt_status_text(returned).text);
        return returned;
    }
    if (driver->registered)
        return STATUS_SUCCESS;
    port_cause(driver->port, "DriverEntry succeeded without a call of DxgkInitialize");
    return STATUS_UNSUCCESSFUL;
}

static bool make_object(struct port_driver *driver)
{
    DRIVER_EXTENSION *extension;

    if (!ddi_guarded_init(&driver->object_memory, sizeof(DRIVER_OBJECT), "DRIVER_OBJECT") ||
        !ddi_guarded_init(&driver->extension_memory, sizeof(*extension), "DRIVER_EXTENSION"))
        return false;
    extension = (void *)driver->extension_memory.data;
    driver->object = (void *)driver->object_memory.data;
    driver->object->Type = IO_TYPE_DRIVER;
    driver->object->Size = sizeof(DRIVER_OBJECT);
    driver->object->DriverExtension = extension;
    extension->DriverObject = driver->object;
    return true;
}

static void free_driver(struct port_driver *driver)
{
    ddi_loan_finish(&driver->registry_path);
    ddi_loan_finish(&driver->registry_buffer);
    if (driver->object) {
        nt_device_object_unregister(driver->object);
        check_object(driver, "a routine of the driver");
    }
    ddi_guarded_finish(&driver->object_memory);
    ddi_guarded_finish(&driver->extension_memory);
    util_free(driver);
}

NTSTATUS port_driver_start(struct port *port, const char *service, struct nt_image *image,
                           PDRIVER_INITIALIZE entry, struct port_driver **out)
{
    struct port_driver *driver = util_zalloc(1, sizeof(*driver));
    NTSTATUS status;

    if (!driver)
        return STATUS_NO_MEMORY;
    port_cause_clear(port);
    driver->port = port;
    driver->image = image;
    snprintf(driver->service, sizeof(driver->service), "%s", service);
    if (!make_object(driver) || !make_service_key(service) ||
        !ddi_loan_init(&driver->registry_path, sizeof(UNICODE_STRING), "LIFE-008",
                       "the RegistryPath of DriverEntry", ", which has returned") ||
        !ddi_loan_init(&driver->registry_buffer, path_bytes(driver->service), "LIFE-008",
                       "the Buffer of the RegistryPath of DriverEntry", ", which has returned") ||
        !nt_device_object_register(driver->object)) {
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
        verify_set_undoing(verify_current, true);
        physical_memory_driver_unloaded(port->physical, image);
        nt_image_leak_check(image);
        verify_set_undoing(verify_current, false);
        free_driver(driver);
        return status;
    }
    list_push_back(&port->drivers, &driver->link);
    if (port->config.observe)
        port->config.observe(
            port->config.observe_context,
            &(struct port_answers){.table = &driver->table,
                                   .present_display_only = driver->present_display_only});
    *out = driver;
    return STATUS_SUCCESS;
}

const DRIVER_INITIALIZATION_DATA *port_driver_table(const struct port_driver *driver,
                                                    PDXGKDDI_PRESENTDISPLAYONLY *present)
{
    *present = driver->present_display_only;
    return &driver->table;
}

uint64_t port_driver_stop(struct port_driver *driver)
{
    const struct port_config *config = &driver->port->config;
    uint64_t limit = config->unload_limit_ns ? config->unload_limit_ns : 10000000000u;
    uint64_t left = 0;

    if (!sim_current->stopped) {
        nt_image_unloading(driver->image);
        if (ddi_has(&driver->unload_door, DxgkDdiUnload))
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
