/* SPDX-License-Identifier: MIT */
/* Standstill of an adapter, of its clients, or of one process. Public: vidsch_suspend and its like
 * in vidsch.h. */
#ifndef DXGK_VIDSCH_SUSPEND_H
#define DXGK_VIDSCH_SUSPEND_H

#include "vidsch/vidsch.h"

struct vidmm_process;

struct vidsch_suspension { /* each counts those who asked for it */
    uint32_t all;          /* vidsch_suspend */
    uint32_t clients;      /* vidsch_hold_clients */
};

/* Nothing more of the process is given to the driver. Waits until nothing of it is there (yields).
 */
NTSTATUS vidsch_suspend_process(struct vidmm_process *mm);
void vidsch_resume_process(struct vidmm_process *mm);

#endif
