/* SPDX-License-Identifier: MIT */
/* Children that are video outputs (DISP-022 to DISP-036). */
#ifndef DXGK_PORT_OUTPUTS_H
#define DXGK_PORT_OUTPUTS_H

#include <stdbool.h>

#include <ntddk.h>

struct port_adapter;

/* Is what a child of an adapter with displays says of itself sound? What is not, and the host can
 * do without, is told and set to what it counts as. */
NTSTATUS port_output_check(struct port_adapter *adapter, ULONG index);
/* After all children: is there an output for the sources (DISP-016, DISP-017)? */
NTSTATUS port_outputs_check(struct port_adapter *adapter, ULONG sources);

/* Does the driver tell of its outputs by the connection change model of WDDM 2.2 (DISP-083)? */
bool port_uses_connections(const struct port_adapter *adapter);

#endif
