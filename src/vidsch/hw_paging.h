/* SPDX-License-Identifier: MIT */
/*
 * Paging on a hardware-scheduled node: the system context owns a hardware queue, to which the
 * paging buffers go. Its progress fence is the paging fence of vidmm, which the driver is asked to
 * write at the end of each submission, or writes by itself (SUBMIT-117).
 */
#ifndef DXGK_VIDSCH_HW_PAGING_H
#define DXGK_VIDSCH_HW_PAGING_H

#include "vidsch/vidsch.h"

/* Make the queue, before anything is paged (yields). Nothing on another node. */
NTSTATUS vidsch_hw_paging_begin(struct vidsch *vidsch);

#endif
