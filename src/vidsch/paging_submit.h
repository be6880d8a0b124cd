/* SPDX-License-Identifier: MIT */
/* Submitting filled paging buffers, as packets of the system context. */
#ifndef DXGK_VIDSCH_PAGING_SUBMIT_H
#define DXGK_VIDSCH_PAGING_SUBMIT_H

#include "vidsch/vidsch.h"

struct vidmm_paging_buffer;

/* An empty submission is not queued, but has a ticket like the others. */
NTSTATUS vidsch_paging_submit(struct vidsch *vidsch, struct vidmm_paging_buffer *buffer,
                              uint64_t *ticket);
/* Block until the ticket has completed (yields). */
NTSTATUS vidsch_paging_wait(struct vidsch *vidsch, uint64_t ticket);
/* An adapter reset: discard all paging work; those who wait for it continue. */
void vidsch_paging_abandon(struct vidsch *vidsch);

#endif
