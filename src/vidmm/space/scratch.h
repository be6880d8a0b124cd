/* SPDX-License-Identifier: MIT */
/*
 * The scratch area of the paging process: addresses by which an operation in a paging buffer
 * reaches memory. Lock held, builder's fiber. Theory of operation in paging_process.c.
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

/* Map runs in the scratch area for the operations built next; valid until scratch_release, which
 * may be called right after the operation was built (the space is reused only after the ticket of
 * the flush that follows). Appends UPDATE_PAGE_TABLE and FLUSH_TLB. Allocations larger than
 * scratch_limit() pages are done in chunks by the caller. Two mappings of scratch_limit() pages fit
 * at once; where space waits for its ticket, scratch_map settles (paging_settle). */
NTSTATUS scratch_map(struct vidmm *vidmm, const struct vidmm_run *runs, uint32_t run_count,
                     bool read_only, struct gpu_va *va);
void scratch_release(struct vidmm *vidmm, struct gpu_va va, uint64_t pages);
uint64_t scratch_limit(const struct vidmm *vidmm);

/* scratch_map of an allocation from `page` on: `runs` say where it is, starting with that page.
 * Entries carry its handle and offset. The runs must not reach over a change of driver
 * protection. */
NTSTATUS scratch_map_allocation(struct vidmm *vidmm, const struct vidmm_allocation *allocation,
                                uint64_t page, const struct vidmm_run *runs, uint32_t run_count,
                                bool read_only, struct gpu_va *va);
/* GPU address, in the paging process, of the leaf table that maps a scratch address; 0 unless the
 * driver's caps call for it (GPUVA-235: TransferVirtual.SourcePageTable where
 * LegacyBehaviors.SourcePageTableVaInTransfer is set). */
struct gpu_va scratch_table(const struct vidmm *vidmm, struct gpu_va va);
/* The paging process needs addresses of its own leaf tables: it edits tables by GPU address, or is
 * to say where a source is mapped (GPUVA-235). */
bool scratch_needs_tables(const struct gpu_mmu *mmu);
/* GPU_VIRTUAL: page tables mapped so that they can be edited. Mapping does not fail for want of
 * memory. */
extern const struct table_windows scratch_table_windows;

#endif
