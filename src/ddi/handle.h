/* SPDX-License-Identifier: MIT */
/*
 * Host handles given to drivers. A value says by itself whose it is, so that none passes for
 * another:
 *
 *   63       48 47  44 43      32 31 30 29                   0
 *   |  0xD3D1  | kind | adapter  | 1  0| generation and slot |
 *
 * It is no address (not canonical), no D3DKMT handle (those have 32 bits), and cut down to 32 bits
 * it is still none, since bit 30 is set in those. Lookup, insertion and removal are O(1).
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
    DDI_HANDLE_ACQUIRED_ALLOCATION, /* what DxgkCbAcquireHandleData gave, by its Type */
    DDI_HANDLE_ACQUIRED_RESOURCE,
};

#define DDI_HANDLE_ADAPTERS 0xFFFu /* numbers of adapters, from 1 */

struct ddi_handles {
    struct handle_table table;
    uint16_t adapter; /* its number, 12 bits; 0: of the machine */
};

void ddi_handles_init(struct ddi_handles *handles);
/* The objects are the caller's. */
void ddi_handles_finish(struct ddi_handles *handles);

/* A handle for `object` (not NULL). NULL: out of memory. */
HANDLE ddi_handle_create(struct ddi_handles *handles, enum ddi_handle kind, void *object);
/* The object; NULL if the handle is not a live one of this kind and adapter. */
void *ddi_handle_lookup(const struct ddi_handles *handles, HANDLE handle, enum ddi_handle kind);
/* Remove; returns the object, or NULL as ddi_handle_lookup. */
void *ddi_handle_remove(struct ddi_handles *handles, HANDLE handle, enum ddi_handle kind);
/* A short number for names: unique among the live handles of the table. */
uint32_t ddi_handle_number(HANDLE handle);

/* What a handle is, for reports: "0x40000001, a D3DKMT handle", "0xd3d1300180000002, the handle of
 * a context of another adapter", "NULL". `handles`: where it was looked for. */
struct ddi_handle_text {
    char text[96];
};
struct ddi_handle_text ddi_handle_describe(const struct ddi_handles *handles, HANDLE handle);

#endif
