/* SPDX-License-Identifier: MIT */
/* Records of DMA adapters: made by IoGetDmaAdapter, ended by PutDmaAdapter or at unload. */
#ifndef DXGK_NT_DMA_ADAPTER_H
#define DXGK_NT_DMA_ADAPTER_H

#include <stdbool.h>

struct nt_dma_adapter;

/* Enter a record made by the caller; it belongs to the driver that called from `caller`. False: out
 * of memory. */
bool nt_dma_adapter_enter(struct nt_dma_adapter *adapter, const void *caller);
/* End it. Nothing may be held through it. */
void nt_dma_adapter_destroy(struct nt_dma_adapter *adapter);

#endif
