/* SPDX-License-Identifier: MIT */
/* Pictures of screens: what they cost, and what is said beside the pixels. */
#include "host/support/machine.h"

#include "dxgkhost/display.h"

#define MS UINT64_C(1000000)

struct watched {
    struct machine m;
    unsigned looks, black, lit, dark, wrong;
};

static void begin(struct watched *w)
{
    struct dxgk_machine_config config;

    memset(w, 0, sizeof(*w));
    machine_config(&w->m, &config);
    config.firmware_screen.width = 1280;
    config.firmware_screen.height = 1024;
    config.firmware_screen.pitch = 5120;
    machine_create(&w->m, &config);
    CHECK(dxgk_machine_add_device(w->m.dxgk, "null", NULL, 0, w->m.error, sizeof(w->m.error)) ==
          DXGK_OK);
    if (dxgk_machine_load_driver(w->m.dxgk, machine_path("drivers/bootfb.so"), w->m.error,
                                 sizeof(w->m.error)) != DXGK_OK)
        fail_msg("driver: %s", w->m.error);
}

static void run(void (*program)(struct client *c))
{
    struct watched w;
    struct client *c = calloc(1, sizeof(*c));

    begin(&w);
    c->context = &w;
    machine_run_with(&w.m, c, program, DXGK_OK);
    free(c);
    machine_end(&w.m);
}

#define RIG_ARGUMENT_screen     struct client *c
#define RIG_RUN_screen(program) run(program)

static bool fill(uint32_t colour)
{
    uint32_t pixels[64 * 64];
    const struct dxgk_drawing drawing = {
        .pixels = pixels, .pitch = 64 * 4, .x = 3, .y = 5, .width = 64, .height = 64};

    for (unsigned i = 0; i < 64 * 64; i++)
        pixels[i] = colour;
    return dxgk_client_draw(0, 0, &drawing, true, NULL, 0) == DXGK_OK;
}

static struct dxgk_statistics now(const struct client *c)
{
    struct dxgk_statistics s = {.size = sizeof(s)};

    dxgk_machine_statistics(c->machine->dxgk, &s);
    return s;
}

static bool same(const struct dxgk_picture *a, const struct dxgk_picture *b)
{
    return a->rgb && b->rgb && a->width == b->width && a->height == b->height &&
           a->checksum == b->checksum &&
           memcmp(a->rgb, b->rgb, (size_t)a->width * a->height * 3) == 0;
}

TEST_WITH(screen, a_picture_costs_nothing)
{
    struct dxgk_statistics before, after;
    struct dxgk_picture one, two, target;

    TRY(c, fill(0x00C08040));
    before = now(c);
    TRY(c, dxgk_machine_capture(c->machine->dxgk, 0, 0, &one, NULL, 0) == DXGK_OK);
    TRY(c, dxgk_machine_capture(c->machine->dxgk, 0, 0, &two, NULL, 0) == DXGK_OK);
    TRY(c, dxgk_machine_capture_target(c->machine->dxgk, 0, 0, &target, NULL, 0) == DXGK_OK);
    after = now(c);
    SHOW(c, "PRES-311", same(&one, &two) && same(&one, &target));
    SHOW(c, "PRES-311",
         after.virtual_ns == before.virtual_ns && after.ddi_calls == before.ddi_calls);
    SHOW(c, "PRES-311",
         one.rgb[(5 * one.width + 3) * 3] == 0xC0 && one.rgb[(5 * one.width + 3) * 3 + 1] == 0x80 &&
             one.rgb[(5 * one.width + 3) * 3 + 2] == 0x40);
    SHOW(c, "PRES-316", !one.black && !one.inferred && !one.stale);
    TRY(c, fill(0x00000000));
    dxgk_picture_free(&two);
    TRY(c, dxgk_machine_capture(c->machine->dxgk, 0, 0, &two, NULL, 0) == DXGK_OK);
    SHOW(c, "PRES-311", !same(&one, &two));
    dxgk_picture_free(&one);
    dxgk_picture_free(&two);
    dxgk_picture_free(&target);
}

static bool no_signal(const struct dxgk_picture *p)
{
    return !p->rgb && !p->width && !p->height && !p->black && !p->checksum && !p->stale;
}

TEST_WITH(screen, a_display_that_is_off_has_no_signal)
{
    struct dxgk_picture picture;
    char error[200] = "";

    TRY(c, dxgk_client_display_power(0, 0, false, NULL, 0) == DXGK_OK);
    TRY(c, dxgk_machine_capture(c->machine->dxgk, 0, 0, &picture, NULL, 0) == DXGK_OK);
    SHOW(c, "PRES-316", no_signal(&picture));
    TRY(c, dxgk_machine_capture_target(c->machine->dxgk, 0, 0, &picture, NULL, 0) == DXGK_OK);
    SHOW(c, "PRES-316", no_signal(&picture));
    TRY(c, dxgk_machine_capture_target(c->machine->dxgk, 0, 7, &picture, error, sizeof(error)) ==
               DXGK_ERROR);
    TRY(c, strstr(error, "adapter 0 has no target 0x7"));
    TRY(c, dxgk_client_display_power(0, 0, true, NULL, 0) == DXGK_OK);
    TRY(c, dxgk_machine_capture(c->machine->dxgk, 0, 0, &picture, NULL, 0) == DXGK_OK);
    SHOW(c, "PRES-316", picture.rgb && !picture.black);
    dxgk_picture_free(&picture);
}

/* ---- while the mode changes ---- */

static void look(void *context)
{
    struct watched *w = context;
    struct dxgk_picture picture;
    bool all_black = true;

    w->looks++;
    if (dxgk_machine_capture(w->m.dxgk, 0, 0, &picture, NULL, 0) != DXGK_OK) {
        w->wrong++;
        return;
    }
    for (size_t i = 0; picture.rgb && all_black && i < (size_t)picture.width * picture.height * 3;
         i++)
        all_black = picture.rgb[i] == 0;
    w->dark += !picture.rgb;
    w->black += picture.black;
    w->lit += picture.rgb && !picture.black;
    w->wrong += picture.black && (!picture.rgb || !all_black);
    dxgk_picture_free(&picture);
}

TEST_WITH(screen, an_invisible_source_is_black)
{
    const struct dxgk_display_mode small = {.width = 800, .height = 600};
    struct watched *w = c->context;
    uint64_t from;

    TRY(c, fill(0x00FFFFFF));
    from = dxgk_client_time();
    for (uint64_t i = 0; i < 50; i++)
        TRY(c, dxgk_machine_at(c->machine->dxgk, from + i * 800, look, w));
    TRY(c, dxgk_client_set_mode(0, 0, &small, NULL, 0) == DXGK_OK);
    dxgk_client_sleep(MS);
    SHOW(c, "PRES-316", w->looks == 50 && w->black > 0 && w->lit > 0 && w->wrong == 0);
}

/* ---- who controls modes ---- */

static size_t position(const char *name, size_t from)
{
    const char *called;

    for (; (called = dxgk_client_entry_called(0, from)) != NULL; from++)
        if (strcmp(called, name) == 0)
            return from;
    return SIZE_MAX;
}

TEST_WITH(screen, a_change_of_the_mode_tells_what_it_called)
{
    struct dxgk_display_mode wish = {.width = 1280, .height = 720, .on_target = true};
    size_t hidden, committed, shown;
    char error[300] = "";

    TRY(c, dxgk_client_set_mode(0, 0, &wish, NULL, 0) == DXGK_OK);
    hidden = position("DxgkDdiSetVidPnSourceVisibility", 0);
    committed = position("DxgkDdiCommitVidPn", hidden);
    shown = position("DxgkDdiSetVidPnSourceVisibility", committed);
    SHOW(c, "PRES-333",
         hidden < committed && committed < shown && shown != SIZE_MAX &&
             position("DxgkDdiCommitVidPn", committed + 1) == SIZE_MAX);
    wish.width = 1279;
    SHOW(c, "PRES-333",
         dxgk_client_set_mode(0, 0, &wish, error, sizeof(error)) == DXGK_ERROR &&
             strstr(error, "STATUS_INVALID_PARAMETER") &&
             position("DxgkDdiCommitVidPn", 0) == SIZE_MAX);
    wish.width = 800;
    wish.height = 600;
    wish.target = 1;
    SHOW(c, "PRES-333",
         dxgk_client_set_mode(0, 0, &wish, error, sizeof(error)) == DXGK_ERROR &&
             strstr(error, "source 0 is not shown on target 0x1"));
    TRY(c, dxgk_client_entry_called(1, 0) == NULL);
}

TEST_WITH(screen, so_do_power_and_a_full_redraw)
{
    size_t at;

    TRY(c, dxgk_client_display_power(0, 0, false, NULL, 0) == DXGK_OK);
    at = position("DxgkDdiSetVidPnSourceVisibility", 0);
    SHOW(c, "PRES-333",
         position("DxgkDdiSetPowerState", position("DxgkDdiCommitVidPn", at)) != SIZE_MAX);
    TRY(c, dxgk_client_display_power(0, 0, true, NULL, 0) == DXGK_OK);
    TRY(c, dxgk_client_set_power(3, DXGK_POWER_SLEEP, NULL, 0) == DXGK_OK);
    SHOW(c, "PRES-333",
         position("DxgkDdiSetPowerState", 0) != SIZE_MAX &&
             position("DxgkDdiCommitVidPn", 0) != SIZE_MAX);
    TRY(c, dxgk_client_set_power(0, DXGK_POWER_SLEEP, NULL, 0) == DXGK_OK);
    TRY(c, fill(0x00123456));
    TRY(c, dxgk_client_redraw(0, 0, NULL, 0) == DXGK_OK);
    SHOW(c, "PRES-333",
         position("DxgkDdiPresentDisplayOnly", 0) == 0 && dxgk_client_entry_called(0, 1) == NULL);
    TRY(c, dxgk_client_redraw(0, 1, NULL, 0) == DXGK_ERROR);
}

/* ---- what moves ---- */

TEST_WITH(screen, a_part_of_the_screen_moves)
{
    const struct dxgk_scroll scroll = {
        .x = 103, .y = 105, .width = 64, .height = 64, .by_x = 100, .by_y = 100};
    const struct dxgk_scroll far = {.x = INT32_MAX, .width = 1, .height = 1};
    struct dxgk_picture picture;

    TRY(c, fill(0x00445566));
    TRY(c, dxgk_client_scroll(0, 0, &scroll, true, NULL, 0) == DXGK_OK);
    TRY(c, dxgk_machine_capture(c->machine->dxgk, 0, 0, &picture, NULL, 0) == DXGK_OK);
    SHOW(c, "PRES-203",
         picture.rgb[(105 * picture.width + 103) * 3] == 0x44 &&
             picture.rgb[(168 * picture.width + 166) * 3 + 2] == 0x66 &&
             picture.rgb[(104 * picture.width + 103) * 3] == 0 &&
             picture.rgb[(5 * picture.width + 3) * 3] == 0x44);
    TRY(c, dxgk_client_scroll(0, 0, &far, true, NULL, 0) == DXGK_ERROR);
    dxgk_picture_free(&picture);
}
