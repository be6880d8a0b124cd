/* SPDX-License-Identifier: MIT */
/* Ranges of the device that its driver has mapped: DxgkCbMapMemory and DxgkCbUnmapMemory, and
 * mappings that remain when the adapter stops or is removed, or a process ends. */
#ifndef DXGK_PORT_MAPS_H
#define DXGK_PORT_MAPS_H

#include <ntddk.h>
#include <dispmprt.h>

struct nt_process;
struct port_adapter;

void port_maps_fill(DXGKRNL_INTERFACE *interface);
/* LIFE-101: report the mappings that remain, each once; they stay usable until RemoveDevice has
 * returned. `when` tells the reader since when they should be gone, as "after StopDevice". */
void port_maps_stopped(struct port_adapter *adapter, const char *when);
/* RemoveDevice has returned: remove the mappings that remain. */
void port_maps_remove(struct port_adapter *adapter);
/* PHYS-040: report and remove the mappings of a process that ends. */
void port_maps_process_ended(struct port_adapter *adapter, const struct nt_process *process);

#endif
