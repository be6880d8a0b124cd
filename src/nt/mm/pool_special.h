/* SPDX-License-Identifier: MIT */
/*
 * Special pool, an option: each block ends where an inaccessible page begins (NT-025).
 */
#ifndef DXGK_NT_POOL_SPECIAL_H
#define DXGK_NT_POOL_SPECIAL_H

#include <stdbool.h>
#include <stdint.h>

struct nt;
struct nt_block;

bool nt_pool_special_place(struct nt_block *block, bool zero);
void nt_pool_special_retire(struct nt_block *block);
/* The freed block whose inaccessible view contains the address; NULL: there is none. */
struct nt_block *nt_pool_special_retired(const void *address);
void nt_pool_special_finish(struct nt *nt);

/* The bug check code of a driver's fault at the address: 0xCD past a block of special pool, 0xCC
 * after its free, 0 neither. */
uint32_t nt_pool_fault(const void *address);

#endif
