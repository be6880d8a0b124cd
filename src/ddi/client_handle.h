/* SPDX-License-Identifier: MIT */
/*
 * Types of client handles (D3DKMT_HANDLE values in nt_process.handles). kmt creates the handles; a
 * lower room that gets one, from kmt or through a driver's callback, looks up the object by its
 * type.
 */
#ifndef DXGK_DDI_CLIENT_HANDLE_H
#define DXGK_DDI_CLIENT_HANDLE_H

enum ddi_client_handle {
    DDI_CLIENT_ADAPTER = 1,  /* kmt */
    DDI_CLIENT_DEVICE,       /* struct vidsch_device */
    DDI_CLIENT_CONTEXT,      /* struct vidsch_context */
    DDI_CLIENT_RESOURCE,     /* struct vidmm_resource_open */
    DDI_CLIENT_ALLOCATION,   /* struct vidmm_open */
    DDI_CLIENT_SYNC,         /* struct vidsch_sync */
    DDI_CLIENT_PAGING_QUEUE, /* struct vidmm_paging_queue */
    DDI_CLIENT_HW_QUEUE,     /* struct vidsch_context, of the queue */
    DDI_CLIENT_KEYED_MUTEX,
    DDI_CLIENT_HW_CONTEXT, /* struct vidsch_context */
};

#endif
