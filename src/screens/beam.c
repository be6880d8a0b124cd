/* SPDX-License-Identifier: MIT */
#include "screens/beam.h"
#include "modes/mode_check.h"
#include "modes/modes.h"
#include "modes/vidpn.h"

/* Of the pinned target mode; `total` 0: it is not given. */
static void lines_of(const struct modes *modes, UINT source_id, UINT *active, UINT *total)
{
    const struct vidpn *vidpn = modes->active;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_from(vidpn, source_id, 0);
    struct mode_set **const signals = path ? vidpn_target_set(vidpn, path->VidPnTargetId) : NULL;
    const union mode *target = signals ? mode_set_pinned(*signals) : NULL;
    const union mode *source = mode_set_pinned(*vidpn_source_set(vidpn, source_id));

    *total = 0;
    *active = source ? source->source.Format.Graphics.PrimSurfSize.cy : 0;
    if (!target || mode_follows_source(&target->target.VideoSignalInfo))
        return;
    *active = target->target.VideoSignalInfo.ActiveSize.cy;
    if (mode_region_given(&target->target.VideoSignalInfo.TotalSize))
        *total = target->target.VideoSignalInfo.TotalSize.cy;
}

struct scanouts_line beam_line(const struct modes *modes, UINT source, uint64_t passed,
                               uint64_t period)
{
    UINT active, total;
    uint64_t hundredths; /* of a line, in a period */

    lines_of(modes, source, &active, &total);
    hundredths = total ? total * UINT64_C(100) : active * UINT64_C(105);
    return (struct scanouts_line){
        .lines = (UINT)(hundredths / 100),
        .line = (UINT)((unsigned __int128)passed * hundredths / (period * 100)),
        .in_blank = (unsigned __int128)passed * hundredths >=
                    (unsigned __int128)active * 100 * period};
}
