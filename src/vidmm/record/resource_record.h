/* SPDX-License-Identifier: MIT */
/* Resources: groups of allocations that have one driver handle and are shared together. */
#ifndef DXGK_VIDMM_RESOURCE_RECORD_H
#define DXGK_VIDMM_RESOURCE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

#include "util/list.h"

struct vidmm;
struct vidmm_device;

/* A group of allocations with a driver handle of its own; the unit of sharing. */
struct vidmm_resource {
    struct vidmm *vidmm;
    HANDLE driver_handle; /* hResource, as the driver set it */
    bool driver_knows;    /* the driver has created an allocation in it (ALLOC-017) */
    bool shared, read_only;
    uint32_t references;        /* vidmm_resource_get */
    void (*end)(void *context); /* vidmm_resource_on_end; or NULL */
    void *end_context;
    void *private_data; /* the latest private data of the resource (ALLOC-015) */
    UINT private_bytes;
    struct list allocations; /* vidmm_allocation.resource_link */
    struct list opens;       /* vidmm_resource_open.link */
};

/* One device's open of a resource: it has the D3DKMT handle. */
struct vidmm_resource_open {
    struct vidmm_resource *resource;
    struct vidmm_device *device;
    D3DKMT_HANDLE handle;
    struct list link, device_link;
    struct list opens; /* vidmm_open.resource_link, in order of creation */
};

/* Free the record of a resource in which nothing is left, and say so to who asked for it. */
void resource_record_free(struct vidmm_resource *resource);

#endif
