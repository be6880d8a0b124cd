/* SPDX-License-Identifier: MIT */
/*
 * Building paging operations, and what is put off until the GPU has carried them out. Lock held
 * unless said otherwise.
 *
 * Who builds: operations are appended (paging_build and everything that calls it: placement_*,
 * scratch_*, space_* that touch entries, segment_take_pinned where it evicts) by one fiber at a
 * time, the paging worker, inside a job; before the worker exists and after it has ended, by the
 * thread that starts or stops the adapter. paging_assert_builder checks it. Theory of operation in
 * paging.c.
 */
#ifndef DXGK_VIDMM_PAGING_H
#define DXGK_VIDMM_PAGING_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct paging_deferred;
struct vidmm;

/* Append one operation to the paging buffer under construction: DxgkDdiBuildPagingBuffer with the
 * multipass protocol (PAGE rules); full buffers are submitted on the way. `op` comes with Operation
 * and its union member filled; buffer members are filled here. */
NTSTATUS paging_build(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *op);
/* The same at once, without a buffer (pDmaBuffer NULL, CPU_VIRTUAL), for the set-up of the paging
 * process. */
NTSTATUS paging_build_immediate(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *op);
/* Submit what is under construction; *ticket: completes when all of it is done (the last ticket if
 * nothing is pending). */
NTSTATUS paging_flush(struct vidmm *vidmm, uint64_t *ticket);
/* The ticket that operations built so far will complete with at the latest; and whether one is
 * complete. */
uint64_t paging_ticket_now(const struct vidmm *vidmm);
bool paging_ticket_done(const struct vidmm *vidmm, uint64_t ticket);
/* Run what was deferred up to a ticket, which is complete. */
void paging_retire(struct vidmm *vidmm, uint64_t ticket);
/* Have `deferred` run when all operations built so far are done; at once if none is pending. Never
 * fails. */
void paging_defer(struct vidmm *vidmm, struct paging_deferred *deferred);
/* Flush, wait until the GPU has done it all (the lock stays held) and run what was deferred. On the
 * builder's fiber only. */
NTSTATUS paging_settle(struct vidmm *vidmm);
/* Wait for a ticket; drops and retakes the lock. Not inside a job. */
NTSTATUS paging_wait_unlocked(struct vidmm *vidmm, uint64_t ticket);

#endif
