/* SPDX-License-Identifier: MIT */
/*
 * The paging process of an adapter: the address space that paging buffers use. Lock held, except
 * for the functions that the scheduler calls.
 */
#ifndef DXGK_VIDMM_PAGING_PROCESS_H
#define DXGK_VIDMM_PAGING_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct gpu_va;
struct logical_page;
struct vidmm;

NTSTATUS paging_process_create(struct vidmm *vidmm);
/* Make its page tables, write them and announce the root; nothing without GpuMmu. If it fails,
 * paging_process_destroy takes back what was made. */
NTSTATUS paging_process_make_tables(struct vidmm *vidmm);
/* Whether they are made, and the scratch area with them. Without it no content could ever move: a
 * transfer goes through windows of that area, piece by piece. */
NTSTATUS paging_process_check_tables(const struct vidmm *vidmm);
void paging_process_destroy(struct vidmm *vidmm);
/* After the content of memory segments was lost: write its tables again, without paging buffers. */
NTSTATUS paging_process_rebuild(struct vidmm *vidmm);

/* Lock not held. Map the pages of a paging DMA buffer (device pages of contiguous or scattered
 * system memory) in the paging process, for its life. Between vidmm_start_tables and vidmm_start,
 * or on the worker. STATUS_NOT_SUPPORTED without GpuMmu. */
NTSTATUS vidmm_map_paging_buffer(struct vidmm *vidmm, const struct logical_page *logical,
                                 uint64_t pages, struct gpu_va *va);

#endif
