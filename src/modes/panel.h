/* SPDX-License-Identifier: MIT */
/* What a driver says of a display that is part of the device, when it starts (DISP-075). */
#ifndef DXGK_MODES_PANEL_H
#define DXGK_MODES_PANEL_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

struct modes_panel {
    UINT target;
    uint8_t *edid; /* of whole blocks, with right sums; NULL: the driver gave none */
    UINT blocks;
    bool has_native; /* NativeTiming is given (DISP-078) */
    D3DKMDT_VIDEO_SIGNAL_INFO native;
    bool has_colors;
    DXGK_COLORIMETRY colors;
    DXGK_MONITORLINKINFO link;
    UINT instance, usage, technology; /* DXGK_DISPLAY_USAGE, DXGK_DISPLAY_TECHNOLOGY */
    DXGK_INTEGRATEDDISPLAYFLAGS flags;
};

#endif
