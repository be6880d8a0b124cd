/* SPDX-License-Identifier: MIT */
/* Presents of planes that begin anew (FlipRestart), or whose device loses the source meanwhile. */
#include "nt/base/current.h"
#include "port/support/overlays.h"
#include "sim/thread.h"
#include "support/test.h"

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)

static struct plane_wish pair[2];

static void ask_pair(void)
{
    BOOL supported = FALSE;
    UINT info;

    pair[0] = overlays_of(0);
    pair[1] = overlays_of(1);
    CHECK(IS(overlays_check(2, pair, &supported, &info), STATUS_SUCCESS) && supported);
}

/* ---- anew ---- */

static void anew(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    full_engine.silent = true;
    for (unsigned i = 0; i < 3; i++) /* one is handed over */
        CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(MS);
    CHECK(overlays_seen.calls == 1);
    pair[1].primary = 2;
    overlays_restart = true;
    CHECK_RULE("PRES-281", IS(overlays_present(2, pair), STATUS_SUCCESS)); /* there is room */
    overlays_restart = false;
    full_engine.silent = false;
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-281", overlays_seen.calls == 2 && flips_complete(p) == 4 &&
                               overlays_seen.call[1].plane[1].allocation !=
                                   overlays_seen.call[0].plane[1].allocation);
    flips_end();
}

TEST(planes_that_start_anew)
{
    for (unsigned form = 1; form <= 3; form++)
        flips_run(overlays_create(NULL, form), anew);
}

/* ---- another owner ---- */

static bool done;
static NTSTATUS status;

static void present_last(struct probe *p)
{
    (void)p;
    status = overlays_present(2, pair);
    done = true;
}

static void lose_source(struct probe *p)
{
    D3DKMT_SETVIDPNSOURCEOWNER none = {.hDevice = 0};

    overlays_begin(p);
    ask_pair();
    full_engine.silent = true;
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    done = false;
    sim_thread_release(probe_thread(p, nt_process_current(), "presents", present_last));
    probe_sleep(10 * MS);
    CHECK_RULE("PRES-288", !done);
    none.hDevice = flips.gpu.device;
    CHECK(NT_SUCCESS(D3DKMTSetVidPnSourceOwner(&none)));
    full_engine.silent = false;
    for (unsigned i = 0; i < 100 && !done; i++)
        probe_sleep(MS);
    CHECK_RULE("PRES-303", done && IS(status, STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER));
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-303", overlays_seen.calls == 3 && flips_complete(p) == 6);
    flips_end();
}

TEST(planes_of_a_device_that_loses_the_source)
{
    flips_run(overlays_create(NULL, 3), lose_source);
}
