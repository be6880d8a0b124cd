/* SPDX-License-Identifier: MIT */
/*
 * Allocations and resources of clients: creating, sharing and opening them. The caller has copied
 * the arguments from the client and checked their sizes.
 */
#ifndef DXGK_VIDMM_ALLOCATION_H
#define DXGK_VIDMM_ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct nt_process;
struct vidmm_allocation;
struct vidmm_device;
struct vidmm_resource;

struct vidmm_create_item {
    const void *system_memory; /* client memory to use as backing, or NULL */
    void *private_data;        /* in/out, owned by the caller */
    UINT private_bytes;
    D3DDDI_ALLOCATIONINFO2 *info; /* flags in; hAllocation and GpuVirtualAddress out */
};
struct vidmm_create_request {
    D3DKMT_CREATEALLOCATIONFLAGS flags;
    D3DKMT_HANDLE resource;       /* existing resource to which to add, or 0 */
    const void *resource_private; /* resource_private_bytes bytes */
    UINT resource_private_bytes;
    uint64_t heap_bytes; /* of a standard allocation that wraps client memory; 0: another one */
    UINT count;
    struct vidmm_create_item *item;
};
/* Create allocations: calls DxgkDdiCreateAllocation and DxgkDdiOpenAllocation, and creates the
 * client handles. All or nothing. */
NTSTATUS vidmm_allocation_create(struct vidmm_device *device, struct vidmm_create_request *request,
                                 D3DKMT_HANDLE *resource);
/* Shared resources. A reference keeps a resource and its allocations alive even if no device has it
 * open; global and NT handles hold one. */
struct vidmm_resource_info {
    UINT allocations, resource_private_bytes;
    const void *resource_private; /* valid until a request changes it, or the resource ends */
    uint64_t private_bytes;       /* sum over all allocations, each rounded up to 8 (KMT-233) */
    bool read_only;
};
/* Get the resource of a client's handle, with a reference. NULL: not a handle of the device, or not
 * a shared resource. */
struct vidmm_resource *vidmm_resource_get(struct vidmm_device *device, D3DKMT_HANDLE resource);
void vidmm_resource_reference(struct vidmm_resource *resource);
/* Drop a reference. If it is the last, and no device has the resource open, the resource is
 * destroyed. PASSIVE_LEVEL, since that calls the driver. */
void vidmm_resource_put(struct vidmm_resource *resource);
/* Call end(context) when the resource is destroyed; there is one such function for each. */
void vidmm_resource_on_end(struct vidmm_resource *resource, void (*end)(void *context),
                           void *context);
/* The context of vidmm_resource_on_end of the shared resource that a handle of the process names,
 * on whatever device; NULL: it names none. */
void *vidmm_resource_context(const struct nt_process *process, D3DKMT_HANDLE handle);
/* Has anybody it still: a device that did not begin to destroy it, or a reference? */
bool vidmm_resource_held(const struct vidmm_resource *resource);
void vidmm_resource_query(const struct vidmm_resource *resource, struct vidmm_resource_info *info);
struct vidmm_open;

/* Keep the allocation of an open from being destroyed: its memory stays where it is, though the
 * client destroys it, until the hold ends. For what the GPU uses without the host. */
struct vidmm_allocation *vidmm_open_hold(struct vidmm_open *open);
/* NULL: nothing is held. */
void vidmm_hold_end(struct vidmm_allocation *allocation);
HANDLE vidmm_open_driver_handle(const struct vidmm_open *open);

struct vidmm_open_item {
    D3DKMT_HANDLE allocation; /* out */
    void *private_data;       /* out: the stored data, read-only, valid as long as the resource */
    UINT private_bytes;
};
/* Open all allocations of a resource on a device (DxgkDdiOpenAllocation with Create clear). `count`
 * must be their number. All or nothing. */
NTSTATUS vidmm_resource_open(struct vidmm_device *device, struct vidmm_resource *resource,
                             bool read_only, struct vidmm_open_item *item, UINT count,
                             D3DKMT_HANDLE *handle);
/* Free its pages, and its record as soon as no hold is left (allocation_unhold). Nothing else may
 * refer to it. Lock held. */
void allocation_free(struct vidmm_allocation *allocation);

#endif
