/* SPDX-License-Identifier: MIT */
/* Multi-plane overlays: what is asked before, what ends them, and what is seen. */
#include "port/support/overlays.h"
#include "screens/planes.h"
#include "screens/scanouts.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static BOOL supported;
static UINT info;
static struct plane_wish pair[2];

static void ask_pair(void)
{
    pair[0] = overlays_of(0);
    pair[1] = overlays_of(1);
    CHECK(IS(overlays_check(2, pair, &supported, &info), STATUS_SUCCESS) && supported);
}

/* ---- the start ---- */

static UINT warnings(UINT planes, bool cap, unsigned form)
{
    struct probe *p = overlays_create(NULL, 3);
    UINT told;

    p->caps.SupportMultiPlaneOverlay = cap;
    p->caps.MaxOverlayPlanes = planes;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    told = (UINT)probe_rule(p, "DISP-169");
    CHECK_RULE("DISP-169",
               p->adapter[0]->display.plane_form == form &&
                   (!form || planes_most(port_display_scanouts(p->adapter[0])) == planes));
    display_end(p);
    return told;
}

TEST(how_many_planes_there_may_be)
{
    CHECK_RULE("DISP-169", warnings(0, true, 0) == 1);
    CHECK_RULE("DISP-169", warnings(1, true, 0) == 1);
    CHECK_RULE("DISP-169", warnings(2, true, 3) == 0);
    CHECK_RULE("DISP-169", warnings(16, true, 3) == 0);
    CHECK_RULE("DISP-169", warnings(17, true, 0) == 1);
    CHECK_RULE("DISP-169", warnings(2, false, 0) == 1);
    CHECK_RULE("DISP-169", warnings(0, false, 0) == 0);
}

static void without(UINT version, enum probe_ddi missing, const char *name, unsigned form)
{
    const struct probe_options options = {.version = version};
    struct probe *p = overlays_create(&options, 3);

    overlays_set_entries(p, 1, true);
    overlays_set_entries(p, 2, true);
    probe_set_entry(p, missing, false);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-180", probe_rule(p, "PRES-180") == 1 && probe_said(p, "PRES-180", name) &&
                               probe_record(p, "PRES-180")->severity == VERIFY_WARNING);
    CHECK_RULE("PRES-181", p->adapter[0]->display.plane_form == form);
    display_end(p);
}

static void strictly(void)
{
    const struct probe_options options = {.strict = true};
    struct probe *p = overlays_create(&options, 3);

    probe_set_entry(p, PROBE_CheckMultiPlaneOverlaySupport3, false);
    CHECK_RULE("PRES-180", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                               probe_rule(p, "PRES-180") == 1);
    probe_destroy(p);
}

TEST(the_entries_of_a_version)
{
    without(DXGKDDI_INTERFACE_VERSION_WDDM2_9, PROBE_CheckMultiPlaneOverlaySupport3,
            "DxgkDdiCheckMultiPlaneOverlaySupport3", 2);
    without(DXGKDDI_INTERFACE_VERSION_WDDM2_9, PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay3,
            "DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay3", 2);
    without(DXGKDDI_INTERFACE_VERSION_WDDM2_9, PROBE_GetMultiPlaneOverlayCaps,
            "DxgkDdiGetMultiPlaneOverlayCaps", 3);
    without(DXGKDDI_INTERFACE_VERSION_WDDM2_0, PROBE_CheckMultiPlaneOverlaySupport2,
            "DxgkDdiCheckMultiPlaneOverlaySupport2", 1);
    strictly();
}

TEST(without_any_pair)
{
    struct probe *p = overlays_create(NULL, 3);

    overlays_set_entries(p, 3, false);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-180", probe_rule(p, "PRES-180") == 1 && p->adapter[0]->display.plane_form == 0);
    display_end(p);
}

/* ---- a driver without overlays ---- */

static UINT overlay_calls(const struct probe *p)
{
    static const enum probe_ddi entries[] = {PROBE_CheckMultiPlaneOverlaySupport,
                                             PROBE_CheckMultiPlaneOverlaySupport2,
                                             PROBE_CheckMultiPlaneOverlaySupport3,
                                             PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay,
                                             PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay2,
                                             PROBE_SetVidPnSourceAddressWithMultiPlaneOverlay3,
                                             PROBE_PostMultiPlaneOverlayPresent,
                                             PROBE_GetMultiPlaneOverlayCaps,
                                             PROBE_GetPostCompositionCaps};
    UINT count = 0;

    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        count += (UINT)probe_count(p, entries[i]);
    return count;
}

static void plain_driver(struct probe *p)
{
    D3DKMT_GET_MULTIPLANE_OVERLAY_CAPS caps = {.MaxPlanes = 9};
    D3DKMT_GET_POST_COMPOSITION_CAPS composition = {.MaxStretchFactor = 9};

    overlays_begin(p);
    caps.hAdapter = composition.hAdapter = flips.gpu.adapter;
    pair[0] = overlays_of(0);
    pair[1] = overlays_of(1);
    for (overlays_client_form = 1; overlays_client_form <= 3; overlays_client_form++) {
        CHECK_RULE("PRES-302", IS(overlays_check(2, pair, &supported, &info), STATUS_SUCCESS) &&
                                   supported == FALSE && info == 0);
        CHECK_RULE("PRES-303", IS(overlays_present(2, pair), STATUS_NOT_SUPPORTED));
    }
    CHECK_RULE("PRES-302", IS(D3DKMTGetMultiPlaneOverlayCaps(&caps), STATUS_SUCCESS) &&
                               caps.MaxPlanes == 1 && caps.OverlayCaps.Value == 0);
    CHECK_RULE("PRES-302", IS(D3DKMTGetPostCompositionCaps(&composition), STATUS_SUCCESS) &&
                               composition.MaxStretchFactor == 1);
    CHECK_RULE("PRES-179", overlay_calls(p) == 0);
    CHECK_RULE("PRES-302", overlay_calls(p) == 0);
    flips_end();
}

TEST(a_driver_that_has_none)
{
    struct probe *p = overlays_create(NULL, 3);

    p->caps.SupportMultiPlaneOverlay = FALSE;
    p->caps.MaxOverlayPlanes = 0;
    flips_run(p, plain_driver);
}

/* ---- what is asked ---- */

static void asked(struct probe *p)
{
    overlays_begin(p);
    pair[0] = overlays_of(0);
    pair[1] = overlays_of(1);
    overlays.info = 0x12; /* TryAgain, plane 2 */
    overlays.supported = FALSE;
    CHECK_RULE("PRES-182/a",
               IS(overlays_check(2, pair, &supported, &info), STATUS_SUCCESS) &&
                   overlays_seen.checks == 1 && overlays_seen.check_count == 2 &&
                   overlays_seen.check_irql == PASSIVE_LEVEL &&
                   overlays_seen.check_allocation[0] != NULL &&
                   overlays_seen.check_allocation[1] != overlays_seen.check_allocation[0]);
    CHECK_RULE("PRES-302", supported == FALSE && info == 0x12);
    CHECK_RULE("PRES-183", overlays_seen.preset == FALSE);
    CHECK_RULE("PRES-182/b",
               IS(overlays_present(2, pair), STATUS_INVALID_PARAMETER) && overlays_seen.calls == 0);
    CHECK_RULE("PRES-183", strcmp(probe_refused_rule, "PRES-183") == 0);

    overlays.supported = TRUE; /* with an error it counts as FALSE */
    overlays.check_status = STATUS_UNSUCCESSFUL;
    CHECK_RULE("PRES-183", IS(overlays_check(2, pair, &supported, &info), STATUS_SUCCESS) &&
                               supported == FALSE && probe_rule(p, "PRES-183") == 1);
    CHECK_RULE("PRES-183", IS(overlays_present(2, pair), STATUS_INVALID_PARAMETER));

    overlays.check_status = STATUS_SUCCESS;
    CHECK_RULE("PRES-302", IS(overlays_check(2, pair, &supported, &info), STATUS_SUCCESS) &&
                               supported != FALSE);
    CHECK_RULE("PRES-183", IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    pair[1].target.left = 8; /* another configuration */
    CHECK_RULE("PRES-183", IS(overlays_present(1, &pair[1]), STATUS_INVALID_PARAMETER));
    pair[1].target.left = 0;
    CHECK_RULE("PRES-183", IS(overlays_present(1, &pair[1]), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
    CHECK_RULE("PRES-183", IS(overlays_present(2, pair), STATUS_INVALID_PARAMETER)); /* a commit */
    flips_end();
}

TEST(planes_are_asked_about_first)
{
    for (unsigned form = 1; form <= 3; form++)
        flips_run(overlays_create(NULL, form), asked);
}

static void refused(struct probe *p)
{
    struct plane_wish twice[2] = {overlays_of(1), overlays_of(1)};
    struct plane_wish beyond = overlays_of(PLANES);
    D3DKMT_SETVIDPNSOURCEOWNER release = {.hDevice = flips.gpu.device};

    overlays_begin(p);
    ask_pair();
    CHECK_RULE("PRES-303", IS(overlays_present(2, twice), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-303", IS(overlays_present(1, &beyond), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-303", IS(overlays_present(0, pair), STATUS_INVALID_PARAMETER));
    CHECK(IS(overlays_check(2, twice, &supported, &info), STATUS_INVALID_PARAMETER));
    CHECK(IS(overlays_check(1, &beyond, &supported, &info), STATUS_INVALID_PARAMETER));
    pair[1].interval = D3DDDI_FLIPINTERVAL_TWO;
    CHECK_RULE("PRES-147", IS(overlays_present(2, pair), STATUS_INVALID_PARAMETER));
    pair[1].interval = D3DDDI_FLIPINTERVAL_ONE;
    release.hDevice = flips.gpu.device;
    CHECK(IS(D3DKMTSetVidPnSourceOwner(&release), STATUS_SUCCESS));
    CHECK_RULE("PRES-303", IS(overlays_present(2, pair), STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER));
    CHECK(overlays_seen.calls == 0);
    flips_end();
}

TEST(presents_that_are_refused)
{
    flips_run(overlays_create(NULL, 3), refused);
}

static void told_caps(struct probe *p)
{
    D3DKMT_GET_MULTIPLANE_OVERLAY_CAPS caps = {0};
    D3DKMT_GET_POST_COMPOSITION_CAPS composition = {0};

    overlays_begin(p);
    caps.hAdapter = composition.hAdapter = flips.gpu.adapter;
    for (unsigned i = 0; i < 2; i++) {
        CHECK_RULE("PRES-302", IS(D3DKMTGetMultiPlaneOverlayCaps(&caps), STATUS_SUCCESS) &&
                                   caps.MaxPlanes == PLANES && caps.MaxRGBPlanes == 3 &&
                                   caps.MaxYUVPlanes == 2 && caps.OverlayCaps.Value == 0x830 &&
                                   caps.MaxStretchFactor == 4 && caps.MaxShrinkFactor == 2);
        CHECK_RULE("PRES-302", IS(D3DKMTGetPostCompositionCaps(&composition), STATUS_SUCCESS) &&
                                   composition.MaxStretchFactor == 3 &&
                                   composition.MaxShrinkFactor == 1.5F);
    }
    CHECK_RULE("PRES-189",
               overlays_seen.caps == 1 && overlays_seen.compositions == 1 &&
                   probe_nth(p, PROBE_GetMultiPlaneOverlayCaps, 0)->irql == PASSIVE_LEVEL);
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
    CHECK(IS(D3DKMTGetMultiPlaneOverlayCaps(&caps), STATUS_SUCCESS));
    CHECK(IS(D3DKMTGetPostCompositionCaps(&composition), STATUS_SUCCESS));
    CHECK_RULE("PRES-189", overlays_seen.caps == 2 && overlays_seen.compositions == 2);
    caps.VidPnSourceId = 1;
    CHECK(IS(D3DKMTGetMultiPlaneOverlayCaps(&caps), STATUS_INVALID_PARAMETER));
    flips_end();
}

TEST(what_the_driver_says_of_its_planes)
{
    flips_run(overlays_create(NULL, 3), told_caps);
}

/* ---- plain functions ---- */

static void plain(struct probe *p)
{
    struct plane_wish other = overlays_without(1);

    overlays_begin(p);
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-191", overlays_seen.calls == 1);
    CHECK(IS(flips_flip(flips.primary[2]), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-191", overlays_seen.calls == 1 && flips_last()->flags == FLIPS_ON_NEXT_VSYNC &&
                               flips_complete(p) == 3);
    /* the other plane is off, so its allocation can go, and switching it off again is the same */
    CHECK_RULE("PRES-190", planes_shown(port_display_scanouts(p->adapter[0]), 0) == 0);
    CHECK_RULE("PRES-190", IS(overlays_present(1, &pair[1]), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK(planes_shown(port_display_scanouts(p->adapter[0]), 0) == 1);
    CHECK(IS(overlays_check(1, pair, &supported, &info), STATUS_SUCCESS));
    CHECK(IS(overlays_present(1, &other), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-184", !overlays_last()->plane[0].enabled &&
                               overlays_last()->plane[0].allocation == NULL &&
                               planes_shown(port_display_scanouts(p->adapter[0]), 0) == 0);
    /* visibility shows the primary alone */
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK(planes_shown(port_display_scanouts(p->adapter[0]), 0) == 1);
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
    CHECK_RULE("PRES-190", planes_shown(port_display_scanouts(p->adapter[0]), 0) == 0);
    flips_end();
}

TEST(the_primary_alone_ends_overlays)
{
    for (unsigned form = 1; form <= 3; form++)
        flips_run(overlays_create(NULL, form), plain);
}

/* Of a driver that has nothing but the third form. */
static void third_alone(struct probe *p)
{
    CHECK_RULE("PRES-191", overlays_seen.calls == 1 && overlays_last()->count == 1 &&
                               overlays_last()->plane[0].layer == 0 &&
                               overlays_last()->irql == PASSIVE_LEVEL &&
                               overlays_last()->plane[0].allocation == full_seen.primary);
    overlays_begin(p);
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-191", overlays_last()->count == 1 && overlays_last()->plane[0].layer == 0 &&
                               overlays_last()->irql > DISPATCH_LEVEL &&
                               overlays_last()->plane[0].flags == 5 && flips_complete(p) == 1);
    flips_end();
}

TEST(a_driver_without_the_plain_function)
{
    struct probe *p = overlays_create(NULL, 3);

    probe_set_entry(p, PROBE_SetVidPnSourceAddress, false);
    flips_run(p, third_alone);
}

/* ---- the end of who presents ---- */

static void leave(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS)); /* pending */
    CHECK(NT_SUCCESS(probe_gpu_end(&flips.gpu)));
    CHECK_RULE("PRES-259", flips_last()->allocation == full_seen.primary ||
                               planes_shown(port_display_scanouts(p->adapter[0]), 0) == 0);
    full_engine_stop();
}

TEST(a_client_that_goes_with_its_planes)
{
    flips_run(overlays_create(NULL, 3), leave);
}

static void reset(struct probe *p)
{
    overlays_begin(p);
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    full_engine.enabled = false;
    probe_sleep(10000000);
    CHECK_RULE("PRES-254", flips_complete(p) == 2 &&
                               planes_shown(port_display_scanouts(p->adapter[0]), 0) == 0);
    flips_end();
}

TEST(a_reset_ends_planes)
{
    flips_run(overlays_create(NULL, 3), reset);
}

/* ---- hardware flip queues ---- */

static bool granted;
static NTSTATUS asked_status;

static void in_start(struct probe *p, struct probe_call *call)
{
    (void)call;
    granted = probe_feature_enabled(p, DXGK_FEATURE_HWFLIPQUEUE, &asked_status);
}

static void no_queue(struct probe *p)
{
    CHECK_RULE("PRES-192/a", !granted && IS(asked_status, STATUS_SUCCESS));
    overlays_begin(p);
    ask_pair();
    CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-192/b", probe_count(p, PROBE_SetFlipQueueLogBuffer) == 0 &&
                                 probe_count(p, PROBE_UpdateFlipQueueLog) == 0 &&
                                 probe_count(p, PROBE_SetInterruptTargetPresentId) == 0 &&
                                 probe_count(p, PROBE_CancelFlips) == 0 &&
                                 probe_count(p, PROBE_CancelQueuedFlips) == 0);
    flips_end();
}

TEST(nothing_of_hardware_flip_queues_is_called)
{
    static const enum probe_ddi entries[] = {PROBE_SetFlipQueueLogBuffer, PROBE_UpdateFlipQueueLog,
                                             PROBE_SetInterruptTargetPresentId, PROBE_CancelFlips,
                                             PROBE_CancelQueuedFlips};
    struct probe *p = overlays_create(NULL, 3);

    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        probe_set_entry(p, entries[i], true);
    granted = true;
    p->after[PROBE_StartDevice] = in_start;
    flips_run(p, no_queue);
}

/* ---- no memory ---- */

/* Each request for memory fails once; what is queued all the same is shown. */
static void starved(struct probe *p)
{
    struct util_heap *heap = &p->sim->heap;
    uint64_t nth = 0;
    NTSTATUS status;

    overlays_begin(p);
    ask_pair();
    do {
        heap->fail_at = heap->requests + ++nth;
        status = overlays_check(2, pair, &supported, &info);
        heap->fail_at = 0;
        CHECK(IS(status, STATUS_SUCCESS) || IS(status, STATUS_NO_MEMORY));
    } while ((!NT_SUCCESS(status) || !supported) && nth < 100);
    CHECK(nth >= 2 && nth < 100);
    nth = 0;
    do {
        heap->fail_at = heap->requests + ++nth;
        status = overlays_present(2, pair);
        heap->fail_at = 0;
        CHECK(IS(status, STATUS_SUCCESS) || IS(status, STATUS_NO_MEMORY));
        probe_sleep(40000000);
    } while (!NT_SUCCESS(status) && nth < 100);
    CHECK(nth > 2 && nth < 100 && flips_complete(p) % 2 == 0);
    for (nth = 1; nth < 40; nth++) { /* in what the thread does of it */
        CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
        heap->fail_at = heap->requests + nth;
        probe_sleep(40000000);
        heap->fail_at = 0;
    }
    status = overlays_present(2, pair);
    probe_sleep(40000000);
    CHECK(IS(status, STATUS_SUCCESS) && planes_shown(port_display_scanouts(p->adapter[0]), 0) == 1);
    flips_end();
}

TEST(no_memory_for_planes)
{
    for (unsigned form = 1; form <= 3; form++)
        flips_run(overlays_create(NULL, form), starved);
}

/* ---- many, at different times ---- */

/* Presents of planes and flips of the primary alone keep their order, and all come to an end. */
static void many(struct probe *p)
{
    uint64_t wanted = 0;

    overlays_begin(p);
    ask_pair();
    for (unsigned i = 0; i < 60; i++) {
        pair[0].primary = i % 3;
        pair[1].primary = (i + 1) % 3;
        if (i % 7 == 3) {
            CHECK(IS(flips_flip(flips.primary[i % 3]), STATUS_SUCCESS));
            wanted++;
        } else if (i % 5 == 4 && i % 7 != 4) {
            CHECK(IS(overlays_present(1, &pair[i % 2]), STATUS_SUCCESS));
            wanted++;
        } else {
            CHECK(IS(overlays_present(2, pair), STATUS_SUCCESS));
            wanted += 2;
        }
    }
    probe_sleep(200000000);
    CHECK(flips_complete(p) == wanted && probe_reports(p, VERIFY_ERROR) == 0);
    flips_end();
}

TEST(planes_and_the_primary_alone_in_turn)
{
    for (unsigned form = 1; form <= 3; form++) {
        struct probe *p = overlays_create(NULL, form);

        p->caps.MaxQueuedFlipOnVSync = form;
        p->caps.MaxQueuedMultiPlaneOverlayFlipVSync = 3 - form;
        flips_run(p, many);
    }
}
