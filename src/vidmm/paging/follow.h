/* SPDX-License-Identifier: MIT */
/*
 * Callbacks that run when the GPU has finished work of a device. Each device has a fiber, the
 * follower, that waits for the device's packets in order and calls them. Lock held.
 */
#ifndef DXGK_VIDMM_FOLLOW_H
#define DXGK_VIDMM_FOLLOW_H

#include <ntddk.h>

struct vidmm_follow;
struct vidmm_device;

NTSTATUS follow_start(struct vidmm_device *device);
/* End the fiber, when all callbacks have run. Lock held; dropped meanwhile. */
void follow_stop(struct vidmm_device *device);
/* Call fn when the GPU has finished the work that the device has queued so far. If it already has,
 * and no other callback waits, fn is called before this returns. */
void follow_device(struct vidmm_device *device, struct vidmm_follow *follow,
                   void (*fn)(struct vidmm_device *, struct vidmm_follow *));
/* Call fn when the GPU has finished the work up to `ticket`; always on the follower's fiber. Ticket
 * 0: as soon as possible. Lock held, or no sim point passes meanwhile. */
void follow_after(struct vidmm_device *device, struct vidmm_follow *follow, uint64_t ticket,
                  void (*fn)(struct vidmm_device *, struct vidmm_follow *));
void follow_cancel(struct vidmm_follow *follow);

#endif
