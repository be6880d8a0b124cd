/* SPDX-License-Identifier: MIT */
/*
 * Host handles given to drivers. Each value encodes its kind and adapter, so that none can be
 * mistaken for another:
 *
 *   63       48 47  44 43      32 31 30 29                   0
 *   |  0xD3D1  | kind | adapter  | 0  0| generation and slot |
 *
 * It is not an address (not canonical) and not a D3DKMT handle (those have 32 bits). Truncated to
 * 32 bits, it still is no D3DKMT handle, since those have bit 30 or 31 set. Lookup, insertion and
 * removal are O(1).
 */
#ifndef DXGK_DDI_HANDLE_H
#define DXGK_DDI_HANDLE_H

#include <ntddk.h>

#include "util/handle.h"

/* Kinds of host handles. At most 15. */
enum ddi_handle {
    DDI_HANDLE_ADAPTER = 1,         /* DeviceHandle */
    DDI_HANDLE_DEVICE,              /* DXGKARG_CREATEDEVICE.hDevice on entry */
    DDI_HANDLE_CONTEXT,             /* DXGKARG_CREATECONTEXT.hContext on entry */
    DDI_HANDLE_CONTEXT_ALLOCATION,  /* DXGKARGCB_CREATECONTEXTALLOCATION.hAllocation */
    DDI_HANDLE_PROCESS,             /* hDxgkProcess */
    DDI_HANDLE_CPU_EVENT,           /* hDxgCpuEvent */
    DDI_HANDLE_ACQUIRED_ALLOCATION, /* from DxgkCbAcquireHandleData, by its Type */
    DDI_HANDLE_ACQUIRED_RESOURCE,
    DDI_HANDLE_HW_QUEUE,     /* DXGKARG_CREATEHWQUEUE.hHwQueue on entry */
    DDI_HANDLE_NATIVE_FENCE, /* DXGKARG_CREATENATIVEFENCE.hNativeFence on entry */
    DDI_HANDLE_DOORBELL,     /* DXGKARG_CREATEDOORBELL.hDoorbell on entry */
};

#define DDI_HANDLE_ADAPTERS 0xFFFu /* numbers of adapters, from 1 */

struct ddi_handles {
    struct handle_table table;
    uint16_t adapter; /* number of the adapter, 12 bits; 0: belongs to the machine */
};

void ddi_handles_init(struct ddi_handles *handles);
/* The objects stay with the caller. */
void ddi_handles_finish(struct ddi_handles *handles);

/* Creates a handle for `object` (not NULL). NULL: out of memory. */
HANDLE ddi_handle_create(struct ddi_handles *handles, enum ddi_handle kind, void *object);
/* The object; NULL unless the handle is a live one of this kind and adapter. */
void *ddi_handle_lookup(const struct ddi_handles *handles, HANDLE handle, enum ddi_handle kind);
/* Remove the handle; returns the object, or NULL in the cases of ddi_handle_lookup. */
void *ddi_handle_remove(struct ddi_handles *handles, HANDLE handle, enum ddi_handle kind);
/* A short number for use in names, unique among the live handles of the table. */
uint32_t ddi_handle_number(HANDLE handle);

/* Describes a handle, for reports: "0x40000040, a D3DKMT handle", "0xd3d1300100100002, the handle
 * of a context of another adapter", "NULL". `handles`: the table in which it was looked up. */
struct ddi_handle_text {
    char text[96];
};
struct ddi_handle_text ddi_handle_describe(const struct ddi_handles *handles, HANDLE handle);

#endif
