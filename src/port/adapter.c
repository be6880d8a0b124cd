/* SPDX-License-Identifier: MIT */
/* The adapter's outermost life, AddDevice to RemoveDevice, and what the client interface asks of it. */
#include <stdio.h>
#include <string.h>

#include "port/port_private.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"

/* ---- identity ---- */

#define FIRST_LUID 0x1000u

/* LIFE-085: where the driver may keep its data; made by the kernel services from the same device object. */
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
                                        .service = adapter->driver->service,
                                        .instance = adapter->luid.LowPart - FIRST_LUID,
                                        .slot = 1 + adapter->luid.LowPart - FIRST_LUID};

    return nt_pdo_register(&adapter->pdo, &info) && name_software_key(adapter);
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

uint64_t port_adapter_memory_size(const struct port_adapter *adapter)
{
    uint32_t type, bytes;
    const void *value = nt_registry_get(adapter->software_key, "HardwareInformation.MemorySize",
                                        &type, &bytes);
    uint32_t megabytes;

    if (!value || bytes != sizeof(megabytes))
        return 0;
    memcpy(&megabytes, value, sizeof(megabytes));
    return (uint64_t)megabytes << 20;
}

/* ---- life ---- */

/* Everything but the record, which clients may still hold: it says that the adapter is lost. */
static void dismantle(struct port_adapter *adapter)
{
    struct port *port = adapter->port;

    list_remove(&adapter->link);
    nt_device_object_unregister(&adapter->pdo);
    port_domain_destroy(adapter);
    bus_device_on_fault(adapter->device, NULL, NULL);
    (void)ddi_handle_remove(&port->handles, adapter->handle, DDI_HANDLE_ADAPTER);
    port_forget_answers(adapter);
    ddi_loan_finish(&adapter->start_loan);
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
    adapter->pdo.Type = 3; /* IO_TYPE_DEVICE */
    adapter->pdo.Size = sizeof(DEVICE_OBJECT);
    adapter->power = PowerDeviceUnspecified;
    list_init(&adapter->maps);
    list_init(&adapter->services);
    list_init(&adapter->timed_operations);
    list_init(&adapter->debug_reports);
    list_init(&adapter->dpc.link);
    sim_waitq_init(&adapter->power_wait);
    sim_waitq_init(&adapter->power_done);
    sim_mutex_init(&adapter->power_lock);
    sim_mutex_init(&adapter->evacuation_lock);
    sim_waitq_init(&adapter->power_idle);
    list_push_back(&port->adapter_list, &adapter->link);
    adapter->luid.LowPart = port->next_luid++; /* LIFE-055, LIFE-056 */
    adapter->guid.Data1 = 0x8a5d0000u + adapter->luid.LowPart;
    adapter->guid.Data2 = 0x4db0;
    if (NT_SUCCESS(ddi_adapter_init(&adapter->ddi, &driver->table, driver->image, driver->service))) {
        adapter->ddi.raised_limit = port->config.raised_limit_ns;
        adapter->ddi.reset_at_bugcheck = port->config.reset_device;
        adapter->ddi.handles.adapter = (uint16_t)(1 + adapter->luid.LowPart % DDI_HANDLE_ADAPTERS);
        adapter->handle = ddi_handle_create(&port->handles, DDI_HANDLE_ADAPTER, adapter);
    }
    if (!adapter->handle || !register_pdo(adapter)) {
        free_adapter(adapter);
        return NULL;
    }
    return adapter;
}

/* LIFE-039 to LIFE-043. The context: NULL with a success status means that the driver declines the device. */
static NTSTATUS add_device(struct port_adapter *adapter)
{
    struct port *port = adapter->port;
    PVOID context = NULL;
    NTSTATUS status;

    sim_mutex_lock(&port->add_lock);
    status = ddi_add_device(&adapter->ddi, &adapter->pdo, &context);
    sim_mutex_unlock(&port->add_lock);
    if (!NT_SUCCESS(status))
        return status;
    if (!context)
        return STATUS_NO_SUCH_DEVICE;
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
        VIOLATION("LIFE-175", "RemoveDevice returned 0x%08x", (unsigned)status);
    adapter->state = PORT_REMOVED;
    adapter->driver->adapters--;
}

static void show_answers(const struct port_adapter *adapter, NTSTATUS status)
{
    const struct port_config *config = &adapter->port->config;
    struct port_answers answers = {
        .table = &adapter->driver->table,
        .caps = &adapter->caps,
        .mmu = &adapter->mmu,
        .level = adapter->level,
        .node = adapter->node,
        .nodes = adapter->nodes,
        .segments = adapter->segment_table ? adapter->segment_count : 0,
        .paging_buffer_bytes = adapter->segments.PagingBufferSize,
        .paging_buffer_segment = adapter->segments.PagingBufferSegmentId,
        .gpu_mmu = adapter->gpu_mmu,
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
        port_log(driver->port, "%s: adapter refused with 0x%08x", driver->service, (unsigned)status);
        remove_device(adapter);
        free_adapter(adapter);
        return status;
    }
    *out = adapter;
    return STATUS_SUCCESS;
}

void port_adapter_remove(struct port_adapter *adapter)
{
    adapter->lost = true;
    if (sim_current->stopped) {
        /* After a bug check nothing of the driver runs; memory goes with the machine. */
        list_remove(&adapter->link);
        return;
    }
    if (adapter->state == PORT_STARTED)
        port_stop(adapter);
    remove_device(adapter);
    free_adapter(adapter);
}

/* ---- questions ---- */

struct port_adapter *port_adapter_first(struct port *port)
{
    struct list *node = port->adapter_list.next;

    return node == &port->adapter_list ? NULL : CONTAINER(node, struct port_adapter, link);
}

struct port_adapter *port_adapter_next(struct port_adapter *adapter)
{
    struct list *node = adapter->link.next;

    return node == &adapter->port->adapter_list ? NULL : CONTAINER(node, struct port_adapter, link);
}

struct port_adapter *port_adapter_by_luid(struct port *port, LUID luid)
{
    for (struct port_adapter *a = port_adapter_first(port); a; a = port_adapter_next(a))
        if (a->luid.LowPart == luid.LowPart && a->luid.HighPart == luid.HighPart)
            return a;
    return NULL;
}

LUID port_adapter_luid(const struct port_adapter *adapter)
{
    return adapter->luid;
}

GUID port_adapter_guid(const struct port_adapter *adapter)
{
    return adapter->guid;
}

struct ddi_adapter *port_adapter_ddi(struct port_adapter *adapter)
{
    return &adapter->ddi;
}

struct vidmm *port_adapter_vidmm(struct port_adapter *adapter)
{
    return adapter->vidmm;
}

struct vidsch *port_adapter_vidsch(struct port_adapter *adapter)
{
    return adapter->vidsch;
}

const DXGK_DRIVERCAPS *port_adapter_caps(const struct port_adapter *adapter)
{
    return &adapter->caps;
}

struct bus_device *port_adapter_bus_device(struct port_adapter *adapter)
{
    return adapter->device;
}

struct physical_adapter *port_adapter_physical(struct port_adapter *adapter)
{
    return adapter->physical;
}

struct iommu_domain *port_adapter_domain(struct port_adapter *adapter)
{
    return adapter->domain;
}

UINT port_adapter_nodes(const struct port_adapter *adapter)
{
    return adapter->nodes;
}

const DXGKARG_GETNODEMETADATA *port_adapter_node(const struct port_adapter *adapter, UINT node)
{
    return node < adapter->nodes ? &adapter->node[node].metadata : NULL;
}

bool port_adapter_node_virtual(const struct port_adapter *adapter, UINT node)
{
    return node < adapter->nodes && adapter->node[node].virtual_addressing;
}

bool port_adapter_is_2x(const struct port_adapter *adapter)
{
    return port_model_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM2_0;
}

bool port_adapter_gpu_mmu(const struct port_adapter *adapter)
{
    return adapter->gpu_mmu;
}

const DXGK_GPUMMUCAPS *port_adapter_mmu(const struct port_adapter *adapter)
{
    return &adapter->mmu;
}

const DXGK_GPUVERSION *port_adapter_gpu_version(const struct port_adapter *adapter)
{
    return &adapter->gpu_version;
}

const DXGK_ADAPTER_PERFDATACAPS *port_adapter_perf_caps(const struct port_adapter *adapter)
{
    return &adapter->perf_caps;
}

const char *port_adapter_name(const struct port_adapter *adapter)
{
    return adapter->name;
}

DXGK_WDDMVERSION port_adapter_wddm(const struct port_adapter *adapter)
{
    return adapter->caps.WDDMVersion ? adapter->caps.WDDMVersion : adapter->device_wddm;
}

bool port_adapter_lost(const struct port_adapter *adapter)
{
    return adapter->lost || sim_current->stopped;
}

void port_adapter_retain(struct port_adapter *adapter)
{
    adapter->client_references++;
}

void port_adapter_release(struct port_adapter *adapter)
{
    if (--adapter->client_references == 0 && adapter->dismantled)
        util_free(adapter);
}
