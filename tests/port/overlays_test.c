/* SPDX-License-Identifier: MIT */
/* Multi-plane overlays: from D3DKMTPresentMultiPlaneOverlay to the vertical sync that completes each plane. */
#include "port/support/overlays.h"
#include "screens/scanouts.h"
#include "support/test.h"
#include "vidsch/vidsch_bugcheck.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define ENABLED            1u
#define IMMEDIATE          2u
#define ON_NEXT_VSYNC      4u

static BOOL supported;
static UINT info;

static struct plane_wish pair[2];

/* Layers 0 and 1 of what flips.h has, and the driver has said yes. */
static void ask_pair(void)
{
    pair[0] = overlays_of(0);
    pair[1] = overlays_of(1);
    CHECK(IS(overlays_check(2, pair, &supported, &info), STATUS_SUCCESS) && supported);
}

/* ---- the forms ---- */

static void two_planes(struct probe *p)
{
    const struct overlays_call *last;
    uint64_t plain;

    overlays_begin(p);
    plain = probe_count(p, PROBE_SetVidPnSourceAddress);
    ask_pair();
    overlays_duration = 166667;
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(1000000);
    last = overlays_last();
    CHECK_RULE("PRES-303", overlays_seen.calls == 1 && last->count == 2 &&
                               last->plane[0].layer == 0 && last->plane[1].layer == 1 &&
                               last->source == 0);
    CHECK_RULE("PRES-184", last->plane[0].enabled && last->plane[1].enabled &&
                               last->plane[0].allocation != last->plane[1].allocation &&
                               last->plane[0].address != last->plane[1].address &&
                               last->plane[1].target.right == 1024 && last->plane[1].stretch == 2);
    CHECK_RULE("PRES-185", last->irql > DISPATCH_LEVEL);
    CHECK_RULE("PRES-128", last->duration == 166667);
    CHECK_RULE("PRES-125", (last->form == 3 ? last->plane[0].flags : last->flags) ==
                               (last->form == 3 ? ENABLED | ON_NEXT_VSYNC : ON_NEXT_VSYNC));
    CHECK_RULE("PRES-119/b", last->plane[0].context != NULL);
    if (last->form == 3)
        CHECK_RULE("PRES-187", last->plane[0].id == 1 && last->plane[1].id == 1 &&
                                   last->plane[0].line == UINT32_MAX);
    CHECK(flips_complete(p) == 0);
    probe_sleep(17000000);
    if (last->form == 3) /* by type 10, or by type 7 */
        CHECK_RULE("PRES-164", flips_complete(p) == 2);
    else
        CHECK_RULE("PRES-163", flips_complete(p) == 2);
    CHECK(probe_count(p, PROBE_SetVidPnSourceAddress) == plain);

    /* one plane; the other is not listed, and stays */
    overlays_duration = 0;
    pair[1].primary = 2;
    CHECK(IS(overlays_present(1, &pair[1]), STATUS_SUCCESS));
    probe_sleep(18000000);
    last = overlays_last();
    CHECK_RULE("PRES-184", overlays_seen.calls == 2 && last->count == 1 &&
                               last->plane[0].layer == 1 && flips_complete(p) == 3);
    CHECK_RULE("PRES-128", last->duration == 0);
    if (last->form == 3)
        CHECK_RULE("PRES-187", last->plane[0].id == 2);
    flips_end();
}

TEST(two_planes_in_each_form)
{
    for (unsigned form = 1; form <= 3; form++)
        flips_run(overlays_create(NULL, form), two_planes);
}

/* Those of the client and of the driver need not be the same. */
static void mixed(struct probe *p)
{
    overlays_begin(p);
    for (overlays_client_form = 1; overlays_client_form <= 3; overlays_client_form++) {
        ask_pair();
        CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
        probe_sleep(18000000);
        CHECK(flips_complete(p) == 2 * (uint64_t)overlays_client_form);
        CHECK(overlays_last()->plane[1].stretch == 2 &&
              overlays_last()->plane[1].target.bottom == 768);
    }
    flips_end();
}

TEST(each_form_of_the_client)
{
    for (unsigned form = 1; form <= 3; form++)
        flips_run(overlays_create(NULL, form), mixed);
}

static void newest(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-181", overlays_seen.calls == 1 && overlays_last()->form == 3 &&
                               overlays_seen.check_form == 3 &&
                               probe_count(p, PROBE_CheckMultiPlaneOverlaySupport) == 0 &&
                               probe_count(p, PROBE_CheckMultiPlaneOverlaySupport2) == 0);
    flips_end();
}

TEST(the_newest_form_is_used)
{
    struct probe *p = overlays_create(NULL, 3);

    overlays_set_entries(p, 1, true);
    overlays_set_entries(p, 2, true);
    flips_run(p, newest);
}

static void extras(struct probe *p)
{
    const struct overlays_call *last;

    overlays_begin(p);
    overlays_extras = true;
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    last = overlays_last();
    CHECK(last->composition && last->metadata && last->plane[1].private_bytes == 8 &&
          last->plane[1].private_first == 0x70726976 && last->plane[1].dirty == 2);
    flips_end();
}

TEST(what_the_third_form_has_besides)
{
    flips_run(overlays_create(NULL, 3), extras);
}

/* ---- PresentId begins anew ---- */

static void first_id(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-187", overlays_last()->plane[0].id == 1);
    flips_end();
}

TEST(ids_of_each_start)
{
    flips_run(overlays_create(NULL, 3), first_id);
    flips_run(overlays_create(NULL, 3), first_id);
}

/* ---- DxgkDdiPresent ---- */

static void validated(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    pair[1].enabled = false;
    CHECK(IS(overlays_check(1, pair, &supported, &info), STATUS_SUCCESS));
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    CHECK_RULE("PRES-100",
               overlays_seen.presents == 1 && overlays_seen.present.Flags.Value == 0x1000 &&
                   overlays_seen.info.VidPnSourceId == 0 && overlays_seen.info.PlaneListCount == 2 &&
                   overlays_seen.list[0].LayerIndex == 0 && overlays_seen.list[0].Enabled &&
                   overlays_seen.list[0].hDeviceSpecificAllocation != NULL &&
                   overlays_seen.list[1].LayerIndex == 1 && !overlays_seen.list[1].Enabled &&
                   overlays_seen.list[1].hDeviceSpecificAllocation == NULL);
    CHECK(overlays_seen.present.pDmaBuffer == NULL && overlays_seen.present.DmaSize == 0);
    flips_end();
}

TEST(the_driver_looks_at_the_planes)
{
    flips_run(overlays_create(NULL, 3), validated);
}

/* ---- each layer is a queue ---- */

static void own_queues(struct probe *p)
{
    struct plane_wish slow;

    overlays_begin(p);
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    slow = pair[0];
    slow.interval = D3DDDI_FLIPINTERVAL_FOUR;
    slow.primary = 2;
    CHECK(IS(overlays_present(1, &slow), STATUS_SUCCESS));
    CHECK(IS(overlays_present(1, &pair[0]), STATUS_SUCCESS)); /* behind it */
    CHECK(IS(overlays_present(1, &pair[1]), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK_RULE("PRES-303", overlays_seen.calls == 2 && overlays_last()->plane[0].layer == 1);
    probe_sleep(17000000);
    CHECK_RULE("PRES-303", flips_complete(p) == 3);
    probe_sleep(60000000);
    CHECK_RULE("PRES-303", flips_complete(p) == 4 && overlays_last()->plane[0].layer == 0);
    probe_sleep(17000000);
    CHECK(flips_complete(p) == 5 && overlays_seen.calls == 4);
    flips_end();
}

TEST(a_layer_waits_for_no_other)
{
    struct probe *p = overlays_create(NULL, 3);

    p->caps.FlipCaps.FlipInterval = 1;
    flips_run(p, own_queues);
}

/* A vertical sync with a later id completes the ones before it. */
static void later_id(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    for (unsigned i = 0; i < 2; i++)
        CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK_RULE("PRES-139", overlays_seen.calls == 2); /* both are with the hardware */
    probe_sleep(17000000);
    CHECK_RULE("PRES-164", flips_complete(p) == 4);
    flips_end();
}

TEST(two_pending_of_a_layer)
{
    struct probe *p = overlays_create(NULL, 3);

    p->caps.MaxQueuedMultiPlaneOverlayFlipVSync = 2;
    flips_run(p, later_id);
}

static void room(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    full_engine.silent = true;
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK(overlays_seen.calls == 1 && flips_complete(p) == 0);
    full_engine.silent = false;
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS)); /* the fourth waits */
    CHECK_RULE("PRES-288", flips_complete(p) >= 2);
    probe_sleep(100000000);
    CHECK(flips_complete(p) == 8 && overlays_seen.calls == 4);
    flips_end();
}

TEST(presents_of_planes_wait_for_room)
{
    flips_run(overlays_create(NULL, 3), room);
}

/* ---- at once ---- */

static void at_once(struct probe *p)
{
    const bool cap = p->caps.SupportMultiPlaneOverlayImmediateFlip != FALSE;

    overlays_begin(p);
    ask_pair();
    pair[0].interval = pair[1].interval = D3DDDI_FLIPINTERVAL_IMMEDIATE;
    full_engine.silent = true;
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK_RULE("PRES-125",
               overlays_last()->plane[0].flags == (ENABLED | (cap ? IMMEDIATE : ON_NEXT_VSYNC)));
    CHECK_RULE("PRES-150", (flips_complete(p) == 2) == cap);
    if (cap) { /* as the driver wants it */
        overlays.converts = overlays.wants_post = true;
        pair[0].interval = pair[1].interval = D3DDDI_FLIPINTERVAL_ONE;
        CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
        probe_sleep(1000000);
        CHECK(flips_complete(p) == 4 && overlays_seen.posts == 2 &&
              overlays_seen.post.PresentID == 2);
    }
    full_engine.silent = false;
    flips_end();
}

TEST(planes_at_once)
{
    for (unsigned cap = 0; cap < 2; cap++) {
        struct probe *p = overlays_create(NULL, 3);

        p->caps.SupportMultiPlaneOverlayImmediateFlip = cap != 0;
        flips_run(p, at_once);
    }
}

/* ---- at a lower level ---- */

static void again(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    overlays.needs_passive = true;
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK_RULE("PRES-185",
               overlays_seen.calls == 2 && overlays_seen.call[0].irql > DISPATCH_LEVEL &&
                   overlays_seen.call[0].flags == 0 && overlays_seen.call[1].irql == PASSIVE_LEVEL &&
                   overlays_seen.call[1].flags == 8 /* RetryAtLowerIrql */ &&
                   overlays_seen.call[1].plane[0].id == overlays_seen.call[0].plane[0].id);
    probe_sleep(17000000);
    CHECK(flips_complete(p) == 2);
    flips_end();
}

TEST(a_driver_that_wants_to_wait)
{
    flips_run(overlays_create(NULL, 3), again);
}

/* ---- DxgkDdiPostMultiPlaneOverlayPresent ---- */

static void posted(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-188/a", overlays_seen.posts == 0);
    overlays.wants_post = true;
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-188/a", overlays_seen.posts == 1 && overlays_seen.post.LayerIndex == 1 &&
                                 overlays_seen.post.PresentID == 2 &&
                                 overlays_seen.post.VidPnTargetId == DISPLAY_CHILD &&
                                 overlays_seen.post_irql == PASSIVE_LEVEL);
    overlays.wants_post = false;
    flips_end();
}

TEST(after_a_present)
{
    flips_run(overlays_create(NULL, 3), posted);
}

/* ---- the wrong type ---- */

static void wrong_type(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    overlays.type = DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY2;
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-162/a", probe_rule(p, "PRES-162") >= 1 && flips_complete(p) == 0);
    overlays.type = DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY;
    probe_sleep(17000000);
    CHECK_RULE("PRES-163", flips_complete(p) == 2);
    flips_end();
}

TEST(ids_are_of_the_third_form)
{
    flips_run(overlays_create(NULL, 1), wrong_type);
    flips_run(overlays_create(NULL, 2), wrong_type);
}

/* Of a driver of the third form, addresses do, too; and the primary's alone for its layer. */
static void by_address(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-163", flips_complete(p) == 2);
    overlays.type = DXGK_INTERRUPT_CRTC_VSYNC;
    pair[0].primary = 2;
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK(flips_complete(p) == 3);
    overlays.type = DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY;
    probe_sleep(17000000);
    CHECK(flips_complete(p) == 4 && probe_rule(p, "PRES-143") == 0);
    flips_end();
}

TEST(addresses_of_planes)
{
    struct probe *p = overlays_create(NULL, 3);

    overlays.type = DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY;
    flips_run(p, by_address);
}

/* ---- failures ---- */

static void dropped(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    overlays.show_status = STATUS_INVALID_PARAMETER;
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK_RULE("PRES-186", overlays_seen.calls == 1 && flips_complete(p) == 0 &&
                               probe_rule(p, "PRES-186") == 1 &&
                               !verify_bugcheck_state(p->log)->happened);
    overlays.show_status = STATUS_SUCCESS;
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK_RULE("PRES-186", flips_complete(p) == 2);
    flips_end();
}

TEST(form_one_may_refuse)
{
    flips_run(overlays_create(NULL, 1), dropped);
}

static void fails(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    (void)overlays_present(2, pair);
    probe_sleep(40000000);
}

static void expect_fatal(struct probe *p, const char *rule, uint64_t code)
{
    const struct verify_bugcheck *state;

    flips_run_fatal(p, fails);
    state = verify_bugcheck_state(p->log);
    CHECK(state->happened && state->code == 0x119 && state->parameter[0] == code &&
          probe_rule(p, rule) == 1);
    probe_destroy(p);
}

TEST(failures_of_the_call_are_fatal)
{
    static const struct {
        unsigned form;
        NTSTATUS status;
    } cases[] = {{1, STATUS_UNSUCCESSFUL},
                 {2, STATUS_INVALID_PARAMETER},
                 {3, STATUS_UNSUCCESSFUL},
                 {3, STATUS_RETRY}}; /* without PrePresentNeeded */

    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct probe *p = overlays_create(NULL, cases[i].form);

        overlays.show_status = cases[i].status;
        expect_fatal(p, "PRES-186", 0xB);
        CHECK_RULE("PRES-186", overlays_seen.calls == 1);
    }
}

TEST(a_failing_post_is_fatal)
{
    struct probe *p = overlays_create(NULL, 3);

    overlays.wants_post = true;
    overlays.post_status = STATUS_UNSUCCESSFUL;
    expect_fatal(p, "PRES-188", 0xF);
    CHECK_RULE("PRES-188/b", overlays_seen.posts == 1);
}

TEST(a_layer_that_there_is_not)
{
    for (unsigned form = 1; form <= 3; form += 2) {
        struct probe *p = overlays_create(NULL, form);

        overlays.told_layer = 1; /* 1 to 4, of 4 */
        expect_fatal(p, "PRES-165", 0xE);
        CHECK_RULE("PRES-165", overlays_seen.calls == 1);
    }
}
