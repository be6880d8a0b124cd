/* SPDX-License-Identifier: MIT */
/* What a driver asks about monitors through DxgkCbQueryMonitorInterface, and adds to their modes. */
#include "port/support/display.h"
#include "modes/monitor.h"
#include "sim/irql.h"
#include "support/test.h"

#include <string.h>

#define TARGET  DISPLAY_CHILD
#define NO_SUCH 0x999u /* target */

static uint8_t edid[2][128];
static unsigned blocks;

static void sum_up(uint8_t *block)
{
    uint8_t sum = 0;

    for (unsigned i = 0; i < 127; i++)
        sum = (uint8_t)(sum + block[i]);
    block[127] = (uint8_t)-sum;
}

/* 1024 x 768 at 60 Hz, and a range of 56 to 75 Hz, 30 to 80 kHz, 170 MHz; the second block is a
 * map. */
static void make_edid(unsigned count, bool range)
{
    static const uint8_t header[8] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};
    static const uint8_t timing[18] = {0x64, 0x19, 0x00, 0x40, 0x41, 0x00, 0x26, 0x30, 0x18,
                                       0x88, 0x36, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x18};
    static const uint8_t ranges[18] = {0, 0, 0, 0xFD, 0, 56, 75, 30, 80, 17};

    memset(edid, 0, sizeof(edid));
    memcpy(edid[0], header, sizeof(header));
    edid[0][18] = 1;
    edid[0][19] = 4;
    for (unsigned i = 38; i < 54; i++)
        edid[0][i] = 1;
    memcpy(edid[0] + 54, timing, sizeof(timing));
    if (range)
        memcpy(edid[0] + 72, ranges, sizeof(ranges));
    edid[0][126] = (uint8_t)(count - 1);
    edid[1][0] = 0xF0;
    sum_up(edid[0]);
    sum_up(edid[1]);
    blocks = count;
}

static void answer_descriptor(struct probe *p, struct probe_call *call)
{
    const DXGK_DEVICE_DESCRIPTOR *d = (const DXGK_DEVICE_DESCRIPTOR *)(uintptr_t)call->arg[2];
    const unsigned n = d->DescriptorOffset / 128;

    (void)p;
    call->answered = true;
    call->result = n < blocks ? STATUS_SUCCESS
                              : (uint32_t)STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED;
    if (n < blocks)
        memcpy(d->DescriptorBuffer, edid[n], 128);
}

static struct probe *with_edid(unsigned count, bool range)
{
    struct probe *p = display_create(NULL);

    blocks = 0;
    if (count)
        make_edid(count, range);
    p->before[PROBE_QueryDeviceDescriptor] = answer_descriptor;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, body);
}

static HANDLE adapter_of(const struct probe *p)
{
    return p->state[0].dxgk.DeviceHandle;
}

static NTSTATUS query(const struct probe *p, UINT version, const DXGK_MONITOR_INTERFACE **out)
{
    return p->state[0].dxgk.DxgkCbQueryMonitorInterface(
        adapter_of(p), (DXGK_MONITOR_INTERFACE_VERSION)version, out);
}

static const DXGK_MONITOR_INTERFACE_V2 *interface_2(const struct probe *p)
{
    const DXGK_MONITOR_INTERFACE *interface = NULL;

    CHECK(query(p, 2, &interface) == STATUS_SUCCESS);
    return (const DXGK_MONITOR_INTERFACE_V2 *)(const void *)interface;
}

/* ---- the interface ---- */

static void check_query(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE *one = NULL, *two = NULL, *again = NULL, *other;

    CHECK_RULE("DISP-122", query(p, 1, &one) == STATUS_SUCCESS && one->Version == 1 &&
                               query(p, 2, &two) == STATUS_SUCCESS && two->Version == 2);
    CHECK_RULE("DISP-122", query(p, 2, &again) == STATUS_SUCCESS && again == two && one != two);
    other = one;
    CHECK_RULE("DISP-123", query(p, 3, &other) == STATUS_NOT_SUPPORTED && !other);
    other = one;
    CHECK_RULE("DISP-123", query(p, 0, &other) == STATUS_NOT_SUPPORTED && !other);
    CHECK_RULE("DISP-123", query(p, 1, NULL) == STATUS_INVALID_PARAMETER);
    other = one;
    CHECK_RULE("DISP-123", p->state[0].dxgk.DxgkCbQueryMonitorInterface(
                               (HANDLE)(uintptr_t)0x123450, DXGK_MONITOR_INTERFACE_VERSION_V1,
                               &other) == STATUS_GRAPHICS_INVALID_DISPLAY_ADAPTER &&
                               !other);
}

TEST(versions)
{
    run(with_edid(0, false), check_query);
}

static void check_level(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_2(p);
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set;
    const DXGK_MONITORFREQUENCYRANGESET_INTERFACE *ranges;
    const DXGK_MONITORDESCRIPTORSET_INTERFACE *descriptors;
    D3DKMDT_HMONITORSOURCEMODESET handle;
    D3DKMDT_HMONITORFREQUENCYRANGESET range_handle;
    D3DKMDT_HMONITORDESCRIPTORSET descriptor_handle;
    SIZE_T count = 9;
    KIRQL before;

    CHECK(m->pfnAcquireMonitorSourceModeSet(adapter_of(p), TARGET, &handle, &set) == STATUS_SUCCESS &&
          m->pfnGetMonitorFrequencyRangeSet(adapter_of(p), TARGET, &range_handle, &ranges) ==
              STATUS_SUCCESS &&
          m->pfnGetMonitorDescriptorSet(adapter_of(p), TARGET, &descriptor_handle, &descriptors) ==
              STATUS_SUCCESS);
    KeRaiseIrql(DISPATCH_LEVEL, &before);
    CHECK_RULE("DISP-124", m->pfnReleaseMonitorSourceModeSet(adapter_of(p), handle) ==
                               STATUS_INVALID_DEVICE_REQUEST);
    CHECK_RULE("DISP-124", set->pfnGetNumModes(handle, &count) == STATUS_INVALID_DEVICE_REQUEST);
    CHECK_RULE("DISP-124", ranges->pfnGetNumFrequencyRanges(range_handle, &count) ==
                               STATUS_INVALID_DEVICE_REQUEST);
    CHECK_RULE("DISP-124", descriptors->pfnGetNumDescriptors(descriptor_handle, &count) ==
                               STATUS_INVALID_DEVICE_REQUEST);
    KeLowerIrql(before);
    CHECK_RULE("DISP-124", probe_rule(p, "DISP-124") == 4 && count == 0);
    CHECK(m->pfnReleaseMonitorSourceModeSet(adapter_of(p), handle) == STATUS_SUCCESS);
}

TEST(level)
{
    run(with_edid(2, true), check_level);
}

/* ---- mode sets ---- */

static void check_acquire(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_2(p);
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set = NULL;
    D3DKMDT_HMONITORSOURCEMODESET handle = NULL, again;

    CHECK_RULE("DISP-125",
               m->pfnAcquireMonitorSourceModeSet((HANDLE)(uintptr_t)0x1230, TARGET, &handle,
                                                 &set) == STATUS_GRAPHICS_INVALID_DISPLAY_ADAPTER);
    CHECK_RULE("DISP-125",
               m->pfnAcquireMonitorSourceModeSet(adapter_of(p), NO_SUCH, &handle, &set) ==
                   STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET);
    CHECK_RULE("DISP-125",
               m->pfnAcquireMonitorSourceModeSet(adapter_of(p), TARGET + 1, &handle, &set) ==
                       STATUS_GRAPHICS_MONITOR_NOT_CONNECTED &&
                   !handle && !set);
    CHECK_RULE("DISP-125", m->pfnAcquireMonitorSourceModeSet(adapter_of(p), TARGET, &handle,
                                                             &set) == STATUS_SUCCESS &&
                               handle && set);
    CHECK(m->pfnAcquireMonitorSourceModeSet(adapter_of(p), TARGET, &again, &set) == STATUS_SUCCESS &&
          again == handle);
    CHECK_RULE("DISP-126", m->pfnReleaseMonitorSourceModeSet((HANDLE)(uintptr_t)0x1230, handle) ==
                               STATUS_GRAPHICS_INVALID_DISPLAY_ADAPTER);
    CHECK_RULE("DISP-126", m->pfnReleaseMonitorSourceModeSet(
                               adapter_of(p), (D3DKMDT_HMONITORSOURCEMODESET)(uintptr_t)0x5550) ==
                               STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET);
    CHECK_RULE("DISP-126",
               m->pfnReleaseMonitorSourceModeSet(adapter_of(p), handle) == STATUS_SUCCESS &&
                   m->pfnReleaseMonitorSourceModeSet(adapter_of(p), handle) == STATUS_SUCCESS &&
                   m->pfnReleaseMonitorSourceModeSet(adapter_of(p), handle) ==
                       STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET);
}

TEST(acquire_and_release)
{
    struct probe *p = with_edid(0, false);

    display.outputs = 2;
    display.connected[1] = false;
    run(p, check_acquire);
}

static void check_walk(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_2(p);
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set;
    const D3DKMDT_MONITOR_SOURCE_MODE *mode = NULL, *next, *first, *foreign;
    D3DKMDT_HMONITORSOURCEMODESET handle;
    const D3DKMDT_HMONITORSOURCEMODESET bad = (D3DKMDT_HMONITORSOURCEMODESET)(uintptr_t)0x5550;
    SIZE_T count = 0, walked = 0;
    UINT ids[8] = {0};

    CHECK(m->pfnAcquireMonitorSourceModeSet(adapter_of(p), TARGET, &handle, &set) == STATUS_SUCCESS);
    CHECK_RULE("DISP-132", set->pfnGetNumModes(handle, &count) == STATUS_SUCCESS && count == 7 &&
                               set->pfnGetNumModes(bad, &count) ==
                                   STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET);
    for (unsigned pass = 0; pass < 2; pass++) {
        walked = 0;
        CHECK(set->pfnAcquireFirstModeInfo(handle, &mode) == STATUS_SUCCESS);
        while (mode) {
            CHECK_RULE("DISP-133", !pass || ids[walked] == mode->Id);
            ids[walked++ % 8] = mode->Id;
            next = (const D3DKMDT_MONITOR_SOURCE_MODE *)(uintptr_t)8;
            if (walked == 7)
                CHECK_RULE("DISP-134", set->pfnAcquireNextModeInfo(handle, mode, &next) ==
                                               STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET &&
                                           !next);
            else
                CHECK(set->pfnAcquireNextModeInfo(handle, mode, &next) == STATUS_SUCCESS);
            CHECK(set->pfnReleaseModeInfo(handle, mode) == STATUS_SUCCESS);
            mode = next;
        }
        CHECK_RULE("DISP-133", walked == 7);
    }
    CHECK_RULE("DISP-133", set->pfnAcquireFirstModeInfo(bad, &mode) ==
                                   STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET &&
                               set->pfnAcquireNextModeInfo(bad, mode, &next) ==
                                   STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET);
    foreign = (const D3DKMDT_MONITOR_SOURCE_MODE *)&count;
    CHECK_RULE("DISP-134", set->pfnAcquireNextModeInfo(handle, foreign, &next) ==
                                   STATUS_GRAPHICS_INVALID_MONITOR_SOURCE_MODE &&
                               !next);
    CHECK(set->pfnAcquireFirstModeInfo(handle, &first) == STATUS_SUCCESS);
    CHECK_RULE("DISP-142", set->pfnReleaseModeInfo(bad, first) ==
                               STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET);
    CHECK_RULE("DISP-142", set->pfnReleaseModeInfo(handle, first) == STATUS_SUCCESS &&
                               set->pfnReleaseModeInfo(handle, first) ==
                                   STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE &&
                               probe_rule(p, "DISP-142") == 1);
    CHECK_RULE("DISP-135", set->pfnAcquirePreferredModeInfo(handle, &first) == STATUS_SUCCESS &&
                               first->VideoSignalInfo.ActiveSize.cx == 1024);
    CHECK(set->pfnReleaseModeInfo(handle, first) == STATUS_SUCCESS);
    CHECK_RULE("DISP-135", set->pfnAcquirePreferredModeInfo(bad, &first) ==
                                   STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET &&
                               !first);
    CHECK_RULE("DISP-137/c",
               set->pfnCreateNewModeInfo(handle, (D3DKMDT_MONITOR_SOURCE_MODE **)&next) ==
                   STATUS_ACCESS_DENIED);
    CHECK(m->pfnReleaseMonitorSourceModeSet(adapter_of(p), handle) == STATUS_SUCCESS);
}

TEST(walk)
{
    run(with_edid(0, false), check_walk);
}

/* ---- adding modes ---- */

static NTSTATUS in_enum;
static bool acquired_in_enum;

static void ask_in_enum(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                        const DXGK_VIDPN_INTERFACE *v)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_2(p);
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set;
    D3DKMDT_HMONITORSOURCEMODESET handle;
    D3DKMDT_MONITOR_SOURCE_MODE *mode;
    SIZE_T count = 0;

    (void)args;
    (void)v;
    CHECK(m->pfnAcquireMonitorSourceModeSet(adapter_of(p), TARGET, &handle, &set) == STATUS_SUCCESS);
    acquired_in_enum = set->pfnGetNumModes(handle, &count) == STATUS_SUCCESS && count > 0;
    in_enum = set->pfnCreateNewModeInfo(handle, &mode);
    CHECK(m->pfnReleaseMonitorSourceModeSet(adapter_of(p), handle) == STATUS_SUCCESS);
}

static D3DKMDT_MONITOR_SOURCE_MODE plain_mode(UINT width, UINT height)
{
    return (D3DKMDT_MONITOR_SOURCE_MODE){
        .VideoSignalInfo = display_target_mode(width, height).VideoSignalInfo,
        .ColorBasis = D3DKMDT_CB_SRGB,
        .Origin = D3DKMDT_MCO_DRIVER,
        .Preference = D3DKMDT_MP_NOTPREFERRED};
}

static const DXGK_MONITORSOURCEMODESET_INTERFACE *set_functions;
static D3DKMDT_HMONITORSOURCEMODESET the_set;

/* The answer of pfnAddMode; a refused structure must be released, once. */
static NTSTATUS try_add(D3DKMDT_MONITOR_SOURCE_MODE wanted)
{
    D3DKMDT_MONITOR_SOURCE_MODE *mode;
    NTSTATUS status;

    CHECK(set_functions->pfnCreateNewModeInfo(the_set, &mode) == STATUS_SUCCESS);
    wanted.Id = mode->Id;
    *mode = wanted;
    status = set_functions->pfnAddMode(the_set, mode);
    if (!NT_SUCCESS(status))
        CHECK_RULE("DISP-139/b", set_functions->pfnReleaseModeInfo(the_set, mode) == STATUS_SUCCESS);
    return status;
}

static void try_created(void)
{
    D3DKMDT_MONITOR_SOURCE_MODE *mode, *other, zero;
    SIZE_T count = 0;

    CHECK(set_functions->pfnCreateNewModeInfo(the_set, &mode) == STATUS_SUCCESS &&
          set_functions->pfnCreateNewModeInfo(the_set, &other) == STATUS_SUCCESS);
    memset(&zero, 0, sizeof(zero));
    zero.Id = mode->Id;
    CHECK_RULE("DISP-137/a", memcmp(mode, &zero, sizeof(zero)) == 0 && mode->Id != other->Id);
    *mode = plain_mode(1000, 700);
    mode->Id = zero.Id;
    CHECK_RULE("DISP-136/b", set_functions->pfnAddMode(the_set, mode) == STATUS_SUCCESS &&
                                 set_functions->pfnReleaseModeInfo(the_set, mode) ==
                                     STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE);
    *other = plain_mode(1000, 701);
    other->Id = zero.Id;
    CHECK_RULE("DISP-138",
               set_functions->pfnAddMode(the_set, other) == STATUS_GRAPHICS_MODE_ID_MUST_BE_UNIQUE);
    CHECK_RULE("DISP-136/b", set_functions->pfnReleaseModeInfo(the_set, other) == STATUS_SUCCESS);
    CHECK_RULE("DISP-138", set_functions->pfnAddMode(the_set, other) ==
                               STATUS_GRAPHICS_INVALID_MONITOR_SOURCE_MODE);
    CHECK_RULE("DISP-138",
               set_functions->pfnAddMode((D3DKMDT_HMONITORSOURCEMODESET)(uintptr_t)0x5550, other) ==
                   STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET);
    CHECK(set_functions->pfnGetNumModes(the_set, &count) == STATUS_SUCCESS && count == 8);
}

static void add_modes(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RECOMMENDMONITORMODES *args = (const DXGKARG_RECOMMENDMONITORMODES *)(uintptr_t)
                                                    call->arg[1];
    D3DKMDT_MONITOR_SOURCE_MODE mode = plain_mode(1280, 800);

    call->answered = true;
    call->result = STATUS_SUCCESS;
    set_functions = args->pMonitorSourceModeSetInterface;
    the_set = args->hMonitorSourceModeSet;
    try_created();
    CHECK_RULE("DISP-139/a", try_add(mode) == STATUS_SUCCESS);
    CHECK_RULE("DISP-138", try_add(mode) == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET);
    mode.Preference = D3DKMDT_MP_PREFERRED;
    CHECK_RULE("DISP-139/c", try_add(mode) == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET);
    mode.Preference = D3DKMDT_MP_NOTPREFERRED;
    mode.ColorBasis = D3DKMDT_CB_SCRGB;
    CHECK_RULE("DISP-139/c", try_add(mode) == STATUS_SUCCESS);
    mode = plain_mode(1400, 900);
    mode.VideoSignalInfo.ActiveSize = (D3DKMDT_2DREGION){D3DKMDT_DIMENSION_NOTSPECIFIED,
                                                         D3DKMDT_DIMENSION_NOTSPECIFIED};
    CHECK_RULE("DISP-139/a", try_add(mode) == STATUS_SUCCESS);
    mode = plain_mode(1400, 900);
    mode.VideoSignalInfo.ActiveSize.cx = 0;
    CHECK_RULE("DISP-138", try_add(mode) == STATUS_GRAPHICS_INVALID_ACTIVE_REGION);
    mode = plain_mode(1400, 900);
    mode.VideoSignalInfo.TotalSize.cy = 0;
    CHECK_RULE("DISP-138", try_add(mode) == STATUS_GRAPHICS_INVALID_TOTAL_REGION);
    mode = plain_mode(1400, 900);
    mode.VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){60, 0};
    CHECK_RULE("DISP-138", try_add(mode) == STATUS_GRAPHICS_INVALID_FREQUENCY);
    mode = plain_mode(1400, 901);
    mode.Origin = D3DKMDT_MCO_UNINITIALIZED;
    CHECK(probe_rule(p, "DISP-141") == 0);
    CHECK_RULE("DISP-141", try_add(mode) == STATUS_SUCCESS && probe_rule(p, "DISP-141") == 1);
    mode = plain_mode(1400, 903);
    mode.Preference = D3DKMDT_MP_PREFERRED;
    CHECK(try_add(mode) == STATUS_SUCCESS);
    mode = plain_mode(1400, 902);
    mode.Preference = D3DKMDT_MP_UNINITIALIZED;
    CHECK_RULE("DISP-141", try_add(mode) == STATUS_SUCCESS && probe_rule(p, "DISP-141") == 2);
}

static const D3DKMDT_MONITOR_SOURCE_MODE *stored(const struct probe *p, UINT height)
{
    const struct mode_set *set = display_modes(p)->target[0].monitor->set;

    for (UINT i = 0; i < set->count; i++)
        if (set->mode[i].monitor.VideoSignalInfo.ActiveSize.cy == height)
            return &set->mode[i].monitor;
    return NULL;
}

static void check_added(struct probe *p)
{
    const struct mode_set *set = display_modes(p)->target[0].monitor->set;
    UINT preferred = 0;

    CHECK_RULE("DISP-141", stored(p, 901)->Origin == D3DKMDT_MCO_DRIVER &&
                               stored(p, 902)->Preference == D3DKMDT_MP_NOTPREFERRED);
    for (UINT i = 0; i < set->count; i++)
        preferred += set->mode[i].monitor.Preference == D3DKMDT_MP_PREFERRED;
    CHECK_RULE("DISP-140", preferred == 1 && stored(p, 903)->Preference == D3DKMDT_MP_PREFERRED &&
                               stored(p, 768)->Preference == D3DKMDT_MP_NOTPREFERRED);
    CHECK_RULE("DISP-137/b", in_enum == STATUS_ACCESS_DENIED);
    CHECK_RULE("VIDPN-139", acquired_in_enum);
}

TEST(modes_are_added)
{
    struct probe *p = with_edid(0, false);

    in_enum = 0;
    acquired_in_enum = false;
    p->before[PROBE_RecommendMonitorModes] = add_modes;
    display.before_enum = ask_in_enum;
    run(p, check_added);
}

static void forget_mode(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RECOMMENDMONITORMODES *args = (const DXGKARG_RECOMMENDMONITORMODES *)(uintptr_t)
                                                    call->arg[1];
    D3DKMDT_MONITOR_SOURCE_MODE *mode;

    (void)p;
    CHECK(args->pMonitorSourceModeSetInterface->pfnCreateNewModeInfo(args->hMonitorSourceModeSet,
                                                                     &mode) == STATUS_SUCCESS);
}

static void check_forgotten(struct probe *p)
{
    CHECK_RULE("DISP-136/a",
               probe_said(p, "VIDPN-015", "pfnCreateNewModeInfo") && display_seen.commits == 1);
}

TEST(a_mode_is_forgotten)
{
    struct probe *p = with_edid(0, false);

    p->before[PROBE_RecommendMonitorModes] = forget_mode;
    run(p, check_forgotten);
}

/* ---- ranges ---- */

static void check_range(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_2(p);
    const DXGK_MONITORFREQUENCYRANGESET_INTERFACE *set = NULL;
    const D3DKMDT_MONITOR_FREQUENCY_RANGE *range = NULL, *next;
    const D3DKMDT_HMONITORFREQUENCYRANGESET bad =
        (D3DKMDT_HMONITORFREQUENCYRANGESET)(uintptr_t)0x5550;
    D3DKMDT_HMONITORFREQUENCYRANGESET handle = NULL;
    SIZE_T count = 0;

    CHECK_RULE("DISP-127",
               m->pfnGetMonitorFrequencyRangeSet(adapter_of(p), NO_SUCH, &handle, &set) ==
                       STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET &&
                   m->pfnGetMonitorFrequencyRangeSet(adapter_of(p), TARGET, NULL, &set) ==
                       STATUS_INVALID_PARAMETER &&
                   m->pfnGetMonitorFrequencyRangeSet(adapter_of(p), TARGET, &handle, NULL) ==
                       STATUS_INVALID_PARAMETER);
    CHECK_RULE("DISP-127", m->pfnGetMonitorFrequencyRangeSet(adapter_of(p), TARGET, &handle,
                                                             &set) == STATUS_SUCCESS);
    CHECK_RULE("DISP-143",
               set->pfnGetNumFrequencyRanges(handle, &count) == STATUS_SUCCESS && count == 1 &&
                   set->pfnGetNumFrequencyRanges(handle, NULL) == STATUS_INVALID_PARAMETER &&
                   set->pfnGetNumFrequencyRanges(bad, &count) ==
                       STATUS_GRAPHICS_INVALID_MONITOR_FREQUENCYRANGESET);
    CHECK_RULE("DISP-143",
               set->pfnAcquireFirstFrequencyRangeInfo(handle, &range) == STATUS_SUCCESS &&
                   set->pfnAcquireFirstFrequencyRangeInfo(handle, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("DISP-146", range->Origin == D3DKMDT_MCO_MONITORDESCRIPTOR &&
                               range->ConstraintType == D3DKMDT_MFRC_MAXPIXELRATE &&
                               range->Constraint.MaxPixelRate == 170000000 &&
                               range->RangeLimits.MinVSyncFreq.Numerator == 56 &&
                               range->RangeLimits.MinVSyncFreq.Denominator == 1 &&
                               range->RangeLimits.MaxVSyncFreq.Numerator == 75 &&
                               range->RangeLimits.MinHSyncFreq.Numerator == 30000 &&
                               range->RangeLimits.MaxHSyncFreq.Numerator == 80000 &&
                               range->RangeLimits.MaxHSyncFreq.Denominator == 1);
    next = range;
    CHECK_RULE("DISP-144", set->pfnAcquireNextFrequencyRangeInfo(handle, range, &next) ==
                                   STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET &&
                               !next);
    CHECK_RULE("DISP-145", set->pfnReleaseFrequencyRangeInfo(bad, range) ==
                                   STATUS_GRAPHICS_INVALID_MONITOR_FREQUENCYRANGESET &&
                               set->pfnReleaseFrequencyRangeInfo(
                                   handle, (const D3DKMDT_MONITOR_FREQUENCY_RANGE *)&count) ==
                                   STATUS_GRAPHICS_INVALID_MONITOR_FREQUENCYRANGE);
    CHECK_RULE("DISP-145", set->pfnReleaseFrequencyRangeInfo(handle, range) == STATUS_SUCCESS &&
                               set->pfnReleaseFrequencyRangeInfo(handle, range) ==
                                   STATUS_GRAPHICS_INVALID_MONITOR_FREQUENCYRANGE);
}

static void check_no_leak(const struct probe *p, const char *rule)
{
    CHECK_RULE(rule, probe_rule(p, "VIDPN-015") == 0);
}

TEST(ranges)
{
    struct probe *p = with_edid(1, true);

    CHECK(probe_start(p) == STATUS_SUCCESS);
    (void)probe_run(p, check_range);
    (void)probe_stop(p);
    check_no_leak(p, "DISP-127");
    probe_destroy(p);
}

static void check_no_range(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_2(p);
    const DXGK_MONITORFREQUENCYRANGESET_INTERFACE *set = NULL;
    const D3DKMDT_MONITOR_FREQUENCY_RANGE *range = NULL;
    D3DKMDT_HMONITORFREQUENCYRANGESET handle = NULL;
    SIZE_T count = 9;

    CHECK(m->pfnGetMonitorFrequencyRangeSet(adapter_of(p), TARGET, &handle, &set) == STATUS_SUCCESS);
    CHECK_RULE("DISP-143", set->pfnGetNumFrequencyRanges(handle, &count) == STATUS_SUCCESS &&
                               count == 0 &&
                               set->pfnAcquireFirstFrequencyRangeInfo(handle, &range) ==
                                   STATUS_GRAPHICS_DATASET_IS_EMPTY &&
                               !range);
    CHECK_RULE("DISP-146", count == 0);
}

TEST(no_range)
{
    run(with_edid(1, false), check_no_range);
}

/* ---- descriptors ---- */

static void check_descriptors(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_2(p);
    const DXGK_MONITORDESCRIPTORSET_INTERFACE *set = NULL;
    const D3DKMDT_MONITOR_DESCRIPTOR *first = NULL, *second = NULL, *next;
    const D3DKMDT_HMONITORDESCRIPTORSET bad = (D3DKMDT_HMONITORDESCRIPTORSET)(uintptr_t)0x5550;
    D3DKMDT_HMONITORDESCRIPTORSET handle = NULL;
    SIZE_T count = 0;

    CHECK_RULE("DISP-128", m->pfnGetMonitorDescriptorSet(adapter_of(p), NO_SUCH, &handle, &set) ==
                                   STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET &&
                               m->pfnGetMonitorDescriptorSet(adapter_of(p), TARGET, NULL, &set) ==
                                   STATUS_INVALID_PARAMETER &&
                               m->pfnGetMonitorDescriptorSet(adapter_of(p), TARGET, &handle,
                                                             &set) == STATUS_SUCCESS);
    CHECK_RULE("DISP-147",
               set->pfnGetNumDescriptors(handle, &count) == STATUS_SUCCESS && count == 2 &&
                   set->pfnGetNumDescriptors(handle, NULL) == STATUS_INVALID_PARAMETER &&
                   set->pfnGetNumDescriptors(bad, &count) ==
                       STATUS_GRAPHICS_INVALID_MONITORDESCRIPTORSET);
    CHECK(set->pfnAcquireFirstDescriptorInfo(handle, &first) == STATUS_SUCCESS &&
          set->pfnAcquireNextDescriptorInfo(handle, first, &second) == STATUS_SUCCESS);
    next = first;
    CHECK_RULE("DISP-147", set->pfnAcquireNextDescriptorInfo(handle, second, &next) ==
                                   STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET &&
                               !next);
    CHECK_RULE("DISP-149", first->Type == D3DKMDT_MDT_VESA_EDID_V1_BASEBLOCK &&
                               first->DataSize == 128 &&
                               first->Origin == D3DKMDT_MCO_MONITORDESCRIPTOR &&
                               memcmp(first->pData, edid[0], 128) == 0);
    CHECK_RULE("DISP-149", second->Type == D3DKMDT_MDT_VESA_EDID_V1_BLOCKMAP &&
                               second->DataSize == 128 &&
                               second->Origin == D3DKMDT_MCO_MONITORDESCRIPTOR &&
                               memcmp(second->pData, edid[1], 128) == 0);
    CHECK_RULE("DISP-148",
               set->pfnReleaseDescriptorInfo(handle, (const D3DKMDT_MONITOR_DESCRIPTOR *)&count) ==
                   STATUS_GRAPHICS_INVALID_MONITORDESCRIPTOR);
    ((UCHAR *)(uintptr_t)second->pData)[5] ^= 1;
    CHECK_RULE("DISP-148", set->pfnReleaseDescriptorInfo(handle, second) == STATUS_SUCCESS &&
                               set->pfnReleaseDescriptorInfo(handle, second) ==
                                   STATUS_GRAPHICS_INVALID_MONITORDESCRIPTOR);
    CHECK_RULE("DISP-149", probe_rule(p, "DISP-149") == 1);
    CHECK(set->pfnReleaseDescriptorInfo(handle, first) == STATUS_SUCCESS);
    CHECK_RULE("DISP-149", probe_rule(p, "DISP-149") == 1 &&
                               set->pfnAcquireFirstDescriptorInfo(handle, &first) == STATUS_SUCCESS);
    CHECK(set->pfnReleaseDescriptorInfo(handle, first) == STATUS_SUCCESS);
}

TEST(descriptors)
{
    struct probe *p = with_edid(2, false);

    CHECK(probe_start(p) == STATUS_SUCCESS);
    (void)probe_run(p, check_descriptors);
    (void)probe_stop(p);
    check_no_leak(p, "DISP-128");
    probe_destroy(p);
}

static void check_no_descriptor(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_2(p);
    const DXGK_MONITORDESCRIPTORSET_INTERFACE *set = NULL;
    const D3DKMDT_MONITOR_DESCRIPTOR *first = NULL;
    D3DKMDT_HMONITORDESCRIPTORSET handle = NULL;
    SIZE_T count = 9;

    CHECK(m->pfnGetMonitorDescriptorSet(adapter_of(p), TARGET, &handle, &set) == STATUS_SUCCESS);
    CHECK_RULE("DISP-147", set->pfnGetNumDescriptors(handle, &count) == STATUS_SUCCESS &&
                               count == 0 &&
                               set->pfnAcquireFirstDescriptorInfo(handle, &first) ==
                                   STATUS_GRAPHICS_DATASET_IS_EMPTY &&
                               !first);
}

TEST(no_descriptor)
{
    run(with_edid(0, false), check_no_descriptor);
}

/* ---- additional modes ---- */

static void check_analog(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_2(p);
    DXGK_TARGETMODE_DETAIL_TIMING *list = NULL;
    UINT count = 0;

    CHECK_RULE("DISP-129", m->pfnGetAdditionalMonitorModeSet(adapter_of(p), TARGET, &count,
                                                             &list) == STATUS_SUCCESS &&
                               count == 1 && list);
    CHECK_RULE("DISP-130/b", list->VideoStandard == D3DKMDT_VSS_VESA_DMT &&
                                 list->DetailTiming.HorizontalActivePixels == 639 &&
                                 list->DetailTiming.VerticalActiveLines == 479);
    CHECK_RULE("DISP-131",
               m->pfnReleaseAdditionalMonitorModeSet((HANDLE)(uintptr_t)0x1230, TARGET, list) ==
                   STATUS_GRAPHICS_INVALID_DISPLAY_ADAPTER);
    CHECK_RULE("DISP-131", m->pfnReleaseAdditionalMonitorModeSet(adapter_of(p), TARGET + 1, list) ==
                               STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET);
    CHECK_RULE(
        "DISP-131",
        m->pfnReleaseAdditionalMonitorModeSet(adapter_of(p), TARGET,
                                              (DXGK_TARGETMODE_DETAIL_TIMING *)(void *)&count) ==
                STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET &&
            m->pfnReleaseAdditionalMonitorModeSet(adapter_of(p), TARGET, list) == STATUS_SUCCESS &&
            m->pfnReleaseAdditionalMonitorModeSet(adapter_of(p), TARGET, list) ==
                STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET);
    CHECK_RULE("DISP-129",
               m->pfnGetAdditionalMonitorModeSet(adapter_of(p), NO_SUCH, &count, &list) ==
                       STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET &&
                   m->pfnGetAdditionalMonitorModeSet(adapter_of(p), TARGET + 1, &count, &list) ==
                       STATUS_GRAPHICS_MONITOR_NOT_CONNECTED);
}

static void set_child(struct probe *p, UINT n, D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology)
{
    p->child[n].ChildDeviceType = TypeVideoOutput;
    p->child[n].ChildUid = DISPLAY_CHILD + n;
    p->child[n].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    p->child[n].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = technology;
    p->child[n].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
}

TEST(additional_modes)
{
    struct probe *p = with_edid(0, false);

    set_child(p, 0, D3DKMDT_VOT_HD15);
    display.outputs = 2;
    display.connected[1] = false;
    run(p, check_analog);
}

static void check_digital(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_2(p);
    DXGK_TARGETMODE_DETAIL_TIMING *list = (DXGK_TARGETMODE_DETAIL_TIMING *)(uintptr_t)8;
    UINT count = 9;

    CHECK_RULE("DISP-130/a", m->pfnGetAdditionalMonitorModeSet(adapter_of(p), TARGET, &count,
                                                               &list) == STATUS_SUCCESS &&
                                 count == 0 && !list);
    CHECK_RULE("DISP-131", m->pfnReleaseAdditionalMonitorModeSet(adapter_of(p), TARGET, NULL) ==
                               STATUS_SUCCESS);
}

TEST(no_additional_modes)
{
    run(with_edid(1, false), check_digital);
}

/* ---- monitors that go ---- */

static void check_departed(struct probe *p)
{
    const DXGK_MONITOR_INTERFACE_V2 *m = interface_2(p);
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set;
    D3DKMDT_HMONITORSOURCEMODESET handle;
    SIZE_T count;

    CHECK(m->pfnAcquireMonitorSourceModeSet(adapter_of(p), TARGET, &handle, &set) == STATUS_SUCCESS);
    display_indicate(p, 0, false);
    CHECK_RULE("DISP-102", probe_said(p, "VIDPN-015", "pfnAcquireMonitorSourceModeSet") &&
                               set->pfnGetNumModes(handle, &count) ==
                                   STATUS_GRAPHICS_INVALID_MONITOR_SOURCEMODESET);
}

TEST(handles_of_a_monitor_that_is_gone)
{
    run(with_edid(1, false), check_departed);
}
