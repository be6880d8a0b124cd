/* SPDX-License-Identifier: MIT */
/* Displays of a device that is pulled out: what is seen of them, and who waits for them. */
#include "nt/base/current.h"
#include "port/support/flips.h"
#include "port/support/presents.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)
#define RED                0x00FF0000u
#define GREEN              0x0000FF00u

static void start(struct probe *p, const char *name, void (*body)(struct probe *p))
{
    sim_thread_release(probe_thread(p, nt_process_current(), name, body));
}

/* The one colour of what is scanned out. */
static bool shows(const struct port_scanout *s, UINT colour)
{
    for (UINT y = 0; s->pixels && y < s->height; y++)
        for (UINT x = 0; x < s->width; x++) {
            UINT pixel;

            memcpy(&pixel, s->pixels + (size_t)y * s->pitch + (size_t)x * 4, 4);
            if ((pixel & 0xFFFFFF) != colour)
                return false;
        }
    return s->pixels != NULL;
}

static struct port_scanout look(const struct probe *p)
{
    return port_display_scanout(p->adapter[0], 0);
}

static NTSTATUS unplug(const struct probe *p)
{
    return port_adapter_unplug(p->adapter[0], DxgkRemovalPnPNotify, false);
}

static void can_be_removed(struct probe *p)
{
    probe_set_entry(p, PROBE_NotifySurpriseRemoval, true);
    p->caps.SupportSurpriseRemoval = TRUE;
}

/* ---- a full driver ---- */

static NTSTATUS presented, awaited;
static bool present_over, await_over;

static void present_fourth(struct probe *p)
{
    (void)p;
    presented = flips_flip(flips.primary[0]);
    present_over = true;
}

static void await_blank(struct probe *p)
{
    const D3DKMT_WAITFORVERTICALBLANKEVENT args = {.hAdapter = flips.gpu.adapter};

    (void)p;
    awaited = D3DKMTWaitForVerticalBlankEvent(&args);
    await_over = true;
}

static void queue_flips(struct probe *p)
{
    flips_begin(p);
    flips_fill(flips.primary[0], RED);
    flips_fill(flips.primary[1], GREEN);
    flips_fill(flips.primary[2], GREEN);
    flips_show_first();
    full_engine.silent = true;
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    CHECK(IS(flips_flip(flips.primary[2]), STATUS_SUCCESS));
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    present_over = await_over = false;
    start(p, "presents", present_fourth);
    start(p, "waits", await_blank);
    probe_sleep(MS);
    CHECK(!present_over && !await_over);
}

static void pulled_out(struct probe *p)
{
    struct port_scanout seen;
    uint64_t complete;

    queue_flips(p);
    complete = flips_complete(p);
    CHECK(!look(p).stale);
    CHECK(IS(unplug(p), STATUS_SUCCESS));
    probe_sleep(MS);
    seen = look(p);
    CHECK_RULE("PRES-054", seen.stale && !seen.off && shows(&seen, RED));
    CHECK_RULE("PRES-054", flips_complete(p) == complete);
    CHECK_RULE("PRES-054", present_over && IS(presented, STATUS_DEVICE_REMOVED));
    CHECK_RULE("PRES-054", await_over && IS(awaited, STATUS_DEVICE_REMOVED));
    CHECK_RULE("PRES-054", IS(flips_flip(flips.primary[2]), STATUS_DEVICE_REMOVED));
    flips_end();
}

TEST(queued_flips_end_and_the_last_picture_stays)
{
    struct probe *p = flips_create(NULL);

    flips_keep_pixels(p);
    can_be_removed(p);
    flips_run(p, pulled_out);
}

/* ---- without a model that says what it shows ---- */

static void inferred(struct probe *p)
{
    struct port_scanout seen;

    flips_begin(p);
    flips_fill(flips.primary[0], RED);
    flips_fill(flips.primary[1], GREEN);
    flips_show_first();
    seen = look(p);
    CHECK_RULE("PRES-313/b", seen.inferred && shows(&seen, RED));
    full_engine.silent = true;
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    seen = look(p);
    CHECK_RULE("PRES-313/b", seen.inferred && shows(&seen, RED)); /* which is not complete */
    full_engine.silent = false;
    probe_sleep(20 * MS);
    seen = look(p);
    CHECK_RULE("PRES-313/b", seen.inferred && !seen.stale && shows(&seen, GREEN));
    flips_end();
}

TEST(the_primary_of_the_last_complete_flip_is_inferred)
{
    struct probe *p = flips_create(NULL);

    flips_keep_pixels(p);
    flips_run(p, inferred);
}

/* ---- the device of the client ends ---- */

static void destroyed(struct probe *p)
{
    queue_flips(p);
    CHECK(NT_SUCCESS(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){flips.gpu.device})));
    CHECK_RULE("PRES-310", present_over && IS(presented, STATUS_DEVICE_REMOVED));
    full_engine.silent = false;
    probe_sleep(100 * MS);
    full_engine_stop();
    CHECK(NT_SUCCESS(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){flips.gpu.adapter})));
}

TEST(a_present_that_waits_ends_with_its_device)
{
    struct probe *p = flips_create(NULL);

    flips_keep_pixels(p);
    flips_run(p, destroyed);
}

/* ---- a display-only driver ---- */

static bool settled, settle_over;

static void settle(struct probe *p)
{
    settled = screens_settle(display_screens(p), 0);
    settle_over = true;
}

static void only_shows(struct probe *p)
{
    struct port_scanout seen;

    CHECK(screens_settle(display_screens(p), 0));
    seen = look(p);
    CHECK(seen.pixels && !seen.stale && !seen.inferred);
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    CHECK(present_fill(p, 0, (RECT){0, 0, 8, 8}, RED));
    settle_over = false;
    start(p, "settles", settle);
    probe_sleep(PRESENT_PERIOD);
    CHECK(presents.count == 1 && !settle_over);
    CHECK(IS(unplug(p), STATUS_SUCCESS));
    probe_sleep(MS);
    CHECK_RULE("PRES-054", settle_over && !settled && screens_frames(display_screens(p), 0) == 1);
    CHECK_RULE("PRES-054", look(p).stale && look(p).pixels && look(p).width == 1024);
}

static void take_screen(struct probe *p, struct probe_call *call)
{
    DXGK_DISPLAY_INFORMATION info;

    (void)call;
    CHECK(p->state[0].dxgk.DxgkCbAcquirePostDisplayOwnership(p->state[0].dxgk.DeviceHandle,
                                                             &info) == STATUS_SUCCESS);
}

TEST(an_outstanding_present_fails)
{
    struct probe *p = display_create(NULL);

    can_be_removed(p);
    p->after[PROBE_StartDevice] = take_screen;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, only_shows);
}
