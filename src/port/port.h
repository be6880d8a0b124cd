/* SPDX-License-Identifier: MIT */
/*
 * The port driver: registration of miniports (driver.h), the adapter's life from AddDevice to
 * Unload (adapter.h), capability queries and admission, and the DXGKRNL_INTERFACE, whose callbacks
 * check their arguments and then call the room that implements them.
 *
 * Life of an adapter (LIFE-050, LIFE-066, LIFE-072):
 *
 *   AddDevice -> [LinkDevice] -> [ExchangePreStartInfo]
 *   -> WDDMDEVICECAPS, PHYSICAL_MEMORY_CAPS, IOMMU_CAPS
 *   -> DMA mode chosen, domain attached -> interrupts connected -> StartDevice
 *   -> children -> DRIVERCAPS -> PHYSICALADAPTERCAPS -> frame buffer save, reserved ranges
 *   -> MMU caps and levels -> node metadata -> segments -> power components
 *   -> history precision -> performance types -> status of children -> ETW state
 *   -> memory manager and scheduler start -> open to clients
 *   ... -> StopDevice -> interrupts disconnected -> RemoveDevice -> Unload
 *
 * What is wrong with the answers is collected; each finding names the rule and the value, and its
 * class says whether it refuses the adapter (record/port_refuse.h, LIFE-003). All functions run on
 * a simulated thread of the system process at PASSIVE_LEVEL.
 */
#ifndef DXGK_PORT_PORT_H
#define DXGK_PORT_PORT_H

#include <ntddk.h>

struct nt_process;
struct physical_memory;
struct port;
struct port_adapter;
struct port_config;

/* Becomes the port driver of the current machine (port_current). */
NTSTATUS port_create(const struct port_config *config, struct port **port);
void port_destroy(struct port *port);
/* Register the function that ends what clients have on an adapter before it stops (LIFE-168); NULL:
 * clients have nothing. */
void port_on_stop(struct port *port, void (*end)(void *context, struct port_adapter *adapter),
                  void *context);
/* A process is about to end: report and remove the mappings that drivers left in it (PHYS-040,
 * PHYS-159). */
void port_process_ended(struct port *port, const struct nt_process *process);
struct physical_memory *port_physical_memory(struct port *port);

#endif
