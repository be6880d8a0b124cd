/* SPDX-License-Identifier: MIT */
/* Keys of upper rooms are numbered in the order in which they are claimed. */
#include <stdlib.h>

#include "ddi/ddi.h"

void ddi_room_claim(struct ddi_room *room)
{
    static unsigned next; /* no lock: constructors run on one thread */

    if (next == DDI_ROOMS)
        abort();
    room->index = next++;
}
