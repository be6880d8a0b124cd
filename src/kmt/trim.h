/* SPDX-License-Identifier: MIT */
/* Trim callbacks of devices (RES-046 to RES-049). */
#ifndef DXGK_KMT_TRIM_H
#define DXGK_KMT_TRIM_H

struct kmt_device;

/* The device goes: none of its callbacks is called any more, and one that runs has returned, unless
 * it is what destroys the device. */
void kmt_trim_end(struct kmt_device *device);

#endif
