/* SPDX-License-Identifier: MIT */
/* The end of a pool that is never given back (NT-200). */
#ifndef DXGK_NT_POOL_LIMIT_H
#define DXGK_NT_POOL_LIMIT_H

#include <stdint.h>

struct nt_block;

#define NT_POOL_LIMIT_BYTES  ((uint64_t)2 << 30) /* unless it is configured */
#define NT_POOL_LIMIT_BLOCKS 4000000u
#define NT_POOL_LIMIT_FAILED 1000000u /* requests in a row */

/* A block was taken for the current image; NULL: a request failed for want of memory. Stops the
 * machine at the limit, with who has most of the pool. */
void nt_pool_limit_check(const struct nt_block *block);

#endif
