/* SPDX-License-Identifier: MIT */
/* Runs: client processes of a machine, and work that the host has done on a kernel thread. */
#ifndef DXGK_HOST_RUN_H
#define DXGK_HOST_RUN_H

#include <stdbool.h>

#include "dxgkhost/dxgkhost.h"
#include "util/list.h"

struct host_process {
    struct list link;
    struct nt_process *nt;
    struct list pages; /* client_pages.c */
    bool ended;        /* kmt is done with it; goes when its last thread has gone */
};

/* Run fn(arg) on a kernel thread of the system process until it is done. */
enum dxgk_result host_run_kernel(struct dxgk_machine *machine, const char *name,
                                 void (*fn)(void *arg), void *arg);
/* The machine of the client whose thread this is; NULL: it is none, or one inside a call. */
struct dxgk_machine *host_run_client_machine(void);
/* End the processes that clients left, on a kernel thread; count them. */
void host_run_end_processes(struct dxgk_machine *machine);
/* Free what is left of processes that have ended. */
void host_run_reap_processes(struct dxgk_machine *machine);

#endif
