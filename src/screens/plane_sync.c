/* SPDX-License-Identifier: MIT */
/* Vertical syncs that tell of planes (PRES-163 to PRES-165): types 7 and 10. */
#include "screens/planes_record.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "verify/verify.h"

#define BAD_LAYER 0xE /* of VIDEO_SCHEDULER_INTERNAL_ERROR */

/* ---- what the driver tells ---- */

static bool take(struct planes_blank *blank, UINT count, const void *from, size_t each)
{
    for (UINT i = 0; i < count; i++) {
        struct plane_news *news = &blank->news[i];
        DXGK_MULTIPLANE_OVERLAY_VSYNC_INFO by_address;
        DXGK_MULTIPLANE_OVERLAY_VSYNC_INFO2 by_id;

        if (!sim_copy_checked(blank->by_id ? (void *)&by_id : (void *)&by_address,
                              (const uint8_t *)from + i * each, each))
            return false;
        if (blank->by_id)
            *news = (struct plane_news){.layer = by_id.LayerIndex,
                                        .enabled = true,
                                        .wants_post = by_id.Flags.PostPresentNeeded,
                                        .value = by_id.PresentId};
        else
            *news = (struct plane_news){.layer = by_address.LayerIndex,
                                        .enabled = by_address.Enabled != FALSE,
                                        .value = (uint64_t)by_address.PhysicalAddress.QuadPart};
    }
    blank->count = count;
    return true;
}

/* PRES-165. False: it is none. */
static bool check_layer(const struct scanout *s, UINT layer)
{
    if (layer < s->planes->count)
        return true;
    verify_fatal("PRES-165", VIDEO_SCHEDULER_INTERNAL_ERROR, BAD_LAYER, layer, s->planes->count,
                 s->target, "a vertical sync of target 0x%x tells of layer %u of %u planes",
                 s->target, layer, s->planes->count);
    return false;
}

static UINT mask_of(const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data, UINT mask)
{
    return data->Flags.ValidPhysicalAdapterMask ? mask : 1;
}

void planes_notify(struct scanout *s, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    const bool by_id = (int)data->InterruptType ==
                       DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY2;
    struct planes_blank *blank = &s->planes->blank[s->blanks];
    const UINT told = by_id ? data->CrtcVsyncWithMultiPlaneOverlay2.MultiPlaneOverlayVsyncInfoCount
                            : data->CrtcVsyncWithMultiPlaneOverlay.MultiPlaneOverlayVsyncInfoCount;
    const void *from =
        by_id ? (const void *)data->CrtcVsyncWithMultiPlaneOverlay2.pMultiPlaneOverlayVsyncInfo
              : (const void *)data->CrtcVsyncWithMultiPlaneOverlay.pMultiPlaneOverlayVsyncInfo;
    const UINT mask = by_id ? data->CrtcVsyncWithMultiPlaneOverlay2.PhysicalAdapterMask
                            : data->CrtcVsyncWithMultiPlaneOverlay.PhysicalAdapterMask;

    *blank = (struct planes_blank){.by_id = by_id};
    if (!take(blank, told < PLANES_MOST ? told : PLANES_MOST, from,
              by_id ? sizeof(DXGK_MULTIPLANE_OVERLAY_VSYNC_INFO2)
                    : sizeof(DXGK_MULTIPLANE_OVERLAY_VSYNC_INFO))) {
        VIOLATION("PRES-163",
                  "a vertical sync of target 0x%x tells of %u planes at an address that cannot be "
                  "read",
                  s->target, told);
        return;
    }
    for (UINT i = 0; i < blank->count; i++) {
        blank->news[i].mask = mask_of(data, mask);
        if (!check_layer(s, blank->news[i].layer))
            return;
    }
    s->blank[s->blanks++] = (struct blank){.planes = true};
}

/* ---- what it completes ---- */

static bool names(const struct planes_blank *blank, const struct plane_news *news,
                  const struct plane_flip *flip)
{
    if (blank->by_id)
        return news->value >= flip->flip.id;
    return news->enabled == flip->setting.enabled &&
           (!news->enabled || news->value == flip->flip.primary.where.address);
}

static void note_post(struct scanout *s, const struct plane_news *news)
{
    struct planes *planes = s->planes;

    if (!news->wants_post || planes->posts == PLANES_POSTS)
        return;
    planes->post[planes->posts++] = (struct plane_post){
        .layer = news->layer, .mask = news->mask, .id = news->value};
}

static bool names_primary(const struct planes_blank *blank, const struct plane_news *news,
                          const struct flip *flip)
{
    return blank->by_id ? flip->id && news->value >= flip->id
                        : news->value == flip->primary.where.address;
}

/* Flips of the primary alone are told of with its layer, too. */
static void settle_primary(struct scanout *s, const struct planes_blank *blank,
                           const struct plane_news *news)
{
    UINT count = news->layer || !news->enabled || !news->value ? 0 : s->handed_count;

    while (count && !names_primary(blank, news, s->handed[count - 1]))
        count--;
    if (count)
        flip_complete(s, count);
}

bool planes_settle(struct scanout *s, const struct planes_blank *blank)
{
    bool any = false;

    for (UINT i = 0; i < blank->count; i++) {
        const struct plane_news *news = &blank->news[i];
        const struct plane *plane = &s->planes->plane[news->layer];
        UINT count = plane->handed_count;

        while (count && !names(blank, news, plane->handed[count - 1]))
            count--;
        any |= count != 0;
        planes_complete(s, news->layer, count);
        settle_primary(s, blank, news);
        note_post(s, news);
    }
    return any;
}
