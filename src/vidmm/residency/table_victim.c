/* SPDX-License-Identifier: MIT */
#include "vidmm/residency/table_victim.h"
#include "util/list.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/victim.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/table_residency.h"

void table_victims_mark(const struct vidmm *vidmm)
{
    LIST_FOR(node, &vidmm->mmu->spaces) {
        struct vidmm_space *space = CONTAINER(node, struct vidmm_space, link);

        space->tables.idle = true;
        space->tables.used_at = 0;
    }
    LIST_FOR(node, &vidmm->devices) {
        struct vidmm_device *device = CONTAINER(node, struct vidmm_device, link);
        struct vidmm_space *space = device->process->space;

        if (!space)
            continue;
        if (!victim_device_idle(device))
            space->tables.idle = false;
        if (device->used_at > space->tables.used_at)
            space->tables.used_at = device->used_at;
    }
}

bool table_victim_for(const struct paging_turn *turn, const struct room_request *room,
                      const struct vidmm_space *space)
{
    return space != room->space &&
           !(turn->requester && turn->requester->process == space->process) &&
           tables_evictable(space, room->segment->id);
}

struct vidmm_space *table_victim_pick(const struct paging_turn *turn, struct vidmm *vidmm,
                                      const struct room_request *room)
{
    struct vidmm_space *best = NULL;

    if (!vidmm->mmu || vidmm->lost || room->segment->table_bytes == 0 ||
        (room->newcomer && !room->last && room->newcomer->priority < TABLE_PRIORITY))
        return NULL;
    table_victims_mark(vidmm);
    LIST_FOR(node, &vidmm->mmu->spaces) {
        struct vidmm_space *space = CONTAINER(node, struct vidmm_space, link);

        if (space->tables.idle && table_victim_for(turn, room, space) &&
            (!best || space->tables.used_at < best->tables.used_at))
            best = space;
    }
    return best;
}
