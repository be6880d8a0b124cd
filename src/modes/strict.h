/* SPDX-License-Identifier: MIT */
/* What a driver is asked in strict mode only, once per start (VIDPN-128, VIDPN-145, VIDPN-147).
 * Called by the display worker. */
#ifndef DXGK_MODES_STRICT_H
#define DXGK_MODES_STRICT_H

struct modes;

void modes_strict_check(struct modes *modes);

#endif
