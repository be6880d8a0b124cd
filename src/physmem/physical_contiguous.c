/* SPDX-License-Identifier: MIT */
/* DxgkCbAllocateContiguousMemory and DxgkCbFreeContiguousMemory. */
#include "physmem/physical_services.h"

#include <string.h>

#include "physmem/physical_backing.h"
#include "physmem/physical_gate.h"
#include "physmem/physical_pages.h"
#include "physmem/physical_record.h"
#include "physmem/physical_refuse.h"
#include "physmem/physical_tracked.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/verify.h"

#define CANARY 0xC7 /* fills the space from the last requested byte to the end of its page */

struct contiguous_block {
    struct physical_tracked tracked; /* bytes: the requested size */
    struct physical_backing backing;
    char *view;
    bool guarded; /* the block has its own view */
};

static uint64_t tail_bytes(const struct contiguous_block *block)
{
    return block->backing.pages * PAGE_BYTES - block->tracked.bytes;
}

static char *tail(const struct contiguous_block *block)
{
    return (char *)ram_direct(block->tracked.memory->ram, page_phys(block->backing.first)) +
           block->tracked.bytes;
}

static bool canary_lives(const struct contiguous_block *block)
{
    const char *at = tail(block);

    for (uint64_t i = 0; i < tail_bytes(block); i++)
        if (at[i] != (char)CANARY)
            return false;
    return true;
}

/* Give the block its own view, which faults once the block is freed (PHYS-054). Without guard, or
 * when the process has no more mappings, the direct view of RAM is used. */
static void make_view(struct contiguous_block *block, struct physical_memory *memory)
{
    struct ram_view_source source = {
        .file = -1, .page = block->backing.first.value, .writable = true};

    block->guarded = false;
    block->view = memory->guard ? ram_view_reserve(memory->ram, block->backing.pages) : NULL;
    if (block->view) {
        block->guarded = ram_view_point_run(memory->ram, block->view, 0, &source,
                                            block->backing.pages);
        if (!block->guarded)
            ram_view_release(memory->ram, block->view, block->backing.pages);
    }
    if (!block->guarded)
        block->view = ram_direct(memory->ram, page_phys(block->backing.first));
}

static void drop_view(struct contiguous_block *block, struct physical_memory *memory)
{
    if (block->guarded)
        ram_view_release(memory->ram, block->view, block->backing.pages);
}

/* Make the view and the device mapping. On failure, neither exists. */
static bool expose(struct contiguous_block *block, struct physical_adapter *adapter)
{
    make_view(block, adapter->memory);
    if (physical_backing_map(adapter->domain, &block->backing))
        return true;
    drop_view(block, adapter->memory);
    return false;
}

static void conceal(struct contiguous_block *block, struct physical_adapter *adapter)
{
    const struct physical_hooks *hooks = &adapter->memory->hooks;

    if (block->guarded && hooks->view_ends)
        hooks->view_ends(hooks->context, block->view, block->backing.pages * PAGE_BYTES,
                         "a contiguous block");
    physical_backing_unmap(adapter->domain, &block->backing);
    drop_view(block, adapter->memory);
}

static enum ram_cache block_cache(const struct physical_tracked *tracked)
{
    const struct contiguous_block *block = CONTAINER(tracked, const struct contiguous_block,
                                                     tracked);

    return ram_page_cache(tracked->memory->ram, physical_backing_page(&block->backing, 0));
}

static void block_free(struct physical_tracked *tracked)
{
    struct contiguous_block *block = CONTAINER(tracked, struct contiguous_block, tracked);

    if (!canary_lives(block))
        VIOLATION("PHYS-046", "bytes behind the %llu of a contiguous block were written to",
                  (unsigned long long)tracked->bytes);
    conceal(block, tracked->adapter);
    physical_backing_give(tracked->memory, &block->backing);
    physical_tracked_remove(tracked);
    util_free(block);
}

static const struct physical_class block_class = {
    .kind = PHYSICAL_CONTIGUOUS, .free = block_free, .cache = block_cache};

static NTSTATUS build(struct physical_adapter *adapter,
                      const DXGKARGCB_ALLOCATECONTIGUOUSMEMORY *args, struct contiguous_block *block)
{
    struct physical_memory *memory = adapter->memory;
    struct physical_contiguous_limits limits = {
        .bytes = args->NumberOfBytes,
        .lowest = (uint64_t)args->LowestAcceptableAddress.QuadPart,
        .highest = (uint64_t)args->HighestAcceptableAddress.QuadPart,
        .boundary = (uint64_t)args->BoundaryAddressMultiple.QuadPart,
    };
    NTSTATUS status = physical_pages_take_contiguous(
        memory, &limits, (enum ram_cache)args->CacheType, RAM_DRIVER_BLOCK, &block->backing);

    if (status != STATUS_SUCCESS)
        return status;
    if (!expose(block, adapter)) {
        physical_backing_give(memory, &block->backing);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    if (!physical_tracked_enter(&block->tracked, memory, adapter, &block_class, args->NumberOfBytes,
                                0)) {
        conceal(block, adapter);
        physical_backing_give(memory, &block->backing);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    return STATUS_SUCCESS;
}

NTSTATUS physical_contiguous_allocate(struct physical_adapter *adapter,
                                      DXGKARGCB_ALLOCATECONTIGUOUSMEMORY *args)
{
    struct contiguous_block *block;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbAllocateContiguousMemory");
    args->hMemoryHandle = NULL;
    args->pMemory = NULL;
    if (!physical_gate_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    if (!physical_gate_legacy(adapter))
        return STATUS_NOT_SUPPORTED;
    status = physical_pages_check_cache(args->CacheType);
    if (status != STATUS_SUCCESS)
        return status;
    block = util_zalloc(1, sizeof(*block));
    if (!block)
        return STATUS_INSUFFICIENT_RESOURCES;
    status = build(adapter, args, block);
    if (status != STATUS_SUCCESS) {
        util_free(block);
        return status;
    }
    physical_backing_fill_undefined(adapter->memory, &block->backing);
    memset(tail(block), CANARY, tail_bytes(block));
    args->hMemoryHandle = physical_tracked_handle(&block->tracked);
    args->pMemory = block->view;
    return STATUS_SUCCESS;
}

NTSTATUS physical_contiguous_free(struct physical_adapter *adapter,
                                  const DXGKARGCB_FREECONTIGUOUSMEMORY *args)
{
    struct physical_tracked *tracked;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbFreeContiguousMemory");
    tracked = physical_tracked_find(adapter->memory, adapter, PHYSICAL_CONTIGUOUS,
                                    (uintptr_t)args->hMemoryHandle, "PHYS-017");
    if (!tracked)
        return STATUS_INVALID_HANDLE;
    block_free(tracked);
    return STATUS_SUCCESS;
}
