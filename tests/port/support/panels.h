/* SPDX-License-Identifier: MIT */
/*
 * A full driver with displays that are part of the device, by the probe: each child is described by
 * the queries of its version, and colors of other monitors are overridden if the test says so.
 */
#ifndef DXGK_TESTS_PANELS_H
#define DXGK_TESTS_PANELS_H

#include "port/support/full_display.h"

struct panel_answers {
    NTSTATUS status;
    DXGK_QUERYINTEGRATEDDISPLAYOUT2 first[2]; /* of each panel; members of both forms */
    uint8_t edid[128];
    NTSTATUS color_status;
    DXGK_COLORIMETRY colors; /* override of other monitors */
};

struct panel_record {
    UINT queries;
    DXGK_QUERYADAPTERINFOTYPE type[8];
    UINT target[8], input_bytes[8], output_bytes[8];
    UINT color_queries, color_target, color_bytes;
    bool color_zeroed;
    uint64_t color_order;
};

extern struct panel_answers panel;
extern struct panel_record panel_seen;

/* `panels` integrated displays, then other outputs as display.outputs says. */
struct probe *panels_create(UINT version, UINT panels, UINT others);
/* Colors that are whole. */
DXGK_COLORIMETRY panels_colors(void);

#endif
