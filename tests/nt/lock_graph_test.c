/* SPDX-License-Identifier: MIT */
/* Orders of locks over several steps, and what is said of threads that wait for each kind of object. */
#include "nt/base/nt_config.h"
#include "nt/ke/deadlock.h"
#include "support/harness.h"

#include <dlfcn.h>
#include <stdio.h>

static char lines[4096];

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

    if (!dladdr((void *)pc, &info) || !info.dli_sname || strncmp(info.dli_sname, "own_", 4) != 0)
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

static bool inverted(void)
{
    bool told = reported("NT-059", 0xC4, 0x1001) && errors() == 1;

    forget_reports();
    return told;
}

/* ---- orders ---- */

static KSPIN_LOCK *lock[5];
static FAST_MUTEX mutex[3];

static void take(unsigned first, unsigned second)
{
    KIRQL old, inner;

    KeAcquireSpinLock(lock[first], &old);
    KeAcquireSpinLock(lock[second], &inner);
    KeReleaseSpinLock(lock[second], inner);
    KeReleaseSpinLock(lock[first], old);
}

static void init_locks(void)
{
    for (unsigned i = 0; i < 5; i++) {
        lock[i] = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*lock[i]), TAG);
        KeInitializeSpinLock(lock[i]);
    }
    for (unsigned i = 0; i < 3; i++)
        ExInitializeFastMutex(&mutex[i]);
}

static void free_locks(void)
{
    for (unsigned i = 0; i < 5; i++)
        ExFreePool(lock[i]);
}

static void check_chains(void)
{
    init_locks();
    take(0, 1);
    take(0, 2);
    take(1, 3);
    take(2, 3);
    take(3, 4);
    take(0, 4);
    take(0, 1);
    CHECK_RULE("NT-059/a", errors() == 0);
    take(4, 0); /* by one step of four ways */
    CHECK_RULE("NT-059/a", inverted());
    take(4, 1);
    CHECK_RULE("NT-059/a", inverted());
    take(4, 2);
    CHECK_RULE("NT-059/a", inverted());
    take(3, 0);
    CHECK_RULE("NT-059/a", inverted());
    take(1, 2); /* these two have none */
    CHECK_RULE("NT-059/a", errors() == 0);
    take(2, 1);
    CHECK_RULE("NT-059/a", inverted());
    free_locks();
}

/* A lock in the middle of a chain is freed: the chain is none any more. */
static void check_freed(void)
{
    KSPIN_LOCK *middle;

    init_locks();
    take(0, 1);
    take(0, 2);
    take(1, 2);
    take(2, 3);
    middle = lock[2];
    ExFreePool(middle);
    lock[2] = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*lock[2]), TAG);
    KeInitializeSpinLock(lock[2]);
    take(3, 1);
    take(3, 0);
    CHECK_RULE("NT-059/b", errors() == 0);
    take(1, 0);
    CHECK_RULE("NT-059/a", inverted()); /* that is still known */
    free_locks();
}

static void check_mutexes(void)
{
    KMUTEX plain;
    KIRQL old;

    init_locks();
    /* Released in another order: what is still held counts. */
    ExAcquireFastMutex(&mutex[0]);
    ExAcquireFastMutex(&mutex[1]);
    KeRaiseIrql(APC_LEVEL, &old);
    ExReleaseFastMutex(&mutex[0]);
    KeRaiseIrql(APC_LEVEL, &old);
    forget_reports();
    ExAcquireFastMutex(&mutex[2]); /* after 1 */
    ExReleaseFastMutex(&mutex[2]);
    ExReleaseFastMutex(&mutex[1]);
    KeLowerIrql(PASSIVE_LEVEL);
    forget_reports();
    ExAcquireFastMutex(&mutex[2]);
    ExAcquireFastMutex(&mutex[1]);
    CHECK_RULE("NT-059/b", inverted());
    ExReleaseFastMutex(&mutex[1]);
    ExReleaseFastMutex(&mutex[2]);
    /* A mutex that was released is not held. */
    KeInitializeMutex(&plain, 0);
    KeWaitForSingleObject(&plain, Executive, KernelMode, FALSE, NULL);
    KeReleaseMutex(&plain, FALSE);
    ExAcquireFastMutex(&mutex[2]);
    KeWaitForSingleObject(&plain, Executive, KernelMode, FALSE, NULL);
    KeReleaseMutex(&plain, FALSE);
    ExReleaseFastMutex(&mutex[2]);
    CHECK_RULE("NT-059/b", errors() == 0);
    /* A spin lock within a mutex. */
    ExAcquireFastMutex(&mutex[0]);
    KeAcquireSpinLock(lock[0], &old);
    KeReleaseSpinLock(lock[0], old);
    ExReleaseFastMutex(&mutex[0]);
    CHECK(errors() == 0);
    free_locks();
}

/* Not all of so many are remembered. */
static void check_many(void)
{
    static FAST_MUTEX many[40];

    for (unsigned i = 0; i < 40; i++)
        ExInitializeFastMutex(&many[i]);
    for (unsigned i = 0; i < 40; i++)
        ExAcquireFastMutex(&many[i]);
    for (unsigned i = 40; i-- > 0;)
        ExReleaseFastMutex(&many[i]);
    CHECK(errors() == 0 && KeGetCurrentIrql() == PASSIVE_LEVEL);
    ExAcquireFastMutex(&many[31]);
    ExAcquireFastMutex(&many[30]);
    CHECK_RULE("NT-059/b", inverted());
    ExReleaseFastMutex(&many[30]);
    ExReleaseFastMutex(&many[31]);
}

TEST_WITH(machine, orders_are_followed_over_several_locks)
{
    boot(1);
    run(check_many);
    run(check_chains);
    run(check_freed);
    run(check_mutexes);
}

/* ---- what threads wait for ---- */

#define EXPORTED __attribute__((visibility("default"))) /* so that dladdr knows them */

static KMUTEX owned;
static KSEMAPHORE semaphore;
static KTIMER timer;
static KEVENT event, *freed;
static PVOID thread;

EXPORTED void own_wait(void *arg);
EXPORTED void own_wait_two(void *arg);
EXPORTED VOID NTAPI own_mutex(PVOID context);

void own_wait(void *arg)
{
    (void)KeWaitForSingleObject(arg, Executive, KernelMode, FALSE, NULL);
}

void own_wait_two(void *arg)
{
    void *objects[2] = {arg, &timer};

    (void)KeWaitForMultipleObjects(2, objects, WaitAny, Executive, KernelMode, FALSE, NULL, NULL);
}

VOID NTAPI own_mutex(PVOID context)
{
    (void)KeWaitForSingleObject(&owned, Executive, KernelMode, FALSE, NULL);
    own_wait(context);
}

static void wait_for_each(void)
{
    HANDLE handle;

    KeInitializeMutex(&owned, 0);
    KeInitializeSemaphore(&semaphore, 0, 1);
    KeInitializeTimerEx(&timer, SynchronizationTimer);
    KeInitializeEvent(&event, SynchronizationEvent, FALSE);
    freed = ExAllocatePoolWithTag(NonPagedPoolNx, sizeof(*freed), TAG);
    KeInitializeEvent(freed, NotificationEvent, FALSE);
    PsCreateSystemThread(&handle, 0, NULL, NULL, NULL, own_mutex, &event);
    ObReferenceObjectByHandle(handle, 0, NULL, KernelMode, &thread, NULL);
    pause_ns(1000);
    start("one", own_wait, &owned);
    start("two", own_wait, &semaphore);
    start("three", own_wait, &timer);
    start("four", own_wait, thread);
    start("five", own_wait, freed);
    start("six", own_wait_two, &semaphore);
    pause_ns(1000);
    ExFreePool(freed);
    forget_reports();
    h.threads_left += 12;
}

TEST_WITH(machine_smp, each_kind_of_object_has_its_name)
{
    boot(4);
    run(wait_for_each);
    nt_deadlock_report();
    CHECK_RULE("THREAD-072", broken("THREAD-072"));
    CHECK_RULE("THREAD-072", says("thread one waits for mutex ") && says(", held by ") &&
                                 says("thread two waits for semaphore ") &&
                                 says("thread three waits for timer ") &&
                                 says("thread four waits for the end of thread ") &&
                                 says("thread five waits for an object in freed pool") &&
                                 says("thread six waits for semaphore ") && says(" and others"));
    CHECK_RULE("THREAD-072", says("waits for event ") && says("test.so!own_wait_two"));
}
