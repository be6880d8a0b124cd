/* SPDX-License-Identifier: MIT */
/* A routine on every processor at once. */
#include "support/harness.h"

#define PROCESSORS 4u

static volatile unsigned runs;
static KIRQL levels[PROCESSORS];

static ULONG_PTR NTAPI add_one(ULONG_PTR argument)
{
    ULONG processor = KeGetCurrentProcessorNumber();

    runs++;
    levels[processor] = KeGetCurrentIrql();
    return argument + processor;
}

static void broadcast_from(KIRQL level)
{
    ULONG processor;
    ULONG_PTR result;
    KIRQL before;

    runs = 0;
    memset(levels, 0, sizeof(levels));
    KeRaiseIrql(level, &before);
    processor = level >= DISPATCH_LEVEL ? KeGetCurrentProcessorNumber() : 0;
    result = KeIpiGenericCall(add_one, 100);
    CHECK_RULE("NT-162/a", runs == PROCESSORS);
    for (unsigned i = 0; i < PROCESSORS; i++)
        CHECK_RULE("NT-162/b", levels[i] == IPI_LEVEL);
    if (level >= DISPATCH_LEVEL) /* where the thread stays on its processor */
        CHECK_RULE("NT-162/c", result == 100 + processor);
    CHECK_RULE("NT-162/c", KeGetCurrentIrql() == level);
    KeLowerIrql(before);
}

static void every_level(void)
{
    broadcast_from(PASSIVE_LEVEL);
    broadcast_from(DISPATCH_LEVEL);
    broadcast_from(DISPATCH_LEVEL + 4);
    CHECK_RULE("NT-162/a", errors() == 0);
}

TEST_WITH(machine_smp, the_routine_runs_everywhere)
{
    CHECK_RULE("NT-162/d", run_within(every_level, 1000000000));
}

/* Several at a time, beside processors that are busy at a raised level. */
static unsigned rounds;

static ULONG_PTR NTAPI count(ULONG_PTR argument)
{
    runs++;
    return argument;
}

static void broadcaster(void *arg)
{
    (void)arg;
    for (unsigned i = 0; i < 20; i++) {
        CHECK(KeIpiGenericCall(count, i) == i);
        rounds++;
        pause_ns(700);
    }
}

static void busy(void *arg)
{
    KIRQL before;

    (void)arg;
    while (rounds < 60) {
        KeRaiseIrql(DISPATCH_LEVEL, &before);
        KeStallExecutionProcessor(3);
        KeLowerIrql(before);
        pause_ns(300);
    }
}

static void several(void)
{
    runs = rounds = 0;
    for (unsigned i = 0; i < 3; i++)
        start("broadcaster", broadcaster, NULL);
    for (unsigned i = 0; i < 3; i++)
        start("busy", busy, NULL);
}

TEST_WITH(machine_smp, several_broadcasts_take_turns)
{
    CHECK_RULE("NT-162/d", run_within(several, 1000000000));
    CHECK_RULE("NT-162/d", rounds == 60 && runs == 60 * PROCESSORS && errors() == 0);
}

/* A processor at HIGH_LEVEL does not take part before it comes down: until then nobody begins. */
static volatile bool closed, early;

static ULONG_PTR NTAPI look(ULONG_PTR argument)
{
    runs++;
    early |= closed;
    return argument;
}

static void closer(void *arg)
{
    KIRQL before;

    (void)arg;
    KeRaiseIrql(HIGH_LEVEL, &before);
    closed = true;
    KeStallExecutionProcessor(50);
    closed = false;
    KeLowerIrql(before);
}

static void caller(void *arg)
{
    (void)arg;
    while (!closed)
        KeStallExecutionProcessor(1);
    CHECK(KeIpiGenericCall(look, 7) == 7);
}

static void one_is_late(void)
{
    runs = 0;
    closed = early = false;
    start("closer", closer, NULL);
    start("caller", caller, NULL);
}

TEST_WITH(machine_smp, all_start_together)
{
    CHECK(run_within(one_is_late, 1000000000));
    CHECK_RULE("NT-162/e", runs == PROCESSORS && !early);
    CHECK(errors() == 0);
}

static void too_high(void)
{
    KIRQL before;

    runs = 0;
    KeRaiseIrql(IPI_LEVEL, &before);
    CHECK_RULE("NT-162/f", KeIpiGenericCall(count, 1) == 0 && runs == 0);
    KeLowerIrql(before);
    CHECK_RULE("NT-162/f", broken("NT-162"));
}

TEST_WITH(machine_smp, at_its_own_level_it_is_refused)
{
    CHECK(run_within(too_high, 1000000000));
}
