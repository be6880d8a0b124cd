/* SPDX-License-Identifier: MIT */
/*
 * The privileged address space of a process, in which its companion contexts copy page-table
 * entries (GPUVA-042, GPUVA-043): it maps whole tile pools, and page tables while they are copied
 * from or to. No address of it is given to a client. Lock held.
 */
#ifndef DXGK_VIDMM_PRIVILEGED_SPACE_H
#define DXGK_VIDMM_PRIVILEGED_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct gpu_va;
struct page_table;
struct va_piece;
struct vidmm_process;
struct vidmm_run;
struct vidmm_space;

/* Make it, unless it exists or the CPU writes the page tables of the adapter. The lock may be
 * dropped meanwhile. */
NTSTATUS privileged_space_create(struct vidmm_process *process);
/* The page at which the whole allocation of a piece is mapped with the protections of the piece
 * (GPUVA-146); it is mapped if it is not yet (builder's fiber). It stays so until the allocation
 * ends. */
NTSTATUS privileged_space_pool(struct vidmm_space *space, const struct va_piece *piece,
                               uint64_t *first);
/* Map a page table at a boundary of 64 KB (GPUVA-145), or other memory, from which commands are
 * fetched; space_unmap_internal ends it (builder's fiber). */
NTSTATUS privileged_space_map_table(struct vidmm_space *space, const struct page_table *table,
                                    struct gpu_va *va);
NTSTATUS privileged_space_map_commands(struct vidmm_space *space, const struct vidmm_run *run,
                                       struct gpu_va *va);

#endif
