/* SPDX-License-Identifier: MIT */
/* What the screens of an adapter showed when its device was removed (PRES-054). */
#ifndef DXGK_PORT_STALE_H
#define DXGK_PORT_STALE_H

#include "modes/modes.h"
#include "port/running/display.h"

struct port_stale {
    struct port_scanout scanout[MODES_MAX_SOURCES]; /* pixels: own copies */
};

/* The device is about to be removed: what it shows is kept, and is what is scanned out from now on,
 * until displays end. A source without memory for that shows nothing. */
void port_display_keep(struct port_adapter *adapter);
void port_display_forget(struct port_adapter *adapter);

#endif
