/* SPDX-License-Identifier: MIT */
/* The CPU's view of a locked allocation, which moves along with the content. Lock held. */
#ifndef DXGK_VIDMM_CPU_VIEW_H
#define DXGK_VIDMM_CPU_VIEW_H

#include <stdbool.h>

#include <ntddk.h>

struct vidmm_allocation;
struct vidmm_segment;

/* The CPU sees the system pages wherever the content is. */
bool cpu_view_shows_backing(const struct vidmm_allocation *allocation);
bool cpu_view_in_memory_segment(const struct vidmm_allocation *allocation);
/* The first lock: STATUS_NO_MEMORY. */
NTSTATUS cpu_view_make(struct vidmm_allocation *allocation);
/* A view exists that must be moved along with the content. */
bool cpu_view_follows(const struct vidmm_allocation *allocation);
/* The CPU has it locked in a way that it must not go to this memory segment now. */
bool cpu_view_forbids(const struct vidmm_allocation *allocation,
                      const struct vidmm_segment *segment);
/* The content is about to be copied: remember what it is now. Then, with the copy done and the new
 * place recorded (runs, or NULL: the backing): bring over what the CPU has stored meanwhile and
 * re-point the view. The second fails before it changes anything. */
NTSTATUS cpu_view_leave(struct vidmm_allocation *allocation);
NTSTATUS cpu_view_placed(struct vidmm_allocation *allocation);
void cpu_view_end(struct vidmm_allocation *allocation);

#endif
