/* SPDX-License-Identifier: MIT */
/*
 * Detection of a state in which every thread waits and nothing can end that (THREAD-072). For lock
 * orders that could lead to it see lock_order.c; for cycles of spin locks, spin_deadlock.c.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "nt/ke/deadlock.h"
#include "nt/base/current.h"
#include "nt/base/kthread.h"
#include "nt/base/memory.h"
#include "nt/base/nt_assert.h"
#include "nt/base/state.h"
#include "nt/ke/dispatcher.h"
#include "nt/ke/wait.h"
#include "nt/ke/wait_report.h"
#include "sim/machine.h"
#include "sim/stack.h"
#include "sim/thread.h"
#include "util/list.h"
#include "verify/verify.h"

/* The kernel routine that the thread is in, such as "KeWaitForSingleObject"; NULL: none. */
static const char *routine_in(const uintptr_t *pc, size_t count)
{
    Dl_info info;

    for (size_t i = 0; i < count; i++) {
        if (dladdr((void *)pc[i], &info) && info.dli_sname &&
            nt_state()->find_routine(info.dli_sname)) // NOLINT
            return info.dli_sname;
    }
    return NULL;
}

static const char *noun_of(const DISPATCHER_HEADER *header)
{
    switch (header->Type) {
    case NT_EVENT_NOTIFICATION:
    case NT_EVENT_SYNCHRONIZATION:
        return "event";
    case NT_MUTANT:
        return "mutex";
    case NT_SEMAPHORE:
        return "semaphore";
    case NT_THREAD:
        return "thread";
    case NT_TIMER_NOTIFICATION:
    case NT_TIMER_SYNCHRONIZATION:
        return "timer";
    default:
        return "object";
    }
}

static const char *name_of(const struct _KTHREAD *thread)
{
    return thread && thread->sim ? sim_thread_name(thread->sim) : "idle";
}

/* The owner of the object that a thread waits for; NULL: it has none, or none is known. */
static const struct _KTHREAD *owner_of(const void *object)
{
    const DISPATCHER_HEADER *header = object;

    if (header->Type == NT_MUTANT)
        return ((const KMUTANT *)object)->OwnerThread;
    LIST_FOR(node, &nt_state()->threads->all) {
        const struct _KTHREAD *thread = CONTAINER(node, struct _KTHREAD, link);

        for (uint32_t i = 0; i < thread->held_count; i++) {
            const FAST_MUTEX *mutex = (const FAST_MUTEX *)(const void *)thread->held[i];

            if ((const void *)&mutex->Event == object)
                return thread;
        }
    }
    return NULL;
}

static void describe_object(struct nt_wait_report *report, const void *object, char *text,
                            size_t bytes)
{
    const DISPATCHER_HEADER *header = object;
    const struct _KTHREAD *owner;

    if (nt_memory_of(object) == NT_MEMORY_FREED) {
        snprintf(text, bytes, "an object in freed pool");
        return;
    }
    owner = owner_of(object);
    if (header->Type == NT_THREAD)
        snprintf(text, bytes, "the end of thread %s",
                 name_of(CONTAINER(header, struct _KTHREAD, header)));
    else
        snprintf(text, bytes, "%s %u%s%s",
                 owner && header->Type != NT_MUTANT ? "lock" : noun_of(header),
                 nt_wait_report_number(report, object), owner ? ", held by " : "",
                 owner ? name_of(owner) : "");
}

/* Describe one waiting thread; false: no driver is involved. */
static bool describe_thread(struct nt_wait_report *report, struct sim_thread *sim, char *summary,
                            size_t bytes)
{
    const struct _KTHREAD *thread = *sim_thread_local(sim);
    char stack[512], object[128] = "something of the host";
    uintptr_t pc[NT_WAIT_REPORT_DEPTH];
    size_t count = sim_thread_stack(sim, pc, NT_WAIT_REPORT_DEPTH);
    const char *routine = routine_in(pc, count);

    if (!nt_wait_report_stack(pc, count, stack, sizeof(stack)))
        return false;
    if (thread && thread->wait->count)
        describe_object(report, (const void *)thread->wait->block[0].address, object, // NOLINT
                        sizeof(object));
    nt_wait_report_line("thread %s waits for %s%s%s%s", sim_thread_name(sim), object,
                        thread && thread->wait->count > 1 ? " and others" : "",
                        routine ? ", in " : "", routine ? routine : "");
    nt_wait_report_line("    %s", stack);
    for (uint32_t i = 0; thread && i < thread->held_count; i++)
        nt_wait_report_line(
            "    holds lock %u",
            nt_wait_report_number(report,
                                  &((const FAST_MUTEX *)(const void *)thread->held[i])->Event));
    stack[strcspn(stack, "<")] = '\0';
    snprintf(summary, bytes, "%.20s waits for %.40s at %.70s", sim_thread_name(sim), object, stack);
    return true;
}

/* `chief` gets the most informative wait. True: a thread that does not belong to the driver waits
 * inside a driver. The driver's own threads may wait for work legitimately. */
static bool describe_all(char *chief, size_t bytes)
{
    char summary[160];
    struct nt_wait_report report = {.objects = 0};
    bool found = false;

    for (struct sim_thread *sim = sim_thread_after(NULL); sim; sim = sim_thread_after(sim)) {
        const struct _KTHREAD *thread = *sim_thread_local(sim);

        if ((!sim_thread_blocked(sim) && sim != sim_current->thread) ||
            !describe_thread(&report, sim, summary, sizeof(summary)))
            continue;
        if (!found || !(thread && thread->system))
            snprintf(chief, bytes, "%s", summary);
        found |= !(thread && thread->system);
    }
    return found;
}

void nt_deadlock_describe(void)
{
    char chief[160];

    (void)describe_all(chief, sizeof(chief));
}

void nt_deadlock_report(void)
{
    char chief[160] = "no driver has to do with it";

    nt_assert_between_runs();
    if (describe_all(chief, sizeof(chief)))
        VIOLATION("THREAD-072", "nothing can happen any more: %s", chief);
    else
        NOTE("THREAD-072", "nothing can happen any more: %s", chief);
}
