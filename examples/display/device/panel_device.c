/* SPDX-License-Identifier: MIT */
/*
 * A model of the Panel for dxgkhost (dxgkhost/device.h). Until the driver writes CONTROL, it shows
 * what the firmware has lit.
 */
#include <stdlib.h>
#include <string.h>

#include "dxgkhost/device.h"
#include "panel_hw.h"

#define SECOND 1000000000ull

struct panel {
    const struct dxgk_device_services *services;
    void *host;
    uint8_t *memory;
    uint32_t size, pitch, control, irq_status, irq_enable, pointer;
    bool taken, timed;
    uint64_t start; /* of the first line, when ON was set */
    uint8_t edid[PANEL_EDID_MOST];
    uint32_t edid_bytes;
    bool connected;
    uint8_t *composed; /* the picture with the pointer */
};

/* ---- time ---- */

static uint32_t width(const struct panel *p)
{
    return p->size & 0xFFFFu;
}

static uint32_t height(const struct panel *p)
{
    return p->size >> 16;
}

static uint32_t line(const struct panel *p)
{
    const uint64_t lines = height(p) + PANEL_BLANK_LINES;
    const uint64_t passed = p->services->now(p->host) - p->start;

    return p->control & PANEL_ON ? (uint32_t)(passed * PANEL_HERTZ % SECOND * lines / SECOND) : 0;
}

/* A timer only while somebody wants to be told. */
static void arm(struct panel *p)
{
    const bool needed = (p->control & PANEL_ON) && (p->irq_enable & PANEL_VSYNC);
    const uint64_t lines = height(p) + PANEL_BLANK_LINES, period = SECOND / PANEL_HERTZ;
    const uint64_t blank = period * height(p) / lines + 1;
    const uint64_t at = (p->services->now(p->host) - p->start) % period;

    if (needed && !p->timed)
        p->services->timer_arm(p->host, 0, at < blank ? blank - at : period + blank - at);
    if (!needed && p->timed)
        p->services->timer_disarm(p->host, 0);
    p->timed = needed;
}

static void raise(struct panel *p, uint32_t cause)
{
    p->irq_status |= cause;
    if (p->irq_enable & cause)
        p->services->interrupt(p->host, 0);
}

static void timer(void *device, unsigned index)
{
    struct panel *p = device;

    (void)index;
    p->timed = false;
    raise(p, PANEL_VSYNC);
    arm(p);
}

/* ---- registers ---- */

static uint64_t read(void *device, unsigned bar, uint64_t offset, unsigned bytes)
{
    struct panel *p = device;
    uint32_t value = 0;

    (void)bar;
    if (offset >= PANEL_EDID && offset + bytes <= PANEL_EDID + PANEL_EDID_MOST) {
        memcpy(&value, p->edid + (offset - PANEL_EDID), bytes < 4 ? bytes : 4);
        return value;
    }
    switch (offset) {
    case PANEL_ID:
        return PANEL_ID_VALUE;
    case PANEL_SIZE:
        return p->size;
    case PANEL_PITCH:
        return p->pitch;
    case PANEL_CONTROL:
        return p->control;
    case PANEL_STATUS:
        return (p->connected ? PANEL_CONNECTED : 0) |
               ((p->control & PANEL_ON) && line(p) >= height(p) ? PANEL_BLANK : 0);
    case PANEL_IRQ_STATUS:
        value = p->irq_status;
        p->irq_status = 0;
        return value;
    case PANEL_IRQ_ENABLE:
        return p->irq_enable;
    case PANEL_LINE:
        return line(p);
    case PANEL_POINTER_XY:
        return p->pointer;
    case PANEL_EDID_BYTES:
        return p->edid_bytes;
    default:
        return 0;
    }
}

static void write(void *device, unsigned bar, uint64_t offset, unsigned bytes, uint64_t value)
{
    struct panel *p = device;

    (void)bar;
    (void)bytes;
    switch (offset) {
    case PANEL_SIZE:
        p->size = (uint32_t)value;
        break;
    case PANEL_PITCH:
        p->pitch = (uint32_t)value;
        break;
    case PANEL_CONTROL:
        p->taken = true;
        if ((value & PANEL_ON) && !(p->control & PANEL_ON))
            p->start = p->services->now(p->host);
        p->control = value & (PANEL_ON | PANEL_POINTER);
        break;
    case PANEL_IRQ_ENABLE:
        p->irq_enable = (uint32_t)value;
        break;
    case PANEL_POINTER_XY:
        p->pointer = (uint32_t)value;
        break;
    default:
        break;
    }
    arm(p);
}

/* ---- the connector ---- */

static bool monitor(void *device, unsigned output, const uint8_t *edid, size_t bytes)
{
    struct panel *p = device;

    (void)output;
    if (bytes > PANEL_EDID_MOST)
        return false;
    memset(p->edid, 0, sizeof(p->edid));
    if (edid)
        memcpy(p->edid, edid, bytes);
    p->edid_bytes = edid ? (uint32_t)bytes : 0;
    p->connected = edid != NULL;
    raise(p, PANEL_PLUG);
    return true;
}

static void draw_pointer(const struct panel *p, uint8_t *picture)
{
    const int left = (int16_t)(p->pointer & 0xFFFFu), top = (int16_t)(p->pointer >> 16);

    for (int i = 0; i < (int)(PANEL_POINTER_SIDE * PANEL_POINTER_SIDE); i++) {
        const int x = left + i % (int)PANEL_POINTER_SIDE, y = top + i / (int)PANEL_POINTER_SIDE;
        const uint8_t *from = p->memory + PANEL_POINTER_AT + (size_t)i * 4;
        uint8_t *to;

        if (x < 0 || y < 0 || x >= (int)width(p) || y >= (int)height(p))
            continue;
        to = picture + (size_t)y * p->pitch + (size_t)x * 4;
        for (int c = 0; c < 3; c++)
            to[c] = (uint8_t)((from[c] * from[3] + to[c] * (255 - from[3]) + 127) / 255);
    }
}

static enum dxgk_scanout_state scanout(void *device, unsigned output, struct dxgk_scanout *shown)
{
    struct panel *p = device;
    const uint64_t bytes = (uint64_t)p->pitch * height(p);

    (void)output;
    if (!p->taken)
        return DXGK_SCANOUT_FIRMWARE;
    if (!(p->control & PANEL_ON) || !width(p) || !height(p) || p->pitch < width(p) * 4 ||
        bytes > PANEL_MEMORY_BYTES)
        return DXGK_SCANOUT_OFF;
    *shown = (struct dxgk_scanout){.width = width(p),
                                   .height = height(p),
                                   .pitch = p->pitch,
                                   .format = DXGK_PIXEL_BGRX,
                                   .pixels = p->memory,
                                   .bytes = bytes};
    if (p->control & PANEL_POINTER) {
        memcpy(p->composed, p->memory, bytes);
        draw_pointer(p, p->composed);
        shown->pixels = p->composed;
    }
    return DXGK_SCANOUT_ON;
}

static const struct dxgk_device_outputs outputs = {
    .count = 1, .monitor = monitor, .scanout = scanout};

/* ---- life ---- */

static bool configure(const struct dxgk_device_config *config,
                      struct dxgk_device_description *description, const char **error)
{
    (void)config;
    (void)error;
    description->vendor = description->subsystem_vendor = PANEL_VENDOR;
    description->device = PANEL_DEVICE;
    description->class_code = 0x038000;
    description->bar[0] = (struct dxgk_device_bar){DXGK_BAR_REGISTERS, PANEL_REGISTER_BYTES};
    description->bar[2] = (struct dxgk_device_bar){DXGK_BAR_MEMORY, PANEL_MEMORY_BYTES};
    description->messages = 1;
    description->dma_bits = 32;
    return true;
}

static void reset(void *device)
{
    struct panel *p = device;

    p->size = p->pitch = p->control = p->irq_status = p->irq_enable = p->pointer = 0;
    p->taken = false;
    arm(p);
}

static void destroy(void *device)
{
    struct panel *p = device;

    if (p)
        free(p->composed);
    free(p);
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    struct panel *p = calloc(1, sizeof(*p));

    (void)config;
    if (!p)
        return NULL;
    p->services = services;
    p->host = host;
    p->memory = services->memory(host, 2);
    p->composed = malloc(PANEL_MEMORY_BYTES);
    if (!p->composed) {
        destroy(p);
        return NULL;
    }
    services->outputs(host, &outputs);
    return p;
}

static const struct dxgk_device_model model = {.api_version = DXGK_DEVICE_API_VERSION,
                                               .name = "panel",
                                               .configure = configure,
                                               .create = create,
                                               .destroy = destroy,
                                               .reset = reset,
                                               .read = read,
                                               .write = write,
                                               .timer = timer};

const struct dxgk_device_model *dxgk_device_get_model(uint32_t api_version)
{
    return api_version == DXGK_DEVICE_API_VERSION ? &model : NULL;
}
