/* SPDX-License-Identifier: MIT */
/* Interface versions: which exist, and the sizes in each version of what crosses the driver
 * boundary. For registration, the queries, and the table of callbacks. */
#ifndef DXGK_PORT_VERSIONS_H
#define DXGK_PORT_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <ntddk.h>

struct port;

/* The host's interface version, as configured. */
UINT port_version_of_host(const struct port *port);
/* Size of DRIVER_INITIALIZATION_DATA; 0: there is no such version (LIFE-018). */
size_t port_version_table_bytes(ULONG version);
/* Sizes of DXGKRNL_INTERFACE, DXGK_DRIVERCAPS, DXGK_PHYSICALADAPTERCAPS. */
ULONG port_version_interface_bytes(UINT version);
UINT port_version_caps_bytes(UINT version);
UINT port_version_physical_caps_bytes(UINT version);
/* CAPS-032: is this a DXGK_WDDMVERSION value, and not above the host's? */
bool port_version_wddm_known(UINT wddm);
/* CAPS-019: the bits of SchedulingCaps, MemoryManagementCaps and MiscCaps that exist. */
UINT port_version_scheduling_bits(UINT version);
UINT port_version_memory_bits(UINT version);
UINT port_version_misc_bits(UINT version);

#endif
