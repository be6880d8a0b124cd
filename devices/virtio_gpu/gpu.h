/* SPDX-License-Identifier: MIT */
/* The state of the model of a virtio GPU, file by file. */
#ifndef DEVICES_VIRTIO_GPU_GPU_H
#define DEVICES_VIRTIO_GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../common/edid.h"
#include "../common/vga/dispi.h"
#include "../common/virtio/ring.h"
#include "../common/virtio/virtio.h"
#include "dxgkhost/device.h"
#include "protocol.h"

#define GPU_PIXEL       4u /* bytes, of all formats */
#define GPU_CURSOR_SIDE 64u
#define GPU_EVENTS      16u
#define GPU_MOST_SIDE   16384u
#define GPU_BAR_VRAM    0u

enum { GPU_CONTROL_QUEUE, GPU_CURSOR_QUEUE, GPU_QUEUES };
enum { GPU_TIMER_CONTROL, GPU_TIMER_CURSOR, GPU_TIMER_EVENT };

struct gpu_options {
    uint64_t vga, vram, edid, scanouts, width, height, messages, queue, latency, memory;
};

/* Pages of guest memory, joined where they lie side by side; `start`: offset of the first byte. */
struct gpu_backing {
    uint64_t start, address;
    uint64_t bytes;
};

struct gpu_resource {
    struct gpu_resource *next;
    uint32_t id, format, width, height;
    uint8_t *pixels; /* the device's copy, without gaps */
    struct gpu_backing *backing;
    size_t backings; /* 0: none is attached */
};

struct gpu_pointer {
    uint32_t resource;                                            /* 0: none is shown */
    int32_t x, y;                                                 /* of the left upper corner */
    uint8_t image[GPU_CURSOR_SIDE * GPU_CURSOR_SIDE * GPU_PIXEL]; /* B, G, R, A */
};

struct gpu_scanout {
    uint32_t width, height; /* that the monitor prefers; 0: none is attached */
    uint8_t edid[GPU_EDID_BYTES];
    uint32_t edid_bytes;
    uint32_t resource;    /* 0: off */
    struct gpu_rect rect; /* of the resource */
    uint8_t *shown;       /* what it was at the last flush: B, G, R, X without gaps */
    uint8_t *composed;    /* with the pointer */
    struct gpu_pointer pointer;
};

/* A monitor comes, goes (0 x 0), or is another. */
struct gpu_event {
    uint64_t time;
    uint32_t scanout, width, height;
};

struct gpu {
    struct gpu_options options;
    const struct dxgk_device_services *services;
    struct dxgk_device_services services_copy;
    void *host;
    struct virtio virtio;
    struct virtio_chain chain;
    bool working[GPU_QUEUES]; /* its timer is armed */
    uint16_t cursor_after;    /* what the control queue had when the cursor queue was notified */
    struct gpu_resource *resources;
    uint64_t resource_bytes;
    struct gpu_scanout scanout[GPU_SCANOUTS];
    bool took_over; /* a scan-out was set since the reset: the VGA is not shown any more */
    uint32_t events;
    struct gpu_event event[GPU_EVENTS];
    unsigned event_count, next_event;
    struct dispi dispi;
    uint8_t *vram;
};

/* resource.c */
struct gpu_resource *gpu_resource(struct gpu *gpu, uint32_t id);
uint32_t gpu_create_resource(struct gpu *gpu, const struct gpu_create_2d *command);
uint32_t gpu_drop_resource(struct gpu *gpu, uint32_t id);
void gpu_drop_all(struct gpu *gpu);
/* The entries are in the chain, behind the command. */
uint32_t gpu_attach(struct gpu *gpu, const struct gpu_attach_backing *command);
uint32_t gpu_detach(struct gpu *gpu, uint32_t id);
uint32_t gpu_transfer(struct gpu *gpu, const struct gpu_transfer *command);
bool gpu_inside(const struct gpu_resource *resource, const struct gpu_rect *rect);

/* scanout.c */
uint32_t gpu_set_scanout(struct gpu *gpu, const struct gpu_set_scanout *command);
uint32_t gpu_flush(struct gpu *gpu, const struct gpu_flush *command);
/* The scan-outs of a resource that goes, or all (0), are off. */
void gpu_scanouts_off(struct gpu *gpu, uint32_t resource);
extern const struct dxgk_device_outputs gpu_outputs[GPU_SCANOUTS];

/* pixel.c: `count` pixels become B, G, R and alpha, which is 255 where the format has none. */
bool gpu_format_known(uint32_t format);
void gpu_convert(uint8_t *to, const uint8_t *from, uint32_t count, uint32_t format);

/* cursor.c */
void gpu_cursor_command(struct gpu *gpu, const struct gpu_cursor *command);
void gpu_draw_pointer(const struct gpu_pointer *pointer, uint8_t *picture, uint32_t width,
                      uint32_t height);

/* monitor.c */
/* NULL: each option "display" is good. */
const char *gpu_events_read(const struct dxgk_device_config *config, struct gpu_event *events,
                            unsigned *count);
void gpu_set_monitor(struct gpu_scanout *scanout, uint32_t width, uint32_t height);
bool gpu_monitor(void *device, unsigned output, const uint8_t *edid, size_t bytes);
void gpu_arm_event(struct gpu *gpu);
void gpu_event(struct gpu *gpu); /* its timer fires */
void gpu_display_info(const struct gpu *gpu, struct gpu_display_info *info);
uint32_t gpu_get_edid(const struct gpu *gpu, uint32_t scanout, struct gpu_edid *answer);

/* queue.c */
void gpu_notify(void *device, unsigned queue);
void gpu_work(struct gpu *gpu, unsigned queue);

/* control.c: executes the command of the chain; returns how many bytes of answer were written. */
uint32_t gpu_control(struct gpu *gpu, uint64_t *moved);

#endif
