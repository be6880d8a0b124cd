/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/colorimetry.h"
#include "ddi/entries_display.h"
#include "modes/modes.h"
#include "modes/monitor.h"
#include "modes/panel.h"
#include "nt/base/status_name.h"
#include "verify/verify.h"

#define MOST_OF_A_POINT 1023 /* thousandths, in 10 bits as in an EDID */
#define SDR_WHITE_LEVEL 80u  /* cd/m2 of sRGB */

bool colorimetry_is_zero(const DXGK_COLORIMETRY *c)
{
    static const DXGK_COLORIMETRY zero;

    return memcmp(c, &zero, sizeof(zero)) == 0;
}

static bool is_point(const D3DKMDT_2DOFFSET *p)
{
    return p->cx >= 1 && p->cx <= MOST_OF_A_POINT && p->cy >= 1 && p->cy <= MOST_OF_A_POINT;
}

const char *colorimetry_fault(const DXGK_COLORIMETRY *c)
{
    if (!is_point(&c->RedPoint) || !is_point(&c->GreenPoint) || !is_point(&c->BluePoint) ||
        !is_point(&c->WhitePoint))
        return "a color point is not between 1 and 1023";
    if (c->MaxLuminance && !c->MaxFullFrameLuminance)
        return "MaxFullFrameLuminance is 0, and MaxLuminance is not";
    if (!(c->FormatBitDepths.Value & ~3u))
        return "FormatBitDepths names no format";
    return c->FormatBitDepths.Preference ? "Preference of FormatBitDepths is set" : NULL;
}

/* DISP-115: primaries of BT.709. */
static const DXGK_COLORIMETRY standard = {.RedPoint = {655, 338},
                                          .GreenPoint = {307, 614},
                                          .BluePoint = {154, 61},
                                          .WhitePoint = {320, 337}};

static UINT point(const uint8_t *edid, unsigned n)
{
    const unsigned low = edid[25 + n / 4] >> (6 - n % 4 * 2) & 3;

    return (UINT)edid[27 + n] << 2 | low;
}

/* As the base block of its descriptor has them. */
static DXGK_COLORIMETRY described(const struct monitor *monitor)
{
    const uint8_t *edid = monitor->edid;
    DXGK_COLORIMETRY c = standard;

    if (!edid)
        return c;
    c.RedPoint = (D3DKMDT_2DOFFSET){point(edid, 0), point(edid, 1)};
    c.GreenPoint = (D3DKMDT_2DOFFSET){point(edid, 2), point(edid, 3)};
    c.BluePoint = (D3DKMDT_2DOFFSET){point(edid, 4), point(edid, 5)};
    c.WhitePoint = (D3DKMDT_2DOFFSET){point(edid, 6), point(edid, 7)};
    if (is_point(&c.RedPoint) && is_point(&c.GreenPoint) && is_point(&c.BluePoint) &&
        is_point(&c.WhitePoint))
        return c;
    return standard;
}

/* DISP-081, DISP-082. False: the driver does not override. */
static bool overridden(struct modes *modes, const struct monitor *monitor, DXGK_COLORIMETRY *c)
{
    const struct modes_panel *panel = monitor->target->panel;
    const char *fault;

    memset(c, 0, sizeof(*c));
    if (panel && panel->has_colors)
        *c = panel->colors;
    if (panel || modes->version < DXGKDDI_INTERFACE_VERSION_WDDM2_2 || !modes->colors.ask)
        return panel && panel->has_colors;
    if (!NT_SUCCESS(modes->colors.ask(modes->colors.context, monitor->target->id, c)) ||
        colorimetry_is_zero(c))
        return false;
    fault = colorimetry_fault(c);
    if (fault)
        WARNING("DISP-081", "the colorimetry override of target 0x%x is not used: %s",
                monitor->target->id, fault);
    return !fault;
}

/* DISP-114 to DISP-116 */
static NTSTATUS tell(struct modes *modes, UINT target, const DXGK_COLORIMETRY *c)
{
    DXGKARG_SETTARGETADJUSTEDCOLORIMETRY2 args;

    memset(&args, 0, sizeof(args));
    args.TargetId = target;
    args.AdjustedColorimetry = *c;
    args.AdjustedColorimetry.FormatBitDepths.Value = 0;
    args.AdjustedColorimetry.StandardColorimetryFlags.Value = 0;
    args.SdrWhiteLevel = SDR_WHITE_LEVEL;
    if (modes->version >= DXGKDDI_INTERFACE_VERSION_WDDM2_5 &&
        ddi_has(modes->ddi, DxgkDdiSetTargetAdjustedColorimetry2))
        return ddi_set_target_adjusted_colorimetry2(modes->ddi, &args);
    if (modes->version >= DXGKDDI_INTERFACE_VERSION_WDDM2_2 &&
        ddi_has(modes->ddi, DxgkDdiSetTargetAdjustedColorimetry))
        return ddi_set_target_adjusted_colorimetry(modes->ddi, target, &args.AdjustedColorimetry);
    return STATUS_SUCCESS;
}

void colorimetry_settle(struct modes *modes, struct monitor *monitor)
{
    NTSTATUS status;

    if (!overridden(modes, monitor, &monitor->colors))
        monitor->colors = described(monitor);
    status = tell(modes, monitor->target->id, &monitor->colors);
    if (NT_SUCCESS(status))
        return;
    if (!modes->ddi->gone)
        NOTE("DISP-115",
             "the driver refuses the colorimetry of target 0x%x with %s; that of BT.709 "
             "is used",
             monitor->target->id, nt_status_text(status).text);
    monitor->colors = standard;
    monitor->colors.FormatBitDepths.Rgb = D3DKMDT_BITS_PER_COMPONENT_08;
}
