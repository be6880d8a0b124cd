/* SPDX-License-Identifier: MIT */
/*
 * The worker: the one thread that gives packets to the driver. Its functions may yield only where
 * they call the driver or vidmm; `busy_node` and `busy_context` tell the others what it has in hand
 * meanwhile.
 */
#ifndef DXGK_VIDSCH_WORKER_H
#define DXGK_VIDSCH_WORKER_H

#include "sim/wait.h"

struct vidsch_context;
struct vidsch_node;

struct vidsch_worker {
    struct sim_thread *thread;
    struct sim_waitq wait;
    bool idle; /* it sleeps, or is about to */
    bool end;  /* it shall end */
    bool ended;
    uint64_t kicked;                     /* bit n: node n may have something to do */
    struct list lost;                    /* devices whose queued work it has to cancel */
    struct vidsch_context *busy_context; /* it has a packet of this context in hand */
    struct vidsch_node *busy_node; /* it is inside the driver, or about to be, for this node */
};

void vidsch_worker_main(void *arg);

#endif
