/* SPDX-License-Identifier: MIT */
/* Making a hole in a segment by moving allocations together. */
#ifndef DXGK_VIDMM_COMPACT_H
#define DXGK_VIDMM_COMPACT_H

#include <ntddk.h>

struct paging_turn;
struct room_request;
struct vidmm;

/* Make a hole of that size by moving allocations out of it. STATUS_NO_MEMORY: there is no such
 * place. Lock held, builder's fiber. */
NTSTATUS compact_make_hole(struct paging_turn *turn, struct vidmm *vidmm,
                           const struct room_request *room);

#endif
