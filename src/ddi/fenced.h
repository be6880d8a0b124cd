/* SPDX-License-Identifier: MIT */
/*
 * Memory for drivers that ends where an inaccessible page begins, so that an access past its end,
 * also a read, faults at its place (LIFE-191). For machines with special pool, which do the same
 * with the pool: there, all that is lent lies in such memory.
 *
 * It begins at a multiple of the largest power of two (up to 16) that divides its size: enough for
 * a structure of that size, or an array of them. Data that only its driver and its client know has
 * any size, and may hold anything: it begins at a multiple of DDI_FENCED_ALIGNMENT, and known bytes
 * fill what that leaves up to the fence.
 */
#ifndef DXGK_DDI_FENCED_H
#define DXGK_DDI_FENCED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/list.h"

#define DDI_FENCED_BEFORE    2048u /* bytes of the zone in front */
#define DDI_FENCED_ALIGNMENT 8u    /* of data of unknown contents */

struct ddi_fenced;
struct ddi_state;

/* Whether this machine has fences. */
bool ddi_fences(void);
/* Not cleared, with a zone of known bytes in front and, where the alignment (1 or
 * DDI_FENCED_ALIGNMENT) leaves room, behind; `what`, a literal, is for reports. Any IRQL.
 * NULL: out of memory. */
struct ddi_fenced *ddi_fenced_take(size_t bytes, size_t alignment, const char *what);
/* Bytes between the end and the fence. */
static inline size_t ddi_fenced_slack(size_t bytes, size_t alignment)
{
    return -bytes & (alignment - 1);
}
uint8_t *ddi_fenced_data(const struct ddi_fenced *fenced);
/* The memory is inaccessible from now on, for a while. */
void ddi_fenced_give(struct ddi_fenced *fenced);
/* Free what the machine of `state` has left. */
void ddi_fenced_finish(struct ddi_state *state);

/* Other memory, of whole pages, behind which an inaccessible page is. */
struct ddi_fence {
    struct list link;
    const char *what;
    const uint8_t *data;
    size_t bytes;
};

/* Tell of it, so that reports name it. */
void ddi_fence_put(struct ddi_fence *fence);
void ddi_fence_remove(struct ddi_fence *fence);

/* What an address is beside. */
struct ddi_fence_hit {
    const char *what;
    size_t bytes;
    ptrdiff_t offset; /* from the start of the memory */
    bool late;        /* it is no longer lent */
};

/* Whether the address is in a fence, or in memory that was given back. */
bool ddi_fence_at(uintptr_t address, struct ddi_fence_hit *hit);

#endif
