/* SPDX-License-Identifier: MIT */
/* Commits of VidPNs: their order, their failures, and the visibility of sources around them. */
#include "port/support/display.h"
#include "nt/base/current.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

/* ---- what is noted of calls ---- */

static struct {
    char steps[256]; /* v0 V0: source 0 invisible, visible; c0: commit; q0: capability; P0: picture
                        of source 0; D3, D0: power of a child; A3, A0: of the adapter; U: update */
    UINT ordinal;    /* of the path of the source, at the last commit */
    D3DKMDT_MONITOR_CONNECTIVITY_CHECKS checks;
    DXGKARG_COMMITVIDPN_FLAGS flags;
    HANDLE primary;
    DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH update;
    unsigned fail_commit;     /* the n-th commit from here on fails, from 1 on; 0: none */
    unsigned fails;           /* that many follow */
    NTSTATUS failure, second; /* of the first that fails, and of those that follow; 0: the same */
    D3DKMDT_VIDPN_PRESENT_PATH_SCALING tried[8];
    D3DKMDT_VIDPN_PRESENT_PATH_ROTATION turned[8];
    unsigned tries;
} seen;

static void step(const char *what, unsigned n)
{
    const size_t at = strlen(seen.steps);

    if (at + 4 >= sizeof(seen.steps))
        return;
    seen.steps[at] = *what;
    seen.steps[at + 1] = (char)('0' + n);
}

static bool steps_are(const char *wanted)
{
    const bool are = strcmp(seen.steps, wanted) == 0;

    if (!are)
        print_message("steps: %s, wanted: %s\n", seen.steps, wanted);
    memset(seen.steps, 0, sizeof(seen.steps));
    return are;
}

static void note_visibility(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEVISIBILITY *args =
        (const DXGKARG_SETVIDPNSOURCEVISIBILITY *)(uintptr_t)call->arg[1];

    (void)p;
    CHECK_RULE("VIDPN-187",
               call->irql == PASSIVE_LEVEL && (args->Visible == TRUE || args->Visible == FALSE));
    CHECK_RULE("VIDPN-189", args->VidPnSourceId < display.sources);
    if (args->VidPnSourceId < 4) {
        display_seen.visible[args->VidPnSourceId] = args->Visible != FALSE;
    }
    step(args->Visible ? "V" : "v", args->VidPnSourceId);
}

static void note_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                        const DXGK_VIDPN_INTERFACE *v)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    D3DKMDT_HVIDPNTOPOLOGY handle;

    (void)p;
    step("c", args->AffectedVidPnSourceId);
    seen.checks = args->MonitorConnectivityChecks;
    seen.flags = args->Flags;
    seen.primary = args->hPrimaryAllocation;
    (void)v->pfnGetTopology(args->hFunctionalVidPn, &handle, &topology);
    (void)topology->pfnAcquireFirstPathInfo(handle, &path);
    if (!path)
        return;
    seen.ordinal = (UINT)path->ImportanceOrdinal;
    if (seen.tries < 8) {
        seen.turned[seen.tries] = path->ContentTransformation.Rotation;
        seen.tried[seen.tries++] = path->ContentTransformation.Scaling;
    }
    (void)topology->pfnReleasePathInfo(handle, path);
}

static void fail_commit(struct probe *p, struct probe_call *call)
{
    CHECK_RULE("VIDPN-167", call->irql == PASSIVE_LEVEL && probe_count(p, PROBE_CommitVidPn) > 0);
    if (seen.fail_commit && --seen.fail_commit == 0) {
        call->result = (uint32_t)seen.failure;
        seen.failure = seen.second ? seen.second : seen.failure;
        seen.fail_commit = seen.fails ? 1 : 0;
        seen.fails -= seen.fails > 0;
    }
}

static void note_capability(struct probe *p, struct probe_call *call)
{
    const DXGKARG_QUERYVIDPNHWCAPABILITY *args = (const DXGKARG_QUERYVIDPNHWCAPABILITY *)(uintptr_t)
                                                     call->arg[1];
    UINT bits;

    (void)p;
    memcpy(&bits, &args->VidPnHWCaps, sizeof(bits));
    CHECK_RULE("VIDPN-200", bits == 0 && args->TargetId >= DISPLAY_CHILD);
    CHECK_RULE("VIDPN-199", display_interface(p, args->hFunctionalVidPn) != NULL);
    step("q", args->SourceId);
}

static NTSTATUS note_present(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    (void)p;
    step("P", args->VidPnSourceId);
    return STATUS_SUCCESS;
}

static void note_update(struct probe *p, struct probe_call *call)
{
    (void)p;
    seen.update = *(const DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *)(uintptr_t)call->arg[1];
    CHECK_RULE("VIDPN-193", call->irql == PASSIVE_LEVEL);
    step("U", (unsigned)seen.update.VidPnPresentPathInfo.ContentTransformation.Rotation);
}

static void note_power(struct probe *p, struct probe_call *call)
{
    (void)p;
    step((ULONG)call->arg[1] == DISPLAY_ADAPTER_HW_ID ? "A" : "D",
         (unsigned)call->arg[2] - (unsigned)PowerDeviceD0);
}

static struct probe *watched(UINT count)
{
    struct probe *p = display_create(NULL);

    memset(&seen, 0, sizeof(seen));
    display.sources = display.outputs = count;
    p->before[PROBE_SetVidPnSourceVisibility] = note_visibility;
    p->after[PROBE_CommitVidPn] = fail_commit;
    p->before[PROBE_QueryVidPnHWCapability] = note_capability;
    p->before[PROBE_UpdateActiveVidPnPresentPath] = note_update;
    p->before[PROBE_SetPowerState] = note_power;
    display.in_commit = note_commit;
    display.in_present = note_present;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, body);
}

static const struct display_commit *last_commit(void)
{
    return &display_seen.commit[(display_seen.commits - 1) % 64];
}

static bool active_size(const struct probe *p, UINT source, UINT width, UINT height)
{
    const union mode *mode = mode_set_pinned(*vidpn_source_set(display_modes(p)->active, source));

    return mode && mode->source.Format.Graphics.PrimSurfSize.cx == width &&
           mode->source.Format.Graphics.PrimSurfSize.cy == height;
}

static bool all_settled(struct probe *p)
{
    bool ok = true;

    for (UINT source = 0; source < display.sources; source++)
        if (vidpn_paths_from(display_modes(p)->active, source))
            ok &= screens_settle(display_screens(p), source);
    return ok;
}

/* ---- a change of the mode ---- */

static void check_change(struct probe *p)
{
    CHECK(all_settled(p));
    CHECK_RULE("VIDPN-200", steps_are("c0q0V0P0"));
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS && all_settled(p));
    CHECK_RULE("VIDPN-188/a", steps_are("v0c0q0V0P0"));
    CHECK_RULE("VIDPN-188/c", display_seen.visible[0]);
    CHECK_RULE("VIDPN-204/a", display_seen.commits == 2 && last_commit()->size.cx == 800);
    CHECK_RULE("VIDPN-172", seen.checks == D3DKMDT_MCC_IGNORE);
    CHECK_RULE("VIDPN-171", seen.checks == D3DKMDT_MCC_IGNORE);
    CHECK_RULE("VIDPN-174", seen.primary == NULL);
    CHECK_RULE("VIDPN-175/a", !seen.flags.PathPowerTransition && !seen.flags.PathPoweredOff);
    CHECK_RULE("VIDPN-204/b",
               display_ask_mode(p, 0, 801, 600, 0) == STATUS_INVALID_PARAMETER && steps_are(""));
    CHECK_RULE("VIDPN-158", display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS && steps_are(""));
}

TEST(change_of_the_mode)
{
    run(watched(1), check_change);
}

static NTSTATUS slow_present(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    (void)p;
    step("P", args->VidPnSourceId);
    probe_sleep(PROBE_SECOND / 20);
    step("R", args->VidPnSourceId);
    return STATUS_SUCCESS;
}

static void check_present_in_flight(struct probe *p)
{
    struct screens_image image;
    const RECT all = {0, 0, 8, 8};

    CHECK(all_settled(p) && steps_are("c0q0V0P0R0"));
    CHECK(screens_draw(display_screens(p), 0, &image));
    screens_drawn(display_screens(p), 0, &all);
    probe_sleep(PROBE_SECOND / 50);
    CHECK(strcmp(seen.steps, "P0") == 0);
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS && all_settled(p));
    CHECK_RULE("VIDPN-186", steps_are("P0R0v0c0q0V0P0R0"));
}

TEST(a_present_in_flight)
{
    struct probe *p = watched(1);

    display.in_present = slow_present;
    run(p, check_present_in_flight);
}

static BOOLEAN NTAPI tell_progress(PVOID context)
{
    const DXGKRNL_INTERFACE *dxgk = &((struct probe *)context)->state[0].dxgk;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DISPLAYONLY_PRESENT_PROGRESS;
    data.DisplayOnlyPresentProgress.ProgressId = DXGK_PRESENT_DISPLAYONLY_PROGRESS_ID_COMPLETE;
    dxgk->DxgkCbNotifyInterrupt(dxgk->DeviceHandle, &data);
    (void)dxgk->DxgkCbQueueDpc(dxgk->DeviceHandle);
    return TRUE;
}

static void finish_present(struct probe *p)
{
    const DXGKRNL_INTERFACE *dxgk = &p->state[0].dxgk;
    BOOLEAN result;

    probe_sleep(PROBE_SECOND / 10);
    step("R", 0);
    (void)dxgk->DxgkCbSynchronizeExecution(dxgk->DeviceHandle, tell_progress, p, 0, &result);
}

/* Every present is still at work when the driver has returned. */
static NTSTATUS pending_present(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    step("P", args->VidPnSourceId);
    sim_thread_release(probe_thread(p, nt_process_current(), "present", finish_present));
    return STATUS_PENDING;
}

static void check_pending(struct probe *p)
{
    struct screens_image image;
    const RECT all = {0, 0, 8, 8};

    CHECK(all_settled(p) && steps_are("c0q0V0P0R0"));
    CHECK(screens_draw(display_screens(p), 0, &image));
    screens_drawn(display_screens(p), 0, &all);
    probe_sleep(PROBE_SECOND / 30);
    CHECK(strcmp(seen.steps, "P0") == 0);
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS && all_settled(p));
    CHECK_RULE("VIDPN-186", steps_are("P0R0v0c0q0V0P0R0"));
}

TEST(a_present_that_is_pending)
{
    struct probe *p = watched(1);

    display.in_present = pending_present;
    run(p, check_pending);
}

static void check_unchanged(struct probe *p)
{
    const size_t enums = probe_count(p, PROBE_EnumVidPnCofuncModality);

    CHECK(all_settled(p) && steps_are("c0q0V0P0"));
    CHECK(display_ask_mode(p, 0, 1024, 768, 0) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-158", steps_are("") && probe_count(p, PROBE_EnumVidPnCofuncModality) > enums);
}

/* Without smooth rotation the whole way is gone, to the same VidPN. */
TEST(the_same_once_more)
{
    struct probe *p = watched(1);

    p->caps.SupportSmoothRotation = FALSE;
    run(p, check_unchanged);
}

static void check_others_stay(struct probe *p)
{
    CHECK(all_settled(p));
    memset(seen.steps, 0, sizeof(seen.steps));
    CHECK(display_ask_mode(p, 1, 640, 480, 0) == STATUS_SUCCESS && all_settled(p));
    CHECK_RULE("VIDPN-204/c", steps_are("v1c1q1V1P1") && active_size(p, 0, 1024, 768) &&
                                  active_size(p, 1, 640, 480));
    CHECK_RULE("VIDPN-168", display_seen.commits == 3 && last_commit()->source == 1 &&
                                last_commit()->paths == 2);
}

TEST(other_sources_stay)
{
    run(watched(2), check_others_stay);
}

/* ---- failures ---- */

static void check_refused_mode(struct probe *p)
{
    CHECK(all_settled(p) && steps_are("c0q0V0P0"));
    seen.fail_commit = 1;
    seen.failure = STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    CHECK_RULE("VIDPN-181",
               display_ask_mode(p, 0, 800, 600, 0) == STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY &&
                   active_size(p, 0, 1024, 768));
    CHECK(all_settled(p));
    CHECK_RULE("VIDPN-188/d", steps_are("v0c0V0P0"));
}

TEST(a_refused_change)
{
    run(watched(1), check_refused_mode);
}

static void check_next_mode(struct probe *p)
{
    CHECK_RULE("VIDPN-184/a",
               all_settled(p) && steps_are("c0c0q0V0P0") && active_size(p, 0, 800, 600));
}

TEST(the_next_mode_is_tried)
{
    struct probe *p = watched(1);

    seen.fail_commit = 1;
    seen.failure = STATUS_UNSUCCESSFUL;
    run(p, check_next_mode);
}

static void check_no_mode(struct probe *p)
{
    CHECK_RULE("VIDPN-184/b", steps_are("c0c0c0") && display_modes(p)->active->paths == 0);
}

TEST(no_mode_works)
{
    struct probe *p = watched(1);

    seen.fail_commit = 1;
    seen.fails = 100;
    seen.failure = STATUS_UNSUCCESSFUL;
    run(p, check_no_mode);
}

static void check_refused_removal(struct probe *p)
{
    CHECK(all_settled(p) && steps_are("c0q0V0P0"));
    seen.fail_commit = 1;
    seen.failure = STATUS_UNSUCCESSFUL;
    display_indicate(p, 0, false);
    CHECK_RULE("VIDPN-184/c", steps_are("v0c0") && display_modes(p)->active->paths == 0 &&
                                  probe_said(p, "VIDPN-184", "source 0") &&
                                  probe_record(p, "VIDPN-184")->severity == VERIFY_WARNING);
}

TEST(a_refused_removal)
{
    run(watched(1), check_refused_removal);
}

static void check_undo(struct probe *p)
{
    CHECK(all_settled(p));
    memset(seen.steps, 0, sizeof(seen.steps));
    /* both were dark: source 0 is committed, source 1 refused, and source 0 goes back */
    CHECK_RULE("VIDPN-185", display_seen.commits >= 3 && display_seen.commit[0].source == 0 &&
                                display_seen.commit[1].source == 1 &&
                                display_seen.commit[2].source == 0 &&
                                display_seen.commit[2].paths == 0);
}

TEST(the_second_source_fails)
{
    struct probe *p = watched(2);

    seen.fail_commit = 2;
    seen.failure = STATUS_UNSUCCESSFUL;
    run(p, check_undo);
}

/* ---- scalings ---- */

static void check_scalings(struct probe *p)
{
    CHECK(all_settled(p));
    seen.tries = 0;
    seen.fail_commit = 1;
    seen.failure = STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
    CHECK_RULE("VIDPN-182", display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS &&
                                seen.tries == 2 && seen.tried[0] == D3DKMDT_VPPS_STRETCHED &&
                                seen.tried[1] == D3DKMDT_VPPS_CENTERED);
    CHECK_RULE(
        "VIDPN-183",
        probe_rule(p, "VIDPN-183") == 1 &&
            vidpn_path_to(display_modes(p)->active, DISPLAY_CHILD)->ContentTransformation.Scaling ==
                D3DKMDT_VPPS_CENTERED);
}

TEST(another_scaling)
{
    run(watched(1), check_scalings);
}

static void check_all_scalings(struct probe *p)
{
    CHECK(all_settled(p));
    seen.tries = 0;
    seen.fail_commit = 1;
    seen.fails = 100;
    seen.failure = STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
    CHECK_RULE(
        "VIDPN-183",
        display_ask_mode(p, 0, 800, 500, 0) == STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED &&
            seen.tries == 3 && seen.tried[0] == D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX &&
            seen.tried[1] == D3DKMDT_VPPS_STRETCHED && seen.tried[2] == D3DKMDT_VPPS_CENTERED);
    CHECK_RULE("VIDPN-181", active_size(p, 0, 1024, 768));
}

TEST(all_scalings_are_refused)
{
    struct probe *p = watched(1);

    display.source_mode[1] = display_source_mode(800, 500);
    display.scaling.AspectRatioCenteredMax = 1;
    run(p, check_all_scalings);
}

static void refuse_commits(unsigned count)
{
    seen.tries = 0;
    seen.fail_commit = 1;
    seen.fails = count - 1;
    seen.failure = STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
}

static bool tried(unsigned i, D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling,
                  D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation)
{
    return seen.tried[i] == scaling && seen.turned[i] == rotation;
}

static const D3DKMDT_VIDPN_PRESENT_PATH_TRANSFORMATION *shown(const struct probe *p)
{
    return &vidpn_path_to(display_modes(p)->active, DISPLAY_CHILD)->ContentTransformation;
}

static void check_rotation_last(struct probe *p)
{
    CHECK(all_settled(p));
    refuse_commits(3);
    CHECK_RULE("VIDPN-183", display_ask_mode(p, 0, 800, 600, 1) ==
                                    STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED &&
                                probe_rule(p, "VIDPN-183") == 1 && seen.tries == 3);
    CHECK_RULE("VIDPN-183", tried(0, D3DKMDT_VPPS_STRETCHED, D3DKMDT_VPPR_ROTATE90) &&
                                tried(1, D3DKMDT_VPPS_CENTERED, D3DKMDT_VPPR_ROTATE90) &&
                                tried(2, D3DKMDT_VPPS_STRETCHED, D3DKMDT_VPPR_IDENTITY));
    CHECK(active_size(p, 0, 1024, 768));
    refuse_commits(2);
    CHECK_RULE("VIDPN-183", display_ask_mode(p, 0, 640, 480, 3) == STATUS_SUCCESS &&
                                seen.tries == 3 && active_size(p, 0, 640, 480) &&
                                shown(p)->Scaling == D3DKMDT_VPPS_STRETCHED &&
                                shown(p)->Rotation == D3DKMDT_VPPR_IDENTITY);
}

TEST(no_rotation_is_tried_last)
{
    struct probe *p = watched(1);

    p->caps.SupportSmoothRotation = FALSE;
    run(p, check_rotation_last);
}

static void check_supported_only(struct probe *p)
{
    CHECK(all_settled(p));
    refuse_commits(2);
    CHECK_RULE("VIDPN-183",
               !NT_SUCCESS(display_ask_mode(p, 0, 800, 500, 0)) && seen.tries == 2 &&
                   tried(0, D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX, D3DKMDT_VPPR_IDENTITY) &&
                   tried(1, D3DKMDT_VPPS_STRETCHED, D3DKMDT_VPPR_IDENTITY));
}

/* The refused one is not tried again, nor is one that the driver does not support. */
TEST(scalings_that_are_supported)
{
    struct probe *p = watched(1);

    memset(&display.scaling, 0, sizeof(display.scaling));
    display.scaling.Stretched = display.scaling.AspectRatioCenteredMax = 1;
    display.source_mode[1] = display_source_mode(800, 500);
    run(p, check_supported_only);
}

/* One that a client wants where the sizes are equal: identity comes before the others. */
static void check_identity_first(struct probe *p)
{
    const struct modes_wish wish = {.given = true,
                                    .size = {1024, 768},
                                    .rotation = D3DKMDT_VPPR_IDENTITY,
                                    .scaling = D3DKMDT_VPPS_CENTERED};

    CHECK(all_settled(p));
    refuse_commits(1);
    CHECK_RULE("VIDPN-183", display_set_mode(display_modes(p), &wish) == STATUS_SUCCESS &&
                                seen.tries == 2 &&
                                tried(0, D3DKMDT_VPPS_CENTERED, D3DKMDT_VPPR_IDENTITY) &&
                                tried(1, D3DKMDT_VPPS_IDENTITY, D3DKMDT_VPPR_IDENTITY));
}

TEST(identity_is_the_first_other_scaling)
{
    run(watched(1), check_identity_first);
}

static void check_other_failure(struct probe *p)
{
    CHECK(all_settled(p));
    refuse_commits(2);
    seen.second = STATUS_UNSUCCESSFUL;
    CHECK_RULE("VIDPN-183",
               display_ask_mode(p, 0, 800, 600, 1) == STATUS_UNSUCCESSFUL && seen.tries == 2);
}

TEST(another_failure_ends_the_attempts)
{
    struct probe *p = watched(1);

    p->caps.SupportSmoothRotation = FALSE;
    run(p, check_other_failure);
}

/* ---- visibility ---- */

static void check_failing_visibility(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("VIDPN-189", probe_said(p, "VIDPN-189", "source 0") && display_seen.presents == 1);
}

TEST(visibility_fails)
{
    struct probe *p = display_create(NULL);

    p->before[PROBE_SetVidPnSourceVisibility] = probe_fail_call;
    run(p, check_failing_visibility);
}

/* ---- capabilities ---- */

static UINT reserved_bits;

static void answer_capability(struct probe *p, struct probe_call *call)
{
    UINT bits = reserved_bits;

    (void)p;
    memcpy(&((DXGKARG_QUERYVIDPNHWCAPABILITY *)(uintptr_t)call->arg[1])->VidPnHWCaps, &bits,
           sizeof(bits));
}

static void check_reserved(struct probe *p)
{
    CHECK_RULE("VIDPN-199", probe_rule(p, "VIDPN-200") == 1);
    CHECK_RULE("VIDPN-200", probe_said(p, "VIDPN-200", "reserved"));
}

TEST(reserved_capabilities)
{
    struct probe *p = watched(1);

    reserved_bits = 1u << 31;
    p->after[PROBE_QueryVidPnHWCapability] = answer_capability;
    run(p, check_reserved);
}

static void check_failed_capability(struct probe *p)
{
    CHECK_RULE("VIDPN-200", probe_said(p, "VIDPN-200", "STATUS_UNSUCCESSFUL") &&
                                display_modes(p)->active->paths == 1);
}

TEST(capabilities_fail)
{
    struct probe *p = display_create(NULL);

    p->before[PROBE_QueryVidPnHWCapability] = probe_fail_call;
    run(p, check_failed_capability);
}

/* ---- rotation ---- */

static const D3DKMDT_VIDPN_PRESENT_PATH *path_of(const struct probe *p)
{
    return vidpn_path_to(display_modes(p)->active, DISPLAY_CHILD);
}

static void check_rotation(struct probe *p)
{
    const D3DKMDT_VIDPN_PRESENT_PATH before = *path_of(p);
    D3DKMDT_VIDPN_PRESENT_PATH after;

    CHECK(all_settled(p) && steps_are("c0q0V0P0"));
    CHECK(display_ask_mode(p, 0, 1024, 768, 1) == STATUS_SUCCESS && all_settled(p));
    CHECK_RULE("VIDPN-196", steps_are("U2P0"));
    after = seen.update.VidPnPresentPathInfo;
    after.ContentTransformation.Rotation = before.ContentTransformation.Rotation;
    CHECK_RULE("VIDPN-195", memcmp(&after, &before, sizeof(after)) == 0);
    CHECK_RULE("VIDPN-193", path_of(p)->ContentTransformation.Rotation == D3DKMDT_VPPR_ROTATE90);
    CHECK_RULE("VIDPN-197", active_size(p, 0, 1024, 768));
    p->before[PROBE_UpdateActiveVidPnPresentPath] = probe_fail_call;
    CHECK_RULE("VIDPN-194", display_ask_mode(p, 0, 1024, 768, 2) == STATUS_UNSUCCESSFUL &&
                                path_of(p)->ContentTransformation.Rotation == D3DKMDT_VPPR_ROTATE90);
}

TEST(smooth_rotation)
{
    run(watched(1), check_rotation);
}

static void unknown_path(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint32_t)STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
}

static void check_unknown_path(struct probe *p)
{
    CHECK_RULE("VIDPN-195",
               display_ask_mode(p, 0, 1024, 768, 1) == STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY &&
                   probe_rule(p, "VIDPN-195") == 1);
}

TEST(a_path_that_the_driver_does_not_know)
{
    struct probe *p = watched(1);

    p->before[PROBE_UpdateActiveVidPnPresentPath] = unknown_path;
    run(p, check_unknown_path);
}

static void check_commit_rotation(struct probe *p)
{
    CHECK(all_settled(p) && steps_are("c0q0V0P0"));
    CHECK(display_ask_mode(p, 0, 1024, 768, 3) == STATUS_SUCCESS && all_settled(p));
    CHECK_RULE("VIDPN-196",
               steps_are("v0c0q0V0P0") && last_commit()->rotation == D3DKMDT_VPPR_ROTATE270);
}

TEST(rotation_by_a_commit)
{
    struct probe *p = watched(1);

    p->caps.SupportSmoothRotation = FALSE;
    run(p, check_commit_rotation);
}

/* ---- monitors that come and go ---- */

static void check_plug(struct probe *p)
{
    CHECK(all_settled(p) && steps_are("c0q0V0P0"));
    display_indicate(p, 1, true);
    CHECK(all_settled(p));
    CHECK_RULE("VIDPN-201", steps_are("c1q1V1P1") && last_commit()->paths == 2 &&
                                last_commit()->target == DISPLAY_CHILD + 1);
    CHECK_RULE("VIDPN-119",
               vidpn_path_to(display_modes(p)->active, DISPLAY_CHILD + 1)->ImportanceOrdinal == 2);
    display_indicate(p, 0, false);
    CHECK_RULE("VIDPN-202/a", steps_are("v0c0") && last_commit()->paths == 1 &&
                                  !display_modes(p)->target[0].monitor);
    display_indicate(p, 1, false);
    CHECK_RULE("VIDPN-169", steps_are("v1c1") && last_commit()->paths == 0);
    CHECK_RULE("VIDPN-134", last_commit()->paths == 0 && display_modes(p)->active->paths == 0);
}

TEST(hot_plug)
{
    struct probe *p = watched(2);

    display.connected[1] = false;
    run(p, check_plug);
}

static size_t supports, enums;

static void check_last_leaves(struct probe *p)
{
    supports = probe_count(p, PROBE_IsSupportedVidPn);
    enums = probe_count(p, PROBE_EnumVidPnCofuncModality);
    display_indicate(p, 0, false);
    CHECK_RULE("VIDPN-134",
               probe_count(p, PROBE_EnumVidPnCofuncModality) == enums && last_commit()->paths == 0);
    CHECK_RULE("VIDPN-202/a", probe_count(p, PROBE_IsSupportedVidPn) == supports &&
                                  probe_count(p, PROBE_SetPowerState) == 0);
}

TEST(the_last_monitor_leaves)
{
    run(watched(1), check_last_leaves);
}

/* The plug fails with what there is pinned: all is chosen anew. */
static bool refuse_pairs;

static void one_size_for_two(struct probe *p, struct probe_call *call)
{
    DXGKARG_ISSUPPORTEDVIDPN *args = (DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1];
    const DXGK_VIDPN_INTERFACE *v = display_interface(p, args->hDesiredVidPn);
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    SIZE_T paths;

    (void)v->pfnGetTopology(args->hDesiredVidPn, &handle, &topology);
    (void)topology->pfnGetNumPaths(handle, &paths);
    args->IsVidPnSupported = TRUE;
    if (paths < 2 || !refuse_pairs)
        return;
    (void)v->pfnAcquireSourceModeSet(args->hDesiredVidPn, 0, &set, &modes);
    (void)modes->pfnAcquirePinnedModeInfo(set, &mode);
    if (mode) {
        args->IsVidPnSupported = mode->Format.Graphics.PrimSurfSize.cx < 1024;
        (void)modes->pfnReleaseModeInfo(set, mode);
    }
    (void)v->pfnReleaseSourceModeSet(args->hDesiredVidPn, set);
}

static void check_rebuild(struct probe *p)
{
    refuse_pairs = true;
    CHECK(all_settled(p) && steps_are("c0q0V0P0"));
    display_indicate(p, 1, true);
    CHECK_RULE("VIDPN-201", display_modes(p)->active->paths == 2 && active_size(p, 0, 800, 600) &&
                                active_size(p, 1, 1024, 768));
}

TEST(all_is_chosen_anew)
{
    struct probe *p = watched(2);

    refuse_pairs = false;
    display.connected[1] = false;
    p->after[PROBE_IsSupportedVidPn] = one_size_for_two;
    run(p, check_rebuild);
}

/* ---- memory of sizes ---- */

static void check_memory(struct probe *p)
{
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    display_indicate(p, 0, false);
    display_indicate(p, 0, true);
    CHECK_RULE("VIDPN-151/b", active_size(p, 0, 800, 600));
}

TEST(the_same_monitor_once_more)
{
    run(watched(1), check_memory);
}

static void check_new_system(struct probe *p)
{
    CHECK_RULE("VIDPN-157", active_size(p, 0, 1024, 768));
    CHECK_RULE("VIDPN-156", probe_count(p, PROBE_RecommendVidPnTopology) == 0);
}

TEST(another_system)
{
    run(watched(1), check_memory);
    run(watched(1), check_new_system);
}

/* ---- after a reset ---- */

static void check_again(struct probe *p)
{
    const size_t asked = probe_count(p, PROBE_EnumVidPnCofuncModality);

    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS && all_settled(p));
    enums = probe_count(p, PROBE_EnumVidPnCofuncModality);
    CHECK(enums > asked);
    memset(seen.steps, 0, sizeof(seen.steps));
    CHECK(display_restore(display_modes(p)) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-192/a", strncmp(seen.steps, "c0c1q0q1V0", 10) == 0 &&
                                  !strchr(seen.steps, 'v') && active_size(p, 0, 800, 600));
    CHECK_RULE("VIDPN-192/a", probe_count(p, PROBE_EnumVidPnCofuncModality) == enums &&
                                  !seen.flags.PathPowerTransition && !seen.flags.PathPoweredOff);
    CHECK(all_settled(p));
}

TEST(all_is_committed_again)
{
    run(watched(2), check_again);
}

/* ---- the end ---- */

/* After the last commit nothing of VidPNs is called. */
static void note_stop(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    step("S", 0);
}

TEST(stop_of_a_display)
{
    struct probe *p = watched(2);

    p->caps.SupportNonVGA = FALSE;
    p->before[PROBE_StopDevice] = note_stop;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    memset(seen.steps, 0, sizeof(seen.steps));
    (void)probe_stop(p);
    CHECK_RULE("VIDPN-191/b", steps_are("v0v1c0c1S0") && last_commit()->paths == 0 &&
                                  !seen.flags.PathPowerTransition);
    CHECK(display_seen.failure == 0);
    probe_destroy(p);
}
