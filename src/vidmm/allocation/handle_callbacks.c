/* SPDX-License-Identifier: MIT */
/*
 * Driver callbacks that look up client handles. The handles belong to the process of the calling
 * thread (ALLOC-098). No lock is taken, since the driver may call from inside
 * DxgkDdiBuildPagingBuffer (PAGE-081); no other thread runs during these functions.
 */
#include "vidmm/allocation/handle_callbacks.h"
#include "ddi/client_handle.h"
#include "ddi/ddi.h"
#include "ddi/handle.h"
#include "nt/base/current.h"
#include "nt/base/kprocess.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/allocation/destroy.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/of_adapter.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/resource_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/open_place.h"

static struct vidmm_open *allocation_of(const struct ddi_adapter *adapter, D3DKMT_HANDLE handle)
{
    struct vidmm_open *open = handle_lookup(&nt_process_current()->handles, handle,
                                            DDI_CLIENT_ALLOCATION);

    return open && open->allocation->vidmm == vidmm_of_adapter(adapter) ? open : NULL;
}

static struct vidmm_resource_open *resource_of(const struct ddi_adapter *adapter,
                                               D3DKMT_HANDLE handle)
{
    struct vidmm_resource_open *open = handle_lookup(&nt_process_current()->handles, handle,
                                                     DDI_CLIENT_RESOURCE);

    return open && open->resource->vidmm == vidmm_of_adapter(adapter) ? open : NULL;
}

void *vidmm_cb_get_handle_data(struct ddi_adapter *adapter, const DXGKARGCB_GETHANDLEDATA *args)
{
    if (args->Type == DXGK_HANDLE_ALLOCATION) {
        const struct vidmm_open *open = allocation_of(adapter, args->hObject);

        if (!open)
            return NULL;
        return args->Flags.DeviceSpecific ? open->driver_handle : open->allocation->driver_handle;
    }
    if (args->Type == DXGK_HANDLE_RESOURCE && !args->Flags.DeviceSpecific) {
        const struct vidmm_resource_open *open = resource_of(adapter, args->hObject);

        return open ? open->resource->driver_handle : NULL;
    }
    return NULL;
}

NTSTATUS vidmm_cb_get_capture_address(struct ddi_adapter *adapter, DXGKARGCB_GETCAPTUREADDRESS *args)
{
    const struct vidmm_open *open = allocation_of(adapter, args->hAllocation);
    struct vidmm_place place;

    if (!open)
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-140",
                      "handle 0x%x is no allocation of this adapter", args->hAllocation);
    if (!open->allocation->flags.Capture)
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-140",
                      "allocation 0x%x was created without the flag Capture", args->hAllocation);
    if (!vidmm_open_place(open, &place))
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-141",
                      "allocation 0x%x has not been paged in yet", args->hAllocation);
    args->SegmentId = place.segment;
    args->PhysicalAddress.QuadPart = (LONGLONG)place.physical;
    return STATUS_SUCCESS;
}

/* ---- references ---- */

static enum ddi_handle acquired_kind(DXGK_HANDLE_TYPE type)
{
    return type == DXGK_HANDLE_ALLOCATION ? DDI_HANDLE_ACQUIRED_ALLOCATION
                                          : DDI_HANDLE_ACQUIRED_RESOURCE;
}

/* The allocation whose destruction is delayed. For a resource, its first one: they are all
 * destroyed together. */
static struct vidmm_allocation *kept_by(struct ddi_adapter *adapter,
                                        const DXGKARGCB_GETHANDLEDATA *args)
{
    struct vidmm_resource_open *resource;
    struct vidmm_open *open;

    if (args->Type == DXGK_HANDLE_ALLOCATION) {
        open = allocation_of(adapter, args->hObject);
        return open ? open->allocation : NULL;
    }
    resource = resource_of(adapter, args->hObject);
    if (!resource || list_empty(&resource->opens))
        return NULL;
    return CONTAINER(resource->opens.next, struct vidmm_open, resource_link)->allocation;
}

void *vidmm_cb_acquire_handle_data(struct ddi_adapter *adapter, const DXGKARGCB_GETHANDLEDATA *args,
                                   HANDLE *release)
{
    void *data = vidmm_cb_get_handle_data(adapter, args);
    struct vidmm_allocation *allocation = data ? kept_by(adapter, args) : NULL;

    *release = NULL;
    if (allocation)
        *release = ddi_handle_create(&adapter->handles, acquired_kind(args->Type), allocation);
    if (!*release)
        return NULL; /* ALLOC-100 */
    allocation->claims.acquired++;
    return data;
}

static void released(struct vidmm *vidmm, struct vidmm_allocation *allocation)
{
    if (--allocation->claims.acquired == 0)
        allocation_released(vidmm);
}

void vidmm_cb_release_handle_data(struct ddi_adapter *adapter,
                                  const DXGKARGCB_RELEASEHANDLEDATA *args)
{
    struct vidmm_allocation *allocation = ddi_handle_remove(&adapter->handles, args->ReleaseHandle,
                                                            acquired_kind(args->Type));

    if (!allocation) {
        VIOLATION("ALLOC-102", "ReleaseHandle with Type %d is %s, and not held", (int)args->Type,
                  ddi_handle_describe(&adapter->handles, args->ReleaseHandle).text);
        return;
    }
    released(vidmm_of_adapter(adapter), allocation);
}

/* True if the allocation has only one open left, and the device has destroyed that open. */
static bool goes_with(const struct vidmm_allocation *allocation, const struct vidmm_device *device)
{
    const struct vidmm_open *open;

    if (!allocation_dies_unopened(allocation) || list_empty(&allocation->opens) ||
        allocation->opens.next != allocation->opens.prev)
        return false;
    open = CONTAINER(allocation->opens.next, struct vidmm_open, link);
    return open->device == device &&
           handle_lookup(device->process->handles, open->handle, DDI_CLIENT_ALLOCATION) != open;
}

/* End the references that delay a destruction of `device`; NULL: all references. */
static void end_references(struct vidmm *vidmm, const struct vidmm_device *device)
{
    struct handle_table *table = &vidmm->ddi->handles.table;
    void *object;
    uint32_t cursor = 0;
    uint32_t handle;
    uint8_t kind;

    while ((object = handle_next(table, &cursor, &handle, &kind)) != NULL) {
        if (kind != DDI_HANDLE_ACQUIRED_ALLOCATION && kind != DDI_HANDLE_ACQUIRED_RESOURCE)
            continue;
        if (device && !goes_with(object, device))
            continue;
        VIOLATION("ALLOC-103", "the driver did not release what it acquired of %s",
                  kind == DDI_HANDLE_ACQUIRED_ALLOCATION ? "an allocation" : "a resource");
        handle_remove(table, handle, kind);
        released(vidmm, object);
    }
}

void handle_references_end(struct vidmm *vidmm)
{
    end_references(vidmm, NULL);
}

void handle_references_end_of(struct vidmm_device *device)
{
    end_references(device->process->vidmm, device);
}

/* ---- the tree of handles ---- */

D3DKMT_HANDLE vidmm_cb_get_handle_parent(struct ddi_adapter *adapter, D3DKMT_HANDLE allocation)
{
    const struct vidmm_open *open = allocation_of(adapter, allocation);

    return open && open->resource_open ? open->resource_open->handle : 0;
}

D3DKMT_HANDLE vidmm_cb_enum_handle_children(struct ddi_adapter *adapter,
                                            const DXGKARGCB_ENUMHANDLECHILDREN *args)
{
    const struct vidmm_resource_open *resource = resource_of(adapter, args->hObject);
    UINT index = 0;

    if (!resource)
        return 0;
    LIST_FOR(node, &resource->opens)
        if (index++ == args->Index)
            return CONTAINER(node, struct vidmm_open, resource_link)->handle;
    return 0;
}
