/* SPDX-License-Identifier: MIT */
/*
 * What the GPU would find in the page tables that the driver was told to write: a model of them, from the operations and roots
 * that a started adapter of the probe got (4 levels of 512 entries, all tables in segment 1). All update modes.
 *
 *     va_shadow_begin(p);                                before the start; takes CreateContext, SetRootPageTable and
 *                                                        BuildPagingBuffer, whose test hooks go to va_shadow.operation
 *     va_shadow_walk(context, va, &entry);               context: the driver's handle of one
 */
#ifndef DXGK_TESTS_PORT_VA_SHADOW_H
#define DXGK_TESTS_PORT_VA_SHADOW_H

#include "port/support/probe.h"

#define VA_SHADOW_CONTEXTS 16u

struct va_shadow_context {
    HANDLE handle, device; /* the driver's */
    UINT node;
    DXGK_CREATECONTEXTFLAGS flags;
    bool private_data, destroyed;
    uint64_t root, created, announced,
        gone; /* offset of the root; order of the calls, UINT64_MAX: none */
};

extern struct va_shadow {
    probe_hook *operation; /* before the operation takes effect here */
    probe_hook *created;   /* after CreateContext, before the context is recorded */
    UINT ranges_per_call;  /* of COPY_PAGE_TABLE_ENTRIES, for which the driver has room; 0: all */
    bool late;             /* ranges that are copied wait for va_shadow_copy_late */
    unsigned waiting;      /* ranges */
    struct va_shadow_context context[VA_SHADOW_CONTEXTS]; /* in order of creation */
    unsigned contexts;
} va_shadow;

void va_shadow_begin(struct probe *p);
/* The GPU copies only now what was built while `late` was set. */
void va_shadow_copy_late(void);
struct va_shadow_context *va_shadow_find(HANDLE context);
/* Level 0 entry of the address, or the entry above which says Zero, is a large page or is invalid (all zeroes). */
DXGK_PTE va_shadow_walk(const struct va_shadow_context *context, uint64_t va);
/* Page of the segment where the leaf table of the address is. */
uint64_t va_shadow_leaf(const struct va_shadow_context *context, uint64_t va);
/* Is the page of the address what an allocation's page is? */
static inline bool va_shadow_is(const struct va_shadow_context *context, uint64_t va, UINT segment,
                                uint64_t page)
{
    const DXGK_PTE entry = va_shadow_walk(context, va);

    return entry.Valid && !entry.Zero && entry.Segment == segment && entry.PageAddress == page;
}

#endif
