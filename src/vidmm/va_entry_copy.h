/* SPDX-License-Identifier: MIT */
/*
 * Writing entries on a companion context, by copying those which map the same pages in the
 * privileged space (GPUVA-142). So they are bound when the GPU executes the copy. Lock held,
 * builder's fiber.
 *
 *     entry_copy_begin; entry_copy_add for each stretch; entry_copy_run until it does not return
 *     STATUS_RETRY; entry_copy_end
 */
#ifndef DXGK_VIDMM_VA_ENTRY_COPY_H
#define DXGK_VIDMM_VA_ENTRY_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "ddi/guarded.h"
#include "util/address.h"
#include "util/list.h"

struct va_piece;
struct vidmm_context;
struct vidmm_space;

struct entry_copy {
    struct vidmm_space *space; /* that is changed; NULL: nothing was begun */
    struct vidmm_context *companion;
    struct list stretches; /* what was added, with the tables that it holds */
    struct list windows;   /* tables that are mapped in the privileged space */
    struct {
        DXGK_BUILDPAGINGBUFFER_COPY_RANGE *range;
        UINT count, room;
    } ranges;
    uint64_t flush_first, flush_end; /* pages */
    struct ddi_guarded lent;         /* the ranges, as the driver gets them */
    struct gpu_va commands;          /* the paging buffer in the privileged space */
    UINT multipass;
    bool prepared, copied, flushed;
    bool busy; /* submitted, and not ended */
};

void entry_copy_begin(struct entry_copy *copy, struct vidmm_space *space,
                      struct vidmm_context *companion);
/* Pages [first, end) of the piece, which is inserted, and whose allocation is resident. On failure
 * nothing is added. */
NTSTATUS entry_copy_add(struct entry_copy *copy, const struct va_piece *piece, uint64_t first,
                        uint64_t end);
/* STATUS_RETRY: the GPU has to go on; the worker is poked. */
NTSTATUS entry_copy_run(struct entry_copy *copy);
/* Nothing of it is submitted any more. What was not copied to the end, or has changed meanwhile in
 * the records, is written as it is there now; then what it holds is given back. */
void entry_copy_end(struct entry_copy *copy);
/* The worker has ended: only the memory of the records is given back. */
void entry_copy_abandon(struct entry_copy *copy);
/* Do copies that are not over change entries of pages [first, end)? */
bool entry_copy_changes(const struct vidmm_space *space, uint64_t first, uint64_t end);

#endif
