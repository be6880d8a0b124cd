/* SPDX-License-Identifier: MIT */
/*
 * What the kernel-mode display headers take from their surroundings: dxgk_base.h, and the kernel
 * types of <ntddk.h> (device objects, MDLs, resources, power states).
 */
#ifndef DXGK_WDK_BASE_KERNEL_H
#define DXGK_WDK_BASE_KERNEL_H

#include <ntddk.h>

#include "dxgk_base.h"

/* As <windef.h> defines them for drivers, unless a C++ source forbids it. */
#if !defined(NOMINMAX) || defined(DXGK_MINMAX)
#ifndef min
#define min(a, b) ((a) < (b) ? (a) : (b))
#endif
#ifndef max
#define max(a, b) ((a) > (b) ? (a) : (b))
#endif
#endif

#endif /* DXGK_WDK_BASE_KERNEL_H */
