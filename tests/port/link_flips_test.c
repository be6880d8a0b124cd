/* SPDX-License-Identifier: MIT */
/* Flips while a link is being configured, and the timings that firmware has left. */
#include "port/running/post.h"
#include "port/support/client.h"
#include "port/support/connections.h"
#include "port/support/vidpn.h"
#include "screens/scanouts.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define OK(call)           CHECK((call) == STATUS_SUCCESS)
#define FIRST              DISPLAY_CHILD

/* ---- flips ---- */

static struct probe_gpu gpu;
static D3DKMT_HANDLE primary[2];

static NTSTATUS create(D3DKMT_HANDLE *handle)
{
    const uint64_t bytes = 1024 * 768 * 4;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;
    NTSTATUS status;

    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = (void *)(uintptr_t)&bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    info.Flags.Primary = 1;
    args.hDevice = gpu.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    status = D3DKMTCreateAllocation2(&args);
    *handle = info.hAllocation;
    return status;
}

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_DESCRIBEALLOCATION *args = (DXGKARG_DESCRIBEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->Width = 1024;
    args->Height = 768;
    args->Format = D3DDDIFMT_X8R8G8B8;
    call->answered = true;
}

static NTSTATUS flip(D3DKMT_HANDLE handle)
{
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = gpu.context;
    args.hSource = handle;
    args.FlipInterval = D3DDDI_FLIPINTERVAL_ONE;
    args.Flags.Flip = 1;
    return D3DKMTPresent(&args);
}

static void flips_of(struct probe *p)
{
    const D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
    const UINT source = 0;
    struct scanouts *scanouts = port_display_scanouts(p->adapter[0]);
    D3DKMT_SETVIDPNSOURCEOWNER owner;
    D3DKMT_SETDISPLAYMODE mode;
    UINT addresses;
    uint64_t done, first;

    full_engine_start(p);
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(create(&primary[0])) && NT_SUCCESS(create(&primary[1])));
    owner = (D3DKMT_SETVIDPNSOURCEOWNER){
        .hDevice = gpu.device, .pType = &type, .pVidPnSourceId = &source, .VidPnSourceCount = 1};
    mode = (D3DKMT_SETDISPLAYMODE){.hDevice = gpu.device, .hPrimaryAllocation = primary[0]};
    OK(D3DKMTSetVidPnSourceOwner(&owner));
    OK(D3DKMTSetDisplayMode(&mode));
    full_engine_await();
    first = full_seen.address[full_seen.addresses - 1].address;

    full_engine.silent = true; /* the vertical sync of this one is lost */
    done = scanouts_flips(scanouts, 0);
    OK(flip(primary[1]));
    probe_sleep(40000000);
    CHECK(scanouts_flips(scanouts, 0) == done);
    connections_tell(p, change_monitor(FIRST, CONNECTION_LINK_STARTED));
    CHECK_RULE("DISP-098", scanouts_flips(scanouts, 0) == done + 1);
    full_engine.silent = false;
    addresses = full_seen.addresses;
    OK(flip(primary[0]));
    probe_sleep(100000000);
    CHECK_RULE("DISP-098", full_seen.addresses == addresses);
    connections_tell(p, change_monitor(FIRST, CONNECTION_LINK_SUCCEEDED));
    probe_sleep(50000000);
    CHECK_RULE("DISP-098", full_seen.addresses == addresses + 1 &&
                               full_seen.address[addresses].address == first);
    done = scanouts_flips(scanouts, 0);
    OK(flip(primary[1]));
    probe_sleep(50000000);
    CHECK_RULE("DISP-098",
               full_seen.addresses == addresses + 2 && scanouts_flips(scanouts, 0) == done + 1);

    /* the same by what SetTimingsFromVidPn answers */
    connection.link = CONNECTION_LINK_STARTED;
    OK(display_restore(display_modes(p)));
    connection.link = 0;
    addresses = full_seen.addresses;
    OK(flip(primary[0]));
    probe_sleep(100000000);
    CHECK_RULE("VIDPN-221", full_seen.addresses == addresses);
    connection.link = CONNECTION_LINK_SUCCEEDED;
    OK(display_restore(display_modes(p)));
    connection.link = 0;
    addresses = full_seen.addresses;
    OK(flip(primary[1]));
    probe_sleep(50000000);
    CHECK_RULE("VIDPN-221", full_seen.addresses == addresses + 1);
    full_engine_stop();
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

TEST(flips_wait_for_the_link)
{
    struct probe *p = connections_create(NULL);
    struct probe_client *client;

    probe_set_entry(p, PROBE_DescribeAllocation, true);
    p->before[PROBE_DescribeAllocation] = describe;
    probe_clients_begin(p);
    OK(probe_start(p));
    client = probe_client_run(p, flips_of);
    probe_client_end(p, client);
    probe_clients_end(p);
    display_end(p);
}

/* ---- firmware ---- */

static struct {
    unsigned calls;
    NTSTATUS status;
    UINT reason, width;
    bool unpinned;
} firmware;

static void recommend(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RECOMMENDFUNCTIONALVIDPN *args =
        (const DXGKARG_RECOMMENDFUNCTIONALVIDPN *)(uintptr_t)call->arg[1];
    const D3DKMDT_HVIDPN vidpn = args->hRecommendedFunctionalVidPn;
    D3DKMDT_HVIDPNSOURCEMODESET sources;
    D3DKMDT_HVIDPNTARGETMODESET targets;
    D3DKMDT_VIDPN_SOURCE_MODE *source;
    D3DKMDT_VIDPN_TARGET_MODE *target;
    D3DKMDT_VIDPN_PRESENT_PATH *path;
    struct hands h;
    UINT id;

    firmware.calls++;
    firmware.reason = (UINT)args->RequestReason;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)firmware.status;
    if (!NT_SUCCESS(firmware.status))
        return;
    hands_take(&h, vidpn, display_interface(p, vidpn));
    targets = vidpn_new_target_set(&h, FIRST);
    target = vidpn_target_mode(&h, targets, firmware.width, 600);
    OK(h.t->pfnCreateNewPathInfo(h.topology, &path));
    path->VidPnSourceId = 0;
    path->VidPnTargetId = FIRST;
    path->ContentTransformation.Scaling = D3DKMDT_VPPS_IDENTITY;
    path->ContentTransformation.Rotation = D3DKMDT_VPPR_IDENTITY;
    path->VidPnTargetColorBasis = D3DKMDT_CB_SCRGB;
    path->Content = D3DKMDT_VPPC_GRAPHICS;
    OK(h.t->pfnAddPath(h.topology, path));
    id = target->Id;
    *target = full_target_mode(firmware.width, 600, 60);
    target->Id = id;
    OK(h.g->pfnAddMode(targets, target));
    OK(h.g->pfnPinMode(targets, id));
    OK(h.v->pfnAssignTargetModeSet(vidpn, FIRST, targets));
    sources = vidpn_new_source_set(&h, 0);
    source = vidpn_source_mode(&h, sources, firmware.width, 600);
    id = source->Id;
    OK(h.s->pfnAddMode(sources, source));
    if (!firmware.unpinned)
        OK(h.s->pfnPinMode(sources, id));
    OK(h.v->pfnAssignSourceModeSet(vidpn, 0, sources));
    hands_give_back(&h);
}

static struct probe *lit_by_firmware(bool post)
{
    const struct port_firmware_display lit = {
        .width = 800, .height = 600, .pitch = 3200, .format = D3DDDIFMT_X8R8G8B8};
    struct probe *p = connections_create(NULL);

    memset(&firmware, 0, sizeof(firmware));
    firmware.width = 800;
    p->before[PROBE_RecommendFunctionalVidPn] = recommend;
    if (post)
        OK(port_post_configure(p->port, p->device[0], &lit));
    return p;
}

static void go_on(struct probe *p)
{
    CHECK_RULE("VIDPN-162", firmware.calls == 1 && firmware.reason == 3 &&
                                connection_seen.timings == 1 &&
                                connection_seen.timing[0].size.cx == 800);
    CHECK_RULE("VIDPN-216", connections_path(0, FIRST)->Input.PreserveInherited);
    OK(display_ask_mode(p, 0, 1024, 768, 0));
    CHECK_RULE("VIDPN-216", connection_seen.timings == 2 &&
                                !connections_path(1, FIRST)->Input.PreserveInherited);
}

TEST(what_firmware_has_lit_stays)
{
    struct probe *p = lit_by_firmware(true);

    OK(probe_start(p));
    probe_end(p, go_on);
}

TEST(nothing_is_inherited)
{
    struct probe *p = lit_by_firmware(true);

    firmware.status = STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN;
    OK(probe_start(p));
    CHECK_RULE("VIDPN-216", firmware.calls == 1 && connection_seen.timings == 1 &&
                                connection_seen.timing[0].size.cx == 1024 &&
                                !connections_path(0, FIRST)->Input.PreserveInherited &&
                                probe_rule(p, "VIDPN-159") == 0);
    display_end(p);

    p = lit_by_firmware(false);
    OK(probe_start(p));
    CHECK_RULE("VIDPN-162", firmware.calls == 0 && connection_seen.timings == 1);
    display_end(p);

    /* a proposal that cannot be used */
    p = lit_by_firmware(true);
    firmware.unpinned = true;
    OK(probe_start(p));
    CHECK_RULE("VIDPN-216", firmware.calls == 1 && probe_rule(p, "VIDPN-163") == 1 &&
                                connection_seen.timings == 1 &&
                                !connections_path(0, FIRST)->Input.PreserveInherited);
    display_end(p);

    /* the driver does not tell of what firmware has lit */
    p = lit_by_firmware(true);
    firmware.status = STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN;
    connection.quiet = true;
    OK(probe_start(p));
    CHECK_RULE("DISP-085", probe_rule(p, "DISP-085") == 1 && connection_seen.timings == 0);
    display_end(p);
}
