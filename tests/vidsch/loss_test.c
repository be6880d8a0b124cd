/* SPDX-License-Identifier: MIT */
/* What is said of faults and resets: whole lines. The memory manager of these tests says "owner
 * of" and "walk of" an address. */
#include "sim/machine.h"
#include "verify/refusal.h"
#include "nt/base/kprocess.h"
#include "vidmm/process.h"
#include "vidsch/loss_report.h"
#include "vidsch/process.h"
#include "vidsch/support/hang.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is(const char *line, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool is(const char *line, const char *format, ...)
{
    char expected[1536];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(expected, sizeof(expected), format, arguments);
    va_end(arguments);
    if (strcmp(line, expected) == 0)
        return true;
    printf("    got      %s\n    expected %s\n", line, expected);
    return false;
}

/* The packet that hangs in hang_make. */
static const char *packet_a(const struct hang *s)
{
    static char text[160];

    snprintf(text, sizeof(text), "node 1, engine 0, fence 1, context %u, process %u (%s)",
             ddi_handle_number(s->a->mm.host_handle), s->guilty->process->id,
             vidmm_process_nt(s->guilty->process->mm)->name);
    return text;
}

static void notify_page_fault(struct fixture *f, UINT fence, UINT flags)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PAGE_FAULTED};

    data.DmaPageFaulted.FaultedFenceId = fence;
    data.DmaPageFaulted.PageFaultFlags = (DXGK_PAGE_FAULT_FLAGS)flags;
    data.DmaPageFaulted.FaultedVirtualAddress = 0xABC000;
    data.DmaPageFaulted.NodeOrdinal = 1;
    data.DmaPageFaulted.FaultErrorCode.DeviceSpecificCode = 77;
    data.DmaPageFaulted.FaultErrorCode.IsDeviceSpecificCodeReservedBit = 1;
    driver_notify_now(f, &data);
    pass(5 * MS);
}

TEST_WITH(fixture, a_page_fault_names_packet_and_address)
{
    struct hang s = hang_make(f);

    notify_page_fault(f, 1, DXGK_PAGE_FAULT_WRITE);
    CHECK_RULE("TDR-083",
               is(f->loss[0],
                  "page fault: %s, address 0xabc000, flags 0x%x, device-specific error 0x4d; owner "
                  "of 0xabc000; preemption was not asked for; page tables: walk of 0xabc000",
                  packet_a(&s), DXGK_PAGE_FAULT_WRITE));
    CHECK(f->losses == 1 && is(vidsch_device_loss_text(s.guilty), "%s", f->loss[0]));
    CHECK(is(vidsch_device_loss_text(s.innocent), "%s", ""));
    hang_end(f, &s);
}

/* An access that the bus refused right before belongs to the fault; it is told once. */
TEST_WITH(fixture, a_page_fault_names_what_the_bus_refused)
{
    struct hang s = hang_make(f);
    struct iommu_fault fault = {.address = {0x7000}, .access = IOMMU_WRITE, .bytes = 8};

    vidsch_note_bus_fault(f->vidsch, &fault);
    notify_page_fault(f, 1, 0);
    CHECK_RULE("TDR-083",
               is(f->loss[0],
                  "page fault: %s, address 0xabc000, flags 0x0, device-specific error 0x4d; the bus "
                  "refused a write of the device at 0x7000; owner of 0xabc000; preemption was not "
                  "asked for; page tables: walk of 0xabc000",
                  packet_a(&s)));
    fault.access = IOMMU_READ;
    vidsch_note_bus_fault(f->vidsch, &fault);
    notify_page_fault(f, 0, DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED);
    pass(SECOND);
    CHECK_RULE("TDR-083",
               f->losses == 3 &&
                   strstr(f->loss[1], "; the bus refused a read of the device at 0x7000; ") &&
                   !strstr(f->loss[2], "the bus refused"));
    hang_end(f, &s);
}

TEST_WITH(fixture, a_page_fault_without_a_fence_names_the_oldest_packet)
{
    struct hang s = hang_make(f);

    notify_page_fault(f, 0, DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED);
    pass(SECOND);
    CHECK_RULE("TDR-083",
               is(f->loss[0],
                  "page fault: %s (the oldest packet; the driver named none), address 0xabc000, "
                  "flags 0x%x, device-specific error 0x4d; owner of 0xabc000; preemption was not "
                  "asked for; page tables: walk of 0xabc000",
                  packet_a(&s),
                  DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED));
    CHECK(is(f->loss[1],
             "engine reset (0x141): %s; cause: a page fault; preemption was not asked for; the "
             "driver called the engine unresponsive; commands at address 0xa1; owner of 0xa1; page "
             "tables: walk of 0xa1",
             packet_a(&s)));
    CHECK(f->losses == 2 && is(vidsch_device_loss_text(s.guilty), "%s", f->loss[1]));
    hang_end(f, &s);
}

TEST_WITH(fixture, a_page_fault_may_have_no_packet)
{
    notify_page_fault(f, 0, DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED);
    CHECK_RULE("TDR-083",
               is(f->loss[0],
                  "page fault: node 1, engine 0, no packet, address 0xabc000, flags 0x%x, "
                  "device-specific error 0x4d; preemption was not asked for",
                  DXGK_PAGE_FAULT_FENCE_INVALID | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED));
    CHECK_RULE("TDR-083",
               is(f->loss[1],
                  "engine reset (0x141): node 1, engine 0, no packet was aborted; cause: a page "
                  "fault; preemption was not asked for; the driver called the engine responsive"));
}

static void notify_general_error(struct fixture *f, UINT fence)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_PAGE_FAULTED};

    data.DmaPageFaulted.FaultedFenceId = fence;
    data.DmaPageFaulted.FaultedVirtualAddress = 0xABC000;
    data.DmaPageFaulted.NodeOrdinal = 1;
    data.DmaPageFaulted.FaultErrorCode.GeneralErrorCode = (DXGK_GENERAL_ERROR_CODE)3;
    driver_notify_now(f, &data);
    pass(5 * MS);
}

TEST_WITH(fixture, a_page_fault_may_have_a_general_error)
{
    struct hang s = hang_make(f);

    notify_general_error(f, 1);
    CHECK_RULE("TDR-083", strstr(f->loss[0], ", address 0xabc000, flags 0x0, error 0x3; owner of "));
    hang_end(f, &s);
}

TEST_WITH(fixture, a_dma_fault_names_the_status)
{
    struct hang s = hang_make(f);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data = {.InterruptType = DXGK_INTERRUPT_DMA_FAULTED};

    data.DmaFaulted.FaultedFenceId = 1;
    data.DmaFaulted.Status = STATUS_UNSUCCESSFUL;
    data.DmaFaulted.NodeOrdinal = 1;
    driver_notify_now(f, &data);
    pass(5 * MS);
    CHECK_RULE("TDR-083", is(f->loss[0],
                             "DMA fault: %s: the driver reported STATUS_UNSUCCESSFUL; preemption "
                             "was not asked for",
                             packet_a(&s)));
    hang_end(f, &s);
}

/* The request for preemption takes fence 3. */
TEST_WITH(fixture, an_engine_reset_after_preemption_without_an_answer)
{
    struct hang s = hang_make(f);

    pass(5 * SECOND);
    CHECK_RULE("TDR-083",
               is(f->loss[0],
                  "engine reset (0x141): %s; cause: no progress in TdrDelay (2 s); preemption (id "
                  "1, after a timeout) was asked for 2000.000 ms before and not answered; the "
                  "driver called the engine unresponsive; commands at address 0xa1; owner of 0xa1; "
                  "page tables: walk of 0xa1",
                  packet_a(&s)));
    CHECK(f->losses == 1 && is(vidsch_device_loss_text(s.guilty), "%s", f->loss[0]));
    hang_end(f, &s);
}

/* The packet is submitted again after the answer, and hangs again. */
TEST_WITH(fixture, an_engine_reset_after_an_answer)
{
    struct hang s = hang_make(f);
    uint64_t asked, answered;

    f->driver.engine[1].ignores_preemption = false;
    pass(2 * SECOND + 100 * MS);
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && f->losses == 0);
    asked = call_at(f, CALL_PREEMPT, 0)->time;
    answered = f->vidsch->node[1].preempt_past.answered_at;
    CHECK(answered >= asked && answered < asked + MS);
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-083", strstr(f->loss[0], "cause: a client asked for it; preemption (id 1, after "
                                             "a timeout) was asked for ") &&
                              strstr(f->loss[0], " ms before and answered ") &&
                              !strstr(f->loss[0], "not answered"));
    hang_end(f, &s);
}

TEST_WITH(fixture, a_reset_forgets_preemption_before_it)
{
    struct hang s = hang_make(f);

    pass(5 * SECOND);
    f->driver.engine[1].hang = true;
    submit(s.b, 0xB3, 16);
    pass(MS);
    CHECK(vidsch_force_engine_reset(f->vidsch, 1) == STATUS_SUCCESS);
    CHECK_RULE("TDR-083", f->losses == 2 && strstr(f->loss[1], "commands at address 0xb3;") &&
                              strstr(f->loss[1], "; preemption was not asked for; "));
    hang_end(f, &s);
}

TEST_WITH(fixture, an_adapter_reset, .no_engine_reset = true)
{
    struct hang s = hang_make(f);

    pass(5 * SECOND);
    CHECK_RULE(
        "TDR-083",
        is(f->loss[0],
           "adapter reset (0x117): %s; cause: no progress in TdrDelay (2 s); no engine reset: "
           "SupportPerEngineTDR is FALSE; preemption (id 1, after a timeout) was asked for "
           "2000.000 ms before and not answered; commands at address 0xa1; owner of 0xa1; page tables: walk of 0xa1",
           packet_a(&s)));
    CHECK(f->losses == 1 && is(vidsch_device_loss_text(s.guilty), "%s", f->loss[0]) &&
          is(vidsch_device_loss_text(s.innocent), "%s", f->loss[0]));
    hang_end(f, &s);
}

/* It is told of the node that hung, not of one that was at work before it. */
TEST_WITH(fixture, an_adapter_reset_names_the_node_that_hung, .no_engine_reset = true)
{
    struct vidsch_device *other = make_device(f);
    struct vidsch_context *works = make_context(other, 0);
    struct hang s;

    f->driver.engine[0].run_ns = 10 * SECOND;
    s = hang_make(f);
    pass(3500 * MS);
    render(works, 16);
    pass(SECOND);
    CHECK(f->losses == 1);
    CHECK_RULE("TDR-083",
               strncmp(f->loss[0], "adapter reset (0x117): node 1, engine 0, fence 1, ", 50) == 0);
    CHECK(vidsch_device_state(s.guilty) == D3DKMT_DEVICEEXECUTION_HUNG &&
          vidsch_device_state(other) == D3DKMT_DEVICEEXECUTION_RESET);
    vidsch_device_destroy(other);
    hang_end(f, &s);
}

TEST_WITH(fixture, an_adapter_reset_with_nothing_in_flight)
{
    CHECK(vidsch_force_reset(f->vidsch, true) == STATUS_SUCCESS);
    CHECK_RULE("TDR-083", is(f->loss[0], "adapter reset (0x117): node 0, engine 0, no packet in "
                                         "flight; cause: a client asked for it; preemption was not "
                                         "asked for"));
}

TEST_WITH(fixture, preemption_may_be_switched_off, .no_preemption = true)
{
    struct hang s = hang_make(f);

    pass(5 * SECOND);
    CHECK_RULE("TDR-083", strstr(f->loss[0], "cause: no progress in TdrDelay (2 s); preemption was "
                                             "not asked for"));
    hang_end(f, &s);
}

/* A call that fails for the loss has all but the walk as its reason. */
TEST_WITH(fixture, a_failing_call_says_it)
{
    struct hang s = hang_make(f);
    struct refusal refusal;

    notify_page_fault(f, 1, 0);
    refusal_begin(&refusal);
    CHECK(vidsch_device_check(s.guilty, true) == STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE);
    CHECK_RULE("TDR-083",
               is(refusal.text,
                  "the device was lost before: D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT; page "
                  "fault: %s, address 0xabc000, flags 0x0, device-specific error 0x4d; owner of "
                  "0xabc000; preemption was not asked for",
                  packet_a(&s)));
    refusal_end(&refusal, "test", STATUS_SUCCESS);
    hang_end(f, &s);
}
