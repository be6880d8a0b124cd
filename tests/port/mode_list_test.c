/* SPDX-License-Identifier: MIT */
/* The modes that a source of a display-only driver can be given. */
#include "modes/mode_list.h"
#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

static struct {
    unsigned enums, pivots; /* those with a source as their pivot */
    UINT pivot;             /* the last */
    unsigned pinned;        /* other sources that were, in all of them */
} seen;

static bool is_pinned(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn, UINT source)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET set;

    CHECK(v->pfnAcquireSourceModeSet(vidpn, source, &set, &modes) == STATUS_SUCCESS);
    (void)modes->pfnAcquirePinnedModeInfo(set, &mode);
    if (mode)
        CHECK(modes->pfnReleaseModeInfo(set, mode) == STATUS_SUCCESS);
    CHECK(v->pfnReleaseSourceModeSet(vidpn, set) == STATUS_SUCCESS);
    return mode != NULL;
}

static void note_enum(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                      const DXGK_VIDPN_INTERFACE *v)
{
    (void)p;
    seen.enums++;
    if (args->EnumPivotType == D3DKMDT_EPT_VIDPNSOURCE) {
        seen.pivots++;
        seen.pivot = args->EnumPivot.VidPnSourceId;
    }
    if (display.sources > 1)
        seen.pinned += is_pinned(v, args->hConstrainingVidPn, 1);
}

static struct probe *watched(UINT outputs)
{
    struct probe *p = display_create(NULL);

    display.outputs = display.sources = outputs;
    display.before_enum = note_enum;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_start(p) == STATUS_SUCCESS);
    memset(&seen, 0, sizeof(seen));
    probe_end(p, body);
}

struct asked {
    UINT source;
    const struct mode_list *list;
};

static NTSTATUS ask(struct modes *modes, void *arg)
{
    struct asked *asked = arg;

    return modes_list(modes, asked->source, &asked->list);
}

static const struct mode_list *list_of(struct probe *p, UINT source)
{
    struct asked asked = {.source = source};

    CHECK(display_do(display_modes(p), ask, &asked) == STATUS_SUCCESS);
    return asked.list;
}

/* `hertz` 0: it is not specified. */
static bool is_mode(const struct modes_listed *mode, UINT width, UINT height, UINT hertz)
{
    return mode->size.cx == width && mode->size.cy == height && mode->target == DISPLAY_CHILD &&
           mode->rate.Numerator == (hertz ? hertz : D3DKMDT_FREQUENCY_NOTSPECIFIED);
}

static void check_list(struct probe *p)
{
    const struct mode_list *list = list_of(p, 0);

    CHECK_RULE("VIDPN-205", list->count == 3 && is_mode(&list->mode[0], 640, 480, 0) &&
                                is_mode(&list->mode[1], 800, 600, 0) &&
                                is_mode(&list->mode[2], 1024, 768, 0));
    CHECK_RULE("VIDPN-205", list->mode[0].turns == 0xF);
    CHECK_RULE("VIDPN-205", seen.enums == 4 && seen.pivots == 3 && seen.pivot == 0);
    CHECK_RULE("VIDPN-205", list_of(p, 0)->count == 3 && seen.enums == 4);
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    seen.enums = 0;
    CHECK_RULE("VIDPN-205", list_of(p, 0)->count == 3 && seen.enums == 4);
}

TEST(asked_once)
{
    run(watched(1), check_list);
}

/* ---- what is in it ---- */

static void check_arrival(struct probe *p)
{
    seen.enums = 0;
    (void)list_of(p, 0);
    display_indicate(p, 0, true);
    seen.enums = 0;
    CHECK_RULE("VIDPN-205", list_of(p, 0)->count == 3 && seen.enums == 4);
}

/* A monitor that is looked at again is a change. */
TEST(another_monitor)
{
    run(watched(1), check_arrival);
}

static void check_others(struct probe *p)
{
    CHECK(list_of(p, 0)->count == 3);
    CHECK_RULE("VIDPN-205", seen.enums == 4 && seen.pinned == 4);
}

TEST(the_other_source_stays_pinned)
{
    run(watched(2), check_others);
}

static void check_dark(struct probe *p)
{
    CHECK(display_power(display_modes(p), DISPLAY_CHILD, false) == STATUS_SUCCESS);
    seen.enums = 0;
    CHECK_RULE("VIDPN-205", list_of(p, 0)->count == 0 && seen.enums == 0);
}

TEST(a_dark_source)
{
    run(watched(1), check_dark);
}

/* ---- rates ---- */

static D3DKMDT_VIDPN_TARGET_MODE rated(UINT hertz)
{
    D3DKMDT_VIDPN_TARGET_MODE mode = display_target_mode(1024, 768);

    mode.VideoSignalInfo.TotalSize = (D3DKMDT_2DREGION){1344, 806};
    mode.VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){hertz, 1};
    mode.VideoSignalInfo.HSyncFreq = (D3DDDI_RATIONAL){hertz * 806, 1};
    mode.VideoSignalInfo.PixelRate = (SIZE_T)hertz * 806 * 1344;
    return mode;
}

/* The monitor takes 75 Hz, too. */
static void recommend_75(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RECOMMENDMONITORMODES *args = (const DXGKARG_RECOMMENDMONITORMODES *)(uintptr_t)
                                                    call->arg[1];
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set = args->pMonitorSourceModeSetInterface;
    D3DKMDT_MONITOR_SOURCE_MODE *mode;

    (void)p;
    CHECK(set->pfnCreateNewModeInfo(args->hMonitorSourceModeSet, &mode) == STATUS_SUCCESS);
    mode->VideoSignalInfo = rated(75).VideoSignalInfo;
    mode->Origin = D3DKMDT_MCO_DRIVER;
    mode->Preference = D3DKMDT_MP_NOTPREFERRED;
    CHECK(set->pfnAddMode(args->hMonitorSourceModeSet, mode) == STATUS_SUCCESS);
}

static void check_rates(struct probe *p)
{
    const struct mode_list *list = list_of(p, 0);

    /* 90 Hz is none that the monitor takes; of 800 x 600, which fits by no scaling, there is none */
    CHECK_RULE("VIDPN-205", list->count == 2 && is_mode(&list->mode[0], 1024, 768, 60) &&
                                is_mode(&list->mode[1], 1024, 768, 75));
    CHECK_RULE("VIDPN-205", list->mode[0].turns == 0x3);
}

TEST(rates_in_order)
{
    struct probe *p = watched(1);

    probe_set_entry(p, PROBE_ControlInterrupt, true);
    probe_set_entry(p, PROBE_GetScanLine, true);
    p->before[PROBE_RecommendMonitorModes] = recommend_75;
    display.source_modes = 2;
    display.target_mode[0] = rated(75);
    display.target_mode[1] = rated(90);
    display.target_mode[2] = rated(60);
    display.target_modes = 3;
    memset(&display.scaling, 0, sizeof(display.scaling));
    display.scaling.Identity = 1;
    memset(&display.rotation, 0, sizeof(display.rotation));
    display.rotation.Identity = display.rotation.Rotate90 = display.rotation.Offset0 = 1;
    run(p, check_rates);
}

static void check_none_accepted(struct probe *p)
{
    const struct mode_list *list = list_of(p, 0);

    CHECK_RULE("VIDPN-205", list->count == 2 && is_mode(&list->mode[0], 1024, 768, 72) &&
                                is_mode(&list->mode[1], 1024, 768, 90));
}

TEST(rates_that_the_monitor_does_not_take)
{
    struct probe *p = watched(1);

    probe_set_entry(p, PROBE_ControlInterrupt, true);
    probe_set_entry(p, PROBE_GetScanLine, true);
    display.source_modes = 1;
    display.target_mode[0] = rated(90);
    display.target_mode[1] = rated(72);
    display.target_modes = 2;
    run(p, check_none_accepted);
}
