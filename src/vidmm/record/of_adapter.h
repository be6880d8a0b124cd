/* SPDX-License-Identifier: MIT */
/*
 * Which memory manager an adapter has: callbacks of a driver and the rooms above come with the
 * adapter, and the room of adapters knows this one by a key alone.
 */
#ifndef DXGK_VIDMM_OF_ADAPTER_H
#define DXGK_VIDMM_OF_ADAPTER_H

struct ddi_adapter;
struct vidmm;

/* From vidmm_create to vidmm_destroy; else NULL. */
struct vidmm *vidmm_of_adapter(const struct ddi_adapter *adapter);
/* What vidmm_of_adapter says from now on. */
void vidmm_set_of_adapter(struct ddi_adapter *adapter, struct vidmm *vidmm);

#endif
