/* SPDX-License-Identifier: MIT */
/*
 * DMA buffers: where the driver's Render puts the commands for the GPU, with the lists that go with
 * them. Each context has a pool of them.
 */
#ifndef DXGK_VIDSCH_DMA_BUFFER_H
#define DXGK_VIDSCH_DMA_BUFFER_H

#include "ddi/guarded.h"
#include "util/address.h"
#include "vidmm/residency/aperture_range.h"
#include "vidsch/dma_view.h"
#include "vidsch/patch_check.h"
#include "vidsch/present.h"
#include "vidsch/vidsch.h"

/* DXGK_ALLOCATIONLIST.SegmentId has five bits. */
#define SEGMENT_ID_MASK 0x1Fu
/* Elements of the list of a present: empty, source, destination (PATCH-098). */
#define DMA_PRESENT_ELEMENTS (DXGK_PRESENT_DESTINATION_INDEX + 1u)

/* What one element of the allocation list refers to. The host keeps this apart from the list, which
 * the driver may write to (PATCH-082). */
struct dma_reference {
    D3DKMT_HANDLE handle;
    HANDLE device_specific; /* NULL: nothing */
    uint64_t bytes;         /* of the allocation */
    uint64_t rendered;      /* where DxgkDdiRender was told it is, if rendered_segment is not 0 */
    UINT rendered_segment;
    bool write;
    bool pinned;   /* by the host, until the work is done: it needs no residency list */
    bool history;  /* a history buffer (history.h) */
    uint8_t offer; /* D3DDDI_OFFER_PRIORITY: offered when the buffer is done (RES-064) */
};

struct dma_buffer {
    struct list link; /* context->free_buffers */
    struct vidsch_context *owner;
    uint32_t references; /* packets, and the thread that fills it */
    uint32_t number;     /* among those of the adapter, from 1 */
    /* data; in virtual mode of presents alone */
    uint8_t *data;
    uint32_t capacity;
    struct page_number first;             /* of the run, whose first and last page hold canaries */
    struct logical_page first_logical;    /* of data */
    struct vidmm_aperture_range aperture; /* where data is mapped, if in an aperture */
    uint64_t pages;                       /* of data */
    struct gpu_va va;                     /* of data, in virtual mode */
    struct dma_view view;                 /* of data */
    uint32_t used;
    uint64_t rendered_at; /* DxgkDdiRender was called to fill it: virtual ns */
    bool present;         /* it was DxgkDdiPresent */
    struct vidsch_flip flip;
    /* private block */
    struct ddi_guarded private;
    uint8_t *private_data;
    uint32_t private_bytes, private_used;
    /* lists */
    struct dma_reference *references_map;
    uint32_t *reach; /* by element: the largest offset into it (render_answer.c) */
    DXGK_ALLOCATIONLIST *allocations;
    D3DDDI_PATCHLOCATIONLIST *patches;
    struct ddi_guarded patch_memory, allocation_memory; /* of those two lists */
    uint32_t allocation_capacity, allocation_count;
    uint32_t patch_capacity, patch_count;
    bool patched; /* DxgkDdiPatch has been given locations of it (prepatch.h) */
    /* WDDM 1.x, by element of the patch-location list (slots.c) */
    struct vidmm_need *needs;
    uint32_t *next_in_slot; /* index of the next element of the same slot; patch_count: none */
    struct patch_watch watch;
};

/* A buffer of at least the promised sizes with one reference: from the pool, or new. NULL: out of
 * memory. */
struct dma_buffer *vidsch_dma_buffer_get(struct vidsch_context *context);
/* The same with room for data, in virtual mode, too. */
struct dma_buffer *vidsch_dma_buffer_get_data(struct vidsch_context *context);
void vidsch_dma_buffer_put(struct dma_buffer *buffer);
void vidsch_dma_buffer_free_pool(struct vidsch_context *context);
/* The address of byte 0 that the driver is given: in buffer->aperture.segment, or in system memory
 * (PATCH-089, PATCH-144). */
uint64_t vidsch_dma_buffer_address(const struct dma_buffer *buffer);
/* Check that the driver, whose function `ddi` has just returned, wrote nothing around the buffer.
 * False: it did, and the machine is stopped (PATCH-066). Without `lists`, what is not in the buffer
 * itself is looked at only after some calls. */
bool vidsch_dma_buffer_check(const struct dma_buffer *buffer, const char *ddi, bool lists);
/* The same for the private data alone. */
bool vidsch_dma_buffer_check_private(const struct dma_buffer *buffer, const char *ddi);

#endif
