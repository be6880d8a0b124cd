/* SPDX-License-Identifier: MIT */
/* Devices and contexts: what the driver is told, what it may answer, and what the client gets. */
#include "nt/base/current.h"
#include "sim/irql.h"
#include "vidsch/support/fixture.h"

#include <string.h>

/* ---- devices ---- */

TEST_WITH(fixture, device_handles_and_flags)
{
    struct vidsch_device *device = make_device(f);
    const struct call *system = call_at(f, CALL_CREATE_DEVICE, 0),
                      *call = call_at(f, CALL_CREATE_DEVICE, 2);
    HANDLE on_entry = call->create_device.args.hDevice;

    CHECK(call->irql == SIM_IRQL_PASSIVE);
    CHECK_RULE("PATCH-002", call->handle == f->ddi.context);
    CHECK_RULE("PATCH-003", ddi_handle_lookup(&f->ddi.handles, on_entry, DDI_HANDLE_DEVICE) != NULL);
    make_context(device, 1);
    CHECK_RULE("PATCH-003", last_call(f, CALL_CREATE_CONTEXT)->handle == device->driver_handle &&
                                device->driver_handle != on_entry);
    CHECK_RULE("PATCH-005",
               (system->create_device.flags & 1) == 1 && (call->create_device.flags & 1) == 0);
    CHECK_RULE("PATCH-007", call->create_device.flags == 0);
    CHECK_RULE("PATCH-012", call->create_device.args.Pasid == 0);
    CHECK_RULE("PATCH-011", call->create_device.args.hKmdProcess == NULL);
    CHECK(vidsch_device_mm(device)->owner == device &&
          vidsch_device_state(device) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    vidsch_device_destroy(device);
    CHECK(!ddi_handle_lookup(&f->ddi.handles, on_entry, DDI_HANDLE_DEVICE));
}

TEST_WITH(fixture, a_device_is_told_its_process, .create_process = true)
{
    struct vidsch_device *device = make_device(f);

    CHECK_RULE("PATCH-011", last_call(f, CALL_CREATE_DEVICE)->create_device.args.hKmdProcess ==
                                f->client.driver_handle);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, system_objects_come_first)
{
    const struct call *first = call_at(f, CALL_CREATE_DEVICE, 0),
                      *device = call_at(f, CALL_CREATE_DEVICE, 1),
                      *context = call_at(f, CALL_CREATE_CONTEXT, 0);

    CHECK_RULE("PATCH-006",
               calls_of(f, CALL_CREATE_DEVICE) == 2 && calls_of(f, CALL_CREATE_CONTEXT) == 1 &&
                   (first->create_device.flags & 1) && (device->create_device.flags & 1) &&
                   context->create_context.args.Flags.SystemContext);
    CHECK_RULE("PATCH-025", context->create_context.args.NodeOrdinal == f->config.paging_node);
    CHECK_RULE("SUBMIT-106", context->create_context.args.Flags.VirtualAddressing == 1);
    CHECK(context->handle == f->vidsch->system_device->driver_handle);
    CHECK(vidsch_for_vidmm.system_context(&f->ddi) == f->vidsch->system_context->mm.driver_handle);
    CHECK(vidsch_for_vidmm.system_device(&f->ddi) == f->vidsch->system_device->driver_handle);
}

TEST_WITH(fixture, a_refused_device_leaves_nothing)
{
    static const NTSTATUS refusals[] = {STATUS_NO_MEMORY, STATUS_UNSUCCESSFUL};
    uint32_t live = f->ddi.handles.table.live;

    for (size_t i = 0; i < 2; i++) {
        struct vidsch_device *device = NULL;

        f->driver.status[CALL_CREATE_DEVICE] = refusals[i];
        CHECK_RULE("PATCH-013",
                   vidsch_device_create(f->vidsch, &f->client, NULL, &device) == refusals[i]);
        CHECK_RULE("PATCH-013", !device && f->ddi.handles.table.live == live &&
                                    calls_of(f, CALL_DESTROY_DEVICE) == 0);
    }
    f->driver.status[CALL_CREATE_DEVICE] = STATUS_SUCCESS;
}

TEST_WITH(fixture, unchanged_handle_is_reported)
{
    struct vidsch_device *device;

    f->driver.keep_handles = true;
    device = make_device(f);
    f->driver.keep_handles = false;
    CHECK_RULE("PATCH-004", violations(f, "PATCH-004") == 1);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, same_handle_twice_is_reported)
{
    struct vidsch_device *a = make_device(f), *b;

    f->driver.next_handle--;
    b = make_device(f);
    CHECK_RULE("PATCH-004", violations(f, "PATCH-004") == 1);
    vidsch_device_destroy(a);
    vidsch_device_destroy(b);
    a = make_device(f); /* the handle of a dead device is free again */
    CHECK(violations(f, "PATCH-004") == 1);
    vidsch_device_destroy(a);
}

enum { MANY = 300 };

TEST_WITH(fixture, as_many_as_memory_holds)
{
    static struct vidsch_device *devices[MANY];

    for (int i = 0; i < MANY; i++)
        devices[i] = make_device(f);
    CHECK_RULE("PATCH-014", f->vidsch->processes.next != &f->vidsch->processes &&
                                calls_of(f, CALL_CREATE_DEVICE) == MANY + 2);
    for (int i = 0; i < MANY; i++)
        CHECK(vidsch_device_state(devices[i]) == D3DKMT_DEVICEEXECUTION_ACTIVE);
    for (int i = 0; i < MANY; i++)
        make_context(devices[0], 1);
    CHECK_RULE("PATCH-034", calls_of(f, CALL_CREATE_CONTEXT) == MANY + 1);
    for (int i = 0; i < MANY; i++)
        vidsch_device_destroy(devices[i]);
    CHECK(calls_of(f, CALL_DESTROY_CONTEXT) == MANY);
}

TEST_WITH(fixture, a_prototype_serves_one_process, .compute_only = true, .virtual_mask = 0x80)
{
    struct vidsch_device *mine = make_device(f), *device = NULL;
    uint32_t calls = calls_of(f, CALL_CREATE_DEVICE);

    CHECK_RULE("PATCH-016", vidsch_device_create(f->vidsch, &f->other_client, NULL, &device) ==
                                STATUS_ACCESS_DENIED);
    CHECK_RULE("PATCH-016", calls_of(f, CALL_CREATE_DEVICE) == calls);
    CHECK_RULE("PATCH-015",
               vidsch_device_create(f->vidsch, &f->client, NULL, &device) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
    vidsch_device_destroy(mine);
    CHECK_RULE("PATCH-015",
               vidsch_device_create(f->vidsch, &f->other_client, NULL, &device) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, destruction_waits_and_goes_in_order)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);
    uint32_t last;

    make_context(device, 0);
    for (int i = 0; i < 5; i++)
        submit(context, 0x1000, 16);
    vidsch_device_destroy(device);
    last = f->driver.call_count - 1;
    CHECK_RULE("PATCH-017", f->driver.calls[last].kind == CALL_DESTROY_DEVICE &&
                                f->driver.calls[last].irql == SIM_IRQL_PASSIVE);
    CHECK_RULE("PATCH-017", f->driver.calls[last - 1].kind == CALL_DESTROY_CONTEXT &&
                                f->driver.calls[last - 2].kind == CALL_DESTROY_CONTEXT &&
                                f->mm.device_destroyed_at == 1 && f->mm.order == 2);
    CHECK_RULE("PATCH-017", f->driver.engine[1].completed == 5);
    CHECK_RULE("PATCH-052", calls_of(f, CALL_SUBMIT_VIRTUAL) == 5);
}

TEST_WITH(fixture, failing_destruction_is_reported)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    f->driver.status[CALL_DESTROY_DEVICE] = f->driver.status[CALL_DESTROY_CONTEXT] =
        STATUS_UNSUCCESSFUL;
    vidsch_context_destroy(context);
    CHECK_RULE("PATCH-053", violations(f, "PATCH-053") == 1 && list_empty(&device->contexts));
    vidsch_device_destroy(device);
    CHECK_RULE("PATCH-018",
               violations(f, "PATCH-018") == 1 && calls_of(f, CALL_DESTROY_DEVICE) == 1);
    f->driver.status[CALL_DESTROY_DEVICE] = f->driver.status[CALL_DESTROY_CONTEXT] = STATUS_SUCCESS;
}

static void create_in_thread(void *arg)
{
    struct fixture *f = arg;
    struct vidmm_process *process = nt_process_current() == f->process ? &f->client
                                                                       : &f->other_client;

    vidsch_device_destroy(make_device_of(f, process));
}

TEST_WITH(fixture, processes_overlap_and_threads_of_one_do_not)
{
    struct sim_thread *threads[2];

    f->driver.stall_ns = 50000;
    for (int i = 0; i < 2; i++)
        threads[i] = spawn(f, create_in_thread, f);
    for (int i = 0; i < 2; i++)
        join(threads[i]);
    CHECK_RULE("PATCH-001", f->driver.most_inside_zero == 1);
    threads[0] = spawn(f, create_in_thread, f);
    threads[1] = spawn_in(f->other_process, create_in_thread, f);
    for (int i = 0; i < 2; i++)
        join(threads[i]);
    CHECK_RULE("PATCH-001", f->driver.most_inside_zero == 2);
}

/* ---- contexts: what the driver is told ---- */

TEST_WITH(fixture, context_arguments)
{
    struct vidsch_device *device = make_device(f);
    char private_data[] = "0123456789abcdef";
    struct vidsch_context_request request = {
        .node = 0, .private_data = private_data, .private_bytes = 16};
    struct vidsch_context *context, *other;
    const struct call *call;

    CHECK(vidsch_context_create(device, &request, &context) == STATUS_SUCCESS);
    call = last_call(f, CALL_CREATE_CONTEXT);
    CHECK_RULE("PATCH-020", calls_of(f, CALL_CREATE_CONTEXT) == 2 &&
                                call->irql == SIM_IRQL_PASSIVE &&
                                call->handle == device->driver_handle);
    CHECK_RULE("PATCH-021", ddi_handle_lookup(&f->ddi.handles, call->create_context.args.hContext,
                                              DDI_HANDLE_CONTEXT) == &context->mm);
    CHECK_RULE("PATCH-021", context->mm.driver_handle != call->create_context.args.hContext);
    CHECK_RULE("PATCH-023", call->create_context.args.EngineAffinity == 1);
    CHECK_RULE("PATCH-025", call->create_context.args.Flags.SystemContext == 0);
    CHECK_RULE("PATCH-029", call->create_context.args.Flags.Value == 0);
    CHECK_RULE("PATCH-031", call->create_context.args.pPrivateDriverData != private_data &&
                                memcmp(call->create_context.private_data, private_data, 16) == 0);
    CHECK_RULE("PATCH-032", call->create_context.info_is_zero);
    request = (struct vidsch_context_request){
        .node = 1, .virtual_addressing = true, .engine_affinity = 1};
    CHECK(vidsch_context_create(device, &request, &other) == STATUS_SUCCESS);
    call = last_call(f, CALL_CREATE_CONTEXT);
    CHECK_RULE("PATCH-023", call->create_context.args.EngineAffinity == 1);
    CHECK_RULE("PATCH-029", call->create_context.args.Flags.Value == 4);
    CHECK_RULE("PATCH-031", call->create_context.args.pPrivateDriverData == NULL);
    CHECK(f->mm.attached == 3 && vidsch_context_device(other) == device);
    vidsch_device_destroy(device);
    CHECK(f->mm.detached == 2 && f->mm.finished == 2);
}

static NTSTATUS try_context(struct vidsch_device *device, UINT node, bool is_virtual, UINT affinity,
                            UINT flags)
{
    struct vidsch_context_request request = {
        .node = node, .virtual_addressing = is_virtual, .engine_affinity = affinity};
    struct vidsch_context *context = NULL;
    NTSTATUS status;

    request.flags.Value = flags;
    status = vidsch_context_create(device, &request, &context);
    if (NT_SUCCESS(status))
        vidsch_context_destroy(context);
    else
        CHECK(!context);
    return status;
}

TEST_WITH(fixture, bad_requests_do_not_reach_the_driver)
{
    struct vidsch_device *device = make_device(f);
    uint32_t calls = calls_of(f, CALL_CREATE_CONTEXT);

    CHECK_RULE("PATCH-022", try_context(device, 2, false, 0, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PATCH-024", try_context(device, 0, false, 2, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("SUBMIT-011", try_context(device, 0, true, 0, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("CAPS-102/b", try_context(device, 1, false, 0, 0) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("KMT-149", try_context(device, 0, false, 0, 0x40) == STATUS_INVALID_PARAMETER);
    CHECK(try_context(device, 1, true, 0, 0x10) == STATUS_NOT_SUPPORTED); /* HwQueueSupported */
    CHECK_RULE("PATCH-022", calls_of(f, CALL_CREATE_CONTEXT) == calls);
    CHECK_RULE("PATCH-024", try_context(device, 0, false, 0, 0) == STATUS_SUCCESS &&
                                try_context(device, 0, false, 1, 0) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_synchronization_context_takes_no_commands)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context_request request = {
        .node = 1, .virtual_addressing = true, .flags.SynchronizationOnly = 1};
    struct vidsch_sync *fence = make_fence(device, 0);
    struct vidsch_context *context, *physical;

    CHECK(vidsch_context_create(device, &request, &context) == STATUS_SUCCESS);
    CHECK(submit(context, 0, 0) == STATUS_INVALID_PARAMETER);
    request = (struct vidsch_context_request){.flags.SynchronizationOnly = 1};
    CHECK(vidsch_context_create(device, &request, &physical) == STATUS_SUCCESS);
    CHECK(render(physical, 0) == STATUS_INVALID_PARAMETER);
    CHECK(signal_gpu(physical, fence, 1) == STATUS_SUCCESS &&
          wait_gpu(context, fence, 1) == STATUS_SUCCESS);
    CHECK(signal_gpu(context, fence, 2) == STATUS_SUCCESS && wait_cpu(fence, 2) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

/* ---- contexts: what the driver answers ---- */

TEST_WITH(fixture, a_refused_context_leaves_nothing)
{
    static const NTSTATUS refusals[] = {STATUS_NO_MEMORY, STATUS_GRAPHICS_DRIVER_MISMATCH};
    struct vidsch_device *device = make_device(f);
    uint32_t live = f->ddi.handles.table.live;

    for (size_t i = 0; i < 2; i++) {
        f->driver.status[CALL_CREATE_CONTEXT] = refusals[i];
        CHECK_RULE("PATCH-033", try_context(device, 0, false, 0, 0) == refusals[i]);
    }
    CHECK_RULE("PATCH-033", calls_of(f, CALL_DESTROY_CONTEXT) == 0 &&
                                f->ddi.handles.table.live == live && list_empty(&device->contexts));
    f->driver.status[CALL_CREATE_CONTEXT] = STATUS_SUCCESS;
    f->mm.attach_status = STATUS_NO_MEMORY;
    CHECK(try_context(device, 0, false, 0, 0) == STATUS_NO_MEMORY &&
          calls_of(f, CALL_DESTROY_CONTEXT) == 1);
    f->mm.attach_status = STATUS_SUCCESS;
    vidsch_device_destroy(device);
}

/* An answer that is only not expected: a warning, and a context; a refusal if the rule is set to error. */
static bool only_expected(struct fixture *f, struct vidsch_device *device, uint32_t node,
                          const char *rule)
{
    bool good = try_context(device, node, node == 1, 0, 0) == STATUS_SUCCESS &&
                violations(f, rule) == 1;
    const size_t before = calls_of(f, CALL_DESTROY_CONTEXT);

    CHECK(verify_set_severity(verify_current, rule, VERIFY_ERROR));
    good = good && try_context(device, node, node == 1, 0, 0) == STATUS_INVALID_PARAMETER &&
           calls_of(f, CALL_DESTROY_CONTEXT) == before + 1;
    CHECK(verify_set_severity(verify_current, rule, VERIFY_WARNING));
    return good;
}

TEST_WITH(fixture, answers_are_checked, .aperture_set = 6)
{
    struct vidsch_device *device = make_device(f);
    DXGK_CONTEXTINFO good = f->driver.info[0];

    f->driver.info[0].DmaBufferSize = 0;
    CHECK_RULE("PATCH-036", only_expected(f, device, 0, "PATCH-036"));
    f->driver.info[1].DmaBufferSize = 0;
    CHECK(try_context(device, 1, true, 0, 0) == STATUS_SUCCESS); /* takes no DMA buffers */
    f->driver.info[0] = good;
    f->driver.info[0].DmaBufferSegmentSet = 5; /* segments 1 and 3, but only 2 and 3 are apertures */
    CHECK_RULE("PATCH-038", only_expected(f, device, 0, "PATCH-038"));
    check_rule_record("PATCH-037", __FILE__, __LINE__, __func__);
    f->driver.info[0].DmaBufferSegmentSet = 4;
    CHECK_RULE("PATCH-037", try_context(device, 0, false, 0, 0) == STATUS_SUCCESS);
    f->driver.info[0] = good;
    f->driver.info[0].Reserved = 1;
    CHECK_RULE("PATCH-047", try_context(device, 0, false, 0, 0) == STATUS_SUCCESS &&
                                violations(f, "PATCH-047") == 1);
    f->driver.info[0] = good;
    f->driver.info[0].Caps.UseIoMmu = 1;
    CHECK_RULE("PATCH-049", only_expected(f, device, 0, "PATCH-049"));
    f->driver.info[0] = good;
    f->driver.info[0].Caps.Reserved = 1;
    CHECK_RULE("PATCH-049", try_context(device, 0, false, 0, 0) == STATUS_SUCCESS &&
                                violations(f, "PATCH-049") == 3);
    f->driver.info[0] = good;
    f->driver.info[0].PagingCompanionNodeId = 2;
    CHECK_RULE("GPUVA-138", try_context(device, 0, false, 0, 0) == STATUS_SUCCESS &&
                                violations(f, "GPUVA-138") == 0);
    f->driver.info[1].PagingCompanionNodeId = 2;
    CHECK_RULE("GPUVA-138", only_expected(f, device, 1, "GPUVA-138"));
    CHECK_RULE("PATCH-050", violations(f, "GPUVA-138") > 0);
    f->driver.info[1].PagingCompanionNodeId = 1; /* the last there is */
    CHECK_RULE("PATCH-050", try_context(device, 1, true, 0, 0) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, the_first_lists)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 0), *other = make_context(device, 1);
    struct vidsch_client_lists lists;

    vidsch_context_lists(context, &lists);
    CHECK_RULE("PATCH-051", lists.command_buffer && lists.command_bytes >= 8192 &&
                                lists.allocations && lists.patches);
    CHECK_RULE("PATCH-045", lists.allocation_count == 8);
    CHECK_RULE("PATCH-046", lists.patch_count == 16);
    CHECK_RULE("KMT-154", ((uintptr_t)lists.command_buffer | (uintptr_t)lists.allocations |
                           (uintptr_t)lists.patches) %
                                  4096 ==
                              0);
    for (UINT i = 0; i < lists.command_bytes; i++)
        CHECK(((uint8_t *)lists.command_buffer)[i] == 0);
    memset(lists.command_buffer, 1, lists.command_bytes);
    CHECK_RULE("PATCH-051", render(context, 16) == STATUS_SUCCESS);
    vidsch_context_lists(other, &lists);
    CHECK_RULE("KMT-144", !lists.command_buffer && !lists.allocations && !lists.patches);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, no_patching_means_no_patching)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_client_lists lists;
    struct vidsch_context *context;

    f->driver.info[0].Caps.NoPatchingRequired = 1;
    context = make_context(device, 0);
    vidsch_context_lists(context, &lists);
    CHECK_RULE("PATCH-048",
               lists.allocation_count == 16 && lists.patch_count == 0 && !lists.patches);
    CHECK(render(context, 16) == STATUS_SUCCESS &&
          vidsch_device_wait_idle(device) == STATUS_SUCCESS);
    CHECK_RULE("PATCH-048", calls_of(f, CALL_SUBMIT) == 1 && calls_of(f, CALL_PATCH) == 0);
    CHECK(call_at(f, CALL_RENDER, 0)->render.args.PatchLocationListOutSize == 0);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, priorities_are_checked)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    CHECK_RULE("SUBMIT-020", vidsch_context_priority(context) == 0);
    CHECK_RULE("SUBMIT-020",
               vidsch_context_set_priority(context, 8) == STATUS_INVALID_PARAMETER &&
                   vidsch_context_set_priority(context, -8) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("SUBMIT-020", vidsch_context_set_priority(context, -7) == STATUS_SUCCESS &&
                                 vidsch_context_priority(context) == -7 &&
                                 vidsch_context_set_priority(context, 7) == STATUS_SUCCESS);
    vidsch_device_destroy(device);
}

/* ---- the adapter ---- */

static void nothing_to_do(struct fixture *f)
{
    (void)f;
}

TEST(configurations_are_checked)
{
    struct fixture *f = fixture_run(NULL, nothing_to_do);
    struct vidsch *vidsch = NULL;

    f->config.paging_node = 2;
    CHECK_RULE("PATCH-028",
               vidsch_create(&f->config, &vidsch) == STATUS_DEVICE_CONFIGURATION_ERROR && !vidsch);
    f->config.paging_node = 0;
    f->config.nodes = 65;
    CHECK_RULE("SUBMIT-002",
               vidsch_create(&f->config, &vidsch) == STATUS_DEVICE_CONFIGURATION_ERROR);
    f->config.nodes = 0;
    CHECK_RULE("SUBMIT-002",
               vidsch_create(&f->config, &vidsch) == STATUS_DEVICE_CONFIGURATION_ERROR);
    fixture_close(f);
}

static NTSTATUS no_buffer(struct fixture *f, DXGKARG_CREATECONTEXT *args)
{
    (void)f;
    if (args->Flags.SystemContext)
        args->ContextInfo.DmaBufferSize = 0;
    return STATUS_SUCCESS;
}

static void set_no_buffer(struct fixture *f)
{
    f->driver.on_create_context = no_buffer;
}

/* Paging buffers have the size of DXGK_QUERYSEGMENTOUT4. */
TEST_WITH(fixture, nobody_asks_a_paging_context_for_the_size_of_its_buffers,
          .prepare = set_no_buffer)
{
    CHECK_RULE("PATCH-036", f->start_status == STATUS_SUCCESS && violations(f, "PATCH-036") == 0);
}
