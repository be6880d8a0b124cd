/* SPDX-License-Identifier: MIT */
/* The shared primary of a source: memory that the host has a full driver make for the mode that is
 * committed (PRES-055 to PRES-064). */
#ifndef DXGK_SCREENS_PRIMARY_H
#define DXGK_SCREENS_PRIMARY_H

#include <stdbool.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "vidmm/residency/scanout.h"

struct vidmm_device;

struct primary {
    struct vidmm_device *device; /* of the system, on which it is opened */
    D3DKMT_HANDLE resource;
    D3DKMDT_SHAREDPRIMARYSURFACEDATA surface;
    struct vidmm_allocation *allocation; /* pinned */
    struct vidmm_scanout where;
};

/* Create, open, page in and pin; black (PRES-154). *primary is NULL after a failure: what the
 * driver returned, or STATUS_NO_MEMORY. PASSIVE_LEVEL. */
NTSTATUS primary_create(struct vidmm_device *device,
                        const D3DKMDT_SHAREDPRIMARYSURFACEDATA *surface, struct primary **primary);
/* Close and destroy. NULL: there is none. */
void primary_destroy(struct primary *primary);
/* Page it in where a reset or the loss of power has taken it away. */
NTSTATUS primary_return(struct primary *primary);

#endif
