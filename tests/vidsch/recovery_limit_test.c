/* SPDX-License-Identifier: MIT */
/* How often recovery is tried, and what cannot be recovered. */
#include "sim/thread.h"
#include "vidsch/support/hang.h"

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
