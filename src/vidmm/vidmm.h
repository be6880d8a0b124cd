/* SPDX-License-Identifier: MIT */
/*
 * The video memory manager of one adapter: its configuration and its life. What it does for the
 * rooms above is in the headers of its parts.
 *
 *   vidmm            segments, paging worker, paging process
 *    +- process      one per client process on the adapter: GPU virtual address space, budget,
 *        |           hKmdProcess                                                       process.h
 *        +- device   residency list (allocation -> count), paging queues    process.h, residency.h
 *        +- context  (embedded in vidsch's context) root page table, context allocations  context.h
 *   allocation       belongs to the adapter; opened by devices (struct vidmm_open = one
 *                    hDeviceSpecificAllocation)                                        allocation.h
 *
 * All functions are for PASSIVE_LEVEL on a simulated thread unless they say otherwise; they may
 * block on sim mutexes and on paging work. Statuses are NTSTATUS as the SEG, ALLOC, RES, PAGE,
 * GPUVA and CTXA rules name them. vidmm.c has the overview by file.
 */
#ifndef DXGK_VIDMM_VIDMM_H
#define DXGK_VIDMM_VIDMM_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct iommu_pasids;
struct vidmm;
struct vidmm_config;
struct vidmm_scheduler;
struct vidmm_statistics;

/* Checks the segment table and MMU description (SEG, GPUVA rules: VIOLATION +
 * STATUS_DEVICE_CONFIGURATION_ERROR) and builds the manager. No DDI is called yet. */
NTSTATUS vidmm_create(const struct vidmm_config *config, struct vidmm **vidmm);
/* The paging process, its address space and page tables, the paging worker thread. The scheduler's
 * system context exists between the two: vidmm_start_process, (vidsch makes system device and
 * context), vidmm_start. */
NTSTATUS vidmm_start_process(struct vidmm *vidmm);
NTSTATUS vidmm_start(struct vidmm *vidmm);
/* Evict everything, end the worker. All client objects are gone before. The second, after the
 * scheduler's system device and context are gone, destroys the paging process. */
void vidmm_stop(struct vidmm *vidmm);
void vidmm_destroy(struct vidmm *vidmm);
/* Surprise removal: nothing is built or submitted any more; requests give STATUS_DEVICE_REMOVED,
 * destruction goes on. */
void vidmm_set_lost(struct vidmm *vidmm);

void vidmm_statistics(const struct vidmm *vidmm, struct vidmm_statistics *statistics);
/* Check every invariant of segments, residency lists and address spaces; for tests. */
bool vidmm_validate(struct vidmm *vidmm);

#endif
