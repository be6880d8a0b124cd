/* SPDX-License-Identifier: MIT */
/* How often recovery is tried, and what cannot be recovered. */
#include "sim/thread.h"
#include "vidsch/process.h"
#include "vidsch/support/hang.h"

#include <string.h>

TEST_WITH(fixture, a_process_with_too_many_timeouts_is_blocked)
{
    struct vidsch_device *device = NULL, *other = make_device_of(f, &f->other_client);

    for (int i = 1; i <= 5; i++) { /* TdrLimitCount 5: four are allowed */
        struct vidsch_device *victim = make_device(f);
        struct vidsch_context *context = make_context(victim, 1);

        CHECK_RULE("TDR-041", submit(context, 1, 16) == STATUS_SUCCESS);
        f->driver.engine[1].hang = true;
        pass(MS);
        if (f->driver.engine[1].count == 0) { /* was quicker */
            submit(context, 1, 16);
            pass(MS);
        }
        if (i == 5)
            device = make_device(f);
        CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
        vidsch_device_destroy(victim);
    }
    CHECK_RULE("TDR-041", violations(f, "TDR-041") == 1 &&
                              vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_HUNG);
    CHECK_RULE("TDR-042", vidsch_device_check(device, true) == STATUS_DEVICE_REMOVED);
    vidsch_device_destroy(device);
    CHECK_RULE("TDR-042",
               vidsch_device_create(f->vidsch, &f->client, NULL, &device) == STATUS_ACCESS_DENIED);
    CHECK_RULE("TDR-041", vidsch_device_state(other) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    vidsch_device_destroy(other);
}

/* ---- engine timeouts of a process, within TdrLimitTime ---- */

static uint64_t first_ns;

/* An engine timeout of the process, so long after the first. */
static void time_out_at(struct fixture *f, uint64_t ns)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    pass(first_ns + ns - MS - sim_now());
    CHECK(submit(context, 1, 16) == STATUS_SUCCESS);
    f->driver.engine[1].hang = true;
    pass(first_ns + ns - sim_now());
    if (f->driver.engine[1].count == 0) { /* was quicker */
        submit(context, 1, 16);
        f->driver.engine[1].hang = true;
        pass(MS / 2);
    }
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

static bool is_blocked(struct fixture *f)
{
    struct vidsch_device *device = NULL;

    if (!NT_SUCCESS(vidsch_device_create(f->vidsch, &f->client, NULL, &device)))
        return true;
    vidsch_device_destroy(device);
    return false;
}

static void time_out_four_times(struct fixture *f)
{
    first_ns = sim_now() + 10 * MS;
    time_out_at(f, 0);
    for (unsigned i = 0; i < 3; i++)
        time_out_at(f, (50 + i) * SECOND);
    CHECK_RULE("TDR-041", !is_blocked(f));
}

TEST_WITH(fixture, the_fifth_timeout_within_the_time_is_one_too_many)
{
    time_out_four_times(f);
    time_out_at(f, 60 * SECOND - 2 * MS);
    CHECK_RULE("TDR-041", is_blocked(f));
}

TEST_WITH(fixture, the_time_goes_back_from_each_timeout)
{
    time_out_four_times(f);
    time_out_at(f, 60 * SECOND + 2 * MS);
    CHECK_RULE("TDR-041", !is_blocked(f)); /* four within the last minute */
    time_out_at(f, 62 * SECOND);
    CHECK_RULE("TDR-041", is_blocked(f)); /* five again, of which the first has gone */
}

TEST_WITH(fixture, a_limit_of_two_allows_one_timeout,
          TDR(.level = 3, .debug_mode = 2, .limit_count = 2))
{
    first_ns = sim_now() + 10 * MS;
    time_out_at(f, 0);
    CHECK_RULE("TDR-041", !is_blocked(f));
    time_out_at(f, SECOND);
    CHECK_RULE("TDR-041", is_blocked(f));
}

TEST_WITH(fixture, a_limit_of_one_allows_no_timeout,
          TDR(.level = 3, .debug_mode = 2, .limit_count = 1))
{
    first_ns = sim_now() + 10 * MS;
    time_out_at(f, 0);
    CHECK_RULE("TDR-041", is_blocked(f));
}

/* ---- resets of the adapter ---- */

/* A packet of a new device of the process hangs, and its engine is reset. */
static void time_out(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);

    f->driver.engine[1].hang = true;
    submit(make_context(device, 1), 1, 16);
    pass(MS);
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK(vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_HUNG);
    vidsch_device_destroy(device);
}

/* TdrLimitTime is 60 s. */
TEST_WITH(fixture, old_timeouts_are_forgotten)
{
    struct vidsch_device *stays = make_device(f);

    for (int i = 0; i < 4; i++)
        time_out(f);
    CHECK(stays->process->timeouts == 4 && !stays->process->blocked);
    pass(61 * SECOND);
    for (int i = 0; i < 4; i++)
        time_out(f);
    CHECK(stays->process->timeouts == 8 && !stays->process->blocked);
    CHECK_RULE("TDR-041", violations(f, "TDR-041") == 0 &&
                              vidsch_device_state(stays) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    pass(50 * SECOND); /* the same window */
    time_out(f);
    CHECK_RULE("TDR-041", violations(f, "TDR-041") == 1 &&
                              vidsch_device_state(stays) == D3DKMT_DEVICEEXECUTION_HUNG);
    vidsch_device_destroy(stays);
}

/* What it still has on the node may be aborted, too. */
TEST_WITH(fixture, a_process_is_blocked_once, TDR(.level = 3, .debug_mode = 2, .limit_count = 1))
{
    struct vidsch_device *device = make_device(f), *second = make_device(f);

    f->driver.engine[1].hang = f->driver.engine[1].stays_hung = true;
    submit(make_context(device, 1), 1, 16);
    submit(make_context(second, 1), 2, 16);
    pass(MS);
    CHECK(f->vidsch->node[1].count == 2);
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-041", violations(f, "TDR-041") == 1);
    CHECK(strstr(vidsch_device_loss_text(second), " is blocked after 1 engine timeouts"));
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-041", violations(f, "TDR-041") == 1);
    driver_run(f, 1);
    idle(second);
    vidsch_device_destroy(second);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, several_resets_are_survived, .no_engine_reset = true)
{
    for (int i = 0; i < 5; i++) {
        struct vidsch_device *device = make_device(f);
        struct vidsch_context *context = make_context(device, 1);

        f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
        submit(context, 1, 16);
        pass(5 * SECOND);
        CHECK_RULE("TDR-012", calls_of(f, CALL_RESET) == (uint32_t)i + 1);
        vidsch_device_destroy(device);
    }
}

static void six_resets(struct fixture *f)
{
    several_resets_are_survived(f);
    submit(make_context(make_device(f), 1), 1, 16);
    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    pass(10 * SECOND);
}

TEST_WITH(fixture, six_slow_resets, .no_engine_reset = true)
{
    struct vidsch_device *device;

    several_resets_are_survived(f);
    pass(60 * SECOND);
    device = make_device(f);
    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    submit(make_context(device, 1), 1, 16);
    pass(10 * SECOND);
    CHECK_RULE("TDR-012", calls_of(f, CALL_RESET) == 6);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, forced_resets_are_not_limited)
{
    for (int i = 0; i < 8; i++)
        CHECK(vidsch_force_reset(f->vidsch, true) == STATUS_SUCCESS);
    CHECK(calls_of(f, CALL_RESET) == 8);
}

TEST_WITH(fixture, debug_mode_three_lifts_the_limit, .no_engine_reset = true,
          TDR(.level = 3, .debug_mode = 3))
{
    for (int i = 0; i < 8; i++) {
        struct vidsch_device *device = make_device(f);

        f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
        submit(make_context(device, 1), 1, 16);
        pass(5 * SECOND);
        vidsch_device_destroy(device);
    }
    CHECK_RULE("TDR-013", calls_of(f, CALL_RESET) == 8);
}

/* ---- fatal ---- */

static void hang(struct fixture *f)
{
    hang_make(f);
    pass(20 * SECOND);
}

static void hang_in_render(void *arg)
{
    struct fixture *f = arg;
    struct vidsch_context *context = make_context(make_device(f), 0);

    f->driver.block_ns = 60 * SECOND;
    render(context, 16);
}

static void somebody_stays_in_the_driver(struct fixture *f)
{
    struct hang s = hang_make(f);

    (void)s;
    sim_thread_release(spawn(f, hang_in_render, f));
    pass(20 * SECOND);
}

#define SET(name, member, value)        \
    static void name(struct fixture *f) \
    {                                   \
        f->driver.member = value;       \
    }
SET(set_aborted_future, aborted, 9)
SET(set_group_without_itself, group_mask, 1)
SET(set_reset_fails, status[CALL_RESET], STATUS_UNSUCCESSFUL)
SET(set_restart_fails, status[CALL_RESTART], STATUS_UNSUCCESSFUL)

TEST(an_impossible_answer_to_an_engine_reset_is_fatal)
{
    FATAL((&(struct fixture_options){.prepare = set_aborted_future}), hang, "TDR-032", 0x119, 0xA);
    FATAL((&(struct fixture_options){.prepare = set_group_without_itself}), hang, "TDR-026", 0x119,
          0x8);
}

TEST(a_failed_reset_or_restart_of_the_adapter_is_fatal)
{
    FATAL((&(struct fixture_options){.no_engine_reset = true, .prepare = set_reset_fails}), hang,
          "TDR-047", 0x116, 0xC0000001);
    FATAL((&(struct fixture_options){.no_engine_reset = true, .prepare = set_restart_fails}), hang,
          "TDR-053", 0x116, 0xC0000001);
}

TEST(a_timeout_is_fatal_where_recovery_is_switched_off)
{
    FATAL((&(struct fixture_options){.tdr = {.level = 1, .enable_preemption = true}}), hang,
          "TDR-008", 0x116, 0);
}

TEST(six_quick_resets_are_fatal)
{
    FATAL((&(struct fixture_options){.no_engine_reset = true}), six_resets, "TDR-012", 0x116, 6);
}

TEST(a_thread_that_stays_in_the_driver_is_fatal)
{
    FATAL((&(struct fixture_options){.no_engine_reset = true}), somebody_stays_in_the_driver,
          "TDR-011", 0x116, 0);
    FATAL_AS("THREAD-035", (&(struct fixture_options){.no_engine_reset = true}),
             somebody_stays_in_the_driver, "TDR-011", 0x116, 0);
}

/* ---- no progress ---- */

static void pass_until(struct fixture *f, enum call_kind kind, uint32_t calls)
{
    for (unsigned i = 0; i < 1000 && calls_of(f, kind) < calls; i++)
        pass(100 * MS);
    CHECK(calls_of(f, kind) == calls);
}

TEST_WITH(fixture, engine_resets_that_abort_nothing_end_in_a_reset_of_the_adapter)
{
    struct hang s = hang_make(f);

    f->driver.aborted = 0;
    f->driver.engine[1].stays_hung = true;
    pass_until(f, CALL_RESET_ENGINE, 4);
    pass(SECOND);
    CHECK_RULE("TDR-084", calls_of(f, CALL_RESET_ENGINE) == 4 && calls_of(f, CALL_RESET) == 0);
    pass(4 * SECOND);
    CHECK_RULE("TDR-084", calls_of(f, CALL_RESET_ENGINE) == 5 && calls_of(f, CALL_RESET) == 1);
    CHECK_RULE("TDR-084", vidsch_device_state(s.guilty) != D3DKMT_DEVICEEXECUTION_ACTIVE);
    hang_end(f, &s);
}

/* Four, then a packet is completed, then four again. */
TEST_WITH(fixture, a_completion_makes_engine_resets_count_anew)
{
    struct hang s = hang_make(f);

    f->driver.aborted = 0;
    f->driver.engine[1].stays_hung = true;
    pass_until(f, CALL_RESET_ENGINE, 4);
    f->driver.engine[1].ignores_preemption = false;
    driver_run(f, 1);
    idle(s.guilty);
    idle(s.innocent);
    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    f->driver.aborted = f->driver.engine[1].completed;
    submit(s.a, 0xA3, 16);
    pass_until(f, CALL_RESET_ENGINE, 8);
    pass(SECOND);
    CHECK_RULE("TDR-084", calls_of(f, CALL_RESET_ENGINE) == 8 && calls_of(f, CALL_RESET) == 0);
    hang_end(f, &s);
}

TEST_WITH(fixture, a_packet_that_is_preempted_again_and_again_has_hung)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].hang = true;
    submit(context, 1, 16);
    pass(2 * 256 * SECOND + SECOND);
    CHECK_RULE("PREEMPT-046", calls_of(f, CALL_PREEMPT) == 256 &&
                                  calls_of(f, CALL_RESET_ENGINE) == 0 &&
                                  vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    pass(2 * SECOND);
    CHECK_RULE("PREEMPT-046", calls_of(f, CALL_PREEMPT) == 256 &&
                                  calls_of(f, CALL_RESET_ENGINE) == 1 &&
                                  vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_HUNG);
    driver_run(f, 1);
    idle(device);
    vidsch_device_destroy(device);
}

/* A newcomer of higher priority is the reason, and nothing is completed either. */
TEST_WITH(fixture, preemption_for_other_work_counts, .depth = 1)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);

    f->driver.engine[1].hang = true;
    submit(a, 1, 16);
    pass(MS);
    submit(b, 2, 16);
    pass(60 * SECOND);
    CHECK_RULE("PREEMPT-046", calls_of(f, CALL_PREEMPT) >= 256);
    CHECK_RULE("PREEMPT-046",
               calls_of(f, CALL_PREEMPT) == 256 && calls_of(f, CALL_RESET_ENGINE) == 1);
    driver_run(f, 1);
    idle(device);
    vidsch_device_destroy(device);
}

/* Where nothing is reset, it goes on. */
TEST_WITH(fixture, preemption_has_no_end_without_recovery, .depth = 1,
          TDR(.level = 0, .delay = 2, .debug_mode = 2))
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);

    f->driver.engine[1].hang = true;
    submit(a, 1, 16);
    pass(MS);
    submit(b, 2, 16);
    pass(70 * SECOND);
    CHECK_RULE("TDR-008", calls_of(f, CALL_PREEMPT) > 300 && calls_of(f, CALL_RESET_ENGINE) == 0);
    driver_run(f, 1);
    idle(device);
    vidsch_device_destroy(device);
}
TEST_ALSO(fixture, preemption_has_no_end_without_recovery, debug_mode, .depth = 1,
          TDR(.level = 3, .debug_mode = 1))

/* A preemption that nobody answers is waited for. */
TEST_WITH(fixture, a_late_answer_is_waited_for_without_recovery, TDR(.level = 3, .debug_mode = 1))
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *low = make_context(device, 1), *high = make_context(device, 1);

    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    submit(low, 1, 16);
    pass(MS);
    vidsch_context_set_priority(high, 3);
    submit(high, 2, 16);
    pass(30 * SECOND);
    CHECK_RULE("TDR-013", calls_of(f, CALL_PREEMPT) == 1 && calls_of(f, CALL_RESET_ENGINE) == 0 &&
                              f->vidsch->node[1].preempting);
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    driver_run(f, 1);
    idle(device);
    vidsch_device_destroy(device);
}

static void slow_resets(struct fixture *f, int count)
{
    for (int i = 0; i < count; i++) {
        struct vidsch_device *device = make_device(f);

        f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
        submit(make_context(device, 1), 1, 16);
        pass(60 * SECOND);
        vidsch_device_destroy(device);
    }
}

TEST_WITH(fixture, resets_with_a_completion_between_go_on, .no_engine_reset = true)
{
    struct vidsch_device *device;

    slow_resets(f, 20);
    device = make_device(f);
    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = false;
    submit(make_context(device, 1), 1, 16);
    idle(device);
    slow_resets(f, 2);
    CHECK_RULE("TDR-085", calls_of(f, CALL_RESET) == 22);
    vidsch_device_destroy(device);
}

static void one_too_many(struct fixture *f)
{
    slow_resets(f, 20);
    CHECK_RULE("TDR-085", calls_of(f, CALL_RESET) == 20);
    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    submit(make_context(make_device(f), 1), 1, 16);
    pass(10 * SECOND);
}

TEST(resets_without_any_completion_are_fatal)
{
    FATAL((&(struct fixture_options){.no_engine_reset = true}), one_too_many, "TDR-085", 0x116, 21);
}
