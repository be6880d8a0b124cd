/* SPDX-License-Identifier: MIT */
/* What becomes of memory when the adapter is reset, or loses power for a while. */
#ifndef DXGK_VIDMM_RESET_H
#define DXGK_VIDMM_RESET_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct vidmm;

/* After DxgkDdiResetFromTimeout: VRAM content is lost; tell the driver (zero-size TRANSFER,
 * UNMAP_APERTURE_SEGMENT), mark content lost, and rebuild page tables after the restart. */
void vidmm_reset_cleanup(struct vidmm *vidmm);
NTSTATUS vidmm_reset_restore(struct vidmm *vidmm);

/* Before video memory loses its content for a while, or the driver may wipe it: everything in a
 * segment goes to system memory, but what lies wholly in the first kept_bytes[n] bytes of segment n
 * + 1 (NULL: nothing stays). Nothing is brought in or submitted then until vidmm_return. The
 * scheduler holds clients' work back meanwhile (vidsch_hold_clients). On failure everything is as
 * usual again, though perhaps elsewhere. `losing_power`: the paging buffers name no device and no
 * context (PAGE-019). */
NTSTATUS vidmm_evacuate(struct vidmm *vidmm, const uint64_t *kept_bytes, bool losing_power);
NTSTATUS vidmm_return(struct vidmm *vidmm);
/* It is so now. A reset of the adapter that was under way meanwhile ends it. */
bool vidmm_is_evacuated(const struct vidmm *vidmm);

#endif
