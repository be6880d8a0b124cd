/* SPDX-License-Identifier: MIT */
/*
 * What the kernel-mode display headers take from their surroundings: dxgk_base.h, and the kernel
 * types of <ntddk.h> (device objects, MDLs, resources, power states).
 */
#ifndef DXGK_WDK_BASE_KERNEL_H
#define DXGK_WDK_BASE_KERNEL_H

#include <ntddk.h>

#include "dxgk_base.h"

#endif /* DXGK_WDK_BASE_KERNEL_H */
