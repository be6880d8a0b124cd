/* SPDX-License-Identifier: MIT */
/* The adapter's life, from AddDevice to RemoveDevice, and what the client interface asks of it. */
#include <string.h>

#include "port/port_private.h"

#define MARKER 0xFEEDF00Du /* LIFE-068 */

/* ---- the domain ---- */

static NTSTATUS create_domain(struct port_adapter *adapter)
{
    struct ram *ram = adapter->port->config.ram;
    struct logical_addr highest = {adapter->highest_visible ? adapter->highest_visible : ram_highest(ram).value};
    uint8_t bits = bus_device_description(adapter->device)->dma_bits;
    struct physical_adapter_config config;

    if (bits && bits < 64 && highest.value >> bits)
        highest.value = (1ull << bits) - 1;
    adapter->domain = iommu_domain_create(ram, adapter->mode, highest);
    if (!adapter->domain)
        return STATUS_NO_MEMORY;
    if (adapter->attach_after_start) {
        adapter->pass_through = iommu_domain_create(ram, IOMMU_OFF, highest);
        if (!adapter->pass_through)
            return STATUS_NO_MEMORY;
    }
    bus_device_attach(adapter->device, adapter->pass_through ? adapter->pass_through : adapter->domain);
    memset(&config, 0, sizeof(config));
    config.memory = adapter->port->physical;
    config.domain = adapter->domain;
    config.name = adapter->driver->service;
    config.driver = adapter->driver->image;
    config.legacy_refused = adapter->driver->table.Version >= DXGKDDI_INTERFACE_VERSION_WDDM3_0 && adapter->iommu_caps.DmaRemappingSupported;
    adapter->physical = physical_adapter_create(&config);
    return adapter->physical ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static void destroy_domain(struct port_adapter *adapter)
{
    if (adapter->physical)
        physical_adapter_destroy(adapter->physical);
    bus_device_attach(adapter->device, NULL);
    if (adapter->domain)
        iommu_domain_destroy(adapter->domain);
    if (adapter->pass_through)
        iommu_domain_destroy(adapter->pass_through);
    adapter->physical = NULL;
    adapter->domain = adapter->pass_through = NULL;
}

/* Physical to isolated on a started adapter: under exclusive access (THREAD-036). */
static NTSTATUS attach_isolation(struct port_adapter *adapter)
{
    DXGKARG_BEGINEXCLUSIVEACCESS begin;
    DXGKARG_ENDEXCLUSIVEACCESS end;
    NTSTATUS status;

    if (!adapter->attach_after_start)
        return STATUS_SUCCESS;
    memset(&begin, 0, sizeof(begin));
    memset(&end, 0, sizeof(end));
    status = ddi_begin_exclusive_access(&adapter->ddi, &begin);
    if (!NT_SUCCESS(status))
        return status;
    bus_device_attach(adapter->device, adapter->domain);
    return ddi_end_exclusive_access(&adapter->ddi, &end);
}

static void bus_fault(void *context, const struct iommu_fault *fault)
{
    struct port_adapter *adapter = context;

    VIOLATION("IOMMU-072", "the device tried to %s logical address 0x%llx, which is not mapped for it",
              fault->access == IOMMU_WRITE ? "write" : "read", (unsigned long long)fault->address.value);
    trace_instant(TRACE_PROCESSOR(sim_current->processor), "IOMMU fault", "logical", fault->address.value, "write", fault->access == IOMMU_WRITE);
    if (adapter->vidsch)
        vidsch_note_bus_fault(adapter->vidsch, fault);
}

static void adapter_lost(struct ddi_adapter *ddi, uint32_t code)
{
    struct port_adapter *adapter = ddi->port;

    (void)code;
    adapter->lost = true;
}

/* ---- memory manager and scheduler ---- */

static NTSTATUS create_managers(struct port_adapter *adapter)
{
    struct port *port = adapter->port;
    struct vidmm_config mm;
    struct vidsch_config sch;
    NTSTATUS status;

    memset(&mm, 0, sizeof(mm));
    mm.ddi = &adapter->ddi;
    mm.ram = port->config.ram;
    mm.device = adapter->device;
    mm.domain = adapter->domain;
    mm.scheduler = &vidsch_for_vidmm;
    mm.caps = adapter->caps.MemoryManagementCaps;
    mm.wddm_version = adapter->driver->table.Version;
    mm.aperture_commit_limit = adapter->caps.ApertureSegmentCommitLimit;
    mm.internal_va_start = adapter->caps.InternalGpuVirtualAddressRangeStart;
    mm.internal_va_end = adapter->caps.InternalGpuVirtualAddressRangeEnd;
    mm.paging_node = adapter->physical_caps.PagingNodeIndex;
    mm.segments = adapter->segments;
    mm.segment_count = adapter->segment_count;
    mm.gpu_mmu = adapter->gpu_mmu;
    mm.mmu = adapter->mmu;
    memcpy(mm.level, adapter->level, sizeof(mm.level));
    status = vidmm_create(&mm, &adapter->vidmm);
    if (!NT_SUCCESS(status))
        return status;
    adapter->ddi.vidmm = adapter->vidmm;

    memset(&sch, 0, sizeof(sch));
    sch.ddi = &adapter->ddi;
    sch.device = adapter->device;
    sch.ram = port->config.ram;
    sch.domain = adapter->domain;
    sch.wddm_version = adapter->driver->table.Version;
    sch.nodes = adapter->nodes;
    sch.node = adapter->node;
    sch.paging_node = adapter->physical_caps.PagingNodeIndex;
    sch.caps = adapter->caps.SchedulingCaps;
    sch.max_allocation_list_slot = adapter->caps.MaxAllocationListSlotId;
    sch.required_dma_queue_entry = port->config.required_dma_queue_entry;
    sch.paging_buffer_bytes = (UINT)align_up(adapter->segments.PagingBufferSize, PAGE_BYTES);
    sch.paging_buffer_private_bytes = adapter->segments.PagingBufferPrivateDataSize;
    sch.per_engine_tdr = adapter->caps.SupportPerEngineTDR;
    sch.tdr = port->config.tdr;
    sch.adapter_lost = adapter_lost;
    status = vidsch_create(&sch, &adapter->vidsch);
    if (!NT_SUCCESS(status))
        return status;
    adapter->ddi.vidsch = adapter->vidsch;

    status = vidmm_start_process(adapter->vidmm);
    adapter->process_started = NT_SUCCESS(status);
    if (NT_SUCCESS(status))
        status = vidsch_start(adapter->vidsch);
    adapter->vidsch_started = NT_SUCCESS(status);
    if (NT_SUCCESS(status))
        status = vidmm_start(adapter->vidmm);
    adapter->vidmm_started = NT_SUCCESS(status);
    return status;
}

static void destroy_managers(struct port_adapter *adapter)
{
    if (adapter->vidsch && adapter->vidsch_started)
        vidsch_quiesce(adapter->vidsch);
    if (adapter->vidmm && (adapter->vidmm_started || adapter->process_started))
        vidmm_stop(adapter->vidmm);
    if (adapter->vidsch && adapter->vidsch_started)
        vidsch_stop(adapter->vidsch);
    if (adapter->vidmm)
        vidmm_destroy(adapter->vidmm);
    if (adapter->vidsch)
        vidsch_destroy(adapter->vidsch);
    adapter->vidsch_started = adapter->vidmm_started = adapter->process_started = false;
    adapter->vidmm = NULL;
    adapter->vidsch = NULL;
    adapter->ddi.vidmm = NULL;
    adapter->ddi.vidsch = NULL;
}

/* ---- start ---- */

static NTSTATUS call_start_device(struct port_adapter *adapter, ULONG *children)
{
    DXGKRNL_INTERFACE *interface = util_zalloc(1, sizeof(*interface));
    DXGK_START_INFO *info = util_zalloc(1, sizeof(*info));
    ULONG sources = MARKER, reported = MARKER;
    UINT version = port_interface_version(adapter->port);
    NTSTATUS status = STATUS_NO_MEMORY;

    if (!interface || !info)
        goto out;
    port_fill_interface(adapter, interface, version);
    info->RequiredDmaQueueEntry = adapter->port->config.required_dma_queue_entry;
    info->AdapterGuid = adapter->guid;
    info->AdapterLuid = adapter->luid;
    status = ddi_start_device(&adapter->ddi, info, interface, &sources, &reported);
    /* LIFE-061: a driver that kept the pointer instead of a copy calls this. */
    memset(interface, 0xDD, sizeof(*interface));
    memset(info, 0xDD, sizeof(*info));
    if (!NT_SUCCESS(status))
        goto out;
    if (sources == MARKER || reported == MARKER) {
        VIOLATION("LIFE-068", "StartDevice left %s unwritten", sources == MARKER ? "NumberOfVideoPresentSources" : "NumberOfChildren");
        sources = sources == MARKER ? 0 : sources;
        reported = reported == MARKER ? 0 : reported;
    }
    *children = reported;
    if (sources > 0) {
        /* LIFE-069, LIFE-071 */
        NOTE("LIFE-069", "the driver reports %u video present sources; this host runs render and compute adapters", sources);
        adapter->state = PORT_STARTED;
        status = STATUS_NOT_SUPPORTED;
    }
out:
    util_free(interface);
    util_free(info);
    return status;
}

/* After StopDevice, with whatever status: what the driver still holds (PHYS-022, LIFE-101). */
static void stop_device(struct port_adapter *adapter)
{
    ddi_stop_device(&adapter->ddi);
    adapter->state = PORT_STOPPED;
    port_interrupts_disconnect(adapter);
    physical_adapter_set_started(adapter->physical, false);
    physical_adapter_report_leaks(adapter->physical);
    port_resources_destroy(adapter);
}

static NTSTATUS start(struct port_adapter *adapter)
{
    ULONG children = 0;
    NTSTATUS status;

    status = port_query_before_start(adapter);
    if (NT_SUCCESS(status))
        status = create_domain(adapter);
    if (NT_SUCCESS(status))
        status = port_resources_create(adapter);
    if (!NT_SUCCESS(status))
        return status;
    bus_device_on_fault(adapter->device, bus_fault, adapter);
    adapter->dpc.routine = port_dpc;
    port_interrupts_connect(adapter); /* LIFE-066 */
    adapter->state = PORT_STARTING;
    status = call_start_device(adapter, &children);
    if (!NT_SUCCESS(status)) {
        if (adapter->state == PORT_STARTED)
            stop_device(adapter);
        else
            port_interrupts_disconnect(adapter); /* LIFE-070: no StopDevice */
        return status;
    }
    adapter->state = PORT_STARTED;
    status = port_query_after_start(adapter);
    if (NT_SUCCESS(status))
        status = attach_isolation(adapter);
    if (NT_SUCCESS(status))
        status = port_query_children(adapter, children);
    if (NT_SUCCESS(status) && ddi_has(&adapter->ddi, DxgkDdiControlEtwLogging))
        ddi_control_etw_logging(&adapter->ddi, FALSE, 0, 0);
    if (NT_SUCCESS(status))
        status = create_managers(adapter);
    if (!NT_SUCCESS(status)) {
        destroy_managers(adapter);
        stop_device(adapter); /* LIFE-071 */
    }
    return status;
}

static void free_adapter(struct port_adapter *adapter)
{
    struct port *port = adapter->port;

    list_remove(&adapter->link);
    destroy_domain(adapter);
    if (adapter->handle)
        handle_remove(&port->adapters, adapter->handle, DDI_HANDLE_ADAPTER);
    port_resources_destroy(adapter);
    util_free(adapter->segment_table);
    ddi_adapter_finish(&adapter->ddi);
    util_free(adapter);
}

static bool register_pdo(struct port_adapter *adapter)
{
    const struct nt_device_info info = {.device = adapter->device, .service = adapter->driver->service, .slot = 1};

    return nt_pdo_register(&adapter->pdo, &info);
}

NTSTATUS port_adapter_add(struct port_driver *driver, struct bus_device *device, struct port_adapter **out)
{
    struct port *port = driver->port;
    struct port_adapter *adapter = util_zalloc(1, sizeof(*adapter));
    PVOID context = NULL;
    NTSTATUS status;

    if (!adapter)
        return STATUS_NO_MEMORY;
    adapter->port = port;
    adapter->driver = driver;
    adapter->device = device;
    adapter->pdo.Type = 3; /* IO_TYPE_DEVICE */
    adapter->pdo.Size = sizeof(DEVICE_OBJECT);
    list_init(&adapter->maps);
    list_init(&adapter->dpc.link);
    status = ddi_adapter_init(&adapter->ddi, &driver->table, driver->image, driver->service);
    if (!NT_SUCCESS(status)) {
        util_free(adapter);
        return status;
    }
    adapter->ddi.port = adapter;
    list_push_back(&port->adapter_list, &adapter->link);
    adapter->luid.LowPart = port->next_luid++; /* LIFE-055, LIFE-056 */
    adapter->guid.Data1 = 0x8a5d0000u + adapter->luid.LowPart;
    adapter->guid.Data2 = 0x4db0;
    adapter->handle = handle_create(&port->adapters, DDI_HANDLE_ADAPTER, adapter);
    if (!adapter->handle || !register_pdo(adapter)) {
        free_adapter(adapter);
        return STATUS_NO_MEMORY;
    }

    sim_mutex_lock(&port->add_lock);
    status = ddi_add_device(&adapter->ddi, &adapter->pdo, &context);
    sim_mutex_unlock(&port->add_lock);
    if (!NT_SUCCESS(status) || !context) {
        /* LIFE-040, LIFE-041 */
        free_adapter(adapter);
        return NT_SUCCESS(status) ? STATUS_NO_SUCH_DEVICE : status;
    }
    LIST_FOR(node, &port->adapter_list) {
        struct port_adapter *other = CONTAINER(node, struct port_adapter, link);

        if (other != adapter && other->driver == driver && other->ddi.context == context)
            WARNING("LIFE-043", "two adapters have the same MiniportDeviceContext");
    }
    adapter->ddi.context = context;
    driver->adapters++;
    status = start(adapter);
    if (!NT_SUCCESS(status)) {
        ddi_remove_device(&adapter->ddi);
        driver->adapters--;
        free_adapter(adapter);
        return status;
    }
    *out = adapter;
    return STATUS_SUCCESS;
}

void port_adapter_remove(struct port_adapter *adapter)
{
    struct port_driver *driver = adapter->driver;

    adapter->lost = true;
    if (sim_current->stopped) {
        /* After a bug check nothing of the driver runs; memory goes with the machine. */
        list_remove(&adapter->link);
        return;
    }
    destroy_managers(adapter);
    stop_device(adapter);
    ddi_remove_device(&adapter->ddi);
    adapter->state = PORT_REMOVED;
    driver->adapters--;
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

bool port_adapter_gpu_mmu(const struct port_adapter *adapter)
{
    return adapter->gpu_mmu;
}

const char *port_adapter_name(const struct port_adapter *adapter)
{
    return adapter->driver->service;
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
    adapter->client_references--;
}
const DXGK_GPUMMUCAPS *port_adapter_mmu(const struct port_adapter *adapter){return adapter->gpu_mmu?&adapter->mmu:NULL;}
GUID port_adapter_guid(const struct port_adapter *adapter){return adapter->guid;}
