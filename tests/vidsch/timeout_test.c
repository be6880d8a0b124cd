/* SPDX-License-Identifier: MIT */
/* How a packet that runs too long is found, and what the settings of TDR say about it. */
#include "support/hang.h"

static NTSTATUS report_completion(struct fixture *f, DXGKARG_QUERYCURRENTFENCE *args)
{
    struct fake_engine *engine = &f->driver.engine[args->NodeOrdinal];

    if (engine->count == 0)
        return STATUS_SUCCESS;
    args->CurrentFence = engine->completed = engine->queue[--engine->count];
    engine->count = 0;
    driver_complete(f, args->NodeOrdinal, args->CurrentFence); /* the interrupt that was lost */
    return STATUS_SUCCESS;
}

static void a_lost_interrupt_is_found(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].hang = true;
    f->driver.on_query_fence = report_completion;
    submit(context, 1, 16);
    pass(5 * SECOND);
    CHECK_RULE("SUBMIT-090", calls_of(f, CALL_QUERY_FENCE) == 1 && calls_of(f, CALL_PREEMPT) == 0 &&
                                 device->pending == 0);
    CHECK_RULE("TDR-005", calls_of(f, CALL_PREEMPT) == 0);
    vidsch_device_destroy(device);
}

static void without_query_current_fence(struct fixture *f)
{
    struct hang s = hang_make(f);

    pass(5 * SECOND);
    CHECK_RULE("SUBMIT-092", calls_of(f, CALL_QUERY_FENCE) == 0 && calls_of(f, CALL_PREEMPT) == 1 &&
                                 calls_of(f, CALL_RESET_ENGINE) == 1);
    hang_end(f, &s);
}

static void progress_restarts_the_watch(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].run_ns = 1500 * MS; /* each is quick enough, all together are not */
    for (int i = 0; i < 6; i++)
        submit(context, 1, 16);
    idle(device);
    CHECK_RULE("TDR-004", calls_of(f, CALL_PREEMPT) == 0 && sim_now() > 8 * SECOND);
    vidsch_device_destroy(device);
}

static void exempt_devices_are_not_watched(struct fixture *f)
{
    D3DKMT_CREATEDEVICEFLAGS flags = {.DisableGpuTimeout = 1};
    struct vidsch_device *exempt, *other = make_device(f);
    struct vidsch_context *context, *high = make_context(other, 1);

    CHECK(vidsch_device_create(f->vidsch, &f->client, &flags, &exempt) == STATUS_SUCCESS);
    context = make_context(exempt, 1);
    f->driver.engine[1].hang = f->driver.engine[1].ignores_preemption = true;
    submit(context, 1, 16);
    submit(context, 2, 16);
    pass(20 * SECOND);
    CHECK_RULE("TDR-006", calls_of(f, CALL_PREEMPT) == 0 && calls_of(f, CALL_RESET_ENGINE) == 0);
    vidsch_context_set_priority(high, 5);
    submit(high, 3, 16);
    pass(20 * SECOND);
    CHECK_RULE("TDR-007", calls_of(f, CALL_PREEMPT) == 1 && calls_of(f, CALL_RESET_ENGINE) == 0);
    f->driver.engine[1].ignores_preemption = false;
    f->driver.engine[1].count = 0;
    {
        DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED};

        data.DmaPreempted.PreemptionFenceId = call_at(f, CALL_PREEMPT, 0)->preempt.PreemptionFenceId;
        data.DmaPreempted.NodeOrdinal = 1;
        driver_notify_now(f, &data);
    }
    driver_run(f, 1);
    idle(exempt);
    idle(other);
    vidsch_device_destroy(exempt);
    vidsch_device_destroy(other);
}

static void levels_zero_and_debug_one_do_nothing(struct fixture *f)
{
    struct hang s = hang_make(f);

    pass(30 * SECOND);
    CHECK_RULE(f->options.tdr.level ? "TDR-013" : "TDR-008",
               calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_RESET) == 0);
    hang_end(f, &s);
}

static void unknown_levels_are_the_default(struct fixture *f)
{
    struct hang s = hang_make(f);

    pass(5 * SECOND);
    CHECK_RULE("TDR-009", calls_of(f, CALL_RESET_ENGINE) == 1);
    hang_end(f, &s);
}

static void the_delay_is_a_setting(struct fixture *f)
{
    struct hang s = hang_make(f);

    pass(15 * SECOND);
    CHECK_RULE("TDR-010",
               call_at(f, CALL_RESET_ENGINE, 0)->time - call_at(f, CALL_PREEMPT, 0)->time >=
                   5 * SECOND);
    CHECK_RULE("TDR-015", call_at(f, CALL_PREEMPT, 0)->time >= 5 * SECOND);
    hang_end(f, &s);
}

TEST(a_lost_interrupt_is_found, 0)
TEST(without_query_current_fence, .no_query_fence = true)
TEST(progress_restarts_the_watch, 0)
TEST(exempt_devices_are_not_watched, 0)
TEST(unknown_levels_are_the_default, TDR(.level = 2))
TEST(the_delay_is_a_setting, TDR(.level = 3, .delay = 5))

static void test_levels_zero_and_debug_one_do_nothing(void **state)
{
    (void)state;
    fixture_check(&(struct fixture_options){TDR(.level = 0, .delay = 2)},
                  levels_zero_and_debug_one_do_nothing);
    fixture_check(&(struct fixture_options){TDR(.level = 3, .debug_mode = 1)},
                  levels_zero_and_debug_one_do_nothing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_lost_interrupt_is_found),
        cmocka_unit_test(test_without_query_current_fence),
        cmocka_unit_test(test_progress_restarts_the_watch),
        cmocka_unit_test(test_exempt_devices_are_not_watched),
        cmocka_unit_test(test_unknown_levels_are_the_default),
        cmocka_unit_test(test_the_delay_is_a_setting),
        cmocka_unit_test(test_levels_zero_and_debug_one_do_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
