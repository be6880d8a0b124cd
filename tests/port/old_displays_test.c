/* SPDX-License-Identifier: MIT */
/* What drivers of WDDM 1.0 and 1.1 are asked that later ones are not. */
#include "port/running/post.h"
#include "port/support/client.h"
#include "port/support/full_display.h"
#include "port/support/vidpn.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define OK(call)           CHECK((call) == STATUS_SUCCESS)
#define FIRST              DISPLAY_CHILD
#define SECOND             (DISPLAY_CHILD + 1)

static struct {
    unsigned functional, topology;
    NTSTATUS functional_status, topology_status;
    DXGKARG_RECOMMENDFUNCTIONALVIDPN args;
    uint8_t data[4];
    DXGKARG_RECOMMENDVIDPNTOPOLOGY topology_args;
    SIZE_T fallback; /* paths of it */
    NTSTATUS fallback_write;
    bool empty; /* the driver proposes no path */
} asked;

static void functional(struct probe *p, struct probe_call *call)
{
    (void)p;
    asked.functional++;
    asked.args = *(const DXGKARG_RECOMMENDFUNCTIONALVIDPN *)(uintptr_t)call->arg[1];
    if (asked.args.PrivateDriverDataSize == sizeof(asked.data))
        memcpy(asked.data, asked.args.pPrivateDriverData, sizeof(asked.data));
    call->answered = true;
    call->result = (uint64_t)(uint32_t)asked.functional_status;
}

/* Both targets by one source. */
static void topology(struct probe *p, struct probe_call *call)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *t;
    const DXGK_VIDPN_INTERFACE *v;
    D3DKMDT_VIDPN_PRESENT_PATH *path;
    D3DKMDT_HVIDPNTOPOLOGY handle;

    asked.topology++;
    asked.topology_args = *(const DXGKARG_RECOMMENDVIDPNTOPOLOGY *)(uintptr_t)call->arg[1];
    call->answered = true;
    call->result = (uint64_t)(uint32_t)asked.topology_status;
    v = display_interface(p, asked.topology_args.hVidPn);
    OK(v->pfnGetTopology(asked.topology_args.hVidPn, &handle, &t));
    OK(t->pfnGetNumPaths(asked.topology_args.hFallbackTopology, &asked.fallback));
    asked.fallback_write = t->pfnRemovePath(asked.topology_args.hFallbackTopology, 0, FIRST);
    if (!NT_SUCCESS(asked.topology_status) || asked.empty)
        return;
    for (UINT i = 0; i < 2; i++) {
        OK(t->pfnCreateNewPathInfo(handle, &path));
        path->VidPnSourceId = 0;
        path->VidPnTargetId = FIRST + i;
        path->VidPnTargetColorBasis = D3DKMDT_CB_SCRGB;
        path->Content = D3DKMDT_VPPC_GRAPHICS;
        path->ContentTransformation.Scaling = D3DKMDT_VPPS_NOTSPECIFIED;
        path->ContentTransformation.Rotation = D3DKMDT_VPPR_NOTSPECIFIED;
        OK(t->pfnAddPath(handle, path));
    }
}

static struct probe *of_version(UINT version)
{
    const struct probe_options options = {.version = version};
    struct probe *p = full_display_create(&options);

    probe_make_1x(p);
    memset(&asked, 0, sizeof(asked));
    asked.functional_status = STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN;
    asked.topology_status = STATUS_GRAPHICS_NO_RECOMMENDED_VIDPN_TOPOLOGY;
    display.outputs = display.sources = 2;
    probe_set_entry(p, PROBE_RecommendVidPnTopology, true);
    p->before[PROBE_RecommendFunctionalVidPn] = functional;
    p->before[PROBE_RecommendVidPnTopology] = topology;
    return p;
}

/* ---- at the start ---- */

TEST(a_driver_of_wddm_1_0_without_a_proposal)
{
    struct probe *p = of_version(DXGKDDI_INTERFACE_VERSION_VISTA_SP1);

    OK(probe_start(p));
    CHECK_RULE("VIDPN-161/b",
               asked.functional == 1 && asked.args.RequestReason == DXGK_RFVR_USERMODE &&
                   !asked.args.pPrivateDriverData && !asked.args.PrivateDriverDataSize &&
                   probe_nth(p, PROBE_RecommendFunctionalVidPn, 0)->order <
                       probe_nth(p, PROBE_CommitVidPn, 0)->order);
    CHECK_RULE("VIDPN-166/a",
               asked.topology == 1 && asked.fallback == 2 &&
                   asked.topology_args.VidPnSourceId == D3DDDI_ID_ALL &&
                   asked.topology_args.RequestReason == DXGK_RVT_INITIALIZATION_NOLKG &&
                   !NT_SUCCESS(asked.fallback_write) &&
                   probe_nth(p, PROBE_RecommendVidPnTopology, 0)->order <
                       probe_nth(p, PROBE_CommitVidPn, 0)->order);
    CHECK_RULE("VIDPN-165", probe_rule(p, "VIDPN-165") == 0);
    CHECK_RULE("VIDPN-166/a", vidpn_path(display_modes(p)->active, 0, FIRST) &&
                                  vidpn_path(display_modes(p)->active, 1, SECOND));
    display_end(p);
}

TEST(a_topology_that_is_proposed)
{
    struct probe *p = of_version(DXGKDDI_INTERFACE_VERSION_VISTA_SP1);

    asked.topology_status = STATUS_SUCCESS;
    OK(probe_start(p));
    CHECK_RULE("VIDPN-165", vidpn_paths_from(display_modes(p)->active, 0) == 2 &&
                                display_modes(p)->active->paths == 2 &&
                                vidpn_is_functional(display_modes(p)->active) &&
                                display_seen.commits == 1);
    display_end(p);

    p = of_version(DXGKDDI_INTERFACE_VERSION_VISTA_SP1);
    asked.topology_status = STATUS_SUCCESS;
    asked.empty = true;
    OK(probe_start(p));
    CHECK_RULE("VIDPN-165",
               probe_rule(p, "VIDPN-165") == 1 && vidpn_path(display_modes(p)->active, 1, SECOND));
    display_end(p);

    p = of_version(DXGKDDI_INTERFACE_VERSION_VISTA_SP1);
    asked.topology_status = STATUS_GRAPHICS_CANCEL_VIDPN_TOPOLOGY_AUGMENTATION;
    OK(probe_start(p));
    CHECK_RULE("VIDPN-165", probe_rule(p, "VIDPN-165") == 1 &&
                                probe_record(p, "VIDPN-165")->severity == VERIFY_ERROR &&
                                vidpn_path(display_modes(p)->active, 1, SECOND));
    display_end(p);
}

TEST(later_drivers)
{
    static const UINT versions[] = {DXGKDDI_INTERFACE_VERSION_WIN7, DXGKDDI_INTERFACE_VERSION_WIN8};

    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = of_version(versions[i]);

        OK(probe_start(p));
        CHECK_RULE("VIDPN-166/b", asked.functional == 0 && asked.topology == 0);
        display_end(p);
    }
}

/* ---- what clients want ---- */

static void invalidate(struct probe *p)
{
    uint8_t data[4] = {1, 2, 3, 4};
    D3DKMT_ADAPTERINFO info[4];
    D3DKMT_ENUMADAPTERS2 all = {.NumAdapters = 4, .pAdapters = info};
    D3DKMT_INVALIDATEACTIVEVIDPN args = {.pPrivateDriverData = data,
                                         .PrivateDriverDataSize = sizeof(data)};

    (void)p;
    CHECK(NT_SUCCESS(D3DKMTEnumAdapters2(&all)) && all.NumAdapters == 1);
    args.hAdapter = info[0].hAdapter;
    CHECK_RULE(
        "VIDPN-164",
        IS(D3DKMTInvalidateActiveVidPn(&args), STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN) &&
            asked.functional == 2 && asked.args.RequestReason == DXGK_RFVR_USERMODE &&
            asked.args.PrivateDriverDataSize == 4 && memcmp(asked.data, data, 4) == 0);
}

TEST(a_client_wants_another_vidpn)
{
    struct probe *p = of_version(DXGKDDI_INTERFACE_VERSION_VISTA_SP1);
    struct probe_client *client;

    probe_clients_begin(p);
    OK(probe_start(p));
    client = probe_client_run(p, invalidate);
    probe_client_end(p, client);
    probe_clients_end(p);
    display_end(p);
}

/* ---- empty commits ---- */

static const struct display_commit *commit(UINT n)
{
    return &display_seen.commit[n];
}

static UINT flags[8], commits_with_flags;

static void note_flags(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                       const DXGK_VIDPN_INTERFACE *vidpn)
{
    (void)p;
    (void)vidpn;
    flags[commits_with_flags++ % 8] = args->Flags.PathPowerTransition |
                                      (UINT)args->Flags.PathPoweredOff << 1;
}

static void while_off(struct probe *p)
{
    const bool old = p->options.version < DXGKDDI_INTERFACE_VERSION_WIN8;
    UINT before;

    OK(display_power(display_modes(p), FIRST, false));
    before = display_seen.commits;
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    if (!old) {
        CHECK_RULE("VIDPN-179", display_seen.commits == before + 1);
        return;
    }
    CHECK_RULE("VIDPN-179", display_seen.commits == before + 2 && flags[before % 8] == 2 &&
                                commit(before)->size.cx == 800 && flags[(before + 1) % 8] == 0 &&
                                commit(before + 1)->paths == 0 && commit(before + 1)->source == 0);
}

static void wake(struct probe *p)
{
    const bool old = p->options.version < DXGKDDI_INTERFACE_VERSION_WIN8;
    UINT before;

    OK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep));
    before = display_seen.commits;
    OK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone));
    if (!old) {
        CHECK_RULE("VIDPN-180", display_seen.commits == before + 1 && flags[before % 8] == 1);
        return;
    }
    CHECK_RULE("VIDPN-180", display_seen.commits == before + 2 && flags[before % 8] == 0 &&
                                commit(before)->paths == 0 && flags[(before + 1) % 8] == 1 &&
                                commit(before + 1)->paths == 1);
}

TEST(empty_commits)
{
    static const UINT versions[] = {DXGKDDI_INTERFACE_VERSION_WIN7, DXGKDDI_INTERFACE_VERSION_WIN8};
    static void (*const bodies[])(struct probe *) = {while_off, wake};

    for (unsigned i = 0; i < 4; i++) {
        struct probe *p = of_version(versions[i % 2]);

        display.outputs = display.sources = 1;
        display.in_commit = note_flags;
        commits_with_flags = 0;
        OK(probe_start(p));
        probe_end(p, bodies[i / 2]);
    }
}

/* ---- the POST device ---- */

TEST(the_screen_is_not_asked_back)
{
    const struct port_firmware_display lit = {
        .width = 800, .height = 600, .pitch = 3200, .format = D3DDDIFMT_X8R8G8B8};
    struct probe *p = of_version(DXGKDDI_INTERFACE_VERSION_WIN7);

    OK(port_post_configure(p->port, p->device[0], &lit));
    OK(probe_start(p));
    (void)probe_stop(p);
    CHECK_RULE("PRES-039", probe_count(p, PROBE_StopDeviceAndReleasePostDisplayOwnership) == 0 &&
                               probe_count(p, PROBE_StopDevice) == 1 &&
                               probe_count(p, PROBE_SystemDisplayEnable) == 0);
    probe_destroy(p);
}
