/* SPDX-License-Identifier: MIT */
/* What timers order for the detector of races: what was done before one was set, and what its routine does; what that does, and
 * what follows the timer's end. Each is looked at with several seeds. */
#include "support/harness.h"

#include "nt/mm/race_access.h"
#include "race/race.h"
#include "sim/machine.h"

#define PROCESSORS 4u
#define SEEDS      20u

static ULONG *bytes;

static void write_as(uintptr_t who)
{
    nt_race_access(bytes, sizeof(*bytes), RACE_WRITE, who);
}

/* In how many seeds fn, a thread of the driver, has a race. */
static unsigned races(void (*fn)(void))
{
    unsigned found = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        harness_boot(PROCESSORS, seed, NULL);
        sim_current->races = race_create(PROCESSORS); /* the machine's from now on */
        run(fn);
        found += broken("THREAD-080");
        harness_teardown();
    }
    return found;
}

/* ---- KTIMER ---- */

static KTIMER timer;
static KDPC dpc;

static VOID NTAPI on_timer(PKDPC self, PVOID context, PVOID argument1, PVOID argument2)
{
    (void)self;
    (void)context;
    (void)argument1;
    (void)argument2;
    write_as(2);
}

static void set_timer(void)
{
    (void)KeSetTimer(&timer, (LARGE_INTEGER){.QuadPart = -10000}, &dpc);
}

static void write_and_set(void *arg)
{
    (void)arg;
    write_as(1);
    set_timer();
}

static void set_later(void *arg)
{
    (void)arg;
    pause_ns(300000);
    set_timer();
}

static void set_and_write(void *arg)
{
    (void)arg;
    set_timer();
    write_as(1);
}

static void with_timer(void (*first)(void *), void (*second)(void *))
{
    bytes = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*bytes), TAG);
    KeInitializeTimer(&timer);
    KeInitializeDpc(&dpc, on_timer, NULL);
    start("first", first, NULL);
    if (second)
        start("second", second, NULL);
    pause_ns(5000000);
    KeFlushQueuedDpcs();
    ExFreePool(bytes);
}

static void set_once(void)
{
    with_timer(write_and_set, NULL);
}

static void set_twice(void)
{
    with_timer(write_and_set, set_later);
}

static void set_too_early(void)
{
    with_timer(set_and_write, NULL);
}

TEST(the_routine_of_a_timer_comes_after_all_that_have_set_it)
{
    CHECK_RULE("THREAD-080/a", races(set_once) == 0);
    CHECK_RULE("THREAD-080/a", races(set_twice) == 0);
    CHECK_RULE("THREAD-080/b", races(set_too_early) > 0);
}

/* ---- EX_TIMER ---- */

static VOID NTAPI on_ex_timer(PEX_TIMER self, PVOID context)
{
    (void)self;
    (void)context;
    write_as(3);
}

static VOID NTAPI on_deletion(PVOID context)
{
    (void)context;
    write_as(4);
}

enum how { WAIT, CALL_BACK, CANCEL };

static void with_ex_timer(enum how how)
{
    EXT_DELETE_PARAMETERS parameters = {.DeleteCallback = on_deletion};
    PEX_TIMER ex;

    bytes = ExAllocatePool2(POOL_FLAG_NON_PAGED, sizeof(*bytes), TAG);
    ex = ExAllocateTimer(on_ex_timer, NULL, EX_TIMER_HIGH_RESOLUTION);
    (void)ExSetTimer(ex, -1000, 0, NULL);
    pause_ns(500000); /* its routine runs meanwhile */
    if (how == WAIT)
        (void)ExDeleteTimer(ex, TRUE, TRUE, NULL);
    else if (how == CALL_BACK)
        (void)ExDeleteTimer(ex, TRUE, FALSE, &parameters);
    else
        (void)ExCancelTimer(ex, NULL);
    write_as(5);
    if (how == CANCEL)
        (void)ExDeleteTimer(ex, TRUE, TRUE, NULL);
    ExFreePool(bytes);
}

static void delete_and_wait(void)
{
    with_ex_timer(WAIT);
}

static void be_called_back(void)
{
    with_ex_timer(CALL_BACK);
}

static void only_cancel(void)
{
    with_ex_timer(CANCEL);
}

TEST(what_follows_the_deletion_of_a_timer_comes_after_its_routine)
{
    CHECK_RULE("THREAD-080/a", races(delete_and_wait) == 0);
    CHECK_RULE("THREAD-080/a", races(be_called_back) == 0);
    CHECK_RULE("THREAD-080/b", races(only_cancel) > 0);
}
