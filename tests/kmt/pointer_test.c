/* SPDX-License-Identifier: MIT */
/* The mouse pointer, as a host program moves it: over the pictures of a driver without one. */
#include "host/support/refgpu_client.h"

#include "dxgkhost/display.h"

#define SIDE 8u

static void shown_test(void (*program)(struct client *c))
{
    struct dxgk_machine_config config;
    struct machine m;

    machine_config(&m, &config);
    machine_create(&m, &config);
    if (dxgk_machine_add_device(m.dxgk, "null", NULL, 0, m.error, sizeof(m.error)) != DXGK_OK ||
        dxgk_machine_load_driver(m.dxgk, machine_path("drivers/bootfb.so"), m.error,
                                 sizeof(m.error)) != DXGK_OK)
        fail_msg("%s", m.error);
    machine_run(&m, program);
    machine_end(&m);
}

#define RIG_ARGUMENT_shown     struct client *c
#define RIG_RUN_shown(program) shown_test(program)

static char why[500];

/* 0xRRGGBB on the screen, some frames later; all ones: there is no picture. */
static uint32_t pixel(struct client *c, uint32_t x, uint32_t y)
{
    struct dxgk_picture picture;
    char text[500] = "";
    uint32_t value = UINT32_MAX;

    dxgk_client_sleep(100000000);
    if (dxgk_machine_capture(c->machine->dxgk, 0, 0, &picture, text, sizeof(text)) == DXGK_OK &&
        picture.rgb) {
        const uint8_t *at = picture.rgb + ((size_t)y * picture.width + x) * 3;

        value = (uint32_t)at[0] << 16 | (uint32_t)at[1] << 8 | at[2];
    }
    dxgk_picture_free(&picture);
    return value;
}

static bool shape(const struct dxgk_pointer_shape *given)
{
    why[0] = 0;
    return dxgk_client_shape_pointer(0, given, why, sizeof(why)) == DXGK_OK;
}

static bool move(unsigned source, int32_t x, int32_t y, bool visible)
{
    const struct dxgk_pointer pointer = {.source = source, .x = x, .y = y, .visible = visible};

    why[0] = 0;
    return dxgk_client_move_pointer(0, &pointer, why, sizeof(why)) == DXGK_OK;
}

TEST_WITH(shown, a_pointer_of_each_kind)
{
    static const uint8_t masks[] = {0x00, 0xFF, 0xF0,
                                    0x0F}; /* black above, white and turned below */
    uint32_t red[SIDE * SIDE];
    struct dxgk_pointer_shape given = {.kind = DXGK_POINTER_COLOR,
                                       .width = SIDE,
                                       .height = SIDE,
                                       .pitch = SIDE * 4,
                                       .hot_x = 2,
                                       .hot_y = 1,
                                       .pixels = red};

    for (unsigned i = 0; i < SIDE * SIDE; i++)
        red[i] = 0xFFFF0000;
    TRY(c, shape(&given) && move(0, 100, 100, true));
    TRY(c, pixel(c, 98, 99) == 0xFF0000 && pixel(c, 105, 106) == 0xFF0000);
    TRY(c, pixel(c, 97, 99) == 0 && pixel(c, 106, 106) == 0);
    TRY(c, move(0, 100, 100, false) && pixel(c, 98, 99) == 0);
    TRY(c, move(0, 5000, -10, true) && pixel(c, 1023, 0) == 0xFF0000);
    given.kind = DXGK_POINTER_MASKED_COLOR;
    TRY(c, shape(&given) && pixel(c, 1023, 0) == 0xFF0000); /* black, exclusive or red */
    given = (struct dxgk_pointer_shape){
        .kind = DXGK_POINTER_MONOCHROME, .width = 8, .height = 2, .pitch = 1, .pixels = masks};
    TRY(c, shape(&given) && move(0, 200, 200, true));
    TRY(c, pixel(c, 200, 200) == 0xFFFFFF && pixel(c, 207, 200) == 0);
    TRY(c, pixel(c, 200, 201) == 0 && pixel(c, 207, 201) == 0xFFFFFF);
    TRY(c, shape(NULL) && pixel(c, 200, 200) == 0);
}

TEST_WITH(shown, what_is_wrong_with_a_pointer)
{
    const uint32_t half = 0x80FFFFFF;
    struct dxgk_pointer_shape given = {
        .kind = DXGK_POINTER_MASKED_COLOR, .width = 1, .height = 1, .pitch = 4, .pixels = &half};

    TRY(c, !shape(&given) && strstr(why, "0x80"));
    given.kind = (enum dxgk_pointer_kind)3;
    TRY(c, !shape(&given) && strstr(why, "kind 3"));
    TRY(c, !move(1, 0, 0, true) && strstr(why, "no video present source 1"));
    TRY(c, dxgk_client_shape_pointer(1, NULL, why, sizeof(why)) == DXGK_ERROR);
    TRY(c, strstr(why, "adapter 1 has no display"));
}
