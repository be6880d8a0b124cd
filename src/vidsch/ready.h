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

/* The head of its queue is work for the GPU: put it on a ready list, or park it. */
void vidsch_ready_add(struct vidsch_context *context);
/* Take it off the ready list, or the list where it is parked. The caller sets the new state. */
void vidsch_ready_remove(struct vidsch_context *context);
/* Make the parked contexts of the device ready, unless something still keeps them parked. */
void vidsch_ready_unpark(struct vidsch_device *device);

#endif
