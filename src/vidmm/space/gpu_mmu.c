/* SPDX-License-Identifier: MIT */
#include "vidmm/space/gpu_mmu.h"
#include "util/alloc.h"
#include "util/extent.h"
#include "util/hash.h"
#include "util/list.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/space/table_description.h"

#define LARGEST_UPDATE 1024u /* maximum of entries in one operation */

struct gpu_mmu *gpu_mmu_get(struct vidmm *vidmm)
{
    struct gpu_mmu *mmu = vidmm->mmu;

    if (mmu)
        return mmu;
    mmu = util_zalloc(1, sizeof(*mmu));
    if (!mmu)
        return NULL;
    mmu->vidmm = vidmm;
    list_init(&mmu->spaces);
    list_init(&mmu->unclean);
    extent_tree_init(&mmu->scratch.free);
    hash_init(&mmu->scratch.windows);
    table_watch_init(&mmu->watch, vidmm->config.gpu_mmu ? vidmm->config.table_reader : NULL);
    paging_queue_init(&mmu->chores, vidmm, NULL, 0);
    vidmm->mmu = mmu;
    return mmu;
}

NTSTATUS gpu_mmu_prepare(struct gpu_mmu *mmu)
{
    uint32_t most = 0;
    size_t bytes;

    table_geometry_init(&mmu->geometry, mmu->vidmm);
    for (unsigned level = 0; level < mmu->geometry.levels; level++)
        if (mmu->geometry.entries[level] > most)
            most = mmu->geometry.entries[level];
    mmu->entry_capacity = most < LARGEST_UPDATE ? most : LARGEST_UPDATE;
    bytes = mmu->entry_capacity * sizeof(DXGK_PTE);
    if (!ddi_guarded_init(&mmu->entry_memory, bytes, "pPageTableEntries") ||
        !ddi_guarded_init(&mmu->one_memory, sizeof(DXGK_PTE), "pPageTableEntries") ||
        !ddi_guarded_init(&mmu->none_memory, mmu->geometry.caps.DualPteSupported ? bytes : 0,
                          "pPageTableEntries64KB"))
        return STATUS_INSUFFICIENT_RESOURCES;
    mmu->entries = (DXGK_PTE *)(void *)mmu->entry_memory.data;
    mmu->none = (DXGK_PTE *)(void *)mmu->none_memory.data;
    return STATUS_SUCCESS;
}

void gpu_mmu_destroy(struct gpu_mmu *mmu)
{
    extent_tree_finish(&mmu->scratch.free);
    hash_finish(&mmu->scratch.windows);
    ddi_guarded_finish(&mmu->entry_memory);
    ddi_guarded_finish(&mmu->one_memory);
    ddi_guarded_finish(&mmu->none_memory);
    mmu->vidmm->mmu = NULL;
    util_free(mmu);
}
