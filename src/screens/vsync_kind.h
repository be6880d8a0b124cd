/* SPDX-License-Identifier: MIT */
/* Where a vertical sync comes from (PRES-326): for statistics, and for the trace. */
#ifndef DXGK_SCREENS_VSYNC_KIND_H
#define DXGK_SCREENS_VSYNC_KIND_H

#include <stdint.h>

#include <ntddk.h>

struct modes;

enum vsync_kind {
    VSYNC_REPORTED,    /* by the driver */
    VSYNC_SIMULATED,   /* of a display-only driver without VSync control (PRES-193) */
    VSYNC_SUBSTITUTED, /* where nobody reports one (PRES-293) */
    VSYNC_KINDS
};

struct vsync_counts {
    uint64_t of[VSYNC_KINDS];
};

/* One more, of this source; at any IRQL. */
void vsync_count(struct vsync_counts *counts, const struct modes *modes, UINT source,
                 enum vsync_kind kind);

#endif
