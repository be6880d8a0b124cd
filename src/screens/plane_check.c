/* SPDX-License-Identifier: MIT */
/* What the driver says about planes that could be shown (PRES-182, PRES-183, PRES-189). */
#include <string.h>

#include "ddi/entries_planes.h"
#include "nt/base/status_name.h"
#include "screens/planes_record.h"
#include "sim/machine.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define ANSWERS_MOST 256u /* of a source; then the oldest goes */

/* ---- answers ---- */

static bool is_same(const struct plane_look *a, const struct plane_look *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static bool fits(const struct planes *planes, const struct plane_answer *answer)
{
    for (UINT i = 0; i < planes->count; i++) {
        const struct plane *plane = &planes->plane[i];

        if (plane->will_be != ((answer->layers >> i & 1) != 0))
            return false;
        if (plane->will_be && !plane->plain && !is_same(&plane->look, &answer->look[i]))
            return false;
    }
    return true;
}

bool planes_answered(const struct scanout *s)
{
    const struct planes *planes = s->planes;
    bool any = false;

    for (UINT i = 0; i < planes->count; i++)
        any |= planes->plane[i].will_be;
    if (!any)
        return true; /* black */
    LIST_FOR(node, &planes->answers)
        if (fits(planes, CONTAINER(node, struct plane_answer, link)))
            return true;
    return false;
}

static void forget(struct planes *planes)
{
    struct list *node;

    while ((node = list_pop_front(&planes->answers)) != NULL)
        util_free(CONTAINER(node, struct plane_answer, link));
    planes->answer_count = 0;
    planes->asked_caps = planes->asked_composition = false;
}

void planes_forget_answers(struct scanouts *scanouts)
{
    for (UINT i = 0; i < scanouts->config.modes->sources; i++)
        if (scanouts->source[i].planes)
            forget(scanouts->source[i].planes);
}

static bool is_known(const struct planes *planes, const struct plane_answer *answer)
{
    LIST_FOR(node, &planes->answers) {
        const struct plane_answer *one = CONTAINER(node, struct plane_answer, link);

        if (one->layers == answer->layers && memcmp(one->look, answer->look, sizeof(one->look)) == 0)
            return true;
    }
    return false;
}

/* The driver has said yes to what is wanted of this source. */
static NTSTATUS remember(struct scanout *s, const struct planes_check *check)
{
    struct planes *planes = s->planes;
    struct plane_answer *answer = util_zalloc(1, sizeof(*answer));

    if (!answer)
        return STATUS_NO_MEMORY;
    for (UINT i = 0; i < check->count; i++)
        if (check->plane[i].source == s->source) {
            answer->layers |= 1u << check->plane[i].plane.layer;
            answer->look[check->plane[i].plane.layer] = check->plane[i].plane.look;
        }
    if (!answer->layers || is_known(planes, answer)) {
        util_free(answer);
        return STATUS_SUCCESS;
    }
    list_push_front(&planes->answers, &answer->link);
    if (planes->answer_count++ == ANSWERS_MOST) {
        struct list *oldest = planes->answers.prev;

        list_remove(oldest);
        util_free(CONTAINER(oldest, struct plane_answer, link));
        planes->answer_count--;
    }
    return STATUS_SUCCESS;
}

/* ---- asking ---- */

struct asking {
    struct planes_check *check;
    HANDLE allocation[PLANES_MOST]; /* the driver's */
};

static NTSTATUS ask_1(struct ddi_adapter *ddi, const struct asking *asking)
{
    DXGK_CHECK_MULTIPLANE_OVERLAY_SUPPORT_PLANE plane[PLANES_MOST];
    DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT args;
    struct planes_check *check = asking->check;
    NTSTATUS status;

    memset(plane, 0, sizeof(plane));
    memset(&args, 0, sizeof(args));
    for (UINT i = 0; i < check->count; i++) {
        plane[i].hAllocation = asking->allocation[i];
        plane[i].VidPnSourceId = check->plane[i].source;
        plane_look_1(&plane[i].PlaneAttributes, &check->plane[i].plane.look);
    }
    args.PlaneCount = check->count;
    args.pPlanes = plane;
    status = ddi_check_planes(ddi, &args);
    check->supported = args.Supported;
    check->info = args.ReturnInfo.Value;
    return status;
}

static NTSTATUS ask_2(struct ddi_adapter *ddi, const struct asking *asking)
{
    DXGK_MULTIPLANE_OVERLAY_PLANE_WITH_SOURCE plane[PLANES_MOST];
    DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT2 args;
    struct planes_check *check = asking->check;
    NTSTATUS status;

    memset(plane, 0, sizeof(plane));
    memset(&args, 0, sizeof(args));
    for (UINT i = 0; i < check->count; i++) {
        plane[i].hAllocation = asking->allocation[i];
        plane[i].VidPnSourceId = check->plane[i].source;
        plane[i].LayerIndex = check->plane[i].plane.layer;
        plane_look_2(&plane[i].PlaneAttributes, &check->plane[i].plane.look);
    }
    args.PlaneCount = check->count;
    args.pPlanes = plane;
    status = ddi_check_planes_2(ddi, &args);
    check->supported = args.Supported;
    check->info = args.ReturnInfo.Value;
    return status;
}

static NTSTATUS ask_3(struct ddi_adapter *ddi, const struct asking *asking)
{
    DXGK_MULTIPLANE_OVERLAY_PLANE_WITH_SOURCE2 plane[PLANES_MOST], *planes[PLANES_MOST];
    DXGK_MULTIPLANE_OVERLAY_POST_COMPOSITION_WITH_SOURCE post[PLANES_MOST], *posts[PLANES_MOST];
    DXGKARG_CHECKMULTIPLANEOVERLAYSUPPORT3 args;
    struct planes_check *check = asking->check;
    NTSTATUS status;

    memset(plane, 0, sizeof(plane));
    memset(post, 0, sizeof(post));
    memset(&args, 0, sizeof(args));
    for (UINT i = 0; i < check->count; i++) {
        planes[i] = &plane[i];
        plane[i].hAllocation = asking->allocation[i];
        plane[i].VidPnSourceId = check->plane[i].source;
        plane[i].LayerIndex = check->plane[i].plane.layer;
        plane_look_3(&plane[i].PlaneAttributes, &check->plane[i].plane);
    }
    for (UINT i = 0; i < check->compositions; i++) {
        posts[i] = &post[i];
        post[i].VidPnSourceId = check->composition_source[i];
        post[i].PostComposition.Flags.Value = check->composition[i].flags;
        post[i].PostComposition.SrcRect = check->composition[i].source;
        post[i].PostComposition.DstRect = check->composition[i].target;
        post[i].PostComposition.Rotation = check->composition[i].rotation;
    }
    args.PlaneCount = check->count;
    args.ppPlanes = planes;
    args.PostCompositionCount = check->compositions;
    args.ppPostComposition = check->compositions ? posts : NULL;
    status = ddi_check_planes_3(ddi, &args);
    check->supported = args.Supported;
    check->info = args.ReturnInfo.Value;
    return status;
}

static NTSTATUS ask(const struct scanouts *scanouts, const struct asking *asking)
{
    struct ddi_adapter *ddi = scanouts->config.modes->ddi;

    switch (scanouts->config.plane_form) {
    case 1:
        return ask_1(ddi, asking);
    case 2:
        return ask_2(ddi, asking);
    default:
        return ask_3(ddi, asking);
    }
}

/* Whatever holds their allocations meanwhile is given back. */
static NTSTATUS ask_held(const struct scanouts *scanouts, struct planes_check *check)
{
    struct vidmm_allocation *held[PLANES_MOST];
    struct asking asking = {.check = check};
    NTSTATUS status = STATUS_SUCCESS;
    UINT count = 0;

    while (count < check->count && NT_SUCCESS(status)) {
        held[count] = vidmm_scanout_get_first(check->device, check->plane[count].plane.allocation);
        if (held[count]) {
            asking.allocation[count] = vidmm_scanout_handle(held[count]);
            count++;
        } else {
            status = STATUS_INVALID_PARAMETER;
        }
    }
    if (NT_SUCCESS(status)) {
        const NTSTATUS answer = ask(scanouts, &asking);

        if (!NT_SUCCESS(answer)) { /* PRES-183 */
            if (!scanouts->config.modes->ddi->gone)
                WARNING("PRES-183", "DxgkDdiCheckMultiPlaneOverlaySupport returned %s",
                        nt_status_text(answer).text);
            check->supported = FALSE;
        }
    }
    while (count)
        vidmm_scanout_release(held[--count]);
    return status;
}

NTSTATUS planes_check(struct scanouts *scanouts, struct planes_check *check)
{
    NTSTATUS status;

    check->supported = FALSE;
    check->info = 0;
    if (!scanouts->config.plane_form)
        return STATUS_SUCCESS;
    status = ask_held(scanouts, check);
    for (UINT i = 0; NT_SUCCESS(status) && check->supported && i < scanouts->config.modes->sources;
         i++)
        status = remember(&scanouts->source[i], check);
    return status;
}

/* ---- caps ---- */

NTSTATUS planes_caps(struct scanouts *scanouts, UINT source, struct planes_caps *caps)
{
    struct planes *planes = scanouts->source[source].planes;
    DXGKARG_GETMULTIPLANEOVERLAYCAPS args = {.VidPnSourceId = source};
    NTSTATUS status;

    *caps = (struct planes_caps){.planes = 1, .rgb = 1, .stretch = 1, .shrink = 1};
    if (!planes)
        return STATUS_SUCCESS;
    caps->planes = caps->rgb = planes->count;
    if (!ddi_has(scanouts->config.modes->ddi, DxgkDdiGetMultiPlaneOverlayCaps))
        return STATUS_SUCCESS;
    if (planes->asked_caps) {
        *caps = planes->caps;
        return STATUS_SUCCESS;
    }
    status = ddi_get_plane_caps(scanouts->config.modes->ddi, &args);
    if (!NT_SUCCESS(status))
        return status;
    if (args.MaxPlanes > planes->count)
        WARNING("PRES-179",
                "DxgkDdiGetMultiPlaneOverlayCaps says %u planes for source %u, and "
                "MaxOverlayPlanes is %u",
                args.MaxPlanes, source, planes->count);
    *caps = (struct planes_caps){.planes = args.MaxPlanes < planes->count ? args.MaxPlanes
                                                                          : planes->count,
                                 .rgb = args.MaxRGBPlanes,
                                 .yuv = args.MaxYUVPlanes,
                                 .flags = args.OverlayCaps.Value,
                                 .stretch = args.MaxStretchFactor,
                                 .shrink = args.MaxShrinkFactor};
    planes->caps = *caps;
    planes->asked_caps = true;
    return status;
}

NTSTATUS planes_composition_caps(struct scanouts *scanouts, UINT source, float *stretch,
                                 float *shrink)
{
    struct planes *planes = scanouts->source[source].planes;
    DXGKARG_GETPOSTCOMPOSITIONCAPS args = {.VidPnSourceId = source};
    NTSTATUS status;

    *stretch = *shrink = 1;
    if (!planes || !ddi_has(scanouts->config.modes->ddi, DxgkDdiGetPostCompositionCaps))
        return STATUS_SUCCESS;
    if (!planes->asked_composition) {
        status = ddi_get_post_composition_caps(scanouts->config.modes->ddi, &args);
        if (!NT_SUCCESS(status))
            return status;
        planes->stretch = args.MaxStretchFactor;
        planes->shrink = args.MaxShrinkFactor;
        planes->asked_composition = true;
    }
    *stretch = planes->stretch;
    *shrink = planes->shrink;
    return STATUS_SUCCESS;
}
