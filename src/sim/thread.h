/* SPDX-License-Identifier: MIT */
/* Threads: fibers with a name, a kind and a lifetime of their own. How they wait is in wait.h. */
#ifndef DXGK_SIM_THREAD_H
#define DXGK_SIM_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct sim_thread;

/* What a sim_thread begins with, and an idle processor has too: what is looked up in each call. The
 * first two are the upper rooms'. */
struct sim_thread_head {
    void *local;   /* of the room that made the thread (nt: its KTHREAD) */
    void *process; /* that it runs for */
    void *records; /* memory beside the stack (sim_stack_records) */
};

enum sim_thread_kind {
    SIM_THREAD_KERNEL, /* driver and host threads: never run again after sim_stop */
    SIM_THREAD_CLIENT, /* client programs: survive sim_stop */
};

typedef void (*sim_entry)(void *arg);

/* A new thread, ready to run at PASSIVE. `name` is copied. NULL when out of memory. */
struct sim_thread *sim_thread_create(const char *name, enum sim_thread_kind kind, sim_entry entry,
                                     void *arg);
/* Ends the current thread, as does a return from its entry. Its sim_thread stays valid until the
 * last release. */
_Noreturn void sim_thread_exit(void);
void sim_thread_retain(struct sim_thread *thread);
void sim_thread_release(struct sim_thread *thread); /* the creator holds one reference */
bool sim_thread_ended(const struct sim_thread *thread);
/* Small numbers in order of creation, from 1: stable names for traces and reports. */
uint32_t sim_thread_id(const struct sim_thread *thread);
const char *sim_thread_name(const struct sim_thread *thread);
enum sim_thread_kind sim_thread_kind(const struct sim_thread *thread);
static inline void **sim_thread_local(struct sim_thread *thread)
{
    return &((struct sim_thread_head *)thread)->local;
}

static inline void **sim_thread_process(struct sim_thread *thread)
{
    return &((struct sim_thread_head *)thread)->process;
}

struct sim_thread_head *sim_idle_head(unsigned processor);

/* Walk in order of creation: NULL gives the first thread, and the last one gives NULL. */
struct sim_thread *sim_thread_after(const struct sim_thread *thread);
bool sim_thread_blocked(const struct sim_thread *thread);
/* fn is called on the stack of the ending thread, as the last thing. */
void sim_thread_on_exit(struct sim_thread *thread, void (*fn)(void *arg), void *arg);

#endif
