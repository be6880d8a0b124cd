/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/vidpn.h"
#include "modes/modes.h"
#include "util/alloc.h"

struct vidpn *vidpn_create(const struct modes *modes)
{
    struct vidpn *vidpn = util_zalloc(1, sizeof(*vidpn));
    bool ok = vidpn != NULL;

    if (!ok)
        return NULL;
    vidpn->modes = modes;
    vidpn->source = util_zalloc(modes->sources + 1, sizeof(*vidpn->source));
    vidpn->target = util_zalloc(modes->targets + 1, sizeof(*vidpn->target));
    ok = vidpn->source && vidpn->target;
    for (UINT i = 0; ok && i < modes->sources; i++)
        ok = (vidpn->source[i] = mode_set_create(MODE_SOURCE, i)) != NULL;
    for (UINT i = 0; ok && i < modes->targets; i++)
        ok = modes->target[i].gone || vidpn_admit(vidpn, &modes->target[i]);
    if (ok)
        return vidpn;
    vidpn_destroy(vidpn);
    return NULL;
}

bool vidpn_admit(struct vidpn *vidpn, const struct modes_target *target)
{
    struct mode_set **set = &vidpn->target[target - vidpn->modes->target];

    mode_set_destroy(*set);
    *set = mode_set_create(MODE_TARGET, target->id);
    return *set != NULL;
}

static bool copy_set(struct mode_set **to, const struct mode_set *from)
{
    struct mode_set *copy = mode_set_copy(from);

    if (!copy)
        return false;
    mode_set_destroy(*to);
    *to = copy;
    return true;
}

struct vidpn *vidpn_copy(const struct vidpn *vidpn)
{
    struct vidpn *copy = vidpn_create(vidpn->modes);
    bool ok = copy != NULL;

    for (UINT i = 0; ok && i < vidpn->modes->sources; i++)
        ok = copy_set(&copy->source[i], vidpn->source[i]);
    for (UINT i = 0; ok && i < vidpn->modes->targets; i++)
        ok = !vidpn->target[i] || vidpn->modes->target[i].gone ||
             copy_set(&copy->target[i], vidpn->target[i]);
    for (UINT i = 0; ok && i < vidpn->paths; i++)
        ok = vidpn_add(copy, &vidpn->path[i]);
    if (ok)
        return copy;
    vidpn_destroy(copy);
    return NULL;
}

void vidpn_destroy(struct vidpn *vidpn)
{
    if (!vidpn)
        return;
    for (UINT i = 0; vidpn->source && i < vidpn->modes->sources; i++)
        mode_set_destroy(vidpn->source[i]);
    for (UINT i = 0; vidpn->target && i < vidpn->modes->targets; i++)
        mode_set_destroy(vidpn->target[i]);
    util_free(vidpn->source);
    util_free(vidpn->target);
    util_free(vidpn->path);
    util_free(vidpn);
}

struct mode_set **vidpn_source_set(const struct vidpn *vidpn, UINT source)
{
    return source < vidpn->modes->sources ? &vidpn->source[source] : NULL;
}

struct mode_set **vidpn_target_set(const struct vidpn *vidpn, UINT target)
{
    const struct modes_target *t = modes_target(vidpn->modes, target);

    return t ? &vidpn->target[t - vidpn->modes->target] : NULL;
}

/* ---- paths ---- */

D3DKMDT_VIDPN_PRESENT_PATH *vidpn_path(const struct vidpn *vidpn, UINT source, UINT target)
{
    D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_to(vidpn, target);

    return path && path->VidPnSourceId == source ? path : NULL;
}

D3DKMDT_VIDPN_PRESENT_PATH *vidpn_path_to(const struct vidpn *vidpn, UINT target)
{
    for (UINT i = 0; i < vidpn->paths; i++)
        if (vidpn->path[i].VidPnTargetId == target)
            return &vidpn->path[i];
    return NULL;
}

D3DKMDT_VIDPN_PRESENT_PATH *vidpn_path_from(const struct vidpn *vidpn, UINT source, UINT n)
{
    for (UINT i = 0; i < vidpn->paths; i++)
        if (vidpn->path[i].VidPnSourceId == source && n-- == 0)
            return &vidpn->path[i];
    return NULL;
}

UINT vidpn_paths_from(const struct vidpn *vidpn, UINT source)
{
    UINT count = 0;

    for (UINT i = 0; i < vidpn->paths; i++)
        count += vidpn->path[i].VidPnSourceId == source;
    return count;
}

bool vidpn_add(struct vidpn *vidpn, const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    UINT at = vidpn->paths;

    if (vidpn->paths == vidpn->capacity) {
        const UINT capacity = vidpn->capacity ? vidpn->capacity * 2 : 4;
        D3DKMDT_VIDPN_PRESENT_PATH *grown = util_realloc(vidpn->path, capacity * sizeof(*grown));

        if (!grown)
            return false;
        vidpn->path = grown;
        vidpn->capacity = capacity;
    }
    for (; at > 0 && vidpn->path[at - 1].ImportanceOrdinal > path->ImportanceOrdinal; at--)
        vidpn->path[at] = vidpn->path[at - 1];
    vidpn->path[at] = *path;
    vidpn->paths++;
    return true;
}

static void empty_set(struct mode_set *set)
{
    set->count = set->pinned = 0;
}

void vidpn_remove(struct vidpn *vidpn, D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    const UINT source = path->VidPnSourceId, target = path->VidPnTargetId;

    vidpn->paths--;
    memmove(path, path + 1, (size_t)(vidpn->path + vidpn->paths - path) * sizeof(*path));
    empty_set(*vidpn_target_set(vidpn, target));
    if (!vidpn_paths_from(vidpn, source))
        empty_set(*vidpn_source_set(vidpn, source));
}

bool vidpn_has_ordinal(const struct vidpn *vidpn, UINT ordinal)
{
    for (UINT i = 0; i < vidpn->paths; i++)
        if ((UINT)vidpn->path[i].ImportanceOrdinal == ordinal)
            return true;
    return false;
}

UINT vidpn_free_ordinal(const struct vidpn *vidpn)
{
    for (UINT ordinal = 1; ordinal <= 255; ordinal++)
        if (!vidpn_has_ordinal(vidpn, ordinal))
            return ordinal;
    return 0;
}

D3DKMDT_VIDPN_PRESENT_PATH vidpn_new_path(UINT source, UINT target, UINT ordinal)
{
    return (D3DKMDT_VIDPN_PRESENT_PATH){
        .VidPnSourceId = source,
        .VidPnTargetId = target,
        .ImportanceOrdinal = (D3DKMDT_VIDPN_PRESENT_PATH_IMPORTANCE)ordinal,
        .ContentTransformation = {.Scaling = D3DKMDT_VPPS_UNPINNED,
                                  .Rotation = D3DKMDT_VPPR_UNPINNED},
        .VidPnTargetColorBasis = D3DKMDT_CB_SCRGB,
        .VidPnTargetColorCoeffDynamicRanges = {8, 8, 8, 8},
        .Content = D3DKMDT_VPPC_GRAPHICS,
        .CopyProtection = {.CopyProtectionType = D3DKMDT_VPPMT_NOPROTECTION,
                           .CopyProtectionSupport = {.NoProtection = 1}},
        .GammaRamp = {.Type = D3DDDI_GAMMARAMP_DEFAULT}};
}

bool vidpn_scaling_pinned(const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    return path->ContentTransformation.Scaling >= D3DKMDT_VPPS_IDENTITY &&
           path->ContentTransformation.Scaling <= D3DKMDT_VPPS_CUSTOM;
}

bool vidpn_rotation_pinned(const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    return path->ContentTransformation.Rotation >= D3DKMDT_VPPR_IDENTITY &&
           path->ContentTransformation.Rotation <= D3DKMDT_VPPR_ROTATE270_OFFSET270;
}

/* ---- the whole ---- */

bool vidpn_is_functional(const struct vidpn *vidpn)
{
    for (UINT i = 0; i < vidpn->paths; i++)
        if (!(*vidpn_source_set(vidpn, vidpn->path[i].VidPnSourceId))->pinned ||
            !(*vidpn_target_set(vidpn, vidpn->path[i].VidPnTargetId))->pinned)
            return false;
    return vidpn->paths > 0;
}

/* The same content, whatever the id is. */
static bool pins_equal(const struct mode_set *a, const struct mode_set *b)
{
    if (!a->pinned || !b->pinned)
        return a->pinned == b->pinned;
    return mode_set_same(
               &(struct mode_set){.kind = a->kind, .count = 1, .mode = &a->mode[a->pinned - 1]},
               mode_set_pinned(b)) != NULL;
}

static bool paths_equal(const D3DKMDT_VIDPN_PRESENT_PATH *a, const D3DKMDT_VIDPN_PRESENT_PATH *b)
{
    return a->VidPnTargetId == b->VidPnTargetId && a->ImportanceOrdinal == b->ImportanceOrdinal &&
           a->ContentTransformation.Scaling == b->ContentTransformation.Scaling &&
           a->ContentTransformation.Rotation == b->ContentTransformation.Rotation &&
           a->VidPnTargetColorBasis == b->VidPnTargetColorBasis && a->Content == b->Content &&
           a->GammaRamp.Type == b->GammaRamp.Type;
}

bool vidpn_path_equal(const struct vidpn *a, const struct vidpn *b, UINT target)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *p = vidpn_path_to(a, target), *q = vidpn_path_to(b, target);

    return p && q && p->VidPnSourceId == q->VidPnSourceId && paths_equal(p, q) &&
           pins_equal(*vidpn_source_set(a, p->VidPnSourceId),
                      *vidpn_source_set(b, q->VidPnSourceId)) &&
           pins_equal(*vidpn_target_set(a, target), *vidpn_target_set(b, target));
}

bool vidpn_source_equal(const struct vidpn *a, const struct vidpn *b, UINT source)
{
    const UINT count = vidpn_paths_from(a, source);

    if (count != vidpn_paths_from(b, source) ||
        !pins_equal(*vidpn_source_set(a, source), *vidpn_source_set(b, source)))
        return false;
    for (UINT i = 0; i < count; i++) {
        const D3DKMDT_VIDPN_PRESENT_PATH *p = vidpn_path_from(a, source, i),
                                         *q = vidpn_path_from(b, source, i);

        if (!paths_equal(p, q) || !pins_equal(*vidpn_target_set(a, p->VidPnTargetId),
                                              *vidpn_target_set(b, q->VidPnTargetId)))
            return false;
    }
    return true;
}
