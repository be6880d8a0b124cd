/* SPDX-License-Identifier: MIT */
/* Compaction: making one large hole in a segment by moving allocations. */
#ifndef DXGK_VIDMM_COMPACT_H
#define DXGK_VIDMM_COMPACT_H

#include <ntddk.h>

struct paging_turn;
struct room_request;
struct vidmm;

/* Make a hole of the size that `room` asks for. STATUS_NO_MEMORY: it is not possible anywhere. Lock
 * held, builder's fiber. */
NTSTATUS compact_make_hole(struct paging_turn *turn, struct vidmm *vidmm,
                           const struct room_request *room);

#endif
