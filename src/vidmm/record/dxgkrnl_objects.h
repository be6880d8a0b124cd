/* SPDX-License-Identifier: MIT */
/* Allocations, and devices' opens of them, as events of Microsoft-Windows-DxgKrnl: when they begin
 * and end, and that they are there. Nothing happens unless the machine records them. */
#ifndef DXGK_VIDMM_DXGKRNL_OBJECTS_H
#define DXGK_VIDMM_DXGKRNL_OBJECTS_H

struct vidmm_allocation;
struct vidmm_open;

/* Which of the three events of an allocation or open. */
enum allocation_event { ALLOCATION_BEGINS, ALLOCATION_ENDS, ALLOCATION_LISTED };

void vidmm_tell_allocation(const struct vidmm_allocation *allocation, enum allocation_event event);
void vidmm_tell_open(const struct vidmm_open *open, enum allocation_event event);

#endif
