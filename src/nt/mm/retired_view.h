/* SPDX-License-Identifier: MIT */
/*
 * Views for the CPU that were ended: what stood at an address, so that a late use can be reported
 * as what it is (PHYS-194). The last ones only; the addresses come back late.
 */
#ifndef DXGK_NT_RETIRED_VIEW_H
#define DXGK_NT_RETIRED_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NT_RETIRED_VIEWS 128u /* that are remembered */

/* The view [address, address + bytes) of `what` ends: by `routine`, called at `caller` (NULL: by
 * the host). Also the rest of its first and last page. Called while a view of a process still is
 * its range (nt/mm/user_range.h). Any level. */
void nt_retired_view_add(const void *address, uint64_t bytes, const char *what, const char *routine,
                         const void *caller);
/* "a view of BAR 2 of refgpu at 0x0 that MmUnmapIoSpace had ended, called at x.so!F+0x12";
 * false: no view that ended lately stood there. */
bool nt_retired_view_at(const void *address, char *text, size_t bytes);
/* Of an address that was not there for an access: of the kernel's part, so that no handler takes
 * the fault; as nt_address_is_kernel, and for a view that ended lately, what it was (PHYS-194). */
bool nt_retired_view_is_of_kernel(const void *address);

#endif
