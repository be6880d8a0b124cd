/* SPDX-License-Identifier: MIT */
/*
 * Forced IRQL checking, an option: paged pool is inaccessible at raised levels (THREAD-005).
 */
#ifndef DXGK_NT_PAGED_H
#define DXGK_NT_PAGED_H

#include <stdbool.h>
#include <stdint.h>

struct nt_block;

/* Make a new block's view inaccessible; and drop the open pages of a block that is freed. */
bool nt_paged_protect(const struct nt_block *block);
void nt_paged_forget(const struct nt_block *block);
/* Called in a signal handler: open a page of paged pool for an access below DISPATCH_LEVEL. False:
 * it is no such page. */
bool nt_paged_open(uintptr_t address);
/* The level was raised. */
void nt_paged_close(void);
/* Whether the address is in paged pool, in a machine with forced IRQL checking. */
bool nt_paged_fault(const void *address);

#endif
