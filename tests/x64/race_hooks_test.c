/* SPDX-License-Identifier: MIT */
/* What the compiler's hooks tell the detector of races: which variables give order. */
#include "x64/support/rig.h"

#include "loader/tsan.h"
#include "race/race.h"
#include "sim/machine.h"

static struct race_task *a, *b;
/* What is watched, and what is not: whole pages are. */
static _Alignas(4096) uint32_t watched[1024], elsewhere[1024];

static void begin(void)
{
    rig_boot(11, 1);
    sim_current->races = race_create(1); /* the machine's from now on */
    a = race_task_create(sim_current->races, "a");
    b = race_task_create(sim_current->races, "b");
    race_watch(sim_current->races, watched, sizeof(watched));
}

static void end(void)
{
    (void)race_switch(sim_current->races, NULL);
    rig_teardown();
}

/* Whether what one task does before it writes the one variable races with what another does after it
 * has read the other one. */
static bool races(volatile void *written, volatile void *read, bool interlocked)
{
    bool found;

    begin();
    (void)race_switch(sim_current->races, a);
    __tsan_write4(&watched[0]);
    if (interlocked)
        (void)__tsan_atomic32_fetch_add(written, 1, __ATOMIC_SEQ_CST);
    else
        __tsan_volatile_write4((void *)written);
    (void)race_switch(sim_current->races, b);
    if (interlocked)
        (void)__tsan_atomic32_fetch_add(read, 1, __ATOMIC_SEQ_CST);
    else
        __tsan_volatile_read4((void *)read);
    __tsan_write4(&watched[0]);
    found = rig_reported("THREAD-080") != 0;
    end();
    return found;
}

TEST(an_interlocked_or_volatile_variable_gives_order_wherever_it_is)
{
    for (unsigned interlocked = 0; interlocked < 2; interlocked++) {
        CHECK_RULE("THREAD-080/a", !races(&watched[8], &watched[8], interlocked));
        CHECK_RULE("THREAD-080/b", races(&watched[8], &watched[9], interlocked));
        CHECK_RULE("THREAD-080/a", !races(&elsewhere[0], &elsewhere[0], interlocked));
        CHECK_RULE("THREAD-080/b", races(&elsewhere[0], &elsewhere[1], interlocked));
    }
}

TEST(a_register_of_a_device_gives_none)
{
    begin();
    (void)race_switch(sim_current->races, a);
    __tsan_write4(&watched[0]);
    __tsan_volatile_write4((void *)rig.registers);
    (void)race_switch(sim_current->races, b);
    __tsan_volatile_read4((void *)rig.registers);
    __tsan_write4(&watched[0]);
    CHECK_RULE("THREAD-080/b", rig_reported("THREAD-080") != 0);
    end();
}
