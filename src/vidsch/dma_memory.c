/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "vidsch/dma_memory.h"
#include "ram/ram.h"
#include "vidsch/scheduler.h"

bool vidsch_dma_memory_take(struct vidsch *vidsch, uint64_t pages, uint64_t guard,
                            struct page_number *first, struct logical_page *logical)
{
    struct ram_request request = {
        .pages = pages + 2 * guard,
        .owner = RAM_HOST,
        .cache = RAM_WRITE_COMBINED,
        .zero = true,
    };
    struct page_number run, data;

    if (!ram_take_contiguous(vidsch->config.ram, &request, &run))
        return false;
    data.value = run.value + guard;
    if (!iommu_map_run(vidsch->config.domain, data, pages, IOMMU_READ | IOMMU_WRITE, logical)) {
        ram_give_contiguous(vidsch->config.ram, run, request.pages);
        return false;
    }
    *first = data;
    return true;
}

void vidsch_dma_memory_give(struct vidsch *vidsch, struct page_number first, uint64_t pages,
                            uint64_t guard, struct logical_page logical)
{
    iommu_unmap_run(vidsch->config.domain, logical, pages);
    ram_give_contiguous(vidsch->config.ram, (struct page_number){first.value - guard},
                        pages + 2 * guard);
}

const uint8_t vidsch_canary[VIDSCH_CANARY_BYTES] = {[0 ... VIDSCH_CANARY_BYTES - 1] = VIDSCH_CANARY};
