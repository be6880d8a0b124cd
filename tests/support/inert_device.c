/* SPDX-License-Identifier: MIT */
#include "bus/device.h"
#include "support/inert_device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct inert_device *inert_device;

/* The one option: bytes of memory. */
bool inert_device_configure(const struct dxgk_device_config *config,
                            struct dxgk_device_description *description, const char **error)
{
    uint64_t memory = config && config->count ? strtoull(config->option[0], NULL, 10) : 0;

    (void)error;
    description->vendor = 0x1234;
    description->device = 0x5678;
    description->class_code = 0x030000;
    description->bar[0] = memory
                              ? (struct dxgk_device_bar){DXGK_BAR_MEMORY, memory}
                              : (struct dxgk_device_bar){DXGK_BAR_REGISTERS, INERT_DEVICE_REGISTERS};
    description->messages = 1;
    description->dma_bits = INERT_DEVICE_DMA_BITS;
    return true;
}

void *inert_device_create(const struct dxgk_device_config *config,
                          const struct dxgk_device_services *services, void *host)
{
    (void)config;
    inert_device = calloc(1, sizeof(*inert_device));
    if (!inert_device)
        return NULL;
    inert_device->services = services;
    inert_device->host = host;
    return inert_device;
}

void inert_device_destroy(void *device)
{
    free(device);
}

void inert_device_reset(void *device)
{
    (void)device;
}

uint64_t inert_device_read(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    const struct inert_device *d = device;
    uint64_t value = 0;

    (void)bar;
    memcpy(&value, d->registers + offset, width);
    return value;
}

void inert_device_write(void *device, unsigned bar, uint64_t offset, unsigned width, uint64_t value)
{
    struct inert_device *d = device;

    (void)bar;
    memcpy(d->registers + offset, &value, width);
}

void inert_device_timer(void *device, unsigned index)
{
    (void)device;
    (void)index;
}

static const struct dxgk_device_model model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "inert",
    .configure = inert_device_configure,
    .create = inert_device_create,
    .destroy = inert_device_destroy,
    .reset = inert_device_reset,
    .read = inert_device_read,
    .write = inert_device_write,
    .timer = inert_device_timer,
};

struct bus_device *inert_device_add(struct bus *bus, uint64_t memory_bytes)
{
    char bytes[32];
    struct bus_refusal error;
    const char *const option[] = {bytes};
    const struct dxgk_device_config config = {.count = 1, .option = option};

    snprintf(bytes, sizeof(bytes), "%" PRIu64, memory_bytes);
    return bus_device_add(bus, &model, memory_bytes ? &config : NULL, &error);
}
