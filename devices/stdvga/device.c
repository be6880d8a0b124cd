/* SPDX-License-Identifier: MIT */
/*
 * The standard VGA of Bochs and QEMU, as far as a driver for its linear frame buffer sees it
 * (docs/display-devices.md): video memory in BAR 0; in BAR 2 EDID, old VGA registers and the DISPI
 * registers, which are also at ports 0x1CE to 0x1D1. It masters no bus and never interrupts.
 */
#include <stdlib.h>
#include <string.h>

#include "../common/edid.h"
#include "../common/options.h"
#include "../common/vga/attribute.h"
#include "../common/vga/dispi.h"
#include "dxgkhost/device.h"

#define BAR_VRAM  0u
#define BAR_MMIO  2u
#define MMIO_SIZE 4096u

/* In BAR 2 */
#define MMIO_EDID        0x000u
#define MMIO_EDID_BYTES  0x400u
#define MMIO_VGA         0x400u
#define MMIO_DISPI       0x500u
#define MMIO_EXTRA       0x600u /* its size in bytes, then the byte order of the frame buffer */
#define EXTRA_BYTES      8u
#define LITTLE_ENDIAN_FB 0x1E1E1E1Eu

struct options {
    uint64_t vram, mmio, edid, width, height;
};

struct stdvga {
    struct options options;
    struct dispi dispi;
    struct vga_attribute attribute;
    uint8_t edid[MMIO_EDID_BYTES];
    uint8_t *vram;
};

static const char *read_options(const struct dxgk_device_config *config, struct options *o)
{
    const struct option_number numbers[] = {
        {"vram", &o->vram, 1u << 20, 1u << 30, "vram is a power of two from 1 MiB to 1 GiB"},
        {"mmio", &o->mmio, 0, 1, "mmio is 0 or 1"},
        {"edid", &o->edid, 0, 1, "edid is 0 or 1"},
        {"width", &o->width, EDID_LEAST, EDID_MOST_WIDTH,
         "width is a multiple of 8 from 64 to 4088"},
        {"height", &o->height, EDID_LEAST, EDID_MOST_LINES, "height is a number from 64 to 2400"},
    };
    const char *error;

    *o = (struct options){.vram = 16u << 20, .mmio = 1, .edid = 1, .width = 1280, .height = 800};
    error = options_read(config, numbers, sizeof(numbers) / sizeof(numbers[0]));
    if (error)
        return error;
    if (o->vram & (o->vram - 1))
        return numbers[0].error;
    return o->width % 8 ? numbers[3].error : NULL;
}

static bool configure(const struct dxgk_device_config *config,
                      struct dxgk_device_description *description, const char **error)
{
    struct options o;

    *error = read_options(config, &o);
    if (*error)
        return false;
    description->vendor = 0x1234;
    description->device = 0x1111;
    description->subsystem_vendor = 0x1AF4;
    description->subsystem = 0x1100;
    description->revision = 2;
    description->class_code = 0x030000;
    description->bar[BAR_VRAM] = (struct dxgk_device_bar){DXGK_BAR_MEMORY, o.vram};
    if (o.mmio)
        description->bar[BAR_MMIO] = (struct dxgk_device_bar){DXGK_BAR_REGISTERS, MMIO_SIZE};
    description->fixed_port = DISPI_PORTS;
    description->fixed_ports = DISPI_PORT_COUNT;
    description->messages = 1; /* the least that a function has */
    description->dma_bits = 32;
    return true;
}

static void reset(void *device)
{
    struct stdvga *vga = device;

    dispi_reset(&vga->dispi, vga->vram, vga->options.vram);
    vga_attribute_reset(&vga->attribute);
}

static enum dxgk_scanout_state scanout(void *device, unsigned output, struct dxgk_scanout *shown)
{
    const struct stdvga *vga = device;

    (void)output;
    return vga_attribute_blanks(&vga->attribute) ? DXGK_SCANOUT_OFF
                                                 : dispi_scanout(&vga->dispi, shown);
}

/* Nothing tells the driver: it sees another EDID when it looks. */
static bool take_monitor(void *device, unsigned output, const uint8_t *edid, size_t bytes)
{
    struct stdvga *vga = device;

    (void)output;
    if (bytes > MMIO_EDID_BYTES)
        return false;
    memset(vga->edid, 0, sizeof(vga->edid));
    if (edid && vga->options.edid)
        memcpy(vga->edid, edid, bytes);
    return true;
}

static const struct dxgk_device_outputs outputs = {
    .count = 1, .monitor = take_monitor, .scanout = scanout};

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    struct stdvga *vga = calloc(1, sizeof(*vga));

    if (!vga)
        return NULL;
    (void)read_options(config, &vga->options);
    vga->vram = services->memory(host, BAR_VRAM);
    if (vga->options.edid)
        edid_make(vga->edid, (uint32_t)vga->options.width, (uint32_t)vga->options.height);
    reset(vga);
    services->outputs(host, &outputs);
    return vga;
}

/* One byte of BAR 2; of the 16-bit registers either half can be read. */
static uint8_t read_byte(struct stdvga *vga, uint64_t offset)
{
    if (offset < MMIO_EDID + MMIO_EDID_BYTES)
        return vga->edid[offset];
    if (offset < MMIO_VGA + VGA_PORT_COUNT)
        return vga_attribute_read(&vga->attribute, offset - MMIO_VGA);
    if (offset >= MMIO_DISPI && offset < MMIO_DISPI + 2 * DISPI_REGISTERS)
        return (uint8_t)(dispi_read(&vga->dispi, (uint32_t)(offset - MMIO_DISPI) / 2) >>
                         (offset % 2 * 8));
    if (offset >= MMIO_EXTRA && offset < MMIO_EXTRA + EXTRA_BYTES) {
        const uint32_t extra[] = {EXTRA_BYTES, LITTLE_ENDIAN_FB};

        return (uint8_t)(extra[(offset - MMIO_EXTRA) / 4] >> (offset % 4 * 8));
    }
    return 0xFF;
}

static uint64_t read(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    struct stdvga *vga = device;
    uint64_t value = 0;

    if (bar == DXGK_DEVICE_FIXED_PORTS)
        return dispi_port_read(&vga->dispi, offset, width);
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)read_byte(vga, offset + i) << (8 * i);
    return value;
}

static void write(void *device, unsigned bar, uint64_t offset, unsigned width, uint64_t value)
{
    struct stdvga *vga = device;

    if (bar == DXGK_DEVICE_FIXED_PORTS)
        dispi_port_write(&vga->dispi, offset, width, value);
    else if (offset >= MMIO_VGA && offset + width <= MMIO_VGA + VGA_PORT_COUNT)
        for (unsigned i = 0; i < width; i++)
            vga_attribute_write(&vga->attribute, offset - MMIO_VGA + i, (uint8_t)(value >> (8 * i)));
    else if (offset >= MMIO_DISPI && offset + width <= MMIO_DISPI + 2 * DISPI_REGISTERS)
        for (unsigned i = 0; i + 1 < width; i += 2)
            dispi_write(&vga->dispi, (uint32_t)(offset - MMIO_DISPI + i) / 2,
                        (uint16_t)(value >> (8 * i)));
}

static void timer(void *device, unsigned index)
{
    (void)device, (void)index; /* none is armed */
}

static const struct dxgk_device_model model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "stdvga",
    .configure = configure,
    .create = create,
    .destroy = free,
    .reset = reset,
    .read = read,
    .write = write,
    .timer = timer,
};

const struct dxgk_device_model *dxgk_device_get_model(uint32_t api_version)
{
    return api_version == DXGK_DEVICE_API_VERSION ? &model : NULL;
}
