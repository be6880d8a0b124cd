/* SPDX-License-Identifier: MIT */
/* The topology of a VidPN: VIDPN-039 to VIDPN-061. */
#include <string.h>

#include "modes/vidpn_interfaces.h"
#include "modes/interface_call.h"
#include "modes/modes.h"
#include "modes/vidpn.h"
#include "verify/verify.h"

#define NAME(function) "DXGK_VIDPNTOPOLOGY_INTERFACE." function
#define BAD_TOPOLOGY   STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY

typedef D3DKMDT_VIDPN_PRESENT_PATH present_path;

/* A call of one of them, with its topology found. */
struct topology_call {
    struct interface_call call;
    struct modes_hand *hand;
    struct vidpn *vidpn;
};

/* On a failure the function must return that status. */
static NTSTATUS begin(struct topology_call *c, const void *handle, const char *name,
                      uintptr_t caller)
{
    NTSTATUS status = interface_begin(&c->call, name, caller, "VIDPN-010");

    if (!NT_SUCCESS(status))
        return status;
    c->hand = modes_hand_find(handle, HAND_TOPOLOGY, BAD_TOPOLOGY);
    if (!c->hand)
        return interface_end(&c->call, BAD_TOPOLOGY);
    c->vidpn = c->hand->object;
    return STATUS_SUCCESS;
}

/* The same for one with an output, which is cleared first. */
static NTSTATUS begin_output(struct topology_call *c, const void *handle, void *out, size_t bytes,
                             const char *name, uintptr_t caller)
{
    NTSTATUS status;

    interface_clear(out, bytes);
    status = begin(c, handle, name, caller);
    if (!NT_SUCCESS(status))
        return status;
    status = interface_need(out, "the output");
    return NT_SUCCESS(status) ? status : interface_end(&c->call, status);
}

/* ---- ids ---- */

static NTSTATUS check_source(const struct vidpn *vidpn, UINT source)
{
    if (vidpn_source_set(vidpn, source))
        return STATUS_SUCCESS;
    return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE, "VIDPN-041",
                  "source %u is none of the %u of the adapter", source, vidpn->modes->sources);
}

static NTSTATUS check_target(const struct vidpn *vidpn, UINT target)
{
    if (vidpn_target_set(vidpn, target))
        return STATUS_SUCCESS;
    return refuse(STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET, "VIDPN-045",
                  "target 0x%x is no video output of the adapter", target);
}

static NTSTATUS check_pair(const struct vidpn *vidpn, UINT source, UINT target)
{
    NTSTATUS status = check_source(vidpn, source);

    return NT_SUCCESS(status) ? check_target(vidpn, target) : status;
}

static NTSTATUS check_path(const struct vidpn *vidpn, UINT source, UINT target)
{
    NTSTATUS status = check_pair(vidpn, source, target);

    if (!NT_SUCCESS(status) || vidpn_path(vidpn, source, target))
        return status;
    return refuse(STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY, "VIDPN-047",
                  "no path leads from source %u to target 0x%x", source, target);
}

/* VIDPN-041: a source without a path has a status of its own, for which drivers look. */
static NTSTATUS check_paths_from(const struct vidpn *vidpn, UINT source)
{
    NTSTATUS status = check_source(vidpn, source);

    if (!NT_SUCCESS(status) || vidpn_paths_from(vidpn, source))
        return status;
    return refuse(STATUS_GRAPHICS_SOURCE_NOT_IN_TOPOLOGY, "VIDPN-041", "no path is from source %u",
                  source);
}

/* ---- counts and ids ---- */

static NTSTATUS NTAPI get_num_paths(D3DKMDT_HVIDPNTOPOLOGY handle, SIZE_T *count)
{
    struct topology_call c;
    NTSTATUS status = begin_output(&c, handle, count, sizeof(*count), NAME("pfnGetNumPaths"),
                                   MODES_CALLER);
    SIZE_T paths;

    if (!NT_SUCCESS(status))
        return status;
    paths = c.vidpn->paths;
    return interface_end(&c.call, INTERFACE_GIVE(count, paths));
}

static NTSTATUS NTAPI get_num_paths_from_source(D3DKMDT_HVIDPNTOPOLOGY handle,
                                                const D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                                                SIZE_T *count)
{
    struct topology_call c;
    NTSTATUS status = begin_output(&c, handle, count, sizeof(*count),
                                   NAME("pfnGetNumPathsFromSource"), MODES_CALLER);

    if (!NT_SUCCESS(status))
        return status;
    status = check_paths_from(c.vidpn, source);
    if (NT_SUCCESS(status)) {
        const SIZE_T paths = vidpn_paths_from(c.vidpn, source);

        status = INTERFACE_GIVE(count, paths);
    }
    return interface_end(&c.call, status);
}

static NTSTATUS give_id(UINT *out, UINT id)
{
    return INTERFACE_GIVE(out, id);
}

static NTSTATUS NTAPI enum_path_targets_from_source(D3DKMDT_HVIDPNTOPOLOGY handle,
                                                    const D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                                                    const D3DKMDT_VIDPN_PRESENT_PATH_INDEX index,
                                                    D3DDDI_VIDEO_PRESENT_TARGET_ID *target)
{
    struct topology_call c;
    NTSTATUS status = begin_output(&c, handle, target, sizeof(*target),
                                   NAME("pfnEnumPathTargetsFromSource"), MODES_CALLER);
    UINT id = D3DDDI_ID_UNINITIALIZED;

    if (!NT_SUCCESS(status))
        return status;
    status = check_paths_from(c.vidpn, source);
    if (NT_SUCCESS(status) && index < vidpn_paths_from(c.vidpn, source)) {
        id = vidpn_path_from(c.vidpn, source, (UINT)index)->VidPnTargetId;
    } else if (NT_SUCCESS(status)) {
        WARNING("VIDPN-043", "index %llu is not below the %u paths of source %u",
                (unsigned long long)index, vidpn_paths_from(c.vidpn, source), source);
        status = STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET;
    }
    if (!NT_SUCCESS(give_id(target, id)))
        status = STATUS_INVALID_PARAMETER;
    return interface_end(&c.call, status);
}

static NTSTATUS NTAPI get_path_source_from_target(D3DKMDT_HVIDPNTOPOLOGY handle,
                                                  const D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                                  D3DDDI_VIDEO_PRESENT_SOURCE_ID *source)
{
    struct topology_call c;
    NTSTATUS status = begin_output(&c, handle, source, sizeof(*source),
                                   NAME("pfnGetPathSourceFromTarget"), MODES_CALLER);
    UINT id = D3DDDI_ID_UNINITIALIZED;

    if (!NT_SUCCESS(status))
        return status;
    status = check_target(c.vidpn, target);
    if (NT_SUCCESS(status)) {
        const present_path *path = vidpn_path_to(c.vidpn, target);

        if (path)
            id = path->VidPnSourceId;
        else
            status = refuse(STATUS_GRAPHICS_TARGET_NOT_IN_TOPOLOGY, "VIDPN-045",
                            "no path leads to target 0x%x", target);
    }
    if (!NT_SUCCESS(give_id(source, id)))
        status = STATUS_INVALID_PARAMETER;
    return interface_end(&c.call, status);
}

/* ---- structures ---- */

static NTSTATUS lend_path(struct modes_hand *hand, const present_path *path, const char *by,
                          const present_path **out)
{
    struct modes_lent *lent = modes_lend(hand, path, sizeof(*path), by, false);
    const void *data;
    NTSTATUS status;

    if (!lent)
        return STATUS_NO_MEMORY;
    lent->key = path->VidPnSourceId;
    lent->key2 = path->VidPnTargetId;
    data = lent->data;
    status = interface_give(out, &data, sizeof(data));
    lent->live = NT_SUCCESS(status);
    return status;
}

static NTSTATUS NTAPI acquire_path_info(D3DKMDT_HVIDPNTOPOLOGY handle,
                                        const D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                                        const D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                        const D3DKMDT_VIDPN_PRESENT_PATH **out)
{
    struct topology_call c;
    NTSTATUS status = begin_output(&c, handle, (void *)out, sizeof(*out),
                                   NAME("pfnAcquirePathInfo"), MODES_CALLER);

    if (!NT_SUCCESS(status))
        return status;
    status = check_path(c.vidpn, source, target);
    if (NT_SUCCESS(status))
        status = lend_path(c.hand, vidpn_path(c.vidpn, source, target), c.call.name, out);
    return interface_end(&c.call, status);
}

static NTSTATUS NTAPI acquire_first_path_info(D3DKMDT_HVIDPNTOPOLOGY handle,
                                              const D3DKMDT_VIDPN_PRESENT_PATH **out)
{
    struct topology_call c;
    NTSTATUS status = begin_output(&c, handle, (void *)out, sizeof(*out),
                                   NAME("pfnAcquireFirstPathInfo"), MODES_CALLER);

    if (!NT_SUCCESS(status))
        return status;
    status = c.vidpn->paths ? lend_path(c.hand, c.vidpn->path, c.call.name, out)
                            : STATUS_GRAPHICS_DATASET_IS_EMPTY;
    return interface_end(&c.call, status);
}

static NTSTATUS give_next(const struct topology_call *c, const present_path *before,
                          const present_path **out)
{
    const struct modes_lent *lent = modes_lent_find(c->hand, before);
    const present_path *path;

    if (!lent || lent->made)
        return refuse(STATUS_GRAPHICS_INVALID_VIDPN_PRESENT_PATH, "VIDPN-050",
                      "the structure at %p was not acquired from this topology, or was released",
                      (const void *)before);
    path = vidpn_path(c->vidpn, lent->key, lent->key2);
    if (!path)
        return refuse(STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY, "VIDPN-050",
                      "the path from source %u to target 0x%x was removed", lent->key, lent->key2);
    if (path + 1 == c->vidpn->path + c->vidpn->paths)
        return STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET;
    return lend_path(c->hand, path + 1, c->call.name, out);
}

static NTSTATUS NTAPI acquire_next_path_info(D3DKMDT_HVIDPNTOPOLOGY handle,
                                             const D3DKMDT_VIDPN_PRESENT_PATH *const before,
                                             const D3DKMDT_VIDPN_PRESENT_PATH **out)
{
    struct topology_call c;
    NTSTATUS status = begin_output(&c, handle, (void *)out, sizeof(*out),
                                   NAME("pfnAcquireNextPathInfo"), MODES_CALLER);

    return NT_SUCCESS(status) ? interface_end(&c.call, give_next(&c, before, out)) : status;
}

static NTSTATUS NTAPI release_path_info(D3DKMDT_HVIDPNTOPOLOGY handle,
                                        const D3DKMDT_VIDPN_PRESENT_PATH *const path)
{
    struct topology_call c;
    struct modes_lent *lent;
    NTSTATUS status = begin(&c, handle, NAME("pfnReleasePathInfo"), MODES_CALLER);

    if (!NT_SUCCESS(status))
        return status;
    lent = modes_lent_find(c.hand, path);
    if (lent)
        modes_lent_end(lent);
    else
        status = refuse(STATUS_GRAPHICS_INVALID_VIDPN_PRESENT_PATH, "VIDPN-053",
                        "the structure at %p is none that this topology has handed out, or was "
                        "released or added before",
                        (const void *)path);
    return interface_end(&c.call, status);
}

/* ---- changes ---- */

static NTSTATUS update(const struct topology_call *c, const present_path *given)
{
    present_path copy, *path;
    NTSTATUS status;

    if (!(c->hand->scope->access & MODES_SUPPORT))
        return interface_deny(c->hand->scope, "VIDPN-014", "update what paths support");
    if (!given || !NT_SUCCESS(interface_give(&copy, given, sizeof(copy))))
        return refuse(STATUS_INVALID_PARAMETER, "VIDPN-051", "the structure at %p cannot be read",
                      (const void *)given);
    status = check_path(c->vidpn, copy.VidPnSourceId, copy.VidPnTargetId);
    if (!NT_SUCCESS(status))
        return status;
    path = vidpn_path(c->vidpn, copy.VidPnSourceId, copy.VidPnTargetId);
    if (copy.ContentTransformation.Scaling != path->ContentTransformation.Scaling ||
        copy.ContentTransformation.Rotation != path->ContentTransformation.Rotation)
        WARNING("VIDPN-052",
                "pfnUpdatePathSupportInfo got scaling %d and rotation %d for a path with %d and %d; "
                "both are left alone",
                (int)copy.ContentTransformation.Scaling, (int)copy.ContentTransformation.Rotation,
                (int)path->ContentTransformation.Scaling, (int)path->ContentTransformation.Rotation);
    path->ContentTransformation.ScalingSupport = copy.ContentTransformation.ScalingSupport;
    path->ContentTransformation.RotationSupport = copy.ContentTransformation.RotationSupport;
    path->CopyProtection.CopyProtectionSupport = copy.CopyProtection.CopyProtectionSupport;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI update_path_support_info(D3DKMDT_HVIDPNTOPOLOGY handle,
                                               const D3DKMDT_VIDPN_PRESENT_PATH *const path)
{
    struct topology_call c;
    NTSTATUS status = begin(&c, handle, NAME("pfnUpdatePathSupportInfo"), MODES_CALLER);

    return NT_SUCCESS(status) ? interface_end(&c.call, update(&c, path)) : status;
}

static NTSTATUS NTAPI create_new_path_info(D3DKMDT_HVIDPNTOPOLOGY handle,
                                           D3DKMDT_VIDPN_PRESENT_PATH **out)
{
    present_path fresh;
    struct topology_call c;
    struct modes_lent *lent;
    NTSTATUS status = begin_output(&c, handle, (void *)out, sizeof(*out),
                                   NAME("pfnCreateNewPathInfo"), MODES_CALLER);

    if (!NT_SUCCESS(status))
        return status;
    memset(&fresh, 0, sizeof(fresh)); /* VIDPN-055 */
    fresh.VidPnSourceId = fresh.VidPnTargetId = D3DDDI_ID_UNINITIALIZED;
    fresh.ContentTransformation.Scaling = D3DKMDT_VPPS_UNPINNED;
    fresh.ContentTransformation.Rotation = D3DKMDT_VPPR_UNPINNED;
    fresh.GammaRamp.Type = D3DDDI_GAMMARAMP_DEFAULT;
    fresh.CopyProtection.CopyProtectionType = D3DKMDT_VPPMT_NOPROTECTION;
    fresh.CopyProtection.CopyProtectionSupport.NoProtection = 1;
    lent = modes_lend(c.hand, &fresh, sizeof(fresh), c.call.name, true);
    if (lent) {
        void *data = lent->data;

        status = interface_give(out, &data, sizeof(data));
        lent->live = NT_SUCCESS(status);
    } else {
        status = STATUS_NO_MEMORY;
    }
    return interface_end(&c.call, status);
}

/* VIDPN-058 */
static NTSTATUS check_transformation(const present_path *path)
{
    const D3DKMDT_VIDPN_PRESENT_PATH_TRANSFORMATION *t = &path->ContentTransformation;

    if (!(vidpn_scaling_pinned(path) || t->Scaling == D3DKMDT_VPPS_UNPINNED ||
          t->Scaling == D3DKMDT_VPPS_NOTSPECIFIED) ||
        !(vidpn_rotation_pinned(path) || t->Rotation == D3DKMDT_VPPR_UNPINNED ||
          t->Rotation == D3DKMDT_VPPR_NOTSPECIFIED))
        return refuse(STATUS_GRAPHICS_INVALID_PATH_CONTENT_GEOMETRY_TRANSFORMATION, "VIDPN-058",
                      "Scaling is %d, Rotation %d", (int)t->Scaling, (int)t->Rotation);
    return STATUS_SUCCESS;
}

static NTSTATUS check_contents(const present_path *path)
{
    const UINT protection = (UINT)path->CopyProtection.CopyProtectionType;

    if ((UINT)path->Content > D3DKMDT_VPPC_VIDEO && path->Content != D3DKMDT_VPPC_NOTSPECIFIED)
        return refuse(STATUS_GRAPHICS_INVALID_PATH_CONTENT_TYPE, "VIDPN-058", "Content is %d",
                      (int)path->Content);
    if ((UINT)path->VidPnTargetColorBasis > D3DKMDT_CB_YPBPR)
        return refuse(STATUS_GRAPHICS_INVALID_COLORBASIS, "VIDPN-058",
                      "VidPnTargetColorBasis is %d", (int)path->VidPnTargetColorBasis);
    if (path->CopyProtection.APSTriggerBits > 3 || protection < D3DKMDT_VPPMT_NOPROTECTION ||
        protection > D3DKMDT_VPPMT_MACROVISION_FULLSUPPORT)
        return refuse(STATUS_GRAPHICS_INVALID_COPYPROTECTION_TYPE, "VIDPN-058",
                      "CopyProtectionType is %u, APSTriggerBits 0x%x", protection,
                      path->CopyProtection.APSTriggerBits);
    if (path->GammaRamp.Type < D3DDDI_GAMMARAMP_DEFAULT ||
        path->GammaRamp.Type > D3DDDI_GAMMARAMP_MATRIX_V2 ||
        (path->GammaRamp.Type != D3DDDI_GAMMARAMP_DEFAULT &&
         (!path->GammaRamp.DataSize || !path->GammaRamp.Data.pRaw)))
        return refuse(STATUS_GRAPHICS_INVALID_GAMMA_RAMP, "VIDPN-058",
                      "the gamma ramp has type %d and %llu bytes at %p", (int)path->GammaRamp.Type,
                      (unsigned long long)path->GammaRamp.DataSize, path->GammaRamp.Data.pRaw);
    return STATUS_SUCCESS;
}

/* VIDPN-057 */
static NTSTATUS check_place(const struct vidpn *vidpn, const present_path *path)
{
    NTSTATUS status = check_pair(vidpn, path->VidPnSourceId, path->VidPnTargetId);

    if (!NT_SUCCESS(status))
        return status;
    if (vidpn_path(vidpn, path->VidPnSourceId, path->VidPnTargetId))
        return refuse(STATUS_GRAPHICS_PATH_ALREADY_IN_TOPOLOGY, "VIDPN-057",
                      "the topology has the path from source %u to target 0x%x already",
                      path->VidPnSourceId, path->VidPnTargetId);
    if (vidpn_path_to(vidpn, path->VidPnTargetId))
        return refuse(BAD_TOPOLOGY, "VIDPN-057", "target 0x%x has a path from source %u already",
                      path->VidPnTargetId, vidpn_path_to(vidpn, path->VidPnTargetId)->VidPnSourceId);
    return STATUS_SUCCESS;
}

static NTSTATUS find_ordinal(const struct vidpn *vidpn, present_path *path)
{
    UINT ordinal = (UINT)path->ImportanceOrdinal;

    if (ordinal > 255 || (ordinal && vidpn_has_ordinal(vidpn, ordinal)))
        return refuse(STATUS_GRAPHICS_INVALID_PATH_IMPORTANCE_ORDINAL, "VIDPN-058",
                      "ImportanceOrdinal %u is %s", ordinal,
                      ordinal > 255 ? "above 255" : "that of another path");
    if (!ordinal)
        ordinal = vidpn_free_ordinal(vidpn);
    path->ImportanceOrdinal = (D3DKMDT_VIDPN_PRESENT_PATH_IMPORTANCE)ordinal;
    return ordinal ? STATUS_SUCCESS
                   : refuse(STATUS_GRAPHICS_NO_AVAILABLE_IMPORTANCE_ORDINALS, "VIDPN-059",
                            "no ordinal of 1 to 255 is free");
}

static NTSTATUS add(const struct topology_call *c, const present_path *given)
{
    struct modes_lent *lent = modes_lent_find(c->hand, given);
    present_path path;
    NTSTATUS status = STATUS_SUCCESS;

    if (!(c->hand->scope->access & MODES_PATHS))
        return interface_deny(c->hand->scope, "VIDPN-014", "add paths");
    if (!lent || !lent->made)
        return refuse(STATUS_GRAPHICS_INVALID_VIDPN_PRESENT_PATH, "VIDPN-057",
                      "the structure at %p is no new one of this topology", (const void *)given);
    path = *given;
    status = check_place(c->vidpn, &path);
    if (NT_SUCCESS(status))
        status = check_transformation(&path);
    if (NT_SUCCESS(status))
        status = check_contents(&path);
    if (NT_SUCCESS(status))
        status = find_ordinal(c->vidpn, &path);
    if (NT_SUCCESS(status) && !vidpn_add(c->vidpn, &path))
        status = STATUS_NO_MEMORY;
    if (NT_SUCCESS(status))
        modes_lent_taken(lent);
    return status;
}

static NTSTATUS NTAPI add_path(D3DKMDT_HVIDPNTOPOLOGY handle, D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    struct topology_call c;
    NTSTATUS status = begin(&c, handle, NAME("pfnAddPath"), MODES_CALLER);

    return NT_SUCCESS(status) ? interface_end(&c.call, add(&c, path)) : status;
}

static NTSTATUS NTAPI remove_path(D3DKMDT_HVIDPNTOPOLOGY handle,
                                  const D3DDDI_VIDEO_PRESENT_SOURCE_ID source,
                                  const D3DDDI_VIDEO_PRESENT_TARGET_ID target)
{
    struct topology_call c;
    NTSTATUS status = begin(&c, handle, NAME("pfnRemovePath"), MODES_CALLER);

    if (!NT_SUCCESS(status))
        return status;
    if (!(c.hand->scope->access & MODES_PATHS))
        status = interface_deny(c.hand->scope, "VIDPN-014", "remove paths");
    if (NT_SUCCESS(status))
        status = check_path(c.vidpn, source, target);
    if (NT_SUCCESS(status))
        vidpn_remove(c.vidpn, vidpn_path(c.vidpn, source, target));
    return interface_end(&c.call, status);
}

const DXGK_VIDPNTOPOLOGY_INTERFACE modes_topology_interface = {
    .pfnGetNumPaths = get_num_paths,
    .pfnGetNumPathsFromSource = get_num_paths_from_source,
    .pfnEnumPathTargetsFromSource = enum_path_targets_from_source,
    .pfnGetPathSourceFromTarget = get_path_source_from_target,
    .pfnAcquirePathInfo = acquire_path_info,
    .pfnAcquireFirstPathInfo = acquire_first_path_info,
    .pfnAcquireNextPathInfo = acquire_next_path_info,
    .pfnUpdatePathSupportInfo = update_path_support_info,
    .pfnReleasePathInfo = release_path_info,
    .pfnCreateNewPathInfo = create_new_path_info,
    .pfnAddPath = add_path,
    .pfnRemovePath = remove_path,
};
