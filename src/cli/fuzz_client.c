/* SPDX-License-Identifier: MIT */
/* The calls of the client of a campaign. */
#include "cli/fuzz_client.h"

#include <string.h>

#include "dxgkhost/dxgkhost.h"
#include "util/array.h"
#include "util/min_max.h"

#define NODES        3u
#define OPENED       8u     /* allocations of a resource that is opened */
#define OPENED_BYTES 16384u /* of their private data */
#define PAUSE_NS     1000000u
#define ADAPTERS     8u
#define PLAIN_BYTES  65536u /* a size that begins private data of many drivers */

/* ---- what there is ---- */

static D3DKMT_HANDLE some_device(const struct fuzz_client *client, unsigned choice)
{
    for (unsigned i = 0; i < FUZZ_DEVICES; i++)
        if (client->device[(choice + i) % FUZZ_DEVICES])
            return client->device[(choice + i) % FUZZ_DEVICES];
    return 0;
}

static struct fuzz_context *some_context(struct fuzz_client *client, unsigned choice,
                                         bool is_virtual)
{
    for (unsigned i = 0; i < FUZZ_CONTEXTS; i++) {
        struct fuzz_context *context = &client->context[(choice + i) % FUZZ_CONTEXTS];

        if (context->handle && context->is_virtual == is_virtual)
            return context;
    }
    return NULL;
}

static struct fuzz_context *any_context(struct fuzz_client *client, unsigned choice)
{
    struct fuzz_context *context = some_context(client, choice, choice & 1);

    return context ? context : some_context(client, choice, !(choice & 1));
}

static struct fuzz_allocation *some_allocation(struct fuzz_client *client, unsigned choice,
                                               D3DKMT_HANDLE device)
{
    for (unsigned i = 0; i < FUZZ_ALLOCATIONS; i++) {
        struct fuzz_allocation *a = &client->allocation[(choice + i) % FUZZ_ALLOCATIONS];

        if (a->handle && (!device || a->device == device))
            return a;
    }
    return NULL;
}

static void forget_device(struct fuzz_client *client, D3DKMT_HANDLE device)
{
    for (unsigned i = 0; i < FUZZ_CONTEXTS; i++)
        if (client->context[i].device == device)
            memset(&client->context[i], 0, sizeof(client->context[i]));
    for (unsigned i = 0; i < FUZZ_ALLOCATIONS; i++)
        if (client->allocation[i].device == device)
            memset(&client->allocation[i], 0, sizeof(client->allocation[i]));
}

/* ---- devices and contexts ---- */

static NTSTATUS create_device(struct fuzz_client *client)
{
    D3DKMT_CREATEDEVICE create = {.hAdapter = client->adapter};
    NTSTATUS status = D3DKMTCreateDevice(&create);

    for (unsigned i = 0; NT_SUCCESS(status) && i < FUZZ_DEVICES; i++) {
        if (client->device[i])
            continue;
        client->device[i] = create.hDevice;
        break;
    }
    return status;
}

static NTSTATUS destroy_device(struct fuzz_client *client, unsigned choice)
{
    D3DKMT_DESTROYDEVICE destroy = {.hDevice = some_device(client, choice)};
    NTSTATUS status = D3DKMTDestroyDevice(&destroy);

    for (unsigned i = 0; i < FUZZ_DEVICES; i++)
        if (client->device[i] == destroy.hDevice)
            client->device[i] = 0;
    if (client->queue && !client->device[0])
        client->queue = 0; /* it went with the device */
    forget_device(client, destroy.hDevice);
    return status;
}

static NTSTATUS create_physical(struct fuzz_context *context, unsigned node, void *data, UINT bytes)
{
    D3DKMT_CREATECONTEXT create = {.hDevice = context->device,
                                   .NodeOrdinal = node,
                                   .EngineAffinity = 1,
                                   .pPrivateDriverData = bytes ? data : NULL,
                                   .PrivateDriverDataSize = bytes,
                                   .ClientHint = D3DKMT_CLIENTHINT_DX11};
    NTSTATUS status = D3DKMTCreateContext(&create);

    if (!NT_SUCCESS(status))
        return status;
    context->handle = create.hContext;
    context->commands = create.pCommandBuffer;
    context->command_bytes = create.CommandBufferSize;
    context->allocation = create.pAllocationList;
    context->allocations = create.AllocationListSize;
    context->patch = create.pPatchLocationList;
    context->patches = create.PatchLocationListSize;
    return status;
}

static NTSTATUS create_virtual(struct fuzz_context *context, unsigned node, void *data, UINT bytes)
{
    D3DKMT_CREATECONTEXTVIRTUAL create = {.hDevice = context->device,
                                          .NodeOrdinal = node,
                                          .EngineAffinity = 1,
                                          .pPrivateDriverData = bytes ? data : NULL,
                                          .PrivateDriverDataSize = bytes,
                                          .ClientHint = D3DKMT_CLIENTHINT_DX12};
    NTSTATUS status = D3DKMTCreateContextVirtual(&create);

    if (NT_SUCCESS(status)) {
        context->handle = create.hContext;
        context->is_virtual = true;
    }
    return status;
}

/* choice: bit 0: virtual; then the node, then the device. */
static NTSTATUS create_context(struct fuzz_client *client, unsigned choice, UINT bytes)
{
    struct fuzz_context context = {.device = some_device(client, choice >> 3)};
    unsigned node = (choice >> 1) % NODES;
    NTSTATUS status = choice & 1 ? create_virtual(&context, node, client->data, bytes)
                                 : create_physical(&context, node, client->data, bytes);

    for (unsigned i = 0; NT_SUCCESS(status) && i < FUZZ_CONTEXTS; i++) {
        if (client->context[i].handle)
            continue;
        client->context[i] = context;
        break;
    }
    return status;
}

static NTSTATUS destroy_context(struct fuzz_client *client, unsigned choice)
{
    struct fuzz_context *context = any_context(client, choice);
    D3DKMT_DESTROYCONTEXT destroy = {.hContext = context ? context->handle : 0};
    NTSTATUS status = D3DKMTDestroyContext(&destroy);

    if (context)
        memset(context, 0, sizeof(*context));
    return status;
}

/* ---- allocations ---- */

static void map(struct fuzz_client *client, struct fuzz_allocation *allocation)
{
    D3DDDI_MAKERESIDENT reside = {
        .hPagingQueue = client->queue, .NumAllocations = 1, .AllocationList = &allocation->handle};
    D3DDDI_MAPGPUVIRTUALADDRESS map = {.hPagingQueue = client->queue,
                                       .hAllocation = allocation->handle,
                                       .SizeInPages = 1,
                                       .Protection.Write = 1};

    if (!client->queue || allocation->device != client->device[0])
        return;
    (void)D3DKMTMakeResident(&reside);
    if (NT_SUCCESS(D3DKMTMapGpuVirtualAddress(&map)))
        allocation->address = map.VirtualAddress;
}

static void keep_allocation(struct fuzz_client *client, const struct fuzz_allocation *allocation)
{
    for (unsigned i = 0; i < FUZZ_ALLOCATIONS; i++) {
        if (client->allocation[i].handle)
            continue;
        client->allocation[i] = *allocation;
        map(client, &client->allocation[i]);
        return;
    }
}

/* choice: how many, less one; bit 2: of a resource, which gets the data, too; bit 3: shared; bit 4:
 * a primary; then the device. The data are divided among them. */
static NTSTATUS create_allocation(struct fuzz_client *client, unsigned choice, UINT bytes)
{
    D3DDDI_ALLOCATIONINFO2 info[4];
    UINT count = 1 + (choice & 3), share = bytes / count;
    D3DKMT_CREATEALLOCATION create = {.hDevice = some_device(client, choice >> 5),
                                      .NumAllocations = count,
                                      .pAllocationInfo2 = info};
    uint8_t whole[FUZZ_DATA];
    NTSTATUS status;

    memset(info, 0, sizeof(info));
    memcpy(whole, client->data, bytes);
    for (UINT i = 0; i < count; i++) {
        info[i].pPrivateDriverData = share ? client->data + (size_t)i * share : NULL;
        info[i].PrivateDriverDataSize = share;
        info[i].Flags.Primary = (choice & 0x10) != 0;
    }
    create.Flags.CreateShared = (choice & 8) != 0;
    create.Flags.CreateResource = (choice & 12) != 0;
    if (choice & 12 && bytes) {
        create.pPrivateDriverData = whole;
        create.PrivateDriverDataSize = bytes;
    }
    status = D3DKMTCreateAllocation2(&create);
    for (UINT i = 0; NT_SUCCESS(status) && i < count; i++)
        keep_allocation(client, &(struct fuzz_allocation){.handle = info[i].hAllocation,
                                                          .device = create.hDevice,
                                                          .resource = create.hResource,
                                                          .share = create.hGlobalShare});
    return status;
}

static NTSTATUS open_resource(struct fuzz_client *client, unsigned choice)
{
    D3DDDI_OPENALLOCATIONINFO2 info[OPENED];
    uint8_t total[OPENED_BYTES], resource[FUZZ_DATA];
    D3DKMT_HANDLE share = 0;
    D3DKMT_QUERYRESOURCEINFO query = {.hDevice = some_device(client, choice)};
    D3DKMT_OPENRESOURCE open = {.hDevice = query.hDevice};
    NTSTATUS status;

    for (unsigned i = 0; i < FUZZ_ALLOCATIONS && !share; i++)
        share = client->allocation[(choice / FUZZ_DEVICES + i) % FUZZ_ALLOCATIONS].share;
    query.hGlobalShare = share;
    status = D3DKMTQueryResourceInfo(&query);
    if (!NT_SUCCESS(status) || query.NumAllocations > OPENED ||
        query.TotalPrivateDriverDataSize > sizeof(total) ||
        query.ResourcePrivateDriverDataSize > sizeof(resource))
        return status;
    memset(info, 0, sizeof(info));
    open.hGlobalShare = share;
    open.NumAllocations = query.NumAllocations;
    open.pOpenAllocationInfo2 = info;
    open.pResourcePrivateDriverData = resource;
    open.ResourcePrivateDriverDataSize = query.ResourcePrivateDriverDataSize;
    open.pTotalPrivateDriverDataBuffer = total;
    open.TotalPrivateDriverDataBufferSize = query.TotalPrivateDriverDataSize;
    status = D3DKMTOpenResource2(&open);
    for (UINT i = 0; NT_SUCCESS(status) && i < open.NumAllocations; i++)
        keep_allocation(client, &(struct fuzz_allocation){.handle = info[i].hAllocation,
                                                          .device = open.hDevice,
                                                          .resource = open.hResource});
    return status;
}

static NTSTATUS destroy_allocation(struct fuzz_client *client, unsigned choice)
{
    struct fuzz_allocation *chosen = some_allocation(client, choice, 0), gone;
    D3DKMT_DESTROYALLOCATION2 destroy = {.AllocationCount = 1};

    if (!chosen)
        return STATUS_NOT_FOUND;
    gone = *chosen;
    destroy.hDevice = gone.device;
    if (gone.resource) {
        destroy.hResource = gone.resource;
        destroy.AllocationCount = 0;
    } else {
        destroy.phAllocationList = &gone.handle;
    }
    for (unsigned i = 0; i < FUZZ_ALLOCATIONS; i++) {
        struct fuzz_allocation *a = &client->allocation[i];

        if (a->handle == gone.handle || (gone.resource && a->resource == gone.resource))
            memset(a, 0, sizeof(*a));
    }
    return D3DKMTDestroyAllocation2(&destroy);
}

/* ---- work ---- */

static UINT take_word(const struct fuzz_client *client, UINT bytes, UINT at)
{
    UINT word = 0;

    if (at < bytes)
        memcpy(&word, client->data + at, min_of(sizeof(word), bytes - at));
    return word;
}

/* The data are the commands. choice: the context; then how many allocations are listed, and how
 * many patch locations, whose members are words of the data. */
static NTSTATUS render(struct fuzz_client *client, unsigned choice, UINT bytes)
{
    struct fuzz_context *context = some_context(client, choice, false);
    D3DKMT_RENDER render = {.CommandLength = bytes};
    NTSTATUS status;

    if (!context)
        return STATUS_NOT_FOUND;
    render.hContext = context->handle;
    render.CommandLength = (UINT)min_of(bytes, context->command_bytes);
    render.AllocationCount = (UINT)min_of(choice >> 3 & 7, context->allocations);
    render.PatchLocationCount = (UINT)min_of(choice >> 6, context->patches);
    memcpy(context->commands, client->data, render.CommandLength);
    for (UINT i = 0; i < render.AllocationCount; i++) {
        const struct fuzz_allocation *a = some_allocation(client, i, context->device);

        memset(&context->allocation[i], 0, sizeof(context->allocation[i]));
        context->allocation[i].hAllocation = a ? a->handle : 0;
        context->allocation[i].WriteOperation = i & 1;
    }
    for (UINT i = 0; i < render.PatchLocationCount; i++) {
        D3DDDI_PATCHLOCATIONLIST *patch = &context->patch[i];

        memset(patch, 0, sizeof(*patch));
        patch->AllocationIndex = take_word(client, bytes, 16 * i) & 7;
        patch->DriverId = take_word(client, bytes, 16 * i + 4);
        patch->PatchOffset = take_word(client, bytes, 16 * i + 8) & 0xFFFC;
        patch->AllocationOffset = take_word(client, bytes, 16 * i + 12);
    }
    status = D3DKMTRender(&render);
    if (render.pNewCommandBuffer) {
        context->commands = render.pNewCommandBuffer;
        context->command_bytes = render.NewCommandBufferSize;
        context->allocation = render.pNewAllocationList;
        context->allocations = render.NewAllocationListSize;
        context->patch = render.pNewPatchLocationList;
        context->patches = render.NewPatchLocationListSize;
    }
    return status;
}

/* The data are private data. choice: the context; then the allocation with the commands. */
static NTSTATUS submit_command(struct fuzz_client *client, unsigned choice, UINT bytes)
{
    const struct fuzz_context *context = some_context(client, choice, true);
    const struct fuzz_allocation *a;
    D3DKMT_SUBMITCOMMAND submit = {.BroadcastContextCount = 1};

    if (!context)
        return STATUS_NOT_FOUND;
    a = some_allocation(client, choice >> 3, context->device);
    submit.Commands = a && a->address ? a->address : 0x10000;
    submit.CommandLength = 4 * (1 + (take_word(client, bytes, 0) & 0xFF));
    submit.BroadcastContext[0] = context->handle;
    submit.pPrivateDriverData = bytes ? client->data : NULL;
    submit.PrivateDriverDataSize = bytes;
    return D3DKMTSubmitCommand(&submit);
}

/* choice: the context, source and destination. */
static NTSTATUS present(struct fuzz_client *client, unsigned choice, UINT bytes)
{
    const struct fuzz_context *context = any_context(client, choice);
    const struct fuzz_allocation *source, *destination;
    D3DKMT_PRESENT present = {.PrivateDriverDataSize = bytes};

    if (!context)
        return STATUS_NOT_FOUND;
    source = some_allocation(client, choice >> 3, context->device);
    destination = some_allocation(client, (choice >> 3) + 1, context->device);
    present.hContext = context->handle;
    present.hSource = source ? source->handle : 0;
    present.hDestination = destination ? destination->handle : 0;
    present.Flags.Blt = 1;
    present.Flags.SrcRectValid = present.Flags.DstRectValid = 1;
    present.SrcRect = present.DstRect = (RECT){0, 0, 16, 16};
    present.pPrivateDriverData = bytes ? client->data : NULL;
    return D3DKMTPresent(&present);
}

/* choice: bits 0 and 1: with a device, or a context of it, too; bit 2: HardwareAccess; then which
 * of them. */
static NTSTATUS escape(struct fuzz_client *client, unsigned choice, UINT bytes)
{
    const struct fuzz_context *context = choice & 2 ? any_context(client, choice >> 3) : NULL;
    D3DKMT_ESCAPE escape = {.hAdapter = client->adapter,
                            .Type = D3DKMT_ESCAPE_DRIVERPRIVATE,
                            .pPrivateDriverData = bytes ? client->data : NULL,
                            .PrivateDriverDataSize = bytes};

    escape.Flags.HardwareAccess = (choice & 4) != 0;
    if (context) {
        escape.hDevice = context->device;
        escape.hContext = context->handle;
    } else if (choice & 3) {
        escape.hDevice = some_device(client, choice >> 3);
    }
    return D3DKMTEscape(&escape);
}

static NTSTATUS query_adapter(struct fuzz_client *client, UINT bytes)
{
    const D3DKMT_QUERYADAPTERINFO query = {.hAdapter = client->adapter,
                                           .Type = KMTQAITYPE_UMDRIVERPRIVATE,
                                           .pPrivateDriverData = bytes ? client->data : NULL,
                                           .PrivateDriverDataSize = bytes};

    return D3DKMTQueryAdapterInfo(&query);
}

static NTSTATUS perform(struct fuzz_client *client, const struct fuzz_call *call)
{
    switch (call->kind) {
    case FUZZ_ESCAPE:
        return escape(client, call->choice, call->bytes);
    case FUZZ_CREATE_ALLOCATION:
        return create_allocation(client, call->choice, call->bytes);
    case FUZZ_OPEN_RESOURCE:
        return open_resource(client, call->choice);
    case FUZZ_DESTROY_ALLOCATION:
        return destroy_allocation(client, call->choice);
    case FUZZ_RENDER:
        return render(client, call->choice, call->bytes);
    case FUZZ_SUBMIT_COMMAND:
        return submit_command(client, call->choice, call->bytes);
    case FUZZ_PRESENT:
        return present(client, call->choice, call->bytes);
    case FUZZ_QUERY_ADAPTER:
        return query_adapter(client, call->bytes);
    case FUZZ_CREATE_CONTEXT:
        return create_context(client, call->choice, call->bytes);
    case FUZZ_DESTROY_CONTEXT:
        return destroy_context(client, call->choice);
    case FUZZ_CREATE_DEVICE:
        return create_device(client);
    case FUZZ_DESTROY_DEVICE:
        return destroy_device(client, call->choice);
    default:
        dxgk_client_sleep(PAUSE_NS);
        return STATUS_SUCCESS;
    }
}

/* ---- from the beginning to the end ---- */

static bool open_adapter(struct fuzz_client *client)
{
    D3DKMT_ADAPTERINFO list[ADAPTERS];
    D3DKMT_ENUMADAPTERS2 all = {.NumAdapters = ADAPTERS, .pAdapters = list};

    memset(list, 0, sizeof(list));
    if (!NT_SUCCESS(D3DKMTEnumAdapters2(&all)) || all.NumAdapters == 0)
        return false;
    client->adapter = list[0].hAdapter;
    return true;
}

bool fuzz_client_open(struct fuzz_client *client)
{
    D3DKMT_CREATEPAGINGQUEUE queue = {.Priority = D3DDDI_PAGINGQUEUE_PRIORITY_NORMAL};
    const uint64_t plain = PLAIN_BYTES;

    memset(client, 0, sizeof(*client));
    if (!open_adapter(client))
        return false;
    if (!NT_SUCCESS(create_device(client)))
        return true; /* that of a display-only driver */
    queue.hDevice = client->device[0];
    if (NT_SUCCESS(D3DKMTCreatePagingQueue(&queue)))
        client->queue = queue.hPagingQueue;
    for (unsigned i = 0; i < 2 * NODES; i++)
        (void)create_context(client, i, 0);
    for (unsigned i = 0; i < 2; i++) {
        memset(client->data, 0, 64);
        memcpy(client->data, &plain, sizeof(plain));
        (void)create_allocation(client, 0, 64);
    }
    dxgk_client_sleep(PAUSE_NS);
    return true;
}

void fuzz_client_close(struct fuzz_client *client)
{
    D3DKMT_CLOSEADAPTER close = {.hAdapter = client->adapter};

    if (!client->adapter)
        return;
    while (some_device(client, 0))
        (void)destroy_device(client, 0);
    (void)D3DKMTCloseAdapter(&close);
    client->adapter = 0;
    dxgk_client_sleep(PAUSE_NS);
}

void fuzz_client_run(struct fuzz_client *client, const uint8_t *input, size_t bytes)
{
    struct fuzz_call call;
    size_t at = 0;

    for (unsigned i = 0; i < FUZZ_CALLS && fuzz_program_next(input, bytes, &at, &call); i++) {
        NTSTATUS status;

        memset(client->data, 0, call.bytes);
        memcpy(client->data, call.data, call.length);
        if (client->before)
            client->before(client->listener, &call);
        status = perform(client, &call);
        if (client->after)
            client->after(client->listener, &call, status);
    }
    fuzz_client_close(client);
}
