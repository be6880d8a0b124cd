/* SPDX-License-Identifier: MIT */
/* Suspending the submission of an adapter, of its clients, or of one process. Public functions:
 * vidsch_suspend and its like in vidsch.h. */
#ifndef DXGK_VIDSCH_SUSPEND_H
#define DXGK_VIDSCH_SUSPEND_H

#include "vidsch/vidsch.h"

struct vidmm_process;

struct vidsch_suspension { /* counts of requests in force */
    uint32_t all;          /* vidsch_suspend */
    uint32_t clients;      /* vidsch_hold_clients */
};

/* Stop submitting packets of the process, and wait until none is in flight (yields). */
NTSTATUS vidsch_suspend_process(struct vidmm_process *mm);
void vidsch_resume_process(struct vidmm_process *mm);

#endif
