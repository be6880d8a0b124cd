/* SPDX-License-Identifier: MIT */
/*
 * A device model that ends the process of its host: "create=fault", "destroy=exit", ... The acts
 * are fault, exit, abort and loop, in configure, create, reset and destroy.
 */
#include <stdlib.h>
#include <string.h>

#include "dxgkhost/device.h"

static volatile int *volatile nothing;    /* stays NULL */
static struct dxgk_device_config options; /* its strings live as long as the device */

static void act(const char *where)
{
    size_t length = strlen(where);

    for (size_t i = 0; i < options.count; i++) {
        const char *option = options.option[i];

        if (strncmp(option, where, length) != 0 || option[length] != '=')
            continue;
        if (strcmp(option + length + 1, "fault") == 0)
            nothing[4] = 1;
        else if (strcmp(option + length + 1, "exit") == 0)
            exit(0);
        else if (strcmp(option + length + 1, "abort") == 0)
            abort();
        else
            for (;;)
                ;
    }
}

static bool configure(const struct dxgk_device_config *config,
                      struct dxgk_device_description *description, const char **error)
{
    (void)error;
    options = *config;
    act("configure");
    *description = (struct dxgk_device_description){.vendor = 0x1234, .device = 1, .messages = 1};
    description->bar[0] = (struct dxgk_device_bar){DXGK_BAR_MEMORY, 65536};
    description->dma_bits = 40;
    return true;
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    (void)config;
    (void)services;
    act("create");
    return host;
}

static void destroy(void *device)
{
    (void)device;
    act("destroy");
}

static void reset(void *device)
{
    (void)device;
    act("reset");
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

const struct dxgk_device_model *dxgk_device_get_model(uint32_t api_version)
{
    static const struct dxgk_device_model model = {
        .api_version = DXGK_DEVICE_API_VERSION,
        .name = "ends_process",
        .configure = configure,
        .create = create,
        .destroy = destroy,
        .reset = reset,
        .read = read,
        .write = write,
        .timer = timer,
    };

    return api_version == DXGK_DEVICE_API_VERSION ? &model : NULL;
}
