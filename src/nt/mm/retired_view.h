/* SPDX-License-Identifier: MIT */
/*
 * Views for the CPU that were unmapped: remembers what was at an address, so that a late use is
 * reported as such (PHYS-194). Only the last ones are remembered; addresses are reused late.
 */
#ifndef DXGK_NT_RETIRED_VIEW_H
#define DXGK_NT_RETIRED_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NT_RETIRED_VIEWS 128u /* how many are remembered */

/* The view [address, address + bytes) of `what` is unmapped by `routine`, called at `caller` (NULL:
 * by the host). Includes the rest of its first and last page. Call it while a process's view still
 * is a range of the process (nt/mm/user_range.h). Any level. */
void nt_retired_view_add(const void *address, uint64_t bytes, const char *what, const char *routine,
                         const void *caller);
/* Such as "a view of BAR 2 of refgpu at 0x0 that MmUnmapIoSpace had ended, called at x.so!F+0x12";
 * false: no recently unmapped view was there. */
bool nt_retired_view_at(const void *address, char *text, size_t bytes);
/* Whether an inaccessible address is a kernel address, so that no handler may take the fault: like
 * nt_address_is_kernel, or for a recently unmapped view, what that was (PHYS-194). */
bool nt_retired_view_is_of_kernel(const void *address);

#endif
