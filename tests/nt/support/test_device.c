/* SPDX-License-Identifier: MIT */
#include "bus/device.h"
#include "support/inert_device.h"
#include "support/test_device.h"

#include <stdlib.h>
#include <string.h>

struct test_device *test_device;

static bool configure(const struct dxgk_device_config *config,
                      struct dxgk_device_description *description, const char **error)
{
    (void)config;
    (void)error;
    description->vendor = 0x1234;
    description->device = 0x5678;
    description->subsystem_vendor = 0x1AF4;
    description->subsystem = 0x1100;
    description->revision = 3;
    description->class_code = 0x030000;
    description->bar[0] = (struct dxgk_device_bar){DXGK_BAR_REGISTERS, 4096};
    description->bar[2] = (struct dxgk_device_bar){DXGK_BAR_MEMORY, 65536};
    description->messages = 4;
    description->dma_bits = 40;
    return true;
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    (void)config;
    test_device = calloc(1, sizeof(*test_device));
    if (test_device) {
        test_device->services = services;
        test_device->host = host;
    }
    return test_device;
}

static void reset(void *device)
{
    struct test_device *d = device;

    memset(d->registers, 0, sizeof(d->registers));
}

static uint64_t read_register(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    struct test_device *d = device;

    (void)bar;
    d->reads++;
    d->last_offset = offset;
    d->last_width = width;
    return d->registers[offset / 8] >> (offset % 8 * 8);
}

static void write_register(void *device, unsigned bar, uint64_t offset, unsigned width,
                           uint64_t value)
{
    struct test_device *d = device;

    (void)bar;
    d->writes++;
    d->last_offset = offset;
    d->last_width = width;
    d->last_value = value;
    memcpy((uint8_t *)d->registers + offset, &value, width);
}

static const struct dxgk_device_model model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "test device",
    .configure = configure,
    .create = create,
    .destroy = inert_device_destroy,
    .reset = reset,
    .read = read_register,
    .write = write_register,
    .timer = inert_device_timer,
};

struct bus_device *test_device_add(struct bus *bus)
{
    struct bus_refusal error;

    return bus_device_add(bus, &model, NULL, &error);
}
