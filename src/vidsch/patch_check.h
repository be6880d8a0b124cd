/* SPDX-License-Identifier: MIT */
/* Whether DxgkDdiPatch does what it is for, by the DMA buffer before and after it
 * (docs/patching.md). */
#ifndef DXGK_VIDSCH_PATCH_CHECK_H
#define DXGK_VIDSCH_PATCH_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "dxgkhost/patches.h"

struct dma_buffer;
struct packet;

/* Of a DMA buffer. */
struct patch_watch {
    uint8_t *expected; /* capacity bytes: the buffer as it was when it was looked at last */
    uint64_t *address; /* of each allocation when its locations were written */
    bool patched;      /* it should still be like that */
};

/* Of an adapter: what the driver adds to addresses, as its first location of each segment told. */
#define PATCH_SEGMENTS 32
struct patch_bases {
    uint32_t known[DXGK_PATCH_ENCODINGS]; /* bit n: segment n */
    uint64_t base[DXGK_PATCH_ENCODINGS][PATCH_SEGMENTS];
};

/* DxgkDdiRender has filled the buffer, by the addresses of its allocation list. */
void vidsch_patch_rendered(struct dma_buffer *buffer);
/* Around DxgkDdiPatch; O(bytes of the buffer + locations of the packet). Without memory nothing is
 * checked. */
void vidsch_patch_before(struct packet *packet);
void vidsch_patch_after(struct packet *packet);
/* Nothing was written to the buffer since: PATCH-159. `when` follows "was written to". */
void vidsch_patch_unchanged(struct dma_buffer *buffer, uint32_t fence, const char *when);
void vidsch_patch_watch_free(struct patch_watch *watch);

#endif
