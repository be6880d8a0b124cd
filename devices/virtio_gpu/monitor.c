/* SPDX-License-Identifier: MIT */
/* The monitors on the outputs: which sizes they prefer, and when one comes, goes or is another. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

#include "../common/options.h"

static const char bad_event[] =
    "display is NANOSECONDS:OUTPUT:WIDTHxHEIGHT, 0x0 for no monitor, at most 16 in the order of time";

/* A number, and what has to follow it. */
static bool number(const char **text, char end, uint64_t most, uint64_t *value)
{
    char *rest;

    if (**text < '0' || **text > '9')
        return false;
    *value = strtoull(*text, &rest, 10);
    if (*value > most || *rest != end)
        return false;
    *text = rest + 1;
    return true;
}

static bool parse(const char *text, struct gpu_event *event)
{
    uint64_t time, scanout, width, height;

    if (!number(&text, ':', UINT64_MAX / 2, &time) ||
        !number(&text, ':', GPU_SCANOUTS - 1, &scanout) ||
        !number(&text, 'x', EDID_MOST_WIDTH, &width) || !number(&text, 0, EDID_MOST_LINES, &height))
        return false;
    *event = (struct gpu_event){time, (uint32_t)scanout, (uint32_t)width, (uint32_t)height};
    return (width == 0 && height == 0) || edid_possible((uint32_t)width, (uint32_t)height);
}

const char *gpu_events_read(const struct dxgk_device_config *config, struct gpu_event *events,
                            unsigned *count)
{
    const char *text;

    for (*count = 0; (text = options_text(config, "display", *count)) != NULL; (*count)++)
        if (*count == GPU_EVENTS || !parse(text, &events[*count]) ||
            (*count && events[*count].time < events[*count - 1].time))
            return bad_event;
    return NULL;
}

void gpu_set_monitor(struct gpu_scanout *scanout, uint32_t width, uint32_t height)
{
    scanout->width = width;
    scanout->height = height;
    scanout->edid_bytes = width ? EDID_BYTES : 0;
    if (width)
        edid_make(scanout->edid, width, height);
}

static void tell(struct gpu *gpu)
{
    gpu->events |= GPU_EVENT_DISPLAY;
    virtio_config_changed(&gpu->virtio);
}

bool gpu_monitor(void *device, unsigned output, const uint8_t *edid, size_t bytes)
{
    struct gpu *gpu = device;
    struct gpu_scanout *scanout = &gpu->scanout[output];

    if (bytes > GPU_EDID_BYTES)
        return false;
    scanout->edid_bytes = (uint32_t)bytes;
    scanout->width = scanout->height = 0;
    if (edid) {
        memcpy(scanout->edid, edid, bytes);
        edid_preferred(edid, bytes, &scanout->width, &scanout->height);
    }
    tell(gpu);
    return true;
}

void gpu_arm_event(struct gpu *gpu)
{
    const uint64_t now = gpu->services->now(gpu->host);
    uint64_t due;

    if (gpu->next_event == gpu->event_count)
        return;
    due = gpu->event[gpu->next_event].time;
    gpu->services->timer_arm(gpu->host, GPU_TIMER_EVENT, due > now ? due - now : 0);
}

void gpu_event(struct gpu *gpu)
{
    const struct gpu_event *event = &gpu->event[gpu->next_event++];

    if (event->scanout < gpu->options.scanouts) {
        gpu_set_monitor(&gpu->scanout[event->scanout], event->width, event->height);
        tell(gpu);
    }
    gpu_arm_event(gpu);
}

void gpu_display_info(const struct gpu *gpu, struct gpu_display_info *info)
{
    for (unsigned i = 0; i < gpu->options.scanouts; i++) {
        const struct gpu_scanout *scanout = &gpu->scanout[i];

        info->display[i].enabled = scanout->width != 0;
        info->display[i].at.width = scanout->width;
        info->display[i].at.height = scanout->height;
    }
}

uint32_t gpu_get_edid(const struct gpu *gpu, uint32_t scanout, struct gpu_edid *answer)
{
    if (!gpu->options.edid)
        return GPU_ERR_UNSPEC;
    if (scanout >= gpu->options.scanouts)
        return GPU_ERR_INVALID_SCANOUT;
    answer->bytes = gpu->scanout[scanout].edid_bytes;
    memcpy(answer->edid, gpu->scanout[scanout].edid, answer->bytes);
    return GPU_OK_EDID;
}
