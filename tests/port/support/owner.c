/* SPDX-License-Identifier: MIT */
#include "port/support/owner.h"
#include "support/test.h"

#include <string.h>

struct owner owner;

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_DESCRIBEALLOCATION *args = (DXGKARG_DESCRIBEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    owner.describes++;
    args->Width = owner.width;
    args->Height = owner.height;
    args->Format = owner.format;
    args->RefreshRate = owner.rate;
    args->PrivateDriverFormatAttribute = owner.attribute;
    call->answered = true;
}

static void present(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
}

struct probe *owner_create(const struct probe_options *options)
{
    struct probe *p = full_display_create(options);

    owner = (struct owner){.width = 1024, .height = 768, .format = D3DDDIFMT_X8R8G8B8};
    p->before[PROBE_DescribeAllocation] = describe;
    p->before[PROBE_Present] = present;
    return p;
}

void owner_run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    display_end(p);
}

void owner_begin(struct probe *p)
{
    full_engine_start(p);
    CHECK(NT_SUCCESS(probe_gpu_begin(&owner.gpu)));
    for (unsigned i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(owner_allocate(0, &owner.primary[i])));
}

void owner_end(void)
{
    CHECK(NT_SUCCESS(probe_gpu_end(&owner.gpu)));
    full_engine_stop();
}

NTSTATUS owner_allocate(UINT source, D3DKMT_HANDLE *handle)
{
    const uint64_t bytes = 1024 * 768 * 4;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;
    NTSTATUS status;

    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = (void *)(uintptr_t)&bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    info.VidPnSourceId = source;
    info.Flags.Primary = 1;
    args.hDevice = owner.gpu.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    status = D3DKMTCreateAllocation2(&args);
    *handle = info.hAllocation;
    return status;
}

NTSTATUS owner_own(D3DKMT_HANDLE device, D3DKMT_VIDPNSOURCEOWNER_TYPE type, UINT source)
{
    D3DKMT_SETVIDPNSOURCEOWNER args = {
        .hDevice = device, .pType = &type, .pVidPnSourceId = &source, .VidPnSourceCount = 1};

    return D3DKMTSetVidPnSourceOwner(&args);
}

NTSTATUS owner_set_mode(D3DKMT_HANDLE primary)
{
    const D3DKMT_SETDISPLAYMODE args = {.hDevice = owner.gpu.device, .hPrimaryAllocation = primary};

    return D3DKMTSetDisplayMode(&args);
}

void owner_show(D3DKMT_HANDLE primary)
{
    CHECK(NT_SUCCESS(owner_own(owner.gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    CHECK(NT_SUCCESS(owner_set_mode(primary)));
    full_engine_await();
}

NTSTATUS owner_flip(D3DKMT_HANDLE primary)
{
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = owner.gpu.context;
    args.hSource = primary;
    args.FlipInterval = D3DDDI_FLIPINTERVAL_ONE;
    args.Flags.Flip = 1;
    return D3DKMTPresent(&args);
}

const struct full_address *owner_last(void)
{
    return &full_seen.address[(full_seen.addresses - 1) % FULL_CALLS];
}
