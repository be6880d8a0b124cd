/* SPDX-License-Identifier: MIT */
/* What a full driver says of multi-plane overlays (DISP-169, PRES-179 to PRES-181). */
#ifndef DXGK_PORT_PLANE_CAPS_H
#define DXGK_PORT_PLANE_CAPS_H

struct port_adapter;

/* Its DXGK_DRIVERCAPS are known; without sound planes they say afterwards that there are none. */
void port_plane_caps_check(struct port_adapter *adapter);

#endif
