/* SPDX-License-Identifier: MIT */
/* Memory of monitored fences and paging queues: 8-byte slots that the GPU, the client and
 * the host can access. */
#ifndef DXGK_VIDMM_FENCE_MEMORY_H
#define DXGK_VIDMM_FENCE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "util/address.h"

struct vidmm_process;

struct vidmm_fence_slot {
    volatile uint64_t *kernel; /* the host's address */
    void *client;              /* the client's read-only CPU address */
    struct gpu_va va;          /* 0 without GpuMmu */
    void *page;                /* private */
};
NTSTATUS vidmm_fence_slot_create(struct vidmm_process *process, struct vidmm_fence_slot *slot);
void vidmm_fence_slot_destroy(struct vidmm_process *process, struct vidmm_fence_slot *slot);

/* The process is being destroyed: free all its pages, and wait until that is done.
 * Lock not held. */
void fence_memory_finish(struct vidmm_process *process);

#endif
