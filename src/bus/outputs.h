/* SPDX-License-Identifier: MIT */
/* What a device shows on its outputs (dxgkhost/scanout.h). */
#ifndef DXGK_BUS_OUTPUTS_H
#define DXGK_BUS_OUTPUTS_H

#include <stddef.h>

#include "dxgkhost/scanout.h"

struct bus_device;

/* The model is asked, also while the machine does not run. An output of which it says nothing shows
 * what the firmware has lit. */
enum dxgk_scanout_state bus_device_scanout(struct bus_device *device, unsigned output,
                                           struct dxgk_scanout *scanout);

/* A monitor comes, goes or is another, while the machine runs. NULL: it is so; else why not. */
const char *bus_device_plug(struct bus_device *device, unsigned output,
                            const struct dxgk_device_monitor *monitor);

#endif
