/* SPDX-License-Identifier: MIT */
/*
 * Batches of updates (D3DKMTUpdateGpuVirtualAddress): changes of pages in reservations that the
 * scheduler carries out when their turn comes. Theory of operation in va_update.c.
 */
#ifndef DXGK_VIDMM_VA_UPDATE_H
#define DXGK_VIDMM_VA_UPDATE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

#include "vidmm/record/paging_record.h"

struct va_batch;
struct vidmm_context;
struct vidmm_device;

/* The batches of one context: they are carried out in order. Embedded in the scheduler's record. */
struct va_updates {
    struct paging_queue queue;
    struct vidmm_context *companion; /* on which entries are copied; NULL: the CPU writes them */
};

/* Does the GPU write the page tables of the device's process? Then it has a privileged space. */
bool vidmm_updates_by_gpu(const struct vidmm_device *device);
void vidmm_updates_init(struct va_updates *updates, struct vidmm_device *device,
                        struct vidmm_context *companion);
/* Wait until no batch of it is left: all have been run or dropped before (lock not held). */
void vidmm_updates_finish(struct va_updates *updates);

/* Check the operations and take what they need; `operations` is a copy of the client's. On success
 * the batch has to be run or dropped. Lock not held. */
NTSTATUS vidmm_batch_create(struct vidmm_device *device,
                            const D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION *operations, UINT count,
                            struct va_batch **out);
/* Apply it: done(context) is called when the GPU sees the changes, at PASSIVE_LEVEL. Any level up
 * to DISPATCH_LEVEL. */
void vidmm_batch_run(struct va_batch *batch, struct va_updates *updates,
                     void (*done)(void *context), void *context);
/* It will not be run, and was not given to the scheduler. Lock not held. */
void vidmm_batch_discard(struct va_batch *batch);
/* It will not be run, from the levels of vidmm_batch_run. */
void vidmm_batch_drop(struct va_batch *batch, struct va_updates *updates);

#endif
