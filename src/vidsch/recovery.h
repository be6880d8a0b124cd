/* SPDX-License-Identifier: MIT */
/*
 * Recovery of engines and of the adapter: requests for it, and its thread; see recovery_thread.c.
 */
#ifndef DXGK_VIDSCH_RECOVERY_H
#define DXGK_VIDSCH_RECOVERY_H

#include "vidsch/node.h"

#include "sim/wait.h"

struct vidsch_recovery {
    struct sim_thread *thread;
    struct sim_waitq wait;
    bool idle; /* it sleeps, or is about to */
    bool end;  /* asked to exit */
    bool ended;
    /* reset of the adapter */
    bool adapter_wanted;
    enum recover_cause adapter_cause; /* why it is wanted */
    UINT source;                      /* for a flip of which source */
    char promoted[128];               /* why no engine was reset instead; "": nobody tried */
    bool resetting;                   /* in progress: nothing is submitted */
    bool silent; /* and DxgkDdiResetFromTimeout has returned: the device does nothing (TDR-046) */
    bool restoring;        /* after it, until memory is restored: only paging runs */
    bool restore_hangs;    /* and a node hung meanwhile, which the worker must report (TDR-086) */
    uint64_t *reset_times; /* times of the last resets, a ring of tdr.limit_count */
    uint32_t reset_count;
    uint32_t barren; /* resets since a packet of any node was completed */
};

/* Ask for a reset; the recovery thread carries it out. Of an engine: any level, since a time that
 * has passed may be noticed in the middle of an interrupt routine; of the adapter: up to
 * DISPATCH_LEVEL. */
void vidsch_recovery_want_engine(struct vidsch_node *node, enum recover_cause cause);
void vidsch_recovery_want_adapter(struct vidsch *vidsch, enum recover_cause cause);
/* Is a reset of the adapter wanted or in progress, or its memory not restored yet? */
bool vidsch_recovery_of_adapter(const struct vidsch *vidsch);
/* Block until that has ended (TDR-081; yields). */
void vidsch_recovery_await_adapter(struct vidsch *vidsch);

/* Wait until the worker is not inside the driver for the node (NULL: for any node; yields). False:
 * it still was after TdrDdiDelay. */
bool vidsch_recovery_wait_worker(struct vidsch *vidsch, const struct vidsch_node *node);
/* Have the driver collect debug information for the report of the recovery (TDR-066, TDR-069;
 * yields). */
void vidsch_recovery_collect(struct vidsch *vidsch, UINT reason);
void vidsch_recovery_main(void *arg);

#endif
