/* SPDX-License-Identifier: MIT */
/*
 * The port driver: registration of miniports, the adapter's life from AddDevice to Unload, capability queries and admission,
 * and the DXGKRNL_INTERFACE, whose callbacks validate and then call the room that owns the matter.
 *
 * Life of an adapter (LIFE-050, LIFE-066, LIFE-072):
 *
 *   AddDevice -> [LinkDevice] -> [ExchangePreStartInfo] -> WDDMDEVICECAPS, PHYSICAL_MEMORY_CAPS, IOMMU_CAPS
 *   -> DMA mode chosen, domain attached -> interrupts connected -> StartDevice
 *   -> DRIVERCAPS -> PHYSICALADAPTERCAPS -> frame buffer save, reserved ranges -> segments -> MMU caps and levels
 *   -> node metadata -> power components -> history precision -> performance types -> children -> ETW state
 *   -> memory manager and scheduler start -> open to clients
 *   ... -> StopDevice -> interrupts disconnected -> RemoveDevice -> Unload
 *
 * A refusal is one violation that names the rule and the value, and a status as LIFE-003 says. All functions run on a
 * simulated thread of the system process at PASSIVE_LEVEL.
 */
#ifndef DXGK_PORT_H
#define DXGK_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "bus/bus.h"
#include "ddi/ddi.h"
#include "iommu/iommu.h"
#include "vidmm/vidmm.h"
#include "vidsch/vidsch.h"

struct port;
struct port_driver;
struct port_adapter;

struct port_config {
    struct ram *ram;
    struct bus *bus;
    enum iommu_mode iommu;      /* OFF: physical; ISOLATION: attached after the start; REMAP: forced logical mode */
    UINT interface_version;     /* of the host; 0: the newest */
    UINT required_dma_queue_entry; /* 0: 2 */
    struct vidsch_tdr_settings tdr;
    /* A line of news for a person ("adapter refused: ..."); may be NULL. */
    void (*log)(void *context, const char *line);
    void *log_context;
};

/* State of the current machine (room[SIM_ROOM_PORT]). */
NTSTATUS port_create(const struct port_config *config, struct port **port);
void port_destroy(struct port *port);

/* Call the image's DriverEntry. On failure the image counts as not loaded and its leaks are reported (LIFE-009). `file` is the
 * path for reports. */
NTSTATUS port_driver_start(struct port *port, const char *service, struct nt_image *image, PDRIVER_INITIALIZE entry, struct port_driver **driver);
/* Unload, after the last adapter was removed; leak check. Returns how many things were left. */
uint64_t port_driver_stop(struct port_driver *driver);

NTSTATUS port_adapter_add(struct port_driver *driver, struct bus_device *device, struct port_adapter **adapter);
/* No new work, drain, stop, remove. Client objects must be gone. */
void port_adapter_remove(struct port_adapter *adapter);

/* ---- what the client interface asks ---- */
struct port_adapter *port_adapter_first(struct port *port);
struct port_adapter *port_adapter_next(struct port_adapter *adapter);
struct port_adapter *port_adapter_by_luid(struct port *port, LUID luid);
LUID port_adapter_luid(const struct port_adapter *adapter);
struct ddi_adapter *port_adapter_ddi(struct port_adapter *adapter);
struct vidmm *port_adapter_vidmm(struct port_adapter *adapter);
struct vidsch *port_adapter_vidsch(struct port_adapter *adapter);
const DXGK_DRIVERCAPS *port_adapter_caps(const struct port_adapter *adapter);
struct bus_device *port_adapter_bus_device(struct port_adapter *adapter);
struct iommu_domain *port_adapter_domain(struct port_adapter *adapter);
UINT port_adapter_nodes(const struct port_adapter *adapter);
const DXGKARG_GETNODEMETADATA *port_adapter_node(const struct port_adapter *adapter, UINT node);
bool port_adapter_node_virtual(const struct port_adapter *adapter, UINT node);
bool port_adapter_gpu_mmu(const struct port_adapter *adapter);
const char *port_adapter_name(const struct port_adapter *adapter); /* driver's AdapterString or the model's name */
DXGK_WDDMVERSION port_adapter_wddm(const struct port_adapter *adapter);
/* Lost for good (stopped, removed, bug check): calls give STATUS_DEVICE_REMOVED. */
bool port_adapter_lost(const struct port_adapter *adapter);
/* Client objects of the adapter, counted by kmt. */
void port_adapter_retain(struct port_adapter *adapter);
void port_adapter_release(struct port_adapter *adapter);

#endif
