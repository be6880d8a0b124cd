/* SPDX-License-Identifier: MIT */
/* What pfnAddMode of the mode sets of a VidPN refuses, member by member, and what it only tells. */
#include "port/support/vidpn.h"

#include <string.h>

typedef D3DKMDT_VIDPN_SOURCE_MODE source_mode;
typedef D3DKMDT_VIDPN_TARGET_MODE target_mode;

#define OPEN D3DKMDT_FREQUENCY_NOTSPECIFIED
#define NONE D3DKMDT_FREQUENCY_UNINITIALIZED

/* ---- source modes ---- */

#define SOURCE(wanted, change)                          \
    __extension__({                                     \
        source_mode m = display_source_mode(1024, 768); \
                                                        \
        change;                                         \
        vidpn_try_source(h, &m) == (NTSTATUS)(wanted);  \
    })
#define GRAPHICS m.Format.Graphics

TEST_WITH(vidpn, source_types)
{
    const NTSTATUS refused = STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE;

    CHECK_RULE("VIDPN-080",
               SOURCE(STATUS_SUCCESS, m.Type = D3DKMDT_RMT_GRAPHICS) &&
                   SOURCE(STATUS_SUCCESS, m.Type = D3DKMDT_RMT_GRAPHICS_STEREO) &&
                   SOURCE(STATUS_SUCCESS, m.Type = D3DKMDT_RMT_GRAPHICS_STEREO_ADVANCED_SCAN));
    CHECK_RULE("VIDPN-081", SOURCE(refused, m.Type = D3DKMDT_RMT_UNINITIALIZED) &&
                                SOURCE(refused, m.Type = D3DKMDT_RMT_TEXT) &&
                                SOURCE(refused, m.Type = (D3DKMDT_VIDPN_SOURCE_MODE_TYPE)5) &&
                                SOURCE(refused, m.Type = (D3DKMDT_VIDPN_SOURCE_MODE_TYPE)-1));
    (void)p;
}

/* Of two modes that are else alike, the one that is not stereo is chosen. */
static void offers_stereo(struct probe *p)
{
    (void)p;
    display.source_mode[0] = display_source_mode(1024, 768);
    display.source_mode[0].Type = D3DKMDT_RMT_GRAPHICS_STEREO;
    display.source_mode[1] = display_source_mode(640, 480);
    display.source_modes = 2;
}

static void is_not_stereo(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-081", display_seen.commits == 1 && display_seen.commit[0].size.cx == 640);
}

TEST_WITH(vidpn, stereo_is_kept_and_not_chosen, .prepare = offers_stereo, .after = is_not_stereo)
{
    (void)p;
    (void)h;
}

TEST_WITH(vidpn, sizes_of_surfaces)
{
    const NTSTATUS surface = STATUS_GRAPHICS_INVALID_PRIMARYSURFACE_SIZE,
                   seen = STATUS_GRAPHICS_INVALID_VISIBLEREGION_SIZE;

    CHECK_RULE("VIDPN-082", SOURCE(surface, GRAPHICS.PrimSurfSize.cx = 0) &&
                                SOURCE(surface, GRAPHICS.PrimSurfSize.cy = 0) &&
                                SOURCE(surface, GRAPHICS.PrimSurfSize.cx = 32769) &&
                                SOURCE(surface, GRAPHICS.PrimSurfSize.cy = 32769) &&
                                SOURCE(STATUS_SUCCESS, GRAPHICS.PrimSurfSize.cy = 32768));
    CHECK_RULE("VIDPN-082", SOURCE(STATUS_SUCCESS, {
                   GRAPHICS.PrimSurfSize.cx = 32768;
                   GRAPHICS.Stride = 32768 * 4;
               }));
    CHECK_RULE("VIDPN-082", SOURCE(seen, GRAPHICS.VisibleRegionSize.cx = 0) &&
                                SOURCE(seen, GRAPHICS.VisibleRegionSize.cy = 0) &&
                                SOURCE(seen, GRAPHICS.VisibleRegionSize.cx = 1025) &&
                                SOURCE(seen, GRAPHICS.VisibleRegionSize.cy = 769) &&
                                SOURCE(STATUS_SUCCESS, GRAPHICS.VisibleRegionSize.cx = 1));
    (void)p;
}

TEST_WITH(vidpn, strides)
{
    CHECK_RULE("VIDPN-083", SOURCE(STATUS_GRAPHICS_INVALID_STRIDE, GRAPHICS.Stride = 0) &&
                                probe_rule(p, "VIDPN-083") == 0);
    CHECK_RULE("VIDPN-083",
               SOURCE(STATUS_SUCCESS, GRAPHICS.Stride = 4096) && probe_rule(p, "VIDPN-083") == 0);
    CHECK_RULE("VIDPN-083",
               SOURCE(STATUS_SUCCESS, GRAPHICS.Stride = 4095) && probe_rule(p, "VIDPN-083") == 1);
    CHECK_RULE("VIDPN-083", SOURCE(STATUS_SUCCESS, GRAPHICS.Stride = 3072) &&
                                probe_rule(p, "VIDPN-083") == 2 &&
                                probe_record(p, "VIDPN-083")->severity == VERIFY_NOTE);
}

TEST_WITH(vidpn, formats_of_a_display_only_driver)
{
    static const int others[] = {D3DDDIFMT_UNKNOWN,     D3DDDIFMT_R5G6B5,        D3DDDIFMT_R8G8B8,
                                 D3DDDIFMT_A8B8G8R8,    D3DDDIFMT_X8B8G8R8,      D3DDDIFMT_P8,
                                 D3DDDIFMT_A2R10G10B10, D3DDDIFMT_A16B16G16R16F, 0x12345};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK_RULE("VIDPN-084", SOURCE(STATUS_GRAPHICS_INVALID_PIXELFORMAT,
                                       GRAPHICS.PixelFormat = (D3DDDIFORMAT)others[i]));
    CHECK_RULE("VIDPN-084", SOURCE(STATUS_SUCCESS, GRAPHICS.PixelFormat = D3DDDIFMT_A8R8G8B8) &&
                                SOURCE(STATUS_SUCCESS, GRAPHICS.PixelFormat = D3DDDIFMT_X8R8G8B8));
    (void)p;
}

TEST_WITH(vidpn, colors)
{
    const NTSTATUS basis = STATUS_GRAPHICS_INVALID_COLORBASIS,
                   access = STATUS_GRAPHICS_INVALID_PIXELVALUEACCESSMODE;

    CHECK_RULE("VIDPN-085", SOURCE(STATUS_SUCCESS, GRAPHICS.ColorBasis = D3DKMDT_CB_YPBPR) &&
                                SOURCE(basis, GRAPHICS.ColorBasis = (D3DKMDT_COLOR_BASIS)6) &&
                                SOURCE(basis, GRAPHICS.ColorBasis = (D3DKMDT_COLOR_BASIS)-1) &&
                                probe_rule(p, "VIDPN-085") == 0);
    CHECK_RULE("VIDPN-085", SOURCE(STATUS_SUCCESS, GRAPHICS.ColorBasis = D3DKMDT_CB_UNINITIALIZED) &&
                                probe_rule(p, "VIDPN-085") == 1 &&
                                probe_record(p, "VIDPN-085")->severity == VERIFY_NOTE);
    CHECK_RULE(
        "VIDPN-085",
        SOURCE(access, GRAPHICS.PixelValueAccessMode = D3DKMDT_PVAM_UNINITIALIZED) &&
            SOURCE(access, GRAPHICS.PixelValueAccessMode = (D3DKMDT_PIXEL_VALUE_ACCESS_MODE)4) &&
            SOURCE(access, GRAPHICS.PixelValueAccessMode = D3DKMDT_PVAM_PRESETPALETTE) &&
            SOURCE(access, GRAPHICS.PixelValueAccessMode = D3DKMDT_PVAM_SETTABLEPALETTE));
}

/* ---- target modes ---- */

#define TARGET(wanted, change)                                        \
    __extension__({                                                   \
        target_mode m = display_target_mode(1024, 768);               \
                                                                      \
        change;                                                       \
        vidpn_try_target(h, DISPLAY_CHILD, &m) == (NTSTATUS)(wanted); \
    })
#define SIGNAL m.VideoSignalInfo
#define SIZE(x, y)     \
    (D3DKMDT_2DREGION) \
    {                  \
        x, y           \
    }
#define RATE(n, d)    \
    (D3DDDI_RATIONAL) \
    {                 \
        n, d          \
    }

TEST_WITH(vidpn, total_sizes)
{
    const NTSTATUS total = STATUS_GRAPHICS_INVALID_TOTAL_REGION;

    CHECK_RULE("VIDPN-094", TARGET(total, SIGNAL.TotalSize = SIZE(0, 0)) &&
                                TARGET(total, SIGNAL.TotalSize.cx = 0) &&
                                TARGET(total, SIGNAL.TotalSize.cy = 0) &&
                                TARGET(total, SIGNAL.TotalSize.cx = NONE) &&
                                TARGET(total, SIGNAL.TotalSize.cy = NONE) &&
                                TARGET(total, SIGNAL.TotalSize.cx = 65536) &&
                                TARGET(total, SIGNAL.TotalSize.cy = 65536) &&
                                TARGET(STATUS_SUCCESS, SIGNAL.TotalSize = SIZE(65535, 65535)));
    CHECK_RULE("VIDPN-094", TARGET(STATUS_SUCCESS, SIGNAL.TotalSize = SIZE(OPEN, OPEN)) &&
                                TARGET(total, SIGNAL.TotalSize.cx = OPEN) &&
                                TARGET(total, SIGNAL.TotalSize.cy = OPEN));
    CHECK_RULE("VIDPN-094", TARGET(total,
                                   {
                                       SIGNAL.TotalSize = SIZE(OPEN, OPEN);
                                       SIGNAL.ActiveSize = SIZE(OPEN, OPEN);
                                   }) &&
                                TARGET(total, {
                                    SIGNAL.TotalSize = SIZE(OPEN, OPEN);
                                    SIGNAL.ActiveSize = SIZE(0, 0);
                                }));
    (void)p;
}

TEST_WITH(vidpn, active_sizes)
{
    const NTSTATUS active = STATUS_GRAPHICS_INVALID_ACTIVE_REGION;

    CHECK_RULE("VIDPN-095/b", TARGET(active, SIGNAL.ActiveSize = SIZE(0, 768)) &&
                                  TARGET(active, SIGNAL.ActiveSize = SIZE(1024, 0)) &&
                                  TARGET(active, SIGNAL.ActiveSize.cx = 1025) &&
                                  TARGET(active, SIGNAL.ActiveSize.cy = 769) &&
                                  TARGET(active, SIGNAL.ActiveSize.cx = NONE) &&
                                  TARGET(active, SIGNAL.ActiveSize = SIZE(NONE, NONE)) &&
                                  TARGET(active, SIGNAL.ActiveSize.cx = OPEN));
    CHECK_RULE("VIDPN-095/b", TARGET(STATUS_SUCCESS, SIGNAL.ActiveSize = SIZE(1023, 767)) &&
                                  probe_rule(p, "VIDPN-095") == 0);
    CHECK_RULE("VIDPN-095/b", TARGET(active,
                                     {
                                         SIGNAL.TotalSize = SIZE(OPEN, OPEN);
                                         SIGNAL.ActiveSize.cx = 65536;
                                     }) &&
                                  TARGET(active, {
                                      SIGNAL.TotalSize = SIZE(OPEN, OPEN);
                                      SIGNAL.ActiveSize.cy = 65536;
                                  }));
    CHECK_RULE("VIDPN-095/a", TARGET(STATUS_SUCCESS, SIGNAL.ActiveSize = SIZE(0, 0)) &&
                                  probe_rule(p, "VIDPN-095") == 1 &&
                                  probe_record(p, "VIDPN-095")->severity == VERIFY_NOTE);
    CHECK_RULE("VIDPN-095/a", TARGET(STATUS_SUCCESS, SIGNAL.ActiveSize = SIZE(OPEN, OPEN)) &&
                                  probe_rule(p, "VIDPN-095") == 2);
}

#define BAD_RATES(member)                                      \
    TARGET(frequency, SIGNAL.member = RATE(60, 0)) &&          \
        TARGET(frequency, SIGNAL.member = RATE(0, 1)) &&       \
        TARGET(frequency, SIGNAL.member = RATE(0, 0)) &&       \
        TARGET(frequency, SIGNAL.member = RATE(NONE, NONE)) && \
        TARGET(frequency, SIGNAL.member = RATE(NONE, 1)) &&    \
        TARGET(frequency, SIGNAL.member = RATE(60, NONE)) &&   \
        TARGET(frequency, SIGNAL.member = RATE(OPEN, 1)) &&    \
        TARGET(frequency, SIGNAL.member = RATE(60, OPEN))

TEST_WITH(vidpn, frequencies)
{
    const NTSTATUS frequency = STATUS_GRAPHICS_INVALID_FREQUENCY;

    CHECK_RULE("VIDPN-096/a", BAD_RATES(VSyncFreq));
    CHECK_RULE("VIDPN-096/a", BAD_RATES(HSyncFreq));
    CHECK_RULE("VIDPN-096/b", TARGET(STATUS_SUCCESS, SIGNAL.VSyncFreq = RATE(OPEN, OPEN)) &&
                                  probe_rule(p, "PRES-195") == 0);
    CHECK_RULE("VIDPN-096/a", TARGET(frequency,
                                     {
                                         SIGNAL.VSyncFreq = RATE(60, 1);
                                         SIGNAL.HSyncFreq = RATE(59, 1);
                                     }) &&
                                  TARGET(STATUS_SUCCESS, {
                                      SIGNAL.VSyncFreq = RATE(60, 1);
                                      SIGNAL.HSyncFreq = RATE(61, 1);
                                  }));
    CHECK_RULE("VIDPN-096/c", TARGET(frequency, SIGNAL.VSyncFreq = RATE(1, 0xFFFFFFFD)) &&
                                  TARGET(frequency, SIGNAL.VSyncFreq = RATE(999, 1000)) &&
                                  TARGET(frequency, SIGNAL.VSyncFreq = RATE(10001, 1)) &&
                                  TARGET(frequency, SIGNAL.VSyncFreq = RATE(0xFFFFFFFD, 429496)) &&
                                  TARGET(STATUS_SUCCESS, SIGNAL.VSyncFreq = RATE(7, 7)) &&
                                  TARGET(STATUS_SUCCESS, SIGNAL.VSyncFreq = RATE(10000, 1)));
    /* of rationals that are not reduced, whose parts alone would tell the contrary */
    CHECK_RULE("VIDPN-097", TARGET(STATUS_SUCCESS,
                                   {
                                       SIGNAL.VSyncFreq = RATE(148500000, 2475000);
                                       SIGNAL.HSyncFreq = RATE(60, 1);
                                   }) &&
                                TARGET(STATUS_SUCCESS,
                                       {
                                           SIGNAL.VSyncFreq = RATE(60, 1);
                                           SIGNAL.HSyncFreq = RATE(148500000, 2475000);
                                       }) &&
                                TARGET(frequency,
                                       {
                                           SIGNAL.VSyncFreq = RATE(60, 1);
                                           SIGNAL.HSyncFreq = RATE(148499999, 2475000);
                                       }) &&
                                TARGET(frequency, {
                                    SIGNAL.VSyncFreq = RATE(148500001, 2475000);
                                    SIGNAL.HSyncFreq = RATE(60, 1);
                                }));
    CHECK_RULE("VIDPN-098", TARGET(frequency, SIGNAL.PixelRate = 0) &&
                                TARGET(frequency, SIGNAL.PixelRate = NONE) &&
                                TARGET(STATUS_SUCCESS, SIGNAL.PixelRate = OPEN) &&
                                TARGET(STATUS_SUCCESS, SIGNAL.PixelRate = 1));
}

static bool agrees(const struct hands *h, struct probe *p, UINT order, SIZE_T rate, UINT lines,
                   UINT frames)
{
    const uint64_t before = probe_rule(p, "VIDPN-099");
    const bool accepted = TARGET(STATUS_SUCCESS, {
        SIGNAL.TotalSize = SIZE(2000, 1000);
        SIGNAL.PixelRate = rate;
        SIGNAL.HSyncFreq = RATE(lines, 1);
        SIGNAL.VSyncFreq = RATE(frames, 1);
        SIGNAL.AdditionalSignalInfo.ScanLineOrdering = (D3DDDI_VIDEO_SIGNAL_SCANLINE_ORDERING)order;
    });

    CHECK(accepted);
    return probe_rule(p, "VIDPN-099") == before;
}

TEST_WITH(vidpn, timings_agree)
{
    const UINT plain = D3DDDI_VSSLO_PROGRESSIVE;

    CHECK_RULE("VIDPN-099", agrees(h, p, plain, 120000000, 60000, 60) &&
                                agrees(h, p, plain, 121200000, 60000, 60) &&
                                agrees(h, p, plain, 118800000, 60000, 60) &&
                                agrees(h, p, plain, 121200000, 60600, 60));
    CHECK_RULE("VIDPN-099", !agrees(h, p, plain, 121300000, 60000, 60) &&
                                !agrees(h, p, plain, 118700000, 60000, 60) &&
                                !agrees(h, p, plain, 2000 * 60700, 60700, 60) &&
                                !agrees(h, p, plain, 2000 * 59300, 59300, 60) &&
                                probe_record(p, "VIDPN-099")->severity == VERIFY_NOTE);
    CHECK_RULE("VIDPN-099",
               agrees(h, p, D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST, 2000 * 30000, 30000, 60) &&
                   agrees(h, p, D3DDDI_VSSLO_INTERLACED_LOWERFIELDFIRST, 2000 * 30000, 30000, 60) &&
                   !agrees(h, p, D3DDDI_VSSLO_INTERLACED_LOWERFIELDFIRST, 2000 * 60000, 60000, 60));
    CHECK_RULE("VIDPN-099", TARGET(STATUS_SUCCESS, {
                   SIGNAL.PixelRate = 148500000;
                   SIGNAL.HSyncFreq = RATE(67500, 1);
                   SIGNAL.VSyncFreq = RATE(60, 1);
               }));
}

#define ORDER(value) \
    SIGNAL.AdditionalSignalInfo.ScanLineOrdering = (D3DDDI_VIDEO_SIGNAL_SCANLINE_ORDERING)(value)

TEST_WITH(vidpn, scan_lines)
{
    const NTSTATUS refused = STATUS_GRAPHICS_INVALID_SCANLINE_ORDERING;

    CHECK_RULE("VIDPN-100",
               TARGET(STATUS_SUCCESS, ORDER(D3DDDI_VSSLO_PROGRESSIVE)) &&
                   TARGET(STATUS_SUCCESS, ORDER(D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST)) &&
                   TARGET(STATUS_SUCCESS, ORDER(D3DDDI_VSSLO_INTERLACED_LOWERFIELDFIRST)) &&
                   TARGET(STATUS_SUCCESS, ORDER(7)));
    CHECK_RULE("VIDPN-101", TARGET(refused, ORDER(D3DDDI_VSSLO_UNINITIALIZED)) &&
                                TARGET(refused, ORDER(4)) && TARGET(refused, ORDER(6)) &&
                                probe_rule(p, "VIDPN-101") == 0);
    CHECK_RULE("VIDPN-101", TARGET(STATUS_SUCCESS, SIGNAL.AdditionalSignalInfo.Reserved = 1) &&
                                probe_rule(p, "VIDPN-101") == 1 &&
                                probe_record(p, "VIDPN-101")->severity == VERIFY_WARNING);
}

/* Before WDDM 1.3 the word is the ordering, and nothing else. */
TEST_WITH(vidpn, scan_lines_of_old, .version = DXGKDDI_INTERFACE_VERSION_WIN8)
{
    const NTSTATUS refused = STATUS_GRAPHICS_INVALID_SCANLINE_ORDERING;

#define WHOLE(value) SIGNAL.ScanLineOrdering = (D3DDDI_VIDEO_SIGNAL_SCANLINE_ORDERING)(value)
    CHECK_RULE("VIDPN-100", TARGET(STATUS_SUCCESS, WHOLE(D3DDDI_VSSLO_PROGRESSIVE)) &&
                                TARGET(STATUS_SUCCESS, WHOLE(3)) &&
                                TARGET(STATUS_SUCCESS, WHOLE(D3DDDI_VSSLO_OTHER)));
    CHECK_RULE("VIDPN-101", TARGET(refused, WHOLE(0)) && TARGET(refused, WHOLE(4)) &&
                                TARGET(refused, WHOLE(7)) && TARGET(refused, WHOLE(0x101)) &&
                                TARGET(refused, WHOLE(254)));
    (void)p;
}

static void has_miracast(struct probe *p)
{
    display.outputs = 2;
    p->child[1] = (DXGK_CHILD_DESCRIPTOR){.ChildDeviceType = TypeVideoOutput,
                                          .ChildUid = DISPLAY_CHILD + 1};
    p->child[1].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    p->child[1].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_MIRACAST;
    p->child[1].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
}

TEST_WITH(vidpn, dividers, .prepare = has_miracast)
{
    target_mode mode = display_target_mode(1024, 768);

    CHECK_RULE("VIDPN-102/a",
               TARGET(STATUS_SUCCESS, SIGNAL.AdditionalSignalInfo.VSyncFreqDivider = 2) &&
                   probe_rule(p, "VIDPN-102") == 1 &&
                   probe_record(p, "VIDPN-102")->severity == VERIFY_WARNING);
    CHECK_RULE("VIDPN-102/a", TARGET(STATUS_SUCCESS, SIGNAL.VSyncFreq = RATE(238, 10)) &&
                                  probe_rule(p, "VIDPN-102") == 1);
    mode.VideoSignalInfo.AdditionalSignalInfo.VSyncFreqDivider = 2;
    mode.VideoSignalInfo.VSyncFreq = RATE(238, 10);
    CHECK_RULE("VIDPN-102/b",
               vidpn_try_target(h, DISPLAY_CHILD + 1, &mode) == STATUS_GRAPHICS_INVALID_FREQUENCY);
    mode.VideoSignalInfo.VSyncFreq = RATE(239, 10);
    CHECK_RULE("VIDPN-102/b", vidpn_try_target(h, DISPLAY_CHILD + 1, &mode) == STATUS_SUCCESS &&
                                  probe_rule(p, "VIDPN-102") == 1);
}

/* In a driver of 1.2 there is no divider. */
TEST_WITH(vidpn, no_dividers_of_old, .version = DXGKDDI_INTERFACE_VERSION_WIN8)
{
    CHECK_RULE("VIDPN-102/a", TARGET(STATUS_GRAPHICS_INVALID_SCANLINE_ORDERING,
                                     SIGNAL.AdditionalSignalInfo.VSyncFreqDivider = 2) &&
                                  TARGET(STATUS_SUCCESS, WHOLE(D3DDDI_VSSLO_OTHER)) &&
                                  probe_rule(p, "VIDPN-102") == 0);
}

TEST_WITH(vidpn, standards_and_preferences)
{
    const NTSTATUS refused = STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE;

#define STANDARD(value) SIGNAL.VideoStandard = (D3DKMDT_VIDEO_SIGNAL_STANDARD)(value)
    CHECK_RULE("VIDPN-103", TARGET(refused, STANDARD(0)) && TARGET(refused, STANDARD(32)) &&
                                TARGET(refused, STANDARD(254)) && TARGET(refused, STANDARD(256)) &&
                                TARGET(STATUS_SUCCESS, STANDARD(1)) &&
                                TARGET(STATUS_SUCCESS, STANDARD(31)));
    CHECK_RULE("VIDPN-103", TARGET(STATUS_SUCCESS, m.Preference = D3DKMDT_MP_PREFERRED) &&
                                TARGET(STATUS_SUCCESS, m.Preference = D3DKMDT_MP_NOTPREFERRED) &&
                                probe_rule(p, "VIDPN-103") == 0);
    CHECK_RULE("VIDPN-103", TARGET(STATUS_SUCCESS, m.Preference = D3DKMDT_MP_UNINITIALIZED) &&
                                probe_rule(p, "VIDPN-103") == 1 &&
                                probe_record(p, "VIDPN-103")->severity == VERIFY_WARNING);
}

/* What a mode in a set says after it was added. */
static target_mode kept(const struct hands *h, const target_mode *mode)
{
    const D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, DISPLAY_CHILD);
    const target_mode *got;
    target_mode *fresh, copy;
    UINT id;

    CHECK(NT_SUCCESS(h->g->pfnCreateNewModeInfo(set, &fresh)));
    id = fresh->Id;
    *fresh = *mode;
    fresh->Id = id;
    CHECK(NT_SUCCESS(h->g->pfnAddMode(set, fresh)));
    CHECK(NT_SUCCESS(h->g->pfnAcquireFirstModeInfo(set, &got)));
    copy = *got;
    CHECK(NT_SUCCESS(h->g->pfnReleaseModeInfo(set, got)));
    CHECK(NT_SUCCESS(h->v->pfnReleaseTargetModeSet(h->vidpn, set)));
    return copy;
}

TEST_WITH(vidpn, no_preference_counts_as_not_preferred)
{
    target_mode mode = display_target_mode(1024, 768);

    mode.Preference = D3DKMDT_MP_UNINITIALIZED;
    CHECK_RULE("VIDPN-103", kept(h, &mode).Preference == D3DKMDT_MP_NOTPREFERRED);
    mode.Preference = D3DKMDT_MP_PREFERRED;
    CHECK_RULE("VIDPN-103", kept(h, &mode).Preference == D3DKMDT_MP_PREFERRED);
    (void)p;
}

/* Two modes of the same size, told apart by their standards. */
static void prefers_the_second(struct probe *p)
{
    (void)p;
    for (UINT i = 0; i < 3; i++) {
        display.target_mode[i] = display_target_mode(1024, 768);
        display.target_mode[i].VideoSignalInfo.VideoStandard =
            (D3DKMDT_VIDEO_SIGNAL_STANDARD)(D3DKMDT_VSS_VESA_DMT + i);
    }
    display.target_mode[1].Preference = D3DKMDT_MP_PREFERRED;
    display.target_modes = 3;
}

static void second_is_pinned(struct probe *p, struct hands *h)
{
    const target_mode *pinned;

    (void)p;
    CHECK(h->g->pfnAcquirePinnedModeInfo(h->target, &pinned) == STATUS_SUCCESS && pinned);
    CHECK_RULE("VIDPN-104", pinned->VideoSignalInfo.VideoStandard == D3DKMDT_VSS_VESA_GTF);
    CHECK(h->g->pfnReleaseModeInfo(h->target, pinned) == STATUS_SUCCESS);
}

TEST_WITH(vidpn, preferred_mode_is_chosen, .prepare = prefers_the_second,
          .in_commit = second_is_pinned)
{
    (void)p;
    (void)h;
}

TEST_WITH(vidpn, wire_formats)
{
#define WIRE m.WireFormatAndPreference
    CHECK_RULE("VIDPN-106", TARGET(STATUS_SUCCESS, WIRE.Rgb = 2) && probe_rule(p, "VIDPN-106") == 0);
    for (UINT i = 0; i < 4; i++)
        CHECK_RULE("VIDPN-106", TARGET(STATUS_SUCCESS,
                                       {
                                           WIRE.Rgb = 0;
                                           WIRE.YCbCr444 = i == 0;
                                           WIRE.YCbCr422 = i == 1;
                                           WIRE.YCbCr420 = i == 2;
                                           WIRE.Intensity = i == 3;
                                       }) &&
                                    probe_rule(p, "VIDPN-106") == 0);
    CHECK_RULE("VIDPN-106", TARGET(STATUS_SUCCESS, WIRE.Rgb = 0) &&
                                probe_rule(p, "VIDPN-106") == 1 &&
                                probe_record(p, "VIDPN-106")->severity == VERIFY_NOTE);
}

TEST_WITH(vidpn, no_wire_formats_of_old, .version = DXGKDDI_INTERFACE_VERSION_WDDM1_3)
{
    target_mode mode = display_target_mode(1024, 768);

    mode.WireFormatAndPreference.Value = D3DKMDT_MP_PREFERRED;
    CHECK_RULE("VIDPN-106", kept(h, &mode).WireFormatAndPreference.Value == D3DKMDT_MP_PREFERRED &&
                                probe_rule(p, "VIDPN-106") == 0);
    mode.WireFormatAndPreference.Rgb = 2; /* by a driver that was built with later headers */
    CHECK_RULE("VIDPN-106", kept(h, &mode).WireFormatAndPreference.Value == D3DKMDT_MP_PREFERRED &&
                                probe_rule(p, "VIDPN-106") == 0);
}

#define LEAST m.MinimumVSyncFreq

TEST_WITH(vidpn, least_frequency)
{
    target_mode mode = display_target_mode(1024, 768);

    mode.VideoSignalInfo.VSyncFreq = RATE(60, 1);
    mode.MinimumVSyncFreq = RATE(48000, 1000);
    CHECK_RULE("VIDPN-107", TARGET(STATUS_SUCCESS, LEAST = RATE(0, 0)) &&
                                kept(h, &mode).MinimumVSyncFreq.Numerator == 48000 &&
                                probe_rule(p, "VIDPN-107") == 0);
    mode.MinimumVSyncFreq = RATE(60, 1);
    CHECK_RULE("VIDPN-107",
               kept(h, &mode).MinimumVSyncFreq.Numerator == 60 && probe_rule(p, "VIDPN-107") == 0);
    mode.MinimumVSyncFreq = RATE(60001, 1000);
    CHECK_RULE("VIDPN-107", kept(h, &mode).MinimumVSyncFreq.Numerator == 0 &&
                                probe_rule(p, "VIDPN-107") == 1 &&
                                probe_record(p, "VIDPN-107")->severity == VERIFY_WARNING);
    CHECK_RULE("VIDPN-107",
               TARGET(STATUS_SUCCESS, LEAST = RATE(0, 1)) && probe_rule(p, "VIDPN-107") == 2);
    CHECK_RULE("VIDPN-107",
               TARGET(STATUS_SUCCESS, LEAST = RATE(30, 0)) && probe_rule(p, "VIDPN-107") == 3);
}

TEST_WITH(vidpn, no_least_frequency_of_old, .version = DXGKDDI_INTERFACE_VERSION_WDDM2_6)
{
    CHECK_RULE("VIDPN-107",
               TARGET(STATUS_SUCCESS, LEAST = RATE(30, 0)) && probe_rule(p, "VIDPN-107") == 0);
}
