/* SPDX-License-Identifier: MIT */
#include "modes/kept.h"
#include "modes/modes.h"
#include "modes/vidpn.h"

static bool copy_modes(struct mode_set **to, const struct mode_set *from)
{
    struct mode_set *copy = mode_set_copy(from);

    if (!copy)
        return false;
    mode_set_destroy(*to);
    *to = copy;
    return true;
}

bool modes_add_kept(struct vidpn *vidpn, const struct modes_target *target)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *had = target->kept ? vidpn_path_to(target->kept, target->id)
                                                         : NULL;
    D3DKMDT_VIDPN_PRESENT_PATH path;

    if (!had || vidpn_paths_from(vidpn, had->VidPnSourceId))
        return false;
    path = *had;
    if (vidpn_has_ordinal(vidpn, (UINT)path.ImportanceOrdinal))
        path.ImportanceOrdinal = (D3DKMDT_VIDPN_PRESENT_PATH_IMPORTANCE)vidpn_free_ordinal(vidpn);
    return vidpn_add(vidpn, &path) &&
           copy_modes(vidpn_source_set(vidpn, path.VidPnSourceId),
                      *vidpn_source_set(target->kept, path.VidPnSourceId)) &&
           copy_modes(vidpn_target_set(vidpn, path.VidPnTargetId),
                      *vidpn_target_set(target->kept, path.VidPnTargetId));
}
