/* SPDX-License-Identifier: MIT */
/* What the outputs show, and which monitors are on them. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

/* ---- pictures ---- */

/* At least `bytes`, zeroed when they are new; NULL: out of memory. */
static uint8_t *scratch(uint8_t **memory, uint64_t *have, uint64_t bytes)
{
    if (*have < bytes) {
        free(*memory);
        *memory = calloc(1, bytes);
        *have = *memory ? bytes : 0;
    }
    return *memory;
}

static uint32_t wider(uint32_t bits, uint32_t most)
{
    return (bits * 255u + most / 2u) / most;
}

static void copy_line(uint8_t *to, const uint8_t *from, uint32_t width, uint32_t format)
{
    if (format != REFGPU_OUT_FORMAT_R5G6B5) {
        memcpy(to, from, (size_t)width * 4u);
        return;
    }
    for (uint32_t x = 0; x < width; x++) {
        const uint32_t pixel = from[2u * x] | (uint32_t)from[2u * x + 1u] << 8;

        to[4u * x] = (uint8_t)wider(pixel & 31u, 31);
        to[4u * x + 1u] = (uint8_t)wider(pixel >> 5 & 63u, 63);
        to[4u * x + 2u] = (uint8_t)wider(pixel >> 11, 31);
    }
}

static uint8_t blend(uint8_t below, uint8_t above, uint8_t alpha)
{
    return (uint8_t)((above * alpha + below * (255u - alpha) + 127u) / 255u);
}

static void draw_pointer(const struct refgpu_device *device, const struct refgpu_output *output,
                         uint8_t *picture)
{
    const int32_t left = (int16_t)(output->pointer_position & 0xFFFFu);
    const int32_t top = (int16_t)(output->pointer_position >> 16);
    const uint8_t *shape = device->vram + output->pointer_shape;
    const int32_t width = (int32_t)refgpu_output_width(output);

    for (int32_t i = 0; i < (int32_t)(REFGPU_POINTER_SIDE * REFGPU_POINTER_SIDE); i++) {
        const int32_t x = left + i % (int32_t)REFGPU_POINTER_SIDE;
        const int32_t y = top + i / (int32_t)REFGPU_POINTER_SIDE;
        const uint8_t *from = shape + (size_t)i * 4u;
        uint8_t *to;

        if (x < 0 || y < 0 || x >= width || y >= (int32_t)refgpu_output_height(output))
            continue;
        to = picture + ((size_t)y * (size_t)width + (size_t)x) * 4u;
        for (unsigned c = 0; c < 3u; c++)
            to[c] = blend(to[c], from[c], from[3]);
    }
}

static bool has_pointer(const struct refgpu_device *device, const struct refgpu_output *output)
{
    return (output->control & REFGPU_OUT_CONTROL_POINTER) &&
           output->pointer_shape < device->vram_bytes &&
           device->vram_bytes - output->pointer_shape >= REFGPU_POINTER_BYTES;
}

/* Each channel through its part of the ramp, whose entries have 16 bits. */
static void correct(const struct refgpu_output *output, uint8_t *picture, size_t pixels)
{
    const uint16_t *red = output->gamma, *green = red + REFGPU_GAMMA_LEVELS,
                   *blue = green + REFGPU_GAMMA_LEVELS;

    for (size_t i = 0; i < pixels; i++) {
        uint8_t *pixel = picture + 4u * i;

        pixel[0] = (uint8_t)(blue[pixel[0]] >> 8);
        pixel[1] = (uint8_t)(green[pixel[1]] >> 8);
        pixel[2] = (uint8_t)(red[pixel[2]] >> 8);
    }
}

/* With the pointer and by the gamma ramp, in X8R8G8B8. */
static bool compose(struct refgpu_device *device, struct refgpu_output *output,
                    struct dxgk_scanout *shown)
{
    const uint32_t format = output->now.format;
    uint8_t *to;

    shown->format = DXGK_PIXEL_BGRX;
    shown->pitch = shown->width * 4u;
    shown->bytes = (size_t)shown->pitch * shown->height;
    shown->pixels = to = scratch(&output->composed, &output->composed_bytes, shown->bytes);
    if (!to)
        return false;
    for (uint32_t y = 0; y < shown->height; y++)
        copy_line(to + (size_t)y * shown->pitch,
                  device->vram + output->now.address + (uint64_t)y * output->now.pitch,
                  shown->width, format);
    if (has_pointer(device, output))
        draw_pointer(device, output, to);
    if (output->control & REFGPU_OUT_CONTROL_GAMMA)
        correct(output, to, (size_t)shown->width * shown->height);
    return true;
}

static void blank(struct refgpu_output *output, struct dxgk_scanout *shown)
{
    shown->format = DXGK_PIXEL_RGB565;
    shown->pitch = shown->width * 2u;
    shown->bytes = (size_t)shown->pitch * shown->height;
    shown->pixels = scratch(&output->black, &output->black_bytes, shown->bytes);
}

static enum dxgk_scanout_state scan_out(void *context, unsigned index, struct dxgk_scanout *shown)
{
    struct refgpu_device *device = context;
    struct refgpu_output *output = &device->display.output[index];
    const struct refgpu_frame *frame = &output->now;

    if (device->display.vga && !device->display.touched)
        return DXGK_SCANOUT_FIRMWARE;
    if (!(output->control & REFGPU_OUT_CONTROL_ENABLE) || !output->edid)
        return DXGK_SCANOUT_OFF;
    shown->width = refgpu_output_width(output);
    shown->height = refgpu_output_height(output);
    if (output->control & REFGPU_OUT_CONTROL_BLANK) {
        blank(output, shown);
        return shown->pixels ? DXGK_SCANOUT_ON : DXGK_SCANOUT_OFF;
    }
    if (!refgpu_display_fits(device, output))
        return DXGK_SCANOUT_OFF;
    if (has_pointer(device, output) || (output->control & REFGPU_OUT_CONTROL_GAMMA))
        return compose(device, output, shown) ? DXGK_SCANOUT_ON : DXGK_SCANOUT_OFF;
    shown->format = frame->format == REFGPU_OUT_FORMAT_R5G6B5 ? DXGK_PIXEL_RGB565 : DXGK_PIXEL_BGRX;
    shown->pitch = frame->pitch;
    shown->pixels = device->vram + frame->address;
    shown->bytes = device->vram_bytes - frame->address;
    return DXGK_SCANOUT_ON;
}

/* ---- monitors ---- */

static bool plug(void *context, unsigned index, const uint8_t *edid, size_t bytes)
{
    struct refgpu_device *device = context;
    struct refgpu_output *output = &device->display.output[index];
    uint8_t *copy = NULL;

    if (bytes > REFGPU_EDID_MOST_BYTES)
        return false;
    if (edid) {
        copy = calloc(1, bytes ? bytes : 1u);
        if (!copy)
            return false;
        memcpy(copy, edid, bytes);
    }
    free(output->edid);
    output->edid = copy;
    output->edid_bytes = (uint32_t)bytes;
    if (output->interrupt & REFGPU_OUT_INTERRUPT_PLUG)
        refgpu_interrupt(device, REFGPU_IRQ_PLUG(index));
    return true;
}

/* ---- life ---- */

static const struct dxgk_device_outputs outputs[REFGPU_OUTPUTS] = {
    {.count = 1, .monitor = plug, .scanout = scan_out},
    {.count = 2, .monitor = plug, .scanout = scan_out}};

void refgpu_display_tell(struct refgpu_device *device)
{
    if (device->display.outputs)
        device->services->outputs(device->host, &outputs[device->display.outputs - 1u]);
}

void refgpu_display_free(struct refgpu_device *device)
{
    for (uint32_t i = 0; i < REFGPU_OUTPUTS; i++) {
        free(device->display.output[i].edid);
        free(device->display.output[i].black);
        free(device->display.output[i].composed);
    }
}
