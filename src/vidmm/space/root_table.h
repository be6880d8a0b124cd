/* SPDX-License-Identifier: MIT */
/*
 * The root page table of a space: making it, making it larger, and telling the driver which one
 * contexts run with. Lock held.
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

/* The root that a space begins with, if it has none yet. STATUS_NO_MEMORY: no room in the segment,
 * unless the worker makes some. */
NTSTATUS root_create(struct vidmm_space *space);
/* Does the root reach `end` (pages)? Always, unless it is resizable. */
bool root_covers(const struct vidmm_space *space, uint64_t end);
/* Builder's fiber; the lock is dropped while the new root is announced. STATUS_RETRY and others as
 * tables_hold. */
NTSTATUS root_cover(struct vidmm_space *space, uint64_t end);
NTSTATUS root_resize(struct vidmm_space *space, uint32_t entries);

/* ---- telling the driver (lock dropped meanwhile) ---- */

/* The space that the context runs in (GPUVA-158); NULL: none. */
struct vidmm_space *space_of_context(const struct vidmm_context *context);
/* DxgkDdiSetRootPageTable for one context, and for every context of the space's process. */
void root_announce_to(struct vidmm_space *space, const struct vidmm_context *context);
void root_announce(struct vidmm_space *space);
/* Wait until no thread is in the middle of an announcement. */
void root_wait_announced(struct vidmm_space *space);

/* For all contexts of the adapter, after space_rebuild_all. */
void root_announce_all(struct vidmm *vidmm);

#endif
