/* SPDX-License-Identifier: MIT */
/* The end of gamma ramps that clients have set. */
#ifndef DXGK_KMT_GAMMA_H
#define DXGK_KMT_GAMMA_H

struct kmt_device;

/* Before the device ends: sources that it has given a gamma ramp get the default one (PRES-299). */
void kmt_gamma_leave(struct kmt_device *device);

#endif
