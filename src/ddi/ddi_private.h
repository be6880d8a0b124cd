/* SPDX-License-Identifier: MIT */
/* What the files of ddi share. */
#ifndef DXGK_DDI_PRIVATE_H
#define DXGK_DDI_PRIVATE_H

#include "ddi/ddi.h"

/* How an entry is entered. */
enum ddi_level {
    LEVEL_ZERO,      /* reentrant, one thread of a user process */
    LEVEL_SCHEDULER, /* level one, GPU scheduler class */
    LEVEL_VIDMM,     /* level one, VidMm class (THREAD-021) */
    LEVEL_ROOT,      /* level one, SetRootPageTable alone (THREAD-021) */
    LEVEL_ALONE,     /* levels two and three */
    LEVEL_NONE,      /* interrupts, deferred calls, debug information: beside everything */
};

#define DDI_CLASSES 3u

struct ddi_locks {
    struct sim_mutex class_lock[DDI_CLASSES]; /* scheduler, vidmm, root */
    uint32_t inside;                          /* calls of levels zero and one in progress */
    struct sim_thread *alone;                 /* holder of level two or three, or of an exclusion */
    uint32_t alone_depth;
    struct sim_waitq waiting;                 /* for `alone` to end, or `inside` to become 0 */
};

struct ddi_call {
    struct ddi_frame frame;
    enum ddi_level level;
    uint8_t irql;         /* to call at */
    uint8_t irql_before;
    uint64_t deadline;    /* to restore */
    struct nt_image *image;
    bool nested;          /* an outer call of this stack is already inside the driver */
    bool locked;          /* holds the class mutex */
};

/* `limit`: virtual ns the call may take. */
NTSTATUS ddi_enter(struct ddi_call *call, struct ddi_adapter *adapter, const char *name, enum ddi_level level,
                   uint8_t irql, uint64_t limit);
void ddi_leave(struct ddi_call *call);

#endif
