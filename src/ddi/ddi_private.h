/* SPDX-License-Identifier: MIT */
/* What the files of ddi share. */
#ifndef DXGK_DDI_PRIVATE_H
#define DXGK_DDI_PRIVATE_H

#include "ddi/ddi.h"
#include "nt/driver_call.h"
#include "util/hash.h"

/* How an entry is entered. */
enum ddi_level {
    LEVEL_ZERO,      /* reentrant, one thread of a user process */
    LEVEL_SCHEDULER, /* level one, GPU scheduler class */
    LEVEL_VIDMM,     /* level one, VidMm class (THREAD-021) */
    LEVEL_ROOT,      /* level one, SetRootPageTable alone (THREAD-021) */
    LEVEL_CHILD,     /* level one, child I/O class: one thread per child (THREAD-024) */
    LEVEL_QUERY, /* level zero, also beside SetPowerState and QueryChildRelations (THREAD-032) */
    LEVEL_POWER, /* level zero, also beside ResetFromTimeout (THREAD-033) */
    LEVEL_ALONE, /* levels two and three */
    LEVEL_NONE,  /* interrupts, deferred calls, debug information: beside everything */
};

#define DDI_CLASSES 3u /* LEVEL_SCHEDULER .. LEVEL_ROOT */

struct ddi_call;

/* Who is inside the driver of one adapter (exclusion.c). */
struct ddi_locks {
    struct sim_mutex class_lock[DDI_CLASSES];
    struct list calls;        /* struct ddi_call.link: in progress on threads, for reports */
    uint32_t inside;          /* of these, levels zero and one */
    struct sim_thread *alone; /* holder of level two or three, or of an exclusion */
    uint32_t alone_depth;
    struct list seekers;      /* who waits to be alone, in order of arrival */
    struct sim_waitq waiting; /* for `alone` to end, or for a call about the same child */
};

struct ddi_call {
    struct ddi_frame frame;
    struct list link;
    enum ddi_level level;
    ULONG child; /* LEVEL_CHILD: whom it is about */
    uint8_t irql_before;
    uint64_t deadline;            /* to restore */
    struct nt_image *image;       /* to restore */
    struct nt_call_state state;   /* when the driver was entered */
    struct sim_mutex *class_lock; /* held for this call, or NULL */
};

/* `limit`: virtual ns the call may take. On a failure status the driver must not be called. */
NTSTATUS ddi_enter(struct ddi_call *call, struct ddi_adapter *adapter, const char *name,
                   enum ddi_level level, uint8_t irql, uint64_t limit);
NTSTATUS ddi_enter_child(struct ddi_call *call, struct ddi_adapter *adapter, const char *name,
                         ULONG child);
void ddi_leave(struct ddi_call *call);

/* exclusion.c: wait until the call may go in; and undo it. Only for threads below DISPATCH_LEVEL. */
NTSTATUS ddi_lock(struct ddi_call *call);
void ddi_unlock(struct ddi_call *call);

/* Of the current machine (place.c); NULL before ddi_install. */
struct ddi_state {
    struct ddi_hooks hooks;
    bool in_bugcheck;
    const struct sim_fault *fault; /* being reported, so that the stack told is the driver's; NULL: none */
    struct hash_map tracks;        /* thread id -> row of the trace */
    struct list loans;
};

static inline struct ddi_state *ddi_state(void)
{
    return sim_current ? sim_current->room[SIM_ROOM_DDI] : NULL;
}

/* place.c: the row of the trace on which a call on the current stack is drawn. */
trace_track ddi_track(enum ddi_level level);
/* loan.c: the loan that an address lies in, or NULL. */
const struct ddi_loan *ddi_loan_at(uintptr_t address);

/* ---- typed entries ---- */

#define SECOND      1000000000u
#define LIMIT_SHORT (10ull * SECOND) /* anything that should only compute */
#define LIMIT_LONG  (60ull * SECOND) /* anything that may wait for the GPU */
#define PASSIVE     SIM_IRQL_PASSIVE
#define DISPATCH    SIM_IRQL_DISPATCH

/* The entry returns NTSTATUS. */
#define CALL_STATUS(adapter, entry, level, irql, limit, ...)                 \
    struct ddi_call call;                                                    \
    NTSTATUS status = ddi_enter(&call, adapter, #entry, level, irql, limit); \
                                                                             \
    if (!NT_SUCCESS(status))                                                 \
        return status;                                                       \
    status = (adapter)->table.entry(__VA_ARGS__);                            \
    ddi_leave(&call);                                                        \
    return status

#define CALL_VOID(adapter, entry, level, irql, limit, ...)                  \
    struct ddi_call call;                                                   \
                                                                            \
    if (!NT_SUCCESS(ddi_enter(&call, adapter, #entry, level, irql, limit))) \
        return;                                                             \
    (adapter)->table.entry(__VA_ARGS__);                                    \
    ddi_leave(&call)

#endif
