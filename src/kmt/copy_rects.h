/* SPDX-License-Identifier: MIT */
/*
 * The rectangles of a copy or a fill:
 *
 *   SrcRect, pSrcSubRects   pixels of the source    --- stretched --->   DstRect, pDstSubRects
 *                                                                        pixels of the screen
 *
 * Those of a fill have no source: they are pixels of the screen themselves.
 */
#ifndef DXGK_KMT_COPY_RECTS_H
#define DXGK_KMT_COPY_RECTS_H

#include <stdbool.h>

#include <ntddk.h>
#include <d3dkmthk.h>

struct copy_rects {
    const D3DKMT_PRESENT *args;
    D3DKMDT_2DREGION screen, source; /* all of them; the screen as the client sees it */
    bool clip;                       /* to the screen */
    RECT from, to;                   /* out; empty, with no rectangle: nothing is left */
    RECT *rect;                      /* out: of the destination; to be freed */
    UINT count;
};
/* `subs`: sub-rectangles, a copy of the client's. STATUS_NO_MEMORY. */
NTSTATUS copy_rects_take(struct copy_rects *r, const RECT *subs, UINT count);
bool copy_rects_overlap(const RECT *a, const RECT *b);

#endif
