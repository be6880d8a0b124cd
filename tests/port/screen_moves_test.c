/* SPDX-License-Identifier: MIT */
/* Parts of a picture that move: what a display-only driver is told, and what its screen shows. */
#include "port/support/presents.h"
#include "screens/pointer.h"
#include "screens/pointer_shape.h"
#include "support/test.h"

#define WIDTH  1024
#define HEIGHT 768

/* The screen of the driver, which moves on it or takes what has moved from the image. */
static struct {
    uint32_t pixel[HEIGHT][WIDTH], before[HEIGHT][WIDTH];
    bool moves;
    UINT presents, moved, dirty; /* of the last present */
    D3DKMT_MOVE_RECT move[64];
    bool null_for_none;
    NTSTATUS answer;
} screen;

static void copy(const DXGKARG_PRESENT_DISPLAYONLY *args, const RECT *r)
{
    for (LONG y = r->top; y < r->bottom; y++)
        memcpy(&screen.pixel[y][r->left],
               (const uint8_t *)args->pSource + (SIZE_T)y * (SIZE_T)args->Pitch +
                   (SIZE_T)r->left * 4,
               (size_t)(r->right - r->left) * 4);
}

static void move(const D3DKMT_MOVE_RECT *m)
{
    const RECT *to = &m->DestRect;

    memcpy(screen.before, screen.pixel, sizeof(screen.pixel));
    for (LONG y = 0; y < to->bottom - to->top; y++)
        memcpy(&screen.pixel[to->top + y][to->left],
               &screen.before[m->SourcePoint.y + y][m->SourcePoint.x],
               (size_t)(to->right - to->left) * 4);
}

static NTSTATUS take(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    (void)p;
    screen.presents++;
    screen.moved = args->NumMoves;
    screen.dirty = args->NumDirtyRects;
    screen.null_for_none &= (args->NumMoves == 0) == (args->pMoves == NULL) &&
                            (args->NumDirtyRects == 0) == (args->pDirtyRect == NULL);
    for (UINT i = 0; i < args->NumMoves; i++) {
        screen.move[i % 64] = args->pMoves[i];
        if (screen.moves)
            move(&args->pMoves[i]);
        else
            copy(args, &args->pMoves[i].DestRect);
    }
    for (UINT i = 0; i < args->NumDirtyRects; i++)
        copy(args, &args->pDirtyRect[i]);
    return screen.answer;
}

/* The image, as of the same moment. */
static bool shows_the_image(struct probe *p)
{
    struct screens_image image;

    if (!screens_settle(display_screens(p), 0) || !screens_draw(display_screens(p), 0, &image))
        return false;
    for (UINT y = 0; y < HEIGHT; y++)
        if (memcmp(screen.pixel[y], image.pixels + (SIZE_T)y * image.pitch, WIDTH * 4) != 0)
            return false;
    return true;
}

static void shift(struct probe *p, RECT to, LONG by_x, LONG by_y)
{
    struct screens_image image;

    CHECK(screens_draw(display_screens(p), 0, &image));
    screens_move(display_screens(p), 0, &to, (POINT){by_x, by_y});
}

/* Each pixel another one. */
static void paint(struct probe *p)
{
    static const RECT all = {0, 0, WIDTH, HEIGHT};
    struct screens_image image;

    CHECK(screens_draw(display_screens(p), 0, &image));
    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++) {
            const uint32_t value = y << 12 | x;

            memcpy(image.pixels + (SIZE_T)y * image.pitch + (SIZE_T)x * 4, &value, 4);
        }
    screens_drawn(display_screens(p), 0, &all);
    CHECK(shows_the_image(p));
}

static uint32_t drawn_at(struct probe *p, UINT x, UINT y)
{
    struct screens_image image;
    uint32_t pixel;

    CHECK(screens_draw(display_screens(p), 0, &image));
    memcpy(&pixel, image.pixels + (SIZE_T)y * image.pitch + (SIZE_T)x * 4, 4);
    return pixel;
}

static void overlapping(struct probe *p)
{
    paint(p);
    shift(p, (RECT){100, 110, 400, 410}, 0, 10); /* down, over itself */
    shift(p, (RECT){105, 100, 405, 400}, 5, -10);
    shift(p, (RECT){300, 300, 500, 500}, -200, 0); /* what has moved moves again */
    CHECK(present_fill(p, 0, (RECT){310, 310, 320, 320}, 0xABCDEF));
    CHECK_RULE("PRES-202", shows_the_image(p) && screen.moved == 3 && screen.dirty == 1);
    CHECK_RULE("PRES-203",
               screen.move[0].SourcePoint.x == 100 && screen.move[0].SourcePoint.y == 100 &&
                   screen.move[0].DestRect.left == 100 && screen.move[0].DestRect.top == 110 &&
                   screen.move[0].DestRect.right == 400 && screen.move[0].DestRect.bottom == 410);
    CHECK_RULE("PRES-203",
               drawn_at(p, 305, 300) == (300u << 12 | 505) && drawn_at(p, 315, 315) == 0xABCDEF);
    shift(p, (RECT){0, 0, 64, 64}, -64, 0);
    CHECK_RULE("PRES-202", shows_the_image(p) && screen.moved == 1 && screen.dirty == 0 &&
                               screen.null_for_none);
}

/* Both kinds of driver. */
static void run(void (*body)(struct probe *p))
{
    for (unsigned kind = 0; kind < 2; kind++) {
        struct probe *p = display_create(NULL);

        memset(&screen, 0, sizeof(screen));
        screen.moves = kind == 0;
        screen.null_for_none = true;
        display.in_present = take;
        CHECK(probe_start(p) == STATUS_SUCCESS);
        probe_end(p, body);
    }
}

TEST(moves_come_before_rectangles)
{
    run(overlapping);
}

/* Where the old place is not on the screen as it is in the image, the pixels are sent. */
static void not_there_yet(struct probe *p)
{
    paint(p);
    CHECK(present_fill(p, 0, (RECT){50, 50, 60, 60}, 0x777777));
    shift(p, (RECT){150, 55, 250, 65}, 100, 0);
    CHECK_RULE("PRES-203", shows_the_image(p) && screen.moved == 0 && screen.dirty == 2);
    shift(p, (RECT){150, 100, 250, 200}, 100, 0);
    CHECK_RULE("PRES-203", shows_the_image(p) && screen.moved == 1 && screen.dirty == 0);
    screen.answer = STATUS_UNSUCCESSFUL;
    shift(p, (RECT){500, 500, 510, 510}, 100, 100);
    CHECK(!screens_settle(display_screens(p), 0));
    screen.answer = STATUS_SUCCESS;
    shift(p, (RECT){20, 20, 30, 30}, 10, 10);
    CHECK_RULE("PRES-219", shows_the_image(p) && screen.moved == 1 && screen.dirty == 1);
}

TEST(what_is_not_on_the_screen_cannot_move_there)
{
    run(not_there_yet);
}

static void clipped(struct probe *p)
{
    const UINT presents_before = (paint(p), screen.presents);

    shift(p, (RECT){2000, 0, 2100, 100}, 5, 5);
    shift(p, (RECT){0, 0, 10, 10}, 1024, 0); /* from outside */
    probe_sleep(5 * PRESENT_PERIOD);
    CHECK_RULE("PRES-205", screen.presents == presents_before);
    shift(p, (RECT){1000, 740, 1100, 800}, 30, 40);
    CHECK_RULE("PRES-204/a", shows_the_image(p) && screen.moved == 1 &&
                                 screen.move[0].DestRect.right == 1024 &&
                                 screen.move[0].DestRect.bottom == 768);
    shift(p, (RECT){-5, 0, 20, 20}, -8, 0);
    CHECK_RULE("PRES-204/a", shows_the_image(p) && screen.move[0].DestRect.left == 0 &&
                                 screen.move[0].SourcePoint.x == 8);
}

TEST(moves_stay_inside)
{
    run(clipped);
}

static void many(struct probe *p)
{
    paint(p);
    for (LONG i = 0; i < 64; i++)
        shift(p, (RECT){10 * (i % 32), 10 * (i / 32), 10 * (i % 32) + 8, 10 * (i / 32) + 8}, 0,
              -400);
    CHECK_RULE("PRES-204/b", shows_the_image(p) && screen.moved == 64 && screen.dirty == 0);
    for (LONG i = 0; i < 65; i++)
        shift(p, (RECT){10 * (i % 33), 10 * (i / 33), 10 * (i % 33) + 8, 10 * (i / 33) + 8}, 0,
              -300);
    CHECK_RULE("PRES-204/b", shows_the_image(p) && screen.moved <= 1 && screen.dirty >= 1);
}

TEST(many_moves_are_sent_as_pixels)
{
    run(many);
}

/* A pointer that the host draws is on the screen and not in the image. */
static void with_pointer(struct probe *p)
{
    static uint32_t red[16];
    const struct pointer_shape shape = {
        .kind = POINTER_COLOR, .width = 4, .height = 4, .pitch = 16, .pixels = (uint8_t *)red};
    const struct screens_cursor at = {.x = 300, .y = 300, .visible = true},
                                hidden = {.x = 300, .y = 300};

    for (unsigned i = 0; i < 16; i++)
        red[i] = 0xFFFF0000u;
    paint(p);
    CHECK(screens_set_pointer(display_screens(p), &shape, NULL, 0));
    screens_move_pointer(display_screens(p), &at);
    CHECK(screens_settle(display_screens(p), 0));
    shift(p, (RECT){390, 290, 490, 390}, 100, 0);
    CHECK(screens_settle(display_screens(p), 0));
    CHECK_RULE("PRES-203", screen.moved == 0 && screen.pixel[300][400] == (300u << 12 | 300));
    screens_move_pointer(display_screens(p), &hidden);
    CHECK_RULE("PRES-203", shows_the_image(p));
}

TEST(the_pointer_does_not_move_along)
{
    run(with_pointer);
}

static void redrawn(struct probe *p)
{
    paint(p);
    memset(screen.pixel, 0, sizeof(screen.pixel));
    screens_redraw(display_screens(p), 0);
    CHECK_RULE("PRES-333", shows_the_image(p) && screen.dirty == 1);
}

TEST(all_of_it_is_drawn_again)
{
    run(redrawn);
}
