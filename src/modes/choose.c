/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/choose.h"
#include "modes/refusals.h"
#include "modes/enumerate.h"
#include "modes/mode_check.h"
#include "modes/mode_words.h"
#include "modes/modes.h"
#include "modes/monitor.h"
#include "modes/palette.h"
#include "modes/vidpn.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "verify/verify.h"

#define MOST_ATTEMPTS 32u  /* per path (VIDPN-155) */
#define MOST_OF_ALL   512u /* paths together */

static const struct modes_pivot no_pivot = {D3DKMDT_EPT_NOPIVOT, D3DDDI_ID_UNINITIALIZED,
                                            D3DDDI_ID_UNINITIALIZED};

static bool is_size(const D3DKMDT_2DREGION *a, const D3DKMDT_2DREGION *b)
{
    return a->cx == b->cx && a->cy == b->cy;
}

/* ---- source modes ---- */

/* VIDPN-151 */
static D3DKMDT_2DREGION wanted_size(const struct modes *modes,
                                    const D3DKMDT_VIDPN_PRESENT_PATH *path,
                                    const struct modes_wish *wish)
{
    const struct modes_target *target = modes_target(modes, path->VidPnTargetId);
    const D3DKMDT_MONITOR_SOURCE_MODE *mode;

    if (wish && wish->given && wish->source == path->VidPnSourceId)
        return wish->size;
    if (target->last.cx)
        return target->last;
    mode = target->monitor ? monitor_preferred(target->monitor) : NULL;
    if (!mode)
        return (D3DKMDT_2DREGION){0, 0};
    return mode_follows_source(&mode->VideoSignalInfo) ? mode->VideoSignalInfo.TotalSize
                                                       : mode->VideoSignalInfo.ActiveSize;
}

/* Rank of a source mode; the lowest is the best (VIDPN-152). */
static uint64_t source_rank(const D3DKMDT_VIDPN_SOURCE_MODE *mode, const D3DKMDT_2DREGION *wanted)
{
    const D3DKMDT_GRAPHICS_RENDERING_FORMAT *f = &mode->Format.Graphics;
    const uint64_t area = (uint64_t)f->PrimSurfSize.cx * f->PrimSurfSize.cy;
    const uint64_t format = f->PixelFormat == D3DDDIFMT_A8R8G8B8   ? 0
                            : f->PixelFormat == D3DDDIFMT_X8R8G8B8 ? 1
                                                                   : 2;
    const uint64_t most = UINT64_C(1) << 34;

    if (is_size(&f->PrimSurfSize, wanted))
        return format;
    if (f->PrimSurfSize.cx <= wanted->cx && f->PrimSurfSize.cy <= wanted->cy)
        return (most - area) << 2 | format;
    return (most + area) << 2 | format;
}

/* ---- target modes ---- */

UINT modes_scan_order(const struct modes *modes, const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    return modes->version >= DXGKDDI_INTERFACE_VERSION_WDDM1_3
               ? s->AdditionalSignalInfo.ScanLineOrdering
               : (UINT)s->ScanLineOrdering;
}

/* Modes that the host makes have the plain value, which is the same in both forms. */
static bool is_progressive(const struct modes *modes, const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    const UINT order = modes_scan_order(modes, s);

    return order != D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST &&
           order != D3DDDI_VSSLO_INTERLACED_LOWERFIELDFIRST;
}

static double hertz(const D3DDDI_RATIONAL *f)
{
    return f->Denominator ? (double)f->Numerator / f->Denominator : 0;
}

static double distance(double a, double b)
{
    return a < b ? b - a : a - b;
}

bool modes_wishes_rate(const struct modes_wish *wish, UINT source)
{
    return wish && wish->given && wish->source == source &&
           (wish->frequency.Numerator || wish->frequency.Denominator);
}

bool modes_rates_match(const D3DDDI_RATIONAL *a, const D3DDDI_RATIONAL *b)
{
    return !mode_frequency_given(a) || !mode_frequency_given(b) ||
           distance(hertz(a), hertz(b)) < 0.5;
}

/* VIDPN-154 */
static bool matches(const struct modes *modes, const D3DKMDT_VIDEO_SIGNAL_INFO *target,
                    const D3DKMDT_VIDEO_SIGNAL_INFO *monitor)
{
    return (mode_follows_source(target) || mode_follows_source(monitor) ||
            is_size(&target->ActiveSize, &monitor->ActiveSize)) &&
           modes_rates_match(&target->VSyncFreq, &monitor->VSyncFreq) &&
           is_progressive(modes, target) == is_progressive(modes, monitor);
}

bool modes_monitor_accepts(const struct modes *modes, const struct modes_target *target,
                           const D3DKMDT_VIDEO_SIGNAL_INFO *signal)
{
    if (!target->monitor)
        return false;
    for (UINT i = 0; i < target->monitor->set->count; i++)
        if (matches(modes, signal, &target->monitor->set->mode[i].monitor.VideoSignalInfo))
            return true;
    return false;
}

uint64_t modes_signal_load(const D3DKMDT_VIDEO_SIGNAL_INFO *s)
{
    const D3DKMDT_2DREGION *size = mode_follows_source(s) ? &s->TotalSize : &s->ActiveSize;
    const double rate = mode_frequency_given(&s->VSyncFreq) ? hertz(&s->VSyncFreq) : 60.0;

    return (uint64_t)((double)size->cx * size->cy * rate) + 1;
}

/* DISP-099: is the mode one that a link may carry that could not carry a higher one? */
static bool is_below_limit(const struct modes *modes, const D3DKMDT_VIDPN_PRESENT_PATH *path,
                           const D3DKMDT_VIDPN_TARGET_MODE *mode)
{
    const uint64_t limit = modes_target(modes, path->VidPnTargetId)->limit;

    return !limit || modes_signal_load(&mode->VideoSignalInfo) < limit;
}

/* The size of the highest of these. */
static D3DKMDT_2DREGION highest_below(const struct modes *modes, const struct mode_set *set,
                                      const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    D3DKMDT_2DREGION size = {0, 0};
    uint64_t highest = 0;

    for (UINT i = 0; i < set->count; i++) {
        const uint64_t load = modes_signal_load(&set->mode[i].target.VideoSignalInfo);

        if (!is_below_limit(modes, path, &set->mode[i].target) || load <= highest)
            continue;
        highest = load;
        size = set->mode[i].target.VideoSignalInfo.ActiveSize;
    }
    return size;
}

/* Rank of a target mode; the lowest is the best (VIDPN-153). */
static uint64_t target_rank(const struct modes *modes, const struct modes_target *target,
                            const D3DKMDT_VIDPN_TARGET_MODE *mode, const D3DKMDT_2DREGION *size,
                            double rate)
{
    const D3DKMDT_VIDEO_SIGNAL_INFO *s = &mode->VideoSignalInfo;
    const bool fits = mode_follows_source(s) || is_size(&s->ActiveSize, size);
    const double off = mode_frequency_given(&s->VSyncFreq) ? distance(hertz(&s->VSyncFreq), rate)
                                                           : 0;

    return (uint64_t)!modes_monitor_accepts(modes, target, s) << 63 | (uint64_t)!fits << 62 |
           (uint64_t)(mode_preference(mode) != D3DKMDT_MP_PREFERRED) << 61 |
           (uint64_t)!is_progressive(modes, s) << 60 | (uint64_t)(off * 1000);
}

/* ---- transformations ---- */

/* VIDPN-113: a picture of the target's shape fills it, so there is nothing to keep. */
static bool is_shape(const D3DKMDT_2DREGION *a, const D3DKMDT_2DREGION *b)
{
    return (uint64_t)a->cx * b->cy == (uint64_t)b->cx * a->cy;
}

static const D3DKMDT_2DREGION *source_size(const struct vidpn *vidpn,
                                           const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    return &mode_set_pinned(*vidpn_source_set(vidpn, path->VidPnSourceId))
                ->source.Format.Graphics.PrimSurfSize;
}

static const D3DKMDT_VIDEO_SIGNAL_INFO *signal_of(const struct vidpn *vidpn,
                                                  const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    return &mode_set_pinned(*vidpn_target_set(vidpn, path->VidPnTargetId))->target.VideoSignalInfo;
}

bool modes_scaling_fits(const struct vidpn *vidpn, const D3DKMDT_VIDPN_PRESENT_PATH *path,
                        D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling)
{
    const D3DKMDT_VIDPN_PRESENT_PATH_SCALING_SUPPORT *support =
        &path->ContentTransformation.ScalingSupport;
    const D3DKMDT_VIDEO_SIGNAL_INFO *signal = signal_of(vidpn, path);
    const D3DKMDT_2DREGION *source = source_size(vidpn, path), *target = &signal->ActiveSize;
    const bool follows = mode_follows_source(signal);

    switch ((int)scaling) {
    case D3DKMDT_VPPS_IDENTITY: /* VIDPN-112; needs no flag */
        return follows || is_size(source, target);
    case D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX:
        return support->AspectRatioCenteredMax;
    case D3DKMDT_VPPS_STRETCHED:
        return support->Stretched;
    case D3DKMDT_VPPS_CENTERED:
        return support->Centered &&
               (follows || (source->cx <= target->cx && source->cy <= target->cy));
    default:
        return false;
    }
}

/* VIDPN-115; D3DKMDT_VPPS_UNINITIALIZED: none fits. */
static D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling_of(const struct vidpn *vidpn,
                                                     const D3DKMDT_VIDPN_PRESENT_PATH *path,
                                                     D3DKMDT_VIDPN_PRESENT_PATH_SCALING wish)
{
    static const D3DKMDT_VIDPN_PRESENT_PATH_SCALING order[] = {
        D3DKMDT_VPPS_IDENTITY, D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX, D3DKMDT_VPPS_STRETCHED,
        D3DKMDT_VPPS_CENTERED};

    if (modes_scaling_fits(vidpn, path, wish))
        return wish;
    for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (modes_scaling_fits(vidpn, path, order[i]))
            return order[i];
    return D3DKMDT_VPPS_UNINITIALIZED;
}

/* VIDPN-113, VIDPN-116 */
static void judge_support(const struct vidpn *vidpn, D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    D3DKMDT_VIDPN_PRESENT_PATH_TRANSFORMATION *t = &path->ContentTransformation;
    const D3DKMDT_VIDPN_PRESENT_PATH_SCALING_SUPPORT *s = &t->ScalingSupport;
    const D3DKMDT_VIDPN_PRESENT_PATH_ROTATION_SUPPORT *r = &t->RotationSupport;
    const D3DKMDT_2DREGION *source = source_size(vidpn, path),
                           *target = &signal_of(vidpn, path)->ActiveSize;

    if (!s->Identity && !s->Centered && !s->Stretched && !s->AspectRatioCenteredMax && !s->Custom) {
        NOTE("VIDPN-116", "the driver has reported no scaling for source %u; it counts as identity",
             path->VidPnSourceId);
        t->ScalingSupport.Identity = 1;
    }
    if (!r->Identity && !r->Rotate90 && !r->Rotate180 && !r->Rotate270) {
        NOTE("VIDPN-116", "the driver has reported no rotation for source %u; it counts as identity",
             path->VidPnSourceId);
        t->RotationSupport.Identity = t->RotationSupport.Offset0 = 1;
    }
    if (is_shape(source, target) && !is_size(source, target))
        t->ScalingSupport.AspectRatioCenteredMax = 0;
}

/* VIDPN-117 */
static D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation_of(const D3DKMDT_VIDPN_PRESENT_PATH *path,
                                                       const struct modes_wish *wish)
{
    const D3DKMDT_VIDPN_PRESENT_PATH_ROTATION_SUPPORT *support =
        &path->ContentTransformation.RotationSupport;

    if (!wish || !wish->given || wish->source != path->VidPnSourceId)
        return D3DKMDT_VPPR_IDENTITY;
    switch ((int)wish->rotation) {
    case D3DKMDT_VPPR_ROTATE90:
        return support->Rotate90 ? wish->rotation : D3DKMDT_VPPR_UNINITIALIZED;
    case D3DKMDT_VPPR_ROTATE180:
        return support->Rotate180 ? wish->rotation : D3DKMDT_VPPR_UNINITIALIZED;
    case D3DKMDT_VPPR_ROTATE270:
        return support->Rotate270 ? wish->rotation : D3DKMDT_VPPR_UNINITIALIZED;
    default:
        return D3DKMDT_VPPR_IDENTITY;
    }
}

static bool pin_transformation(struct vidpn *vidpn, D3DKMDT_VIDPN_PRESENT_PATH *path,
                               const struct modes_wish *wish)
{
    const bool wished = wish && wish->given && wish->source == path->VidPnSourceId;
    D3DKMDT_VIDPN_PRESENT_PATH_TRANSFORMATION *t = &path->ContentTransformation;

    judge_support(vidpn, path);
    if (!vidpn_scaling_pinned(path))
        t->Scaling = scaling_of(vidpn, path, wished ? wish->scaling : D3DKMDT_VPPS_UNINITIALIZED);
    if (!vidpn_rotation_pinned(path))
        t->Rotation = rotation_of(path, wish);
    return t->Scaling != D3DKMDT_VPPS_UNINITIALIZED && t->Rotation != D3DKMDT_VPPR_UNINITIALIZED;
}

/* ---- candidates ---- */

struct candidates {
    UINT count;
    struct candidate {
        UINT id;
        uint64_t rank;
    } * list;
};

static bool candidates_begin(struct candidates *c, UINT count)
{
    c->count = 0;
    c->list = util_alloc((count + 1) * sizeof(*c->list));
    return c->list != NULL;
}

/* In the order of their ranks; those of one rank in that of their coming. */
static void candidates_add(struct candidates *c, UINT id, uint64_t rank)
{
    UINT at = c->count++;

    for (; at > 0 && c->list[at - 1].rank > rank; at--)
        c->list[at] = c->list[at - 1];
    c->list[at] = (struct candidate){id, rank};
}

static bool wants_format(const struct modes_wish *wish, UINT source)
{
    return wish && wish->given && wish->source == source && wish->format != D3DDDIFMT_UNKNOWN;
}

/* PRES-277: alpha does not count. */
static bool has_format(const union mode *mode, const D3DKMDT_VIDPN_PRESENT_PATH *path,
                       const struct modes_wish *wish)
{
    return !wants_format(wish, path->VidPnSourceId) ||
           mode_without_alpha(mode->source.Format.Graphics.PixelFormat) ==
               mode_without_alpha(wish->format);
}

/* PRES-244 */
static bool can_be_colored(const struct modes *modes, const union mode *mode)
{
    return mode->source.Format.Graphics.PixelFormat != D3DDDIFMT_P8 || modes_has_palettes(modes);
}

static bool source_candidates(struct candidates *c, const struct modes *modes,
                              const struct vidpn *vidpn, const D3DKMDT_VIDPN_PRESENT_PATH *path,
                              const struct modes_wish *wish)
{
    const struct mode_set *set = *vidpn_source_set(vidpn, path->VidPnSourceId);
    const D3DKMDT_2DREGION wanted = modes_target(modes, path->VidPnTargetId)->limit
                                        ? highest_below(
                                              modes, *vidpn_target_set(vidpn, path->VidPnTargetId),
                                              path)
                                        : wanted_size(modes, path, wish);

    if (!candidates_begin(c, set->count))
        return false;
    for (UINT i = 0; i < set->count; i++)
        if ((set->pinned ? i + 1 == set->pinned : set->mode[i].source.Type == D3DKMDT_RMT_GRAPHICS) &&
            has_format(&set->mode[i], path, wish) && can_be_colored(modes, &set->mode[i]))
            candidates_add(c, set->mode[i].id, source_rank(&set->mode[i].source, &wanted));
    return true;
}

static bool target_candidates(struct candidates *c, const struct modes *modes,
                              const struct vidpn *vidpn, const D3DKMDT_VIDPN_PRESENT_PATH *path,
                              const struct modes_wish *wish)
{
    const struct mode_set *set = *vidpn_target_set(vidpn, path->VidPnTargetId);
    const union mode *source = mode_set_pinned(*vidpn_source_set(vidpn, path->VidPnSourceId));
    const bool rated = modes_wishes_rate(wish, path->VidPnSourceId);

    if (!candidates_begin(c, set->count))
        return false;
    for (UINT i = 0; i < set->count; i++)
        if ((!set->pinned && is_below_limit(modes, path, &set->mode[i].target)) ||
            i + 1 == set->pinned)
            candidates_add(c, set->mode[i].id,
                           target_rank(modes, modes_target(modes, path->VidPnTargetId),
                                       &set->mode[i].target,
                                       &source->source.Format.Graphics.PrimSurfSize,
                                       rated ? hertz(&wish->frequency) : 60.0));
    return true;
}

/* ---- the search ---- */

struct search {
    struct modes *modes;
    const struct modes_wish *wish;
    UINT attempts; /* of the path at hand */
    UINT all;      /* of all paths: their product would be beyond all time */
};

static NTSTATUS choose_path(struct search *s, struct vidpn **vidpn, UINT index);

/* Everything of this path is pinned: the next one, or is the whole supported? */
static NTSTATUS go_on(struct search *s, struct vidpn **vidpn, UINT index)
{
    const UINT attempts = s->attempts;
    NTSTATUS status;

    if (index + 1 == (*vidpn)->paths)
        return modes_refused(s->modes, *vidpn) ? STATUS_GRAPHICS_INVALID_VIDPN
                                               : modes_ask_supported(s->modes, *vidpn);
    s->attempts = 0;
    status = choose_path(s, vidpn, index + 1);
    s->attempts = attempts;
    return status;
}

/* VIDPN-204: a mode whose frequency is not specified is shown at 60 Hz (PRES-195). */
static bool has_rate(const struct vidpn *vidpn, UINT index, UINT id, const struct modes_wish *wish)
{
    static const D3DDDI_RATIONAL standard = {60, 1};
    const D3DKMDT_VIDPN_PRESENT_PATH *path = &vidpn->path[index];
    const D3DDDI_RATIONAL *rate;

    if (!modes_wishes_rate(wish, path->VidPnSourceId))
        return true;
    rate = &mode_set_find(*vidpn_target_set(vidpn, path->VidPnTargetId), id)
                ->target.VideoSignalInfo.VSyncFreq;
    if (wish->exact) /* PRES-277 */
        return !mode_frequency_given(rate) || mode_rates_equal(rate, &wish->frequency);
    return distance(hertz(mode_frequency_given(rate) ? rate : &standard), hertz(&wish->frequency)) <
           0.5;
}

static NTSTATUS try_target(struct search *s, struct vidpn **vidpn, UINT index, UINT id)
{
    struct vidpn *copy = vidpn_copy(*vidpn);
    D3DKMDT_VIDPN_PRESENT_PATH *path;
    struct mode_set *set;
    NTSTATUS status = STATUS_SUCCESS;

    if (!copy)
        return STATUS_NO_MEMORY;
    set = *vidpn_target_set(copy, copy->path[index].VidPnTargetId);
    if (!set->pinned) {
        mode_set_pin(set, mode_set_find(set, id));
        status = modes_enumerate(s->modes, &copy, &no_pivot);
    }
    path = &copy->path[index];
    if (NT_SUCCESS(status) && !pin_transformation(copy, path, s->wish))
        status = STATUS_GRAPHICS_PATH_CONTENT_GEOMETRY_TRANSFORMATION_NOT_SUPPORTED;
    if (NT_SUCCESS(status))
        status = go_on(s, &copy, index);
    if (!NT_SUCCESS(status)) {
        vidpn_destroy(copy);
        return status;
    }
    vidpn_destroy(*vidpn);
    *vidpn = copy;
    return status;
}

static NTSTATUS try_targets(struct search *s, struct vidpn **vidpn, UINT index)
{
    struct candidates targets;
    NTSTATUS status = STATUS_GRAPHICS_INVALID_VIDPN;
    bool fits = false;

    if (!target_candidates(&targets, s->modes, *vidpn, &(*vidpn)->path[index], s->wish))
        return STATUS_NO_MEMORY;
    if (targets.count && targets.list[0].rank >> 63)
        NOTE("VIDPN-153", "no mode of target 0x%x is one that its monitor accepts",
             (*vidpn)->path[index].VidPnTargetId);
    for (UINT i = 0; i < targets.count && !NT_SUCCESS(status) && s->attempts < MOST_ATTEMPTS &&
                     s->all < MOST_OF_ALL;
         i++) {
        if (!has_rate(*vidpn, index, targets.list[i].id, s->wish))
            continue;
        fits = true;
        s->attempts++;
        s->all++;
        status = try_target(s, vidpn, index, targets.list[i].id);
        if (status == STATUS_NO_MEMORY || s->modes->ddi->gone)
            break;
    }
    if (targets.count && !fits)
        status = modes_refuse_rate(*vidpn_target_set(*vidpn, (*vidpn)->path[index].VidPnTargetId),
                                   &s->wish->frequency);
    util_free(targets.list);
    return status;
}

static NTSTATUS try_source(struct search *s, struct vidpn **vidpn, UINT index, UINT id)
{
    struct vidpn *copy = vidpn_copy(*vidpn);
    struct mode_set *set;
    NTSTATUS status = STATUS_SUCCESS;

    if (!copy)
        return STATUS_NO_MEMORY;
    set = *vidpn_source_set(copy, copy->path[index].VidPnSourceId);
    if (!set->pinned) {
        mode_set_pin(set, mode_set_find(set, id));
        status = modes_enumerate(s->modes, &copy, &no_pivot);
    }
    if (NT_SUCCESS(status))
        status = try_targets(s, &copy, index);
    if (!NT_SUCCESS(status)) {
        vidpn_destroy(copy);
        return status;
    }
    vidpn_destroy(*vidpn);
    *vidpn = copy;
    return status;
}

static bool is_exact(const struct vidpn *vidpn, const D3DKMDT_VIDPN_PRESENT_PATH *path, UINT id,
                     const struct modes_wish *wish)
{
    const struct mode_set *set = *vidpn_source_set(vidpn, path->VidPnSourceId);

    return !wish || !wish->given || wish->source != path->VidPnSourceId ||
           is_size(&mode_set_find(set, id)->source.Format.Graphics.PrimSurfSize, &wish->size);
}

static NTSTATUS choose_path(struct search *s, struct vidpn **vidpn, UINT index)
{
    const D3DKMDT_VIDPN_PRESENT_PATH path = (*vidpn)->path[index];
    struct candidates sources;
    NTSTATUS status = STATUS_GRAPHICS_INVALID_VIDPN;

    if (!source_candidates(&sources, s->modes, *vidpn, &path, s->wish))
        return STATUS_NO_MEMORY;
    if (!sources.count && wants_format(s->wish, path.VidPnSourceId))
        status = refuse(STATUS_INVALID_PARAMETER, "PRES-277", "source %u has no mode of format %d",
                        path.VidPnSourceId, (int)s->wish->format);
    for (UINT i = 0; i < sources.count && !NT_SUCCESS(status) && s->attempts < MOST_ATTEMPTS &&
                     s->all < MOST_OF_ALL;
         i++) {
        if (!is_exact(*vidpn, &path, sources.list[i].id, s->wish)) {
            status = i ? STATUS_INVALID_PARAMETER
                       : modes_refuse_size(*vidpn_source_set(*vidpn, path.VidPnSourceId),
                                           &s->wish->size);
            break;
        }
        status = try_source(s, vidpn, index, sources.list[i].id);
        if (status == STATUS_NO_MEMORY || s->modes->ddi->gone)
            break;
    }
    util_free(sources.list);
    return status;
}

NTSTATUS modes_choose(struct modes *modes, struct vidpn **vidpn, const struct modes_wish *wish)
{
    struct search search = {.modes = modes, .wish = wish};
    struct vidpn *copy;
    NTSTATUS status;

    if (!(*vidpn)->paths)
        return STATUS_SUCCESS;
    status = modes_ask_supported(modes, *vidpn);
    if (!NT_SUCCESS(status))
        return status == STATUS_NO_MEMORY ? status : STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED;
    copy = vidpn_copy(*vidpn);
    if (!copy)
        return STATUS_NO_MEMORY;
    status = modes_enumerate(modes, &copy, &no_pivot);
    if (NT_SUCCESS(status))
        status = choose_path(&search, &copy, 0);
    if (!NT_SUCCESS(status)) {
        vidpn_destroy(copy);
        return status;
    }
    vidpn_destroy(*vidpn);
    *vidpn = copy;
    return status;
}

/* ---- the topology ---- */

static bool is_internal(const struct modes_target *target)
{
    return target->technology == D3DKMDT_VOT_INTERNAL || target->panel;
}

/* Targets with monitors, in the order of VIDPN-120. */
static bool lit_targets(struct candidates *c, const struct modes *modes)
{
    if (!candidates_begin(c, modes->targets))
        return false;
    for (UINT i = 0; i < modes->targets; i++)
        if (modes_can_light(&modes->target[i]))
            candidates_add(c, modes->target[i].id,
                           (uint64_t)!is_internal(&modes->target[i]) << 33 |
                               (modes->target[i].monitor ? modes->target[i].monitor->arrival
                                                         : UINT64_C(1) << 32));
    return true;
}

static bool add_paths(struct vidpn *vidpn, const struct candidates *targets, UINT count)
{
    bool ok = true;

    for (UINT i = 0; ok && i < count && i < vidpn->modes->sources; i++) {
        const D3DKMDT_VIDPN_PRESENT_PATH path = vidpn_new_path(i, targets->list[i].id, i + 1);

        ok = vidpn_add(vidpn, &path);
    }
    return ok;
}

struct vidpn *modes_own_topology(struct modes *modes)
{
    struct vidpn *vidpn = vidpn_create(modes);
    struct candidates targets;

    if (!vidpn)
        return NULL;
    if (!lit_targets(&targets, modes)) {
        vidpn_destroy(vidpn);
        return NULL;
    }
    if (!add_paths(vidpn, &targets, targets.count)) {
        vidpn_destroy(vidpn);
        vidpn = NULL;
    }
    util_free(targets.list);
    return vidpn;
}

/* VIDPN-149: the last path may be from any source that is free. */
static NTSTATUS try_sources(struct modes *modes, struct vidpn **vidpn, UINT last)
{
    NTSTATUS status = modes_choose(modes, vidpn, NULL);

    for (UINT source = last + 1; !NT_SUCCESS(status) && status != STATUS_NO_MEMORY &&
                                 source < modes->sources && !modes->ddi->gone;
         source++) {
        (*vidpn)->path[(*vidpn)->paths - 1].VidPnSourceId = source;
        status = modes_choose(modes, vidpn, NULL);
    }
    return status;
}

NTSTATUS modes_choose_all(struct modes *modes, struct vidpn **vidpn)
{
    struct candidates targets;
    NTSTATUS status = STATUS_GRAPHICS_INVALID_VIDPN;
    UINT count;

    if (!lit_targets(&targets, modes))
        return STATUS_NO_MEMORY;
    count = targets.count < modes->sources ? targets.count : modes->sources;
    for (; count > 0 && !NT_SUCCESS(status) && status != STATUS_NO_MEMORY && !modes->ddi->gone;
         count--) {
        struct vidpn *fresh = vidpn_create(modes);

        status = fresh && add_paths(fresh, &targets, count) ? try_sources(modes, &fresh, count - 1)
                                                            : STATUS_NO_MEMORY;
        if (NT_SUCCESS(status))
            *vidpn = fresh;
        else
            vidpn_destroy(fresh);
    }
    if (!NT_SUCCESS(status) && status != STATUS_NO_MEMORY) {
        if (targets.count && !modes->ddi->gone)
            VIOLATION("VIDPN-149", "the driver supports no path at all to a monitor; it stays dark");
        *vidpn = vidpn_create(modes);
        status = *vidpn ? STATUS_SUCCESS : STATUS_NO_MEMORY;
    }
    util_free(targets.list);
    return status;
}
