/* SPDX-License-Identifier: MIT */
/* Outputs of a device model, and the monitors on them (PRES-322). */
#ifndef DXGK_BUS_OUTPUTS_H
#define DXGK_BUS_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bus_device;

/* 0: the model has told of none. */
unsigned bus_device_outputs(const struct bus_device *device);
/* One of them has this monitor; `edid` NULL: none. False: the model has no room for the bytes. */
bool bus_device_monitor(struct bus_device *device, unsigned output, const uint8_t *edid,
                        size_t bytes);

#endif
