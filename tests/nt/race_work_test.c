/* SPDX-License-Identifier: MIT */
/* What work items order for the detector of races: what came before one was queued, and its routine; not two of one worker thread,
 * which on one processor is the only one. */
#include "support/harness.h"

#include "nt/mm/race_access.h"
#include "race/race.h"
#include "sim/machine.h"

#define SEEDS 5u

static ULONG *bytes;
static WORK_QUEUE_ITEM item[2];
static KSEMAPHORE done;
static enum how { TOGETHER, ONE_BY_ONE, ONE_FROM_THE_OTHER, TWICE } how;

static VOID NTAPI work(PVOID context)
{
    uintptr_t number = (uintptr_t)context;

    nt_race_access(bytes, sizeof(*bytes), RACE_WRITE, 1 + number);
    if (number == 0 && how == ONE_FROM_THE_OTHER)
        ExQueueWorkItem(&item[1], DelayedWorkQueue);
    (void)KeReleaseSemaphore(&done, 0, 1, FALSE);
}

static void wait_for_one(void)
{
    (void)KeWaitForSingleObject(&done, Executive, KernelMode, FALSE, NULL);
}

static void queue(void)
{
    bytes = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*bytes), TAG);
    KeInitializeSemaphore(&done, 0, 2);
    for (uintptr_t i = 0; i < 2; i++)
        ExInitializeWorkItem(&item[i], work, (PVOID)i);
    nt_race_access(bytes, sizeof(*bytes), RACE_WRITE, 9);
    ExQueueWorkItem(&item[0], DelayedWorkQueue);
    if (how == ONE_BY_ONE || how == TWICE)
        wait_for_one();
    if (how != ONE_FROM_THE_OTHER)
        ExQueueWorkItem(&item[how != TWICE], DelayedWorkQueue);
    if (how == TOGETHER || how == ONE_FROM_THE_OTHER)
        wait_for_one();
    wait_for_one();
    ExFreePool(bytes);
}

/* In how many seeds. */
static unsigned races(enum how chosen)
{
    unsigned found = 0;

    how = chosen;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        harness_boot(1, seed, NULL);
        sim_current->races = race_create(1); /* the machine's from now on */
        h.threads_left = 4;                  /* the worker */
        run(queue);
        found += broken("THREAD-080");
        harness_teardown();
    }
    return found;
}

TEST(work_items_of_one_worker_are_in_no_order)
{
    CHECK_RULE("THREAD-080/b", races(TOGETHER) == SEEDS);
    CHECK_RULE("THREAD-080/a", races(ONE_BY_ONE) == 0);
    CHECK_RULE("THREAD-080/a", races(ONE_FROM_THE_OTHER) == 0);
    CHECK_RULE("THREAD-080/a", races(TWICE) == 0);
}
