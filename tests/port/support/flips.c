/* SPDX-License-Identifier: MIT */
#include "port/support/flips.h"
#include "screens/scanouts.h"
#include "support/test.h"

#include <string.h>

#define WIDTH  1024u
#define HEIGHT 768u

struct flips flips;

/* ---- the driver ---- */

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_DESCRIBEALLOCATION *args = (DXGKARG_DESCRIBEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->Width = WIDTH;
    args->Height = HEIGHT;
    args->Format = D3DDDIFMT_X8R8G8B8;
    call->answered = true;
}

static void present(struct probe *p, struct probe_call *call)
{
    (void)p;
    flips.presents++;
    call->answered = true;
}

/* The probe's GPU moves nothing into video memory. */
static void in_aperture(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];

        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 2;
        info->PreferredSegment.Value = 2;
    }
}

void flips_keep_pixels(struct probe *p)
{
    p->after[PROBE_CreateAllocation] = in_aperture;
}

struct probe *flips_create(const struct probe_options *options)
{
    struct probe *p = full_display_create(options);

    memset(&flips, 0, sizeof(flips));
    p->before[PROBE_DescribeAllocation] = describe;
    p->before[PROBE_Present] = present;
    return p;
}

void flips_run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    display_end(p);
}

void flips_run_fatal(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
}

/* ---- the client ---- */

void flips_begin(struct probe *p)
{
    full_engine_start(p);
    CHECK(NT_SUCCESS(probe_gpu_begin(&flips.gpu)));
    for (unsigned i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(flips_create_primary(0, &flips.primary[i])));
}

void flips_end(void)
{
    full_engine_stop();
    CHECK(NT_SUCCESS(probe_gpu_end(&flips.gpu)));
}

NTSTATUS flips_create_primary(UINT source, D3DKMT_HANDLE *handle)
{
    const uint64_t bytes = (uint64_t)WIDTH * HEIGHT * 4;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;
    NTSTATUS status;

    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = (void *)(uintptr_t)&bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    info.VidPnSourceId = source;
    info.Flags.Primary = 1;
    args.hDevice = flips.gpu.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    status = D3DKMTCreateAllocation2(&args);
    *handle = info.hAllocation;
    return status;
}

NTSTATUS flips_own(D3DKMT_VIDPNSOURCEOWNER_TYPE type, UINT source)
{
    D3DKMT_SETVIDPNSOURCEOWNER args = {.hDevice = flips.gpu.device,
                                       .pType = &type,
                                       .pVidPnSourceId = &source,
                                       .VidPnSourceCount = 1};

    return D3DKMTSetVidPnSourceOwner(&args);
}

void flips_show_first(void)
{
    CHECK(NT_SUCCESS(flips_own(D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    CHECK(NT_SUCCESS(flips_set_mode(flips.primary[0])));
    full_engine_await();
}

NTSTATUS flips_set_mode(D3DKMT_HANDLE primary)
{
    const D3DKMT_SETDISPLAYMODE args = {.hDevice = flips.gpu.device, .hPrimaryAllocation = primary};

    return D3DKMTSetDisplayMode(&args);
}

NTSTATUS flips_flip_at(D3DKMT_HANDLE primary, D3DDDI_FLIPINTERVAL_TYPE interval)
{
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = flips.gpu.context;
    args.hSource = primary;
    args.FlipInterval = interval;
    args.Flags.Flip = 1;
    return D3DKMTPresent(&args);
}

NTSTATUS flips_flip(D3DKMT_HANDLE primary)
{
    return flips_flip_at(primary, D3DDDI_FLIPINTERVAL_ONE);
}

uint64_t flips_complete(const struct probe *p)
{
    return scanouts_flips(port_display_scanouts(p->adapter[0]), 0);
}

const struct full_address *flips_last(void)
{
    return &full_seen.address[(full_seen.addresses - 1) % FULL_CALLS];
}

void flips_fill(D3DKMT_HANDLE primary, UINT value)
{
    D3DKMT_LOCK2 lock = {.hDevice = flips.gpu.device, .hAllocation = primary};
    const D3DKMT_UNLOCK2 unlock = {.hDevice = flips.gpu.device, .hAllocation = primary};

    CHECK(NT_SUCCESS(D3DKMTLock2(&lock)));
    for (UINT i = 0; i < WIDTH * HEIGHT; i++)
        ((UINT *)lock.pData)[i] = value;
    CHECK(NT_SUCCESS(D3DKMTUnlock2(&unlock)));
}
