/* SPDX-License-Identifier: MIT */
#include "modes/mode_check.h"
#include "modes/modes.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#define MOST_SURFACE 32768u
#define MOST_SIGNAL  65535u
#define NOT_GIVEN    D3DKMDT_FREQUENCY_NOTSPECIFIED  /* also D3DKMDT_DIMENSION_NOTSPECIFIED */
#define NOT_SET      D3DKMDT_FREQUENCY_UNINITIALIZED /* also D3DKMDT_DIMENSION_UNINITIALIZED */

_Static_assert(D3DKMDT_FREQUENCY_NOTSPECIFIED == D3DKMDT_DIMENSION_NOTSPECIFIED, "");
_Static_assert(D3DKMDT_FREQUENCY_UNINITIALIZED == D3DKMDT_DIMENSION_UNINITIALIZED, "");

/* ---- source modes ---- */

UINT mode_pixel_bytes(D3DDDIFORMAT format)
{
    switch ((int)format) {
    case D3DDDIFMT_A16B16G16R16:
    case D3DDDIFMT_A16B16G16R16F:
        return 8;
    case D3DDDIFMT_A8R8G8B8:
    case D3DDDIFMT_X8R8G8B8:
    case D3DDDIFMT_A8B8G8R8:
    case D3DDDIFMT_X8B8G8R8:
    case D3DDDIFMT_A2B10G10R10:
    case D3DDDIFMT_A2R10G10B10:
    case D3DDDIFMT_A2B10G10R10_XR_BIAS:
    case D3DDDIFMT_G16R16:
        return 4;
    case D3DDDIFMT_R8G8B8:
        return 3;
    case D3DDDIFMT_R5G6B5:
    case D3DDDIFMT_X1R5G5B5:
    case D3DDDIFMT_A1R5G5B5:
    case D3DDDIFMT_A4R4G4B4:
    case D3DDDIFMT_X4R4G4B4:
    case D3DDDIFMT_A8R3G3B2:
    case D3DDDIFMT_A8P8:
        return 2;
    case D3DDDIFMT_R3G3B2:
    case D3DDDIFMT_A8:
    case D3DDDIFMT_P8:
        return 1;
    default:
        return 0;
    }
}

static NTSTATUS check_type(const struct modes *modes, D3DKMDT_VIDPN_SOURCE_MODE_TYPE type)
{
    const bool stereo = type == D3DKMDT_RMT_GRAPHICS_STEREO ||
                        type == D3DKMDT_RMT_GRAPHICS_STEREO_ADVANCED_SCAN;

    if (type == D3DKMDT_RMT_GRAPHICS || (stereo && modes->version >= DXGKDDI_INTERFACE_VERSION_WIN8))
        return STATUS_SUCCESS;
    return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE, "VIDPN-081",
                  "Type of the source mode is %d%s", (int)type,
                  stereo ? ", which WDDM 1.2 brought" : "");
}

static NTSTATUS check_sizes(const D3DKMDT_GRAPHICS_RENDERING_FORMAT *f)
{
    const D3DKMDT_2DREGION *all = &f->PrimSurfSize, *seen = &f->VisibleRegionSize;

    if (!all->cx || !all->cy || all->cx > MOST_SURFACE || all->cy > MOST_SURFACE)
        return refuse(STATUS_GRAPHICS_INVALID_PRIMARYSURFACE_SIZE, "VIDPN-082",
                      "PrimSurfSize is %u x %u", all->cx, all->cy);
    if (!seen->cx || !seen->cy || seen->cx > all->cx || seen->cy > all->cy)
        return refuse(STATUS_GRAPHICS_INVALID_VISIBLEREGION_SIZE, "VIDPN-082",
                      "VisibleRegionSize is %u x %u, of a surface of %u x %u", seen->cx, seen->cy,
                      all->cx, all->cy);
    return STATUS_SUCCESS;
}

static NTSTATUS check_format(const struct modes *modes, const D3DKMDT_GRAPHICS_RENDERING_FORMAT *f)
{
    const UINT bytes = mode_pixel_bytes(f->PixelFormat);

    if (!bytes || (modes->display_only && f->PixelFormat != D3DDDIFMT_A8R8G8B8 &&
                   f->PixelFormat != D3DDDIFMT_X8R8G8B8))
        return refuse(STATUS_GRAPHICS_INVALID_PIXELFORMAT, "VIDPN-084", "PixelFormat is %d%s",
                      (int)f->PixelFormat,
                      bytes ? ", of a display-only driver, which has A8R8G8B8 and X8R8G8B8" : "");
    if (!f->Stride)
        return refuse(STATUS_GRAPHICS_INVALID_STRIDE, "VIDPN-083", "Stride is 0");
    if (f->Stride < (uint64_t)f->PrimSurfSize.cx * bytes)
        NOTE("VIDPN-083", "Stride is %u, below the %u pixels of %u bytes of a line",
             (unsigned)f->Stride, f->PrimSurfSize.cx, bytes);
    return STATUS_SUCCESS;
}

static NTSTATUS check_colors(const D3DKMDT_GRAPHICS_RENDERING_FORMAT *f)
{
    const bool palette = f->PixelValueAccessMode != D3DKMDT_PVAM_DIRECT;

    if ((UINT)f->ColorBasis > D3DKMDT_CB_YPBPR)
        return refuse(STATUS_GRAPHICS_INVALID_COLORBASIS, "VIDPN-085", "ColorBasis is %d",
                      (int)f->ColorBasis);
    if (f->ColorBasis == D3DKMDT_CB_UNINITIALIZED)
        NOTE("VIDPN-085", "ColorBasis of a source mode is D3DKMDT_CB_UNINITIALIZED");
    if (f->PixelValueAccessMode == D3DKMDT_PVAM_UNINITIALIZED ||
        (UINT)f->PixelValueAccessMode > D3DKMDT_PVAM_SETTABLEPALETTE ||
        palette != (f->PixelFormat == D3DDDIFMT_P8))
        return refuse(STATUS_GRAPHICS_INVALID_PIXELVALUEACCESSMODE, "VIDPN-085",
                      "PixelValueAccessMode is %d, with PixelFormat %d",
                      (int)f->PixelValueAccessMode, (int)f->PixelFormat);
    return STATUS_SUCCESS;
}

static NTSTATUS check_source(const struct modes *modes, const D3DKMDT_VIDPN_SOURCE_MODE *mode)
{
    NTSTATUS status = check_type(modes, mode->Type);

    if (NT_SUCCESS(status))
        status = check_sizes(&mode->Format.Graphics);
    if (NT_SUCCESS(status))
        status = check_format(modes, &mode->Format.Graphics);
    return NT_SUCCESS(status) ? check_colors(&mode->Format.Graphics) : status;
}

/* ---- signals ---- */

bool mode_follows_source(const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    return (s->ActiveSize.cx == 0 && s->ActiveSize.cy == 0) ||
           (s->ActiveSize.cx == NOT_GIVEN && s->ActiveSize.cy == NOT_GIVEN);
}

bool mode_frequency_given(const D3DDDI_RATIONAL *f)
{
    return f->Numerator != NOT_GIVEN || f->Denominator != NOT_GIVEN;
}

bool mode_rates_equal(const D3DDDI_RATIONAL *a, const D3DDDI_RATIONAL *b)
{
    return (uint64_t)a->Numerator * b->Denominator == (uint64_t)b->Numerator * a->Denominator;
}

D3DDDIFORMAT mode_without_alpha(D3DDDIFORMAT format)
{
    return format == D3DDDIFMT_A8R8G8B8   ? D3DDDIFMT_X8R8G8B8
           : format == D3DDDIFMT_A8B8G8R8 ? D3DDDIFMT_X8B8G8R8
                                          : format;
}

bool mode_region_given(const D3DKMDT_2DREGION *size)
{
    return size->cx != NOT_GIVEN || size->cy != NOT_GIVEN;
}

static NTSTATUS check_regions(const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    const D3DKMDT_2DREGION *total = &s->TotalSize, *active = &s->ActiveSize;
    const bool open = !mode_region_given(total);

    if (!open && (!total->cx || !total->cy || total->cx > MOST_SIGNAL || total->cy > MOST_SIGNAL))
        return refuse(STATUS_GRAPHICS_INVALID_TOTAL_REGION, "VIDPN-094", "TotalSize is %u x %u",
                      total->cx, total->cy);
    if (mode_follows_source(s)) {
        if (open)
            return refuse(STATUS_GRAPHICS_INVALID_TOTAL_REGION, "VIDPN-094",
                          "neither TotalSize nor ActiveSize is specified");
        NOTE("VIDPN-095", "ActiveSize of a mode is not specified; the signal follows the source");
        return STATUS_SUCCESS;
    }
    if (!active->cx || !active->cy || active->cx == NOT_SET || active->cy == NOT_SET ||
        active->cx > (open ? MOST_SIGNAL : total->cx) ||
        active->cy > (open ? MOST_SIGNAL : total->cy))
        return refuse(STATUS_GRAPHICS_INVALID_ACTIVE_REGION, "VIDPN-095",
                      "ActiveSize is %u x %u, with a TotalSize of %u x %u", active->cx, active->cy,
                      total->cx, total->cy);
    return STATUS_SUCCESS;
}

static NTSTATUS check_frequency(const char *name, const D3DDDI_RATIONAL *f)
{
    if (!mode_frequency_given(f))
        return STATUS_SUCCESS;
    if (!f->Numerator || !f->Denominator || f->Numerator >= NOT_GIVEN || f->Denominator >= NOT_GIVEN)
        return refuse(STATUS_GRAPHICS_INVALID_FREQUENCY, "VIDPN-096", "%s is 0x%x / 0x%x", name,
                      f->Numerator, f->Denominator);
    return STATUS_SUCCESS;
}

/* What no display has, and no clock of a machine can follow. */
static NTSTATUS check_rate(const D3DDDI_RATIONAL *f)
{
    if (mode_frequency_given(f) && (f->Numerator < f->Denominator ||
                                    f->Numerator > (uint64_t)f->Denominator * MODE_MOST_HERTZ))
        return refuse(STATUS_GRAPHICS_INVALID_FREQUENCY, "VIDPN-096",
                      "VSyncFreq is %u / %u; it is 1 to %u Hz", f->Numerator, f->Denominator,
                      MODE_MOST_HERTZ);
    return STATUS_SUCCESS;
}

/* VIDPN-097: by cross multiplication. */
static bool is_below(const D3DDDI_RATIONAL *a, const D3DDDI_RATIONAL *b)
{
    return (uint64_t)a->Numerator * b->Denominator < (uint64_t)b->Numerator * a->Denominator;
}

static double hertz(const D3DDDI_RATIONAL *f)
{
    return (double)f->Numerator / f->Denominator;
}

static bool agrees(double a, double b)
{
    return a - b <= b / 100 && b - a <= b / 100;
}

static bool is_interlaced(const struct modes *modes, const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    const UINT order = modes->version >= DXGKDDI_INTERFACE_VERSION_WDDM1_3
                           ? s->AdditionalSignalInfo.ScanLineOrdering
                           : (UINT)s->ScanLineOrdering;

    return order == D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST ||
           order == D3DDDI_VSSLO_INTERLACED_LOWERFIELDFIRST;
}

/* VIDPN-099 */
static void compare_timings(const struct modes *modes, const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    const bool vsync = mode_frequency_given(&s->VSyncFreq);
    const double lines = s->TotalSize.cy / (is_interlaced(modes, s) ? 2.0 : 1.0);

    if (!mode_region_given(&s->TotalSize) || !mode_frequency_given(&s->HSyncFreq))
        return;
    if ((s->PixelRate != NOT_GIVEN &&
         !agrees((double)s->PixelRate, hertz(&s->HSyncFreq) * s->TotalSize.cx)) ||
        (vsync && !agrees(hertz(&s->HSyncFreq), hertz(&s->VSyncFreq) * lines)))
        NOTE("VIDPN-099",
             "pixel rate %llu, %u / %u lines a second and %u / %u frames do not agree with a total "
             "size of %u x %u",
             (unsigned long long)s->PixelRate, s->HSyncFreq.Numerator, s->HSyncFreq.Denominator,
             s->VSyncFreq.Numerator, s->VSyncFreq.Denominator, s->TotalSize.cx, s->TotalSize.cy);
}

static NTSTATUS check_frequencies(const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    NTSTATUS status = check_frequency("VSyncFreq", &s->VSyncFreq);

    if (NT_SUCCESS(status))
        status = check_frequency("HSyncFreq", &s->HSyncFreq);
    if (NT_SUCCESS(status))
        status = check_rate(&s->VSyncFreq);
    if (!NT_SUCCESS(status))
        return status;
    if (mode_frequency_given(&s->VSyncFreq) && mode_frequency_given(&s->HSyncFreq) &&
        is_below(&s->HSyncFreq, &s->VSyncFreq))
        return refuse(STATUS_GRAPHICS_INVALID_FREQUENCY, "VIDPN-096",
                      "HSyncFreq %u / %u is below VSyncFreq %u / %u", s->HSyncFreq.Numerator,
                      s->HSyncFreq.Denominator, s->VSyncFreq.Numerator, s->VSyncFreq.Denominator);
    if (!s->PixelRate || s->PixelRate == NOT_SET)
        return refuse(STATUS_GRAPHICS_INVALID_FREQUENCY, "VIDPN-098", "PixelRate is 0x%llx",
                      (unsigned long long)s->PixelRate);
    return STATUS_SUCCESS;
}

static NTSTATUS check_scan_lines(const struct modes *modes, const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    const bool narrow = modes->version >= DXGKDDI_INTERFACE_VERSION_WDDM1_3;
    const UINT order = narrow ? s->AdditionalSignalInfo.ScanLineOrdering : (UINT)s->ScanLineOrdering;
    const UINT other = narrow ? 7 : D3DDDI_VSSLO_OTHER;

    if (order == D3DDDI_VSSLO_UNINITIALIZED ||
        (order > D3DDDI_VSSLO_INTERLACED_LOWERFIELDFIRST && order != other))
        return refuse(STATUS_GRAPHICS_INVALID_SCANLINE_ORDERING, "VIDPN-101",
                      "ScanLineOrdering is %u", order);
    if (narrow && s->AdditionalSignalInfo.Reserved)
        WARNING("VIDPN-101", "reserved bits of AdditionalSignalInfo are 0x%x",
                s->AdditionalSignalInfo.Reserved);
    return STATUS_SUCCESS;
}

static NTSTATUS check_signal(const struct modes *modes, const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    NTSTATUS status = check_regions(s);

    if (NT_SUCCESS(status))
        status = check_frequencies(s);
    if (NT_SUCCESS(status))
        status = check_scan_lines(modes, s);
    if (NT_SUCCESS(status))
        compare_timings(modes, s);
    return status;
}

/* ---- target modes ---- */

static bool is_standard(D3DKMDT_VIDEO_SIGNAL_STANDARD standard)
{
    return (standard > D3DKMDT_VSS_UNINITIALIZED && standard <= D3DKMDT_VSS_PAL_M) ||
           standard == D3DKMDT_VSS_OTHER;
}

/* PRES-194, PRES-195 */
static NTSTATUS check_control(const struct modes *modes, const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    const bool vsync = mode_frequency_given(&s->VSyncFreq),
               line = mode_frequency_given(&s->HSyncFreq), rate = s->PixelRate != NOT_GIVEN;

    if (modes->vsync_control && !(vsync && line && rate))
        return refuse(STATUS_GRAPHICS_INVALID_FREQUENCY, "PRES-195",
                      "a driver that controls VSync has a mode without %s",
                      !vsync  ? "VSyncFreq"
                      : !line ? "HSyncFreq"
                              : "PixelRate");
    if (!modes->vsync_control && (vsync || line || rate))
        VIOLATION("PRES-195", "a driver without VSync control gives %s of a target mode",
                  vsync  ? "VSyncFreq"
                  : line ? "HSyncFreq"
                         : "PixelRate");
    return STATUS_SUCCESS;
}

static void check_wire_format(const struct modes *modes, D3DKMDT_VIDPN_TARGET_MODE *mode)
{
    D3DKMDT_WIRE_FORMAT_AND_PREFERENCE *wire = &mode->WireFormatAndPreference;

    if (modes->version < DXGKDDI_INTERFACE_VERSION_WDDM2_2)
        wire->Value &= 3; /* VIDPN-106: a preference, and nothing else */
    else if (!wire->Rgb && !wire->YCbCr444 && !wire->YCbCr422 && !wire->YCbCr420 && !wire->Intensity)
        NOTE("VIDPN-106", "a target mode names no wire format; RGB of 8 bits is assumed");
}

static void check_minimum(const struct modes *modes, D3DKMDT_VIDPN_TARGET_MODE *mode)
{
    D3DDDI_RATIONAL *minimum = &mode->MinimumVSyncFreq;
    const D3DDDI_RATIONAL none = {0, 0};

    if (modes->version < DXGKDDI_INTERFACE_VERSION_WDDM2_9)
        *minimum = none;
    if (!minimum->Numerator && !minimum->Denominator)
        return;
    if (minimum->Numerator && minimum->Denominator &&
        !(mode_frequency_given(&mode->VideoSignalInfo.VSyncFreq) &&
          is_below(&mode->VideoSignalInfo.VSyncFreq, minimum)))
        return;
    WARNING("VIDPN-107", "MinimumVSyncFreq %u / %u is no frequency, or above VSyncFreq",
            minimum->Numerator, minimum->Denominator);
    *minimum = none;
}

/* VIDPN-102 */
static NTSTATUS check_divider(const struct modes *modes, UINT target,
                              const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    static const D3DDDI_RATIONAL least = {239, 10};
    const bool miracast = modes_target(modes, target)->technology == D3DKMDT_VOT_MIRACAST;

    if (modes->version < DXGKDDI_INTERFACE_VERSION_WDDM1_3)
        return STATUS_SUCCESS;
    if (miracast && mode_frequency_given(&s->VSyncFreq) && is_below(&s->VSyncFreq, &least))
        return refuse(STATUS_GRAPHICS_INVALID_FREQUENCY, "VIDPN-102",
                      "VSyncFreq %u / %u is below 23.9 Hz, on a Miracast target",
                      s->VSyncFreq.Numerator, s->VSyncFreq.Denominator);
    if (!miracast && s->AdditionalSignalInfo.VSyncFreqDivider)
        WARNING("VIDPN-102", "VSyncFreqDivider is %u, on target 0x%x that is not Miracast",
                s->AdditionalSignalInfo.VSyncFreqDivider, target);
    return STATUS_SUCCESS;
}

static NTSTATUS check_target(const struct modes *modes, UINT target, D3DKMDT_VIDPN_TARGET_MODE *mode)
{
    NTSTATUS status = STATUS_SUCCESS;

    if (!is_standard(mode->VideoSignalInfo.VideoStandard))
        status = refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE, "VIDPN-103",
                        "VideoStandard is %d", (int)mode->VideoSignalInfo.VideoStandard);
    if (NT_SUCCESS(status))
        status = check_signal(modes, &mode->VideoSignalInfo);
    if (NT_SUCCESS(status))
        status = check_divider(modes, target, &mode->VideoSignalInfo);
    if (NT_SUCCESS(status))
        status = check_control(modes, &mode->VideoSignalInfo);
    if (!NT_SUCCESS(status))
        return status;
    check_wire_format(modes, mode);
    check_minimum(modes, mode);
    if (mode->Preference != D3DKMDT_MP_PREFERRED && mode->Preference != D3DKMDT_MP_NOTPREFERRED) {
        WARNING("VIDPN-103", "Preference of a target mode is %d", (int)mode->Preference);
        mode->Preference = D3DKMDT_MP_NOTPREFERRED;
    }
    return STATUS_SUCCESS;
}

/* ---- modes of monitors ---- */

static NTSTATUS check_monitor(const struct modes *modes, D3DKMDT_MONITOR_SOURCE_MODE *mode)
{
    NTSTATUS status = check_signal(modes, &mode->VideoSignalInfo);

    if (!NT_SUCCESS(status))
        return status;
    if (mode->Origin != D3DKMDT_MCO_DRIVER) {
        WARNING("DISP-141", "Origin of a mode that the driver adds is %d", (int)mode->Origin);
        mode->Origin = D3DKMDT_MCO_DRIVER;
    }
    if (mode->Preference != D3DKMDT_MP_PREFERRED && mode->Preference != D3DKMDT_MP_NOTPREFERRED) {
        WARNING("DISP-141", "Preference of a monitor source mode is %d", (int)mode->Preference);
        mode->Preference = D3DKMDT_MP_NOTPREFERRED;
    }
    return STATUS_SUCCESS;
}

NTSTATUS mode_check(const struct modes *modes, const struct mode_set *set, union mode *mode)
{
    return set->kind == MODE_SOURCE   ? check_source(modes, &mode->source)
           : set->kind == MODE_TARGET ? check_target(modes, set->owner, &mode->target)
                                      : check_monitor(modes, &mode->monitor);
}
