/* SPDX-License-Identifier: MIT */
/* What a user is told whose wish of a mode cannot be met. */
#include "port/support/display.h"
#include "support/test.h"
#include "verify/refusal.h"

#include <string.h>

static bool says(struct probe *p, const struct modes_wish *wish, const char *text)
{
    struct refusal refusal;
    const char *reason;
    NTSTATUS status;
    bool said;

    refusal_begin(&refusal);
    status = display_set_mode(display_modes(p), wish);
    reason = refusal_reason(status);
    said = reason && strcmp(reason, text) == 0;
    if (!said)
        print_error("%s\n", reason ? reason : "no reason");
    refusal_drop(&refusal);
    return said && status == STATUS_INVALID_PARAMETER;
}

static struct modes_wish wish_of(UINT width, UINT height, UINT hertz)
{
    return (struct modes_wish){.given = true,
                               .size = {width, height},
                               .frequency = {hertz, hertz ? 1 : 0},
                               .rotation = D3DKMDT_VPPR_IDENTITY};
}

static void three_modes(struct probe *p)
{
    const struct modes_wish size = wish_of(801, 600, 0), rate = wish_of(800, 600, 75);

    CHECK_RULE("VIDPN-204/e",
               says(p, &size,
                    "source 0 has no mode of 801 x 600; those of its driver are 1024 x "
                    "768, 800 x 600 and 640 x 480"));
    CHECK_RULE("VIDPN-204/e",
               says(p, &rate,
                    "target 0x100 has no mode of 75 Hz; those of its driver have 59.94 Hz "
                    "and 50 Hz"));
}

TEST(a_refusal_names_what_there_is)
{
    struct probe *p = display_create(NULL);

    display.target_mode[0].VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){60000, 1001};
    display.target_mode[1] = display.target_mode[2] = display.target_mode[0];
    display.target_mode[1].VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){50, 1};
    display.target_mode[2].VideoSignalInfo.ActiveSize.cx = 1020; /* of the same rate */
    display.target_modes = 3;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, three_modes);
}

/* ---- many ---- */

static void add_many(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                     const DXGK_VIDPN_INTERFACE *v)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *table;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    D3DKMDT_VIDPN_SOURCE_MODE *mode;
    const D3DKMDT_VIDPN_SOURCE_MODE *pinned = NULL;
    UINT id;

    (void)p;
    CHECK(v->pfnAcquireSourceModeSet(args->hConstrainingVidPn, 0, &set, &table) == STATUS_SUCCESS);
    (void)table->pfnAcquirePinnedModeInfo(set, &pinned);
    if (pinned)
        CHECK(table->pfnReleaseModeInfo(set, pinned) == STATUS_SUCCESS);
    for (UINT i = 0; !pinned && i < 12; i++) {
        CHECK(table->pfnCreateNewModeInfo(set, &mode) == STATUS_SUCCESS);
        id = mode->Id;
        *mode = display_source_mode(100 + i, 100);
        mode->Id = id;
        CHECK(table->pfnAddMode(set, mode) == STATUS_SUCCESS);
    }
    CHECK(v->pfnReleaseSourceModeSet(args->hConstrainingVidPn, set) == STATUS_SUCCESS);
}

static void many_modes(struct probe *p)
{
    const struct modes_wish size = wish_of(801, 600, 0);

    CHECK_RULE(
        "VIDPN-204/e",
        says(p, &size,
             "source 0 has no mode of 801 x 600; those of its driver are 1024 x 768, 800 x 600, "
             "640 x 480, 100 x 100, 101 x 100, 102 x 100, 103 x 100, 104 x 100, 105 x 100, 106 "
             "x 100, 107 x 100, 108 x 100 and 3 more"));
}

TEST(a_refusal_names_twelve_at_most)
{
    struct probe *p = display_create(NULL);

    display.after_enum = add_many;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, many_modes);
}
