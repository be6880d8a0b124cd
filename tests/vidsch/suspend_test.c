/* SPDX-License-Identifier: MIT */
/* Standstill of the scheduler: what the driver has is finished, what is queued stays queued. */
#include "vidsch/support/fixture.h"

static uint32_t sent(const struct fixture *f)
{
    return calls_of(f, CALL_SUBMIT_VIRTUAL) + calls_of(f, CALL_SUBMIT);
}

static bool engines_idle(const struct fixture *f)
{
    for (uint32_t i = 0; i < 2; i++)
        if (f->vidsch->node[i].count > 0 ||
            f->driver.engine[i].completed != f->driver.engine[i].submitted)
            return false;
    return true;
}

TEST_WITH(fixture, nothing_is_submitted_meanwhile)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *virtual = make_context(device, 1), *physical = make_context(device, 0);
    struct vidsch_sync *fence = make_fence(device, 0);
    uint32_t before;

    f->driver.engine[0].run_ns = f->driver.engine[1].run_ns = MS;
    for (unsigned i = 0; i < 8; i++) {
        CHECK(submit(virtual, 0x1000 * (i + 1), 16) == STATUS_SUCCESS);
        CHECK(render(physical, 16) == STATUS_SUCCESS);
    }
    CHECK(signal_gpu(virtual, fence, 1) == STATUS_SUCCESS);
    pass(MS / 2);
    CHECK(!engines_idle(f));
    CHECK_RULE("IOMMU-057/a",
               vidsch_suspend(f->vidsch, SECOND) == STATUS_SUCCESS && engines_idle(f));
    before = sent(f);
    CHECK(before > 0 && before < 16);
    CHECK(submit(virtual, 0x20000, 16) == STATUS_SUCCESS); /* taken, and kept */
    pass(10 * SECOND);                                     /* nor is anything missed */
    CHECK_RULE("IOMMU-057/b", sent(f) == before && engines_idle(f));
    CHECK_RULE("IOMMU-061/b", calls_of(f, CALL_RESET_ENGINE) == 0 && calls_of(f, CALL_PREEMPT) == 0);
    vidsch_resume(f->vidsch);
    CHECK(vidsch_device_wait_idle(device) == STATUS_SUCCESS);
    CHECK_RULE("IOMMU-057/b", sent(f) == 17 && wait_cpu(fence, 1) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, standstills_nest)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    CHECK(vidsch_suspend(f->vidsch, SECOND) == STATUS_SUCCESS);
    CHECK(vidsch_suspend(f->vidsch, SECOND) == STATUS_SUCCESS);
    CHECK(submit(context, 0x1000, 16) == STATUS_SUCCESS);
    vidsch_resume(f->vidsch);
    pass(MS);
    CHECK(sent(f) == 0);
    vidsch_resume(f->vidsch);
    CHECK(vidsch_device_wait_idle(device) == STATUS_SUCCESS && sent(f) == 1);
    vidsch_device_destroy(device);
}

/* An engine that hangs is recovered as ever; then all is still. */
TEST_WITH(fixture, a_limit_is_kept)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].hang = true;
    CHECK(submit(context, 0x1000, 16) == STATUS_SUCCESS);
    pass(MS);
    CHECK(vidsch_suspend(f->vidsch, MS) == STATUS_IO_TIMEOUT);
    CHECK(f->vidsch->suspension.all == 0);
    driver_run(f, 1);
    CHECK(vidsch_suspend(f->vidsch, SECOND) == STATUS_SUCCESS && engines_idle(f));
    vidsch_resume(f->vidsch);
    CHECK(vidsch_device_wait_idle(device) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}
