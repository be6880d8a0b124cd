/* SPDX-License-Identifier: MIT */
/* The scheduler's record of a thread; upper rooms use thread.h. */
#ifndef DXGK_SIM_THREAD_RECORD_H
#define DXGK_SIM_THREAD_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/event.h"
#include "sim/fiber.h"
#include "sim/mark.h"
#include "sim/thread.h"
#include "util/list.h"

struct race_task;
struct sim_core;

enum thread_state { THREAD_READY, THREAD_RUNNING, THREAD_BLOCKED, THREAD_ENDED };

struct sim_thread {
    struct sim_thread_head head; /* first */
    struct fiber fiber;
    struct list link; /* ready queue, or the list of ended threads to reap */
    struct list all;
    struct list wait; /* in a sim_waitq */
    enum thread_state state;
    bool started; /* its entry was called */
    enum sim_thread_kind kind;
    uint32_t id;
    uint32_t references;
    char name[32];
    sim_entry entry;
    void *arg;
    void (*on_exit)(void *arg);
    void *on_exit_arg;
    struct sim_event timeout;
    bool timed_out;
    bool guarded; /* `timeout` is armed for the limit of the call into a driver */
    intptr_t result;
    struct sim_mark *mark; /* innermost mark; each links to the next outer one */
    struct sim_mark *outermost;
    bool abandoned;  /* its stack was overwritten; lists may lead there, so it is kept */
    void *jump[5];   /* of the outermost mark */
    uint8_t irql;    /* saved while not running: PASSIVE or APC */
    uint16_t inside; /* saved while not running */
    uint64_t deadline;
    struct sim_frame *frame;
    struct refusal *refusal; /* saved while not running */
    struct race_task *task;  /* of the detector of races; NULL: none */
};

/* thread.c: free the stacks of threads that have ended; must not be called on such a stack. */
void sim_reap(struct sim_core *core);

#endif
