/* SPDX-License-Identifier: MIT */
/* What a model says that it shows, as others see it. */
#include "bus/device.h"
#include "bus/outputs.h"
#include "bus/reset.h"
#include "sim/sim.h"
#include "support/check_rule.h"
#include "support/probe_rig.h"

static enum dxgk_scanout_state answer;
static const uint32_t pixel = 0x00123456;
static const void *at = &pixel;

static enum dxgk_scanout_state scan_out(void *device, unsigned output, struct dxgk_scanout *scanout)
{
    CHECK(device == rig.probe && scanout->width == 0 && !scanout->pixels);
    rig.probe->reads++;
    scanout->width = output + 1;
    scanout->height = 1;
    scanout->pixels = at;
    return answer;
}

static bool take_monitor(void *device, unsigned output, const uint8_t *edid, size_t bytes)
{
    (void)device, (void)output, (void)edid, (void)bytes;
    return true;
}

static const struct dxgk_device_outputs two = {
    .count = 2, .monitor = take_monitor, .scanout = scan_out};

static void tell(const struct dxgk_device_outputs *outputs)
{
    rig.probe->services->outputs(rig.probe->host, outputs);
}

TEST_WITH(bus, a_model_without_outputs_shows_what_the_firmware_does)
{
    static const struct dxgk_device_outputs silent = {.count = 1, .monitor = take_monitor};
    struct bus_device *device = rig_add();
    struct dxgk_scanout scanout;

    CHECK(bus_device_scanout(device, 0, &scanout) == DXGK_SCANOUT_FIRMWARE);
    tell(&silent);
    CHECK(bus_device_scanout(device, 0, &scanout) == DXGK_SCANOUT_FIRMWARE);
    bus_device_unplug(device, NULL);
    CHECK(bus_device_scanout(device, 0, &scanout) == DXGK_SCANOUT_OFF);
}

TEST_WITH(bus, outputs_are_asked_one_by_one)
{
    struct bus_device *device = rig_add();
    struct dxgk_scanout scanout;

    tell(&two);
    answer = DXGK_SCANOUT_ON;
    CHECK(bus_device_scanout(device, 1, &scanout) == DXGK_SCANOUT_ON);
    CHECK(scanout.width == 2 && scanout.pixels == &pixel);
    CHECK(bus_device_scanout(device, 2, &scanout) == DXGK_SCANOUT_FIRMWARE);
    answer = DXGK_SCANOUT_OFF;
    CHECK(bus_device_scanout(device, 0, &scanout) == DXGK_SCANOUT_OFF);
    CHECK(rig.probe->reads == 2);
}

/* As at the end of a run, when a picture of the screen is taken. */
TEST_WITH(bus, outputs_are_asked_while_the_machine_stands)
{
    struct bus_device *device = rig_add();
    struct dxgk_scanout scanout;

    tell(&two);
    answer = DXGK_SCANOUT_ON;
    sim_leave();
    CHECK(bus_device_scanout(device, 0, &scanout) == DXGK_SCANOUT_ON && scanout.width == 1);
    sim_enter(rig.machine);
}

TEST_WITH(bus, an_output_without_pixels_is_off)
{
    struct bus_device *device = rig_add();
    struct dxgk_scanout scanout;

    tell(&two);
    at = NULL;
    answer = DXGK_SCANOUT_ON;
    CHECK(bus_device_scanout(device, 0, &scanout) == DXGK_SCANOUT_OFF);
    at = &pixel;
}
