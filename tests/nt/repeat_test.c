/* SPDX-License-Identifier: MIT */
/* The same seed gives the same run: who got what when, in a crowd of threads, DPCs, timers and work
 * items. */
#include "nt/io/image_life.h"
#include "support/harness.h"

#include <stdlib.h>

#include "sim/machine.h"

enum { THREADS = 8, ROUNDS = 150 };

static KSPIN_LOCK lock;
static KEVENT event;
static KSEMAPHORE semaphore;
static FAST_MUTEX mutex;
static KTIMER timer;
static KDPC dpc, timer_dpc;
static DEVICE_OBJECT device;
static uint64_t history;
static unsigned finished;

/* Order and time of everything that happens go into one number. */
static void note(uint64_t what)
{
    history = (history ^ what ^ sim_now()) * 0x9E3779B97F4A7C15u;
    history ^= history >> 29;
}

static VOID NTAPI deferred(PKDPC self, PVOID context, PVOID a, PVOID b)
{
    (void)self;
    (void)context;
    (void)a;
    (void)b;
    note(100 + KeGetCurrentProcessorNumber());
    KeReleaseSemaphore(&semaphore, 0, 1, FALSE);
}

static VOID NTAPI work(PDEVICE_OBJECT object, PVOID context)
{
    (void)object;
    note(200);
    IoFreeWorkItem(context);
}

static void mix(void *arg)
{
    unsigned id = *(unsigned *)arg;
    LARGE_INTEGER timeout = {.QuadPart = -500};

    for (unsigned round = 0; round < ROUNDS; round++) {
        KIRQL old;
        PIO_WORKITEM item;
        void *block;

        switch (sim_random(6)) {
        case 0:
            KeAcquireSpinLock(&lock, &old);
            note(id);
            KeReleaseSpinLock(&lock, old);
            break;
        case 1:
            note(id +
                 (uint64_t)KeWaitForSingleObject(&event, Executive, KernelMode, FALSE, &timeout));
            break;
        case 2:
            KeSetEvent(&event, 0, FALSE);
            KeInsertQueueDpc(&dpc, NULL, NULL);
            break;
        case 3:
            ExAcquireFastMutex(&mutex);
            note(id + 50);
            ExReleaseFastMutex(&mutex);
            KeSetTimer(&timer, timeout, &timer_dpc);
            break;
        case 4:
            item = IoAllocateWorkItem(&device);
            IoQueueWorkItem(item, work, DelayedWorkQueue, item);
            break;
        default:
            block = ExAllocatePoolWithTag(NonPagedPoolNx, 16 + sim_random(3000), TAG);
            note((uint64_t)MmGetPhysicalAddress(block).QuadPart);
            ExFreePoolWithTag(block, TAG);
            KeWaitForSingleObject(&semaphore, Executive, KernelMode, FALSE, &timeout);
            break;
        }
    }
    finished++;
}

static void crowd(void)
{
    static unsigned id[THREADS];

    KeInitializeSpinLock(&lock);
    KeInitializeEvent(&event, SynchronizationEvent, FALSE);
    KeInitializeSemaphore(&semaphore, 0, 1000000);
    ExInitializeFastMutex(&mutex);
    KeInitializeTimer(&timer);
    KeInitializeDpc(&dpc, deferred, NULL);
    KeInitializeDpc(&timer_dpc, deferred, NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        id[i] = i;
        start("mixer", mix, &id[i]);
    }
    while (finished < THREADS)
        pause_ns(10000);
    KeCancelTimer(&timer);
    pause_ns(10000000);
    KeFlushQueuedDpcs();
}

static uint64_t play(uint64_t seed)
{
    void *shift = malloc(sim_current ? 1 : 4096 + seed * 64); /* other host addresses */
    uint64_t result;

    harness_boot(3, seed, NULL);
    h.threads_left = 64;
    history = 1;
    finished = 0;
    run(crowd);
    result = history ^ sim_now();
    assert_int_equal(finished, THREADS);
    if (errors() != 0)
        fail_msg("%s", verify_record_at(h.log, 0)->seen);
    assert_int_equal(nt_image_leak_check(h.image), 0);
    harness_teardown();
    free(shift);
    return result;
}

TEST(the_same_seed_gives_the_same_run)
{
    uint64_t first[6];

    for (uint64_t seed = 0; seed < 6; seed++)
        first[seed] = play(seed);
    for (uint64_t seed = 6; seed-- > 0;)
        assert_true(play(seed) == first[seed]);
    assert_true(first[0] != first[1] && first[1] != first[2]);
}
