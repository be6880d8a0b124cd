/* SPDX-License-Identifier: MIT */
/* The key under which an adapter stores its memory manager. */
#include "vidmm/record/of_adapter.h"

#include "ddi/ddi.h"

static struct ddi_room vidmm_room;
DDI_ROOM_CLAIM(vidmm_room)

struct vidmm *vidmm_of_adapter(const struct ddi_adapter *adapter)
{
    return ddi_room(adapter, &vidmm_room);
}

void vidmm_set_of_adapter(struct ddi_adapter *adapter, struct vidmm *vidmm)
{
    ddi_set_room(adapter, &vidmm_room, vidmm);
}
