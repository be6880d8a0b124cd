/* SPDX-License-Identifier: MIT */
/* Scatter/gather lists, for the file that releases adapter objects. */
#ifndef DXGK_NT_SCATTER_GATHER_H
#define DXGK_NT_SCATTER_GATHER_H

#include <stdint.h>

struct nt_dma_adapter;
struct nt_dma_transfer;

/* Bytes of a list with that many elements. */
uint64_t nt_dma_list_bytes(uint32_t elements);
/* Write the list of a transfer to a buffer that has room for it. */
void nt_dma_list_write(const struct nt_dma_transfer *transfer, void *buffer);
/* FreeAdapterObject: end the lists that the driver got without a routine of its own. */
void nt_dma_lists_release(struct nt_dma_adapter *adapter);

#endif
