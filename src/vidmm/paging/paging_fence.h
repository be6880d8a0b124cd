/* SPDX-License-Identifier: MIT */
/*
 * The paging fence: a value in memory that paging buffers write last, if the host is told to have
 * the driver signal it (GPUVA-242, GPUVA-243). It says nothing that the host does not know from the
 * interrupts of the driver; what is found here is whether the driver writes it. Lock held.
 */
#ifndef DXGK_VIDMM_PAGING_FENCE_H
#define DXGK_VIDMM_PAGING_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct vidmm;

/* Is the driver of a version that signals it? */
bool paging_fence_has(const struct vidmm *vidmm);
/* Has anything been written since the last signal that wants one? */
bool paging_fence_due(const struct vidmm *vidmm);
/* The operation that writes the next value. */
void paging_fence_operation(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *op);
/* Ask the driver for it: with the operation, or by its entry for that purpose. */
NTSTATUS paging_fence_call(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *call);
/* The operation is built, and is submitted with that ticket. */
void paging_fence_built(struct vidmm *vidmm, uint64_t ticket);
/* What was submitted up to the ticket is done: check the value. */
void paging_fence_check(struct vidmm *vidmm, uint64_t ticket);
/* What was submitted is dropped. */
void paging_fence_forget(struct vidmm *vidmm);

#endif
