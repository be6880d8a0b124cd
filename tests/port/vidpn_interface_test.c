/* SPDX-License-Identifier: MIT */
/* The handles and tables of a VidPN: who gets them, how long they hold, and what every function of them
 * does alike. */
#include "port/support/vidpn.h"

#include <string.h>

#define V1       DXGK_VIDPN_INTERFACE_VERSION_V1
#define V2       DXGK_VIDPN_INTERFACE_VERSION_V2
#define QUERY    p->state[0].dxgk.DxgkCbQueryVidPnInterface
#define BAD      ((void *)(uintptr_t)0x1234)
#define OK(call) CHECK((call) == STATUS_SUCCESS)

/* ---- DxgkCbQueryVidPnInterface ---- */

TEST_WITH(vidpn, interface_is_queried)
{
    const DXGK_VIDPN_INTERFACE *i = BAD;

    CHECK_RULE("VIDPN-018",
               QUERY(h->vidpn, V1, &i) == STATUS_SUCCESS && i == h->v && i->Version == V1);
    CHECK_RULE("VIDPN-018",
               QUERY(h->vidpn, V1, NULL) == STATUS_INVALID_PARAMETER &&
                   QUERY(h->vidpn, V1, (void *)(uintptr_t)8) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("VIDPN-018", QUERY(BAD, V1, &i) == STATUS_GRAPHICS_INVALID_VIDPN && i == NULL);
    i = BAD;
    CHECK_RULE("VIDPN-018",
               QUERY(h->vidpn, (DXGK_VIDPN_INTERFACE_VERSION)3, &i) == STATUS_NOT_SUPPORTED &&
                   i == NULL);
    CHECK_RULE("VIDPN-018",
               QUERY(h->vidpn, (DXGK_VIDPN_INTERFACE_VERSION)0, &i) == STATUS_NOT_SUPPORTED);
    CHECK_RULE("VIDPN-006",
               QUERY(NULL, V1, &i) == STATUS_GRAPHICS_INVALID_VIDPN &&
                   QUERY((D3DKMDT_HVIDPN)h->topology, V1, &i) == STATUS_GRAPHICS_INVALID_VIDPN &&
                   QUERY((D3DKMDT_HVIDPN)p->state[0].dxgk.DeviceHandle, V1, &i) ==
                       STATUS_GRAPHICS_INVALID_VIDPN);
}

TEST_WITH(vidpn, version_2)
{
    const DXGK_VIDPN_INTERFACE *i = NULL;

    CHECK_RULE("VIDPN-019", QUERY(h->vidpn, V2, &i) == STATUS_SUCCESS && i && i->Version == V2);
    CHECK_RULE("VIDPN-019",
               memcmp(&i->pfnGetTopology, &h->v->pfnGetTopology,
                      sizeof(*i) - offsetof(DXGK_VIDPN_INTERFACE, pfnGetTopology)) == 0);
    /* the order of the checks */
    CHECK_RULE("VIDPN-019",
               QUERY(BAD, (DXGK_VIDPN_INTERFACE_VERSION)3, NULL) == STATUS_INVALID_PARAMETER &&
                   QUERY(BAD, (DXGK_VIDPN_INTERFACE_VERSION)3, &i) == STATUS_NOT_SUPPORTED);
}

TEST_WITH(vidpn, version_2_is_later, .version = DXGKDDI_INTERFACE_VERSION_WDDM2_1)
{
    const DXGK_VIDPN_INTERFACE *i = BAD;

    CHECK_RULE("VIDPN-019", QUERY(h->vidpn, V2, &i) == STATUS_NOT_SUPPORTED && i == NULL &&
                                QUERY(BAD, V2, &i) == STATUS_NOT_SUPPORTED);
}

TEST_ALSO(vidpn, version_2_is_later, of_wddm_1_2, .version = DXGKDDI_INTERFACE_VERSION_WIN8)

TEST_WITH(vidpn, version_2_is_there, .version = DXGKDDI_INTERFACE_VERSION_WDDM2_2)
{
    const DXGK_VIDPN_INTERFACE *i;

    CHECK_RULE("VIDPN-019", QUERY(h->vidpn, V2, &i) == STATUS_SUCCESS);
}

TEST_WITH(vidpn, everything_is_reached)
{
    CHECK_RULE("VIDPN-001",
               h->vidpn && h->topology && h->source && h->target && h->v && h->t && h->s && h->g);
    (void)p;
}

/* ---- who gets handles ---- */

static bool reached[PROBE_DDI_COUNT];

static void look(struct probe *p, enum probe_ddi ddi, D3DKMDT_HVIDPN vidpn)
{
    const DXGK_VIDPN_INTERFACE *v;

    reached[ddi] = vidpn && QUERY(vidpn, V1, &v) == STATUS_SUCCESS;
}

static void look_supported(struct probe *p, struct probe_call *call)
{
    look(p, PROBE_IsSupportedVidPn,
         ((const DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1])->hDesiredVidPn);
}

static void look_capability(struct probe *p, struct probe_call *call)
{
    look(p, PROBE_QueryVidPnHWCapability,
         ((const DXGKARG_QUERYVIDPNHWCAPABILITY *)(uintptr_t)call->arg[1])->hFunctionalVidPn);
}

static void look_commit(struct probe *p, struct hands *h)
{
    look(p, PROBE_CommitVidPn, h->vidpn);
}

static void look_everywhere(struct probe *p)
{
    memset(reached, 0, sizeof(reached));
    p->before[PROBE_IsSupportedVidPn] = look_supported;
    p->before[PROBE_QueryVidPnHWCapability] = look_capability;
}

static void all_looked(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-006",
               reached[PROBE_IsSupportedVidPn] && reached[PROBE_EnumVidPnCofuncModality] &&
                   reached[PROBE_CommitVidPn] && reached[PROBE_QueryVidPnHWCapability]);
}

TEST_WITH(vidpn, ddis_bring_handles, .prepare = look_everywhere, .in_commit = look_commit,
          .after = all_looked)
{
    look(p, PROBE_EnumVidPnCofuncModality, h->vidpn);
}

/* ---- how long they hold ---- */

static struct hands old;

static void old_are_stale(struct probe *p, struct hands *h)
{
    const DXGK_VIDPN_INTERFACE *v = BAD;
    void *object;
    const void *table;
    SIZE_T count;
    const uint64_t before = probe_rule(p, "VIDPN-007");

    CHECK(before == 0);
    CHECK_RULE("VIDPN-007", QUERY(old.vidpn, V1, &v) == STATUS_GRAPHICS_INVALID_VIDPN && !v &&
                                probe_rule(p, "VIDPN-007") == 1 &&
                                probe_said(p, "VIDPN-007", "has ended"));
    CHECK_RULE("VIDPN-007", h->v->pfnGetTopology(old.vidpn, (D3DKMDT_HVIDPNTOPOLOGY *)&object,
                                                 (const DXGK_VIDPNTOPOLOGY_INTERFACE **)&table) ==
                                    STATUS_GRAPHICS_INVALID_VIDPN &&
                                h->t->pfnGetNumPaths(old.topology, &count) ==
                                    STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY &&
                                h->s->pfnGetNumModes(old.source, &count) ==
                                    STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET &&
                                h->g->pfnGetNumModes(old.target, &count) ==
                                    STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET &&
                                probe_rule(p, "VIDPN-007") == 5 &&
                                probe_record(p, "VIDPN-007")->severity == VERIFY_ERROR);
    CHECK_RULE("VIDPN-020", h->v == old.v && h->t == old.t && h->s == old.s && h->g == old.g);
    CHECK_RULE("VIDPN-008", h->vidpn != old.vidpn && h->topology != old.topology);
}

TEST_WITH(vidpn, handles_end_with_the_ddi, .in_commit = old_are_stale)
{
    (void)p;
    old = *h;
}

/* ---- kinds ---- */

TEST_WITH(vidpn, handles_have_kinds)
{
    const NTSTATUS bad_topology = STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY,
                   bad_source = STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET,
                   bad_target = STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET,
                   bad_vidpn = STATUS_GRAPHICS_INVALID_VIDPN;
    void *const all[] = {h->vidpn, h->topology, h->source, h->target, NULL, BAD};
    D3DKMDT_HVIDPNTOPOLOGY topology;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *table;
    SIZE_T n;

    for (size_t i = 0; i < 6; i++) {
        CHECK_RULE("VIDPN-008",
                   (h->v->pfnGetTopology(all[i], &topology, &table) == bad_vidpn) == (i != 0));
        CHECK_RULE("VIDPN-008", (h->t->pfnGetNumPaths(all[i], &n) == bad_topology) == (i != 1));
        CHECK_RULE("VIDPN-008", (h->s->pfnGetNumModes(all[i], &n) == bad_source) == (i != 2));
        CHECK_RULE("VIDPN-008", (h->g->pfnGetNumModes(all[i], &n) == bad_target) == (i != 3));
        for (size_t j = 0; j < i; j++)
            CHECK_RULE("VIDPN-008", all[i] != all[j]);
    }
    CHECK_RULE("VIDPN-008",
               h->v->pfnReleaseSourceModeSet(h->vidpn, (void *)h->target) == bad_source &&
                   h->v->pfnReleaseTargetModeSet(h->vidpn, (void *)h->source) == bad_target);
    CHECK(probe_rule(p, "VIDPN-007") == 0);
}

TEST_WITH(vidpn, handles_are_not_given_twice)
{
    D3DKMDT_HVIDPNSOURCEMODESET before = h->source, set[3];

    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, h->source));
    OK(h->v->pfnAcquireSourceModeSet(h->vidpn, 0, &h->source, &h->s));
    set[0] = vidpn_new_source_set(h, 0);
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set[0]));
    set[1] = vidpn_new_source_set(h, 0);
    set[2] = vidpn_new_source_set(h, 0);
    CHECK_RULE("VIDPN-008", h->source != before && set[0] != before && set[0] != h->source &&
                                set[1] != set[0] && set[2] != set[0] && set[2] != set[1]);
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set[1]));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set[2]));
    (void)p;
}

/* ---- threads ---- */

static NTSTATUS from_thread[3];
static struct probe *threads_probe;

static VOID NTAPI thread_uses(PVOID context)
{
    struct probe *p = threads_probe;
    const struct hands *h = context;
    const DXGK_VIDPN_INTERFACE *v;
    SIZE_T count;

    from_thread[0] = QUERY(h->vidpn, V2, &v);
    from_thread[1] = h->t->pfnGetNumPaths(h->topology, &count);
    from_thread[2] = h->s->pfnGetNumModes(h->source, &count);
}

static void use_on_thread(struct probe *p, struct hands *h)
{
    HANDLE thread;
    PVOID object;

    threads_probe = p;
    OK(PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL, NULL, NULL, thread_uses, h));
    OK(ObReferenceObjectByHandle(thread, THREAD_ALL_ACCESS, NULL, KernelMode, &object, NULL));
    OK(KeWaitForSingleObject(object, Executive, KernelMode, FALSE, NULL));
    ObDereferenceObject(object);
    OK(ZwClose(thread));
}

static void use_old_on_thread(struct probe *p, struct hands *h)
{
    (void)h;
    use_on_thread(p, &old);
    CHECK_RULE("VIDPN-009", from_thread[0] == STATUS_GRAPHICS_INVALID_VIDPN &&
                                from_thread[1] == STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY &&
                                from_thread[2] == STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET &&
                                probe_rule(p, "VIDPN-007") == 3);
}

TEST_WITH(vidpn, any_thread_may_use_them, .in_commit = use_old_on_thread)
{
    old = *h;
    use_on_thread(p, h);
    CHECK_RULE("VIDPN-009", from_thread[0] == STATUS_SUCCESS && from_thread[1] == STATUS_SUCCESS &&
                                from_thread[2] == STATUS_SUCCESS && probe_rule(p, "VIDPN-007") == 0);
}

/* The version of the interface is that of the driver there, too. */
TEST_WITH(vidpn, threads_get_what_the_driver_gets, .version = DXGKDDI_INTERFACE_VERSION_WDDM2_1)
{
    use_on_thread(p, h);
    CHECK_RULE("VIDPN-019",
               from_thread[0] == STATUS_NOT_SUPPORTED && from_thread[1] == STATUS_SUCCESS);
}

/* ---- every function ---- */

struct all {
    struct probe *p;
    const struct hands *h; /* handles, of which some may be bad */
    /* wanted of those of a VidPN, a topology, a source set, a target set */
    NTSTATUS wanted[4];
    unsigned calls;
    void *object; /* outputs */
    const void *table;
    SIZE_T count;
    UINT id;
    bool clears;
};

enum { OBJECT = 1, TABLE = 2, COUNT = 4 };

static void see(struct all *a, unsigned kind, unsigned outputs, NTSTATUS status)
{
    a->calls++;
    if (status != a->wanted[kind])
        fail_msg("call %u returned 0x%x, and not 0x%x", a->calls, (unsigned)status,
                 (unsigned)a->wanted[kind]);
    a->clears &= !((outputs & OBJECT) && a->object) && !((outputs & TABLE) && a->table) &&
                 !((outputs & COUNT) && a->count);
    a->object = BAD;
    a->table = BAD;
    a->count = 77;
}

#define O(type) ((type *)(void *)&a->object)
#define T(type) ((const type **)(void *)&a->table)

static void call_vidpn(struct all *a)
{
    const struct hands *h = a->h;
    const DXGK_VIDPN_INTERFACE *v = h->v;

    see(a, 0, OBJECT | TABLE,
        v->pfnGetTopology(h->vidpn, O(D3DKMDT_HVIDPNTOPOLOGY), T(DXGK_VIDPNTOPOLOGY_INTERFACE)));
    see(a, 0, OBJECT | TABLE,
        v->pfnAcquireSourceModeSet(h->vidpn, 0, O(D3DKMDT_HVIDPNSOURCEMODESET),
                                   T(DXGK_VIDPNSOURCEMODESET_INTERFACE)));
    see(a, 0, OBJECT | TABLE,
        v->pfnCreateNewSourceModeSet(h->vidpn, 0, O(D3DKMDT_HVIDPNSOURCEMODESET),
                                     T(DXGK_VIDPNSOURCEMODESET_INTERFACE)));
    see(a, 0, OBJECT | TABLE,
        v->pfnAcquireTargetModeSet(h->vidpn, DISPLAY_CHILD, O(D3DKMDT_HVIDPNTARGETMODESET),
                                   T(DXGK_VIDPNTARGETMODESET_INTERFACE)));
    see(a, 0, OBJECT | TABLE,
        v->pfnCreateNewTargetModeSet(h->vidpn, DISPLAY_CHILD, O(D3DKMDT_HVIDPNTARGETMODESET),
                                     T(DXGK_VIDPNTARGETMODESET_INTERFACE)));
    see(a, 0, 0, v->pfnReleaseSourceModeSet(h->vidpn, h->source));
    see(a, 0, 0, v->pfnReleaseTargetModeSet(h->vidpn, h->target));
    see(a, 0, 0, v->pfnAssignSourceModeSet(h->vidpn, 0, h->source));
    see(a, 0, 0, v->pfnAssignTargetModeSet(h->vidpn, DISPLAY_CHILD, h->target));
    see(a, 0, 0, v->pfnAssignMultisamplingMethodSet(h->vidpn, 0, 0, NULL));
}

static void call_topology(struct all *a)
{
    const struct hands *h = a->h;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *t = h->t;

    see(a, 1, COUNT, t->pfnGetNumPaths(h->topology, &a->count));
    see(a, 1, COUNT, t->pfnGetNumPathsFromSource(h->topology, 0, &a->count));
    see(a, 1, 0, t->pfnEnumPathTargetsFromSource(h->topology, 0, 0, &a->id));
    see(a, 1, 0, t->pfnGetPathSourceFromTarget(h->topology, DISPLAY_CHILD, &a->id));
    see(a, 1, TABLE,
        t->pfnAcquirePathInfo(h->topology, 0, DISPLAY_CHILD, T(D3DKMDT_VIDPN_PRESENT_PATH)));
    see(a, 1, TABLE, t->pfnAcquireFirstPathInfo(h->topology, T(D3DKMDT_VIDPN_PRESENT_PATH)));
    see(a, 1, TABLE, t->pfnAcquireNextPathInfo(h->topology, NULL, T(D3DKMDT_VIDPN_PRESENT_PATH)));
    see(a, 1, 0, t->pfnUpdatePathSupportInfo(h->topology, NULL));
    see(a, 1, 0, t->pfnReleasePathInfo(h->topology, NULL));
    see(a, 1, OBJECT, t->pfnCreateNewPathInfo(h->topology, O(D3DKMDT_VIDPN_PRESENT_PATH *)));
    see(a, 1, 0, t->pfnAddPath(h->topology, NULL));
    see(a, 1, 0, t->pfnRemovePath(h->topology, 0, DISPLAY_CHILD));
}

#define CALL_SET(a, kind, table, set, mode)                                       \
    do {                                                                          \
        see(a, kind, COUNT, (table)->pfnGetNumModes(set, &(a)->count));           \
        see(a, kind, TABLE, (table)->pfnAcquireFirstModeInfo(set, T(mode)));      \
        see(a, kind, TABLE, (table)->pfnAcquireNextModeInfo(set, NULL, T(mode))); \
        see(a, kind, TABLE, (table)->pfnAcquirePinnedModeInfo(set, T(mode)));     \
        see(a, kind, 0, (table)->pfnReleaseModeInfo(set, NULL));                  \
        see(a, kind, OBJECT, (table)->pfnCreateNewModeInfo(set, O(mode *)));      \
        see(a, kind, 0, (table)->pfnAddMode(set, NULL));                          \
        see(a, kind, 0, (table)->pfnPinMode(set, 1));                             \
    } while (0)

static void call_all(struct all *a)
{
    a->object = BAD;
    a->table = BAD;
    a->count = 77;
    a->clears = true;
    a->calls = 0;
    call_vidpn(a);
    call_topology(a);
    CALL_SET(a, 2, a->h->s, a->h->source, D3DKMDT_VIDPN_SOURCE_MODE);
    CALL_SET(a, 3, a->h->g, a->h->target, D3DKMDT_VIDPN_TARGET_MODE);
}

TEST_WITH(vidpn, functions_need_handles)
{
    struct hands bad = *h;
    struct all a = {.p = p,
                    .h = &bad,
                    .wanted = {STATUS_GRAPHICS_INVALID_VIDPN, STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY,
                               STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET,
                               STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET}};

    for (unsigned i = 0; i < 2; i++) {
        bad.vidpn = i ? BAD : NULL;
        bad.topology = i ? BAD : NULL;
        bad.source = i ? BAD : NULL;
        bad.target = i ? BAD : NULL;
        call_all(&a);
        CHECK_RULE("VIDPN-012", a.calls == 38 && a.clears);
    }
    /* with all else in order, so that it is the handle that they refuse */
    CHECK_RULE("VIDPN-008", strcmp(probe_refused_rule, "VIDPN-008") == 0);
    CHECK_RULE("VIDPN-021", a.wanted[0] == STATUS_GRAPHICS_INVALID_VIDPN && a.calls == 38);
}

TEST_WITH(vidpn, functions_are_for_passive_level)
{
    struct all a = {.p = p,
                    .h = h,
                    .wanted = {STATUS_INVALID_DEVICE_REQUEST, STATUS_INVALID_DEVICE_REQUEST,
                               STATUS_INVALID_DEVICE_REQUEST, STATUS_INVALID_DEVICE_REQUEST}};
    const DXGK_VIDPN_INTERFACE *v = BAD;
    KIRQL before;
    SIZE_T count = 77;
    NTSTATUS status;

    KeRaiseIrql(DISPATCH_LEVEL, &before);
    call_all(&a);
    status = QUERY(h->vidpn, V1, &v);
    KeLowerIrql(before);
    CHECK_RULE("VIDPN-010", a.calls == 38 && probe_rule(p, "VIDPN-010") == 39 &&
                                probe_record(p, "VIDPN-010")->severity == VERIFY_ERROR);
    CHECK_RULE("VIDPN-010", status == STATUS_INVALID_DEVICE_REQUEST && v == NULL);
    CHECK_RULE("VIDPN-012", a.clears);
    /* at APC_LEVEL it is told, and done */
    KeRaiseIrql(APC_LEVEL, &before);
    status = h->t->pfnGetNumPaths(h->topology, &count);
    KeLowerIrql(before);
    CHECK_RULE("VIDPN-010",
               status == STATUS_SUCCESS && count == 1 && probe_rule(p, "VIDPN-010") == 40);
    OK(h->t->pfnGetNumPaths(h->topology, &count));
    CHECK_RULE("VIDPN-010", probe_rule(p, "VIDPN-010") == 40);
}

#define NEEDS(call)         \
    CHECK_RULE("VIDPN-011", \
               (call) == STATUS_INVALID_PARAMETER && probe_rule(p, "VIDPN-011") == ++told)

TEST_WITH(vidpn, functions_need_outputs)
{
    const DXGK_VIDPN_INTERFACE *v = h->v;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *t = h->t;
    D3DKMDT_HVIDPNTOPOLOGY topology;
    D3DKMDT_HVIDPNSOURCEMODESET source;
    D3DKMDT_HVIDPNTARGETMODESET target;
    const D3DKMDT_VIDPN_PRESENT_PATH *path;
    uint64_t told = 0;

    NEEDS(QUERY(h->vidpn, V1, NULL));
    NEEDS(v->pfnGetTopology(h->vidpn, NULL, &t));
    NEEDS(v->pfnGetTopology(h->vidpn, &topology, NULL));
    t = h->t;
    NEEDS(v->pfnAcquireSourceModeSet(h->vidpn, 0, NULL,
                                     &(const DXGK_VIDPNSOURCEMODESET_INTERFACE *){0}));
    NEEDS(v->pfnAcquireSourceModeSet(h->vidpn, 0, &source, NULL));
    NEEDS(v->pfnCreateNewSourceModeSet(h->vidpn, 0, NULL,
                                       &(const DXGK_VIDPNSOURCEMODESET_INTERFACE *){0}));
    NEEDS(v->pfnCreateNewSourceModeSet(h->vidpn, 0, &source, NULL));
    NEEDS(v->pfnAcquireTargetModeSet(h->vidpn, DISPLAY_CHILD, NULL,
                                     &(const DXGK_VIDPNTARGETMODESET_INTERFACE *){0}));
    NEEDS(v->pfnAcquireTargetModeSet(h->vidpn, DISPLAY_CHILD, &target, NULL));
    NEEDS(v->pfnCreateNewTargetModeSet(h->vidpn, DISPLAY_CHILD, NULL,
                                       &(const DXGK_VIDPNTARGETMODESET_INTERFACE *){0}));
    NEEDS(v->pfnCreateNewTargetModeSet(h->vidpn, DISPLAY_CHILD, &target, NULL));
    NEEDS(t->pfnGetNumPaths(h->topology, NULL));
    NEEDS(t->pfnGetNumPathsFromSource(h->topology, 0, NULL));
    NEEDS(t->pfnEnumPathTargetsFromSource(h->topology, 0, 0, NULL));
    NEEDS(t->pfnGetPathSourceFromTarget(h->topology, DISPLAY_CHILD, NULL));
    NEEDS(t->pfnAcquirePathInfo(h->topology, 0, DISPLAY_CHILD, NULL));
    NEEDS(t->pfnAcquireFirstPathInfo(h->topology, NULL));
    OK(t->pfnAcquireFirstPathInfo(h->topology, &path));
    NEEDS(t->pfnAcquireNextPathInfo(h->topology, path, NULL));
    OK(t->pfnReleasePathInfo(h->topology, path));
    NEEDS(t->pfnCreateNewPathInfo(h->topology, NULL));
    NEEDS(h->s->pfnGetNumModes(h->source, NULL));
    NEEDS(h->s->pfnAcquireFirstModeInfo(h->source, NULL));
    NEEDS(h->s->pfnAcquireNextModeInfo(h->source, NULL, NULL));
    NEEDS(h->s->pfnAcquirePinnedModeInfo(h->source, NULL));
    NEEDS(h->s->pfnCreateNewModeInfo(h->source, NULL));
    NEEDS(h->g->pfnGetNumModes(h->target, NULL));
    NEEDS(h->g->pfnAcquireFirstModeInfo(h->target, NULL));
    NEEDS(h->g->pfnAcquireNextModeInfo(h->target, NULL, NULL));
    NEEDS(h->g->pfnAcquirePinnedModeInfo(h->target, NULL));
    NEEDS(h->g->pfnCreateNewModeInfo(h->target, NULL));
    CHECK_RULE("VIDPN-040",
               t->pfnGetNumPathsFromSource(h->topology, 0, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("VIDPN-044", t->pfnGetPathSourceFromTarget(h->topology, DISPLAY_CHILD, NULL) ==
                                STATUS_INVALID_PARAMETER);
}
