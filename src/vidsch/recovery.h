/* SPDX-License-Identifier: MIT */
/*
 * Recovery of engines and of the adapter: who wants it, and the thread that does it; see
 * recovery_thread.c.
 */
#ifndef DXGK_VIDSCH_RECOVERY_H
#define DXGK_VIDSCH_RECOVERY_H

#include "vidsch/node.h"

#include "sim/wait.h"

struct vidsch_recovery {
    struct sim_thread *thread;
    struct sim_waitq wait;
    bool idle; /* it sleeps, or is about to */
    bool end;  /* it shall end */
    bool ended;
    /* reset of the adapter */
    bool adapter_wanted;
    enum recover_cause adapter_cause; /* of the one that is wanted */
    bool resetting;                   /* in progress: nobody submits */
    bool restoring;                   /* after it: only paging runs */
    uint64_t *reset_times;            /* ring of tdr.limit_count */
    uint32_t reset_count;
};

/* Ask for a reset; it follows on the recovery thread. Level up to DISPATCH_LEVEL. */
void vidsch_recovery_want_engine(struct vidsch_node *node, enum recover_cause cause);
void vidsch_recovery_want_adapter(struct vidsch *vidsch, enum recover_cause cause);
/* A reset of the adapter is wanted or in progress, or its memory is not restored yet. */
bool vidsch_recovery_of_adapter(const struct vidsch *vidsch);
/* Block until that is over (TDR-081; yields). */
void vidsch_recovery_await_adapter(struct vidsch *vidsch);

/* Wait until the worker is not inside the driver for the node (NULL: for any; yields). False:
 * TdrDdiDelay went by. */
bool vidsch_recovery_wait_worker(struct vidsch *vidsch, const struct vidsch_node *node);
/* What the driver can say about itself, kept with the record of the recovery (TDR-066, TDR-069;
 * yields). */
void vidsch_recovery_collect(struct vidsch *vidsch, UINT reason);
void vidsch_recovery_main(void *arg);

#endif
