/* SPDX-License-Identifier: MIT */
/* Scan-outs: which part of which resource is on an output, and what of it was flushed (PRES-314). */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

static void off(struct gpu_scanout *scanout)
{
    free(scanout->shown);
    free(scanout->composed);
    scanout->shown = scanout->composed = NULL;
    scanout->resource = 0;
}

void gpu_scanouts_off(struct gpu *gpu, uint32_t resource)
{
    for (unsigned i = 0; i < GPU_SCANOUTS; i++)
        if (!resource || gpu->scanout[i].resource == resource)
            off(&gpu->scanout[i]);
}

/* `rect` of the resource, as far as it is scanned out, is seen from now on. */
static void show(struct gpu_scanout *scanout, const struct gpu_resource *resource,
                 const struct gpu_rect *rect)
{
    const struct gpu_rect *whole = &scanout->rect;
    const uint32_t left = rect->x > whole->x ? rect->x : whole->x;
    const uint32_t top = rect->y > whole->y ? rect->y : whole->y;
    const uint32_t right = rect->x + rect->width < whole->x + whole->width
                               ? rect->x + rect->width
                               : whole->x + whole->width;
    const uint32_t bottom = rect->y + rect->height < whole->y + whole->height
                                ? rect->y + rect->height
                                : whole->y + whole->height;

    for (uint32_t y = top; y < bottom && left < right; y++)
        gpu_convert(scanout->shown +
                        ((size_t)(y - whole->y) * whole->width + (left - whole->x)) * GPU_PIXEL,
                    resource->pixels + ((size_t)y * resource->width + left) * GPU_PIXEL,
                    right - left, resource->format);
}

uint32_t gpu_set_scanout(struct gpu *gpu, const struct gpu_set_scanout *command)
{
    const struct gpu_rect *rect = &command->rect;
    const struct gpu_resource *resource;
    struct gpu_scanout *scanout;
    size_t bytes;

    if (command->scanout >= gpu->options.scanouts)
        return GPU_ERR_INVALID_SCANOUT;
    scanout = &gpu->scanout[command->scanout];
    if (command->resource == 0) {
        off(scanout);
        return GPU_OK;
    }
    resource = gpu_resource(gpu, command->resource);
    if (!resource)
        return GPU_ERR_INVALID_RESOURCE;
    if (rect->width == 0 || rect->height == 0 || !gpu_inside(resource, rect))
        return GPU_ERR_INVALID_PARAMETER;
    off(scanout);
    bytes = (size_t)rect->width * rect->height * GPU_PIXEL;
    scanout->shown = malloc(bytes);
    scanout->composed = malloc(bytes);
    if (!scanout->shown || !scanout->composed) {
        off(scanout);
        return GPU_ERR_OUT_OF_MEMORY;
    }
    scanout->resource = command->resource;
    scanout->rect = *rect;
    gpu->took_over = true;
    show(scanout, resource, rect);
    return GPU_OK;
}

uint32_t gpu_flush(struct gpu *gpu, const struct gpu_flush *command)
{
    const struct gpu_resource *resource = gpu_resource(gpu, command->resource);

    if (!resource)
        return GPU_ERR_INVALID_RESOURCE;
    if (!gpu_inside(resource, &command->rect))
        return GPU_ERR_INVALID_PARAMETER;
    for (unsigned i = 0; i < gpu->options.scanouts; i++)
        if (gpu->scanout[i].resource == command->resource)
            show(&gpu->scanout[i], resource, &command->rect);
    return GPU_OK;
}

static enum dxgk_scanout_state scan_out(void *device, unsigned output, struct dxgk_scanout *shown)
{
    const struct gpu *gpu = device;
    const struct gpu_scanout *scanout = &gpu->scanout[output];
    const size_t bytes = (size_t)scanout->rect.width * scanout->rect.height * GPU_PIXEL;

    if (!scanout->width) /* nobody is there to see it */
        return DXGK_SCANOUT_OFF;
    if (!gpu->took_over)
        return gpu->options.vga && output == 0 ? dispi_scanout(&gpu->dispi, shown)
                                               : DXGK_SCANOUT_OFF;
    if (!scanout->resource)
        return DXGK_SCANOUT_OFF;
    shown->width = scanout->rect.width;
    shown->height = scanout->rect.height;
    shown->pitch = scanout->rect.width * GPU_PIXEL;
    shown->format = DXGK_PIXEL_BGRX;
    shown->pixels = scanout->shown;
    shown->bytes = bytes;
    if (scanout->pointer.resource) {
        memcpy(scanout->composed, scanout->shown, bytes);
        gpu_draw_pointer(&scanout->pointer, scanout->composed, shown->width, shown->height);
        shown->pixels = scanout->composed;
    }
    return DXGK_SCANOUT_ON;
}

#define OUTPUTS(n)                                                \
    {                                                             \
        .count = (n), .scanout = scan_out, .monitor = gpu_monitor \
    }

const struct dxgk_device_outputs gpu_outputs[GPU_SCANOUTS] = {
    OUTPUTS(1),  OUTPUTS(2),  OUTPUTS(3),  OUTPUTS(4),  OUTPUTS(5),  OUTPUTS(6),
    OUTPUTS(7),  OUTPUTS(8),  OUTPUTS(9),  OUTPUTS(10), OUTPUTS(11), OUTPUTS(12),
    OUTPUTS(13), OUTPUTS(14), OUTPUTS(15), OUTPUTS(16)};
