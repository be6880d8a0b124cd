/* SPDX-License-Identifier: MIT */
/* Flips whose end does not come by itself: no vertical sync, a device that ends, another mode. */
#include "nt/base/current.h"
#include "port/support/flips.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)

static bool done;
static NTSTATUS last_status;

static void start(struct probe *p, const char *name, void (*body)(struct probe *p))
{
    done = false;
    sim_thread_release(probe_thread(p, nt_process_current(), name, body));
}

static bool is_done_within(uint64_t ns)
{
    for (uint64_t end = sim_now() + ns; !done && sim_now() < end;)
        probe_sleep(MS);
    return done;
}

/* ---- no vertical sync comes ---- */

static void present_on(struct probe *p)
{
    (void)p;
    for (unsigned i = 0; i < 5; i++)
        last_status = flips_flip_at(flips.primary[i % 3], D3DDDI_FLIPINTERVAL_TWO);
    done = true;
}

static void count_in_vain(struct probe *p)
{
    flips_begin(p);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    CHECK(flips_complete(p) == 1);
    full_engine.silent = true;
    start(p, "presents", present_on);
    CHECK_RULE("PRES-327", is_done_within(30 * PROBE_SECOND) && probe_rule(p, "PRES-327") >= 1);
    CHECK_RULE("PRES-256", probe_rule(p, "PRES-256") >= 1);
    full_engine.silent = false;
    flips_end();
}

TEST(intervals_of_vertical_syncs_that_do_not_come)
{
    struct probe *p = flips_create(NULL);

    p->caps.FlipCaps.FlipInterval = 1;
    flips_run(p, count_in_vain);
}

/* They come late: it is still they that are counted. */
static void count_slowly(struct probe *p)
{
    UINT calls;

    flips_begin(p);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    calls = full_seen.addresses;
    full_engine.silent = true;
    CHECK(IS(flips_flip_at(flips.primary[2], D3DDDI_FLIPINTERVAL_TWO), STATUS_SUCCESS));
    probe_sleep(1800 * MS);
    CHECK_RULE("PRES-146", full_seen.addresses == calls);
    full_engine.silent = false;
    probe_sleep(60 * MS);
    CHECK_RULE("PRES-146", full_seen.addresses == calls + 1);
    flips_end();
}

TEST(intervals_of_vertical_syncs_that_come_late)
{
    struct probe *p = flips_create(NULL);

    p->caps.FlipCaps.FlipInterval = 1;
    flips_run(p, count_slowly);
}

static void pull_out(struct probe *p)
{
    probe_sleep(100 * MS);
    CHECK(!done);
    CHECK(NT_SUCCESS(port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, true)));
}

static void presents_until_gone(struct probe *p)
{
    flips_begin(p);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    full_engine.silent = true;
    start(p, "presents", present_on);
    sim_thread_release(probe_thread(p, nt_process_system(), "pulls out", pull_out));
    CHECK_RULE("PRES-288", is_done_within(20 * PROBE_SECOND) && !NT_SUCCESS(last_status));
    full_engine_stop();
    (void)probe_gpu_end(&flips.gpu);
}

TEST(intervals_of_a_device_that_is_gone)
{
    struct probe *p = flips_create(NULL);

    p->caps.FlipCaps.FlipInterval = 1;
    flips_run(p, presents_until_gone);
}
