/* SPDX-License-Identifier: MIT */
/* The life of an adapter, from AddDevice to RemoveDevice. */
#include <stdio.h>
#include <string.h>

#include "port/adapter.h"
#include "bus/dma.h"
#include "ddi/ddi.h"
#include "ddi/handle.h"
#include "ddi/loan.h"
#include "nt/base/status_name.h"
#include "nt/cm/registry.h"
#include "nt/io/device_object.h"
#include "port/callbacks/maps.h"
#include "port/callbacks/services.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/record/cause.h"
#include "port/running/domain.h"
#include "port/running/interrupts.h"
#include "port/running/managers.h"
#include "port/running/post.h"
#include "port/running/power.h"
#include "port/running/power_components.h"
#include "port/running/restarting.h"
#include "port/start.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "util/alloc.h"

/* ---- identity ---- */

/* LIFE-085: the registry key in which the driver may keep its data, named after the device object
 * as the kernel services name it. */
static bool name_software_key(struct port_adapter *adapter)
{
    static const char prefix[] = "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\Class\\";
    const size_t capacity = sizeof(adapter->software_key) - sizeof(prefix);
    WCHAR name[sizeof(adapter->software_key)];
    ULONG bytes = 0;
    size_t length = sizeof(prefix) - 1;

    if (!NT_SUCCESS(IoGetDeviceProperty(&adapter->pdo, DevicePropertyDriverKeyName,
                                        (ULONG)(capacity * sizeof(WCHAR)), name, &bytes)))
        return false;
    memcpy(adapter->software_key, prefix, length);
    for (size_t i = 0; i < bytes / sizeof(WCHAR) && name[i]; i++)
        adapter->software_key[length++] = (char)name[i];
    for (size_t i = 0; i <= length; i++)
        adapter->software_key_wide[i] = (WCHAR)(unsigned char)adapter->software_key[i];
    return true;
}

static bool register_pdo(struct port_adapter *adapter)
{
    const struct nt_device_info info = {.device = adapter->device,
                                        .instance = adapter->luid.LowPart - PORT_FIRST_LUID,
                                        .slot = 1 + adapter->luid.LowPart - PORT_FIRST_LUID};

    return nt_device_object_register_physical(&adapter->pdo, &info) && name_software_key(adapter);
}

/* LIFE-045: the driver's name for its adapter, typically written in AddDevice. */
static void read_name(struct port_adapter *adapter)
{
    uint32_t type, bytes;
    const WCHAR *text = nt_registry_get(adapter->software_key, "HardwareInformation.AdapterString",
                                        &type, &bytes);
    size_t length = 0;

    snprintf(adapter->name, sizeof(adapter->name), "%s", adapter->driver->service);
    if (!text || (type != REG_SZ && type != REG_BINARY))
        return;
    while (length < bytes / sizeof(WCHAR) && length + 1 < sizeof(adapter->name) && text[length]) {
        adapter->name[length] = text[length] < 127 ? (char)text[length] : '?';
        length++;
    }
    if (length)
        adapter->name[length] = '\0';
}

/* ---- life ---- */

/* End everything except the record: clients may still hold it, and learn from it that the adapter
 * is lost. */
static void dismantle(struct port_adapter *adapter)
{
    struct port *port = adapter->port;

    list_remove(&adapter->link);
    nt_device_object_unregister(&adapter->pdo);
    port_domain_destroy(adapter);
    bus_device_on_fault(adapter->device, NULL, NULL);
    (void)ddi_handle_remove(&port->handles, adapter->handle, DDI_HANDLE_ADAPTER);
    port_start_forget(adapter);
    port_post_forget(adapter);
    ddi_loan_finish(&adapter->start_info);
    ddi_loan_finish(&adapter->start_interface);
    ddi_loan_finish(&adapter->resource_loan);
    if (adapter->ddi.locks)
        ddi_adapter_finish(&adapter->ddi);
    adapter->ddi.gone = adapter->lost = adapter->dismantled = true;
}

static void free_adapter(struct port_adapter *adapter)
{
    dismantle(adapter);
    if (!adapter->client_references)
        util_free(adapter);
}

static struct port_adapter *new_adapter(struct port_driver *driver, struct bus_device *device)
{
    struct port *port = driver->port;
    struct port_adapter *adapter = util_zalloc(1, sizeof(*adapter));

    if (!adapter)
        return NULL;
    adapter->port = port;
    adapter->driver = driver;
    adapter->device = device;
    adapter->pdo.Type = IO_TYPE_DEVICE;
    adapter->pdo.Size = sizeof(DEVICE_OBJECT);
    list_init(&adapter->maps);
    port_services_init(adapter);
    port_interrupts_init(adapter);
    port_power_init(adapter);
    port_managers_init(adapter);
    port_power_components_init(adapter);
    list_push_back(&port->adapter_list, &adapter->link);
    adapter->luid.LowPart = port->next_luid++; /* LIFE-055, LIFE-056 */
    adapter->guid.Data1 = 0x8a5d0000u + adapter->luid.LowPart;
    adapter->guid.Data2 = 0x4db0;
    if (NT_SUCCESS(ddi_adapter_init(&adapter->ddi, &driver->table, driver->image, driver->service))) {
        ddi_set_room(&adapter->ddi, &port_room, adapter);
        adapter->ddi.present_display_only = driver->present_display_only;
        adapter->ddi.raised_submit = port->config.raised_submit;
        adapter->ddi.raised_limit = port->config.raised_limit_ns;
        adapter->ddi.reset_at_bugcheck = port->config.reset_device;
        adapter->ddi.handles.adapter = (uint16_t)(1 + adapter->luid.LowPart % DDI_HANDLE_ADAPTERS);
        adapter->handle = ddi_handle_create(&port->handles, DDI_HANDLE_ADAPTER, adapter);
    }
    if (!adapter->handle || !register_pdo(adapter) || !NT_SUCCESS(port_post_prepare(adapter))) {
        free_adapter(adapter);
        return NULL;
    }
    return adapter;
}

/* LIFE-039 to LIFE-043. Success with a NULL context means that the driver declines the device. */
static NTSTATUS add_device(struct port_adapter *adapter)
{
    struct port *port = adapter->port;
    PVOID context = NULL;
    NTSTATUS status;

    sim_mutex_lock(&port->add_lock);
    status = ddi_add_device(&adapter->ddi, &adapter->pdo, &context);
    sim_mutex_unlock(&port->add_lock);
    if (!NT_SUCCESS(status)) {
        port_cause_of_failure(adapter, status);
        return status;
    }
    if (!context) {
        port_cause(port, "DxgkDdiAddDevice returned STATUS_SUCCESS without a MiniportDeviceContext: "
                         "the driver declines the device");
        return STATUS_NO_SUCH_DEVICE;
    }
    LIST_FOR(node, &port->adapter_list) {
        struct port_adapter *other = CONTAINER(node, struct port_adapter, link);

        if (other != adapter && other->driver == adapter->driver && other->ddi.context == context)
            WARNING("LIFE-043", "two adapters have the same MiniportDeviceContext");
    }
    adapter->ddi.context = context;
    adapter->driver->adapters++;
    return STATUS_SUCCESS;
}

static void remove_device(struct port_adapter *adapter)
{
    NTSTATUS status = ddi_remove_device(&adapter->ddi);

    if (!NT_SUCCESS(status) && !adapter->ddi.gone)
        VIOLATION("LIFE-175", "RemoveDevice returned %s", nt_status_text(status).text);
    port_maps_remove(adapter); /* LIFE-101 */
    adapter->state = PORT_REMOVED;
    adapter->driver->adapters--;
}

static void show_answers(const struct port_adapter *adapter, NTSTATUS status)
{
    const struct port_config *config = &adapter->port->config;
    struct port_answers answers = {
        .table = &adapter->driver->table,
        .present_display_only = adapter->driver->present_display_only,
        .caps = &adapter->caps.driver,
        .mmu = &adapter->mmu.caps,
        .level = adapter->mmu.level,
        .node = adapter->nodes.node,
        .nodes = adapter->nodes.count,
        .segments = adapter->segments.table ? adapter->segments.count : 0,
        .paging_buffer_bytes = adapter->segments.out.PagingBufferSize,
        .paging_buffer_segment = adapter->segments.out.PagingBufferSegmentId,
        .gpu_mmu = adapter->caps.gpu_mmu,
        .status = status,
    };

    if (!config->observe)
        return;
    for (UINT i = 0; i < answers.segments; i++)
        answers.segment[i] = port_segment(adapter, i);
    config->observe(config->observe_context, &answers);
}

NTSTATUS port_adapter_add(struct port_driver *driver, struct bus_device *device,
                          struct port_adapter **out)
{
    struct port_adapter *adapter = new_adapter(driver, device);
    NTSTATUS status;

    if (!adapter)
        return STATUS_NO_MEMORY;
    status = add_device(adapter);
    if (!NT_SUCCESS(status)) {
        free_adapter(adapter); /* LIFE-041 */
        return status;
    }
    read_name(adapter);
    status = port_start(adapter);
    show_answers(adapter, status);
    if (!NT_SUCCESS(status)) {
        port_machine_log(driver->port, "%s: adapter refused with %s", driver->service,
                         nt_status_text(status).text);
        verify_set_undoing(verify_current, true);
        remove_device(adapter);
        free_adapter(adapter);
        verify_set_undoing(verify_current, false);
        return status;
    }
    *out = adapter;
    return STATUS_SUCCESS;
}

NTSTATUS port_adapter_restart(struct port_adapter *adapter)
{
    NTSTATUS status;

    if (adapter->client_references)
        return STATUS_DEVICE_BUSY;
    port_restarting_await(adapter);
    if (!port_runs(adapter) || port_adapter_power(adapter) != PowerDeviceD0)
        return STATUS_INVALID_DEVICE_STATE;
    port_stop(adapter);
    port_start_forget(adapter);
    port_cause_clear(adapter->port);
    status = port_start(adapter);
    verify_set_undoing(verify_current, false);
    if (!NT_SUCCESS(status))
        adapter->lost = true;
    return status;
}

void port_adapter_remove(struct port_adapter *adapter)
{
    adapter->lost = true;
    if (sim_current->stopped) {
        /* After a bug check no driver code runs; the memory is freed with the machine. */
        list_remove(&adapter->link);
        return;
    }
    port_restarting_await(adapter);
    if (adapter->state == PORT_STARTED)
        port_stop(adapter);
    remove_device(adapter);
    free_adapter(adapter);
}
