/* SPDX-License-Identifier: MIT */
/*
 * What the memory manager stores in a scheduler's context: which device it belongs to, and its
 * context allocations.
 */
#ifndef DXGK_VIDMM_CONTEXT_RECORD_H
#define DXGK_VIDMM_CONTEXT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/list.h"

struct vidmm_device;

/* Embedded in vidsch's context. */
struct vidmm_context {
    struct vidmm_device *device;
    struct ddi_adapter *adapter;
    HANDLE host_handle;   /* value given to the driver (DDI_HANDLE_CONTEXT) */
    HANDLE driver_handle; /* what DxgkDdiCreateContext returned; NULL before */
    bool virtual_addressing;
    bool system;
    bool privileged;  /* it runs in the privileged space of its process (privileged_space.h) */
    struct list link; /* in the process */
    struct list allocations; /* context allocations */
};

#endif
