/* SPDX-License-Identifier: MIT */
/* What a path does to the picture of its source on the way to the target: it turns it, then brings
 * it to the size of the target. */
#ifndef DXGK_SCREENS_PICTURE_TURN_H
#define DXGK_SCREENS_PICTURE_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "screens/picture.h"

/* Turned counter-clockwise by `quarters` of 90 degrees (VIDPN-109): by one, the right edge is at
 * the top. False: out of memory; *turned is unchanged then. */
bool picture_turn(struct picture *turned, const struct picture *picture, unsigned quarters);

/* In a target of this size. What the picture does not cover is black; it stands in the middle,
 * rather to the left and top by half a pixel. Each pixel that is stretched has the color of the one
 * under its middle. False: `why` says that the picture does not fit, that this scaling is none or
 * the driver's own, or that memory is short; *scaled is unchanged then. */
bool picture_scale(struct picture *scaled, const struct picture *picture, uint32_t width,
                   uint32_t height, D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling, char *why,
                   size_t why_bytes);

#endif
