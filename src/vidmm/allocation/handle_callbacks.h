/* SPDX-License-Identifier: MIT */
/*
 * Driver callbacks that resolve client handles of allocations (DxgkCbGetHandleData and its kind);
 * validated for IRQL and state by port.
 */
#ifndef DXGK_VIDMM_HANDLE_CALLBACKS_H
#define DXGK_VIDMM_HANDLE_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct ddi_adapter;
struct vidmm;
struct vidmm_device;

/* DxgkCbGetHandleData, GetHandleParent, EnumHandleChildren for client handles of the current
 * process. Below DISPATCH_LEVEL. */
void *vidmm_cb_get_handle_data(struct ddi_adapter *adapter, const DXGKARGCB_GETHANDLEDATA *args);
/* DxgkCbAcquireHandleData: as the above, and the allocation is not destroyed before *release was
 * given back (NULL with a NULL result). DxgkCbReleaseHandleData. Up to APC_LEVEL. */
void *vidmm_cb_acquire_handle_data(struct ddi_adapter *adapter, const DXGKARGCB_GETHANDLEDATA *args,
                                   HANDLE *release);
void vidmm_cb_release_handle_data(struct ddi_adapter *adapter,
                                  const DXGKARGCB_RELEASEHANDLEDATA *args);
D3DKMT_HANDLE vidmm_cb_get_handle_parent(struct ddi_adapter *adapter, D3DKMT_HANDLE allocation);
D3DKMT_HANDLE vidmm_cb_enum_handle_children(struct ddi_adapter *adapter,
                                            const DXGKARGCB_ENUMHANDLECHILDREN *args);

/* Report what the driver of the adapter has acquired and not released, and release it (ALLOC-103):
 * all of it, when the adapter stops; or, for a device that ends, what holds up the end of its
 * allocations. The driver may still release what it acquired of others. */
void handle_references_end(struct vidmm *vidmm);
void handle_references_end_of(struct vidmm_device *device);

#endif
