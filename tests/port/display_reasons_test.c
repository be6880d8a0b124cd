/* SPDX-License-Identifier: MIT */
/* A client learns why its mode could not be set, also where the driver says no. */
#include "port/support/client.h"
#include "port/support/full_display.h"
#include "support/test.h"

#include <string.h>

static struct probe_gpu gpu;
static D3DKMT_HANDLE primary;
static UINT width, height;

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_DESCRIBEALLOCATION *args = (DXGKARG_DESCRIBEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->Width = width;
    args->Height = height;
    args->Format = D3DDDIFMT_X8R8G8B8;
    call->answered = true;
}

static void begin(void)
{
    const D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
    const UINT source = 0;
    const uint64_t bytes = 1024 * 768 * 4;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;
    D3DKMT_SETVIDPNSOURCEOWNER own;

    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = (void *)(uintptr_t)&bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    info.Flags.Primary = 1;
    args.hDevice = gpu.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    CHECK(NT_SUCCESS(D3DKMTCreateAllocation2(&args)));
    primary = info.hAllocation;
    own = (D3DKMT_SETVIDPNSOURCEOWNER){
        .hDevice = gpu.device, .pType = &type, .pVidPnSourceId = &source, .VidPnSourceCount = 1};
    CHECK(NT_SUCCESS(D3DKMTSetVidPnSourceOwner(&own)));
}

static NTSTATUS set_mode(void)
{
    const D3DKMT_SETDISPLAYMODE args = {.hDevice = gpu.device, .hPrimaryAllocation = primary};

    return D3DKMTSetDisplayMode(&args);
}

static void address_refused(struct probe *p)
{
    (void)p;
    begin();
    full.address_status = STATUS_DEVICE_BUSY;
    CHECK_RULE("PRES-132/a", set_mode() == STATUS_DEVICE_BUSY &&
                                 strstr(probe_refused_text, "DxgkDdiSetVidPnSourceAddress returned "
                                                            "STATUS_DEVICE_BUSY for source 0"));
    full.address_status = STATUS_SUCCESS;
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void commit_refused(struct probe *p)
{
    begin();
    width = 800;
    height = 600;
    p->after[PROBE_CommitVidPn] = probe_fail_call;
    CHECK_RULE("VIDPN-184/b", set_mode() == STATUS_UNSUCCESSFUL &&
                                  strstr(probe_refused_text, "DxgkDdiCommitVidPn"));
    p->after[PROBE_CommitVidPn] = NULL;
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

/* It enumerates the mode, and supports no VidPN with it. */
static void support_refused(struct probe *p)
{
    (void)p;
    begin();
    width = 800;
    height = 600;
    display.supported = FALSE;
    CHECK_RULE("VIDPN-204/e", set_mode() == STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED &&
                                  strstr(probe_refused_text, "could not be: STATUS_GRAPHICS_VIDPN_"
                                                             "TOPOLOGY_NOT_SUPPORTED"));
    display.supported = TRUE;
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void run(void (*body)(struct probe *p))
{
    struct probe *p = full_display_create(NULL);

    width = 1024;
    height = 768;
    p->before[PROBE_DescribeAllocation] = describe;
    probe_clients_begin(p);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_client_end(p, probe_client_run(p, body));
    probe_clients_end(p);
    display_end(p);
}

TEST(an_address_that_is_refused)
{
    run(address_refused);
}

TEST(a_commit_that_is_refused)
{
    run(commit_refused);
}

TEST(a_mode_that_is_not_supported)
{
    run(support_refused);
}
