/* SPDX-License-Identifier: MIT */
/* DxgkDdiPresentDisplayOnly: the image, the rectangles, and what they are sent for. */
#include "port/support/presents.h"
#include "screens/region.h"
#include "support/test.h"

#include <ntifs.h>

static void one_call(struct probe *p)
{
    const struct present_frame *frame = &presents.frame[0];

    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    CHECK(present_draw(p, (RECT){16, 32, 48, 64}, 0x123456));
    CHECK_RULE("PRES-197", presents.count == 1 && frame->irql == PASSIVE_LEVEL);
    CHECK_RULE("PRES-199", frame->args.BytesPerPixel == 4 && frame->args.Pitch == 4096 &&
                               frame->args.VidPnSourceId == 0 && frame->pixel == 0x123456);
    CHECK_RULE("PRES-209", frame->args.pfnPresentDisplayOnlyProgress == NULL);
    CHECK_RULE("PRES-208", frame->args.Flags.Value == 0);
    CHECK_RULE("PRES-204/a", present_is(0, (RECT){16, 32, 48, 64}));
    CHECK_RULE("PRES-204/d", frame->args.NumMoves == 0 && frame->args.pMoves == NULL);
    CHECK_RULE("PRES-210", screens_frames(display_screens(p), 0) == 2);
}

TEST(each_frame_is_one_call)
{
    display_run(NULL, one_call);
}

/* ---- the image ---- */

static void two_draw(struct probe *p)
{
    const uint8_t *image;
    uint32_t pixel;

    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    CHECK(present_fill(p, 0, (RECT){0, 0, 8, 8}, 0x111111));
    CHECK(present_draw(p, (RECT){100, 100, 108, 108}, 0x222222));
    image = presents.frame[presents.count - 1].args.pSource;
    memcpy(&pixel, image, sizeof(pixel));
    CHECK_RULE("PRES-198", pixel == 0x111111);
    memcpy(&pixel, image + 100 * 4096 + 100 * 4, sizeof(pixel));
    CHECK_RULE("PRES-198", pixel == 0x222222);
}

TEST(the_image_is_the_newest_frame)
{
    display_run(NULL, two_draw);
}

static void padded(struct probe *p)
{
    const DXGKARG_PRESENT_DISPLAYONLY *args = &presents.frame[0].args;
    uint32_t pixel;

    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    CHECK(present_draw(p, (RECT){0, 767, 1024, 768}, 0x654321));
    CHECK_RULE("PRES-200", args->Pitch == 4160 && args->BytesPerPixel == 4);
    memcpy(&pixel, (const uint8_t *)args->pSource + 767 * 4160 + 1023 * 4, 4);
    CHECK_RULE("PRES-200", pixel == 0x654321);
}

TEST(lines_may_be_longer)
{
    const struct probe_options options = {.port = {.present_pitch = 64}};

    display_run(&options, padded);
}

static NTSTATUS lock_source(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    const ULONG bytes = 1024 * 768 * 4;
    PMDL mdl = IoAllocateMdl(args->pSource, bytes, FALSE, FALSE, NULL);
    const uint32_t *mapped;

    CHECK(mdl != NULL);
    CHECK_RULE("PRES-201/a", ((ULONG_PTR)args->pSource & (PAGE_SIZE - 1)) == 0 &&
                                 (ULONG_PTR)args->pSource < MmUserProbeAddress);
    MmProbeAndLockPages(mdl, UserMode, IoReadAccess); /* the test ends with its exception */
    mapped = MmGetSystemAddressForMdlSafe(mdl, NormalPagePriority | MdlMappingNoExecute);
    CHECK_RULE("PRES-201/a", mapped && mapped[1024 * 767 + 1023] == 0x777777);
    MmUnlockPages(mdl);
    IoFreeMdl(mdl);
    return presents_take(p, args);
}

static void lockable(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    display.in_present = lock_source;
    CHECK(present_draw(p, (RECT){1000, 700, 1024, 768}, 0x777777));
}

TEST(the_image_can_be_locked)
{
    display_run(NULL, lockable);
}

static NTSTATUS write_source(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    (void)p;
    *(volatile uint8_t *)args->pSource = 1;
    return STATUS_SUCCESS;
}

static void draw_pixel(struct probe *p)
{
    display.in_present = write_source;
    (void)present_draw(p, (RECT){0, 0, 1, 1}, 1);
}

TEST(the_image_is_read_only)
{
    struct probe *p = display_create(NULL);

    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK_RULE("PRES-201/b", probe_run(p, draw_pixel) == SIM_STOPPED);
    CHECK_RULE("PRES-201/b", probe_reports(p, VERIFY_FATAL) == 1);
    probe_destroy(p);
}

/* ---- rectangles ---- */

static void many(struct probe *p)
{
    struct region covered = {0};
    struct screens_image image;
    RECT r;

    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    CHECK(screens_draw(display_screens(p), 0, &image));
    for (LONG i = 0; i < 64; i++) {
        r = (RECT){16 * (i % 8), 16 * (i / 8), 16 * (i % 8) + 8, 16 * (i / 8) + 8};
        screens_drawn(display_screens(p), 0, &r);
    }
    CHECK(screens_settle(display_screens(p), 0));
    for (UINT i = 0; i < presents.frame[0].args.NumDirtyRects; i++)
        region_add(&covered, &presents.frame[0].rect[i]);
    CHECK_RULE("PRES-204/b", presents.count == 1 && presents.frame[0].args.NumDirtyRects == 64 &&
                                 region_pixels(&covered) == 64 * 64);
    CHECK(screens_draw(display_screens(p), 0, &image));
    for (LONG i = 0; i < 100; i++) {
        r = (RECT){10 * i, 4 * i, 10 * i + 5, 4 * i + 2};
        screens_drawn(display_screens(p), 0, &r);
    }
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-204/b", presents.count == 2 && present_is(1, (RECT){0, 0, 995, 398}));
}

TEST(many_rectangles_are_one)
{
    display_run(NULL, many);
}

static void overlapping(struct probe *p)
{
    static const RECT outside = {1000, 760, 2000, 800}, a = {0, 0, 20, 20}, b = {10, 10, 30, 30};
    uint64_t area = 0;
    struct region covered = {0};
    struct screens_image image;

    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    CHECK(screens_draw(display_screens(p), 0, &image));
    screens_drawn(display_screens(p), 0, &a);
    screens_drawn(display_screens(p), 0, &b);
    CHECK(screens_settle(display_screens(p), 0));
    for (UINT i = 0; i < presents.frame[0].args.NumDirtyRects; i++) {
        const RECT *r = &presents.frame[0].rect[i];

        area += (uint64_t)(r->right - r->left) * (uint64_t)(r->bottom - r->top);
        region_add(&covered, r);
    }
    CHECK_RULE("PRES-204/c", presents.count == 1 && area == 700 && region_pixels(&covered) == 700);
    CHECK(screens_draw(display_screens(p), 0, &image));
    screens_drawn(display_screens(p), 0, &outside);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-204/a", present_is(1, (RECT){1000, 760, 1024, 768}));
}

TEST(rectangles_lie_inside_and_do_not_overlap)
{
    display_run(NULL, overlapping);
}

static void nothing(struct probe *p)
{
    static const RECT empty = {5, 5, 5, 9}, outside = {1024, 0, 1030, 10}, above = {0, -5, 9, 0};
    struct screens_image image;

    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    CHECK(screens_draw(display_screens(p), 0, &image));
    screens_drawn(display_screens(p), 0, &empty);
    screens_drawn(display_screens(p), 0, &outside);
    screens_drawn(display_screens(p), 0, &above);
    probe_sleep(5 * PRESENT_PERIOD);
    CHECK_RULE("PRES-205", presents.count == 0 && screens_settle(display_screens(p), 0));
}

TEST(nothing_changed_is_no_frame)
{
    display_run(NULL, nothing);
}

static const RECT *kept;

static NTSTATUS keep_rects(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    kept = args->pDirtyRect;
    return presents_take(p, args);
}

static void outlived(struct probe *p)
{
    const struct present_frame *frame = &presents.frame[0];
    uint32_t pixel;

    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    display.in_present = keep_rects;
    CHECK(present_fill(p, 0, (RECT){7, 7, 9, 9}, 0xABCDEF));
    probe_sleep(PRESENT_PERIOD);
    CHECK_RULE("PRES-206", presents.count == 1 && (kept->left < 0 || kept->left > 1024));
    memcpy(&pixel, (const uint8_t *)frame->args.pSource + 7 * 4096 + 7 * 4, sizeof(pixel));
    CHECK_RULE("PRES-206", pixel == 0xABCDEF);
    CHECK(present_report(p, 0, PRESENT_DONE) == STATUS_SUCCESS);
}

TEST(rectangles_live_during_the_call)
{
    display_run(NULL, outlived);
}

/* ---- rotation ---- */

static void rotated(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    CHECK(display_ask_mode(p, 0, 1024, 768, 1) == STATUS_SUCCESS);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-208", presents.frame[0].args.Flags.Value == 1 &&
                               presents.frame[0].args.Pitch == 768 * 4 &&
                               present_is(0, (RECT){0, 0, 768, 1024}));
    CHECK_RULE("PRES-207", presents.frame[0].args.Flags.Rotate == 1);
    CHECK(display_ask_mode(p, 0, 1024, 768, 2) == STATUS_SUCCESS);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-208", presents.frame[1].args.Flags.Value == 1 && present_is(1, WHOLE));
    CHECK(display_ask_mode(p, 0, 1024, 768, 0) == STATUS_SUCCESS);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-208", presents.frame[2].args.Flags.Value == 0 && present_is(2, WHOLE));
    CHECK_RULE("PRES-222", presents.count == 3);
}

TEST(a_rotated_path_has_a_turned_image)
{
    display_run(NULL, rotated);
}
