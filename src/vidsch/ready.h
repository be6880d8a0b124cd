/* SPDX-License-Identifier: MIT */
/*
 * Which contexts the worker may take a packet from. A context whose head is work for the GPU is on
 * the ready list of its node, at its level; or it is parked with its device while memory that the
 * device needs is missing, or while its process is suspended.
 *
 * Level up to DISPATCH_LEVEL.
 */
#ifndef DXGK_VIDSCH_READY_H
#define DXGK_VIDSCH_READY_H

struct vidsch_context;
struct vidsch_device;

/* Its head is work: ready, or parked. */
void vidsch_ready_add(struct vidsch_context *context);
/* Off the ready list or the list where it is parked; the caller sets the new state. */
void vidsch_ready_remove(struct vidsch_context *context);
/* What kept the contexts of the device parked may be over. */
void vidsch_ready_unpark(struct vidsch_device *device);

#endif
