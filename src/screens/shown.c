/* SPDX-License-Identifier: MIT */
#include "screens/scanouts_record.h"

void flip_release(struct shown *shown)
{
    if (!shown->allocation)
        return;
    if (shown->pinned)
        vidmm_scanout_unpin(shown->allocation);
    vidmm_scanout_release(shown->allocation);
    *shown = (struct shown){.allocation = NULL};
}
