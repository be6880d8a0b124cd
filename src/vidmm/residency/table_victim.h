/* SPDX-License-Identifier: MIT */
/* Whose page tables may leave a segment, or be moved in it (GPUVA-166). Lock held, builder's
 * fiber. */
#ifndef DXGK_VIDMM_TABLE_VICTIM_H
#define DXGK_VIDMM_TABLE_VICTIM_H

#include <stdbool.h>

struct paging_turn;
struct room_request;
struct vidmm;
struct vidmm_space;

/* Mark the spaces none of whose contexts executes, and when one did last (space->tables.idle,
 * used_at). */
void table_victims_mark(const struct vidmm *vidmm);
/* Are its tables of use for the request, now or when its contexts stop? The space for which it is,
 * and those of its own process, are not. */
bool table_victim_for(const struct paging_turn *turn, const struct room_request *room,
                      const struct vidmm_space *space);
/* The one whose tables go next; NULL: none can. */
struct vidmm_space *table_victim_pick(const struct paging_turn *turn, struct vidmm *vidmm,
                                      const struct room_request *room);

#endif
