/* SPDX-License-Identifier: MIT */
/* What a device model tells of its driver's DMA buffers. */
#ifndef DXGK_BUS_PATCHES_H
#define DXGK_BUS_PATCHES_H

#include "dxgkhost/patches.h"

struct bus_device;

/* NULL: the model told nothing. */
const struct dxgk_patch_format *bus_device_patch_format(const struct bus_device *device);

#endif
