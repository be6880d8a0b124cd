/* SPDX-License-Identifier: MIT */
/* Deadlocks that have happened, and what is said of them. */
#include "nt/base/nt_config.h"
#include "nt/ke/deadlock.h"
#include "nt/ke/wait_report.h"
#include "nt/support/harness.h"

#include <dlfcn.h>
#include <stdio.h>

static char lines[2048];

static void collect(void *context, const char *line)
{
    size_t length = strlen(lines);

    (void)context;
    snprintf(lines + length, sizeof(lines) - length, "%s\n", line);
}

/* The functions of this file are the driver. */
static bool symbolize(uintptr_t pc, char *text, size_t bytes)
{
    Dl_info info;

    if (!dladdr((void *)pc, &info) || !info.dli_sname || strncmp(info.dli_sname, "drv_", 4) != 0)
        return false;
    snprintf(text, bytes, "test.so!%s", info.dli_sname);
    return true;
}

static void boot(unsigned processors)
{
    struct nt_config extra = {.symbolize = symbolize, .waits = collect, .deadlock_detection = true};

    lines[0] = '\0';
    harness_teardown();
    harness_boot(processors, 1, &extra);
}

static bool says(const char *part)
{
    if (strstr(lines, part))
        return true;
    print_message("not said: %s\nbut:\n%s", part, lines);
    return false;
}

/* ---- spin locks ---- */

static KSPIN_LOCK lock_a, lock_b;
static volatile int holding;

#define EXPORTED __attribute__((visibility("default"))) /* so that dladdr knows them */

EXPORTED void drv_take_both(void *arg);

void drv_take_both(void *arg)
{
    PKSPIN_LOCK first = arg, second = first == &lock_a ? &lock_b : &lock_a;
    KIRQL before, inner;

    KeAcquireSpinLock(first, &before);
    holding++;
    while (holding < 2)
        KeStallExecutionProcessor(1);
    KeAcquireSpinLock(second, &inner);
    holding++;
    if (holding == 4) /* who was let go on without the lock must not release it */
        KeReleaseSpinLock(second, inner);
    KeReleaseSpinLock(first, before);
}

static void spin_body(void)
{
    KeInitializeSpinLock(&lock_a);
    KeInitializeSpinLock(&lock_b);
    holding = 0;
    start("one", drv_take_both, &lock_a);
    start("two", drv_take_both, &lock_b);
}

TEST_WITH(machine_smp, processors_that_wait_for_each_other_are_found)
{
    boot(2);
    CHECK_RULE("THREAD-073", run_within(spin_body, 10000000)); /* else they would spin for ever */
    CHECK_RULE("THREAD-073", reported("THREAD-073", 0xC4, 0x1001));
    CHECK_RULE("THREAD-073", says("processor 0 (thread ") && says("processor 1 (thread ") &&
                                 says("test.so!drv_take_both") && says("waits for spin lock 1") &&
                                 says("holds spin lock 2") && says("waits for spin lock 2") &&
                                 says("holds spin lock 1"));
    /* the order is wrong in itself, whether or not they meet */
    CHECK_RULE("NT-059/a", reported("NT-059", 0xC4, 0x1001));
}

/* ---- every thread waits ---- */

static FAST_MUTEX mutex_a, mutex_b;
static KEVENT never;

EXPORTED void drv_lock_both(void *arg);
EXPORTED void drv_wait(void *arg);

void drv_lock_both(void *arg)
{
    PFAST_MUTEX first = arg, second = first == &mutex_a ? &mutex_b : &mutex_a;

    ExAcquireFastMutex(first);
    pause_ns(5000);
    ExAcquireFastMutex(second);
    holding++;
}

void drv_wait(void *arg)
{
    (void)KeWaitForSingleObject(arg, Executive, KernelMode, FALSE, NULL);
    holding++;
}

static void mutex_body(void)
{
    holding = 0;
    ExInitializeFastMutex(&mutex_a);
    ExInitializeFastMutex(&mutex_b);
    KeInitializeEvent(&never, NotificationEvent, FALSE);
    start("one", drv_lock_both, &mutex_a);
    start("two", drv_lock_both, &mutex_b);
    start("three", drv_wait, &never);
    h.threads_left += 3;
}

TEST_WITH(machine_smp, a_deadlock_names_threads_objects_owners_and_stacks)
{
    boot(4);
    run(mutex_body);
    CHECK(holding == 0);
    nt_deadlock_report();
    CHECK_RULE("THREAD-072", broken("THREAD-072"));
    CHECK_RULE("THREAD-072",
               says("thread one waits for lock 1, held by two, in ExAcquireFastMutex") &&
                   says("thread two waits for lock 2, held by one, in ExAcquireFastMutex") &&
                   says("thread three waits for event 3, in KeWaitForSingleObject") &&
                   says("test.so!drv_lock_both") && says("test.so!drv_wait") &&
                   says("holds lock 2") && says("holds lock 1"));
}

/* ---- stacks ---- */

EXPORTED void drv_place(void);

void drv_place(void)
{
    __asm__ volatile("nop\n\tnop\n\tnop\n\tnop");
}

/* The first six places in drivers are told, however deep a stack is, and what does not fit is cut. */
TEST_WITH(machine, stacks_are_told_up_to_six_places)
{
    uintptr_t pc[9] = {16}; /* which is in no driver */
    char text[200];

    boot(1);
    for (unsigned depth = 0; depth <= 8; depth++) {
        unsigned places = 0;

        if (depth)
            pc[depth] = (uintptr_t)drv_place + depth % 4;
        CHECK(nt_wait_report_stack(pc, depth + 1, text, sizeof(text)) == (depth > 0));
        for (const char *at = text; (at = strstr(at, "drv_place")); at++)
            places++;
        CHECK(places == (depth < 6 ? depth : 6));
    }
    CHECK(strncmp(text, "test.so!drv_place < test.so!drv_place < ", 40) == 0);
    CHECK(nt_wait_report_stack(pc, 9, text, 30));
    CHECK(strlen(text) == 29);
}
