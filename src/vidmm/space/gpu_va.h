/* SPDX-License-Identifier: MIT */
/*
 * Requests for GPU virtual addresses: of clients (map, reserve, free), and of the driver for its
 * own page tables.
 */
#ifndef DXGK_VIDMM_GPU_VA_H
#define DXGK_VIDMM_GPU_VA_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct ddi_adapter;
struct vidmm_paging_queue;
struct vidmm_process;

NTSTATUS vidmm_map_gpu_va(struct vidmm_paging_queue *queue, D3DDDI_MAPGPUVIRTUALADDRESS *args);
/* All of an allocation, readable and writable, until it is closed; complete on return. */
NTSTATUS vidmm_map_for_host(struct vidmm_process *process, D3DKMT_HANDLE handle, uint64_t pages,
                            D3DGPU_VIRTUAL_ADDRESS *va);
NTSTATUS vidmm_reserve_gpu_va(struct vidmm_process *process, struct vidmm_paging_queue *queue,
                              D3DDDI_RESERVEGPUVIRTUALADDRESS *args);
NTSTATUS vidmm_free_gpu_va(struct vidmm_process *process, D3DGPU_VIRTUAL_ADDRESS base,
                           D3DGPU_SIZE_T size);

NTSTATUS vidmm_cb_reserve_gpu_va(struct ddi_adapter *adapter,
                                 DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *args);

#endif
