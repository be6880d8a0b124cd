/* SPDX-License-Identifier: MIT */
/* Whether a driver that says so leaves alone what firmware has lit (PRES-040). */
#ifndef DXGK_PORT_BOOT_PICTURE_H
#define DXGK_PORT_BOOT_PICTURE_H

#include <stdbool.h>

struct port_adapter;

/* Before StartDevice: the driver says that it keeps the picture. */
void port_boot_picture_note(const struct port_adapter *adapter, bool keeps);
/* After StartDevice: has it? */
void port_boot_picture_check(const struct port_adapter *adapter);
/* The machine ends. */
void port_boot_picture_finish(void);

#endif
