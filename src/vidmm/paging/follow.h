/* SPDX-License-Identifier: MIT */
/*
 * Waiting for the GPU work that a device has queued: each device has a fiber, the follower, that
 * calls those who wait as the work retires. Lock held.
 */
#ifndef DXGK_VIDMM_FOLLOW_H
#define DXGK_VIDMM_FOLLOW_H

#include <ntddk.h>

struct vidmm_follow;
struct vidmm_device;

NTSTATUS follow_start(struct vidmm_device *device);
/* Lock held; dropped meanwhile. Everything followed is done. */
void follow_stop(struct vidmm_device *device);
/* Call fn when the GPU work that the device has queued so far is finished: at once if it is, and
 * nothing waits before it. */
void follow_device(struct vidmm_device *device, struct vidmm_follow *follow,
                   void (*fn)(struct vidmm_device *, struct vidmm_follow *));
/* The same always on the follower's fiber; ticket 0: at the next opportunity. Lock held, or no sim
 * point passes meanwhile. */
void follow_after(struct vidmm_device *device, struct vidmm_follow *follow, uint64_t ticket,
                  void (*fn)(struct vidmm_device *, struct vidmm_follow *));
void follow_cancel(struct vidmm_follow *follow);

#endif
