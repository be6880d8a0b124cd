/* SPDX-License-Identifier: MIT */
/* Frequencies that a user asks for. */
#include "port/support/display.h"
#include "support/test.h"

static NTSTATUS ask(struct probe *p, UINT numerator, UINT denominator)
{
    const struct modes_wish wish = {.given = true,
                                    .size = {1024, 768},
                                    .frequency = {numerator, denominator},
                                    .rotation = D3DKMDT_VPPR_IDENTITY};

    return display_set_mode(display_modes(p), &wish);
}

static bool shows(struct probe *p, UINT numerator, UINT denominator)
{
    const D3DDDI_RATIONAL *rate = &mode_set_pinned(
                                       *vidpn_target_set(display_modes(p)->active, DISPLAY_CHILD))
                                       ->target.VideoSignalInfo.VSyncFreq;

    return rate->Numerator == numerator && rate->Denominator == denominator;
}

static void asks_for_rates(struct probe *p)
{
    CHECK(shows(p, 60000, 1001));
    CHECK_RULE("VIDPN-204/b", ask(p, 50, 1) == STATUS_INVALID_PARAMETER &&
                                  ask(p, 60, 0) == STATUS_INVALID_PARAMETER &&
                                  ask(p, 0, 1) == STATUS_INVALID_PARAMETER &&
                                  ask(p, 1489, 20) == STATUS_INVALID_PARAMETER && /* 74.45 */
                                  display_seen.commits == 1 && shows(p, 60000, 1001));
    CHECK_RULE("VIDPN-204/a",
               ask(p, 1491, 20) == STATUS_SUCCESS && display_seen.commits == 2 && shows(p, 75, 1));
    CHECK_RULE("VIDPN-204/a", ask(p, 60, 1) == STATUS_SUCCESS && shows(p, 60000, 1001));
    CHECK_RULE("VIDPN-204/a", ask(p, 0, 0) == STATUS_SUCCESS);
}

TEST(a_rate_is_one_of_a_mode)
{
    struct probe *p = display_create(NULL);

    display.target_mode[0].VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){60000, 1001};
    display.target_mode[1] = display.target_mode[0];
    display.target_mode[1].VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){75, 1};
    display.target_modes = 2;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, asks_for_rates);
}

/* It is 60 Hz. */
static void asks_without_rates(struct probe *p)
{
    CHECK_RULE("VIDPN-204/b", ask(p, 75, 1) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("VIDPN-204/a", ask(p, 60, 1) == STATUS_SUCCESS);
}

TEST(a_rate_that_no_mode_specifies)
{
    display_run(NULL, asks_without_rates);
}
