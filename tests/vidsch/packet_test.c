/* SPDX-License-Identifier: MIT */
/* Packets on less trodden ways: canceled without private data, put back while they were patched, waited for by ticket. */
#include "sim/machine.h"
#include "sim/thread.h"
#include "vidsch/process.h"
#include "vidsch/recovery.h"
#include "vidsch/support/hang.h"
#include "vidsch/support/render_client.h"
#include "vidsch/sync_view.h"

#include <stdio.h>
#include <string.h>

/* ---- canceled ---- */

static void without_private_data(struct fixture *f)
{
    f->driver.info[0].DmaBufferPrivateDataSize = f->driver.info[1].DmaBufferPrivateDataSize = 0;
}

TEST_WITH(fixture, packets_without_private_data_are_canceled, .cancel_aware = true,
          .prepare = without_private_data)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 0);
    const DXGKARG_CANCELCOMMAND *cancel;

    f->driver.engine[0].hang = f->driver.engine[1].hang = true;
    for (unsigned i = 0; i < 3; i++) {
        submit(a, 0x7000 + i, 16);
        render(b, 48);
    }
    pass(MS);
    vidsch_device_mark_error(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    pass(MS);
    CHECK(calls_of(f, CALL_CANCEL) == 2);
    cancel = &call_at(f, CALL_CANCEL, 0)->cancel;
    CHECK_RULE("TDR-063", cancel->DmaBufferVirtualAddress == 0x7002 && cancel->DmaBufferSize == 16 &&
                              !cancel->pDmaBuffer && !cancel->pDmaBufferPrivateData &&
                              cancel->DmaBufferPrivateDataSize == 0);
    cancel = &call_at(f, CALL_CANCEL, 1)->cancel;
    CHECK_RULE("TDR-063", cancel->pDmaBuffer && !cancel->pDmaBufferPrivateData &&
                              cancel->DmaBufferSubmissionStartOffset == 0 &&
                              cancel->DmaBufferSubmissionEndOffset == 48);
    driver_run(f, 0);
    driver_run(f, 1);
    idle(device);
    vidsch_device_destroy(device);
}

/* What was on the node before is not announced: the driver has seen it. */
TEST_WITH(fixture, what_came_back_is_not_canceled, .cancel_aware = true)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.engine[1].hang = true;
    submit(context, 0x1000, 16);
    submit(context, 0x2000, 16);
    submit(context, 0x3000, 16);
    pass(MS);
    page(f, 64); /* preempts */
    pass(MS);
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && f->vidsch->node[1].count == 2);
    vidsch_device_mark_error(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    pass(MS);
    CHECK(calls_of(f, CALL_CANCEL) == 1 &&
          call_at(f, CALL_CANCEL, 0)->cancel.DmaBufferVirtualAddress == 0x3000);
    driver_run(f, 1);
    idle(device);
    vidsch_device_destroy(device);
}

/* ---- rejected when their turn comes ---- */

static void reject(struct fixture *f, bool destroyed)
{
    struct client c = make_client(f);
    struct vidmm_open *a = memory_open(f, c.device, 0x10000), *b = memory_open(f, c.device, 0x20000);
    const D3DKMT_HANDLE handle = b->handle;
    char text[160];

    reference(&c, 0, a, false);
    reference(&c, 1, b, true);
    f->driver.engine[0].hang = true;
    render(c.context, 16);
    render(c.context, 16); /* the node is full */
    CHECK(render_lists(&c, 16, 2, 0) == STATUS_SUCCESS);
    if (destroyed)
        memory_close(f, b);
    else
        b->listed = false;
    driver_run(f, 0);
    idle(c.device);
    snprintf(text, sizeof(text),
             "allocation 0x%x, element 1 of a Render, %s when its turn came; the device is in error",
             handle, destroyed ? "was destroyed" : "was not on the residency list");
    CHECK_RULE("GPUVA-247", reported(f, "GPUVA-247", text) && calls_of(f, CALL_SUBMIT) == 2);
    CHECK(vidsch_device_state(c.device) == D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT &&
          strcmp(vidsch_device_loss_text(c.device),
                 "its allocations could not be placed, or DxgkDdiPatch failed") == 0);
    memory_close(f, a);
    if (!destroyed)
        memory_close(f, b);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, an_allocation_that_left_the_list_rejects_its_packet)
{
    reject(f, false);
}

TEST_WITH(fixture, an_allocation_that_is_destroyed_rejects_its_packet)
{
    reject(f, true);
}

TEST_WITH(fixture, a_context_may_be_of_null_rendering)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context_request request = {.flags.NullRendering = 1};
    struct vidsch_context *null, *usual = make_context(device, 0);

    CHECK(vidsch_context_create(device, &request, &null) == STATUS_SUCCESS);
    render(null, 16);
    idle(device);
    render(usual, 16);
    idle(device);
    CHECK_RULE("PATCH-096", call_at(f, CALL_PATCH, 0)->patch.args.Flags.NullRendering &&
                                call_at(f, CALL_SUBMIT, 0)->submit.Flags.NullRendering &&
                                !call_at(f, CALL_PATCH, 1)->patch.args.Flags.NullRendering &&
                                !call_at(f, CALL_SUBMIT, 1)->submit.Flags.NullRendering);
    vidsch_device_destroy(device);
}

/* ---- closed while it was patched ---- */

static NTSTATUS close_the_node(struct fixture *f, const DXGKARG_PATCH *args)
{
    f->driver.on_patch = NULL;
    CHECK(args->Flags.Paging);
    vidsch_recovery_want_engine(&f->vidsch->node[0], RECOVER_FORCED);
    return STATUS_SUCCESS;
}

/* It comes again, with the id that it had, and before others. */
TEST_WITH(fixture, paging_of_a_closed_node_is_put_back, .physical_paging = true)
{
    struct vidsch_device *device = make_device(f);
    uint64_t first, second;

    f->driver.on_patch = close_the_node;
    first = page(f, 64);
    second = page(f, 128);
    pass(MS);
    CHECK(calls_of(f, CALL_PATCH) == 3 && calls_of(f, CALL_SUBMIT) == 2);
    CHECK_RULE("PAGE-024", call_at(f, CALL_PATCH, 0)->patch.args.SubmissionFenceId == 1 &&
                               call_at(f, CALL_PATCH, 1)->patch.args.SubmissionFenceId == 1 &&
                               call_at(f, CALL_SUBMIT, 0)->submit.SubmissionFenceId == 1 &&
                               call_at(f, CALL_SUBMIT, 1)->submit.SubmissionFenceId == 2);
    CHECK(call_at(f, CALL_SUBMIT, 0)->submit.DmaBufferSubmissionEndOffset -
              call_at(f, CALL_SUBMIT, 0)->submit.DmaBufferSubmissionStartOffset ==
          64);
    CHECK(vidsch_for_vidmm.paging_done(&f->ddi, first) &&
          vidsch_for_vidmm.paging_done(&f->ddi, second) &&
          !vidsch_for_vidmm.paging_done(&f->ddi, second + 1));
    vidsch_device_destroy(device);
}

/* ---- waited for ---- */

struct ticket {
    struct vidsch_device *device;
    uint64_t ticket, done_at;
};

static void wait_for_ticket(void *arg)
{
    struct ticket *t = arg;

    CHECK(vidsch_for_vidmm.device_wait(t->device->mm, t->ticket) == STATUS_SUCCESS);
    t->done_at = sim_now();
}

TEST_WITH(fixture, the_first_of_several_tickets_is_watched, .depth = 4)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    struct ticket t[3] = {{.device = device, .ticket = 2},
                          {.device = device, .ticket = 1},
                          {.device = device, .ticket = 3}};
    struct sim_thread *thread[3];

    f->driver.engine[1].run_ns = MS;
    for (unsigned i = 0; i < 4; i++)
        submit(context, 0x1000, 16);
    CHECK(vidsch_for_vidmm.device_ticket(device->mm) == 4);
    for (unsigned i = 0; i < 3; i++)
        thread[i] = spawn(f, wait_for_ticket, &t[i]);
    for (unsigned i = 0; i < 3; i++)
        join(thread[i]);
    CHECK(t[0].done_at - t[1].done_at >= MS / 2 && t[0].done_at - t[1].done_at < 2 * MS);
    CHECK(t[2].done_at - t[0].done_at >= MS / 2 && t[2].done_at - t[0].done_at < 2 * MS);
    CHECK(vidsch_for_vidmm.device_done(device->mm, 3) &&
          !vidsch_for_vidmm.device_done(device->mm, 4));
    idle(device);
    vidsch_device_destroy(device);
}

/* ---- devices ---- */

static void next_handle_is_null(struct fixture *f)
{
    f->driver.next_handle = (0 - 0xD0000000ull) / 16 - 1;
}

TEST_WITH(fixture, a_driver_may_have_a_null_device_once)
{
    struct vidsch_device *one, *two;

    next_handle_is_null(f);
    one = make_device(f);
    CHECK(!vidsch_device_driver_handle(one));
    CHECK_RULE("PATCH-004", violations(f, "PATCH-004") == 0);
    next_handle_is_null(f);
    two = make_device(f);
    CHECK_RULE("PATCH-004", !vidsch_device_driver_handle(two) && violations(f, "PATCH-004") == 1);
    vidsch_device_destroy(two);
    vidsch_device_destroy(one);
    next_handle_is_null(f);
    one = make_device(f);
    CHECK_RULE("PATCH-004", violations(f, "PATCH-004") == 1);
    vidsch_device_destroy(one);
}

TEST_WITH(fixture, views_end_with_their_device)
{
    struct vidsch_device *device = make_device(f);
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = {.Type = D3DDDI_MONITORED_FENCE};
    struct vidsch_sync_view *view[2];
    struct vidsch_sync *fence;

    info.Flags.Shared = info.Flags.NtSecuritySharing = 1;
    fence = make_sync(device, info);
    for (unsigned i = 0; i < 2; i++)
        CHECK(vidsch_sync_view_create(device, fence, info.Flags, 0, &view[i]) == STATUS_SUCCESS);
    vidsch_device_destroy(device); /* nothing leaks */
}
