/* SPDX-License-Identifier: MIT */
/* The registration of a display-only driver (DISP-003 to DISP-010). */
#ifndef DXGK_PORT_REGISTRATION_DISPLAY_H
#define DXGK_PORT_REGISTRATION_DISPLAY_H

#include <ntddk.h>
#include <dispmprt.h>

struct port;

/* Its table as that of any driver, and the one entry that this does not have. */
NTSTATUS port_display_only_table(struct port *port, const KMDDOD_INITIALIZATION_DATA *data,
                                 DRIVER_INITIALIZATION_DATA *table,
                                 PDXGKDDI_PRESENTDISPLAYONLY *present);

#endif
