/* SPDX-License-Identifier: MIT */
/* How a packet that runs too long is found, and what the settings of TDR say about it. */
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "vidsch/support/hang.h"

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

TEST_WITH(fixture, a_lost_interrupt_is_found)
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

/* The time is over while an interrupt routine runs. */
TEST_WITH(fixture, a_watch_ends_at_any_level)
{
    struct hang s = hang_make(f);
    uint8_t before = sim_raise_irql(SIM_IRQL_DEVICE);

    sim_stall(10 * SECOND); /* the watch, and that of the answer to the preemption */
    sim_lower_irql(before);
    pass(SECOND);
    CHECK_RULE("TDR-004", calls_of(f, CALL_PREEMPT) >= 1);
    CHECK_RULE("PREEMPT-041/a", calls_of(f, CALL_RESET_ENGINE) >= 1);
    hang_end(f, &s);
}

TEST_WITH(fixture, without_query_current_fence, .no_query_fence = true)
{
    struct hang s = hang_make(f);

    pass(5 * SECOND);
    CHECK_RULE("SUBMIT-092", calls_of(f, CALL_QUERY_FENCE) == 0 && calls_of(f, CALL_PREEMPT) == 1 &&
                                 calls_of(f, CALL_RESET_ENGINE) == 1);
    hang_end(f, &s);
}

TEST_WITH(fixture, progress_restarts_the_watch)
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

TEST_WITH(fixture, exempt_devices_are_not_watched)
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

TEST_WITH(fixture, levels_zero_and_debug_one_do_nothing, TDR(.level = 0, .delay = 2))
{
    struct hang s = hang_make(f);

    pass(30 * SECOND);
    CHECK_RULE(f->options.tdr.level ? "TDR-013" : "TDR-008",
               calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_RESET) == 0);
    hang_end(f, &s);
}
TEST_ALSO(fixture, levels_zero_and_debug_one_do_nothing, debug_mode,
          TDR(.level = 3, .debug_mode = 1))

TEST_WITH(fixture, unknown_levels_are_the_default, TDR(.level = 2))
{
    struct hang s = hang_make(f);

    pass(5 * SECOND);
    CHECK_RULE("TDR-009", calls_of(f, CALL_RESET_ENGINE) == 1);
    hang_end(f, &s);
}

TEST_WITH(fixture, the_delay_is_a_setting, TDR(.level = 3, .delay = 5))
{
    struct hang s = hang_make(f);

    pass(15 * SECOND);
    CHECK_RULE("TDR-010",
               call_at(f, CALL_RESET_ENGINE, 0)->time - call_at(f, CALL_PREEMPT, 0)->time >=
                   5 * SECOND);
    CHECK_RULE("TDR-015", call_at(f, CALL_PREEMPT, 0)->time >= 5 * SECOND);
    hang_end(f, &s);
}
