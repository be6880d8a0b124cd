/* SPDX-License-Identifier: MIT */
/* The CPU mapping (view) of a locked allocation, which is updated when the content
 * moves. Lock held. */
#ifndef DXGK_VIDMM_CPU_VIEW_H
#define DXGK_VIDMM_CPU_VIEW_H

#include <stdbool.h>

#include <ntddk.h>

struct vidmm_allocation;
struct vidmm_segment;

/* The view maps the system pages, wherever the content is. */
bool cpu_view_shows_backing(const struct vidmm_allocation *allocation);
/* An aperture segment is in its set. */
bool cpu_view_may_leave_memory(const struct vidmm_allocation *allocation);
/* RES-008: GPU work of a 1.x driver uses it outside of memory segments while it is locked. */
bool cpu_view_leaves_memory(const struct vidmm_allocation *allocation);
bool cpu_view_in_memory_segment(const struct vidmm_allocation *allocation);
/* At the first lock. Fails with STATUS_NO_MEMORY. */
NTSTATUS cpu_view_make(struct vidmm_allocation *allocation);
/* There is a view, and it must be updated when the content moves. */
bool cpu_view_follows(const struct vidmm_allocation *allocation);
/* The allocation is locked, and must not be placed in this memory segment until it is unlocked. */
bool cpu_view_forbids(const struct vidmm_allocation *allocation,
                      const struct vidmm_segment *segment);
/* The CPU host aperture of its segment. Opening fails with STATUS_NO_MEMORY; both do nothing if it
 * is so already. Before the memory behind the window is given away it is closed. */
bool cpu_view_may_use_window(const struct vidmm_allocation *allocation);
NTSTATUS cpu_view_open_window(struct vidmm_allocation *allocation);
void cpu_view_close_window(struct vidmm_allocation *allocation);
/* Moving the content of a locked allocation. cpu_view_leave: before the copy, remember the
 * content. cpu_view_placed: after the copy, when the record has the new place (runs, or NULL:
 * the backing), copy what the CPU has written since, and map the new place. If it fails, the
 * view maps neither. */
NTSTATUS cpu_view_leave(struct vidmm_allocation *allocation);
NTSTATUS cpu_view_placed(struct vidmm_allocation *allocation);
/* Show pages that are nobody else's in place of video memory: reads give zeros, and what is written
 * is lost. cpu_view_blank needs no lock, and leaves the record as it is; cpu_view_lose is for good,
 * until the content has another place or is locked anew. */
void cpu_view_blank(const struct vidmm_allocation *allocation);
void cpu_view_lose(struct vidmm_allocation *allocation);
void cpu_view_end(struct vidmm_allocation *allocation);

#endif
