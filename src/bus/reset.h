/* SPDX-License-Identifier: MIT */
/* What ends the work of a device while it stays on the bus: a reset, and its surprise removal. */
#ifndef DXGK_BUS_RESET_H
#define DXGK_BUS_RESET_H

struct bus_device;

/* As by power-on or a function-level reset: timers are cancelled, and the model begins anew. */
void bus_device_reset(struct bus_device *device);
/* Surprise removal: reads give ones, writes vanish, DMA and interrupts cease. */
void bus_device_unplug(struct bus_device *device);

#endif
