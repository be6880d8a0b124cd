/* SPDX-License-Identifier: MIT */
/*
 * Page tables that leave their segment, and come back (builder's fiber, lock held). Theory of
 * operation in table_residency.c.
 */
#ifndef DXGK_VIDMM_TABLE_RESIDENCY_H
#define DXGK_VIDMM_TABLE_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct page_table;
struct vidmm_space;

/* How long tables stay, compared with allocations (RES-053): allocations of up to this priority go
 * before them. */
#define TABLE_PRIORITY D3DDDI_ALLOCATIONPRIORITY_MAXIMUM

/* Has the space tables in the segment that could leave it, once none of its contexts executes? */
bool tables_evictable(const struct vidmm_space *space, UINT segment);
/* Evict tables of the space from the segment, lower ones first, until at least that many pages are
 * free; or all. None of its contexts executes. Returns the pages. */
uint64_t tables_evict(struct vidmm_space *space, UINT segment, uint64_t pages);
/* Have one table leave those pages of its segment: for others of it, or, if there are none, or if
 * it is a root or has a twin, for good. None of the contexts of its space executes. False: it
 * stays. */
bool tables_move(struct page_table *table, uint64_t hole, uint64_t pages);
/* Bring back all that have left, and announce the root if it is one of them (the lock is dropped
 * meanwhile). On failure some may be back: STATUS_RETRY, STATUS_NO_MEMORY, ... */
NTSTATUS tables_return(struct vidmm_space *space);
/* None leaves from now on. On failure nothing has changed; the lock may be dropped meanwhile. */
NTSTATUS tables_stay(struct vidmm_space *space);

#endif
