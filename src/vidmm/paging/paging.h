/* SPDX-License-Identifier: MIT */
/*
 * Building paging operations, and deferring callbacks until the GPU has executed them. Lock held
 * unless said otherwise.
 *
 * Only one fiber at a time may append operations ("builder's fiber" in other headers): the paging
 * worker, inside a job; before the worker exists and after it has ended, the thread that starts or
 * stops the adapter. This concerns paging_build and everything that calls it: placement_*,
 * scratch_*, space_* that change entries, and segment_take_pinned where it evicts.
 * paging_assert_builder checks it. Theory of operation in paging.c.
 */
#ifndef DXGK_VIDMM_PAGING_H
#define DXGK_VIDMM_PAGING_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct paging_deferred;
struct paging_subject; /* dxgkrnl_events.h */
struct vidmm;
struct vidmm_paging_buffer;

/* Append one operation to the paging buffer under construction: calls DxgkDdiBuildPagingBuffer with
 * the multipass protocol (PAGE rules), and submits buffers that become full. The caller sets
 * Operation and its union member in `op`; the members that describe the buffer are set here.
 * `subject` is for events; NULL: the operation is about no allocation. */
NTSTATUS paging_build(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *op,
                      const struct paging_subject *subject);
/* Append one operation to a buffer for another context than the system's, once: the driver's
 * answer, which may be STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER after some progress; then
 * MultipassOffset of `op` says how far it came. */
NTSTATUS paging_build_beside(struct vidmm *vidmm, struct vidmm_paging_buffer *buffer, HANDLE context,
                             DXGKARG_BUILDPAGINGBUFFER *op, const struct paging_subject *subject);
/* Execute one operation immediately, without a buffer (pDmaBuffer NULL, CPU_VIRTUAL), while the
 * paging process is set up. */
NTSTATUS paging_build_immediate(struct vidmm *vidmm, DXGKARG_BUILDPAGINGBUFFER *op,
                                const struct paging_subject *subject);
/* Submit the buffer under construction. *ticket completes when all operations built so far are done
 * (if nothing was pending, it is the last ticket). */
NTSTATUS paging_flush(struct vidmm *vidmm, uint64_t *ticket);
/* The ticket by which all operations built so far will be complete; and whether a
 * ticket is complete. */
uint64_t paging_ticket_now(const struct vidmm *vidmm);
bool paging_ticket_done(const struct vidmm *vidmm, uint64_t ticket);
/* Run the callbacks deferred up to a ticket that is complete. */
void paging_retire(struct vidmm *vidmm, uint64_t ticket);
/* Run those whose ticket is done already. A ticket may be done before the retire fiber has had its
 * turn: whoever concludes from a ticket that memory is no longer used calls this first. */
void paging_catch_up(struct vidmm *vidmm);
/* Run `deferred` when all operations built so far are done; immediately if none is
 * pending. Cannot fail. */
void paging_defer(struct vidmm *vidmm, struct paging_deferred *deferred);
/* Flush, wait until the GPU is done (the lock stays held), and run the deferred callbacks. On the
 * builder's fiber only. */
NTSTATUS paging_settle(struct vidmm *vidmm);
/* Wait for a ticket; drops and retakes the lock. Not allowed inside a job. */
NTSTATUS paging_wait_unlocked(struct vidmm *vidmm, uint64_t ticket);

#endif
