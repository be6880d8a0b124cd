/* SPDX-License-Identifier: MIT */
/* Who is inside the driver of one adapter: the door asks before a call goes in, and tells when it
 * is out. */
#ifndef DXGK_DDI_EXCLUSION_H
#define DXGK_DDI_EXCLUSION_H

#include <stdint.h>

#include "ddi/ddi.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/list.h"

struct ddi_call;

#define DDI_CLASSES 3u /* LEVEL_SCHEDULER .. LEVEL_ROOT */

/* Who is inside the driver of one adapter. */
struct ddi_locks {
    struct sim_mutex class_lock[DDI_CLASSES];
    struct list calls;        /* struct ddi_call.link: in progress on threads, for reports */
    uint32_t inside;          /* of these, levels zero and one */
    struct sim_thread *alone; /* holder of level two or three, or of an exclusion */
    uint32_t alone_depth;
    struct list seekers;      /* who waits to be alone, in order of arrival */
    struct sim_waitq waiting; /* for `alone` to end, or for a call about the same child */
};

/* Wait until the call may go in; and undo it. Only for threads below DISPATCH_LEVEL. */
NTSTATUS ddi_lock(struct ddi_call *call);
void ddi_unlock(struct ddi_call *call);

#endif
