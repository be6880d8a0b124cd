/* SPDX-License-Identifier: MIT */
/*
 * The root page table of a space: creating it, making it larger, and announcing it, that is,
 * telling the driver which root a context uses. Lock held.
 */
#ifndef DXGK_VIDMM_ROOT_TABLE_H
#define DXGK_VIDMM_ROOT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct page_table;
struct vidmm;
struct vidmm_context;
struct vidmm_space;

/* Create the initial root. STATUS_NO_MEMORY: no room in the segment (only on the worker
 * does this evict). */
NTSTATUS root_create(struct vidmm_space *space);
/* Does the root translate addresses up to `end` (pages)? Always true if it is not resizable. */
bool root_covers(const struct vidmm_space *space, uint64_t end);
/* Make the root reach `end`, or give it `entries` entries. Builder's fiber; the lock is dropped
 * while the new root is announced. STATUS_RETRY and other failures as tables_hold. */
NTSTATUS root_cover(struct vidmm_space *space, uint64_t end);
NTSTATUS root_resize(struct vidmm_space *space, uint32_t entries);

/* ---- announcing (lock dropped meanwhile) ---- */

/* The address space of the context (GPUVA-158); NULL: it has none. */
struct vidmm_space *space_of_context(const struct vidmm_context *context);
/* DxgkDdiSetRootPageTable for one context, and for every context of the space's process. */
void root_announce_to(struct vidmm_space *space, const struct vidmm_context *context);
void root_announce(struct vidmm_space *space);
/* Wait until no thread is announcing the root. */
void root_wait_announced(struct vidmm_space *space);

/* Announce the root to all contexts of the adapter, after space_rebuild_all. */
void root_announce_all(struct vidmm *vidmm);

#endif
