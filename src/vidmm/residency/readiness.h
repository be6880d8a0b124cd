/* SPDX-License-Identifier: MIT */
/* When an allocation is usable, and who waits for it. Lock held. */
#ifndef DXGK_VIDMM_READINESS_H
#define DXGK_VIDMM_READINESS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct paging_turn;
struct vidmm_allocation;
struct vidmm_device;
struct vidmm_open;

/* How long a device that became complete keeps its memory if it does not run. */
#define GRANT_NS 50000000u

/* A list entry's allocation is (not) ready: counts in its device, which is told when nothing is
 * missing any more. */
void readiness_missing(struct vidmm_open *open);
void readiness_not_missing(struct vidmm_open *open);

/* The place is recorded and its content on the way: show it to the GPU; ready when
 * that is done. On failure no entry points there. */
NTSTATUS readiness_arrive(struct vidmm_allocation *allocation);
/* It is not to be used any more: missing again for those who list it. Entries are the caller's to
 * write. `turn`: the job that moved it out; NULL: nobody's, it is destroyed or lost. */
void readiness_end(const struct paging_turn *turn, struct vidmm_allocation *allocation);

/* Have the scheduler told that what the device waits for is there; until it has run, it is spared
 * as a victim. */
void readiness_tell(struct vidmm_device *device);

#endif
