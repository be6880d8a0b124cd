/* SPDX-License-Identifier: MIT */
/* Timers of a device. */
#ifndef DXGK_BUS_TIMERS_H
#define DXGK_BUS_TIMERS_H

#include <stdint.h>

struct bus_device;

/* Of a device that is being added. */
void bus_timers_init(struct bus_device *device);
void bus_timers_cancel(struct bus_device *device);
/* A delay in ns from now on; one beyond the end of time never ends. */
void bus_timers_arm(struct bus_device *device, unsigned timer, uint64_t delay);
void bus_timers_disarm(struct bus_device *device, unsigned timer);
/* Whenever the device is touched: arm those that were not armed for want of memory. */
void bus_timers_retry(struct bus_device *device);

#endif
