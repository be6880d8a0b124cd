/* SPDX-License-Identifier: MIT */
/* Copying what the pages of one range are to another range (GPUVA-133). Lock held, builder's
 * fiber. */
#ifndef DXGK_VIDMM_VA_RANGE_COPY_H
#define DXGK_VIDMM_VA_RANGE_COPY_H

#include <stdint.h>

#include <ntddk.h>

struct va_range;

/* `pages` pages of `target` from page `first` on become what those of `source` from page `from` on
 * are; the two may overlap. The caller writes the entries. Fails as tables_hold, with nothing
 * changed. */
NTSTATUS range_copy(struct va_range *target, uint64_t first, const struct va_range *source,
                    uint64_t from, uint64_t pages);

#endif
