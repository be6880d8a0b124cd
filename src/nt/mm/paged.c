/* SPDX-License-Identifier: MIT */
/*
 * Forced IRQL checking, an option (THREAD-005): paged pool really is inaccessible at DISPATCH_LEVEL
 * and above.
 *
 *   each block has its own view (pool_special.c), which is inaccessible at first
 *   an access below DISPATCH_LEVEL    faults; the page is made accessible ("opened") and recorded,
 *                                     and the access is repeated
 *   the level is raised               the open pages are made inaccessible again: those that were
 *                                     used since the last time, which are few
 *   an access at a raised level       is a real fault: bug check 0xD1
 *
 * So raising and lowering the level without an access to paged pool costs one comparison.
 */
#include <sys/mman.h>

#include "nt/mm/paged.h"
#include "nt/base/state.h"
#include "nt/mm/pool.h"
#include "nt/mm/pool_page.h"
#include "sim/irql.h"
#include "util/address.h"
#include "util/map.h"

static bool close_page(void *page)
{
    return util_protect(page, PAGE_BYTES, PROT_NONE) == 0;
}

bool nt_paged_fault(const void *address)
{
    const struct nt_block *block;

    if (!nt_state() || !nt_state()->config.force_irql)
        return false;
    block = nt_pool_find(address);
    return block && !block->freed && block->paged && block->page->view;
}

/* Called in a signal handler: nothing here allocates or takes a lock. */
bool nt_paged_open(uintptr_t address)
{
    struct nt_pool *pool = nt_state()->pool;
    void *page = (void *)(address & ~(uintptr_t)(PAGE_BYTES - 1));

    if (sim_irql() >= SIM_IRQL_DISPATCH || !nt_paged_fault((void *)address))
        return false;
    for (unsigned i = 0; i < pool->open_pages; i++)
        if (pool->open_page[i] == page)
            return false; /* the page is open already: something else is wrong */
    if (util_protect(page, PAGE_BYTES, PROT_READ | PROT_WRITE) != 0)
        return false;
    if (pool->open_pages < NT_OPEN_PAGES) {
        pool->open_page[pool->open_pages++] = page;
        return true;
    }
    (void)close_page(pool->open_page[pool->next_open]);
    pool->open_page[pool->next_open] = page;
    pool->next_open = (pool->next_open + 1) % NT_OPEN_PAGES;
    return true;
}

void nt_paged_close(void)
{
    struct nt_pool *pool = nt_state()->pool;

    while (pool->open_pages)
        (void)close_page(pool->open_page[--pool->open_pages]);
}

bool nt_paged_protect(const struct nt_block *block)
{
    return util_protect(block->page->view, block->page->pages * PAGE_BYTES, PROT_NONE) == 0;
}

void nt_paged_forget(const struct nt_block *block)
{
    struct nt_pool *pool = nt_state()->pool;
    const char *from = block->page->view, *to = from + block->page->pages * PAGE_BYTES;

    for (unsigned i = 0; i < pool->open_pages;)
        if ((const char *)pool->open_page[i] >= from && (const char *)pool->open_page[i] < to)
            pool->open_page[i] = pool->open_page[--pool->open_pages];
        else
            i++;
}
