/* SPDX-License-Identifier: MIT */
/* Processes on an adapter, their devices, and the paging queues of devices. */
#ifndef DXGK_VIDMM_PROCESS_H
#define DXGK_VIDMM_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct nt_process;
struct vidmm;
struct vidmm_device;
struct vidmm_paging_queue;
struct vidmm_process;
struct vidmm_space;

/* The record of a process on this adapter: created at the first open (DxgkDdiCreateProcess),
 * destroyed at the last close. */
NTSTATUS vidmm_process_open(struct vidmm *vidmm, struct nt_process *process,
                            struct vidmm_process **out);
void vidmm_process_close(struct vidmm_process *process);
/* 0: the process address space is not shared with the device. */
ULONG vidmm_process_pasid(const struct vidmm_process *process);
HANDLE vidmm_process_driver_handle(const struct vidmm_process *process);
struct nt_process *vidmm_process_nt(const struct vidmm_process *process);
struct vidmm_process *vidmm_paging_process(struct vidmm *vidmm);

/* `owner` is vidsch's device, which vidmm_device_owner returns. `driver_device` is what
 * DxgkDdiCreateDevice returned. */
/* It may not own more than all segments together hold (D3DKMT_CREATEDEVICEFLAGS.LegacyMode). */
void vidmm_device_set_legacy(struct vidmm_device *device);
NTSTATUS vidmm_device_create(struct vidmm_process *process, HANDLE driver_device, void *owner,
                             struct vidmm_device **device);
/* Also frees what the client has not: paging queues, opens, residency list. */
void vidmm_device_destroy(struct vidmm_device *device);
/* After DxgkDdiDestroyDevice, or a DxgkDdiCreateDevice that failed: context allocations of the
 * device (named by the handle that the driver got) that were not destroyed are reported and
 * freed (CTXA-066). */
void vidmm_device_gone(struct vidmm *vidmm, HANDLE host_device);
void *vidmm_device_owner(const struct vidmm_device *device);
struct vidmm_process *vidmm_device_process(const struct vidmm_device *device);
/* The device is lost: Lock2, MakeResident, Map... return STATUS_DEVICE_REMOVED from
 * now on (GPUVA-073). */
void vidmm_device_set_lost(struct vidmm_device *device);

/* `progress` is called for each new value of the queue's fence, in order, on the retire fiber. */
NTSTATUS vidmm_paging_queue_create(struct vidmm_device *device, D3DDDI_PAGINGQUEUE_PRIORITY priority,
                                   void (*progress)(void *context, uint64_t value), void *context,
                                   struct vidmm_paging_queue **queue);
/* Waits until its jobs are complete. */
void vidmm_paging_queue_destroy(struct vidmm_paging_queue *queue);
/* Its handle in events (wintrace/emit.h). */
uint64_t vidmm_paging_queue_handle(const struct vidmm_paging_queue *queue);
struct vidmm_device *vidmm_paging_queue_device(const struct vidmm_paging_queue *queue);

#endif
