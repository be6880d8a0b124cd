/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   A block is a header followed by the caller's bytes. The header names the heap the block is
 *   counted in and links it to the heap's list, so freeing needs no lookup and a heap can be
 *   emptied without knowing who holds what. Blocks allocated without a current heap have a NULL
 *   heap and are on no list.
 *
 *   Injection comes before the C library is called: request number `fail_at` (with `fail_onward`,
 *   all later ones too) gets NULL. A test runs an operation with fail_at = requests + 1, + 2, ...
 *   until it passes without a failure.
 */
#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

struct util_heap_block {
    struct util_heap_block *next;
    struct util_heap_block *prev;
    struct util_heap *heap;
    size_t size;
};

_Static_assert(sizeof(struct util_heap_block) % _Alignof(max_align_t) == 0,
               "payload must be aligned for any type");

_Thread_local struct util_heap *util_heap_current;

static void *payload(struct util_heap_block *block)
{
    return block + 1;
}

static struct util_heap_block *header(void *memory)
{
    return (struct util_heap_block *)memory - 1;
}

static void link_block(struct util_heap *heap, struct util_heap_block *block)
{
    block->heap = heap;
    block->prev = NULL;
    block->next = NULL;
    if (!heap)
        return;
    block->next = heap->first;
    if (heap->first)
        heap->first->prev = block;
    heap->first = block;
    heap->live_blocks++;
    heap->live_bytes += block->size;
}

static void unlink_block(struct util_heap_block *block)
{
    struct util_heap *heap = block->heap;

    if (!heap)
        return;
    if (block->prev)
        block->prev->next = block->next;
    else
        heap->first = block->next;
    if (block->next)
        block->next->prev = block->prev;
    heap->live_blocks--;
    heap->live_bytes -= block->size;
}

bool util_fault_point(void)
{
    struct util_heap *heap = util_heap_current;

    if (!heap)
        return false;
    heap->requests++;
    if (heap->fail_at == 0 || heap->requests < heap->fail_at)
        return false;
    if (heap->requests > heap->fail_at && !heap->fail_onward)
        return false;
    heap->failures++;
    heap->refused++;
    return true;
}

/* The C library has no memory left. */
static void *none(void)
{
    if (util_heap_current)
        util_heap_current->refused++;
    return NULL;
}

static void *allocate(size_t size, bool zero)
{
    struct util_heap_block *block;
    size_t total;

    if (util_fault_point())
        return NULL;
    if (__builtin_add_overflow(size, sizeof(*block), &total))
        return none();
    block = zero ? calloc(1, total) : malloc(total);
    if (!block)
        return none();
    block->size = size;
    link_block(util_heap_current, block);
    return payload(block);
}

void *util_alloc(size_t size)
{
    return allocate(size, false);
}

void *util_zalloc(size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX; /* still counts as a request, which then fails */
    return allocate(bytes, true);
}

void *util_realloc(void *memory, size_t size)
{
    struct util_heap_block *old, *block;
    struct util_heap *heap;
    size_t total;

    if (!memory)
        return util_alloc(size);
    if (util_fault_point())
        return NULL;
    if (__builtin_add_overflow(size, sizeof(*block), &total))
        return NULL;
    old = header(memory);
    heap = old->heap;
    unlink_block(old);
    block = realloc(old, total);
    if (!block) {
        link_block(heap, old);
        return none();
    }
    block->size = size;
    link_block(heap, block);
    return payload(block);
}

void util_free(void *memory)
{
    struct util_heap_block *block;

    if (!memory)
        return;
    block = header(memory);
    unlink_block(block);
    free(block);
}

char *util_strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = util_alloc(bytes);

    if (copy)
        memcpy(copy, text, bytes);
    return copy;
}

uint64_t util_heap_release(struct util_heap *heap)
{
    uint64_t released = 0;

    while (heap->first) {
        struct util_heap_block *block = heap->first;

        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the first block has no predecessor. */
        unlink_block(block);
        free(block);
        released++;
    }
    return released;
}
