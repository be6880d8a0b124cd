/* SPDX-License-Identifier: MIT */
/* The mouse pointer of a display-only adapter: by its hardware, or merged into its frames. */
#include "port/support/presents.h"
#include "screens/pointer.h"
#include "screens/pointer_shape.h"
#include "support/test.h"

#define RED 0xFFFF0000u

static const uint32_t red[16] = {RED, RED, RED, RED, RED, RED, RED, RED,
                                 RED, RED, RED, RED, RED, RED, RED, RED};

/* What the driver was told. */
static struct {
    struct {
        DXGKARG_SETPOINTERSHAPE args;
        uint8_t pixels[2 * 64 * 4 * 64];
        UINT presents; /* before it */
    } shape[32];
    struct {
        DXGKARG_SETPOINTERPOSITION args;
        UINT presents, shapes;
    } position[64];
    UINT shapes, positions;
    bool presenting, inside; /* in PresentDisplayOnly; in one of the two */
    UINT beside, together;   /* positions during a present; one of the two during the other */
    NTSTATUS shape_answer, position_answer;
    const void *pixels; /* as they were passed last */
} told;

static void take_shape(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETPOINTERSHAPE *args = (const DXGKARG_SETPOINTERSHAPE *)(uintptr_t)call->arg[1];
    const size_t bytes = (size_t)args->Pitch * args->Height * (args->Flags.Monochrome ? 2 : 1);

    (void)p;
    told.together += told.inside;
    told.inside = true;
    probe_sleep(1000);
    told.inside = false;
    told.shape[told.shapes].args = *args;
    told.shape[told.shapes].presents = presents.count;
    memcpy(told.shape[told.shapes++].pixels, args->pPixels, bytes);
    told.pixels = args->pPixels;
    call->answered = true;
    call->result = (uint64_t)told.shape_answer;
}

static void take_position(struct probe *p, struct probe_call *call)
{
    (void)p;
    told.together += told.inside;
    told.inside = true;
    probe_sleep(1000);
    told.inside = false;
    told.beside += told.presenting && sim_irql() == PASSIVE_LEVEL;
    told.position[told.positions].args = *(const DXGKARG_SETPOINTERPOSITION *)(uintptr_t)call->arg[1];
    told.position[told.positions].presents = presents.count;
    told.position[told.positions++].shapes = told.shapes;
    call->answered = true;
    call->result = (uint64_t)told.position_answer;
}

/* With these kinds of shapes in hardware, up to 64 x 64. */
static struct probe *with_hardware(UINT kinds)
{
    struct probe *p = display_create(NULL);

    memset(&told, 0, sizeof(told));
    presents_begin();
    p->caps.PointerCaps.Value = kinds;
    p->caps.MaxPointerWidth = p->caps.MaxPointerHeight = kinds ? 64 : 0;
    p->before[PROBE_SetPointerShape] = take_shape;
    p->before[PROBE_SetPointerPosition] = take_position;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, body);
}

static void set_red(struct probe *p, uint32_t hot_x, uint32_t hot_y)
{
    const struct pointer_shape shape = {.kind = POINTER_COLOR,
                                        .width = 4,
                                        .height = 4,
                                        .pitch = 16,
                                        .hot_x = hot_x,
                                        .hot_y = hot_y,
                                        .pixels = (uint8_t *)(uintptr_t)red};
    char why[128];

    CHECK(screens_set_pointer(display_screens(p), &shape, why, sizeof(why)));
}

static void move(struct probe *p, UINT source, LONG x, LONG y)
{
    const struct screens_cursor cursor = {.source = source, .x = x, .y = y, .visible = true};

    screens_move_pointer(display_screens(p), &cursor);
}

static bool last_is(UINT source, bool visible, INT x, INT y)
{
    const DXGKARG_SETPOINTERPOSITION *args = &told.position[told.positions - 1].args;

    return told.positions && args->VidPnSourceId == source && args->Flags.Visible == visible &&
           (!visible || (args->X == x && args->Y == y));
}

static uint32_t frame_pixel(UINT frame, UINT x, UINT y)
{
    const DXGKARG_PRESENT_DISPLAYONLY *args = &presents.frame[frame].args;
    uint32_t pixel;

    memcpy(&pixel, (const uint8_t *)args->pSource + (SIZE_T)y * (SIZE_T)args->Pitch + x * 4, 4);
    return pixel & 0xFFFFFF;
}

/* As it was during the call; alpha is not drawn. */
static bool is_red(const struct present_frame *frame)
{
    return (frame->pixel & 0xFFFFFF) == (RED & 0xFFFFFF);
}

/* ---- hardware ---- */

static void moves(struct probe *p)
{
    struct screens_cursor cursor = {.visible = true, .x = 30, .y = 40, .by_program = true};
    UINT before;

    CHECK(screens_settle(display_screens(p), 0));
    before = presents.count;
    CHECK_RULE("PRES-235", told.positions == 1 && last_is(0, false, 0, 0) && told.shapes == 0);
    set_red(p, 0, 0);
    CHECK_RULE("PRES-235", told.positions == 1); /* equal to the one before */
    move(p, 0, 10, 20);
    CHECK_RULE("PRES-232", told.positions == 2 && last_is(0, true, 10, 20));
    CHECK_RULE("PRES-225", told.shapes == 1 && told.shape[0].args.Flags.Value == 2);
    CHECK_RULE("PRES-234", told.position[1].args.Flags.Value == 1);
    move(p, 0, 10, 20);
    CHECK_RULE("PRES-235", told.positions == 2 && told.shapes == 1);
    screens_move_pointer(display_screens(p), &cursor);
    CHECK_RULE("PRES-234", told.positions == 3 && told.position[2].args.Flags.Value == 3);
    cursor.visible = false;
    screens_move_pointer(display_screens(p), &cursor);
    CHECK_RULE("PRES-232", told.positions == 4 && last_is(0, false, 0, 0));
    probe_sleep(4 * PRESENT_PERIOD);
    CHECK_RULE("PRES-226", presents.count == before); /* none of it is drawn */
}

TEST(hardware_follows_the_cursor)
{
    run(with_hardware(2), moves);
}

static void hot_spot(struct probe *p)
{
    set_red(p, 2, 3);
    move(p, 0, 0, 0);
    CHECK_RULE("PRES-239", told.shape[0].args.XHot == 2 && told.shape[0].args.YHot == 3);
    CHECK_RULE("PRES-233", last_is(0, true, -2, -3));
    move(p, 0, -50, 5000);
    CHECK_RULE("PRES-233", last_is(0, true, -2, 767 - 3));
    move(p, 0, 1024, 0);
    CHECK_RULE("PRES-233", last_is(0, true, 1023 - 2, -3));
}

TEST(the_hot_spot_stays_inside)
{
    run(with_hardware(2), hot_spot);
}

static void two_masks(struct probe *p)
{
    static uint8_t masks[2 * 33 * 8];
    const struct pointer_shape shape = {
        .kind = POINTER_MONOCHROME, .width = 33, .height = 33, .pitch = 8, .pixels = masks};
    char why[128];

    masks[0] = 0x80;      /* AND: the first pixel */
    masks[33 * 8] = 0x40; /* XOR: the second */
    CHECK(screens_set_pointer(display_screens(p), &shape, why, sizeof(why)));
    move(p, 0, 1, 1);
    CHECK_RULE("PRES-236", told.shapes == 1 && told.shape[0].args.Flags.Value == 1 &&
                               told.shape[0].pixels[0] == 0x80 &&
                               told.shape[0].pixels[33 * 8] == 0x40);
    CHECK_RULE("PRES-238", told.shape[0].args.Pitch == 8 && told.shape[0].args.Height == 33 &&
                               told.shape[0].args.Width == 33);
    CHECK_RULE("PRES-238", ((const uint8_t *)told.pixels)[0] != 0x80);
}

TEST(a_monochrome_shape_has_two_masks)
{
    run(with_hardware(1), two_masks);
}

static void i_beam(struct probe *p)
{
    static const uint8_t masks[8] = {0x30, 0, 0, 0, 0x50, 0, 0, 0}; /* AND 0011, XOR 0101 */
    static const uint32_t wanted[4] = {0x00000000, 0x00FFFFFF, 0xFF000000, 0xFFFFFFFF};
    const struct pointer_shape shape = {.kind = POINTER_MONOCHROME,
                                        .width = 4,
                                        .height = 1,
                                        .pitch = 4,
                                        .pixels = (uint8_t *)(uintptr_t)masks};
    char why[128];

    CHECK(screens_set_pointer(display_screens(p), &shape, why, sizeof(why)));
    move(p, 0, 1, 1);
    CHECK_RULE("PRES-240", told.shapes == 1 && told.shape[0].args.Flags.Value == 4 &&
                               memcmp(told.shape[0].pixels, wanted, sizeof(wanted)) == 0);
    CHECK_RULE("PRES-237", told.shape[0].args.Pitch == 16);
}

TEST(a_monochrome_shape_is_converted)
{
    run(with_hardware(6), i_beam);
}

static void across(struct probe *p)
{
    CHECK(told.positions == 2);
    set_red(p, 0, 0);
    move(p, 0, 5, 5);
    CHECK(told.positions == 3 && last_is(0, true, 5, 5));
    move(p, 1, 6, 6);
    CHECK_RULE("PRES-235", told.positions == 5 && last_is(1, true, 6, 6) &&
                               told.position[3].args.VidPnSourceId == 0 &&
                               !told.position[3].args.Flags.Visible);
    CHECK_RULE("PRES-229", told.shapes == 2 && told.shape[1].args.VidPnSourceId == 1);
    CHECK(display_power(display_modes(p), DISPLAY_CHILD + 1, false) == STATUS_SUCCESS);
    CHECK_RULE("PRES-231", told.positions == 6 && last_is(1, false, 0, 0));
    set_red(p, 1, 1);
    move(p, 1, 7, 7);
    CHECK_RULE("PRES-229", told.shapes == 2 && told.positions == 6);
    CHECK(display_power(display_modes(p), DISPLAY_CHILD + 1, true) == STATUS_SUCCESS);
    CHECK_RULE("PRES-229", told.shapes == 3 && last_is(1, true, 6, 6));
}

TEST(a_source_without_a_path_gets_no_shape)
{
    struct probe *p = with_hardware(2);

    display.outputs = display.sources = 2;
    run(p, across);
}

static void after_changes(struct probe *p)
{
    UINT shapes, before;

    CHECK(screens_settle(display_screens(p), 0));
    set_red(p, 0, 0);
    move(p, 0, 5, 5);
    shapes = told.shapes;
    before = presents.count;
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-242", told.shapes == shapes + 1 && last_is(0, true, 5, 5) &&
                               told.position[told.positions - 1].shapes == told.shapes &&
                               told.position[told.positions - 1].presents == before &&
                               presents.count == before + 1);
    CHECK(display_power(display_modes(p), DISPLAY_CHILD, false) == STATUS_SUCCESS);
    CHECK(display_power(display_modes(p), DISPLAY_CHILD, true) == STATUS_SUCCESS);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-242", told.shapes == shapes + 2 && last_is(0, true, 5, 5) &&
                               told.position[told.positions - 1].presents == before + 1);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep) == STATUS_SUCCESS);
    CHECK(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone) == STATUS_SUCCESS);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-242", told.shapes == shapes + 3 && last_is(0, true, 5, 5) &&
                               told.position[told.positions - 1].presents == before + 2);
}

TEST(shape_and_position_are_sent_again)
{
    run(with_hardware(2), after_changes);
}

static void present_slowly(struct probe *p, UINT frame)
{
    (void)p;
    (void)frame;
    told.presenting = true;
    probe_sleep(5000000);
    told.presenting = false;
}

static void move_often(struct probe *p)
{
    for (LONG i = 0; i < 10; i++)
        move(p, 0, i, i);
}

static void moves_beside(struct probe *p)
{
    struct sim_thread *thread;

    CHECK(screens_settle(display_screens(p), 0));
    set_red(p, 0, 0);
    presents.during = present_slowly;
    CHECK(present_fill(p, 0, (RECT){0, 0, 1, 1}, 1));
    probe_sleep(PRESENT_PERIOD);
    CHECK(told.presenting || presents.count);
    CHECK(present_fill(p, 0, (RECT){0, 0, 1, 1}, 1));
    thread = probe_thread(p, probe_process(p, "client"), "client", move_often);
    for (UINT i = 0; i < 5; i++) {
        set_red(p, i % 4, 0);
        probe_sleep(PRESENT_PERIOD / 4);
    }
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-228/b", told.together == 0 && told.shapes > 2 && told.positions > 10);
    for (UINT i = 0; i < 10; i++) {
        CHECK(present_fill(p, 0, (RECT){0, 0, 1, 1}, 1));
        probe_sleep(PRESENT_PERIOD / 8);
        move(p, 0, (LONG)i, 0);
    }
    CHECK_RULE("PRES-228/a", told.beside > 0);
    sim_thread_release(thread);
}

TEST(it_moves_beside_presents_but_not_beside_its_shape)
{
    run(with_hardware(2), moves_beside);
}

/* ---- software ---- */

static void merged(struct probe *p)
{
    struct screens_image image;
    UINT n;

    CHECK(present_draw(p, WHOLE, 0x00FF00));
    CHECK_RULE("PRES-235", told.positions == 1 && last_is(0, false, 0, 0));
    presents_begin();
    set_red(p, 0, 0);
    move(p, 0, 100, 100);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-226", present_is(0, (RECT){100, 100, 104, 104}) &&
                               is_red(&presents.frame[0]) && told.shapes == 0);
    move(p, 0, 200, 200);
    CHECK(screens_settle(display_screens(p), 0));
    n = presents.count - 1;
    CHECK_RULE("PRES-226", presents.frame[n].args.NumDirtyRects == 2);
    CHECK(screens_draw(display_screens(p), 0, &image));
    CHECK_RULE("PRES-198", frame_pixel(n, 200, 200) == 0x00FF00 &&
                               frame_pixel(n, 100, 100) == 0x00FF00); /* taken away again */
    CHECK(present_draw(p, (RECT){200, 200, 202, 202}, 0x0000FF));
    CHECK_RULE("PRES-226", is_red(&presents.frame[presents.count - 1]));
    CHECK_RULE("PRES-235", told.positions == 1 && told.shapes == 0);
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    CHECK_RULE("PRES-235", told.positions == 2 && last_is(0, false, 0, 0));
}

TEST(without_hardware_it_is_drawn)
{
    run(with_hardware(0), merged);
}

static void hides_in_vain(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-241", told.positions == 1 && probe_rule(p, "PRES-241") == 0);
}

/* As viogpudo does, which has no hardware pointer then. */
TEST(a_driver_without_hardware_need_not_hide)
{
    struct probe *p = with_hardware(0);

    p->caps.MaxPointerWidth = p->caps.MaxPointerHeight = 64;
    told.position_answer = STATUS_NOT_IMPLEMENTED;
    run(p, hides_in_vain);
}

static bool was_drawn(void)
{
    for (UINT i = 0; i < presents.count; i++)
        if (is_red(&presents.frame[i]))
            return true;
    return false;
}

static void is_drawn(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    presents_begin();
    set_red(p, 0, 0);
    move(p, 0, 100, 100);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-226", was_drawn() && told.shapes == 0);
}

static void turned(struct probe *p)
{
    CHECK(display_ask_mode(p, 0, 1024, 768, 1) == STATUS_SUCCESS);
    is_drawn(p);
}

TEST(what_the_hardware_cannot_show_is_drawn)
{
    struct probe *p = with_hardware(1); /* monochrome alone */

    run(p, is_drawn);
    p = with_hardware(2);
    p->caps.MaxPointerWidth = 3;
    run(p, is_drawn);
    p = with_hardware(2);
    p->caps.MaxPointerHeight = 3;
    run(p, is_drawn);
    p = with_hardware(2);
    probe_set_entry(p, PROBE_SetPointerShape, false);
    run(p, is_drawn);
    p = with_hardware(2);
    run(p, turned);
}

static void shape_fails(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    set_red(p, 0, 0);
    move(p, 0, 50, 50);
    CHECK(told.shapes == 1 && last_is(0, true, 50, 50));
    presents_begin();
    told.shape_answer = STATUS_NOT_SUPPORTED;
    set_red(p, 1, 1);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-241", told.shapes == 2 && last_is(0, false, 0, 0) && was_drawn() &&
                               probe_rule(p, "PRES-241") == 1);
    CHECK_RULE("PRES-241", told.position[told.positions - 1].presents == 0);
    told.shape_answer = STATUS_NO_MEMORY;
    move(p, 0, 60, 60);
    CHECK_RULE("PRES-241", told.shapes == 2); /* until the next shape */
    set_red(p, 1, 1);
    CHECK_RULE("PRES-241", told.shapes == 3 && probe_rule(p, "PRES-241") == 1);
    told.shape_answer = STATUS_SUCCESS;
    set_red(p, 0, 0);
    CHECK_RULE("PRES-241", told.shapes == 4 && last_is(0, true, 60, 60));
    told.position_answer = STATUS_UNSUCCESSFUL;
    move(p, 0, 70, 70);
    CHECK_RULE("PRES-241", probe_rule(p, "PRES-241") == 2);
}

TEST(a_shape_that_fails_is_drawn)
{
    run(with_hardware(2), shape_fails);
}
