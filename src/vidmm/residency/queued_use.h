/* SPDX-License-Identifier: MIT */
/* Allocations that batches of updates refer to, whatever their residency lists say (GPUVA-141).
 * Each use keeps the record, too. Lock held. */
#ifndef DXGK_VIDMM_QUEUED_USE_H
#define DXGK_VIDMM_QUEUED_USE_H

struct vidmm_allocation;

/* A batch waits. What the client evicts stays until the batch is over, unless others need its
 * memory. */
void queued_use_begin(struct vidmm_allocation *allocation);
void queued_use_end(struct vidmm_allocation *allocation);
/* The GPU copies entries that map it: meanwhile it does not leave its place, and is not
 * destroyed. */
void copied_use_begin(struct vidmm_allocation *allocation);
void copied_use_end(struct vidmm_allocation *allocation);

#endif
