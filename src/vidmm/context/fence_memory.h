/* SPDX-License-Identifier: MIT */
/* Memory of monitored fences and paging queues: 8-byte slots that the GPU, the client and
 * the host can access. */
#ifndef DXGK_VIDMM_FENCE_MEMORY_H
#define DXGK_VIDMM_FENCE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "util/address.h"

struct vidmm;
struct vidmm_fence_memory;
struct vidmm_process;

struct vidmm_fence_slot {
    volatile uint64_t *kernel; /* the host's address */
    void *client;              /* the client's read-only CPU address */
    struct gpu_va va;          /* 0 without GpuMmu */
    void *page;                /* private */
};
NTSTATUS vidmm_fence_slot_create(struct vidmm_process *process, struct vidmm_fence_slot *slot);
void vidmm_fence_slot_destroy(struct vidmm_process *process, struct vidmm_fence_slot *slot);

/* Memory for one fence that several processes of the adapter share: zeroed, with one reference.
 * `process` only names the adapter. PASSIVE_LEVEL, as the rest. Source: KMT-360. */
NTSTATUS vidmm_fence_memory_create(struct vidmm_process *process, struct vidmm_fence_memory **out);
volatile uint64_t *vidmm_fence_memory_kernel(struct vidmm_fence_memory *memory);
/* Drops the reference; the slots that were opened have theirs. */
void vidmm_fence_memory_release(struct vidmm_fence_memory *memory);
/* A slot over that memory with addresses of the process, which vidmm_fence_slot_destroy ends.
 * `gpu` false: without one for the GPU (KMT-362). */
NTSTATUS vidmm_fence_slot_open(struct vidmm_process *process, struct vidmm_fence_memory *memory,
                               bool gpu, struct vidmm_fence_slot *slot);
/* The same for the GPU alone: the client has no address of it, unless the device shares the
 * client's. */
NTSTATUS vidmm_fence_slot_open_gpu(struct vidmm_process *process, struct vidmm_fence_memory *memory,
                                   struct vidmm_fence_slot *slot);

/* Such memory for the adapter itself, and its device page. */
NTSTATUS fence_memory_make(struct vidmm *vidmm, struct vidmm_fence_memory **out);
struct logical_page fence_memory_page(const struct vidmm_fence_memory *memory);

/* The process is being destroyed: free all its pages, and wait until that is done.
 * Lock not held. */
void fence_memory_finish(struct vidmm_process *process);

#endif
