/* SPDX-License-Identifier: MIT */
#include "kmt/query_display.h"

#include <string.h>

#include "kmt/adapter.h"
#include "kmt/client_memory.h"
#include "kmt/mode_list.h"
#include "modes/modes.h"
#include "port/record/adapter_info.h"
#include "port/running/display.h"
#include "screens/scanouts.h"
#include "util/alloc.h"
#include "verify/refusal.h"

#define SOFTWARE_FLIPS 3u /* PRES-288 */

static NTSTATUS flip_queue(const struct kmt_query *query)
{
    D3DKMT_FLIPQUEUEINFO info;

    memset(&info, 0, sizeof(info));
    info.MaxHardwareFlipQueueLength = query->caps->MaxQueuedFlipOnVSync;
    info.MaxSoftwareFlipQueueLength = SOFTWARE_FLIPS;
    info.FlipFlags.FlipInterval = query->caps->FlipCaps.FlipInterval;
    return kmt_query_put(query, &info, sizeof(info));
}

static NTSTATUS check_source(const struct modes *modes, UINT source)
{
    return source < modes->sources ? STATUS_SUCCESS
                                   : refuse(STATUS_INVALID_PARAMETER, "PRES-265",
                                            "the adapter has no source %u", source);
}

static NTSTATUS current_mode(const struct kmt_query *query, const struct modes *modes)
{
    D3DKMT_CURRENTDISPLAYMODE answer;
    NTSTATUS status = kmt_query_get(query, &answer, sizeof(answer));

    if (NT_SUCCESS(status))
        status = check_source(modes, answer.VidPnSourceId);
    if (!NT_SUCCESS(status))
        return status;
    if (!kmt_current_mode(modes, answer.VidPnSourceId, &answer.DisplayMode))
        return refuse(STATUS_GRAPHICS_NO_AVAILABLE_VIDPN_TARGET, "PRES-265",
                      "source %u is on no target, so it has no mode", answer.VidPnSourceId);
    return kmt_query_put(query, &answer, sizeof(answer));
}

/* The structure, with as many elements behind it as the buffer has room for. */
static NTSTATUS mode_list(const struct kmt_query *query, struct modes *modes)
{
    D3DKMT_DISPLAYMODELIST answer;
    D3DKMT_DISPLAYMODE *list;
    UINT count;
    NTSTATUS status = kmt_query_get(query, &answer, sizeof(answer));

    if (NT_SUCCESS(status))
        status = check_source(modes, answer.VidPnSourceId);
    if (NT_SUCCESS(status))
        status = kmt_list_modes(modes, answer.VidPnSourceId, &list, &count);
    if (!NT_SUCCESS(status))
        return status;
    answer.ModeCount = count;
    if (query->bytes < sizeof(answer) + (size_t)count * sizeof(*list))
        status = refuse(STATUS_BUFFER_TOO_SMALL, "PRES-265", "a buffer of %u bytes for %u modes",
                        query->bytes, count);
    else if (!kmt_client_put((uint8_t *)query->user + sizeof(answer), list, count * sizeof(*list)))
        status = STATUS_INVALID_PARAMETER;
    util_free(list);
    if (NT_SUCCESS(status) || status == STATUS_BUFFER_TOO_SMALL)
        status = NT_SUCCESS(kmt_query_put(query, &answer, sizeof(answer)))
                     ? status
                     : STATUS_INVALID_PARAMETER;
    return status;
}

static NTSTATUS supported(const struct kmt_query *query, bool is)
{
    const BOOL answer = is;

    return kmt_query_put(query, &answer, sizeof(answer));
}

/* PRES-083: also by the segments of what is shown. */
static bool direct_flip(const struct kmt_query *query, const struct modes *modes)
{
    const struct port_adapter *port = query->adapter->port;
    const struct scanouts *scanouts = port_display_scanouts(port);

    if (!query->caps->SupportDirectFlip)
        return false;
    for (UINT i = 0; scanouts && i < modes->sources; i++) {
        const UINT segment = scanouts_segment(scanouts, i);

        if (segment && !port_adapter_segment_flips(port, segment))
            return false;
    }
    return true;
}

NTSTATUS kmt_query_display(const struct kmt_query *query)
{
    struct modes *modes = port_display_modes(query->adapter->port);

    if (!modes || !port_adapter_sources(query->adapter->port))
        return STATUS_NOT_IMPLEMENTED;
    switch (query->type) {
    case KMTQAITYPE_FLIPQUEUEINFO:
        return flip_queue(query);
    case KMTQAITYPE_CURRENTDISPLAYMODE:
        return current_mode(query, modes);
    case KMTQAITYPE_MODELIST:
        return mode_list(query, modes);
    case KMTQAITYPE_DIRECTFLIP_SUPPORT:
        return supported(query, direct_flip(query, modes));
    case KMTQAITYPE_INDEPENDENTFLIP_SUPPORT:
        return supported(query, query->caps->FlipCaps.FlipIndependent);
    case KMTQAITYPE_MULTIPLANEOVERLAY_SUPPORT:
        return supported(query, query->caps->SupportMultiPlaneOverlay != FALSE);
    default:
        return STATUS_NOT_IMPLEMENTED;
    }
}
