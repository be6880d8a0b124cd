/* SPDX-License-Identifier: MIT */
/* Video present sources, as clients name them, and who owns them. */
#ifndef DXGK_KMT_SOURCE_OWNER_H
#define DXGK_KMT_SOURCE_OWNER_H

#include <stdbool.h>

#include <ntddk.h>
#include <d3dkmthk.h>

struct kmt_adapter;
struct kmt_device;
struct scanouts;

/* What the adapter shows; NULL, with the reason for STATUS_NOT_SUPPORTED: it has no displays of a
 * full driver. */
struct scanouts *kmt_scanouts(const struct kmt_adapter *adapter);
/* Sources of a full driver that shows something; else 0. */
UINT kmt_sources(const struct kmt_adapter *adapter);
/* STATUS_SUCCESS, or STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER (PRES-275, PRES-281). */
NTSTATUS kmt_source_owned(const struct kmt_device *device, UINT source);
/* May the element be created: as a primary, if it is marked as one (PRES-072 to PRES-074)? */
NTSTATUS kmt_check_primary(const struct kmt_adapter *adapter, UINT index,
                           const D3DDDI_ALLOCATIONINFO2 *info);
/* The device begins. */
void kmt_source_enter(struct kmt_device *device, bool requests_vsync);
/* It is about to end: presents of it wait no longer (PRES-310). */
void kmt_source_end_waits(const struct kmt_device *device);
/* Before it ends (PRES-259). */
void kmt_source_leave(struct kmt_device *device);

#endif
