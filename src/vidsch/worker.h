/* SPDX-License-Identifier: MIT */
/*
 * The worker: the one thread that submits packets to the driver. It yields only where it calls the
 * driver or vidmm; `busy_node` and `busy_context` tell other threads what it is working on
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
    bool end;  /* asked to exit */
    bool ended;
    uint64_t kicked;                     /* bit n: node n may have something to do */
    struct list lost;                    /* devices whose queued work it has to cancel (cancel.h) */
    struct vidsch_context *busy_context; /* it is submitting a packet of this context */
    struct vidsch_node *busy_node; /* it is inside the driver, or about to be, for this node */
};

void vidsch_worker_main(void *arg);

#endif
