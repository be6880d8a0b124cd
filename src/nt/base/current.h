/* SPDX-License-Identifier: MIT */
/*
 * The current thread and the current process, which every service needs.
 */
#ifndef DXGK_NT_CURRENT_H
#define DXGK_NT_CURRENT_H

#include <stdbool.h>

#include "nt/base/kthread.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "util/list.h"

struct _KTHREAD;
struct nt_process;

/* All threads of a machine, and how a thread that the host created without a KTHREAD gets one. */
struct nt_threads {
    struct list all; /* struct _KTHREAD by link */
    struct _KTHREAD *idle[SIM_MAX_PROCESSORS];
    /* Creates the KTHREAD of such a thread. NULL: out of memory. */
    struct _KTHREAD *(*adopt)(struct sim_thread *sim);
};

/* The KTHREAD of an idle processor, or of a thread that has none yet. */
struct _KTHREAD *nt_thread_found(struct sim_thread *sim);

static inline struct _KTHREAD *nt_thread_of(struct sim_thread *sim)
{
    struct _KTHREAD *thread = *sim_thread_local(sim);

    return __builtin_expect(thread != NULL, 1) ? thread : nt_thread_found(sim);
}

/* The current thread, never NULL; on an idle processor, the thread for its interrupts and DPCs. */
static inline struct _KTHREAD *nt_thread(void)
{
    struct _KTHREAD *thread = sim_current->head->local;

    return __builtin_expect(thread != NULL, 1) ? thread : nt_thread_found(sim_current->thread);
}

/* The KTHREAD of the current thread, or of an idle processor. A thread that has not called a
 * service yet has none and counts as the idle one; when it gets one, sim_notify_switch is
 * called. */
void *nt_kthread(void);
void *nt_idle_kthread(unsigned processor);

/* The process of the current thread; the system process for kernel threads and idle processors. */
struct nt_process *nt_process_current(void);
struct nt_process *nt_process_system(void);

#endif
