/* SPDX-License-Identifier: MIT */
/* What goes through the queues of a virtio GPU (virtio 1.2, 5.7): 2D commands and their answers, little
 * endian as the host is. */
#ifndef DEVICES_VIRTIO_GPU_PROTOCOL_H
#define DEVICES_VIRTIO_GPU_PROTOCOL_H

#include <stdint.h>

#define GPU_F_EDID        (1ull << 1)
#define GPU_SCANOUTS      16u
#define GPU_EDID_BYTES    1024u
#define GPU_FLAG_FENCE    1u
#define GPU_EVENT_DISPLAY 1u

/* Device configuration: events_read, events_clear, num_scanouts, num_capsets */
#define GPU_CONFIG_BYTES    16u
#define GPU_CONFIG_EVENTS   0u
#define GPU_CONFIG_CLEAR    4u
#define GPU_CONFIG_SCANOUTS 8u

enum gpu_command {
    GPU_GET_DISPLAY_INFO = 0x0100,
    GPU_RESOURCE_CREATE_2D,
    GPU_RESOURCE_UNREF,
    GPU_SET_SCANOUT,
    GPU_RESOURCE_FLUSH,
    GPU_TRANSFER_TO_HOST_2D,
    GPU_ATTACH_BACKING,
    GPU_DETACH_BACKING,
    GPU_GET_EDID = 0x010A,
    GPU_UPDATE_CURSOR = 0x0300,
    GPU_MOVE_CURSOR,
};

enum gpu_answer {
    GPU_OK = 0x1100,
    GPU_OK_DISPLAY_INFO,
    GPU_OK_EDID = 0x1104,
    GPU_ERR_UNSPEC = 0x1200,
    GPU_ERR_OUT_OF_MEMORY,
    GPU_ERR_INVALID_SCANOUT,
    GPU_ERR_INVALID_RESOURCE,
    GPU_ERR_INVALID_CONTEXT,
    GPU_ERR_INVALID_PARAMETER,
};

/* Of memory, the byte at the lowest address first */
enum gpu_format {
    GPU_BGRA = 1,
    GPU_BGRX = 2,
    GPU_ARGB = 3,
    GPU_XRGB = 4,
    GPU_RGBA = 67,
    GPU_XBGR = 68,
    GPU_ABGR = 121,
    GPU_RGBX = 134,
};

struct gpu_header {
    uint32_t type, flags;
    uint64_t fence;
    uint32_t context, ring;
};

struct gpu_rect {
    uint32_t x, y, width, height;
};

struct gpu_display_info {
    struct gpu_header header;
    struct {
        struct gpu_rect at;
        uint32_t enabled, flags;
    } display[GPU_SCANOUTS];
};

struct gpu_get_edid {
    struct gpu_header header;
    uint32_t scanout, padding;
};

struct gpu_edid {
    struct gpu_header header;
    uint32_t bytes, padding;
    uint8_t edid[GPU_EDID_BYTES];
};

struct gpu_create_2d {
    struct gpu_header header;
    uint32_t resource, format, width, height;
};

struct gpu_resource_only { /* UNREF, DETACH_BACKING */
    struct gpu_header header;
    uint32_t resource, padding;
};

struct gpu_attach_backing {
    struct gpu_header header;
    uint32_t resource, entries;
};

struct gpu_memory_entry {
    uint64_t address;
    uint32_t bytes, padding;
};

struct gpu_set_scanout {
    struct gpu_header header;
    struct gpu_rect rect;
    uint32_t scanout, resource;
};

struct gpu_transfer {
    struct gpu_header header;
    struct gpu_rect rect;
    uint64_t offset;
    uint32_t resource, padding;
};

struct gpu_flush {
    struct gpu_header header;
    struct gpu_rect rect;
    uint32_t resource, padding;
};

struct gpu_cursor {
    struct gpu_header header;
    uint32_t scanout, x, y, padding;
    uint32_t resource, hot_x, hot_y, padding2;
};

#endif
