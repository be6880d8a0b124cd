/* SPDX-License-Identifier: MIT */
/*
 * Heap memory of the library. Every room allocates from here, for three reasons: any single
 * allocation can be made to fail (fault injection), live allocations can be counted (leak check),
 * and a machine that was stopped in the middle of a call can be torn down without unwinding
 * (util_heap_release frees whatever is still allocated).
 *
 * One thread-local pointer names the current heap; if it is NULL, plain malloc is used and nothing
 * is counted. Blocks remember their heap, so util_free does not need a current heap.
 */
#ifndef DXGK_UTIL_ALLOC_H
#define DXGK_UTIL_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct util_heap_block; /* private */

struct util_heap {
    struct util_heap_block *first; /* all live blocks, newest first */
    uint64_t live_blocks;
    uint64_t live_bytes;
    uint64_t requests; /* allocation requests so far, failed ones included */
    uint64_t fail_at;  /* number (1-based) of the request to fail; 0: none */
    uint64_t failures; /* requests that injection made fail */
    uint64_t refused;  /* requests that failed, injected or not */
    bool fail_onward;  /* fail every request from fail_at on, not only that one */
};

extern _Thread_local struct util_heap *util_heap_current;

/* Uninitialized memory, aligned for any type. NULL: out of memory, or an injected failure. A size
 * of 0 gives a unique block. */
void *util_alloc(size_t size);
/* Zeroed array; NULL also when count * size overflows. */
void *util_zalloc(size_t count, size_t size);
/* Like realloc: on failure it returns NULL, and the old block is unchanged. */
void *util_realloc(void *block, size_t size);
void util_free(void *block);
char *util_strdup(const char *text);

/* Whether the next internal request should fail; for resources that are not heap blocks (stacks,
 * mappings, frames). */
bool util_fault_point(void);

/* Free every block still linked to the heap. Returns how many there were. */
uint64_t util_heap_release(struct util_heap *heap);

#endif
