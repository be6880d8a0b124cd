/* SPDX-License-Identifier: MIT */
/* 2D resources: the device's copy of pixels, and the guest memory that it is filled from. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

struct gpu_resource *gpu_resource(struct gpu *gpu, uint32_t id)
{
    for (struct gpu_resource *r = gpu->resources; r; r = r->next)
        if (r->id == id)
            return r;
    return NULL;
}

static uint64_t bytes_of(const struct gpu_resource *resource)
{
    return (uint64_t)resource->width * resource->height * GPU_PIXEL;
}

bool gpu_inside(const struct gpu_resource *resource, const struct gpu_rect *rect)
{
    return rect->x <= resource->width && rect->width <= resource->width - rect->x &&
           rect->y <= resource->height && rect->height <= resource->height - rect->y;
}

uint32_t gpu_create_resource(struct gpu *gpu, const struct gpu_create_2d *command)
{
    struct gpu_resource *made;

    if (command->resource == 0 || gpu_resource(gpu, command->resource))
        return GPU_ERR_INVALID_RESOURCE;
    if (!gpu_format_known(command->format) || command->width == 0 || command->height == 0 ||
        command->width > GPU_MOST_SIDE || command->height > GPU_MOST_SIDE)
        return GPU_ERR_INVALID_PARAMETER;
    made = calloc(1, sizeof(*made));
    if (!made)
        return GPU_ERR_OUT_OF_MEMORY;
    made->id = command->resource;
    made->format = command->format;
    made->width = command->width;
    made->height = command->height;
    if (bytes_of(made) <= gpu->options.memory - gpu->resource_bytes)
        made->pixels = calloc(1, (size_t)bytes_of(made));
    if (!made->pixels) {
        free(made);
        return GPU_ERR_OUT_OF_MEMORY;
    }
    gpu->resource_bytes += bytes_of(made);
    made->next = gpu->resources;
    gpu->resources = made;
    return GPU_OK;
}

static void release(struct gpu *gpu, struct gpu_resource *resource)
{
    gpu->resource_bytes -= bytes_of(resource);
    free(resource->backing);
    free(resource->pixels);
    free(resource);
}

uint32_t gpu_drop_resource(struct gpu *gpu, uint32_t id)
{
    for (struct gpu_resource **link = &gpu->resources; *link; link = &(*link)->next) {
        struct gpu_resource *resource = *link;

        if (resource->id != id)
            continue;
        gpu_scanouts_off(gpu, id);
        *link = resource->next;
        release(gpu, resource);
        return GPU_OK;
    }
    return GPU_ERR_INVALID_RESOURCE;
}

void gpu_drop_all(struct gpu *gpu)
{
    while (gpu->resources) {
        struct gpu_resource *resource = gpu->resources;

        gpu->resources = resource->next;
        release(gpu, resource);
    }
}

/* ---- backing ---- */

/* Joined with the last one if it lies behind it. */
static void append(struct gpu_resource *resource, const struct gpu_memory_entry *entry)
{
    struct gpu_backing *last = resource->backings ? &resource->backing[resource->backings - 1]
                                                  : NULL;

    if (last && last->address + last->bytes == entry->address) {
        last->bytes += entry->bytes;
        return;
    }
    resource->backing[resource->backings++] = (struct gpu_backing){
        last ? last->start + last->bytes : 0, entry->address, entry->bytes};
}

uint32_t gpu_attach(struct gpu *gpu, const struct gpu_attach_backing *command)
{
    struct gpu_resource *resource = gpu_resource(gpu, command->resource);
    const size_t bytes = (size_t)command->entries * sizeof(struct gpu_memory_entry);
    struct gpu_memory_entry entry;

    if (!resource)
        return GPU_ERR_INVALID_RESOURCE;
    if (resource->backings)
        return GPU_ERR_UNSPEC;
    if (command->entries == 0 || bytes > gpu->options.memory)
        return GPU_ERR_INVALID_PARAMETER;
    free(resource->backing);
    resource->backing = calloc(command->entries, sizeof(*resource->backing));
    if (!resource->backing)
        return GPU_ERR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < command->entries; i++) {
        if (virtio_chain_read(&gpu->virtio, &gpu->chain, sizeof(*command) + i * sizeof(entry),
                              &entry, sizeof(entry)) != sizeof(entry)) {
            resource->backings = 0;
            return GPU_ERR_UNSPEC;
        }
        append(resource, &entry);
    }
    return GPU_OK;
}

uint32_t gpu_detach(struct gpu *gpu, uint32_t id)
{
    struct gpu_resource *resource = gpu_resource(gpu, id);

    if (!resource)
        return GPU_ERR_INVALID_RESOURCE;
    if (!resource->backings)
        return GPU_ERR_UNSPEC;
    resource->backings = 0;
    return GPU_OK;
}

/* The piece that holds this offset, which is inside. */
static const struct gpu_backing *piece_at(const struct gpu_resource *resource, uint64_t offset)
{
    size_t first = 0, end = resource->backings;

    while (end - first > 1) {
        const size_t middle = first + (end - first) / 2;

        if (resource->backing[middle].start <= offset)
            first = middle;
        else
            end = middle;
    }
    return &resource->backing[first];
}

static void fetch(struct gpu *gpu, const struct gpu_resource *resource, uint64_t offset,
                  uint8_t *to, uint64_t bytes)
{
    while (bytes) {
        const struct gpu_backing *piece = piece_at(resource, offset);
        const uint64_t inside = offset - piece->start;
        const uint64_t run = bytes < piece->bytes - inside ? bytes : piece->bytes - inside;

        (void)gpu->services->dma_read(gpu->host, piece->address + inside, to, (size_t)run);
        offset += run;
        to += run;
        bytes -= run;
    }
}

/* The offset is that of the first pixel of the rectangle; rows of the memory are as long as those of
 * the resource. */
uint32_t gpu_transfer(struct gpu *gpu, const struct gpu_transfer *command)
{
    struct gpu_resource *resource = gpu_resource(gpu, command->resource);
    const struct gpu_rect *rect = &command->rect;
    const struct gpu_backing *last;
    uint64_t pitch, row, needed;

    if (!resource)
        return GPU_ERR_INVALID_RESOURCE;
    if (!resource->backings)
        return GPU_ERR_UNSPEC;
    if (!gpu_inside(resource, rect))
        return GPU_ERR_INVALID_PARAMETER;
    if (rect->width == 0 || rect->height == 0)
        return GPU_OK;
    last = &resource->backing[resource->backings - 1];
    pitch = (uint64_t)resource->width * GPU_PIXEL;
    row = (uint64_t)rect->width * GPU_PIXEL;
    needed = pitch * (rect->height - 1) + row;
    if (command->offset > last->start + last->bytes ||
        needed > last->start + last->bytes - command->offset)
        return GPU_ERR_INVALID_PARAMETER;
    for (uint32_t y = 0; y < rect->height; y++)
        fetch(gpu, resource, command->offset + y * pitch,
              resource->pixels + (rect->y + y) * pitch + (uint64_t)rect->x * GPU_PIXEL, row);
    return GPU_OK;
}
