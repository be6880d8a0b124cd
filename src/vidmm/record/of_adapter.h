/* SPDX-License-Identifier: MIT */
/*
 * Finds the memory manager of an adapter. Driver callbacks and upper rooms have only the adapter,
 * and the adapter's own room (ddi) does not know the type struct vidmm; it stores it under a key.
 */
#ifndef DXGK_VIDMM_OF_ADAPTER_H
#define DXGK_VIDMM_OF_ADAPTER_H

struct ddi_adapter;
struct vidmm;

/* NULL before vidmm_create and after vidmm_destroy. */
struct vidmm *vidmm_of_adapter(const struct ddi_adapter *adapter);
/* Set what vidmm_of_adapter returns. */
void vidmm_set_of_adapter(struct ddi_adapter *adapter, struct vidmm *vidmm);

#endif
