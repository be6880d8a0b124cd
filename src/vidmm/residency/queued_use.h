/* SPDX-License-Identifier: MIT */
/* Allocations that queued work of the host uses, whatever their residency lists say: they do not
 * leave their place (GPUVA-141). Lock held. */
#ifndef DXGK_VIDMM_QUEUED_USE_H
#define DXGK_VIDMM_QUEUED_USE_H

struct vidmm_allocation;

/* Each use keeps the record, too. */
void queued_use_begin(struct vidmm_allocation *allocation);
void queued_use_end(struct vidmm_allocation *allocation);

#endif
