/* SPDX-License-Identifier: MIT */
/*
 * The pool: blocks of simulated RAM. Drivers allocate through pool_api.c, other services through
 * this header; the host finds a block by any address in it.
 */
#ifndef DXGK_NT_POOL_H
#define DXGK_NT_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "nt/base/active.h"
#include "nt/base/resource.h"
#include "util/list.h"

struct nt_pool_page;

struct nt_block {
    struct nt_resource resource;
    struct list actives; /* struct nt_active: timers, DPCs, ... inside the block */
    struct list retired; /* in quarantine */
    struct nt_pool_page *page;
    uint8_t *address;
    uint64_t bytes; /* requested size */
    uint64_t room;  /* from its start to the end of the slot */
    uint32_t front; /* guard bytes before its start */
    uint32_t tag;
    bool paged;
    bool executable;
    bool freed;
};

enum nt_pool_kind {
    NT_POOL_NONPAGED,
    NT_POOL_PAGED,
    NT_POOL_EXECUTABLE, /* NT-012: nonpaged, and code in it can run */
};

struct nt_block *nt_pool_take(uint64_t bytes, uint32_t tag, enum nt_pool_kind kind, bool zero,
                              const void *caller);
void nt_pool_give(struct nt_block *block);
/* Free quarantined blocks, oldest first, until at most this many bytes are kept. */
void nt_pool_flush_quarantine(uint64_t keep_bytes);
/* Four characters, the first in the low byte; unprintable ones become a dot. */
void nt_pool_tag_text(uint32_t tag, char text[5]);
/* The block that contains the byte, live or in quarantine; NULL: no pool memory, or between
 * blocks. */
struct nt_block *nt_pool_find(const void *address);

/* For reports. */
struct nt_pool_statistics {
    uint64_t live_blocks, live_bytes, peak_bytes, allocations;
};
void nt_pool_statistics(struct nt_pool_statistics *statistics);

#endif
