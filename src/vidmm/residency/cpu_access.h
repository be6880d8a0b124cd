/* SPDX-License-Identifier: MIT */
/* CPU access to allocations: D3DKMTLock2 and D3DKMTUnlock2. */
#ifndef DXGK_VIDMM_CPU_ACCESS_H
#define DXGK_VIDMM_CPU_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct vidmm_allocation;
struct vidmm_device;
struct vidmm_segment;

NTSTATUS vidmm_lock2(struct vidmm_device *device, D3DKMT_HANDLE allocation, void **address);
NTSTATUS vidmm_unlock2(struct vidmm_device *device, D3DKMT_HANDLE allocation);

#endif
