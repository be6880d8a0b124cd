/* SPDX-License-Identifier: MIT */
/* The detector by itself: what orders two accesses, and what does not; which accesses conflict. */
#include "support/check_rule.h"

#include <string.h>

#include "race/race.h"

#define PROCESSORS 2u

struct rig {
    struct race *race;
    struct race_task *a, *b;
    char object[2];
    _Alignas(64) char memory[8192];
    struct race_found found;
};

static void begin(struct rig *rig)
{
    rig->race = race_create(PROCESSORS);
    CHECK(rig->race);
    rig->a = race_task_create(rig->race, "a");
    rig->b = race_task_create(rig->race, "b");
    race_watch(rig->race, rig->memory, sizeof(rig->memory));
    (void)race_switch(rig->race, rig->a);
}

static void end(struct rig *rig)
{
    race_destroy(rig->race);
}

/* `pc` names the place; each pair is told once. */
static bool touch(struct rig *rig, unsigned at, unsigned bytes, unsigned kind, uintptr_t pc)
{
    return race_access(rig->race, rig->memory + at, bytes,
                       (struct race_access){.pc = pc, .kind = (uint8_t)kind}, &rig->found);
}

static bool write_by(struct rig *rig, struct race_task *task, uintptr_t pc)
{
    (void)race_switch(rig->race, task);
    return touch(rig, 0, 4, RACE_WRITE, pc);
}

TEST(accesses_of_two_tasks_race_unless_both_read_or_both_are_atomic)
{
    static const struct {
        unsigned first, second;
        bool race;
    } cases[] = {
        {0, 0, false},
        {0, RACE_WRITE, true},
        {RACE_WRITE, 0, true},
        {RACE_WRITE, RACE_WRITE, true},
        {RACE_WRITE | RACE_ATOMIC, RACE_WRITE | RACE_ATOMIC, false},
        {RACE_WRITE | RACE_ATOMIC, RACE_ATOMIC, false},
        {RACE_WRITE | RACE_ATOMIC, 0, true},
        {RACE_WRITE, RACE_ATOMIC, true},
        {0, RACE_ATOMIC, false},
        {0, RACE_WRITE | RACE_FREE, true},
    };
    struct rig rig;

    begin(&rig);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        (void)race_switch(rig.race, rig.a);
        CHECK(!touch(&rig, 64 * i, 4, cases[i].first, 100 + i));
        CHECK(!touch(&rig, 64 * i, 4, cases[i].first, 100 + i)); /* nor with itself */
        (void)race_switch(rig.race, rig.b);
        CHECK(touch(&rig, 64 * i, 4, cases[i].second, 200 + i) == cases[i].race);
    }
    end(&rig);
}

TEST(only_bytes_that_both_touch_count)
{
    struct rig rig;

    begin(&rig);
    CHECK(!touch(&rig, 0, 4, RACE_WRITE, 1));
    CHECK(!touch(&rig, 16, 1, RACE_WRITE, 2));
    CHECK(!touch(&rig, 4090, 16, RACE_WRITE, 3)); /* across a page */
    (void)race_switch(rig.race, rig.b);
    CHECK(!touch(&rig, 4, 4, RACE_WRITE, 4));
    CHECK(!touch(&rig, 17, 7, RACE_WRITE, 5));
    CHECK(!touch(&rig, 4106, 2, RACE_WRITE, 6));
    CHECK(touch(&rig, 4105, 1, RACE_WRITE, 7));
    CHECK(rig.found.address == (uintptr_t)rig.memory + 4105 && rig.found.before.pc == 3);
    CHECK(touch(&rig, 10, 7, RACE_WRITE, 8)); /* 16 is the last of them */
    CHECK(rig.found.address == (uintptr_t)rig.memory + 16 && rig.found.before.pc == 2);
    CHECK(strcmp(rig.found.before_name, "a") == 0 && strcmp(rig.found.now_name, "b") == 0);
    end(&rig);
}

TEST(a_release_orders_what_came_before_it_with_what_follows_the_acquire)
{
    struct rig rig;

    begin(&rig);
    CHECK(!touch(&rig, 0, 4, RACE_WRITE, 1));
    race_release(rig.race, &rig.object[0]);
    CHECK(!touch(&rig, 8, 4, RACE_WRITE, 2)); /* after the release */
    (void)race_switch(rig.race, rig.b);
    race_acquire(rig.race, &rig.object[1]); /* another object */
    CHECK(touch(&rig, 0, 4, 0, 3));
    race_acquire(rig.race, &rig.object[0]);
    CHECK(!touch(&rig, 0, 4, RACE_WRITE, 4));
    CHECK(touch(&rig, 8, 4, 0, 5));
    end(&rig);
}

TEST(order_goes_on_from_task_to_task_and_a_forgotten_object_has_none)
{
    struct rig rig;
    struct race_task *c;

    begin(&rig);
    c = race_task_create(rig.race, "c");
    CHECK(!write_by(&rig, rig.a, 1));
    race_release(rig.race, &rig.object[0]);
    (void)race_switch(rig.race, rig.b);
    race_acquire(rig.race, &rig.object[0]);
    race_release(rig.race, &rig.object[1]);
    (void)race_switch(rig.race, c);
    race_acquire(rig.race, &rig.object[1]);
    CHECK(!write_by(&rig, c, 2));
    race_release(rig.race, &rig.object[0]);
    race_forget(rig.race, &rig.object[0]);
    (void)race_switch(rig.race, rig.a);
    race_acquire(rig.race, &rig.object[0]);
    CHECK(write_by(&rig, rig.a, 3));
    CHECK(rig.found.before.pc == 2);
    end(&rig);
}

TEST(an_event_carries_what_set_its_object_and_nobody_elses)
{
    struct rig rig;
    struct race_task *before;

    begin(&rig);
    CHECK(!write_by(&rig, rig.a, 1));
    race_release(rig.race, &rig.object[0]);
    CHECK(!touch(&rig, 64, 4, RACE_WRITE, 2)); /* not known to the event that a carries out */
    before = race_carry(rig.race, &rig.object[0]);
    CHECK(before == rig.a);
    CHECK(!touch(&rig, 0, 4, RACE_WRITE, 3)); /* it accesses nothing */
    race_release(rig.race, &rig.object[1]);
    (void)race_switch(rig.race, rig.b);
    race_acquire(rig.race, &rig.object[1]);
    CHECK(!touch(&rig, 0, 4, RACE_WRITE, 4));
    CHECK(touch(&rig, 64, 4, RACE_WRITE, 5));
    end(&rig);
}

TEST(a_new_task_knows_its_makers_past_and_a_restarted_one_nothing)
{
    struct rig rig;
    struct race_task *child;

    begin(&rig);
    CHECK(!write_by(&rig, rig.a, 1));
    child = race_task_create(rig.race, "child");
    CHECK(!touch(&rig, 8, 4, RACE_WRITE, 2)); /* after the start of it */
    CHECK(!write_by(&rig, child, 3));
    CHECK(touch(&rig, 8, 4, RACE_WRITE, 4));
    child = race_task_restart(rig.race, child);
    (void)race_switch(rig.race, rig.a);
    CHECK(!touch(&rig, 16, 4, RACE_WRITE, 5));
    race_release(rig.race, &rig.object[0]);
    (void)race_switch(rig.race, child);
    race_acquire(rig.race, &rig.object[0]);
    child = race_task_restart(rig.race, child);
    CHECK(touch(&rig, 16, 4, RACE_WRITE, 6));
    end(&rig);
}

TEST(what_a_restarted_task_did_before_is_in_no_order_with_what_it_does)
{
    struct race_task *before;
    struct rig rig;

    begin(&rig);
    before = rig.a;
    CHECK(!write_by(&rig, rig.a, 1));
    rig.a = race_task_restart(rig.race, rig.a); /* which is current */
    CHECK(rig.a != before);
    CHECK(touch(&rig, 0, 4, RACE_WRITE, 2));
    CHECK(strcmp(rig.found.now_name, "a") == 0 && strcmp(rig.found.before_name, "a") == 0);
    race_release(rig.race, &rig.object[0]);
    CHECK(!touch(&rig, 8, 4, RACE_WRITE, 3));
    race_release(rig.race, &rig.object[1]); /* in time for what it begins next */
    rig.a = race_task_restart(rig.race, rig.a);
    race_acquire(rig.race, &rig.object[1]);
    CHECK(!touch(&rig, 8, 4, RACE_WRITE, 4));
    for (unsigned i = 0; i < 1000; i++)
        rig.a = race_task_restart(rig.race, rig.a);
    CHECK(!touch(&rig, 64, 4, RACE_WRITE, 5));
    end(&rig);
}

TEST(a_raised_level_is_a_lock_of_its_processor)
{
    struct rig rig;

    begin(&rig);
    race_raise(rig.race, 0, 0, 2);
    CHECK(!write_by(&rig, rig.a, 1));
    race_lower(rig.race, 0, 2, 0);
    (void)race_begin(rig.race, 0, 2, NULL); /* a DPC of the same processor */
    CHECK(!touch(&rig, 0, 4, RACE_WRITE, 2));
    race_end(rig.race, 0, 2, rig.b);
    race_raise(rig.race, 0, 0, 2);
    CHECK(!touch(&rig, 0, 4, RACE_WRITE, 3));
    race_lower(rig.race, 0, 2, 1);
    (void)race_begin(rig.race, 1, 2, NULL); /* and of another one */
    CHECK(touch(&rig, 0, 4, RACE_WRITE, 4));
    race_end(rig.race, 1, 2, rig.b);
    race_acquire_dpcs(rig.race);
    CHECK(!touch(&rig, 0, 4, RACE_WRITE, 5));
    race_raise(rig.race, 0, 0, 2);
    CHECK(!touch(&rig, 64, 4, RACE_WRITE, 6));
    race_lower(rig.race, 0, 2, 0);
    (void)race_begin(rig.race, 0, 5, NULL); /* DISPATCH_LEVEL is no lock for an interrupt */
    CHECK(touch(&rig, 64, 4, RACE_WRITE, 7));
    CHECK(!touch(&rig, 72, 4, RACE_WRITE, 8));
    race_end(rig.race, 0, 5, rig.a);
    race_raise(rig.race, 0, 2, 5);
    CHECK(!touch(&rig, 72, 4, RACE_WRITE, 9));
    end(&rig);
}

TEST(a_barrier_orders_all_with_all)
{
    struct rig rig;

    begin(&rig);
    CHECK(!write_by(&rig, rig.a, 1));
    CHECK(!touch(&rig, 8, 4, RACE_WRITE, 2));
    race_barrier(rig.race);
    CHECK(!touch(&rig, 16, 4, RACE_WRITE, 3));
    CHECK(!write_by(&rig, rig.b, 4));
    CHECK(touch(&rig, 16, 4, RACE_WRITE, 5)); /* which came after it */
    race_barrier(rig.race);
    CHECK(!write_by(&rig, rig.a, 6));
    CHECK(!touch(&rig, 16, 4, RACE_WRITE, 7));
    CHECK(!touch(&rig, 8, 4, RACE_WRITE, 8));
    end(&rig);
}

TEST(an_earlier_access_is_kept_until_one_takes_its_place)
{
    struct rig rig;

    begin(&rig);
    CHECK(!touch(&rig, 0, 8, RACE_WRITE, 1));
    for (unsigned i = 0; i < 8; i++)
        CHECK(!touch(&rig, i, 1, 0, 10 + i)); /* reads of parts do not drive out the write */
    (void)race_switch(rig.race, rig.b);
    CHECK(touch(&rig, 0, 8, 0, 2));
    CHECK(rig.found.before.pc == 1);
    end(&rig);
}

TEST(memory_that_is_new_or_not_watched_is_in_no_race)
{
    struct rig rig;
    static char elsewhere[64];

    begin(&rig);
    CHECK(!write_by(&rig, rig.a, 1));
    CHECK(!touch(&rig, 8, 4, RACE_WRITE, 2));
    race_watch(rig.race, rig.memory, 8);
    CHECK(!write_by(&rig, rig.b, 3));
    CHECK(touch(&rig, 8, 4, RACE_WRITE, 4));
    CHECK(race_watches(rig.race, rig.memory) && !race_watches(rig.race, elsewhere));
    CHECK(!race_access(rig.race, elsewhere, 4, (struct race_access){.pc = 5, .kind = RACE_WRITE},
                       &rig.found));
    (void)race_switch(rig.race, rig.a);
    CHECK(!race_access(rig.race, elsewhere, 4, (struct race_access){.pc = 6, .kind = RACE_WRITE},
                       &rig.found));
    end(&rig);
}

TEST(each_pair_of_places_is_told_once)
{
    struct rig rig;

    begin(&rig);
    CHECK(!write_by(&rig, rig.a, 1));
    CHECK(write_by(&rig, rig.b, 2));
    CHECK(!write_by(&rig, rig.a, 1));
    CHECK(!write_by(&rig, rig.b, 2));
    CHECK(write_by(&rig, rig.a, 3));
    CHECK(race_pairs(rig.race) == 2);
    end(&rig);
}

TEST(a_pair_that_was_told_hides_no_other)
{
    struct rig rig;
    struct race_task *c;

    begin(&rig);
    c = race_task_create(rig.race, "c");
    CHECK(!write_by(&rig, rig.a, 1));
    CHECK(write_by(&rig, c, 2));
    CHECK(write_by(&rig, rig.b, 3)); /* with both */
    CHECK(rig.found.before.pc == 1);
    CHECK(write_by(&rig, rig.b, 3));
    CHECK(rig.found.before.pc == 2);
    CHECK(!write_by(&rig, rig.b, 3));
    CHECK(race_pairs(rig.race) == 3);
    end(&rig);
}

TEST(an_access_knows_how_it_was_reached)
{
    uintptr_t pc[8];
    struct rig rig;
    uint32_t place;

    begin(&rig);
    race_call(rig.race, 10);
    place = race_place(rig.race);
    race_call(rig.race, 20);
    race_call(rig.race, 30);
    race_return(rig.race);
    CHECK(!touch(&rig, 0, 4, RACE_WRITE, 1));
    race_set_place(rig.race, place); /* left by a jump */
    CHECK(!touch(&rig, 8, 4, RACE_WRITE, 2));
    (void)race_switch(rig.race, rig.b);
    CHECK(touch(&rig, 0, 4, RACE_WRITE, 3));
    CHECK(race_stack(rig.race, rig.found.before.stack, pc, 8) == 2 && pc[0] == 20 && pc[1] == 10);
    CHECK(race_stack(rig.race, rig.found.now.stack, pc, 8) == 0);
    CHECK(touch(&rig, 8, 4, RACE_WRITE, 4));
    CHECK(race_stack(rig.race, rig.found.before.stack, pc, 8) == 1 && pc[0] == 10);
    end(&rig);
}

TEST(thousands_of_tasks_come_and_go)
{
    struct rig rig;

    begin(&rig);
    for (unsigned i = 0; i < 20000; i++) {
        struct race_task *task = race_task_create(rig.race, "thread");

        CHECK(task);
        race_task_end(rig.race, task);
    }
    end(&rig);
}

TEST(numbers_of_tasks_are_used_again_when_many_have_ended)
{
    struct race_task *first, *later, *task;
    struct rig rig;

    begin(&rig);
    first = race_task_create(rig.race, "first");
    (void)race_switch(rig.race, NULL);
    later = race_task_create(rig.race, "later");
    CHECK(!write_by(&rig, first, 1));
    race_task_end(rig.race, first);
    CHECK(write_by(&rig, later, 2)); /* which knows nothing of it */
    (void)race_switch(rig.race, NULL);
    for (unsigned i = 0; i < 1500; i++) {
        task = race_task_create(rig.race, "one of many");
        race_task_end(rig.race, task);
    }
    task = race_task_create(rig.race, "last");
    CHECK(write_by(&rig, task, 3)); /* nor does this one */
    CHECK(rig.found.now.task < 600 && strcmp(rig.found.now_name, "last") == 0);
    end(&rig);
}

TEST(what_objects_carried_ends_with_their_memory)
{
    struct rig rig;

    begin(&rig);
    CHECK(!write_by(&rig, rig.a, 1));
    race_release(rig.race, rig.memory + 100);
    race_release(rig.race, rig.memory + 108);
    race_watch(rig.race, rig.memory + 96, 12);
    (void)race_switch(rig.race, rig.b);
    race_acquire(rig.race, rig.memory + 100);
    CHECK(touch(&rig, 0, 4, 0, 2));
    race_acquire(rig.race, rig.memory + 108);
    CHECK(!touch(&rig, 0, 4, 0, 3));
    race_release(rig.race, rig.memory + 100); /* it may carry again */
    (void)race_switch(rig.race, rig.a);
    race_acquire(rig.race, rig.memory + 100);
    CHECK(!write_by(&rig, rig.a, 4));
    end(&rig);
}
