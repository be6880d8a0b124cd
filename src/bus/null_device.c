/* SPDX-License-Identifier: MIT */
/*
 * A device without hardware: a PCI function with BARs of plain memory. It keeps what is written
 * there, masters no bus and raises no interrupt. With it a driver can be loaded, started and asked
 * for its capabilities before a model of its hardware exists.
 *
 * Of outputs, if it is to have any, BAR 2 has what their monitors say: the EDID of the first in its
 * first 1024 bytes, as QEMU's standard VGA has that of its only one, and those of the others behind
 * it; zeros: there is no monitor. Each change raises interrupt message 0.
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
#define MOST_OUTPUTS   16u
#define EDID_ROOM      1024u /* of an output, in BAR 2 */

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
    OUTPUTS,
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
    [OUTPUTS] = {"outputs", 0, MOST_OUTPUTS, "outputs is a number up to 16"},
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
    if (value[REGISTERS] >= value[OUTPUTS] * EDID_ROOM)
        return true;
    *error = "outputs need 1024 bytes of registers each";
    return false;
}

struct null_device {
    const struct dxgk_device_services *services;
    void *host;
    struct dxgk_device_outputs outputs;
};

static bool monitor(void *state, unsigned output, const uint8_t *edid, size_t bytes)
{
    struct null_device *device = state;
    uint8_t *room = (uint8_t *)device->services->memory(device->host, 2) +
                    (size_t)output * EDID_ROOM;

    if (bytes > EDID_ROOM)
        return false;
    memset(room, 0, EDID_ROOM);
    if (edid)
        memcpy(room, edid, bytes);
    device->services->interrupt(device->host, 0);
    return true;
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    struct null_device *device = calloc(1, sizeof(*device));
    uint64_t value[OPTIONS];
    const char *error;

    if (!device)
        return NULL;
    device->services = services;
    device->host = host;
    device->outputs.monitor = monitor;
    if (read_options(config, value, &error)) /* as configure has found */
        device->outputs.count = (uint32_t)value[OUTPUTS];
    if (device->outputs.count)
        services->outputs(host, &device->outputs);
    return device;
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
    .destroy = free,
    .reset = nothing,
    .read = read,
    .write = write,
    .timer = timer,
};
