/* SPDX-License-Identifier: MIT */
/* Drivers that are not multi-engine aware: no contexts, the device's handle and buffers in their place, one node. */
#include "sim/machine.h"
#include "vidsch/support/fixture.h"

#include <string.h>

static void prepare(struct fixture *f)
{
    f->driver.device_info = (DXGK_DEVICEINFO){.DmaBufferSize = 8000,
                                              .DmaBufferPrivateDataSize = 16,
                                              .AllocationListSize = 20,
                                              .PatchLocationListSize = 30};
}

TEST_WITH(fixture, device_is_asked_for_its_buffers, .single_engine = true, .prepare = prepare)
{
    struct vidsch_device *device = make_device(f);
    const struct call *call = last_call(f, CALL_CREATE_DEVICE);

    CHECK_RULE("PATCH-008", call->create_device.info_is_zero);
    CHECK_RULE("PATCH-008",
               device->info.DmaBufferSize == f->driver.device_info.DmaBufferSize &&
                   device->info.AllocationListSize == f->driver.device_info.AllocationListSize);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, contexts_are_the_hosts_alone, .single_engine = true, .prepare = prepare)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 0), *b = make_context(device, 0);
    struct vidsch_context_request elsewhere = {.node = 1};
    struct vidsch_context *none;
    struct vidsch_client_lists lists;

    CHECK_RULE("PATCH-019", calls_of(f, CALL_CREATE_CONTEXT) == 0);
    CHECK_RULE("KMT-147", vidsch_context_driver_handle(a) == device->driver_handle &&
                              vidsch_context_driver_handle(b) == device->driver_handle);
    CHECK_RULE("KMT-147",
               vidsch_context_create(device, &elsewhere, &none) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("SUBMIT-001", f->config.nodes == 1);
    vidsch_context_lists(a, &lists);
    CHECK_RULE("PATCH-009", lists.command_bytes == 8192 && lists.allocation_count == 20 &&
                                lists.patch_count == 30);
    vidsch_context_destroy(b);
    vidsch_context_destroy(a);
    CHECK_RULE("PATCH-019", calls_of(f, CALL_DESTROY_CONTEXT) == 0);
    vidsch_device_destroy(device);
    CHECK(calls_of(f, CALL_DESTROY_DEVICE) == 1);
}

TEST_WITH(fixture, work_names_the_device, .single_engine = true, .prepare = prepare)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 0);

    memset(context->promise.commands.view, 7, 64);
    CHECK(render(context, 64) == STATUS_SUCCESS);
    idle(device);
    CHECK_RULE("PATCH-019", last_call(f, CALL_RENDER)->handle == device->driver_handle);
    CHECK_RULE("PATCH-009", last_call(f, CALL_RENDER)->render.args.DmaSize >= 8000);
    CHECK_RULE("PATCH-143", last_call(f, CALL_PATCH)->patch.args.hDevice == device->driver_handle);
    CHECK(last_call(f, CALL_SUBMIT)->submit.hDevice == device->driver_handle);
    CHECK_RULE("SUBMIT-001", last_call(f, CALL_SUBMIT)->submit.NodeOrdinal == 0);
    vidsch_context_destroy(context);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, paging_goes_to_node_0, .single_engine = true, .prepare = prepare)
{
    uint64_t ticket = page(f, 100);
    const DXGKARG_SUBMITCOMMAND *sent;

    vidsch_for_vidmm.paging_wait(&f->ddi, ticket);
    sent = &last_call(f, CALL_SUBMIT)->submit;
    CHECK_RULE("PATCH-026", sent->NodeOrdinal == 0);
    CHECK_RULE("SUBMIT-032", sent->NodeOrdinal == 0 && !sent->hDevice);
    CHECK_RULE("PAGE-019", !sent->hDevice && sent->Flags.Value == 1);
    CHECK_RULE("SUBMIT-029", !sent->hDevice);
    CHECK_RULE("PATCH-143", !last_call(f, CALL_PATCH)->patch.args.hDevice);
    CHECK(vidsch_for_vidmm.system_context(&f->ddi) == NULL);
    CHECK(vidsch_for_vidmm.system_device(&f->ddi) == NULL);
    vidsch_for_vidmm.paging_wait(&f->ddi, page(f, 100));
    CHECK_RULE("PATCH-006",
               calls_of(f, CALL_CREATE_DEVICE) == 0 && calls_of(f, CALL_CREATE_CONTEXT) == 0);
}

static void prepare_virtual(struct fixture *f)
{
    prepare(f);
    f->info[0].virtual_addressing = true;
    f->info[0].metadata.GpuMmuSupported = TRUE;
}

/* Its root page table is set for somebody. */
TEST_WITH(fixture, virtual_paging_has_a_device, .single_engine = true, .prepare = prepare_virtual)
{
    vidsch_for_vidmm.paging_wait(&f->ddi, page(f, 100));
    CHECK_RULE("PATCH-006",
               calls_of(f, CALL_CREATE_DEVICE) == 1 && calls_of(f, CALL_CREATE_CONTEXT) == 0);
    CHECK_RULE("PATCH-006", last_call(f, CALL_SUBMIT_VIRTUAL)->submit_virtual.args.hContext ==
                                    f->vidsch->system_device->driver_handle &&
                                f->vidsch->system_device->driver_handle);
}

TEST(only_client_devices_are_destroyed)
{
    struct fixture *f;

    f = fixture_run(&(struct fixture_options){.single_engine = true, .prepare = prepare},
                    paging_goes_to_node_0);
    CHECK(f->finished && f->leaked == 0);
    CHECK_RULE("PATCH-006", calls_of(f, CALL_DESTROY_DEVICE) == 0);
    fixture_close(f);
}

TEST_WITH(fixture, creation_survives_every_failing_allocation, .single_engine = true,
          .prepare = prepare)
{
    struct vidsch_context_request request = {.node = 0};
    unsigned failures = 0;
    bool done = false;

    for (uint64_t n = 1; !done; n++) {
        struct vidsch_device *device = NULL;
        struct vidsch_context *context = NULL;
        NTSTATUS status;

        f->sim->heap.fail_at = f->sim->heap.requests + n;
        status = vidsch_device_create(f->vidsch, &f->client, NULL, &device);
        if (NT_SUCCESS(status))
            status = vidsch_context_create(device, &request, &context);
        f->sim->heap.fail_at = 0;
        done = NT_SUCCESS(status);
        failures += !done;
        CHECK(done || status == STATUS_NO_MEMORY);
        if (context)
            vidsch_context_destroy(context);
        if (device)
            vidsch_device_destroy(device);
    }
    CHECK(failures >= 4);
}
