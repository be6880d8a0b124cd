/* SPDX-License-Identifier: MIT */
/* The interfaces of VidPNs and topologies, as drivers call them. */
#ifndef DXGK_MODES_VIDPN_INTERFACES_H
#define DXGK_MODES_VIDPN_INTERFACES_H

#include <ntddk.h>
#include <dispmprt.h>

extern const DXGK_VIDPNTOPOLOGY_INTERFACE modes_topology_interface;

/* DxgkCbQueryVidPnInterface, for the table of callbacks (VIDPN-018, VIDPN-019). */
NTSTATUS NTAPI modes_query_vidpn_interface(D3DKMDT_HVIDPN vidpn,
                                           const DXGK_VIDPN_INTERFACE_VERSION version,
                                           const DXGK_VIDPN_INTERFACE **interface);

#endif
