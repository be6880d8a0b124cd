/* SPDX-License-Identifier: MIT */
/* Copies, fills and flips that the driver itself writes into DMA buffers (DxgkDdiPresent). */
#ifndef DXGK_VIDSCH_PRESENT_H
#define DXGK_VIDSCH_PRESENT_H

#include "vidsch/vidsch.h"

/* A flip that the commands of a buffer make (PRES-135). */
struct vidsch_flip {
    bool is, no_wait;
    UINT source;
    D3DDDI_FLIPINTERVAL_TYPE interval;
    uint32_t over; /* vidsch_flips_over calls of the source when it was written */
};

/* What is to be presented; the arrays are the host's own, until the call returns. */
struct vidsch_present {
    D3DKMT_HANDLE source, destination; /* opens of the context's device; source 0: a fill */
    bool shown;              /* the destination is what a screen shows, and stays where it is */
    struct vidsch_flip flip; /* to the source, which stays where it is; there is no destination */
    DXGK_PRESENTFLAGS flags;
    UINT color;
    RECT from, to;
    const RECT *rects; /* of the destination, clipped; at least one, but for a flip */
    UINT rect_count;
    void *private_data; /* as the driver gets it; NULL: none */
    UINT private_bytes;
};
/* Have it written and queue it in the context, in as many DMA buffers as the driver needs
 * (PRES-105). */
NTSTATUS vidsch_present(struct vidsch_context *context, const struct vidsch_present *present);

#endif
