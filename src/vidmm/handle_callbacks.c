/* SPDX-License-Identifier: MIT */
/*
 * What a driver may ask about client handles. Handles are those of the process that the calling thread works for (ALLOC-098);
 * no lock is taken, since a driver may ask from inside DxgkDdiBuildPagingBuffer (PAGE-081), and nothing here can be interrupted.
 */
#include "vidmm/vidmm_private.h"

static struct vidmm_open *allocation_of(const struct ddi_adapter *adapter, D3DKMT_HANDLE handle)
{
    struct vidmm_open *open = handle_lookup(&nt_process_current()->handles, handle,
                                            NT_CLIENT_ALLOCATION);

    return open && open->allocation->vidmm == adapter->vidmm ? open : NULL;
}

static struct vidmm_resource_open *resource_of(const struct ddi_adapter *adapter,
                                               D3DKMT_HANDLE handle)
{
    struct vidmm_resource_open *open = handle_lookup(&nt_process_current()->handles, handle,
                                                     NT_CLIENT_RESOURCE);

    return open && open->resource->vidmm == adapter->vidmm ? open : NULL;
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
