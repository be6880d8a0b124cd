/* SPDX-License-Identifier: MIT */
/* Interface versions: which exist, and how large at each of them what crosses the driver boundary
 * is. For registration, the queries, and the table of callbacks. */
#ifndef DXGK_PORT_VERSIONS_H
#define DXGK_PORT_VERSIONS_H

#include <stdbool.h>
#include <stddef.h>

#include <ntddk.h>

struct port;

/* Of the host, as the machine is configured. */
UINT port_version_of_host(const struct port *port);
/* Of DRIVER_INITIALIZATION_DATA; 0: there is no such version (LIFE-018). */
size_t port_version_table_bytes(ULONG version);
/* Of DXGKRNL_INTERFACE, DXGK_DRIVERCAPS, DXGK_PHYSICALADAPTERCAPS. */
ULONG port_version_interface_bytes(UINT version);
UINT port_version_caps_bytes(UINT version);
UINT port_version_physical_caps_bytes(UINT version);
/* CAPS-032: a DXGK_WDDMVERSION value not above that of the host. */
bool port_version_wddm_known(UINT wddm);
/* CAPS-019: bits of SchedulingCaps, MemoryManagementCaps and MiscCaps that exist. */
UINT port_version_scheduling_bits(UINT version);
UINT port_version_memory_bits(UINT version);
UINT port_version_misc_bits(UINT version);

#endif
