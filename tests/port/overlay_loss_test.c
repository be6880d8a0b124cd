/* SPDX-License-Identifier: MIT */
/* Planes that no vertical sync completes. */
#include "port/support/overlays.h"
#include "nt/cm/registry.h"
#include "sim/machine.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)
#define DRIVERS            "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers"

static struct plane_wish pair[2];

static void ask_pair(void)
{
    BOOL supported = FALSE;
    UINT info;

    pair[0] = overlays_of(0);
    pair[1] = overlays_of(1);
    CHECK(IS(overlays_check(2, pair, &supported, &info), STATUS_SUCCESS) && supported);
}

static size_t resets_of(const struct probe *p)
{
    return probe_count(p, PROBE_ResetFromTimeout);
}

/* Vertical syncs come, with what was shown before. */
static void (*latch)(void);

static void get_stuck(bool stuck)
{
    if (stuck)
        latch = full_engine.latch;
    full_engine.latch = stuck ? NULL : latch;
    full_engine.stuck = stuck;
}

static void lost(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    get_stuck(true);
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(1900 * MS);
    CHECK_RULE("PRES-256", probe_rule(p, "PRES-256") == 0 && resets_of(p) == 0);
    probe_sleep(200 * MS);
    CHECK_RULE("PRES-256", probe_rule(p, "PRES-256") == 1 && resets_of(p) == 1 &&
                               flips_complete(p) == 0 && overlays_seen.calls == 1);
    CHECK_RULE("PRES-253", flips_last()->allocation == full_seen.primary &&
                               !NT_SUCCESS(overlays_present(2, pair)));
    CHECK(probe_rule(p, "PRES-327") == 0);
    get_stuck(false);
    probe_sleep(100 * MS);
    CHECK(probe_rule(p, "PRES-256") == 1 && resets_of(p) == 1);
    flips_end();
}

TEST(planes_that_no_vertical_sync_completes)
{
    for (unsigned form = 1; form <= 3; form++)
        flips_run(overlays_create(NULL, form), lost);
}

/* One layer alone: the other has been shown. */
static void lost_alone(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    CHECK(flips_complete(p) == 2);
    get_stuck(true);
    pair[1].primary = 2;
    CHECK(IS(overlays_present(1, &pair[1]), STATUS_SUCCESS));
    probe_sleep(2100 * MS);
    CHECK_RULE("PRES-256",
               probe_rule(p, "PRES-256") == 1 && resets_of(p) == 1 && flips_complete(p) == 2);
    get_stuck(false);
    flips_end();
}

TEST(a_plane_that_no_vertical_sync_completes)
{
    flips_run(overlays_create(NULL, 3), lost_alone);
}

/* Nothing is reset: they count as shown, and more can follow. */
static void tolerated(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    get_stuck(true);
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(2100 * MS);
    CHECK_RULE("PRES-256", probe_rule(p, "PRES-256") >= 1 && resets_of(p) == 0);
    CHECK(flips_complete(p) == 2 && probe_rule(p, "PRES-327") == 0);
    get_stuck(false);
    CHECK_RULE("PRES-256", IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    CHECK(flips_complete(p) == 4);
    flips_end();
}

TEST(planes_without_detection)
{
    struct probe *p = overlays_create(NULL, 3);
    const UINT level = 0;

    CHECK(nt_registry_set(DRIVERS, "TdrLevel", REG_DWORD, &level, sizeof(level)));
    flips_run(p, tolerated);
}
