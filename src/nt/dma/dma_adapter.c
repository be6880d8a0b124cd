/* SPDX-License-Identifier: MIT */
/* Records of DMA adapters. */
#include "nt/dma/dma_adapter.h"
#include "nt/base/state.h"
#include "nt/dma/dma_record.h"
#include "util/alloc.h"
#include "verify/verify.h"

static bool init(struct nt *nt)
{
    hash_init(&nt->dma->adapters);
    hash_init(&nt->dma->buffers);
    hash_init(&nt->dma->lists);
    hash_init(&nt->dma->channels);
    list_init(&nt->dma->mappings);
    return true;
}

static void finish(struct nt *nt)
{
    hash_finish(&nt->dma->adapters);
    hash_finish(&nt->dma->buffers);
    hash_finish(&nt->dma->lists);
    hash_finish(&nt->dma->channels);
}

const struct nt_component nt_dma_component = {
    .slot = offsetof(struct nt, dma),
    .bytes = sizeof(struct nt_dma),
    .init = init,
    .finish = finish,
};

struct nt_dma_adapter *nt_dma_adapter_find(const DMA_ADAPTER *adapter, const char *routine)
{
    struct nt_dma_adapter *found = adapter
                                       ? hash_get(&nt_state()->dma->adapters, (uintptr_t)adapter)
                                       : NULL;

    if (!found)
        VIOLATION("NT-187",
                  "%s with a DMA_ADAPTER that IoGetDmaAdapter did not return, or that "
                  "was put back",
                  routine);
    return found;
}

struct nt_dma_adapter *nt_dma_adapter_find_v3(const DMA_ADAPTER *adapter, const char *routine)
{
    struct nt_dma_adapter *found = nt_dma_adapter_find(adapter, routine);

    if (!found || found->version >= DEVICE_DESCRIPTION_VERSION3)
        return found;
    VIOLATION("NT-192",
              "%s of an adapter whose DEVICE_DESCRIPTION had version %u: Windows has that member "
              "for version 3",
              routine, found->version);
    return NULL;
}

uint64_t nt_dma_reach(const struct nt_dma_adapter *adapter)
{
    return adapter->bits >= 64 ? UINT64_MAX : ((uint64_t)1 << adapter->bits) - 1;
}

static void reclaim(struct nt_resource *resource)
{
    struct nt_dma_adapter *adapter = CONTAINER(resource, struct nt_dma_adapter, resource);

    hash_remove(&nt_state()->dma->adapters, (uintptr_t)adapter);
    util_free(adapter);
}

static const struct nt_resource_class adapter_class = {
    .rule = "NT-187",
    .noun = "DMA adapter",
    .reclaim = reclaim,
};

bool nt_dma_adapter_enter(struct nt_dma_adapter *adapter, const void *caller)
{
    if (!hash_put(&nt_state()->dma->adapters, (uintptr_t)adapter, adapter))
        return false;
    list_init(&adapter->waiting);
    nt_resource_track(&adapter->resource, &adapter_class, caller);
    return true;
}

void nt_dma_adapter_destroy(struct nt_dma_adapter *adapter)
{
    nt_resource_reclaim(&adapter->resource);
}
