/* SPDX-License-Identifier: MIT */
/* What the driver may and may not notify, and when it has an effect. */
#include "sim/irql.h"
#include "sim/machine.h"
#include "vidsch/support/fixture.h"

/* Two packets on node 1, fences 1 and 2, that nothing completes; a third one waits in the queue. */
struct stuck {
    struct vidsch_device *device, *other;
    struct vidsch_context *context, *second;
};

static struct stuck make_stuck(struct fixture *f)
{
    struct stuck s = {.device = make_device(f), .other = make_device(f)};

    s.context = make_context(s.device, 1);
    s.second = make_context(s.other, 1);
    f->driver.engine[1].hang = true;
    submit(s.context, 0x1000, 16);
    pass(MS);
    submit(s.second, 0x2000, 16);
    pass(MS);
    submit(s.context, 0x3000, 16);
    pass(MS);
    CHECK(f->vidsch->node[1].count == 2);
    return s;
}

static void finish(struct fixture *f, struct stuck *s)
{
    driver_run(f, 1);
    idle(s->device);
    idle(s->other);
    vidsch_device_destroy(s->device);
    vidsch_device_destroy(s->other);
}

/* ---- when ---- */

TEST_WITH(fixture, nothing_happens_before_notify_dpc)
{
    struct stuck s = make_stuck(f);

    f->driver.no_notify_dpc = true;
    f->driver.engine[1].count = 0;
    driver_complete(f, 1, 1);
    pass(5 * MS);
    CHECK_RULE("SUBMIT-059", f->vidsch->node[1].last_completed == 0 && s.device->pending == 2 &&
                                 calls_of(f, CALL_SUBMIT_VIRTUAL) == 2);
    CHECK_RULE("SUBMIT-065", f->vidsch->node[1].reported == 1);
    f->driver.no_notify_dpc = false;
    driver_complete(f, 1, 2);
    pass(5 * MS);
    CHECK_RULE("SUBMIT-047",
               f->vidsch->node[1].last_completed == 2 && calls_of(f, CALL_SUBMIT_VIRTUAL) == 3);
    CHECK_RULE("THREAD-063", f->vidsch->node[1].last_completed == 2);
    finish(f, &s);
}

TEST_WITH(fixture, records_are_processed_in_order)
{
    struct stuck s = make_stuck(f);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED};

    /* 1 completed, then 2 faulted, in one interrupt: the first must not be dragged into the fault */
    f->driver.engine[1].count = 0;
    data.DmaCompleted.SubmissionFenceId = 1;
    data.DmaCompleted.NodeOrdinal = 1;
    driver_notify(f, &data);
    data = (DXGKARGCB_NOTIFY_INTERRUPT_DATA){.InterruptType = DXGK_INTERRUPT_DMA_FAULTED};
    data.DmaFaulted.FaultedFenceId = 2;
    data.DmaFaulted.NodeOrdinal = 1;
    driver_notify(f, &data);
    pass(5 * MS);
    CHECK_RULE("SUBMIT-064",
               vidsch_device_state(s.device) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                   vidsch_device_state(s.other) == D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    CHECK(f->vidsch->statistics.dpcs_notified >= 1 &&
          f->vidsch->statistics.interrupts_notified == 2);
    f->driver.engine[1].completed = 2;
    finish(f, &s);
}

TEST_WITH(fixture, the_data_is_copied)
{
    struct stuck s = make_stuck(f);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED};
    uint8_t before;

    data.DmaCompleted.SubmissionFenceId = 1;
    data.DmaCompleted.NodeOrdinal = 1;
    before = sim_raise_irql(SIM_IRQL_DEVICE);
    vidsch_notify_interrupt(f->vidsch, &data);
    data.DmaCompleted.SubmissionFenceId = 99; /* the driver's stack is used again */
    sim_lower_irql(SIM_IRQL_DISPATCH);
    vidsch_notify_dpc(f->vidsch);
    CHECK_RULE("SUBMIT-057", f->vidsch->node[1].last_completed == 1);
    vidsch_notify_dpc(f->vidsch); /* nothing recorded: nothing happens */
    CHECK_RULE("SUBMIT-064", f->vidsch->node[1].last_completed == 1);
    sim_lower_irql(before);
    f->driver.engine[1].queue[0] = 2;
    f->driver.engine[1].count = 1;
    finish(f, &s);
}

TEST_WITH(fixture, repeating_the_last_id_is_reported)
{
    struct stuck s = make_stuck(f);

    driver_complete(f, 1, 1);
    pass(MS);
    driver_complete(f, 1, 1);
    pass(MS);
    CHECK_RULE("SUBMIT-044",
               violations(f, "SUBMIT-044") == 1 && f->vidsch->node[1].last_completed == 1);
    f->driver.engine[1].queue[0] = 2;
    f->driver.engine[1].queue[1] = 3;
    f->driver.engine[1].count = f->vidsch->node[1].count;
    finish(f, &s);
}

/* ---- faults ---- */

static void notify_fault(struct fixture *f, UINT fence, NTSTATUS status)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_FAULTED};

    data.DmaFaulted.FaultedFenceId = fence;
    data.DmaFaulted.Status = status;
    data.DmaFaulted.NodeOrdinal = 1;
    driver_notify_now(f, &data);
}

static void notify_page_fault(struct fixture *f, UINT fence, UINT flags)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PAGE_FAULTED};

    data.DmaPageFaulted.FaultedFenceId = fence;
    data.DmaPageFaulted.FaultedPrimitiveAPISequenceNumber = 0x1234;
    data.DmaPageFaulted.FaultedPipelineStage = DXGK_RENDER_PIPELINE_STAGE_PIXEL_SHADER;
    data.DmaPageFaulted.FaultedBindTableEntry = 9;
    data.DmaPageFaulted.PageFaultFlags = (DXGK_PAGE_FAULT_FLAGS)flags;
    data.DmaPageFaulted.FaultedVirtualAddress = 0xABC000;
    data.DmaPageFaulted.NodeOrdinal = 1;
    data.DmaPageFaulted.FaultErrorCode.DeviceSpecificCode = 77;
    data.DmaPageFaulted.FaultErrorCode.IsDeviceSpecificCodeReservedBit = 1;
    driver_notify_now(f, &data);
}

TEST_WITH(fixture, a_dma_fault_costs_the_device)
{
    struct stuck s = make_stuck(f);

    notify_fault(f, 2, STATUS_UNSUCCESSFUL);
    f->driver.engine[1].count = 0;
    f->driver.engine[1].completed = 2;
    pass(5 * MS);
    CHECK_RULE("SUBMIT-075",
               f->vidsch->node[1].last_completed == 2 &&
                   vidsch_device_state(s.other) == D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    CHECK_RULE("SUBMIT-088", submit(s.second, 0, 0) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE &&
                                 vidsch_device_check(s.other, false) == STATUS_DEVICE_REMOVED &&
                                 s.other->mm->lost);
    CHECK_RULE("SUBMIT-089", vidsch_device_state(s.device) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                                 calls_of(f, CALL_SUBMIT_VIRTUAL) == 3);
    CHECK_RULE("KMT-129",
               vidsch_device_mark_error(s.other, D3DKMT_DEVICEEXECUTION_HUNG) == STATUS_SUCCESS &&
                   vidsch_device_state(s.other) == D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    finish(f, &s);
}

TEST_WITH(fixture, a_page_fault_costs_the_device)
{
    struct stuck s = make_stuck(f);
    D3DKMT_DEVICEPAGEFAULT_STATE state;

    CHECK_RULE("KMT-131", vidsch_device_fault_state(s.device, &state) == STATUS_SUCCESS &&
                              state.PageFaultFlags == 0 &&
                              state.FaultedVirtualAddress == D3DGPU_NULL &&
                              state.FaultedPrimitiveAPISequenceNumber ==
                                  DXGK_PRIMITIVE_API_SEQUENCE_NUMBER_UNKNOWN &&
                              state.FaultedBindTableEntry == DXGK_BIND_TABLE_ENTRY_UNKNOWN);
    notify_page_fault(f, 2, DXGK_PAGE_FAULT_WRITE);
    f->driver.engine[1].count = 0;
    f->driver.engine[1].completed = 2;
    pass(5 * MS);
    CHECK_RULE("SUBMIT-077",
               f->vidsch->node[1].last_completed == 2 &&
                   vidsch_device_state(s.other) == D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT);
    CHECK_RULE("GPUVA-254", vidsch_device_state(s.device) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK_RULE("SUBMIT-080", calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_RESET) == 0);
    CHECK(vidsch_device_fault_state(s.other, &state) == STATUS_SUCCESS);
    CHECK_RULE("SUBMIT-081", state.FaultedVirtualAddress == 0xABC000 &&
                                 state.PageFaultFlags == DXGK_PAGE_FAULT_WRITE);
    CHECK_RULE("SUBMIT-082", state.FaultErrorCode.DeviceSpecificCode == 77 &&
                                 state.FaultErrorCode.IsDeviceSpecificCode);
    CHECK_RULE("KMT-130", state.FaultedPrimitiveAPISequenceNumber == 0x1234 &&
                              state.FaultedBindTableEntry == 9 &&
                              state.FaultedPipelineStage == DXGK_RENDER_PIPELINE_STAGE_PIXEL_SHADER);
    finish(f, &s);
}

TEST_WITH(fixture, a_page_fault_may_reset_the_engine)
{
    struct stuck s = make_stuck(f);

    f->driver.engine[1].completed = 1;
    f->driver.engine[1].queue[0] = 2;
    f->driver.engine[1].count = 1;
    f->driver.aborted = 1; /* the driver counts the faulted packet as its last completed one */
    notify_page_fault(f, 1, DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED);
    pass(5 * MS);
    CHECK_RULE("SUBMIT-080", calls_of(f, CALL_RESET_ENGINE) == 1 &&
                                 call_at(f, CALL_RESET_ENGINE, 0)->reset_engine.NodeOrdinal == 1 &&
                                 calls_of(f, CALL_RESET) == 0);
    CHECK_RULE("GPUVA-255", calls_of(f, CALL_PREEMPT) == 0 && calls_of(f, CALL_RESET_ENGINE) == 1);
    CHECK(vidsch_device_state(s.device) == D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT);
    CHECK_RULE("SUBMIT-088", submit(s.context, 0, 0) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    idle(s.other);
    CHECK_RULE("GPUVA-254", vidsch_device_state(s.other) == D3DKMT_DEVICEEXECUTION_ACTIVE &&
                                f->driver.engine[1].completed == 3);
    finish(f, &s);
}

TEST_WITH(fixture, a_page_fault_may_reset_the_adapter)
{
    struct stuck s = make_stuck(f);

    notify_page_fault(f, 1, DXGK_PAGE_FAULT_ADAPTER_RESET_REQUIRED);
    pass(5 * MS);
    CHECK_RULE("SUBMIT-080", calls_of(f, CALL_RESET) == 1 && calls_of(f, CALL_RESTART) == 1 &&
                                 calls_of(f, CALL_RESET_ENGINE) == 0);
    CHECK(vidsch_device_state(s.device) == D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT &&
          vidsch_device_state(s.other) == D3DKMT_DEVICEEXECUTION_RESET);
    finish(f, &s);
}

TEST_WITH(fixture, a_page_fault_of_paging_resets_the_adapter)
{
    struct vidsch_device *device = make_device(f);

    f->driver.engine[1].hang = true;
    page(f, 64);
    pass(MS);
    notify_page_fault(f, 1, 0);
    pass(5 * MS);
    CHECK_RULE("GPUVA-257", calls_of(f, CALL_RESET) == 1 && calls_of(f, CALL_RESTART) == 1);
    CHECK_RULE("GPUVA-257",
               vidsch_device_state(f->vidsch->system_device) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, page(f, 64)) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, an_unnamed_fault_is_blamed_on_what_was_aborted)
{
    struct stuck s = make_stuck(f);

    notify_page_fault(f, 0, DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED);
    notify_page_fault(f, 0, DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED);
    pass(5 * MS);
    CHECK_RULE("GPUVA-255", calls_of(f, CALL_RESET_ENGINE) == 1);
    CHECK(vidsch_device_state(s.device) == D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT);
    idle(s.other);
    CHECK(vidsch_device_state(s.other) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    finish(f, &s);
}

TEST_WITH(fixture, an_iommu_flag_is_reported)
{
    struct stuck s = make_stuck(f);

    notify_page_fault(f, 1, DXGK_PAGE_FAULT_IOMMU);
    f->driver.engine[1].completed = 1;
    f->driver.engine[1].queue[0] = 2;
    f->driver.engine[1].count = 1;
    pass(MS);
    CHECK_RULE("GPUVA-250", violations(f, "GPUVA-250") == 1);
    finish(f, &s);
}

/* ---- other types ---- */

static void notify_type(struct fixture *f, int type)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = (DXGK_INTERRUPT_TYPE)type};

    driver_notify_now(f, &data);
    pass(MS);
}

TEST_WITH(fixture, types_without_meaning_are_dropped)
{
    static const int display[] = {6, 8, 14}, unknown[] = {0, 21, 1000, 19, 20};
    struct stuck s = make_stuck(f);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED,
                                            .Flags.ValidPhysicalAdapterMask = 1};

    for (uint64_t i = 0; i < 3; i++) {
        notify_type(f, display[i]);
        CHECK_RULE("SUBMIT-073", violations(f, "SUBMIT-073") == i + 1);
    }
    for (uint64_t i = 0; i < 5; i++) { /* 19 and 20 are of 3.1, this driver is of 2.9 */
        notify_type(f, unknown[i]);
        CHECK_RULE("SUBMIT-074", violations(f, "SUBMIT-074") == i + 1);
    }
    CHECK_RULE("SUBMIT-074", f->vidsch->node[1].last_completed == 0);
    data.DmaCompleted.SubmissionFenceId = 1;
    data.DmaCompleted.NodeOrdinal = 1;
    driver_notify_now(f, &data);
    pass(MS);
    CHECK_RULE("SUBMIT-058",
               violations(f, "SUBMIT-058") == 1 && f->vidsch->node[1].last_completed == 1);
    f->driver.engine[1].completed = 1;
    f->driver.engine[1].queue[0] = 2;
    f->driver.engine[1].queue[1] = 3;
    f->driver.engine[1].count = f->vidsch->node[1].count;
    finish(f, &s);
}

TEST_WITH(fixture, a_reported_engine_timeout_resets_at_once)
{
    struct stuck s = make_stuck(f);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_GPU_ENGINE_TIMEOUT};
    uint64_t before = sim_now();

    data.GpuEngineTimeout.NodeOrdinal = 1;
    driver_notify_now(f, &data);
    pass(5 * MS);
    CHECK_RULE("TDR-073", calls_of(f, CALL_RESET_ENGINE) == 1 && calls_of(f, CALL_PREEMPT) == 0 &&
                              sim_now() - before < SECOND);
    CHECK(vidsch_device_state(s.device) == D3DKMT_DEVICEEXECUTION_HUNG);
    finish(f, &s);
}

/* ---- fatal ---- */

static void complete_what_is_not_there(struct fixture *f)
{
    make_stuck(f);
    driver_complete(f, 1, 3);
    pass(MS);
}

static void fault_what_is_not_there(struct fixture *f)
{
    make_stuck(f);
    notify_fault(f, 3, STATUS_UNSUCCESSFUL);
    pass(MS);
}

static void complete_the_past(struct fixture *f)
{
    make_stuck(f);
    driver_complete(f, 1, 2);
    pass(MS);
    driver_complete(f, 1, 1);
    pass(MS);
}

static void complete_zero(struct fixture *f)
{
    make_stuck(f);
    driver_complete(f, 1, 0);
    pass(MS);
}

static void complete_on_an_unknown_node(struct fixture *f)
{
    driver_complete(f, 2, 1);
    pass(MS);
}

static void complete_on_an_unknown_engine(struct fixture *f)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED};

    make_stuck(f);
    data.DmaCompleted.SubmissionFenceId = data.DmaCompleted.NodeOrdinal =
        data.DmaCompleted.EngineOrdinal = 1;
    driver_notify_now(f, &data);
    pass(MS);
}

static void report_vsync(struct fixture *f)
{
    notify_type(f, 3);
}

static void report_new_vsync(struct fixture *f)
{
    notify_type(f, 18);
}

static void report_suspension(struct fixture *f)
{
    notify_type(f, 17);
}

static void report_one_fault_twice(struct fixture *f)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PAGE_FAULTED};

    make_stuck(f);
    data.DmaPageFaulted.FaultedFenceId = data.DmaPageFaulted.NodeOrdinal = 1;
    f->driver.notifications[f->driver.notification_count++] = data;
    driver_notify_now(f, &data); /* both before the DPC: the fault made 1 the last completed id */
    pass(MS);
}

static void report_hardware_error(struct fixture *f)
{
    make_stuck(f);
    notify_page_fault(f, 1, DXGK_PAGE_FAULT_FATAL_HARDWARE_ERROR);
    pass(MS);
}

static void report_fault_without_fence_or_reset(struct fixture *f)
{
    make_stuck(f);
    notify_page_fault(f, 0, DXGK_PAGE_FAULT_FENCE_INVALID);
    pass(MS);
}

static void report_fault_with_invalid_fence(struct fixture *f)
{
    make_stuck(f);
    notify_page_fault(f, 1, DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED);
    pass(MS);
}

static void report_fault_of_paging(struct fixture *f)
{
    f->driver.engine[1].hang = true;
    page(f, 64);
    pass(MS);
    notify_fault(f, 1, STATUS_UNSUCCESSFUL);
    pass(MS);
}

TEST(an_impossible_completion_is_fatal)
{
    FATAL(NULL, complete_what_is_not_there, "SUBMIT-043", 0x119, 0x1);
    FATAL(NULL, fault_what_is_not_there, "SUBMIT-043", 0x119, 0x1);
    FATAL(NULL, complete_the_past, "SUBMIT-043", 0x119, 0x1);
    FATAL_AS("SUBMIT-046", NULL, report_one_fault_twice, "SUBMIT-043", 0x119, 0x1);
    FATAL(NULL, complete_zero, "SUBMIT-043", 0x119, 0x1);
}

TEST(a_completion_on_an_unknown_node_or_engine_is_fatal)
{
    FATAL(NULL, complete_on_an_unknown_node, "SUBMIT-045", 0x119, 0x1);
    FATAL(NULL, complete_on_an_unknown_engine, "SUBMIT-045", 0x119, 0x1);
}

TEST(an_interrupt_of_what_the_adapter_has_not_is_fatal)
{
    FATAL(NULL, report_vsync, "SUBMIT-072", 0x119, 0x7);
    FATAL(NULL, report_new_vsync, "SUBMIT-072", 0x119, 0x7);
    FATAL(NULL, report_suspension, "PREEMPT-043", 0x119, 0x11);
}

/* Of an adapter whose displays nobody uses. */
TEST_WITH(fixture, a_vertical_sync_of_displays_is_taken, .displays = true)
{
    static const int types[] = {3, 5, 7, 10, 18};

    for (unsigned i = 0; i < 5; i++)
        notify_type(f, types[i]);
    CHECK_RULE("SUBMIT-072", verify_count(f->log, VERIFY_NOTE) == 0);
}

TEST(a_page_fault_that_cannot_be_recovered_is_fatal)
{
    FATAL_AS("SUBMIT-079", NULL, report_hardware_error, "GPUVA-255", 0x119, 0xC);
    FATAL_AS("SUBMIT-078", NULL, report_fault_without_fence_or_reset, "GPUVA-253", 0x119, 0xD);
    FATAL_AS("SUBMIT-078", NULL, report_fault_with_invalid_fence, "GPUVA-253", 0x119, 0xD);
}

TEST(a_fault_in_a_paging_buffer_is_fatal)
{
    FATAL(NULL, report_fault_of_paging, "SUBMIT-076", 0x119, 0x5);
}
