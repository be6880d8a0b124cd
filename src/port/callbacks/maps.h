/* SPDX-License-Identifier: MIT */
/* Ranges of the device that its driver has mapped: DxgkCbMapMemory and DxgkCbUnmapMemory, and
 * mappings that remain when the adapter stops or a process ends. */
#ifndef DXGK_PORT_MAPS_H
#define DXGK_PORT_MAPS_H

#include <ntddk.h>
#include <dispmprt.h>

struct nt_process;
struct port_adapter;

void port_maps_fill(DXGKRNL_INTERFACE *interface);
/* Report (LIFE-101) and remove the mappings that remain; `when` tells the reader since when they
 * should be gone, as "after StopDevice". */
void port_maps_remove(struct port_adapter *adapter, const char *when);
/* PHYS-040: report and remove the mappings of a process that ends. */
void port_maps_process_ended(struct port_adapter *adapter, const struct nt_process *process);

#endif
