/* SPDX-License-Identifier: MIT */
/*
 * Special pool, an option: each block ends where a page that is not there begins (NT-025).
 */
#ifndef DXGK_NT_POOL_SPECIAL_H
#define DXGK_NT_POOL_SPECIAL_H

#include <stdbool.h>
#include <stdint.h>

struct nt;
struct nt_block;

bool nt_pool_special_place(struct nt_block *block, bool zero);
void nt_pool_special_retire(struct nt_block *block);
/* A freed block whose view is still kept empty; NULL: none stood at the address. */
struct nt_block *nt_pool_special_retired(const void *address);
void nt_pool_special_finish(struct nt *nt);

/* What a driver's fault at the address is: 0xCD past a block of special pool, 0xCC after its free,
 * 0 neither. */
uint32_t nt_pool_fault(const void *address);

#endif
