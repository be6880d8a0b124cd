/* SPDX-License-Identifier: MIT */
/*
 * A virtio GPU with its 2D commands, and the VGA that its PCI function is until a driver takes over
 * (docs/display-devices.md): a frame buffer in BAR 0, with the DISPI ports.
 */
#include <stdlib.h>

#include "../common/options.h"
#include "gpu.h"

#define GPU_TYPE      16u /* of virtio devices */
#define CURSOR_QUEUE  16u
#define CLASS_VGA     0x030000u
#define CLASS_DISPLAY 0x038000u

static const char *read_options(const struct dxgk_device_config *config, struct gpu_options *o)
{
    const struct option_number numbers[] = {
        {"vga", &o->vga, 0, 1, "vga is 0 or 1"},
        {"vram", &o->vram, 4u << 20, 256u << 20, "vram is a power of two from 4 MiB to 256 MiB"},
        {"edid", &o->edid, 0, 1, "edid is 0 or 1"},
        {"scanouts", &o->scanouts, 1, GPU_SCANOUTS, "scanouts is a number from 1 to 16"},
        {"width", &o->width, EDID_LEAST, EDID_MOST_WIDTH,
         "width is a multiple of 8 from 64 to 4088"},
        {"height", &o->height, EDID_LEAST, EDID_MOST_LINES, "height is a number from 64 to 2400"},
        {"messages", &o->messages, 1, 32, "messages is a number from 1 to 32"},
        {"queue", &o->queue, 16, VIRTIO_QUEUE_MOST, "queue is a power of two from 16 to 1024"},
        {"latency", &o->latency, 0, 1000000000, "latency is at most 1000000000 nanoseconds"},
        {"memory", &o->memory, 1u << 20, 1ull << 32, "memory is 1 MiB to 4 GiB"},
    };
    const char *error;

    *o = (struct gpu_options){.vga = 1,
                              .vram = 8u << 20,
                              .edid = 1,
                              .scanouts = 1,
                              .width = 1280,
                              .height = 800,
                              .messages = 3,
                              .queue = 64,
                              .latency = 1000,
                              .memory = 256u << 20};
    error = options_read(config, numbers, sizeof(numbers) / sizeof(numbers[0]));
    if (error)
        return error;
    if (o->vram & (o->vram - 1))
        return numbers[1].error;
    if (o->width % 8)
        return numbers[4].error;
    return o->queue & (o->queue - 1) ? numbers[7].error : NULL;
}

static bool configure(const struct dxgk_device_config *config,
                      struct dxgk_device_description *description, const char **error)
{
    struct gpu_event events[GPU_EVENTS];
    struct gpu_options o;
    unsigned count;

    *error = read_options(config, &o);
    if (!*error)
        *error = gpu_events_read(config, events, &count);
    if (*error)
        return false;
    description->vendor = VIRTIO_VENDOR;
    description->device = VIRTIO_FIRST_ID + GPU_TYPE;
    description->subsystem_vendor = VIRTIO_VENDOR;
    description->subsystem = 0x1100;
    description->revision = 1;
    description->class_code = o.vga ? CLASS_VGA : CLASS_DISPLAY;
    description->dma_bits = 52;
    description->own_memory = true; /* resources may have their memory in BAR 0 */
    if (o.vga) {
        description->bar[GPU_BAR_VRAM] = (struct dxgk_device_bar){DXGK_BAR_MEMORY, o.vram};
        description->fixed_port = DISPI_PORTS;
        description->fixed_ports = DISPI_PORT_COUNT;
    }
    virtio_describe(description, (uint32_t)o.messages);
    return true;
}

/* ---- what virtio asks for ---- */

static void forget_work(void *device)
{
    struct gpu *gpu = device;

    for (unsigned i = 0; i < GPU_QUEUES; i++) {
        gpu->working[i] = false;
        gpu->services->timer_disarm(gpu->host,
                                    i == GPU_CONTROL_QUEUE ? GPU_TIMER_CONTROL : GPU_TIMER_CURSOR);
    }
    gpu_scanouts_off(gpu, 0);
    for (unsigned i = 0; i < GPU_SCANOUTS; i++)
        gpu->scanout[i].pointer = (struct gpu_pointer){.resource = 0};
    gpu_drop_all(gpu);
    gpu->took_over = false;
    gpu->events = 0;
}

static uint8_t config_read(void *device, uint32_t offset)
{
    const struct gpu *gpu = device;
    uint32_t value = 0;

    if (offset < GPU_CONFIG_CLEAR)
        value = gpu->events;
    else if (offset >= GPU_CONFIG_SCANOUTS && offset < GPU_CONFIG_SCANOUTS + 4)
        value = (uint32_t)gpu->options.scanouts;
    return (uint8_t)(value >> (offset % 4 * 8));
}

static void config_write(void *device, uint32_t offset, uint8_t value)
{
    struct gpu *gpu = device;

    if (offset >= GPU_CONFIG_CLEAR && offset < GPU_CONFIG_SCANOUTS)
        gpu->events &= ~((uint32_t)value << (offset % 4 * 8));
}

static const struct virtio_kind kind = {
    .queues = GPU_QUEUES,
    .config_bytes = GPU_CONFIG_BYTES,
    .notify = gpu_notify,
    .reset = forget_work,
    .config_read = config_read,
    .config_write = config_write,
};

/* ---- the model ---- */

static void reset(void *device)
{
    struct gpu *gpu = device;

    virtio_reset(&gpu->virtio);
    forget_work(gpu);
    dispi_reset(&gpu->dispi, gpu->vram, gpu->vram ? gpu->options.vram : 0);
    gpu_arm_event(gpu);
}

static void destroy(void *device)
{
    struct gpu *gpu = device;

    gpu_scanouts_off(gpu, 0);
    gpu_drop_all(gpu);
    free(gpu);
}

static void *create(const struct dxgk_device_config *config,
                    const struct dxgk_device_services *services, void *host)
{
    struct gpu *gpu = calloc(1, sizeof(*gpu));

    if (!gpu)
        return NULL;
    (void)read_options(config, &gpu->options);
    (void)gpu_events_read(config, gpu->event, &gpu->event_count);
    gpu->services_copy = *services;
    gpu->services = &gpu->services_copy;
    gpu->host = host;
    gpu->vram = gpu->options.vga ? services->memory(host, GPU_BAR_VRAM) : NULL;
    gpu->virtio.services = gpu->services;
    gpu->virtio.host = host;
    gpu->virtio.kind = &kind;
    gpu->virtio.device = gpu;
    gpu->virtio.features = gpu->options.edid ? GPU_F_EDID : 0;
    gpu->virtio.messages = (uint32_t)gpu->options.messages;
    gpu->virtio.queue_sizes[GPU_CONTROL_QUEUE] = (uint16_t)gpu->options.queue;
    gpu->virtio.queue_sizes[GPU_CURSOR_QUEUE] = CURSOR_QUEUE;
    gpu_set_monitor(&gpu->scanout[0], (uint32_t)gpu->options.width, (uint32_t)gpu->options.height);
    reset(gpu);
    services->outputs(host, &gpu_outputs[gpu->options.scanouts - 1]);
    return gpu;
}

static uint64_t read(void *device, unsigned bar, uint64_t offset, unsigned width)
{
    struct gpu *gpu = device;

    return bar == DXGK_DEVICE_FIXED_PORTS ? dispi_port_read(&gpu->dispi, offset, width)
                                          : virtio_read(&gpu->virtio, bar, offset, width);
}

static void write(void *device, unsigned bar, uint64_t offset, unsigned width, uint64_t value)
{
    struct gpu *gpu = device;

    if (bar == DXGK_DEVICE_FIXED_PORTS)
        dispi_port_write(&gpu->dispi, offset, width, value);
    else
        virtio_write(&gpu->virtio, bar, offset, width, value);
}

static void timer(void *device, unsigned index)
{
    if (index == GPU_TIMER_EVENT)
        gpu_event(device);
    else
        gpu_work(device, index == GPU_TIMER_CONTROL ? GPU_CONTROL_QUEUE : GPU_CURSOR_QUEUE);
}

static const struct dxgk_device_model model = {
    .api_version = DXGK_DEVICE_API_VERSION,
    .name = "virtio_gpu",
    .configure = configure,
    .create = create,
    .destroy = destroy,
    .reset = reset,
    .read = read,
    .write = write,
    .timer = timer,
};

const struct dxgk_device_model *dxgk_device_get_model(uint32_t api_version)
{
    return api_version == DXGK_DEVICE_API_VERSION ? &model : NULL;
}
