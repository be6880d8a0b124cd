/* SPDX-License-Identifier: MIT */
/* WDDM 1.x: a lock that sees an allocation through a swizzling range (ALLOC-130 to ALLOC-132). */
#ifndef DXGK_VIDMM_LOCK_APERTURE_H
#define DXGK_VIDMM_LOCK_APERTURE_H

#include <ntddk.h>
#include <d3dkmthk.h>

struct vidmm_device;

/* As vidmm_lock2; ended by vidmm_unlock2, too. Flags: DonotEvict, UseAlternateVA. */
NTSTATUS vidmm_lock_aperture(struct vidmm_device *device, const D3DKMT_LOCK *args, void **address);

#endif
