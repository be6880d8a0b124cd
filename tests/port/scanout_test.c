/* SPDX-License-Identifier: MIT */
/* What is on a screen where the device model says what it scans out; and monitors of such a device. */
#include <string.h>

#include "bus/device_record.h"
#include "modes/monitor.h"
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

static struct dxgk_device_monitor plugged;

static const char *plug(void *device, unsigned output, const struct dxgk_device_monitor *monitor)
{
    (void)device, (void)output;
    plugged = *monitor;
    return NULL;
}

static const struct dxgk_device_outputs two = {
    .size = sizeof(two), .count = 2, .scanout = scan_out, .plug = plug};

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

/* ---- monitors ---- */

/* The driver says what it finds at its device. */
static void answer_descriptor(struct probe *p, struct probe_call *call)
{
    DXGK_DEVICE_DESCRIPTOR *d = (DXGK_DEVICE_DESCRIPTOR *)(uintptr_t)call->arg[2];

    (void)p;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    if (!plugged.edid)
        call->result = (uint32_t)STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED;
    else if (d->DescriptorOffset)
        call->result = (uint32_t)STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA;
    else
        memcpy(d->DescriptorBuffer, plugged.edid, plugged.edid_bytes);
}

static const struct monitor *monitor_of(const struct probe *p)
{
    return display_modes(p)->target[0].monitor;
}

/* 1024 x 768 at 60 Hz, and nothing else. */
static void make_edid(uint8_t *edid)
{
    static const uint8_t header[8] = {0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0};
    static const uint8_t timing[18] = {0x64, 0x19, 0x00, 0x40, 0x41, 0x00, 0x26, 0x30, 0x18,
                                       0x88, 0x36, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x18};
    uint8_t sum = 0;

    memset(edid, 0, 128);
    memcpy(edid, header, sizeof(header));
    edid[18] = 1;
    edid[19] = 4;
    memset(edid + 38, 1, 16);
    memcpy(edid + 54, timing, sizeof(timing));
    for (unsigned i = 0; i < 127; i++)
        sum = (uint8_t)(sum + edid[i]);
    edid[127] = (uint8_t)-sum;
}

static void plug_monitors(struct probe *p)
{
    const struct dxgk_device_monitor none = {0};
    struct dxgk_device_monitor one = {.width = 1024, .height = 768, .edid_bytes = 128};
    uint8_t edid[128];

    make_edid(edid);
    one.edid = edid;
    CHECK(monitor_of(p) && !monitor_of(p)->edid);
    CHECK(!port_display_plug(p->adapter[0], 0, &none) && plugged.width == 0);
    display_indicate(p, 1, false); /* of the other output: the host looks into what has changed */
    CHECK_RULE("PRES-322/a", monitor_of(p) && display_modes(p)->active->paths == 1);
    CHECK(!port_display_plug(p->adapter[0], 0, &one) && plugged.width == 1024);
    CHECK_RULE("PRES-322/b", !monitor_of(p)->edid);
    display_indicate(p, 0, true);
    CHECK_RULE("PRES-322/b", monitor_of(p)->edid && memcmp(monitor_of(p)->edid, edid, 128) == 0);
    plugged.edid = NULL;
}

/* A monitor of the device is one for the host when the driver says so. */
TEST(monitors_reach_the_host_through_device_and_driver)
{
    struct probe *p = display_create(NULL);

    memset(&plugged, 0, sizeof(plugged));
    display.outputs = 2;
    display.connected[0] = true;
    p->before[PROBE_QueryDeviceDescriptor] = answer_descriptor;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    p->adapter[0]->device->outputs = &two;
    probe_end(p, plug_monitors);
}
