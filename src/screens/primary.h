/* SPDX-License-Identifier: MIT */
/* The shared primary of a source: memory that the host has a full driver make for the mode that is
 * committed (PRES-055 to PRES-064). */
#ifndef DXGK_SCREENS_PRIMARY_H
#define DXGK_SCREENS_PRIMARY_H

#include <stdbool.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/list.h"
#include "vidmm/allocation/scanout.h"

struct vidmm_device;

struct primary {
    struct vidmm_device *device; /* of the system, on which it is opened */
    D3DKMT_HANDLE resource;
    D3DKMDT_SHAREDPRIMARYSURFACEDATA surface;
    struct vidmm_allocation *allocation; /* pinned */
    struct vidmm_scanout where;
    struct list opens; /* of clients' devices */
};

/* Create, open, page in and pin; black (PRES-154). *primary is NULL after a failure: what the
 * driver returned, or STATUS_NO_MEMORY. PASSIVE_LEVEL. */
NTSTATUS primary_create(struct vidmm_device *device,
                        const D3DKMDT_SHAREDPRIMARYSURFACEDATA *surface, struct primary **primary);
/* Its handle on a client's device, on which it is opened at the first call (PRES-114); on a thread
 * of the client. */
NTSTATUS primary_open(struct primary *primary, struct vidmm_device *device, D3DKMT_HANDLE *handle);
/* The device ends, with all that it has open. */
void primary_forget(struct primary *primary, const struct vidmm_device *device);
/* Close and destroy. NULL: there is none. */
void primary_destroy(struct primary *primary);
/* Page it in where a reset or the loss of power has taken it away. */
NTSTATUS primary_return(struct primary *primary);

#endif
