/* SPDX-License-Identifier: MIT */
/*
 * Which contexts the worker may take a packet from. A context whose head is work for the GPU is on
 * the ready list of its node, at its level; or it is parked with its device while memory that the
 * device needs is missing, or while its process is suspended.
 *
 * Among equals one context holds the level: it is first whenever it is ready, until its packets
 * have run for a quantum, or another one was taken while it had nothing (SUBMIT-019). A context
 * that is ahead of the others of its process (priority.h) takes their turns, and they get its own.
 *
 * Level up to DISPATCH_LEVEL.
 */
#ifndef DXGK_VIDSCH_READY_H
#define DXGK_VIDSCH_READY_H

#include <stdint.h>

struct vidsch_context;
struct vidsch_device;
struct vidsch_node;

/* The head of its queue is work for the GPU: put it on a ready list, or park it. */
void vidsch_ready_add(struct vidsch_context *context);
/* Take it off the ready list, or the list where it is parked. The caller sets the new state. */
void vidsch_ready_remove(struct vidsch_context *context);
/* Who is served next of a level that has somebody. */
struct vidsch_context *vidsch_ready_first(const struct vidsch_node *node, uint32_t level);
/* Take a context that is to be served off its ready list. */
void vidsch_ready_take(struct vidsch_context *context);
/* A packet of it was taken: it holds its level from now on. */
void vidsch_ready_hold(struct vidsch_context *context);
/* Its oldest packet on the node ran for so long, and runs no more. */
void vidsch_ready_charge(struct vidsch_context *context, uint64_t ns);
/* Before one is taken: what runs now may have used up its context's quantum. */
void vidsch_ready_expire(struct vidsch_node *node);
/* It will be at another level, or be no more. */
void vidsch_ready_release(struct vidsch_context *context);
/* Make the parked contexts of the device ready, unless something still keeps them parked. */
void vidsch_ready_unpark(struct vidsch_device *device);

#endif
