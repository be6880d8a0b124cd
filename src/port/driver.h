/* SPDX-License-Identifier: MIT */
/* A loaded miniport: its DriverEntry and its Unload. For the room that loads images. */
#ifndef DXGK_PORT_DRIVER_H
#define DXGK_PORT_DRIVER_H

#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

struct nt_image;
struct port;
struct port_driver;

/* Call the image's DriverEntry. On failure the image counts as not loaded and its leaks are
 * reported (LIFE-009). */
NTSTATUS port_driver_start(struct port *port, const char *service, struct nt_image *image,
                           PDRIVER_INITIALIZE entry, struct port_driver **driver);
/* What it has registered; *present: the entry of a display-only driver that the table does not
 * have, NULL: another driver. */
const DRIVER_INITIALIZATION_DATA *port_driver_table(const struct port_driver *driver,
                                                    PDXGKDDI_PRESENTDISPLAYONLY *present);
/* Call Unload, after the last adapter was removed, and check for leaks. Returns the number of
 * things that were left. */
uint64_t port_driver_stop(struct port_driver *driver);

#endif
