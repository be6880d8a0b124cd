/* SPDX-License-Identifier: MIT */
/* VidPNs that a driver proposes: how it builds them, and what becomes of them. */
#include "port/running/acpi.h"
#include "port/support/vidpn.h"
#include "support/test.h"

#include <string.h>

#define OK(call) CHECK((call) == STATUS_SUCCESS)
#define BAD_ID   0x777u

static struct {
    vidpn_body *build;
    NTSTATUS answer;
    unsigned calls;
    DXGKARG_RECOMMENDFUNCTIONALVIDPN args;
    ULONG flags;
} proposal;

static void recommend(struct probe *p, struct probe_call *call)
{
    struct hands h;

    proposal.calls++;
    proposal.args = *(const DXGKARG_RECOMMENDFUNCTIONALVIDPN *)(uintptr_t)call->arg[1];
    call->answered = true;
    call->result = (uint64_t)proposal.answer;
    if (!proposal.build)
        return;
    hands_take(&h, proposal.args.hRecommendedFunctionalVidPn,
               display_interface(p, proposal.args.hRecommendedFunctionalVidPn));
    proposal.build(p, &h);
    hands_give_back(&h);
}

static void answer_event(struct probe *p, struct probe_call *call)
{
    (void)p;
    *(ULONG *)(uintptr_t)call->arg[4] = proposal.flags;
}

static struct probe *make(void)
{
    struct probe *p = display_create(NULL);

    memset(&proposal, 0, sizeof(proposal));
    proposal.flags = DXGK_ACPI_CHANGE_DISPLAY_MODE;
    probe_set_entry(p, PROBE_NotifyAcpiEvent, true);
    p->after[PROBE_NotifyAcpiEvent] = answer_event;
    p->before[PROBE_RecommendFunctionalVidPn] = recommend;
    display.outputs = display.sources = 2;
    display.connected[1] = false;
    return p;
}

static void set_child(struct probe *p, UINT i, D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology,
                      DXGK_CHILD_DEVICE_HPD_AWARENESS awareness)
{
    p->child[i] = (DXGK_CHILD_DESCRIPTOR){
        .ChildDeviceType = TypeVideoOutput,
        .ChildUid = DISPLAY_CHILD + i,
        .ChildCapabilities = {.HpdAwareness = awareness,
                              .Type.VideoOutput = {.InterfaceTechnology = technology,
                                                   .MonitorOrientationAwareness = D3DKMDT_MOA_NONE}}};
}

static void start(struct probe *p, void (*body)(struct probe *p))
{
    OK(probe_start(p));
    CHECK_RULE("VIDPN-161/a", proposal.calls == 0);
    probe_end(p, body);
}

static void press_key(struct probe *p)
{
    OK(port_adapter_notify_acpi(p->adapter[0], DxgkAcpiEvent, ACPI_NOTIFY_CYCLE_DISPLAY_HOTKEY, 0));
}

/* ---- building one ---- */

static D3DKMDT_VIDPN_PRESENT_PATH *new_path(const struct hands *h, UINT source, UINT target)
{
    D3DKMDT_VIDPN_PRESENT_PATH *path;

    OK(h->t->pfnCreateNewPathInfo(h->topology, &path));
    path->VidPnSourceId = source;
    path->VidPnTargetId = target;
    path->ContentTransformation.Scaling = D3DKMDT_VPPS_CENTERED;
    path->ContentTransformation.Rotation = D3DKMDT_VPPR_IDENTITY;
    path->VidPnTargetColorBasis = D3DKMDT_CB_SCRGB;
    path->Content = D3DKMDT_VPPC_GRAPHICS;
    return path;
}

static void give_source(const struct hands *h, UINT source, bool pin)
{
    D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, source);
    D3DKMDT_VIDPN_SOURCE_MODE *mode = vidpn_source_mode(h, set, 800, 600);
    const UINT id = mode->Id;

    OK(h->s->pfnAddMode(set, mode));
    OK(h->s->pfnAddMode(set, vidpn_source_mode(h, set, 640, 480)));
    if (pin)
        OK(h->s->pfnPinMode(set, id));
    OK(h->v->pfnAssignSourceModeSet(h->vidpn, source, set));
}

static void give_target(const struct hands *h, UINT target, bool pin)
{
    D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, target);
    D3DKMDT_VIDPN_TARGET_MODE *mode = vidpn_target_mode(h, set, 1024, 768);
    const UINT id = mode->Id;

    OK(h->g->pfnAddMode(set, mode));
    if (pin)
        OK(h->g->pfnPinMode(set, id));
    OK(h->v->pfnAssignTargetModeSet(h->vidpn, target, set));
}

static SIZE_T paths_of(const struct hands *h)
{
    SIZE_T count = 99;

    OK(h->t->pfnGetNumPaths(h->topology, &count));
    return count;
}

static void build_good(struct probe *p, struct hands *h)
{
    SIZE_T sources, targets;

    (void)p;
    OK(h->s->pfnGetNumModes(h->source, &sources));
    OK(h->g->pfnGetNumModes(h->target, &targets));
    CHECK_RULE("VIDPN-159", paths_of(h) == 0 && sources == 0 && targets == 0);
    OK(h->t->pfnAddPath(h->topology, new_path(h, 0, DISPLAY_CHILD)));
    give_source(h, 0, true);
    give_target(h, DISPLAY_CHILD, true);
}

static void good(struct probe *p)
{
    const UINT commits = display_seen.commits;
    const struct probe_call *call;

    proposal.build = build_good;
    press_key(p);
    call = probe_nth(p, PROBE_RecommendFunctionalVidPn, 0);
    CHECK_RULE("VIDPN-160", proposal.args.RequestReason == DXGK_RFVR_HOTKEY &&
                                !proposal.args.pPrivateDriverData &&
                                proposal.args.PrivateDriverDataSize == 0);
    CHECK_RULE("VIDPN-159", proposal.calls == 1 && call->irql == PASSIVE_LEVEL);
    CHECK_RULE("VIDPN-002", display_seen.commits == commits + 1);
    CHECK_RULE("DISP-155/b", display_seen.commits == commits + 1 &&
                                 display_seen.commit[commits].size.cx == 800 &&
                                 display_seen.commit[commits].scaling == D3DKMDT_VPPS_CENTERED &&
                                 display_seen.visible[0] &&
                                 call->order < probe_nth(p, PROBE_CommitVidPn, commits)->order);
    CHECK_RULE("VIDPN-163/b",
               probe_reports(p, VERIFY_WARNING) == 0); /* a set of two modes is fine */
}

TEST(a_proposal_is_committed)
{
    start(make(), good);
}

/* ---- those that are dropped ---- */

static void build_nothing(struct probe *p, struct hands *h)
{
    (void)p;
    (void)h;
}

static void build_without_target(struct probe *p, struct hands *h)
{
    (void)p;
    OK(h->t->pfnAddPath(h->topology, new_path(h, 0, DISPLAY_CHILD)));
    give_source(h, 0, true);
    give_target(h, DISPLAY_CHILD, false);
}

static void build_without_source(struct probe *p, struct hands *h)
{
    (void)p;
    OK(h->t->pfnAddPath(h->topology, new_path(h, 0, DISPLAY_CHILD)));
    give_source(h, 0, false);
    give_target(h, DISPLAY_CHILD, true);
}

static void build_without_scaling(struct probe *p, struct hands *h)
{
    D3DKMDT_VIDPN_PRESENT_PATH *path = new_path(h, 0, DISPLAY_CHILD);

    (void)p;
    path->ContentTransformation.Scaling = D3DKMDT_VPPS_UNPINNED;
    OK(h->t->pfnAddPath(h->topology, path));
    give_source(h, 0, true);
    give_target(h, DISPLAY_CHILD, true);
}

static void build_without_rotation(struct probe *p, struct hands *h)
{
    D3DKMDT_VIDPN_PRESENT_PATH *path = new_path(h, 0, DISPLAY_CHILD);

    (void)p;
    path->ContentTransformation.Rotation = D3DKMDT_VPPR_UNPINNED;
    OK(h->t->pfnAddPath(h->topology, path));
    give_source(h, 0, true);
    give_target(h, DISPLAY_CHILD, true);
}

static void build_for_nobody(struct probe *p, struct hands *h)
{
    (void)p;
    OK(h->t->pfnAddPath(h->topology, new_path(h, 0, DISPLAY_CHILD + 1)));
    give_source(h, 0, true);
    give_target(h, DISPLAY_CHILD + 1, true);
}

static bool refuse_800;

static void refuse_proposal(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1])->IsVidPnSupported = !refuse_800;
    refuse_800 = false;
}

static vidpn_body *const bad[] = {build_nothing,
                                  build_without_target,
                                  build_without_source,
                                  build_without_scaling,
                                  build_without_rotation,
                                  build_for_nobody,
                                  build_good};

/* The size of before is not chosen again: that of the driver's list that fits the wish is. */
static void dropped(struct probe *p)
{
    display_modes(p)->target[0].last = (D3DKMDT_2DREGION){640, 480};
    refuse_800 = proposal.build == build_good;
    press_key(p);
    CHECK_RULE("VIDPN-163/a", probe_rule(p, "VIDPN-163") == 1 &&
                                  probe_record(p, "VIDPN-163")->severity == VERIFY_ERROR);
    CHECK_RULE("VIDPN-163/c", display_seen.commits == 2 && display_seen.commit[1].size.cx == 640 &&
                                  display_seen.commit[1].target == DISPLAY_CHILD);
}

TEST(bad_proposals_are_dropped)
{
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct probe *p = make();

        proposal.build = bad[i];
        p->after[PROBE_IsSupportedVidPn] = refuse_proposal;
        refuse_800 = false;
        start(p, dropped);
    }
}

/* The monitor goes while the driver makes its proposal. */
static void build_while_it_leaves(struct probe *p, struct hands *h)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = DISPLAY_CHILD};

    build_good(p, h);
    OK(p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &status));
}

static void monitor_leaves(struct probe *p)
{
    press_key(p);
    CHECK_RULE("VIDPN-163/a", probe_rule(p, "VIDPN-163") == 1 &&
                                  probe_said(p, "VIDPN-163", "a target without a monitor"));
    CHECK_RULE("VIDPN-163/c", display_modes(p)->active->paths == 0 && !display_seen.visible[0]);
}

TEST(a_proposal_for_a_monitor_that_leaves)
{
    struct probe *p = make();

    proposal.build = build_while_it_leaves;
    start(p, monitor_leaves);
}

/* A client wants the target driven although nothing is on it (VIDPN-207). */
static void proposes_forced_target(struct probe *p)
{
    OK(display_force(display_modes(p), DISPLAY_CHILD + 1, true));
    proposal.build = build_for_nobody;
    press_key(p);
    CHECK_RULE("VIDPN-163/a", proposal.calls == 1 && probe_rule(p, "VIDPN-163") == 0 &&
                                  vidpn_path_to(display_modes(p)->active, DISPLAY_CHILD + 1) &&
                                  !vidpn_path_to(display_modes(p)->active, DISPLAY_CHILD));
}

TEST(a_proposal_for_a_target_that_is_forced)
{
    struct probe *p = make();

    for (UINT i = 0; i < 2; i++)
        set_child(p, i, D3DKMDT_VOT_HD15, HpdAwarenessInterruptible);
    start(p, proposes_forced_target);
}

static void run_short_of_memory(struct probe *p, struct probe_call *call)
{
    (void)call;
    p->sim->heap.fail_at = p->sim->heap.requests +
                           1; /* when the host asks whether it is supported */
}

static void proposes_in_want_of_memory(struct probe *p)
{
    const UINT commits = display_seen.commits;
    const size_t asked = probe_count(p, PROBE_IsSupportedVidPn);

    proposal.build = build_good;
    display_modes(p)->target[0].last = (D3DKMDT_2DREGION){640, 480};
    press_key(p);
    CHECK_RULE("VIDPN-163/a", proposal.calls == 1 && p->sim->heap.failures == 1 &&
                                  probe_count(p, PROBE_IsSupportedVidPn) == asked &&
                                  display_seen.commits == commits &&
                                  probe_reports(p, VERIFY_WARNING) == 0);
}

TEST(a_proposal_in_want_of_memory)
{
    struct probe *p = make();

    p->after[PROBE_RecommendFunctionalVidPn] = run_short_of_memory;
    start(p, proposes_in_want_of_memory);
}

/* The device is pulled out of the machine while the driver is asked about its proposal. */
static void pull_out(struct probe *p, struct probe_call *call)
{
    if (proposal.calls == 0)
        return;
    ((DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1])->IsVidPnSupported = FALSE;
    OK(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, true));
}

static void proposes_and_is_gone(struct probe *p)
{
    const UINT commits = display_seen.commits;

    proposal.build = build_good;
    press_key(p);
    CHECK_RULE("VIDPN-163/a", proposal.calls == 1 && probe_rule(p, "VIDPN-163") == 0 &&
                                  display_seen.commits == commits);
}

TEST(a_proposal_of_a_device_that_is_gone)
{
    struct probe *p = make();

    p->after[PROBE_IsSupportedVidPn] = pull_out;
    start(p, proposes_and_is_gone);
}

static void nothing_changes(struct probe *p)
{
    const UINT commits = display_seen.commits;

    proposal.answer = STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN;
    press_key(p);
    CHECK_RULE("VIDPN-159", proposal.calls == 1 && probe_rule(p, "VIDPN-159") == 0 &&
                                display_seen.commits == commits);
    proposal.answer = STATUS_NO_SUCH_DEVICE;
    proposal.flags = DXGK_ACPI_CHANGE_DISPLAY_MODE | DXGK_ACPI_POLL_DISPLAY_CHILDREN;
    press_key(p);
    CHECK_RULE("DISP-156/d", proposal.calls == 2 && probe_rule(p, "VIDPN-159") == 1 &&
                                 display_seen.commits == commits && display_seen.visible[0]);
    CHECK_RULE("DISP-156/d", probe_count(p, PROBE_QueryChildStatus) == 3 &&
                                 probe_nth(p, PROBE_QueryChildStatus, 2)->order <
                                     probe_nth(p, PROBE_RecommendFunctionalVidPn, 1)->order);
}

TEST(no_proposal)
{
    struct probe *p = make();

    for (UINT i = 0; i < 2; i++)
        set_child(p, i, D3DKMDT_VOT_HDMI, i ? HpdAwarenessInterruptible : HpdAwarenessPolled);
    start(p, nothing_changes);
}

/* ---- paths ---- */

static void add_paths(struct probe *p, struct hands *h)
{
    const D3DKMDT_HVIDPNTOPOLOGY other = (D3DKMDT_HVIDPNTOPOLOGY)(uintptr_t)0x5550;
    const D3DKMDT_VIDPN_PRESENT_PATH *first, *next;
    D3DKMDT_VIDPN_PRESENT_PATH *path = new_path(h, 0, DISPLAY_CHILD), mine = *path;

    CHECK_RULE("VIDPN-056", h->t->pfnAddPath(other, path) == STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY);
    CHECK_RULE("VIDPN-057",
               h->t->pfnAddPath(h->topology, &mine) == STATUS_GRAPHICS_INVALID_VIDPN_PRESENT_PATH);
    path->VidPnSourceId = 2;
    CHECK_RULE("VIDPN-057",
               h->t->pfnAddPath(h->topology, path) == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    path->VidPnSourceId = 0;
    path->VidPnTargetId = BAD_ID;
    CHECK_RULE("VIDPN-057",
               h->t->pfnAddPath(h->topology, path) == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET);
    path->VidPnTargetId = DISPLAY_CHILD;
    CHECK_RULE("VIDPN-056",
               h->t->pfnAddPath(h->topology, path) == STATUS_SUCCESS && paths_of(h) == 1);
    path = new_path(h, 0, DISPLAY_CHILD);
    CHECK_RULE("VIDPN-057",
               h->t->pfnAddPath(h->topology, path) == STATUS_GRAPHICS_PATH_ALREADY_IN_TOPOLOGY);
    path->VidPnSourceId = 1;
    CHECK_RULE("VIDPN-004",
               h->t->pfnAddPath(h->topology, path) == STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY);
    CHECK_RULE("VIDPN-057",
               h->t->pfnAddPath(h->topology, path) == STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY &&
                   h->t->pfnReleasePathInfo(h->topology, path) == STATUS_SUCCESS);
    /* a clone; both get an ordinal */
    CHECK_RULE("VIDPN-004",
               h->t->pfnAddPath(h->topology, new_path(h, 0, DISPLAY_CHILD + 1)) == STATUS_SUCCESS &&
                   paths_of(h) == 2);
    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &first));
    OK(h->t->pfnAcquireNextPathInfo(h->topology, first, &next));
    CHECK_RULE("VIDPN-059", first->ImportanceOrdinal == 1 && next->ImportanceOrdinal == 2);
    OK(h->t->pfnReleasePathInfo(h->topology, first));
    OK(h->t->pfnReleasePathInfo(h->topology, next));
    CHECK_RULE("VIDPN-056", probe_rule(p, "VIDPN-015") == 0);
}

static void remove_paths(struct probe *p, struct hands *h)
{
    const D3DKMDT_HVIDPNTOPOLOGY other = (D3DKMDT_HVIDPNTOPOLOGY)(uintptr_t)0x5550;
    const UINT child = DISPLAY_CHILD;
    SIZE_T modes = 99;

    (void)p;
    OK(h->t->pfnAddPath(h->topology, new_path(h, 0, child)));
    give_target(h, child, true);
    CHECK_RULE("VIDPN-060",
               h->t->pfnRemovePath(other, 0, child) == STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY &&
                   h->t->pfnRemovePath(h->topology, 2, child) ==
                       STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE &&
                   h->t->pfnRemovePath(h->topology, 0, BAD_ID) ==
                       STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET);
    CHECK_RULE("VIDPN-061",
               h->t->pfnRemovePath(h->topology, 1, child) == STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY &&
                   paths_of(h) == 1);
    CHECK_RULE("VIDPN-060",
               h->t->pfnRemovePath(h->topology, 0, child) == STATUS_SUCCESS && paths_of(h) == 0);
    OK(h->t->pfnAddPath(h->topology, new_path(h, 0, child)));
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, h->target));
    OK(h->v->pfnAcquireTargetModeSet(h->vidpn, child, &h->target, &h->g));
    OK(h->g->pfnGetNumModes(h->target, &modes));
    CHECK_RULE("VIDPN-061", modes == 0);
}

/* ---- members of a path ---- */

static NTSTATUS try_path(const struct hands *h, void (*change)(D3DKMDT_VIDPN_PRESENT_PATH *path))
{
    D3DKMDT_VIDPN_PRESENT_PATH *path = new_path(h, 1, DISPLAY_CHILD + 1);
    NTSTATUS status;

    change(path);
    status = h->t->pfnAddPath(h->topology, path);
    if (NT_SUCCESS(status))
        OK(h->t->pfnRemovePath(h->topology, 1, DISPLAY_CHILD + 1));
    else
        OK(h->t->pfnReleasePathInfo(h->topology, path));
    return status;
}

#define CHANGE(name, statement)                        \
    static void name(D3DKMDT_VIDPN_PRESENT_PATH *path) \
    {                                                  \
        statement;                                     \
    }
CHANGE(used_ordinal, path->ImportanceOrdinal = D3DKMDT_VPPI_PRIMARY)
CHANGE(last_ordinal, path->ImportanceOrdinal = (D3DKMDT_VIDPN_PRESENT_PATH_IMPORTANCE)255)
CHANGE(high_ordinal, path->ImportanceOrdinal = (D3DKMDT_VIDPN_PRESENT_PATH_IMPORTANCE)256)
CHANGE(no_scaling, path->ContentTransformation.Scaling = D3DKMDT_VPPS_UNINITIALIZED)
CHANGE(high_scaling, path->ContentTransformation.Scaling = (D3DKMDT_VIDPN_PRESENT_PATH_SCALING)6)
CHANGE(open_scaling, path->ContentTransformation.Scaling = D3DKMDT_VPPS_NOTSPECIFIED)
CHANGE(no_rotation, path->ContentTransformation.Rotation = D3DKMDT_VPPR_UNINITIALIZED)
CHANGE(bad_content, path->Content = (D3DKMDT_VIDPN_PRESENT_PATH_CONTENT)(D3DKMDT_VPPC_VIDEO + 1))
CHANGE(open_content, path->Content = D3DKMDT_VPPC_NOTSPECIFIED)
CHANGE(bad_basis, path->VidPnTargetColorBasis = (D3DKMDT_COLOR_BASIS)(D3DKMDT_CB_YPBPR + 1))
CHANGE(last_basis, path->VidPnTargetColorBasis = D3DKMDT_CB_YPBPR)
CHANGE(bad_trigger, path->CopyProtection.APSTriggerBits = 4)
CHANGE(last_trigger, path->CopyProtection.APSTriggerBits = 3)
CHANGE(no_protection, path->CopyProtection.CopyProtectionType = D3DKMDT_VPPMT_UNINITIALIZED)
CHANGE(no_gamma, path->GammaRamp.Type = D3DDDI_GAMMARAMP_UNINITIALIZED)
CHANGE(empty_gamma, path->GammaRamp.Type = D3DDDI_GAMMARAMP_RGB256x3x16)

static const struct {
    void (*change)(D3DKMDT_VIDPN_PRESENT_PATH *path);
    NTSTATUS status;
} members[] = {
    {used_ordinal, STATUS_GRAPHICS_INVALID_PATH_IMPORTANCE_ORDINAL},
    {high_ordinal, STATUS_GRAPHICS_INVALID_PATH_IMPORTANCE_ORDINAL},
    {last_ordinal, STATUS_SUCCESS},
    {no_scaling, STATUS_GRAPHICS_INVALID_PATH_CONTENT_GEOMETRY_TRANSFORMATION},
    {high_scaling, STATUS_GRAPHICS_INVALID_PATH_CONTENT_GEOMETRY_TRANSFORMATION},
    {open_scaling, STATUS_SUCCESS},
    {no_rotation, STATUS_GRAPHICS_INVALID_PATH_CONTENT_GEOMETRY_TRANSFORMATION},
    {bad_content, STATUS_GRAPHICS_INVALID_PATH_CONTENT_TYPE},
    {open_content, STATUS_SUCCESS},
    {bad_basis, STATUS_GRAPHICS_INVALID_COLORBASIS},
    {last_basis, STATUS_SUCCESS},
    {bad_trigger, STATUS_GRAPHICS_INVALID_COPYPROTECTION_TYPE},
    {last_trigger, STATUS_SUCCESS},
    {no_protection, STATUS_GRAPHICS_INVALID_COPYPROTECTION_TYPE},
    {no_gamma, STATUS_GRAPHICS_INVALID_GAMMA_RAMP},
    {empty_gamma, STATUS_GRAPHICS_INVALID_GAMMA_RAMP},
};

static void check_members(struct probe *p, struct hands *h)
{
    (void)p;
    OK(h->t->pfnAddPath(h->topology, new_path(h, 0, DISPLAY_CHILD))); /* of ordinal 1 */
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        CHECK_RULE("VIDPN-058", try_path(h, members[i].change) == members[i].status);
}

/* ---- pins ---- */

static void pin_modes(struct probe *p, struct hands *h)
{
    const D3DKMDT_HVIDPNSOURCEMODESET other_s = (D3DKMDT_HVIDPNSOURCEMODESET)(uintptr_t)0x5550;
    const D3DKMDT_HVIDPNTARGETMODESET other_t = (D3DKMDT_HVIDPNTARGETMODESET)(uintptr_t)0x5550;
    D3DKMDT_HVIDPNSOURCEMODESET source = vidpn_new_source_set(h, 0);
    D3DKMDT_HVIDPNTARGETMODESET target = vidpn_new_target_set(h, DISPLAY_CHILD);
    D3DKMDT_VIDPN_SOURCE_MODE *a = vidpn_source_mode(h, source, 800, 600);
    D3DKMDT_VIDPN_SOURCE_MODE *b = vidpn_source_mode(h, source, 640, 480);
    D3DKMDT_VIDPN_TARGET_MODE *t = vidpn_target_mode(h, target, 1024, 768);
    const UINT id_a = a->Id, id_b = b->Id, id_t = t->Id;
    const D3DKMDT_VIDPN_SOURCE_MODE *pinned = NULL;
    const D3DKMDT_VIDPN_TARGET_MODE *pinned_t = NULL;

    OK(h->s->pfnAddMode(source, a));
    OK(h->s->pfnAddMode(source, b));
    OK(h->g->pfnAddMode(target, t));
    CHECK_RULE("VIDPN-077",
               h->s->pfnPinMode(other_s, id_a) == STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET &&
                   h->s->pfnPinMode(source, id_b + 50) ==
                       STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE);
    CHECK_RULE("VIDPN-077", h->s->pfnPinMode(source, id_a) == STATUS_SUCCESS &&
                                h->s->pfnAcquirePinnedModeInfo(source, &pinned) == STATUS_SUCCESS &&
                                pinned->Id == id_a);
    OK(h->s->pfnReleaseModeInfo(source, pinned));
    CHECK_RULE("VIDPN-078/b",
               h->s->pfnPinMode(source, id_b) == STATUS_SUCCESS &&
                   h->s->pfnAcquirePinnedModeInfo(source, &pinned) == STATUS_SUCCESS &&
                   pinned->Id == id_b && probe_rule(p, "VIDPN-078") == 0);
    OK(h->s->pfnReleaseModeInfo(source, pinned));
    CHECK_RULE("VIDPN-092",
               h->g->pfnPinMode(other_t, id_t) == STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET &&
                   h->g->pfnPinMode(target, id_t + 50) ==
                       STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE);
    CHECK_RULE("VIDPN-092",
               h->g->pfnPinMode(target, id_t) == STATUS_SUCCESS &&
                   h->g->pfnAcquirePinnedModeInfo(target, &pinned_t) == STATUS_SUCCESS &&
                   pinned_t->Id == id_t);
    OK(h->g->pfnReleaseModeInfo(target, pinned_t));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, source));
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, target));
}

static void build(struct probe *p)
{
    press_key(p);
    CHECK(proposal.calls == 1);
}

static void run(vidpn_body *body)
{
    struct probe *p = make();

    proposal.build = body;
    proposal.answer = STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN;
    start(p, build);
}

TEST(paths_are_added)
{
    run(add_paths);
}

TEST(paths_are_removed)
{
    run(remove_paths);
}

TEST(members_of_paths_are_checked)
{
    run(check_members);
}

TEST(modes_are_pinned)
{
    run(pin_modes);
}
