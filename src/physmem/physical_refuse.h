/* SPDX-License-Identifier: MIT */
/*
 * How the services refuse: one report of the broken rule with the status of PHYS-006, or the bug
 * check of physical memory objects.
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_REFUSE_H
#define DXGK_PHYSMEM_PHYSICAL_REFUSE_H

#include <ntddk.h>

#define SYSMM_BUGCHECK 0x1E4u /* VIDEO_DXGKRNL_SYSMM_FATAL_ERROR */
enum sysmm_subcode {
    SYSMM_BAD_TYPE = 0x1,
    SYSMM_ADL_OVER_UNLOCKED_MEMORY = 0x4,
    SYSMM_MEMORY_UNLOCKED_UNDER_ADL = 0x5,
    SYSMM_ADAPTER_OBJECT_LEAKED = 0x6,
    SYSMM_ADL_LEAKED = 0x7
};

/* Report the violation; returns STATUS_INVALID_PARAMETER. */
NTSTATUS physical_refuse(const char *rule, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
