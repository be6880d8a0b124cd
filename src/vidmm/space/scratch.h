/* SPDX-License-Identifier: MIT */
/*
 * The scratch area of the paging process: temporary GPU addresses for the memory that a paging
 * operation accesses. Lock held, builder's fiber. Theory of operation in paging_process.c.
 */
#ifndef DXGK_VIDMM_SCRATCH_H
#define DXGK_VIDMM_SCRATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct gpu_mmu;
struct gpu_va;
struct page_table;
struct paging_deferred;
struct vidmm;
struct vidmm_allocation;
struct vidmm_run;

/* Map runs in the scratch area for the operations that are built next. scratch_release may be
 * called as soon as those are built: the addresses are reused only after the GPU is done with them.
 * Builds UPDATE_PAGE_TABLE and FLUSH_TLB. The caller handles larger allocations in chunks of
 * scratch_limit() pages. Two mappings of that size fit at once; if addresses are not free yet,
 * scratch_map waits for the GPU (paging_settle). */
NTSTATUS scratch_map(struct vidmm *vidmm, const struct vidmm_run *runs, uint32_t run_count,
                     bool read_only, struct gpu_va *va);
void scratch_release(struct vidmm *vidmm, struct gpu_va va, uint64_t pages);
uint64_t scratch_limit(const struct vidmm *vidmm);

/* Map part of an allocation, from `page` on; `runs` are the places of its pages, beginning
 * with that page. Entries carry its handle and offset. The driver protection must be the same
 * for all these pages. */
NTSTATUS scratch_map_allocation(struct vidmm *vidmm, const struct vidmm_allocation *allocation,
                                uint64_t page, const struct vidmm_run *runs, uint32_t run_count,
                                bool read_only, struct gpu_va *va);
/* The GPU address, in the paging process, of the leaf table that maps a scratch address; 0 unless
 * the driver's caps need it (GPUVA-235: TransferVirtual.SourcePageTable where
 * LegacyBehaviors.SourcePageTableVaInTransfer is set). */
struct gpu_va scratch_table(const struct vidmm *vidmm, struct gpu_va va);
/* Must the leaf tables of the scratch area be mapped in the paging process? True if tables are
 * written by GPU address, or the driver wants the page table of a transfer's source (GPUVA-235). */
bool scratch_needs_tables(const struct gpu_mmu *mmu);
/* GPU_VIRTUAL: maps page tables so that they can be written. Does not fail for lack of memory. */
extern const struct table_windows scratch_table_windows;

#endif
