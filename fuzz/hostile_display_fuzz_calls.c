/* SPDX-License-Identifier: MIT */
/* Calls of the VidPN and monitor interfaces: each with handles and structures that were handed out,
 * now or in an earlier call, of the right kind or not, or with any number. */
#include "hostile_display_fuzz.h"

enum kind {
    VIDPN,
    TOPOLOGY,
    SOURCES, /* sets of modes */
    TARGETS,
    MONITORS,
    RANGES,
    DESCRIPTORS,
    PATH, /* structures */
    SOURCE,
    TARGET,
    MONITOR,
    RANGE,
    DESCRIPTOR,
    KINDS
};

#define KEPT  8u
#define CALLS 12u /* in a row */

static struct {
    uintptr_t kept[KINDS][KEPT];
    unsigned next[KINDS];
    const DXGK_VIDPN_INTERFACE *v;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *t;
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *s;
    const DXGK_VIDPNTARGETMODESET_INTERFACE *g;
    const DXGK_MONITOR_INTERFACE *m;
    const DXGK_MONITORSOURCEMODESET_INTERFACE *ms;
    const DXGK_MONITORFREQUENCYRANGESET_INTERFACE *mr;
    const DXGK_MONITORDESCRIPTORSET_INTERFACE *md;
} calls;

void display_calls_begin(void)
{
    memset(&calls, 0, sizeof(calls));
}

static void keep(enum kind kind, const void *one)
{
    if (one)
        calls.kept[kind][calls.next[kind]++ % KEPT] = (uintptr_t)one;
}

/* The newest one mostly. */
static uintptr_t any(enum kind kind)
{
    const unsigned which = rig_byte();

    if (which < 160)
        return calls.kept[kind][(calls.next[kind] - 1) % KEPT];
    if (which < 220)
        return calls.kept[kind][which % KEPT];
    return which < 245 ? calls.kept[which % KINDS][rig_below(KEPT)] : rig_number(8);
}

#define HANDLE_OF(type, kind) ((type)any(kind))
#define POINTER(type, kind)   ((type *)any(kind))
#define H_VIDPN               HANDLE_OF(D3DKMDT_HVIDPN, VIDPN)
#define H_TOPOLOGY            HANDLE_OF(D3DKMDT_HVIDPNTOPOLOGY, TOPOLOGY)
#define H_SOURCES             HANDLE_OF(D3DKMDT_HVIDPNSOURCEMODESET, SOURCES)
#define H_TARGETS             HANDLE_OF(D3DKMDT_HVIDPNTARGETMODESET, TARGETS)
#define H_MONITORS            HANDLE_OF(D3DKMDT_HMONITORSOURCEMODESET, MONITORS)
#define H_RANGES              HANDLE_OF(D3DKMDT_HMONITORFREQUENCYRANGESET, RANGES)
#define H_DESCRIPTORS         HANDLE_OF(D3DKMDT_HMONITORDESCRIPTORSET, DESCRIPTORS)

static UINT any_source(void)
{
    const unsigned which = rig_byte();

    return which < 240 ? which % 2 : (UINT)rig_number(4);
}

/* ---- VidPNs ---- */

static void call_vidpn(void)
{
    const DXGK_VIDPN_INTERFACE *v = calls.v;
    D3DKMDT_HVIDPNTOPOLOGY topology = 0;
    D3DKMDT_HVIDPNSOURCEMODESET sources = 0;
    D3DKMDT_HVIDPNTARGETMODESET targets = 0;
    const D3DDDI_MULTISAMPLINGMETHOD method[2] = {{.NumSamples = 2, .NumQualityLevels = 1}};
    const unsigned which = rig_below(10);

    if (!v)
        return;
    switch (which) {
    case 0:
        (void)v->pfnGetTopology(H_VIDPN, &topology, rig_below(8) ? &calls.t : NULL);
        break;
    case 1:
        (void)v->pfnAcquireSourceModeSet(H_VIDPN, any_source(), &sources, &calls.s);
        break;
    case 2:
        (void)v->pfnReleaseSourceModeSet(H_VIDPN, H_SOURCES);
        break;
    case 3:
        (void)v->pfnCreateNewSourceModeSet(H_VIDPN, any_source(), &sources, &calls.s);
        break;
    case 4:
        (void)v->pfnAssignSourceModeSet(H_VIDPN, any_source(), H_SOURCES);
        break;
    case 5:
        (void)v->pfnAssignMultisamplingMethodSet(H_VIDPN, any_source(), rig_below(3),
                                                 rig_below(4) ? method : NULL);
        break;
    case 6:
        (void)v->pfnAcquireTargetModeSet(H_VIDPN, display_any_target(), &targets, &calls.g);
        break;
    case 7:
        (void)v->pfnReleaseTargetModeSet(H_VIDPN, H_TARGETS);
        break;
    case 8:
        (void)v->pfnCreateNewTargetModeSet(H_VIDPN, display_any_target(), &targets, &calls.g);
        break;
    default:
        (void)v->pfnAssignTargetModeSet(H_VIDPN, display_any_target(), H_TARGETS);
    }
    keep(TOPOLOGY, (void *)(uintptr_t)topology);
    keep(SOURCES, (void *)(uintptr_t)sources);
    keep(TARGETS, (void *)(uintptr_t)targets);
}

/* Members of a new path that are sound but for one, or more of them. */
static void fill_path(D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    path->VidPnSourceId = any_source();
    path->VidPnTargetId = display_any_target();
    path->ContentTransformation.Scaling = D3DKMDT_VPPS_IDENTITY;
    path->ContentTransformation.Rotation = D3DKMDT_VPPR_IDENTITY;
    path->VisibleFromActiveTLOffset = path->VisibleFromActiveBROffset = (D3DKMDT_2DOFFSET){0};
    path->VidPnTargetColorBasis = D3DKMDT_CB_SCRGB;
    path->Content = D3DKMDT_VPPC_GRAPHICS;
    path->GammaRamp.Type = D3DDDI_GAMMARAMP_DEFAULT;
    if (display_goes_wrong())
        display_spoil(path, sizeof(*path));
}

static void call_topology(void)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *t = calls.t;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL;
    D3DKMDT_VIDPN_PRESENT_PATH *made = NULL, own;
    SIZE_T count;
    UINT id;

    if (!t)
        return;
    switch (rig_below(12)) {
    case 0:
        (void)t->pfnGetNumPaths(H_TOPOLOGY, rig_below(8) ? &count : NULL);
        break;
    case 1:
        (void)t->pfnGetNumPathsFromSource(H_TOPOLOGY, any_source(), &count);
        break;
    case 2:
        (void)t->pfnEnumPathTargetsFromSource(H_TOPOLOGY, any_source(), rig_below(3), &id);
        break;
    case 3:
        (void)t->pfnGetPathSourceFromTarget(H_TOPOLOGY, display_any_target(), &id);
        break;
    case 4:
        (void)t->pfnAcquirePathInfo(H_TOPOLOGY, any_source(), display_any_target(), &path);
        break;
    case 5:
        (void)t->pfnAcquireFirstPathInfo(H_TOPOLOGY, &path);
        break;
    case 6:
        (void)t->pfnAcquireNextPathInfo(H_TOPOLOGY, POINTER(D3DKMDT_VIDPN_PRESENT_PATH, PATH),
                                        &path);
        break;
    case 7:
        memset(&own, 0, sizeof(own));
        fill_path(&own);
        own.ContentTransformation.ScalingSupport = display.scaling;
        own.ContentTransformation.RotationSupport = display.rotation;
        (void)t->pfnUpdatePathSupportInfo(H_TOPOLOGY, &own);
        break;
    case 8:
        (void)t->pfnReleasePathInfo(H_TOPOLOGY, POINTER(D3DKMDT_VIDPN_PRESENT_PATH, PATH));
        break;
    case 9:
        (void)t->pfnCreateNewPathInfo(H_TOPOLOGY, &made);
        if (made)
            fill_path(made);
        path = made;
        break;
    case 10:
        (void)t->pfnAddPath(H_TOPOLOGY, POINTER(D3DKMDT_VIDPN_PRESENT_PATH, PATH));
        break;
    default:
        (void)t->pfnRemovePath(H_TOPOLOGY, any_source(), display_any_target());
    }
    if (path && !made && display_goes_wrong())
        display_spoil((void *)(uintptr_t)path, sizeof(*path));
    keep(PATH, path);
}

/* ---- sets of modes ---- */

static void fill_source(D3DKMDT_VIDPN_SOURCE_MODE *mode)
{
    const UINT id = mode->Id;

    *mode = display.source_mode[rig_below(DISPLAY_MODES)];
    mode->Id = rig_below(8) ? id : rig_below(4);
    if (display_goes_wrong())
        display_spoil(mode, sizeof(*mode));
}

static void call_sources(void)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *s = calls.s;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = NULL;
    D3DKMDT_VIDPN_SOURCE_MODE *made = NULL;
    SIZE_T count;

    if (!s)
        return;
    switch (rig_below(8)) {
    case 0:
        (void)s->pfnGetNumModes(H_SOURCES, &count);
        break;
    case 1:
        (void)s->pfnAcquireFirstModeInfo(H_SOURCES, &mode);
        break;
    case 2:
        (void)s->pfnAcquireNextModeInfo(H_SOURCES, POINTER(D3DKMDT_VIDPN_SOURCE_MODE, SOURCE),
                                        &mode);
        break;
    case 3:
        (void)s->pfnAcquirePinnedModeInfo(H_SOURCES, &mode);
        break;
    case 4:
        (void)s->pfnReleaseModeInfo(H_SOURCES, POINTER(D3DKMDT_VIDPN_SOURCE_MODE, SOURCE));
        break;
    case 5:
        (void)s->pfnCreateNewModeInfo(H_SOURCES, &made);
        if (made)
            fill_source(made);
        mode = made;
        break;
    case 6:
        (void)s->pfnAddMode(H_SOURCES, POINTER(D3DKMDT_VIDPN_SOURCE_MODE, SOURCE));
        break;
    default:
        (void)s->pfnPinMode(H_SOURCES, (UINT)rig_byte());
    }
    keep(SOURCE, mode);
}

static void fill_signal(D3DKMDT_VIDEO_SIGNAL_INFO *signal)
{
    *signal = display.target_mode[rig_below(DISPLAY_MODES)].VideoSignalInfo;
    if (display_goes_wrong())
        display_spoil(signal, sizeof(*signal));
}

static void call_targets(void)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *g = calls.g;
    const D3DKMDT_VIDPN_TARGET_MODE *mode = NULL;
    D3DKMDT_VIDPN_TARGET_MODE *made = NULL;
    SIZE_T count;

    if (!g)
        return;
    switch (rig_below(8)) {
    case 0:
        (void)g->pfnGetNumModes(H_TARGETS, &count);
        break;
    case 1:
        (void)g->pfnAcquireFirstModeInfo(H_TARGETS, &mode);
        break;
    case 2:
        (void)g->pfnAcquireNextModeInfo(H_TARGETS, POINTER(D3DKMDT_VIDPN_TARGET_MODE, TARGET),
                                        &mode);
        break;
    case 3:
        (void)g->pfnAcquirePinnedModeInfo(H_TARGETS, &mode);
        break;
    case 4:
        (void)g->pfnReleaseModeInfo(H_TARGETS, POINTER(D3DKMDT_VIDPN_TARGET_MODE, TARGET));
        break;
    case 5:
        (void)g->pfnCreateNewModeInfo(H_TARGETS, &made);
        if (made) {
            fill_signal(&made->VideoSignalInfo);
            made->WireFormatAndPreference.Preference = (UINT)(1 + rig_below(3)) & 3;
        }
        mode = made;
        break;
    case 6:
        (void)g->pfnAddMode(H_TARGETS, POINTER(D3DKMDT_VIDPN_TARGET_MODE, TARGET));
        break;
    default:
        (void)g->pfnPinMode(H_TARGETS, (UINT)rig_byte());
    }
    keep(TARGET, mode);
}

/* ---- monitors ---- */

static void call_monitor_modes(void)
{
    const DXGK_MONITORSOURCEMODESET_INTERFACE *m = calls.ms;
    const D3DKMDT_MONITOR_SOURCE_MODE *mode = NULL;
    D3DKMDT_MONITOR_SOURCE_MODE *made = NULL;
    SIZE_T count;

    if (!m)
        return;
    switch (rig_below(7)) {
    case 0:
        (void)m->pfnGetNumModes(H_MONITORS, &count);
        break;
    case 1:
        (void)m->pfnAcquirePreferredModeInfo(H_MONITORS, &mode);
        break;
    case 2:
        (void)m->pfnAcquireFirstModeInfo(H_MONITORS, &mode);
        break;
    case 3:
        (void)m->pfnAcquireNextModeInfo(H_MONITORS, POINTER(D3DKMDT_MONITOR_SOURCE_MODE, MONITOR),
                                        &mode);
        break;
    case 4:
        (void)m->pfnCreateNewModeInfo(H_MONITORS, &made);
        if (made) {
            fill_signal(&made->VideoSignalInfo);
            made->ColorBasis = D3DKMDT_CB_SRGB;
            made->Origin = D3DKMDT_MCO_DRIVER;
            made->Preference = (D3DKMDT_MODE_PREFERENCE)(1 + rig_below(2));
            if (display_goes_wrong())
                display_spoil(made, sizeof(*made));
        }
        mode = made;
        break;
    case 5:
        (void)m->pfnAddMode(H_MONITORS, POINTER(D3DKMDT_MONITOR_SOURCE_MODE, MONITOR));
        break;
    default:
        (void)m->pfnReleaseModeInfo(H_MONITORS, POINTER(D3DKMDT_MONITOR_SOURCE_MODE, MONITOR));
    }
    keep(MONITOR, mode);
}

static void call_ranges(void)
{
    const DXGK_MONITORFREQUENCYRANGESET_INTERFACE *m = calls.mr;
    const D3DKMDT_MONITOR_FREQUENCY_RANGE *range = NULL;
    SIZE_T count;

    if (!m)
        return;
    switch (rig_below(4)) {
    case 0:
        (void)m->pfnGetNumFrequencyRanges(H_RANGES, &count);
        break;
    case 1:
        (void)m->pfnAcquireFirstFrequencyRangeInfo(H_RANGES, &range);
        break;
    case 2:
        (void)m->pfnAcquireNextFrequencyRangeInfo(
            H_RANGES, POINTER(D3DKMDT_MONITOR_FREQUENCY_RANGE, RANGE), &range);
        break;
    default:
        (void)m->pfnReleaseFrequencyRangeInfo(H_RANGES,
                                              POINTER(D3DKMDT_MONITOR_FREQUENCY_RANGE, RANGE));
    }
    keep(RANGE, range);
}

static void call_descriptors(void)
{
    const DXGK_MONITORDESCRIPTORSET_INTERFACE *m = calls.md;
    const D3DKMDT_MONITOR_DESCRIPTOR *descriptor = NULL;
    SIZE_T count;

    if (!m)
        return;
    switch (rig_below(4)) {
    case 0:
        (void)m->pfnGetNumDescriptors(H_DESCRIPTORS, &count);
        break;
    case 1:
        (void)m->pfnAcquireFirstDescriptorInfo(H_DESCRIPTORS, &descriptor);
        break;
    case 2:
        (void)m->pfnAcquireNextDescriptorInfo(
            H_DESCRIPTORS, POINTER(D3DKMDT_MONITOR_DESCRIPTOR, DESCRIPTOR), &descriptor);
        break;
    default:
        (void)m->pfnReleaseDescriptorInfo(H_DESCRIPTORS,
                                          POINTER(D3DKMDT_MONITOR_DESCRIPTOR, DESCRIPTOR));
    }
    keep(DESCRIPTOR, descriptor);
}

void display_call_monitor(void)
{
    const DXGKRNL_INTERFACE *dxgk = &rig.p->state[0].dxgk;
    const HANDLE adapter = rig_below(16) ? dxgk->DeviceHandle : (HANDLE)any(VIDPN);
    D3DKMDT_HMONITORSOURCEMODESET modes = 0;
    D3DKMDT_HMONITORFREQUENCYRANGESET ranges = 0;
    D3DKMDT_HMONITORDESCRIPTORSET descriptors = 0;

    if (!calls.m && dxgk->DxgkCbQueryMonitorInterface)
        (void)dxgk->DxgkCbQueryMonitorInterface(dxgk->DeviceHandle,
                                                DXGK_MONITOR_INTERFACE_VERSION_V1, &calls.m);
    if (!calls.m)
        return;
    switch (rig_below(4)) {
    case 0:
        (void)calls.m->pfnAcquireMonitorSourceModeSet(adapter, display_any_target(), &modes,
                                                      &calls.ms);
        break;
    case 1:
        (void)calls.m->pfnReleaseMonitorSourceModeSet(adapter, H_MONITORS);
        break;
    case 2:
        (void)calls.m->pfnGetMonitorFrequencyRangeSet(adapter, display_any_target(), &ranges,
                                                      &calls.mr);
        break;
    default:
        (void)calls.m->pfnGetMonitorDescriptorSet(adapter, display_any_target(), &descriptors,
                                                  &calls.md);
    }
    keep(MONITORS, (void *)(uintptr_t)modes);
    keep(RANGES, (void *)(uintptr_t)ranges);
    keep(DESCRIPTORS, (void *)(uintptr_t)descriptors);
}

/* ---- in a row ---- */

void display_calls(D3DKMDT_HVIDPN vidpn)
{
    static void (*const what[])(void) = {
        call_vidpn,           call_vidpn,         call_vidpn,       call_topology,
        call_topology,        call_sources,       call_sources,     call_targets,
        call_targets,         call_ranges,        call_targets,     call_sources,
        display_call_monitor, call_monitor_modes, call_descriptors, call_topology};
    const unsigned count = 1 + rig_below(CALLS);

    if (vidpn) {
        const DXGK_VIDPN_INTERFACE *v = display_interface(rig.p, vidpn);

        if (v)
            calls.v = v;
        keep(VIDPN, (void *)(uintptr_t)vidpn);
    }
    for (unsigned i = 0; i < count && rig.at < rig.end; i++)
        what[rig_byte() % (sizeof(what) / sizeof(what[0]))]();
}
