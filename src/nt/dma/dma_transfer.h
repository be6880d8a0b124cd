/* SPDX-License-Identifier: MIT */
/*
 * Transfers: pages of an MDL that are open to the device for a while, as runs of logical addresses.
 * Pages that the device cannot reach, or that it cannot take in pieces, are copied through a run
 * that it can reach, as Windows does with map registers.
 */
#ifndef DXGK_NT_DMA_TRANSFER_H
#define DXGK_NT_DMA_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "nt/base/resource.h"
#include "nt/dma/dma_record.h"
#include "util/list.h"

/* Bytes of an MDL chain: from `offset` in the buffer of the first MDL. */
struct nt_dma_range {
    PMDL mdl;
    uint64_t offset;
    uint32_t length;
    bool write; /* to the device */
};

struct nt_dma_piece {
    struct page_number frame;
    uint32_t offset, length; /* in the frame */
};

struct nt_dma_transfer {
    struct nt_dma_adapter *adapter;
    struct nt_dma_range range;
    struct nt_dma_mapping mapping; /* of the pages themselves, or of what stands in for them */
    struct nt_dma_piece *piece;    /* by page */
    uint32_t pieces;
    bool copied; /* another run stands in for the pages */
    SCATTER_GATHER_ELEMENT *element;
    uint32_t elements;
    struct list of_channel;      /* adapter_channel.c */
    struct nt_resource resource; /* scatter_gather.c, also the rest */
    SCATTER_GATHER_LIST *list;
    bool owns_list;
    bool released_by_object; /* by FreeAdapterObject, too */
};

/* Whether the range lies inside the chain, whose MDLs are locked. Else the status, reported. */
NTSTATUS nt_dma_range_check(const struct nt_dma_range *range, const char *routine);
/* The range from an address that counts from MmGetMdlVirtualAddress. */
struct nt_dma_range nt_dma_range_at(PMDL mdl, PVOID va, uint32_t length, bool write);
/* Pages that the range touches. It must be checked. */
uint32_t nt_dma_range_pages(const struct nt_dma_range *range);
/* Bytes at its start that are contiguous for the device without another run. It must be checked. */
uint32_t nt_dma_range_contiguous(const struct nt_dma_adapter *adapter,
                                 const struct nt_dma_range *range);

/* STATUS_BUFFER_TOO_SMALL, STATUS_INVALID_PARAMETER: the range is wrong;
 * STATUS_INSUFFICIENT_RESOURCES: more pages than map registers, or out of memory. At DISPATCH_LEVEL
 * or below. */
NTSTATUS nt_dma_transfer_begin(struct nt_dma_adapter *adapter, const struct nt_dma_range *range,
                               const char *routine, struct nt_dma_transfer **out);
/* The device has done: what it wrote is in the pages, and it does not reach them any more. */
void nt_dma_transfer_end(struct nt_dma_transfer *transfer);

#endif
