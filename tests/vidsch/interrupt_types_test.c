/* SPDX-License-Identifier: MIT */
/* Types of interrupts: since which version of the interface there is one, and those that tell of a hung engine. */
#include "sim/irql.h"
#include "vidsch/support/fixture.h"

#define V(name) .version = DXGKDDI_INTERFACE_VERSION_##name

static void notify(struct fixture *f, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    driver_notify_now(f, data);
    pass(5 * MS);
}

static void notify_type(struct fixture *f, int type)
{
    const DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = (DXGK_INTERRUPT_TYPE)type};

    notify(f, &data);
}

/* Which types count as unknown; those that have a meaning here are left out. */
TEST_WITH(fixture, types_belong_to_versions, V(WIN7))
{
    static const struct {
        int type;
        UINT since;
    } types[] = {{6, DXGKDDI_INTERFACE_VERSION_WIN8},     {8, DXGKDDI_INTERFACE_VERSION_WDDM1_3},
                 {11, DXGKDDI_INTERFACE_VERSION_WDDM2_2}, {12, DXGKDDI_INTERFACE_VERSION_WDDM2_2},
                 {13, DXGKDDI_INTERFACE_VERSION_WDDM2_2}, {14, DXGKDDI_INTERFACE_VERSION_WDDM2_2},
                 {15, DXGKDDI_INTERFACE_VERSION_WDDM2_4}, {19, DXGKDDI_INTERFACE_VERSION_WDDM3_1},
                 {20, DXGKDDI_INTERFACE_VERSION_WDDM3_1}};
    uint64_t unknown = 0, meaningless = 0;

    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        bool known = types[i].since <= f->config.wddm_version;

        notify_type(f, types[i].type);
        unknown += !known;
        meaningless += known && types[i].type != 11 && types[i].type != 20;
        CHECK_RULE("SUBMIT-074", violations(f, "SUBMIT-074") == unknown);
        CHECK_RULE("SUBMIT-073", violations(f, "SUBMIT-073") == meaningless);
    }
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 0 &&
          verify_count(f->log, VERIFY_NOTE) == unknown + meaningless);
}
TEST_ALSO(fixture, types_belong_to_versions, win8, V(WIN8))
TEST_ALSO(fixture, types_belong_to_versions, wddm1_3, V(WDDM1_3))
TEST_ALSO(fixture, types_belong_to_versions, wddm2_1, V(WDDM2_1))
TEST_ALSO(fixture, types_belong_to_versions, wddm2_2, V(WDDM2_2))
TEST_ALSO(fixture, types_belong_to_versions, wddm2_3, V(WDDM2_3))
TEST_ALSO(fixture, types_belong_to_versions, wddm2_4, V(WDDM2_4))
TEST_ALSO(fixture, types_belong_to_versions, wddm3_0, V(WDDM3_0))
TEST_ALSO(fixture, types_belong_to_versions, wddm3_1, V(WDDM3_1))

TEST_WITH(fixture, a_type_before_its_version_does_nothing, V(WDDM2_3))
{
    notify_type(f, DXGK_INTERRUPT_GPU_ENGINE_TIMEOUT);
    notify_type(f, DXGK_INTERRUPT_SUSPEND_CONTEXT_COMPLETED);
    CHECK_RULE("SUBMIT-074",
               reported(f, "SUBMIT-074", "interrupt type 16 from a driver of version 0x8001"));
    CHECK_RULE("SUBMIT-074", violations(f, "SUBMIT-074") == 2);
}

TEST_WITH(fixture, page_faults_began_with_wddm_2, V(WDDM1_3))
{
    notify_type(f, DXGK_INTERRUPT_DMA_PAGE_FAULTED);
    CHECK_RULE("SUBMIT-074",
               reported(f, "SUBMIT-074", "interrupt type 9 from a driver of version 0x4002"));
}

/* ---- a hung engine ---- */

static struct vidsch_device *hang(struct fixture *f)
{
    struct vidsch_device *device = make_device(f);

    f->driver.engine[1].hang = true;
    submit(make_context(device, 1), 0x1000, 16);
    pass(MS);
    return device;
}

static void change_state(struct fixture *f, DXGK_ENGINE_STATE state, UINT node)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_STATE_CHANGE};

    data.EngineStateChange.NodeOrdinal = node;
    data.EngineStateChange.NewState = state;
    notify(f, &data);
}

TEST_WITH(fixture, an_engine_that_is_hung_by_its_state_is_reset, V(WDDM3_1))
{
    struct vidsch_device *device = hang(f);

    change_state(f, DXGK_ENGINE_STATE_ACTIVE, 1);
    change_state(f, DXGK_ENGINE_STATE_IDLE, 1);
    CHECK(calls_of(f, CALL_COLLECT) == 0 &&
          vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    change_state(f, DXGK_ENGINE_STATE_HUNG, 1);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 1 && calls_of(f, CALL_PREEMPT) == 0 &&
          call_at(f, CALL_RESET_ENGINE, 0)->reset_engine.NodeOrdinal == 1 &&
          vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_HUNG);
    CHECK(verify_count(f->log, VERIFY_WARNING) == 0);
    vidsch_device_destroy(device);
}

static void change_state_of_no_node(struct fixture *f)
{
    change_state(f, DXGK_ENGINE_STATE_HUNG, 2);
}

static void change_state_of_no_engine(struct fixture *f)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_STATE_CHANGE};

    data.EngineStateChange.EngineOrdinal = 1;
    data.EngineStateChange.NewState = DXGK_ENGINE_STATE_HUNG;
    notify(f, &data);
}

TEST(a_hang_of_an_unknown_engine_is_fatal)
{
    static const struct fixture_options options = {V(WDDM3_1)};

    FATAL(&options, change_state_of_no_node, "SUBMIT-045", 0x119, 0x1);
    FATAL(&options, change_state_of_no_engine, "SUBMIT-045", 0x119, 0x1);
}

/* Reported twice before the DPC: one record, one reset; and after the reset, a further one. */
TEST_WITH(fixture, a_hang_is_noted_once)
{
    struct vidsch_device *device = hang(f), *next;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_TIMEOUT};
    uint32_t head = f->vidsch->interrupts.head;
    uint8_t before;

    data.GpuEngineTimeout.NodeOrdinal = 1;
    before = sim_raise_irql(SIM_IRQL_DEVICE);
    vidsch_notify_interrupt(f->vidsch, &data);
    vidsch_notify_interrupt(f->vidsch, &data);
    CHECK(f->vidsch->interrupts.head == head + 1 && f->vidsch->node[1].timeout_noted);
    sim_lower_irql(SIM_IRQL_DISPATCH);
    vidsch_notify_dpc(f->vidsch);
    sim_lower_irql(before);
    pass(MS);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 1 && !f->vidsch->node[1].timeout_noted);
    next = hang(f);
    notify(f, &data);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 2 &&
          vidsch_device_state(next) == D3DKMT_DEVICEEXECUTION_HUNG);
    vidsch_device_destroy(device);
    vidsch_device_destroy(next);
}

TEST_WITH(fixture, a_signaled_fence_is_noted_once_until_the_dpc)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {
        .InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED};
    struct vidsch_node *node = &f->vidsch->node[1];
    uint32_t head = f->vidsch->interrupts.head;
    uint8_t before = sim_raise_irql(SIM_IRQL_DEVICE);

    data.MonitoredFenceSignaled.NodeOrdinal = 1;
    vidsch_notify_interrupt(f->vidsch, &data);
    vidsch_notify_interrupt(f->vidsch, &data);
    CHECK(f->vidsch->interrupts.head == head + 1 && node->monitored_noted);
    sim_lower_irql(SIM_IRQL_DISPATCH);
    vidsch_notify_dpc(f->vidsch);
    CHECK(!node->monitored_noted);
    sim_lower_irql(before);
}

/* ---- while a reset is on ---- */

TEST_WITH(fixture, what_is_notified_during_a_reset_is_dropped)
{
    struct vidsch_device *device = hang(f);
    struct vidsch_node *node = &f->vidsch->node[1];
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data[6] = {
        {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED},
        {.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED},
        {.InterruptType = DXGK_INTERRUPT_DMA_FAULTED},
        {.InterruptType = DXGK_INTERRUPT_DMA_PAGE_FAULTED},
        {.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED},
        {.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_TIMEOUT},
    };
    uint32_t head = f->vidsch->interrupts.head;

    data[0].DmaCompleted.SubmissionFenceId = data[0].DmaCompleted.NodeOrdinal = 1;
    data[1].DmaPreempted.PreemptionFenceId = data[1].DmaPreempted.NodeOrdinal = 1;
    data[2].DmaFaulted.FaultedFenceId = data[2].DmaFaulted.NodeOrdinal = 1;
    data[3].DmaPageFaulted.FaultedFenceId = data[3].DmaPageFaulted.NodeOrdinal = 1;
    data[4].MonitoredFenceSignaled.NodeOrdinal = data[5].GpuEngineTimeout.NodeOrdinal = 1;
    for (unsigned way = 0; way < 2; way++) { /* of the node; of the adapter */
        bool *closed = way == 0 ? &node->ignoring : &f->vidsch->recovery.resetting;

        *closed = true;
        for (unsigned i = 0; i < 6; i++)
            driver_notify_now(f, &data[i]);
        *closed = false;
        CHECK_RULE("TDR-022", f->vidsch->interrupts.head == head && node->reported == 0 &&
                                  !node->monitored_noted && !node->timeout_noted);
    }
    node->after_reset = true;
    for (unsigned i = 0; i < 6; i++)
        driver_notify_now(f, &data[i]);
    node->after_reset = false;
    CHECK_RULE("TDR-024", violations(f, "TDR-024") == 6 && f->vidsch->interrupts.head == head);
    CHECK(reported(f, "TDR-024",
                   "DMA_COMPLETED for node 1 between its reset and the next submission"));
    driver_run(f, 1);
    idle(device);
    vidsch_device_destroy(device);
}

/* A record of before a reset is stale after it. */
TEST_WITH(fixture, records_of_before_a_reset_are_stale)
{
    struct vidsch_device *device = hang(f), *next;
    uint8_t before = sim_raise_irql(SIM_IRQL_DEVICE);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_TIMEOUT};

    data.GpuEngineTimeout.NodeOrdinal = 1;
    vidsch_notify_interrupt(f->vidsch, &data); /* its DPC comes much later */
    sim_lower_irql(before);
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    next = hang(f);
    before = sim_raise_irql(SIM_IRQL_DISPATCH);
    vidsch_notify_dpc(f->vidsch);
    sim_lower_irql(before);
    pass(MS);
    CHECK(calls_of(f, CALL_RESET_ENGINE) == 1 &&
          vidsch_device_state(next) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    driver_run(f, 1);
    idle(next);
    vidsch_device_destroy(device);
    vidsch_device_destroy(next);
}
