/* SPDX-License-Identifier: MIT */
/* What a user asks of the topology: the same picture on all displays, a picture for each, a display
 * that is driven without a monitor. */
#ifndef DXGK_MODES_ARRANGE_H
#define DXGK_MODES_ARRANGE_H

#include <stdbool.h>

#include <ntddk.h>

struct modes;

enum modes_arrangement {
    MODES_EXTEND, /* a source for each display, as at the start (VIDPN-148) */
    MODES_CLONE,  /* all displays show the source of the most important path (VIDPN-206) */
};

/* Called by the display worker. A failure changes nothing. */
NTSTATUS modes_arrange(struct modes *modes, enum modes_arrangement arrangement);
/* Drive a target whose monitor cannot be detected, or no more (VIDPN-207). */
NTSTATUS modes_force(struct modes *modes, UINT target, bool on);

#endif
