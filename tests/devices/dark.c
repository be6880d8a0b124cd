/* SPDX-License-Identifier: MIT */
/* A VGA function that sends no signal to its display, whatever its driver does, until a monitor is
 * plugged in; with some monitors it does wrong. */
#include <string.h>

#include "dxgkhost/device.h"

/* What was plugged in last, for tests. */
__attribute__((visibility("default"))) struct dxgk_device_monitor dark_monitor;
static uint8_t edid[1024];
static bool plugged;

static bool configure(const struct dxgk_device_config *config,
                      struct dxgk_device_description *description, const char **error)
{
    (void)config, (void)error;
    *description = (struct dxgk_device_description){
        .vendor = 0x1234, .device = 2, .class_code = 0x030000, .messages = 1, .dma_bits = 40};
    description->bar[0] = (struct dxgk_device_bar){DXGK_BAR_MEMORY, 4u << 20};
    return true;
}

static enum dxgk_scanout_state scan_out(void *device, unsigned output, struct dxgk_scanout *scanout)
{
    (void)device, (void)output;
    if (dark_monitor.width == 124) { /* more rows than there are */
        *scanout = (struct dxgk_scanout){
            .width = 16, .height = 17, .pitch = 64, .pixels = edid, .bytes = sizeof(edid)};
        return DXGK_SCANOUT_ON;
    }
    return plugged ? DXGK_SCANOUT_FIRMWARE : DXGK_SCANOUT_OFF;
}

static const char *plug(void *device, unsigned output, const struct dxgk_device_monitor *monitor)
{
    (void)device, (void)output;
    if (monitor->width == 123)
        return "a monitor that it does not like";
    plugged = monitor->width != 0;
    dark_monitor = *monitor;
    if (monitor->edid && monitor->edid_bytes <= sizeof(edid))
        memcpy(edid, monitor->edid, monitor->edid_bytes);
    dark_monitor.edid = edid;
    return NULL;
}

static const struct dxgk_device_outputs outputs = {
    .size = sizeof(outputs), .count = 1, .scanout = scan_out, .plug = plug};

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    (void)config;
    plugged = false;
    dark_monitor.width = 0;
    services->outputs(host, &outputs);
    return host;
}

static void nothing(void *device)
{
    (void)device;
}

static uint64_t read(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    (void)device, (void)bar, (void)offset, (void)width;
    return 0;
}

static void write(void *device, unsigned bar, uint64_t offset, unsigned width, uint64_t value)
{
    (void)device, (void)bar, (void)offset, (void)width, (void)value;
}

static void timer(void *device, unsigned index)
{
    (void)device, (void)index;
}

static const struct dxgk_device_model model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "dark",
    .configure = configure,
    .create = create,
    .destroy = nothing,
    .reset = nothing,
    .read = read,
    .write = write,
    .timer = timer,
};

const struct dxgk_device_model *dxgk_device_get_model(uint32_t api_version)
{
    return api_version == DXGK_DEVICE_API_VERSION ? &model : NULL;
}
