/* SPDX-License-Identifier: MIT */
/* What creation of contexts, Render and SubmitCommand refuse before the driver is called, and why. */
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "vidsch/support/render_client.h"

#define BAD_POINTER ((void *)(uintptr_t)8)

/* ---- contexts ---- */

static NTSTATUS create(struct vidsch_device *device, struct vidsch_context_request request)
{
    struct vidsch_context *context = NULL;
    NTSTATUS status = vidsch_context_create(device, &request, &context);

    CHECK(NT_SUCCESS(status) == (context != NULL));
    if (context)
        vidsch_context_destroy(context);
    return status;
}

#define REQUEST(...) \
    ((struct vidsch_context_request){.node = 1, .virtual_addressing = true, __VA_ARGS__})
#define PHYSICAL(...) ((struct vidsch_context_request){__VA_ARGS__})

TEST_WITH(fixture, contexts_are_refused)
{
    struct vidsch_device *device = make_device(f);
    uint32_t calls = calls_of(f, CALL_CREATE_CONTEXT);

    CHECK_REFUSED(create(device, PHYSICAL(.node = 2)), STATUS_INVALID_PARAMETER, "PATCH-022",
                  "node 2, the adapter has 2");
    CHECK_REFUSED(create(device, REQUEST(.engine_affinity = 2)), STATUS_INVALID_PARAMETER,
                  "PATCH-024", "EngineAffinity 0x2, a node has one engine");
    CHECK_REFUSED(create(device, PHYSICAL(.node = 1)), STATUS_INVALID_PARAMETER, "SUBMIT-011",
                  "a context of physical addresses on node 1, which takes GPU virtual ones");
    CHECK_REFUSED(create(device, PHYSICAL(.virtual_addressing = true)), STATUS_INVALID_PARAMETER,
                  "SUBMIT-011",
                  "a context of GPU virtual addresses on node 0, which takes physical ones");
    CHECK_REFUSED(create(device, REQUEST(.flags.Reserved = 1)), STATUS_INVALID_PARAMETER, "KMT-149",
                  "reserved bits in Flags 0x40");
    CHECK_REFUSED(create(device, REQUEST(.flags.NoKmdAccess = 1)), STATUS_INVALID_PARAMETER,
                  "KMT-149", "reserved bits in Flags 0x20");
    CHECK_REFUSED(create(device, REQUEST(.flags.HwQueueSupported = 1)), STATUS_NOT_SUPPORTED,
                  "KMT-170", "node 1 is not hardware-scheduled");
    CHECK_REFUSED(create(device, PHYSICAL(.flags.HwQueueSupported = 1)), STATUS_INVALID_PARAMETER,
                  NULL, "HwQueueSupported for a context of physical addresses");
    CHECK(create(device, REQUEST(.private_bytes = 8)) == STATUS_INVALID_PARAMETER);
    CHECK_REFUSED(create(device, REQUEST(.private_bytes = 8, .private_data = BAD_POINTER)),
                  STATUS_INVALID_PARAMETER, NULL, "private data of 8 bytes at 0x8 cannot be read");
    CHECK(calls_of(f, CALL_CREATE_CONTEXT) == calls);
    CHECK(create(device, REQUEST(.engine_affinity = 1, .private_data = BAD_POINTER)) ==
          STATUS_SUCCESS);
    CHECK(calls_of(f, CALL_CREATE_CONTEXT) == calls + 1 &&
          !last_call(f, CALL_CREATE_CONTEXT)->create_context.args.pPrivateDriverData);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, priorities_have_limits)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1);

    CHECK(vidsch_context_set_priority(context, 7) == STATUS_SUCCESS && context->level == 44);
    CHECK_REFUSED(vidsch_context_set_priority(context, 8), STATUS_INVALID_PARAMETER, "SUBMIT-020",
                  "priority 8, the limits are +-7");
    CHECK(vidsch_context_priority(context) == 7);
    CHECK_REFUSED(vidsch_context_set_priority(context, -8), STATUS_INVALID_PARAMETER, "SUBMIT-020",
                  "priority -8, the limits are +-7");
    CHECK(vidsch_context_set_priority(context, -7) == STATUS_SUCCESS && context->level == 30 &&
          vidsch_context_priority(context) == -7);
    vidsch_device_destroy(device);
}

/* ---- Render ---- */

static NTSTATUS try(const struct client *c, D3DKMT_RENDER args)
{
    return vidsch_render(c->context, &args);
}

#define RENDER(...) ((D3DKMT_RENDER){.CommandLength = 16, __VA_ARGS__})

TEST_WITH(fixture, renders_are_refused)
{
    struct client c = make_client(f);
    const struct client on_virtual = {.context = make_context(c.device, 1)};
    struct vidsch_context_request request = {.flags.SynchronizationOnly = 1};
    struct client bare = {.device = c.device};

    CHECK(vidsch_context_create(c.device, &request, &bare.context) == STATUS_SUCCESS);
    CHECK_REFUSED(try(&on_virtual, RENDER()), STATUS_INVALID_PARAMETER, "KMT-301",
                  "the context has no command buffer: it is of GPU virtual addresses, or for "
                  "synchronization only");
    CHECK(try(&bare, RENDER()) == STATUS_INVALID_PARAMETER);
    CHECK_REFUSED(try(&c, RENDER(.CommandOffset = 17)), STATUS_INVALID_PARAMETER, "PATCH-063",
                  "CommandOffset 17, CommandLength 16, the command buffer has 8192 bytes");
    CHECK_REFUSED(try(&c, RENDER(.AllocationCount = 9)), STATUS_INVALID_PARAMETER, "KMT-303",
                  "9 allocations and 0 patch locations, the lists have 8 and 16 elements");
    CHECK_REFUSED(try(&c, RENDER(.PatchLocationCount = 17)), STATUS_INVALID_PARAMETER, "KMT-303",
                  "0 allocations and 17 patch locations, the lists have 8 and 16 elements");
    CHECK_REFUSED(try(&c, RENDER(.BroadcastContextCount = 65)), STATUS_INVALID_PARAMETER,
                  "PATCH-059", "65 broadcast contexts, at most 64 are possible");
    CHECK_REFUSED(try(&c, RENDER(.BroadcastContextCount = 64)), STATUS_INVALID_PARAMETER, "KMT-308",
                  "broadcast context 0, handle 0x0, is no context of this device with a command "
                  "buffer");
    CHECK_REFUSED(try(&c, RENDER(.pPrivateDriverData = BAD_POINTER)), STATUS_INVALID_PARAMETER,
                  "KMT-307", "pPrivateDriverData 0x8, 0 bytes, reserved bits of Flags 0x0");
    CHECK(try(&c, RENDER(.PrivateDriverDataSize = 1)) == STATUS_INVALID_PARAMETER);
    CHECK(try(&c, RENDER(.Flags.Reserved = 1)) == STATUS_INVALID_PARAMETER);
    CHECK_REFUSED(try(&c, RENDER(.Flags.PresentRedirected = 1)), STATUS_NOT_SUPPORTED, "KMT-306",
                  "this host neither redirects presents nor reads back what GDI has drawn");
    CHECK_REFUSED(try(&c, RENDER(.Flags.RenderKm = 1)), STATUS_NOT_SUPPORTED, "PATCH-097",
                  "the driver has no DxgkDdiRenderKm");
    CHECK(try(&c, RENDER(.Flags.RenderKmReadback = 1)) == STATUS_NOT_SUPPORTED);
    CHECK(calls_of(f, CALL_RENDER) == 0);
    CHECK(try(&c, RENDER(.CommandOffset = 16)) == STATUS_SUCCESS);
    CHECK(last_call(f, CALL_RENDER)->render.args.CommandLength == 0);
    idle(c.device);
    vidsch_device_destroy(c.device);
}

static D3DKMT_HANDLE handle_of(struct fixture *f, struct vidsch_context *context)
{
    return handle_create(&f->process->handles, DDI_CLIENT_CONTEXT, context);
}

TEST_WITH(fixture, contexts_of_a_broadcast_are_checked)
{
    struct client c = make_client(f), other = make_client(f);
    struct vidsch_context *second = make_context(c.device, 0);
    D3DKMT_HANDLE first = handle_of(f, c.context), again = handle_of(f, second),
                  foreign = handle_of(f, other.context),
                  is_virtual = handle_of(f, make_context(c.device, 1));
    const D3DKMT_HANDLE bad[4] = {first, foreign, is_virtual, 0x40000000};

    for (unsigned i = 0; i < 4; i++)
        CHECK(try(&c, RENDER(.BroadcastContextCount = 2, .BroadcastContext = {again, bad[i]})) ==
              STATUS_INVALID_PARAMETER);
    CHECK(try(&c, RENDER(.BroadcastContextCount = 2, .BroadcastContext = {again, again})) ==
          STATUS_INVALID_PARAMETER);
    CHECK(calls_of(f, CALL_RENDER) == 0 && second->pending == 0);
    CHECK(try(&c, RENDER(.BroadcastContextCount = 1, .BroadcastContext = {again})) ==
          STATUS_SUCCESS);
    idle(c.device);
    CHECK(calls_of(f, CALL_RENDER) == 1 && calls_of(f, CALL_SUBMIT) == 2);
    handle_remove(&f->process->handles, first, DDI_CLIENT_CONTEXT);
    handle_remove(&f->process->handles, again, DDI_CLIENT_CONTEXT);
    handle_remove(&f->process->handles, foreign, DDI_CLIENT_CONTEXT);
    handle_remove(&f->process->handles, is_virtual, DDI_CLIENT_CONTEXT);
    vidsch_device_destroy(other.device);
    vidsch_device_destroy(c.device);
}

/* Each flag for itself; what is not asked for stays. */
TEST_WITH(fixture, each_size_is_asked_for_by_its_flag)
{
    struct client c = make_client(f);
    D3DKMT_RENDER args = RENDER(.Flags.ResizeAllocationList = 1, .NewCommandBufferSize = 20000,
                                .NewAllocationListSize = 1000, .NewPatchLocationListSize = 1000);

    CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
    CHECK_RULE("KMT-305", args.NewCommandBufferSize == 8192 && args.NewAllocationListSize == 1024 &&
                              args.NewPatchLocationListSize == 16);
    args = RENDER(.Flags.ResizePatchLocationList = 1, .NewCommandBufferSize = 20000,
                  .NewAllocationListSize = 3000, .NewPatchLocationListSize = 500);
    CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
    CHECK_RULE("KMT-305", args.NewCommandBufferSize == 8192 && args.NewAllocationListSize == 1024 &&
                              args.NewPatchLocationListSize >= 500 &&
                              args.NewPatchLocationListSize < 1000);
    args = RENDER(.Flags.ResizeCommandBuffer = 1, .NewCommandBufferSize = 8193,
                  .NewAllocationListSize = 3000, .NewPatchLocationListSize = 2000);
    CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
    CHECK_RULE("KMT-305", args.NewCommandBufferSize == 12288 && args.NewAllocationListSize == 1024);
    idle(c.device);
    vidsch_device_destroy(c.device);
}

TEST_WITH(fixture, sizes_have_limits)
{
    struct client c = make_client(f);
    D3DKMT_RENDER args = RENDER(.NewCommandBufferSize = UINT32_MAX, .NewAllocationListSize = 65537,
                                .NewPatchLocationListSize = UINT32_MAX);

    args.Flags.ResizeCommandBuffer = args.Flags.ResizeAllocationList =
        args.Flags.ResizePatchLocationList = 1;
    CHECK(vidsch_render(c.context, &args) == STATUS_SUCCESS);
    CHECK_RULE("KMT-305", args.NewCommandBufferSize == 16u << 20 &&
                              args.NewAllocationListSize == 65536 &&
                              args.NewPatchLocationListSize >= 65536 &&
                              args.NewPatchLocationListSize < 65536 + 4096);
    idle(c.device);
    vidsch_device_destroy(c.device);
}

/* ---- SubmitCommand ---- */

static NTSTATUS send(struct vidsch_context *context, D3DKMT_SUBMITCOMMAND args, const void *data)
{
    return vidsch_submit_command(&context, 1, &args, data);
}

#define SUBMIT(...) ((D3DKMT_SUBMITCOMMAND){.Commands = 0x1000, .CommandLength = 16, __VA_ARGS__})

TEST_WITH(fixture, submissions_are_refused)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *context = make_context(device, 1), *bare,
                          *physical = make_context(device, 0), *many[65] = {context};
    struct vidsch_context_request request = REQUEST(.flags.SynchronizationOnly = 1);
    const D3DKMT_SUBMITCOMMAND args = SUBMIT();
    const uint8_t data[33] = {1};

    CHECK(vidsch_context_create(device, &request, &bare) == STATUS_SUCCESS);
    CHECK_REFUSED(vidsch_submit_command(many, 0, &args, NULL), STATUS_INVALID_PARAMETER,
                  "SUBMIT-112", "no context is named");
    CHECK_REFUSED(vidsch_submit_command(many, 65, &args, NULL), STATUS_INVALID_PARAMETER,
                  "SUBMIT-112", "65 contexts, 1 to 64 are possible");
    CHECK_REFUSED(send(physical, args, NULL), STATUS_INVALID_PARAMETER, "PATCH-030",
                  "context 0 of the list is of physical addresses");
    CHECK_REFUSED(send(bare, args, NULL), STATUS_INVALID_PARAMETER, "PATCH-030",
                  "context 0 of the list is for synchronization only");
    CHECK_REFUSED(send(context, SUBMIT(.PrivateDriverDataSize = 33), data), STATUS_INVALID_PARAMETER,
                  "SUBMIT-111", "private data of 33 bytes, the driver takes 32");
    CHECK_REFUSED(send(context, SUBMIT(.Flags.Reserved = 1), NULL), STATUS_INVALID_PARAMETER,
                  "KMT-320", "reserved bits in Flags");
    CHECK(send(context, SUBMIT(.Flags.NoKmdAccess = 1), NULL) == STATUS_INVALID_PARAMETER);
    CHECK_REFUSED(send(context, SUBMIT(.Flags.PresentRedirected = 1), NULL), STATUS_NOT_SUPPORTED,
                  NULL, "PresentRedirected needs a display");
    CHECK_REFUSED(send(context, SUBMIT(.PrivateDriverDataSize = 8), BAD_POINTER),
                  STATUS_INVALID_PARAMETER, NULL, "private data of 8 bytes at 0x8 cannot be read");
    f->vidsch->config.virtual_address_end = 0x2000;
    CHECK_REFUSED(
        send(context, ((D3DKMT_SUBMITCOMMAND){.Commands = 0x1FF1, .CommandLength = 16}), NULL),
        STATUS_INVALID_PARAMETER, "KMT-317",
        "commands of 16 bytes at 0x1ff1, GPU virtual addresses end at 0x2000");
    CHECK(context->pending == 0 && calls_of(f, CALL_SUBMIT_VIRTUAL) == 0);
    CHECK(send(context, ((D3DKMT_SUBMITCOMMAND){.Commands = 0x1FF0, .CommandLength = 16}), NULL) ==
          STATUS_SUCCESS);
    CHECK(send(context, SUBMIT(.PrivateDriverDataSize = 32), data) == STATUS_SUCCESS);
    idle(device);
    CHECK(calls_of(f, CALL_SUBMIT_VIRTUAL) == 2);
    vidsch_device_destroy(device);
}
