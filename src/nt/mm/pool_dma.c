/* SPDX-License-Identifier: MIT */
/* Pool that devices reach by its physical address (IOMMU-075): the bus asks, since it knows only
 * whose a page is. */
#include "bus/dma.h"
#include "nt/base/state.h"
#include "nt/mm/pool_page.h"
#include "util/address.h"
#include "util/checked.h"

static bool holds(uint64_t physical, uint64_t bytes)
{
    const struct nt_pool_page *page = nt_state()->pool->owner[physical >> PAGE_BITS];
    const uint8_t *address;
    const struct nt_block *block;

    if (!page)
        return false;
    address = page->base + (physical - page_phys(page->first).value);
    block = nt_pool_find(address);
    return block && !block->freed && !block->paged && address >= block->address &&
           range_inside((uint64_t)(address - block->address), bytes, block->bytes);
}

static bool init(struct nt *nt)
{
    if (nt->bus)
        bus_on_pool(nt->bus, holds);
    return true;
}

static void finish(struct nt *nt)
{
    if (nt->bus)
        bus_on_pool(nt->bus, NULL);
}

const struct nt_component nt_pool_dma_component = {.init = init, .finish = finish};
