/* SPDX-License-Identifier: MIT */
/* Commands of the control queue, and their answers. */
#include <stddef.h>

#include "gpu.h"

union command {
    struct gpu_header header;
    struct gpu_get_edid get_edid;
    struct gpu_create_2d create;
    struct gpu_resource_only only;
    struct gpu_attach_backing attach;
    struct gpu_set_scanout set_scanout;
    struct gpu_transfer transfer;
    struct gpu_flush flush;
};

union answer {
    struct gpu_header header;
    struct gpu_display_info info;
    struct gpu_edid edid;
};

static size_t bytes_of(uint32_t type)
{
    switch (type) {
    case GPU_GET_EDID:
        return sizeof(struct gpu_get_edid);
    case GPU_RESOURCE_CREATE_2D:
        return sizeof(struct gpu_create_2d);
    case GPU_RESOURCE_UNREF:
    case GPU_DETACH_BACKING:
        return sizeof(struct gpu_resource_only);
    case GPU_ATTACH_BACKING:
        return sizeof(struct gpu_attach_backing);
    case GPU_SET_SCANOUT:
        return sizeof(struct gpu_set_scanout);
    case GPU_TRANSFER_TO_HOST_2D:
        return sizeof(struct gpu_transfer);
    case GPU_RESOURCE_FLUSH:
        return sizeof(struct gpu_flush);
    default:
        return sizeof(struct gpu_header);
    }
}

static size_t answer_bytes(uint32_t type)
{
    if (type == GPU_OK_DISPLAY_INFO)
        return sizeof(struct gpu_display_info);
    return type == GPU_OK_EDID ? sizeof(struct gpu_edid) : sizeof(struct gpu_header);
}

static uint64_t pixels(const struct gpu_rect *rect)
{
    return (uint64_t)rect->width * rect->height * GPU_PIXEL;
}

/* Returns the type of the answer. */
static uint32_t execute(struct gpu *gpu, const union command *command, union answer *answer,
                        uint64_t *moved)
{
    switch (command->header.type) {
    case GPU_GET_DISPLAY_INFO:
        gpu_display_info(gpu, &answer->info);
        return GPU_OK_DISPLAY_INFO;
    case GPU_GET_EDID:
        return gpu_get_edid(gpu, command->get_edid.scanout, &answer->edid);
    case GPU_RESOURCE_CREATE_2D:
        return gpu_create_resource(gpu, &command->create);
    case GPU_RESOURCE_UNREF:
        return gpu_drop_resource(gpu, command->only.resource);
    case GPU_ATTACH_BACKING:
        return gpu_attach(gpu, &command->attach);
    case GPU_DETACH_BACKING:
        return gpu_detach(gpu, command->only.resource);
    case GPU_SET_SCANOUT:
        return gpu_set_scanout(gpu, &command->set_scanout);
    case GPU_TRANSFER_TO_HOST_2D:
        *moved = pixels(&command->transfer.rect);
        return gpu_transfer(gpu, &command->transfer);
    case GPU_RESOURCE_FLUSH:
        *moved = pixels(&command->flush.rect);
        return gpu_flush(gpu, &command->flush);
    default:
        return GPU_ERR_UNSPEC;
    }
}

uint32_t gpu_control(struct gpu *gpu, uint64_t *moved)
{
    union command command = {.flush = {{0}, {0}, 0, 0}};
    union answer answer = {.edid = {.bytes = 0}};
    size_t bytes = virtio_chain_read(&gpu->virtio, &gpu->chain, 0, &command.header,
                                     sizeof(command.header));
    const size_t whole = bytes_of(command.header.type);
    uint32_t type = GPU_ERR_UNSPEC;

    bytes += virtio_chain_read(&gpu->virtio, &gpu->chain, bytes,
                               (uint8_t *)&command + sizeof(command.header),
                               whole - sizeof(command.header));
    gpu->services->trace_begin(gpu->host, GPU_CONTROL_QUEUE, "command", command.header.type);
    if (bytes == whole)
        type = execute(gpu, &command, &answer, moved);
    gpu->services->trace_end(gpu->host, GPU_CONTROL_QUEUE, "command");
    answer.header.type = type;
    if (command.header.flags & GPU_FLAG_FENCE) {
        answer.header.flags = GPU_FLAG_FENCE;
        answer.header.fence = command.header.fence;
        answer.header.context = command.header.context;
    }
    return (uint32_t)virtio_chain_write(&gpu->virtio, &gpu->chain, 0, &answer, answer_bytes(type));
}
