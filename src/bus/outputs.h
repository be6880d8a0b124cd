/* SPDX-License-Identifier: MIT */
/* Outputs of a device model, and the monitors on them (PRES-322). */
#ifndef DXGK_BUS_OUTPUTS_H
#define DXGK_BUS_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkhost/scanout.h"

struct bus_device;

/* 0: the model has told of none. */
unsigned bus_device_outputs(const struct bus_device *device);
/* One of them has this monitor; `edid` NULL: none. False: the model has no room for the bytes. */
bool bus_device_monitor(struct bus_device *device, unsigned output, const uint8_t *edid,
                        size_t bytes);

/* What one of them shows; the model is asked, also while the machine does not run. An output of
 * which it says nothing shows what the host knows. */
enum dxgk_scanout_state bus_device_scanout(struct bus_device *device, unsigned output,
                                           struct dxgk_scanout *scanout);

#endif
