/* SPDX-License-Identifier: MIT */
/* What is on a screen where the device model says what it scans out. */
#include "bus/device_record.h"
#include "port/support/display.h"
#include "support/check_rule.h"

#define BYTES 4096u

static const uint8_t pixels[2][BYTES];
static enum dxgk_scanout_state state;
static enum dxgk_pixel_format format;

static enum dxgk_scanout_state scan_out(void *device, unsigned output, struct dxgk_scanout *scanout)
{
    (void)device;
    *scanout = (struct dxgk_scanout){.width = 16 + output,
                                     .height = 8,
                                     .pitch = 128,
                                     .format = format,
                                     .pixels = pixels[output],
                                     .bytes = BYTES};
    return state;
}

static const struct dxgk_device_outputs two = {.count = 2, .scanout = scan_out};

/* A started adapter with two outputs, whose model says what it shows. */
static struct probe *shown(bool second_alone)
{
    struct probe *p = display_create(NULL);

    display.outputs = 2;
    display.connected[0] = !second_alone;
    display.connected[1] = second_alone;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    p->adapter[0]->device->outputs = &two;
    return p;
}

TEST(a_model_says_what_it_scans_out)
{
    struct probe *p = shown(false);
    struct port_scanout scanout;

    state = DXGK_SCANOUT_ON;
    format = DXGK_PIXEL_BGRX;
    scanout = port_display_scanout(p->adapter[0], 0);
    CHECK_RULE("PRES-312", scanout.pixels == pixels[0] && scanout.width == 16 &&
                               scanout.height == 8 && scanout.pitch == 128 &&
                               scanout.bytes == BYTES && scanout.format == D3DDDIFMT_X8R8G8B8);
    format = DXGK_PIXEL_BGR;
    CHECK(port_display_scanout(p->adapter[0], 0).format == D3DDDIFMT_R8G8B8);
    format = DXGK_PIXEL_RGB565;
    CHECK(port_display_scanout(p->adapter[0], 0).format == D3DDDIFMT_R5G6B5);
    format = (enum dxgk_pixel_format)99; /* one that there is not */
    CHECK(port_display_scanout(p->adapter[0], 0).format == D3DDDIFMT_UNKNOWN);
    display_end(p);
}

/* The source is on the second child of the driver, so the picture is that of the second output. */
TEST(outputs_are_counted_as_children_are)
{
    struct probe *p = shown(true);

    state = DXGK_SCANOUT_ON;
    CHECK_RULE("PRES-312", port_display_scanout(p->adapter[0], 0).pixels == pixels[1]);
    display_end(p);
}

TEST(a_device_that_sends_no_signal)
{
    struct probe *p = shown(false);

    state = DXGK_SCANOUT_OFF;
    CHECK(port_display_scanout(p->adapter[0], 0).off);
    CHECK(!port_display_scanout(p->adapter[0], 0).pixels);
    state = DXGK_SCANOUT_FIRMWARE; /* which the driver has not acquired */
    CHECK(!port_display_scanout(p->adapter[0], 0).off);
    CHECK(!port_display_scanout(p->adapter[0], 0).pixels);
    display_end(p);
}
