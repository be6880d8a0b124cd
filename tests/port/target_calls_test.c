/* SPDX-License-Identifier: MIT */
/* Colors, link and content of a target. */
#include "modes/monitor.h"
#include "port/support/panels.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define FIRST              DISPLAY_CHILD
#define WDDM(version)      DXGKDDI_INTERFACE_VERSION_WDDM##version

static struct {
    unsigned first, second, links, contents, behaviors;
    DXGK_COLORIMETRY colors;
    DXGKARG_SETTARGETADJUSTEDCOLORIMETRY2 colors2;
    NTSTATUS status;
    UINT target;
    uint64_t order;
    DXGKARG_UPDATEMONITORLINKINFO link;
    UINT capabilities;
    UINT content;
    DXGK_MODE_BEHAVIOR_FLAGS request, satisfied, not_satisfied;
} seen;

static void set_colors(struct probe *p, struct probe_call *call)
{
    (void)p;
    seen.first++;
    seen.target = (UINT)call->arg[1];
    seen.colors = *(const DXGK_COLORIMETRY *)(uintptr_t)call->arg[2];
    seen.order = call->order;
    CHECK_RULE("DISP-114", call->irql == PASSIVE_LEVEL);
    call->answered = true;
    call->result = (uint64_t)(uint32_t)seen.status;
}

static void set_colors2(struct probe *p, struct probe_call *call)
{
    (void)p;
    seen.second++;
    seen.colors2 = *(const DXGKARG_SETTARGETADJUSTEDCOLORIMETRY2 *)(uintptr_t)call->arg[1];
    call->answered = true;
    call->result = (uint64_t)(uint32_t)seen.status;
}

static void update_link(struct probe *p, struct probe_call *call)
{
    DXGKARG_UPDATEMONITORLINKINFO *args = (DXGKARG_UPDATEMONITORLINKINFO *)(uintptr_t)call->arg[1];

    (void)p;
    seen.links++;
    seen.link = *args;
    seen.order = call->order;
    CHECK_RULE("DISP-112", call->irql == PASSIVE_LEVEL);
    args->MonitorLinkInfo.Capabilities.Value = seen.capabilities;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void set_content(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETTARGETCONTENTTYPE *args = (const DXGKARG_SETTARGETCONTENTTYPE *)(uintptr_t)
                                                   call->arg[1];

    (void)p;
    seen.contents++;
    seen.target = args->TargetId;
    seen.content = (UINT)args->ContentType;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void control(struct probe *p, struct probe_call *call)
{
    DXGKARG_CONTROLMODEBEHAVIOR *args = (DXGKARG_CONTROLMODEBEHAVIOR *)(uintptr_t)call->arg[1];

    (void)p;
    seen.behaviors++;
    seen.request = args->Request;
    args->Satisfied = seen.satisfied;
    args->NotSatisfied = seen.not_satisfied;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static struct probe *make(UINT version)
{
    static const enum probe_ddi entries[] = {
        PROBE_SetTargetAdjustedColorimetry,  PROBE_SetTargetAdjustedColorimetry2,
        PROBE_UpdateMonitorLinkInfo,         PROBE_SetTargetContentType,
        PROBE_SetTargetAnalogCopyProtection, PROBE_ControlModeBehavior};
    struct probe *p = panels_create(version, 0, 1);

    memset(&seen, 0, sizeof(seen));
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        probe_set_entry(p, entries[i], true);
    p->before[PROBE_SetTargetAdjustedColorimetry] = set_colors;
    p->before[PROBE_SetTargetAdjustedColorimetry2] = set_colors2;
    p->before[PROBE_UpdateMonitorLinkInfo] = update_link;
    p->before[PROBE_SetTargetContentType] = set_content;
    p->before[PROBE_ControlModeBehavior] = control;
    return p;
}

static const struct monitor *monitor_of(const struct probe *p)
{
    return modes_target(display_modes(p), FIRST)->monitor;
}

/* ---- colors ---- */

TEST(colors_that_the_driver_knows)
{
    struct probe *p = make(WDDM(2_4));

    panel.colors = panels_colors();
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-081",
               panel_seen.color_queries == 1 && panel_seen.color_target == FIRST &&
                   panel_seen.color_zeroed && panel_seen.color_bytes == sizeof(DXGK_COLORIMETRY) &&
                   monitor_of(p)->colors.RedPoint.cx == 680 &&
                   monitor_of(p)->colors.FormatBitDepths.Rgb == D3DKMDT_BITS_PER_COMPONENT_10);
    CHECK_RULE("DISP-114",
               seen.first == 1 && seen.target == FIRST && seen.colors.GreenPoint.cy == 690 &&
                   seen.colors.MaxLuminance == 600 && seen.colors.FormatBitDepths.Value == 0 &&
                   seen.colors.StandardColorimetryFlags.Value == 0 &&
                   panel_seen.color_order < seen.order &&
                   seen.order < probe_nth(p, PROBE_CommitVidPn, 0)->order);
    CHECK_RULE("DISP-116", seen.second == 0);
    display_end(p);
}

TEST(colors_by_the_second_form)
{
    struct probe *p = make(WDDM(2_5));

    panel.colors = panels_colors();
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-116", seen.first == 0 && seen.second == 1 && seen.colors2.TargetId == FIRST &&
                               seen.colors2.AdjustedColorimetry.RedPoint.cx == 680 &&
                               seen.colors2.AdjustedColorimetry.FormatBitDepths.Value == 0);
    display_end(p);
    p = make(WDDM(2_5));
    probe_set_entry(p, PROBE_SetTargetAdjustedColorimetry2, false);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-116", seen.first == 1);
    display_end(p);
}

TEST(colors_that_are_refused)
{
    struct probe *p = make(WDDM(2_4));

    panel.colors = panels_colors();
    seen.status = STATUS_UNSUCCESSFUL;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-115",
               seen.first == 1 && monitor_of(p)->colors.RedPoint.cx == 655 &&
                   monitor_of(p)->colors.WhitePoint.cy == 337 &&
                   monitor_of(p)->colors.FormatBitDepths.Rgb == D3DKMDT_BITS_PER_COMPONENT_08 &&
                   vidpn_path_to(display_modes(p)->active, FIRST));
    display_end(p);
}

static bool dropped(void (*spoil)(DXGK_COLORIMETRY *))
{
    struct probe *p = make(WDDM(2_4));
    bool ok;

    panel.colors = panels_colors();
    spoil(&panel.colors);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    ok = probe_rule(p, "DISP-081") == 1 &&
         probe_record(p, "DISP-081")->severity == VERIFY_WARNING &&
         monitor_of(p)->colors.RedPoint.cx == 655;
    display_end(p);
    return ok;
}

static void low(DXGK_COLORIMETRY *c)
{
    c->RedPoint.cx = 0;
}

static void high(DXGK_COLORIMETRY *c)
{
    c->WhitePoint.cy = 1024;
}

static void partial(DXGK_COLORIMETRY *c)
{
    c->MaxFullFrameLuminance = 0;
}

static void no_format(DXGK_COLORIMETRY *c)
{
    c->FormatBitDepths.Value = 0;
}

static void preference(DXGK_COLORIMETRY *c)
{
    c->FormatBitDepths.Preference = D3DKMDT_MP_PREFERRED;
}

TEST(overrides_that_are_wrong)
{
    struct probe *p;

    CHECK_RULE("DISP-081", dropped(low));
    CHECK_RULE("DISP-081", dropped(high));
    CHECK_RULE("DISP-081", dropped(partial));
    CHECK_RULE("DISP-081", dropped(no_format));
    CHECK_RULE("DISP-082", dropped(preference));
    p = make(WDDM(2_4));
    panel.color_status = STATUS_NOT_SUPPORTED;
    CHECK_RULE("DISP-082", IS(probe_start(p), STATUS_SUCCESS) && monitor_of(p) &&
                               probe_rule(p, "DISP-081") == 0 && probe_rule(p, "CAPS-003") == 0);
    display_end(p);
    p = make(WDDM(2_1));
    CHECK_RULE("DISP-081", IS(probe_start(p), STATUS_SUCCESS) && panel_seen.color_queries == 0 &&
                               seen.first == 0);
    display_end(p);
}

/* ---- the link ---- */

TEST(what_a_link_can_do)
{
    struct probe *p = make(WDDM(2_1));

    seen.capabilities = 5;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-112", seen.links == 1 && seen.link.VideoPresentTargetId == FIRST &&
                               seen.link.MonitorLinkInfo.UsageHints.Value == 0 &&
                               seen.link.MonitorLinkInfo.Capabilities.Value == 0 &&
                               probe_nth(p, PROBE_RecommendMonitorModes, 0)->order < seen.order &&
                               seen.order < probe_nth(p, PROBE_EnumVidPnCofuncModality, 0)->order &&
                               monitor_of(p)->link.Capabilities.Value == 5);
    display_end(p);
}

static bool independent(UINT version, UINT *kept)
{
    struct probe *p = make(version);
    DXGK_MONITORLINKINFO_CAPABILITIES bits = {.Value = 0};
    bool told;

    bits.TargetIndependentPrimary = 1;
    seen.capabilities = bits.Value;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    told = probe_rule(p, "DISP-113") == 1;
    *kept = monitor_of(p)->link.Capabilities.TargetIndependentPrimary;
    display_end(p);
    return told;
}

TEST(independent_primaries)
{
    UINT kept;

    CHECK_RULE("DISP-113", independent(WDDM(2_6), &kept) && !kept);
    CHECK_RULE("DISP-113", !independent(WDDM(2_5), &kept) && kept);
}

/* ---- content and behavior ---- */

static void change_content(struct probe *p)
{
    struct modes *modes = display_modes(p);

    CHECK_RULE("DISP-118/a",
               IS(display_set_content(modes, FIRST, D3DKMDT_VPPC_VIDEO), STATUS_SUCCESS) &&
                   seen.contents == 1 && seen.target == FIRST &&
                   seen.content == D3DKMDT_VPPC_VIDEO &&
                   vidpn_path_to(modes->active, FIRST)->Content == D3DKMDT_VPPC_VIDEO);
    CHECK_RULE("DISP-118/a",
               IS(display_set_content(modes, FIRST, D3DKMDT_VPPC_VIDEO), STATUS_SUCCESS) &&
                   seen.contents == 1);
    CHECK(IS(display_set_content(modes, 0x999, D3DKMDT_VPPC_VIDEO),
             STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY));
    CHECK_RULE("DISP-119", probe_count(p, PROBE_SetTargetAnalogCopyProtection) == 0);
}

static void change_in_vain(struct probe *p)
{
    CHECK_RULE("DISP-118/b", IS(display_set_content(display_modes(p), FIRST, D3DKMDT_VPPC_VIDEO),
                                STATUS_NOT_SUPPORTED));
}

TEST(the_content)
{
    struct probe *p = make(WDDM(2_2));

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, change_content);
    p = make(WDDM(2_2));
    probe_set_entry(p, PROBE_SetTargetContentType, false);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, change_in_vain);
}

static void ask_behavior(struct probe *p)
{
    DXGKARG_CONTROLMODEBEHAVIOR args = {.Request = {.PrioritizeHDR = 1}};
    struct modes *modes = display_modes(p);
    size_t enums = probe_count(p, PROBE_EnumVidPnCofuncModality);

    CHECK_RULE("DISP-121", seen.behaviors == 0);
    seen.not_satisfied.PrioritizeHDR = 1;
    CHECK_RULE("DISP-120", IS(display_control_behavior(modes, &args), STATUS_SUCCESS) &&
                               seen.behaviors == 1 && seen.request.Value == 1 &&
                               args.NotSatisfied.Value == 1 && probe_rule(p, "DISP-120") == 0);
    CHECK_RULE("DISP-121", probe_count(p, PROBE_EnumVidPnCofuncModality) == enums);
    seen.not_satisfied.Value = 0;
    CHECK_RULE("DISP-120", IS(display_control_behavior(modes, &args), STATUS_SUCCESS) &&
                               probe_rule(p, "DISP-120") == 0);
    seen.satisfied.PrioritizeHDR = 1;
    CHECK_RULE("DISP-121", IS(display_control_behavior(modes, &args), STATUS_SUCCESS) &&
                               probe_count(p, PROBE_EnumVidPnCofuncModality) > enums);
    seen.not_satisfied.PrioritizeHDR = 1;
    CHECK_RULE("DISP-120", IS(display_control_behavior(modes, &args), STATUS_SUCCESS) &&
                               probe_rule(p, "DISP-120") == 1);
    seen.satisfied.Value = 2;
    seen.not_satisfied.Value = 0;
    CHECK_RULE("DISP-120", IS(display_control_behavior(modes, &args), STATUS_SUCCESS) &&
                               probe_rule(p, "DISP-120") == 2 && args.Satisfied.Value == 0);
}

TEST(behavior_of_modes)
{
    struct probe *p = make(WDDM(2_1));

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, ask_behavior);
}
