/* SPDX-License-Identifier: MIT */
/*
 * A device without hardware: a PCI function with BARs of plain memory. It keeps what is written
 * there, masters no bus and raises no interrupt. With it a driver can be loaded, started and asked
 * for its capabilities before a model of its hardware exists.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/null_device.h"

/* A vendor id that PCI-SIG has given to nobody. */
#define NULL_VENDOR    0x1234u
#define NULL_DEVICE    0x0001u
#define NULL_CLASS     0x038000u
#define NULL_VRAM      ((uint64_t)64 << 20)
#define NULL_REGISTERS ((uint64_t)64 << 10)
#define NULL_DMA_BITS  52u

enum option {
    VENDOR,
    DEVICE,
    SUBSYSTEM_VENDOR,
    SUBSYSTEM,
    REVISION,
    CLASS,
    VRAM,
    REGISTERS,
    MESSAGES,
    DMA_BITS,
    OPTIONS
};

/* The values are checked for range here as far as the description cannot hold them; the rest the
 * bus checks, as it does for every model. */
static const struct {
    const char *key;
    uint64_t otherwise, most;
    const char *error;
} known[OPTIONS] = {
    [VENDOR] = {"vendor", NULL_VENDOR, 0xFFFF, "vendor is a number up to 0xFFFF"},
    [DEVICE] = {"device", NULL_DEVICE, 0xFFFF, "device is a number up to 0xFFFF"},
    [SUBSYSTEM_VENDOR] = {"subsystem-vendor", NULL_VENDOR, 0xFFFF,
                          "subsystem-vendor is a number up to 0xFFFF"},
    [SUBSYSTEM] = {"subsystem", NULL_DEVICE, 0xFFFF, "subsystem is a number up to 0xFFFF"},
    [REVISION] = {"revision", 0, 0xFF, "revision is a number up to 0xFF"},
    [CLASS] = {"class", NULL_CLASS, 0xFFFFFF, "class is a number up to 0xFFFFFF"},
    [VRAM] = {"vram", NULL_VRAM, UINT64_MAX, "vram is a number of bytes"},
    [REGISTERS] = {"registers", NULL_REGISTERS, UINT64_MAX, "registers is a number of bytes"},
    [MESSAGES] = {"messages", 1, UINT32_MAX, "messages is a number"},
    [DMA_BITS] = {"dma-bits", NULL_DMA_BITS, 0xFF, "dma-bits is a number"},
};

static bool parse(const char *text, uint64_t most, uint64_t *value)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &end, 0);
    return errno == 0 && *end == 0 && *value <= most;
}

/* False: *error says what is wrong with one of the options. */
static bool read_options(const struct dxgk_device_config *config, uint64_t *value,
                         const char **error)
{
    for (size_t k = 0; k < OPTIONS; k++)
        value[k] = known[k].otherwise;
    for (size_t i = 0; i < config->count; i++) {
        const char *text = config->option[i];
        size_t length = strcspn(text, "=");

        for (size_t k = 0; k < OPTIONS; k++) {
            if (strlen(known[k].key) != length || strncmp(known[k].key, text, length) != 0)
                continue;
            if (text[length] == 0 || !parse(text + length + 1, known[k].most, &value[k])) {
                *error = known[k].error;
                return false;
            }
        }
    }
    return true;
}

static bool configure(const struct dxgk_device_config *config,
                      struct dxgk_device_description *description, const char **error)
{
    uint64_t value[OPTIONS];

    if (!read_options(config, value, error))
        return false;
    description->vendor = (uint16_t)value[VENDOR];
    description->device = (uint16_t)value[DEVICE];
    description->subsystem_vendor = (uint16_t)value[SUBSYSTEM_VENDOR];
    description->subsystem = (uint16_t)value[SUBSYSTEM];
    description->revision = (uint8_t)value[REVISION];
    description->class_code = (uint32_t)value[CLASS];
    /* Both are 64-bit BARs, which take two registers each. */
    if (value[VRAM])
        description->bar[0] = (struct dxgk_device_bar){DXGK_BAR_MEMORY, value[VRAM]};
    if (value[REGISTERS])
        description->bar[2] = (struct dxgk_device_bar){DXGK_BAR_MEMORY, value[REGISTERS]};
    description->messages = (uint32_t)value[MESSAGES];
    description->dma_bits = (uint8_t)value[DMA_BITS];
    return true;
}

/* It has no state: what is not NULL stands for it. */
static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    (void)config;
    (void)services;
    return host;
}

static void nothing(void *device)
{
    (void)device;
}

/* No BAR has registers, and no timer is armed: the host calls none of these. */
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

const struct dxgk_device_model bus_null_device = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "null",
    .configure = configure,
    .create = create,
    .destroy = nothing,
    .reset = nothing,
    .read = read,
    .write = write,
    .timer = timer,
};
