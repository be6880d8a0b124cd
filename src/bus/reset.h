/* SPDX-License-Identifier: MIT */
/* What ends the work of a device while it stays on the bus: a reset, and its surprise removal. */
#ifndef DXGK_BUS_RESET_H
#define DXGK_BUS_RESET_H

#include <stdbool.h>
#include <stdint.h>

struct bus_device;

/* As by power-on or a function-level reset: timers are cancelled, and the model begins anew. */
void bus_device_reset(struct bus_device *device);
/* Surprise removal: reads give ones, writes vanish, DMA and interrupts cease. `touched` is told of
 * each access to a register of the device, in the thread that makes it; NULL: nobody is. */
void bus_device_unplug(struct bus_device *device,
                       void (*touched)(unsigned bar, uint64_t offset, bool write));

#endif
