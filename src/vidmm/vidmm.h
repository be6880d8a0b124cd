/* SPDX-License-Identifier: MIT */
/*
 * The video memory manager of one adapter: its configuration, start and stop. The headers of its
 * parts have what it does for the rooms above.
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
 * block on sim mutexes and on paging work. They return the NTSTATUS values of the SEG, ALLOC, RES,
 * PAGE, GPUVA and CTXA rules. vidmm.c has the overview by file.
 */
#ifndef DXGK_VIDMM_VIDMM_H
#define DXGK_VIDMM_VIDMM_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct gpu_va;
struct iommu_pasids;
struct vidmm;
struct vidmm_config;
struct vidmm_scheduler;
struct vidmm_statistics;

/* Check the segment table and the MMU description (SEG, GPUVA rules: VIOLATION +
 * STATUS_DEVICE_CONFIGURATION_ERROR), and create the manager. Calls no DDI. */
NTSTATUS vidmm_create(const struct vidmm_config *config, struct vidmm **vidmm);
/* vidmm_start_process creates the paging process. Then vidsch creates the system devices and the
 * system context, and calls vidmm_start_tables, which makes and writes the page tables of the
 * paging process (GPUVA-222; nothing without GpuMmu). vidmm_start then starts the paging worker. */
NTSTATUS vidmm_start_process(struct vidmm *vidmm);
NTSTATUS vidmm_start_tables(struct vidmm *vidmm);
/* The paging fence, from then on if paging goes to a hardware queue. False: there is none. */
bool vidmm_paging_fence(const struct vidmm *vidmm, struct gpu_va *va, volatile uint64_t **value);
NTSTATUS vidmm_start(struct vidmm *vidmm);
/* vidmm_stop ends the paging worker and waits for its operations; all client objects must have been
 * destroyed. vidmm_destroy, after the scheduler's system device and context are destroyed, destroys
 * the paging process and the manager. */
void vidmm_stop(struct vidmm *vidmm);
void vidmm_destroy(struct vidmm *vidmm);
/* Surprise removal: nothing is built or submitted any more, requests return STATUS_DEVICE_REMOVED,
 * and destroying objects still works. */
void vidmm_set_lost(struct vidmm *vidmm);
bool vidmm_is_lost(const struct vidmm *vidmm);

void vidmm_statistics(const struct vidmm *vidmm, struct vidmm_statistics *statistics);
/* Check every invariant of segments, residency lists and address spaces; for tests. */
bool vidmm_validate(struct vidmm *vidmm);

/* As events of Windows' provider (wintrace/emit.h): the segments; these and all allocations with
 * their opens. */
void vidmm_tell_segments(const struct vidmm *vidmm);
void vidmm_tell_all(const struct vidmm *vidmm);

#endif
