/* SPDX-License-Identifier: MIT */
#include "modes/mode_list.h"
#include "modes/choose.h"
#include "modes/enumerate.h"
#include "modes/mode_check.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "util/alloc.h"

#define MOST_SIZES 64u /* each costs an enumeration */

void modes_list_free(struct mode_list *list)
{
    if (!list)
        return;
    util_free(list->mode);
    util_free(list);
}

/* ---- order ---- */

static int compare_rates(const D3DDDI_RATIONAL *a, const D3DDDI_RATIONAL *b)
{
    const bool given = mode_frequency_given(a), other = mode_frequency_given(b);
    uint64_t x, y;

    if (!given || !other)
        return (int)given - (int)other;
    x = (uint64_t)a->Numerator * b->Denominator;
    y = (uint64_t)b->Numerator * a->Denominator;
    return (x > y) - (x < y);
}

static int compare_looks(const struct modes_listed *a, const struct modes_listed *b)
{
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->size.cx != b->size.cx)
        return a->size.cx < b->size.cx ? -1 : 1;
    if (a->size.cy != b->size.cy)
        return a->size.cy < b->size.cy ? -1 : 1;
    return compare_rates(&a->rate, &b->rate);
}

bool modes_listed_alike(const struct modes_listed *a, const struct modes_listed *b)
{
    return compare_looks(a, b) == 0;
}

static int compare(const struct modes_listed *a, const struct modes_listed *b)
{
    const int looks = compare_looks(a, b);

    if (looks || a->format != b->format)
        return looks ? looks : a->format < b->format ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Each once. */
static bool insert(struct mode_list *list, const struct modes_listed *mode)
{
    UINT at = list->count;

    while (at > 0 && compare(&list->mode[at - 1], mode) > 0)
        at--;
    if (at > 0 && compare(&list->mode[at - 1], mode) == 0)
        return true;
    if (list->count == list->capacity) {
        const UINT capacity = list->capacity ? 2 * list->capacity : 32;
        struct modes_listed *larger = util_realloc(list->mode, capacity * sizeof(*larger));

        if (!larger)
            return false;
        list->mode = larger;
        list->capacity = capacity;
    }
    for (UINT i = list->count++; i > at; i--)
        list->mode[i] = list->mode[i - 1];
    list->mode[at] = *mode;
    return true;
}

/* ---- what goes together ---- */

static const D3DKMDT_2DREGION *size_of(const union mode *mode)
{
    return &mode->source.Format.Graphics.PrimSurfSize;
}

static bool is_sized(const union mode *mode, const D3DKMDT_2DREGION *size)
{
    return mode->source.Type == D3DKMDT_RMT_GRAPHICS && size_of(mode)->cx == size->cx &&
           size_of(mode)->cy == size->cy;
}

/* The paths of the source as they are, with nothing pinned. NULL: out of memory. */
static struct vidpn *without_pins(const struct modes *modes, UINT source)
{
    struct vidpn *vidpn = vidpn_copy(modes->active);

    while (vidpn && vidpn_paths_from(vidpn, source))
        vidpn_remove(vidpn, vidpn_path_from(vidpn, source, 0));
    for (UINT i = 0; vidpn && i < modes->active->paths; i++) {
        const D3DKMDT_VIDPN_PRESENT_PATH *old = &modes->active->path[i];
        D3DKMDT_VIDPN_PRESENT_PATH fresh;

        if (old->VidPnSourceId != source)
            continue;
        fresh = vidpn_new_path(source, old->VidPnTargetId, (UINT)old->ImportanceOrdinal);
        if (!vidpn_add(vidpn, &fresh)) {
            vidpn_destroy(vidpn);
            return NULL;
        }
    }
    return vidpn;
}

static UINT turns_of(const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    const D3DKMDT_VIDPN_PRESENT_PATH_ROTATION_SUPPORT *support =
        &path->ContentTransformation.RotationSupport;

    return 1u | (support->Rotate90 ? 2u : 0) | (support->Rotate180 ? 4u : 0) |
           (support->Rotate270 ? 8u : 0);
}

static bool can_be_scaled(const struct vidpn *vidpn, const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    for (D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling = D3DKMDT_VPPS_IDENTITY;
         scaling <= D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX; scaling++)
        if (modes_scaling_fits(vidpn, path, scaling))
            return true;
    return false;
}

static bool any_accepted(const struct modes *modes, const struct modes_target *target,
                         const struct mode_set *set)
{
    for (UINT i = 0; i < set->count; i++)
        if (modes_monitor_accepts(modes, target, &set->mode[i].target.VideoSignalInfo))
            return true;
    return false;
}

/* Each format in which the source has this size. */
static bool add_formats(struct mode_list *list, const struct mode_set *sources,
                        struct modes_listed mode)
{
    bool good = true;

    for (UINT i = 0; good && i < sources->count; i++) {
        mode.format = sources->mode[i].source.Format.Graphics.PixelFormat;
        if (is_sized(&sources->mode[i], &mode.size))
            good = insert(list, &mode);
    }
    return good;
}

/* The source mode of the VidPN is pinned. If the monitor accepts none of the signals, any can be
 * chosen (VIDPN-153). `sources`: all that the source has. */
static bool add_targets(const struct modes *modes, struct mode_list *list, struct vidpn *vidpn,
                        const D3DKMDT_VIDPN_PRESENT_PATH *path, const struct mode_set *sources)
{
    struct mode_set *set = *vidpn_target_set(vidpn, path->VidPnTargetId);
    const struct modes_target *target = modes_target(modes, path->VidPnTargetId);
    const bool any = !any_accepted(modes, target, set);
    bool good = true;

    for (UINT i = 0; good && i < set->count; i++) {
        const D3DKMDT_VIDEO_SIGNAL_INFO *signal = &set->mode[i].target.VideoSignalInfo;
        const bool accepted = modes_monitor_accepts(modes, target, signal);
        const struct modes_listed mode = {
            .size = *size_of(mode_set_pinned(*vidpn_source_set(vidpn, path->VidPnSourceId))),
            .rate = signal->VSyncFreq,
            .target = path->VidPnTargetId,
            .turns = turns_of(path),
            .order = (D3DDDI_VIDEO_SIGNAL_SCANLINE_ORDERING)modes_scan_order(modes, signal),
            .accepted = accepted};

        mode_set_pin(set, &set->mode[i]);
        if ((any || accepted) && can_be_scaled(vidpn, path))
            good = add_formats(list, sources, mode);
    }
    return good;
}

static NTSTATUS add_size(struct modes *modes, struct mode_list *list, const struct vidpn *vidpn,
                         UINT source, UINT id)
{
    const struct modes_pivot pivot = {D3DKMDT_EPT_VIDPNSOURCE, source, D3DDDI_ID_UNINITIALIZED};
    struct vidpn *copy = vidpn_copy(vidpn);
    struct mode_set *set;
    NTSTATUS status;

    if (!copy)
        return STATUS_NO_MEMORY;
    set = *vidpn_source_set(copy, source);
    mode_set_pin(set, mode_set_find(set, id));
    status = modes_enumerate(modes, &copy, &pivot);
    for (UINT i = 0; NT_SUCCESS(status) && i < vidpn_paths_from(copy, source); i++)
        if (!add_targets(modes, list, copy, vidpn_path_from(copy, source, i),
                         *vidpn_source_set(vidpn, source)))
            status = STATUS_NO_MEMORY;
    vidpn_destroy(copy);
    return status;
}

/* A size that an earlier mode of the set has is not asked for again. */
static bool is_repeated(const struct mode_set *set, UINT n)
{
    for (UINT i = 0; i < n; i++)
        if (is_sized(&set->mode[i], size_of(&set->mode[n])))
            return true;
    return false;
}

/* A size that the driver cannot bring on the target is left out. */
static NTSTATUS fill(struct modes *modes, struct mode_list *list, UINT source)
{
    static const struct modes_pivot no_pivot = {D3DKMDT_EPT_NOPIVOT, D3DDDI_ID_UNINITIALIZED,
                                                D3DDDI_ID_UNINITIALIZED};
    struct vidpn *vidpn = without_pins(modes, source);
    const struct mode_set *set;
    UINT sizes = 0;
    NTSTATUS status = vidpn ? STATUS_SUCCESS : STATUS_NO_MEMORY;

    if (NT_SUCCESS(status) && vidpn_paths_from(vidpn, source))
        status = modes_enumerate(modes, &vidpn, &no_pivot);
    set = NT_SUCCESS(status) ? *vidpn_source_set(vidpn, source) : NULL;
    for (UINT i = 0; set && status != STATUS_NO_MEMORY && !modes->ddi->gone && i < set->count &&
                     sizes < MOST_SIZES;
         i++) {
        if (set->mode[i].source.Type != D3DKMDT_RMT_GRAPHICS || is_repeated(set, i))
            continue;
        status = add_size(modes, list, vidpn, source, set->mode[i].id);
        sizes++;
    }
    vidpn_destroy(vidpn);
    return set && status != STATUS_NO_MEMORY ? STATUS_SUCCESS : status;
}

NTSTATUS modes_list(struct modes *modes, UINT source, const struct mode_list **list)
{
    struct mode_list **kept = &modes->source[source].list;
    NTSTATUS status;

    if (!*kept || (*kept)->of != modes->changes) {
        modes_list_free(*kept);
        *kept = util_zalloc(1, sizeof(**kept));
        if (!*kept)
            return STATUS_NO_MEMORY;
        (*kept)->of = modes->changes;
        status = fill(modes, *kept, source);
        if (!NT_SUCCESS(status)) {
            modes_list_free(*kept);
            *kept = NULL;
            return status;
        }
    }
    *list = *kept;
    return STATUS_SUCCESS;
}
