/* SPDX-License-Identifier: MIT */
/* The colors of a monitor: of its descriptor, or as the driver knows better (DISP-081, DISP-114).
 * Called by the display worker. */
#ifndef DXGK_MODES_COLORIMETRY_H
#define DXGK_MODES_COLORIMETRY_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct modes;
struct monitor;

bool colorimetry_is_zero(const DXGK_COLORIMETRY *c);
/* What is wrong with an override; NULL: nothing. */
const char *colorimetry_fault(const DXGK_COLORIMETRY *c);

/* Find out what monitor->colors are, and tell the driver. */
void colorimetry_settle(struct modes *modes, struct monitor *monitor);

#endif
