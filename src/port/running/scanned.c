/* SPDX-License-Identifier: MIT */
/* What is scanned out for a source: as the device model says, or as the host infers it. */
#include "bus/outputs.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "port/record/adapter_record.h"
#include "port/running/display.h"
#include "port/running/post.h"
#include "port/running/stale.h"
#include "screens/scanouts.h"
#include "util/array.h"

static bool has_shown(const struct modes *modes)
{
    for (UINT i = 0; modes && i < modes->sources; i++)
        if (modes->source[i].shown)
            return true;
    return !modes;
}

/* PRES-313: a full driver says where its primary is. */
static struct port_scanout look_at_primary(struct scanouts *scanouts, UINT source)
{
    struct scanouts_picture picture;

    if (!scanouts_look(scanouts, source, &picture))
        return (struct port_scanout){.pixels = NULL};
    return (struct port_scanout){.inferred = true,
                                 .pixels = picture.pixels,
                                 .width = picture.width,
                                 .height = picture.height,
                                 .pitch = picture.pitch,
                                 .format = picture.format,
                                 .bytes = (uint64_t)picture.pitch * picture.height};
}

/* The model counts its outputs as the driver reports them. */
unsigned port_display_output(const struct port_adapter *adapter, UINT source)
{
    const struct modes *modes = adapter->display.modes;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = modes ? vidpn_path_from(modes->active, source, 0)
                                                   : NULL;

    for (UINT i = 0; path && i < modes->targets; i++)
        if (modes->target[i].id == path->VidPnTargetId)
            return i;
    return source;
}

static struct port_scanout from_model(const struct dxgk_scanout *shown)
{
    static const D3DDDIFORMAT formats[] = {[DXGK_PIXEL_BGRX] = D3DDDIFMT_X8R8G8B8,
                                           [DXGK_PIXEL_BGR] = D3DDDIFMT_R8G8B8,
                                           [DXGK_PIXEL_RGB565] = D3DDDIFMT_R5G6B5};

    return (struct port_scanout){.pixels = shown->pixels,
                                 .width = shown->width,
                                 .height = shown->height,
                                 .pitch = shown->pitch,
                                 .format = (unsigned)shown->format < ARRAY_COUNT(formats)
                                               ? formats[shown->format]
                                               : D3DDDIFMT_UNKNOWN,
                                 .bytes = shown->bytes};
}

/* Of a device model that says nothing: the primary that a full driver has named (PRES-313), or the
 * frame buffer of the firmware, which its driver has taken over (PRES-312). */
static struct port_scanout from_host(struct port_adapter *adapter, UINT source)
{
    const DXGK_DISPLAY_INFORMATION *info = &adapter->post.info;

    if (!source && !has_shown(adapter->display.modes))
        port_post_look(adapter);
    if (adapter->display.scanouts)
        return look_at_primary(adapter->display.scanouts, source);
    if (source || !adapter->post.bytes || !adapter->post.acquired)
        return (struct port_scanout){.pixels = NULL};
    return (struct port_scanout){.pixels = port_post_pixels(adapter),
                                 .width = info->Width,
                                 .height = info->Height,
                                 .pitch = info->Pitch,
                                 .format = info->ColorFormat,
                                 .bytes = adapter->post.bytes};
}

struct port_scanout port_display_scanout(struct port_adapter *adapter, UINT source)
{
    const unsigned output = port_display_output(adapter, source);
    struct dxgk_scanout shown;

    if (adapter->display.stale && source < MODES_MAX_SOURCES)
        return adapter->display.stale->scanout[source];
    switch (bus_device_scanout(adapter->device, output, &shown)) {
    case DXGK_SCANOUT_OFF:
        return (struct port_scanout){.off = true};
    case DXGK_SCANOUT_ON:
        return from_model(&shown);
    default:
        return from_host(adapter, source);
    }
}
