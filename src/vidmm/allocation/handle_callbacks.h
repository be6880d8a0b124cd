/* SPDX-License-Identifier: MIT */
/*
 * Driver callbacks that look up client handles of allocations (DxgkCbGetHandleData and similar
 * ones); port has checked IRQL and state.
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

/* DxgkCbGetHandleData, GetHandleParent, EnumHandleChildren, for client handles of the current
 * process. Below DISPATCH_LEVEL. */
void *vidmm_cb_get_handle_data(struct ddi_adapter *adapter, const DXGKARGCB_GETHANDLEDATA *args);
/* DxgkCbAcquireHandleData and DxgkCbReleaseHandleData: the same lookup, and the allocation is not
 * destroyed until *release (NULL if the result is NULL) has been released. Up to APC_LEVEL. */
void *vidmm_cb_acquire_handle_data(struct ddi_adapter *adapter, const DXGKARGCB_GETHANDLEDATA *args,
                                   HANDLE *release);
void vidmm_cb_release_handle_data(struct ddi_adapter *adapter,
                                  const DXGKARGCB_RELEASEHANDLEDATA *args);
D3DKMT_HANDLE vidmm_cb_get_handle_parent(struct ddi_adapter *adapter, D3DKMT_HANDLE allocation);
D3DKMT_HANDLE vidmm_cb_enum_handle_children(struct ddi_adapter *adapter,
                                            const DXGKARGCB_ENUMHANDLECHILDREN *args);

/* DxgkCbGetCaptureAddress: where an allocation with the flag Capture is. At PASSIVE_LEVEL. */
NTSTATUS vidmm_cb_get_capture_address(struct ddi_adapter *adapter,
                                      DXGKARGCB_GETCAPTUREADDRESS *args);

/* Report what the driver has acquired and not released, and release it (ALLOC-103).
 * handle_references_end: everything, when the adapter stops. handle_references_end_of: when a
 * device is destroyed, only what delays the destruction of its allocations; the driver may still
 * release the rest. */
void handle_references_end(struct vidmm *vidmm);
void handle_references_end_of(struct vidmm_device *device);

#endif
