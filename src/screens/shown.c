/* SPDX-License-Identifier: MIT */
#include "screens/scanouts_record.h"

void shown_stays(struct shown *shown)
{
    if (shown->leaves)
        vidmm_scanout_leaves(shown->allocation, false);
    shown->leaves = false;
}

void flip_release(struct shown *shown)
{
    if (!shown->allocation)
        return;
    shown_stays(shown);
    if (shown->pinned)
        vidmm_scanout_unpin(shown->allocation);
    vidmm_scanout_release(shown->allocation);
    *shown = (struct shown){.allocation = NULL};
}
