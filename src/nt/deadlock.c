/* SPDX-License-Identifier: MIT */
/*
 * Deadlocks that have happened: every thread waits (THREAD-072), or processors wait for each other's spin locks (THREAD-073).
 * An order of locks that could end so is lock_order.c's.
 *
 * Objects are named by numbers in order of appearance, since addresses differ from run to run.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nt/nt_private.h"
#include "sim/machine.h"
#include "sim/stack.h"
#include "sim/thread.h"

#define DEPTH       48u /* return addresses looked at */
#define SHOWN       6u  /* of these, in drivers, printed */
#define MAX_OBJECTS 64u

struct report {
    const void *object[MAX_OBJECTS];
    unsigned objects;
};

static void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *format, ...)
{
    const struct nt_config *config = &nt_state()->config;
    char text[768];
    va_list arguments;

    if (!config->waits)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    config->waits(config->waits_context, text);
}

static unsigned number_of(struct report *report, const volatile void *object)
{
    for (unsigned i = 0; i < report->objects; i++) {
        if (report->object[i] == object)
            return i + 1;
    }
    if (report->objects < MAX_OBJECTS)
        report->object[report->objects++] = (const void *)object;
    return report->objects;
}

/* ---- stacks ---- */

static bool in_driver(uintptr_t pc, char *text, size_t bytes)
{
    const struct nt_config *config = &nt_state()->config;

    return config->symbolize && config->symbolize(pc, text, bytes);
}

/* "refgpu.so!wait+0x10 < refgpu.so!StopDevice+0x52"; false: no driver is on it. */
static bool join_stack(const uintptr_t *pc, size_t count, char *text, size_t bytes)
{
    unsigned shown = 0;
    size_t length = 0;
    char place[96];

    text[0] = '\0';
    for (size_t i = 0; i < count && shown < SHOWN; i++) {
        if (!in_driver(pc[i], place, sizeof(place)))
            continue;
        length += (size_t)snprintf(text + length, bytes - length, "%s%s", shown ? " < " : "", place);
        shown++;
        if (length >= bytes)
            break;
    }
    return shown != 0;
}

bool nt_driver_place(char *text, size_t bytes)
{
    uintptr_t pc[DEPTH];
    size_t count = sim_processor_stack(sim_current->processor, pc, DEPTH);
    char place[96];

    for (size_t i = 0; i < count; i++) {
        if (in_driver(pc[i], place, sizeof(place))) {
            snprintf(text, bytes, "%s", place);
            return true;
        }
    }
    return false;
}

/* The kernel routine that the thread is in, "KeWaitForSingleObject"; NULL: none. */
static const char *routine_in(const uintptr_t *pc, size_t count)
{
    Dl_info info;

    for (size_t i = 0; i < count; i++) {
        if (dladdr((void *)pc[i], &info) && info.dli_sname &&
            nt_routine_find(info.dli_sname)) // NOLINT
            return info.dli_sname;
    }
    return NULL;
}

/* ---- every thread waits ---- */

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

/* Who holds what a thread waits for; NULL: nobody, or that is not known. */
static const struct _KTHREAD *owner_of(const void *object)
{
    const DISPATCHER_HEADER *header = object;

    if (header->Type == NT_MUTANT)
        return ((const KMUTANT *)object)->OwnerThread;
    LIST_FOR(node, &nt_state()->threads) {
        const struct _KTHREAD *thread = CONTAINER(node, struct _KTHREAD, link);

        for (uint32_t i = 0; i < thread->held_count; i++) {
            const FAST_MUTEX *mutex = (const FAST_MUTEX *)(const void *)thread->held[i];

            if ((const void *)&mutex->Event == object)
                return thread;
        }
    }
    return NULL;
}

static void describe_object(struct report *report, const void *object, char *text, size_t bytes)
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
                 number_of(report, object), owner ? ", held by " : "", owner ? name_of(owner) : "");
}

/* One waiting thread; false: no driver has to do with it. */
static bool describe_thread(struct report *report, struct sim_thread *sim, char *summary,
                            size_t bytes)
{
    const struct _KTHREAD *thread = *sim_thread_local(sim);
    char stack[512], object[128] = "something of the host";
    uintptr_t pc[DEPTH];
    size_t count = sim_thread_stack(sim, pc, DEPTH);
    const char *routine = routine_in(pc, count);

    if (!join_stack(pc, count, stack, sizeof(stack)))
        return false;
    if (thread && thread->wait.count)
        describe_object(report, (const void *)thread->wait.block[0].address, object, // NOLINT
                        sizeof(object));
    line("thread %s waits for %s%s%s%s", sim_thread_name(sim), object,
         thread && thread->wait.count > 1 ? " and others" : "", routine ? ", in " : "",
         routine ? routine : "");
    line("    %s", stack);
    for (uint32_t i = 0; thread && i < thread->held_count; i++)
        line("    holds lock %u",
             number_of(report, &((const FAST_MUTEX *)(const void *)thread->held[i])->Event));
    stack[strcspn(stack, "<")] = '\0';
    snprintf(summary, bytes, "%.20s waits for %.40s at %.70s", sim_thread_name(sim), object, stack);
    return true;
}

/* `chief` gets the one wait that says most. True: somebody waits inside a driver who is not the driver's own thread, which may
 * wait for work quite rightly. */
static bool describe_all(char *chief, size_t bytes)
{
    char summary[160];
    struct report report = {.objects = 0};
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

void nt_waits_describe(void)
{
    char chief[160];

    (void)describe_all(chief, sizeof(chief));
}

void nt_deadlock_report(void)
{
    char chief[160] = "no driver has to do with it";

    if (describe_all(chief, sizeof(chief)))
        VIOLATION("THREAD-072", "nothing can happen any more: %s", chief);
    else
        NOTE("THREAD-072", "nothing can happen any more: %s", chief);
}

/* ---- spin locks ---- */

static void describe_processor(struct report *report, unsigned index, const volatile void *wanted)
{
    const struct nt_processor *processor = &nt_state()->processor[index];
    const struct sim_thread *thread = sim_processor_thread(index);
    char stack[512] = "no driver";
    uintptr_t pc[DEPTH];
    size_t count = sim_processor_stack(index, pc, DEPTH);

    line("processor %u (thread %s) waits for spin lock %u", index,
         thread ? sim_thread_name(thread) : "idle", number_of(report, wanted));
    join_stack(pc, count, stack, sizeof(stack));
    line("    %s", stack);
    for (uint32_t i = 0; i < processor->held_count; i++)
        line("    holds spin lock %u", number_of(report, processor->held[i].lock));
}

bool nt_spin_deadlock_check(const volatile void *lock, const char *routine)
{
    struct nt *nt = nt_state();
    const volatile void *wanted = lock;
    struct report report = {.objects = 0};
    unsigned self = sim_current->processor, parties = 1;
    int at = nt_spin_lock_holder(lock);

    if (verify_current && verify_bugcheck_state(verify_current)->happened)
        return false; /* the machine is stopping */
    while (at >= 0 && (unsigned)at != self && nt->processor[at].wanted &&
           parties < sim_current->processors) {
        wanted = nt->processor[at].wanted;
        at = nt_spin_lock_holder(wanted);
        parties++;
    }
    if (at != (int)self || parties < 2)
        return false;
    describe_processor(&report, self, lock);
    for (at = nt_spin_lock_holder(lock); (unsigned)at != self; at = nt_spin_lock_holder(wanted)) {
        wanted = nt->processor[at].wanted;
        describe_processor(&report, (unsigned)at, wanted);
    }
    verify_fatal("THREAD-073", DRIVER_VERIFIER, 0x1001, (uintptr_t)lock, (uintptr_t)wanted, parties,
                 "%s: %u processors hold a spin lock each that the next one waits for", routine,
                 parties);
    return true;
}
