/* SPDX-License-Identifier: MIT */
/* The port driver of a machine: created before the first driver is loaded, destroyed after the last
 * one. */
#include "port/port.h"
#include "ddi/handle.h"
#include "modes/modes.h"
#include "physmem/physical_memory.h"
#include "port/callbacks/maps.h"
#include "port/callbacks/physical.h"
#include "port/record/adapter_record.h"
#include "port/registration_device.h"
#include "port/running/post.h"
#include "sim/mutex.h"
#include "trace/trace.h"
#include "util/alloc.h"

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
    port->next_luid = PORT_FIRST_LUID;
    port->etw = trace_current != NULL;
    port_machine_set(port);
    *out = port;
    return STATUS_SUCCESS;
}

void port_on_stop(struct port *port, void (*end)(void *context, struct port_adapter *adapter),
                  void *context)
{
    port->end_clients = end;
    port->end_clients_context = context;
}

struct physical_memory *port_physical_memory(struct port *port)
{
    return port->physical;
}

void port_process_ended(struct port *port, const struct nt_process *process)
{
    LIST_FOR(node, &port->adapter_list)
        port_maps_process_ended(CONTAINER(node, struct port_adapter, link), process);
    physical_memory_process_ended(port->physical, process);
}

void port_destroy(struct port *port)
{
    if (!port)
        return;
    port_registration_device_finish(port);
    port_post_finish(port);
    physical_memory_destroy(port->physical);
    ddi_handles_finish(&port->handles);
    modes_finish();
    port_machine_set(NULL);
    util_free(port);
}
