/* SPDX-License-Identifier: MIT */
/* Saving and restoring memory when the adapter is reset, or loses power for a while. */
#ifndef DXGK_VIDMM_RESET_H
#define DXGK_VIDMM_RESET_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct vidmm;

/* Before DxgkDdiResetFromTimeout: clients cannot reach video memory through their views any more
 * (TDR-048). Without the lock, which a thread that may not enter the driver now can have. */
void vidmm_reset_begin(struct vidmm *vidmm);
/* After DxgkDdiResetFromTimeout: the content of video memory is lost. vidmm_reset_cleanup tells the
 * driver (zero-size TRANSFER, UNMAP_APERTURE_SEGMENT) and marks the content as lost;
 * vidmm_reset_restore writes the page tables again after the restart. */
void vidmm_reset_cleanup(struct vidmm *vidmm);
NTSTATUS vidmm_reset_restore(struct vidmm *vidmm);
/* A paging packet has ended without being carried out: page tables are not what they were asked to
 * be, until they are written anew. At any level, without the lock. */
void vidmm_tables_lost(struct vidmm *vidmm);

/* Before video memory loses its content for a while, or the driver may overwrite it: evict every
 * allocation in a segment to system memory, except those wholly in the first kept_bytes[n] bytes of
 * segment n + 1 (NULL: no exception). Until vidmm_return nothing is brought in or submitted, and
 * the scheduler holds clients' work back (vidsch_hold_clients). On failure operation continues as
 * before, though allocations may have moved. `losing_power`: submit the paging buffers without
 * device and context (PAGE-019). */
NTSTATUS vidmm_evacuate(struct vidmm *vidmm, const uint64_t *kept_bytes, bool losing_power);
NTSTATUS vidmm_return(struct vidmm *vidmm);
/* True between the two. Also false after a reset of the adapter that happened meanwhile. */
bool vidmm_is_evacuated(const struct vidmm *vidmm);

#endif
