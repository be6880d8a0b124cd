/* SPDX-License-Identifier: MIT */
/*
 * Allocations and resources of clients: create, share, open. Arguments are copied from the client
 * and size-checked before.
 */
#ifndef DXGK_VIDMM_ALLOCATION_H
#define DXGK_VIDMM_ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct vidmm_allocation;
struct vidmm_device;
struct vidmm_resource;

struct vidmm_create_item {
    const void *system_memory; /* client memory given with the allocation, or NULL */
    void *private_data;        /* in/out, owned by the caller */
    UINT private_bytes;
    D3DDDI_ALLOCATIONINFO2 *info; /* flags in; hAllocation and GpuVirtualAddress out */
};
struct vidmm_create_request {
    D3DKMT_CREATEALLOCATIONFLAGS flags;
    D3DKMT_HANDLE resource;       /* existing resource to add to, or 0 */
    const void *resource_private; /* UINT resource_private_bytes */
    UINT resource_private_bytes;
    UINT count;
    struct vidmm_create_item *item;
};
/* Calls DxgkDdiCreateAllocation and DxgkDdiOpenAllocation; makes the client handles. All or
 * nothing. */
NTSTATUS vidmm_allocation_create(struct vidmm_device *device, struct vidmm_create_request *request,
                                 D3DKMT_HANDLE *resource);
/* Shared resources. A reference keeps a resource and its allocations alive without any open, as a
 * global or NT handle does; the caller keeps what it hangs on it. */
struct vidmm_resource_info {
    UINT allocations, resource_private_bytes;
    uint64_t private_bytes; /* of all allocations, each rounded up to 8 (KMT-233) */
    bool read_only;
};
/* The resource behind a client's handle, with a reference; NULL: no such handle on the device, or
 * not shared. */
struct vidmm_resource *vidmm_resource_get(struct vidmm_device *device, D3DKMT_HANDLE resource);
void vidmm_resource_reference(struct vidmm_resource *resource);
/* The last reference of a resource that nobody has open destroys it: PASSIVE_LEVEL, calls the
 * driver. */
void vidmm_resource_put(struct vidmm_resource *resource);
void vidmm_resource_query(const struct vidmm_resource *resource, struct vidmm_resource_info *info);
struct vidmm_open_item {
    D3DKMT_HANDLE allocation; /* out */
    void *private_data;       /* out: the stored data, valid while the resource lives; read only */
    UINT private_bytes;
};
/* Open all allocations on a device (DxgkDdiOpenAllocation with Create clear). `count` is their
 * number; all or nothing. */
NTSTATUS vidmm_resource_open(struct vidmm_device *device, struct vidmm_resource *resource,
                             bool read_only, struct vidmm_open_item *item, UINT count,
                             D3DKMT_HANDLE *handle);
/* Give back its pages and the record; nothing refers to it any more. A hold keeps the record until
 * allocation_unhold. Lock held. */
void allocation_free(struct vidmm_allocation *allocation);

#endif
