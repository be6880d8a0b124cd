/* SPDX-License-Identifier: MIT */
/* The mouse pointer of a full driver: by its hardware, or by nobody but who takes a picture. */
#include "port/support/full_display.h"
#include "screens/picture.h"
#include "screens/pointer_shape.h"
#include "screens/scanout_pointer.h"
#include "support/test.h"

#include <string.h>

#define RED 0xFFFF0000u

static const uint32_t red[16] = {RED, RED, RED, RED, RED, RED, RED, RED,
                                 RED, RED, RED, RED, RED, RED, RED, RED};

/* What the driver was told. */
static struct {
    DXGKARG_SETPOINTERSHAPE shape;
    DXGKARG_SETPOINTERPOSITION position;
    UINT shapes, positions;
    UINT commits, addresses; /* before the last position */
    NTSTATUS shape_answer;
} told;

static void take_shape(struct probe *p, struct probe_call *call)
{
    (void)p;
    told.shapes++;
    told.shape = *(const DXGKARG_SETPOINTERSHAPE *)(uintptr_t)call->arg[1];
    call->answered = true;
    call->result = (uint64_t)told.shape_answer;
}

static void take_position(struct probe *p, struct probe_call *call)
{
    (void)p;
    told.positions++;
    told.position = *(const DXGKARG_SETPOINTERPOSITION *)(uintptr_t)call->arg[1];
    told.commits = display_seen.commits;
    told.addresses = full_seen.addresses;
    call->answered = true;
}

static void run(UINT kinds, void (*body)(struct probe *p))
{
    struct probe *p = full_display_create(NULL);

    memset(&told, 0, sizeof(told));
    p->caps.PointerCaps.Value = kinds;
    p->caps.MaxPointerWidth = p->caps.MaxPointerHeight = kinds ? 64 : 0;
    p->before[PROBE_SetPointerShape] = take_shape;
    p->before[PROBE_SetPointerPosition] = take_position;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, body);
}

static struct scanouts *scanouts_of(const struct probe *p)
{
    return port_display_scanouts(p->adapter[0]);
}

static void set_red(const struct probe *p)
{
    const struct pointer_shape shape = {.kind = POINTER_COLOR,
                                        .width = 4,
                                        .height = 4,
                                        .pitch = 16,
                                        .hot_x = 1,
                                        .hot_y = 2,
                                        .pixels = (uint8_t *)(uintptr_t)red};

    CHECK(scanouts_set_pointer(scanouts_of(p), &shape, NULL, 0));
}

static void move(const struct probe *p, LONG x, LONG y, bool visible)
{
    const struct screens_cursor cursor = {.x = x, .y = y, .visible = visible};

    scanouts_move_pointer(scanouts_of(p), &cursor);
}

static bool last_is(bool visible, INT x, INT y)
{
    return told.position.Flags.Visible == visible &&
           (!visible || (told.position.X == x && told.position.Y == y));
}

/* Red, where the pointer is drawn into a black picture. */
static uint8_t drawn(const struct probe *p, uint32_t x, uint32_t y)
{
    struct picture picture = {0};
    uint8_t channel;

    CHECK(picture_make_black(&picture, 1024, 768));
    scanouts_draw_pointer(scanouts_of(p), 0, &picture);
    channel = picture.rows[((size_t)y * 1024 + x) * PICTURE_STEP];
    picture_free(&picture);
    return channel;
}

/* ---- hardware ---- */

static void by_hardware(struct probe *p)
{
    const UINT first = told.positions;

    CHECK_RULE("PRES-235", first == 1 && last_is(false, 0, 0) && told.shapes == 0);
    set_red(p);
    move(p, 10, 20, true);
    CHECK_RULE("PRES-225", told.shapes == 1 && told.shape.Flags.Value == 2 && told.shape.Width == 4);
    CHECK_RULE("PRES-233", told.positions == first + 1 && last_is(true, 9, 18));
    CHECK_RULE("PRES-227", drawn(p, 9, 18) == 0); /* the hardware does it */
    move(p, -5, 5000, true);
    CHECK_RULE("PRES-233", last_is(true, -1, 767 - 2));
    move(p, 0, 0, false);
    CHECK_RULE("PRES-235", last_is(false, 0, 0) && told.positions == first + 3);
}

TEST(hardware_of_a_full_driver_shows_the_pointer)
{
    run(2, by_hardware);
}

static void after_changes(struct probe *p)
{
    UINT commits, shapes;

    set_red(p);
    move(p, 10, 20, true);
    commits = display_seen.commits;
    shapes = told.shapes;
    CHECK(display_power(display_modes(p), DISPLAY_CHILD, false) == STATUS_SUCCESS);
    CHECK_RULE("PRES-231", last_is(false, 0, 0) && told.commits == commits &&
                               display_seen.commits == commits + 1);
    move(p, 30, 40, true);
    CHECK_RULE("PRES-229", told.shapes == shapes && last_is(false, 0, 0));
    CHECK(display_power(display_modes(p), DISPLAY_CHILD, true) == STATUS_SUCCESS);
    CHECK_RULE("PRES-242", told.shapes == shapes + 1 && last_is(true, 29, 38) &&
                               told.commits == commits + 2 && told.addresses == full_seen.addresses);
}

TEST(a_full_driver_is_told_again_after_a_commit)
{
    run(2, after_changes);
}

/* ---- no hardware ---- */

static void in_pictures(struct probe *p)
{
    const UINT first = told.positions;

    set_red(p);
    move(p, 10, 20, true);
    CHECK_RULE("PRES-227", told.shapes == 0 && told.positions == first && last_is(false, 0, 0));
    CHECK_RULE("PRES-227", drawn(p, 9, 18) == 0xFF && drawn(p, 12, 21) == 0xFF &&
                               drawn(p, 8, 18) == 0 && drawn(p, 13, 21) == 0);
    move(p, 10, 20, false);
    CHECK_RULE("PRES-227", drawn(p, 9, 18) == 0);
}

TEST(without_hardware_it_is_in_pictures_alone)
{
    run(0, in_pictures);
}

static void refused(struct probe *p)
{
    told.shape_answer = STATUS_NO_MEMORY;
    set_red(p);
    move(p, 10, 20, true);
    CHECK_RULE("PRES-241", told.shapes == 1 && last_is(false, 0, 0) && drawn(p, 9, 18) == 0xFF);
    move(p, 11, 20, true);
    CHECK_RULE("PRES-241", told.shapes == 1); /* until the next shape */
    told.shape_answer = STATUS_SUCCESS;
    set_red(p);
    CHECK_RULE("PRES-241", told.shapes == 2 && last_is(true, 10, 18) && drawn(p, 10, 18) == 0);
}

TEST(a_shape_that_a_full_driver_refuses_is_in_pictures)
{
    run(2, refused);
}
