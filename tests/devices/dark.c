/* SPDX-License-Identifier: MIT */
/* A VGA function that sends no signal to its display, whatever its driver does; with the option
 * "wrong=1" one that has more rows than memory. */
#include <string.h>

#include "dxgkhost/device.h"

static bool wrong;
static const uint8_t pixels[1024];

static bool configure(const struct dxgk_device_config *config,
                      struct dxgk_device_description *description, const char **error)
{
    (void)error;
    wrong = config->count && strcmp(config->option[0], "wrong=1") == 0;
    *description = (struct dxgk_device_description){
        .vendor = 0x1234, .device = 2, .class_code = 0x030000, .messages = 1, .dma_bits = 40};
    description->bar[0] = (struct dxgk_device_bar){DXGK_BAR_MEMORY, 4u << 20};
    return true;
}

static enum dxgk_scanout_state scan_out(void *device, unsigned output, struct dxgk_scanout *scanout)
{
    (void)device, (void)output;
    if (!wrong)
        return DXGK_SCANOUT_OFF;
    *scanout = (struct dxgk_scanout){
        .width = 16, .height = 17, .pitch = 64, .pixels = pixels, .bytes = sizeof(pixels)};
    return DXGK_SCANOUT_ON;
}

static bool monitor(void *device, unsigned output, const uint8_t *edid, size_t bytes)
{
    (void)device, (void)output, (void)edid, (void)bytes;
    return true;
}

static const struct dxgk_device_outputs outputs = {
    .count = 1, .monitor = monitor, .scanout = scan_out};

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    (void)config;
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
