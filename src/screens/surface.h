/* SPDX-License-Identifier: MIT */
/*
 * Surfaces that the host has a full driver describe, beside shared primaries: shadows, staging
 * surfaces, and those of GDI. This host shows nothing by way of them; it makes one where somebody
 * wants to see that the driver can (PRES-056, PRES-070).
 */
#ifndef DXGK_SCREENS_SURFACE_H
#define DXGK_SCREENS_SURFACE_H

#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "vidmm/allocation/standard.h"

struct scanouts;

/* What the driver made of it. */
struct surface_answer {
    UINT pitch; /* 0: it is of no kind that has one */
    uint64_t bytes;
};
/* Make one and destroy it again. A shadow is of the size and format of the shared primary of
 * `source`. Fails with STATUS_INVALID_PARAMETER (a breach, which is reported; or it cannot be asked
 * for), STATUS_NO_MEMORY, and what the driver returned. PASSIVE_LEVEL. */
NTSTATUS surface_try(struct scanouts *scanouts, UINT source,
                     const struct vidmm_standard_surface *wanted, struct surface_answer *answer);

#endif
