/* SPDX-License-Identifier: MIT */
/* Copies and fills that the driver itself writes into DMA buffers (DxgkDdiPresent). */
#ifndef DXGK_VIDSCH_PRESENT_H
#define DXGK_VIDSCH_PRESENT_H

#include "vidsch/vidsch.h"

/* What is to be presented; the arrays are the host's own, until the call returns. */
struct vidsch_present {
    D3DKMT_HANDLE source, destination; /* opens of the context's device; source 0: a fill */
    bool shown; /* the destination is what a screen shows, and stays where it is */
    DXGK_PRESENTFLAGS flags;
    UINT color;
    RECT from, to;
    const RECT *rects; /* of the destination, clipped; at least one */
    UINT rect_count;
    void *private_data; /* as the driver gets it; NULL: none */
    UINT private_bytes;
};
/* Have it written and queue it in the context, in as many DMA buffers as the driver needs
 * (PRES-105). */
NTSTATUS vidsch_present(struct vidsch_context *context, const struct vidsch_present *present);

#endif
