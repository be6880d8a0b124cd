/* SPDX-License-Identifier: MIT */
/* Which threads are inside the driver of one adapter: the door asks here before a call enters, and
 * tells here when it has left. */
#ifndef DXGK_DDI_EXCLUSION_H
#define DXGK_DDI_EXCLUSION_H

#include <stdint.h>

#include "ddi/ddi.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/list.h"

struct ddi_record;

#define DDI_CLASSES 5u /* LEVEL_SCHEDULER .. LEVEL_POINTER */

/* Which threads are inside the driver of one adapter. */
struct ddi_locks {
    struct sim_mutex class_lock[DDI_CLASSES];
    /* calls in progress on threads, by struct ddi_record.link; for reports */
    struct list calls;
    uint32_t inside; /* how many of them are of level 0 or 1 */
    /* the thread that is alone: by a level 2 or 3 call, or by an exclusion */
    struct sim_thread *alone;
    uint32_t alone_depth;
    struct list seekers; /* threads that wait to be alone, in order of arrival */
    /* threads that wait for `alone` to end, or for a call about the same child */
    struct sim_waitq waiting;
};

/* Wait until the call may enter; and undo that. Only for threads below DISPATCH_LEVEL. */
NTSTATUS ddi_lock(struct ddi_record *call);
void ddi_unlock(struct ddi_record *call);

#endif
