/* SPDX-License-Identifier: MIT */
/* Checking the operations of a batch of updates (va_update.h), all of them before one is queued
 * (GPUVA-134). Lock held. */
#ifndef DXGK_VIDMM_VA_UPDATE_CHECK_H
#define DXGK_VIDMM_VA_UPDATE_CHECK_H

#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct va_range;
struct vidmm_process;

/* Which reservations a batch changes and reads; NULL: none. */
struct va_update_ranges {
    struct va_range *target, *source;
};

/* The window of an allocation that a map operation repeats over its range, in pages. */
uint64_t va_update_window(const D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION *operation);
NTSTATUS va_update_check(const struct vidmm_process *process,
                         const D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION *operations, UINT count,
                         struct va_update_ranges *ranges);

#endif
