/* SPDX-License-Identifier: MIT */
/* The pointer that the device draws over a scan-out: 64 x 64 pixels with alpha. */
#include "gpu.h"

void gpu_cursor_command(struct gpu *gpu, const struct gpu_cursor *command)
{
    struct gpu_pointer *pointer;
    const struct gpu_resource *resource;

    if (command->scanout >= gpu->options.scanouts)
        return;
    pointer = &gpu->scanout[command->scanout].pointer;
    pointer->x = (int32_t)command->x;
    pointer->y = (int32_t)command->y;
    if (command->header.type != GPU_UPDATE_CURSOR)
        return;
    pointer->resource = command->resource;
    resource = gpu_resource(gpu, command->resource);
    if (resource && resource->width == GPU_CURSOR_SIDE && resource->height == GPU_CURSOR_SIDE)
        gpu_convert(pointer->image, resource->pixels, GPU_CURSOR_SIDE * GPU_CURSOR_SIDE,
                    resource->format);
}

static uint8_t blend(uint8_t below, uint8_t above, uint8_t alpha)
{
    return (uint8_t)((above * alpha + below * (255u - alpha) + 127u) / 255u);
}

void gpu_draw_pointer(const struct gpu_pointer *pointer, uint8_t *picture, uint32_t width,
                      uint32_t height)
{
    for (int64_t row = 0; row < GPU_CURSOR_SIDE; row++)
        for (int64_t column = 0; column < GPU_CURSOR_SIDE; column++) {
            const int64_t x = pointer->x + column, y = pointer->y + row;
            const uint8_t *from = pointer->image + (row * GPU_CURSOR_SIDE + column) * GPU_PIXEL;
            uint8_t *to;

            if (x < 0 || y < 0 || x >= width || y >= height)
                continue;
            to = picture + ((size_t)y * width + (size_t)x) * GPU_PIXEL;
            for (unsigned i = 0; i < 3; i++)
                to[i] = blend(to[i], from[i], from[3]);
        }
}
