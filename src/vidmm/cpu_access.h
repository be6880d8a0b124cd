/* SPDX-License-Identifier: MIT */
/* CPU access to allocations: D3DKMTLock2, and a view that moves along with the content. */
#ifndef DXGK_VIDMM_CPU_ACCESS_H
#define DXGK_VIDMM_CPU_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct vidmm_allocation;
struct vidmm_device;
struct vidmm_segment;

NTSTATUS vidmm_lock2(struct vidmm_device *device, D3DKMT_HANDLE allocation, void **address);
NTSTATUS vidmm_unlock2(struct vidmm_device *device, D3DKMT_HANDLE allocation);

/* ---- lock held ---- */

/* A view exists that must be moved along with the content. */
bool cpu_access_follows(const struct vidmm_allocation *allocation);
/* The CPU has it locked in a way that it must not go to this memory segment now. */
bool cpu_access_forbids(const struct vidmm_allocation *allocation,
                        const struct vidmm_segment *segment);
/* The content is about to be copied: remember what it is now. Then, with the copy done and the new
 * place recorded (runs, or NULL: the backing): bring over what the CPU has stored meanwhile and
 * re-point the view. The second fails before it changes anything. */
NTSTATUS cpu_access_leave(struct vidmm_allocation *allocation);
NTSTATUS cpu_access_placed(struct vidmm_allocation *allocation);
void cpu_access_destroyed(struct vidmm_allocation *allocation);

#endif
