/* SPDX-License-Identifier: MIT */
/*
 * Special pool, an option: each block has its own pages in its own view, whose last page is
 * inaccessible, and ends (up to the alignment of 16 bytes) where that page begins. So an access
 * past the end faults at once (0xCD); a write before the start is found when the block is freed.
 * The pages of a freed block are released, and its view stays inaccessible for a while, so an
 * access after free faults, too (0xCC).
 */
#include "nt/mm/pool_special.h"
#include "nt/base/state.h"
#include "nt/mm/paged.h"
#include "nt/mm/pool.h"
#include "nt/mm/pool_page.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "util/slab.h"

#define RETIRED_VIEWS 4096u /* freed blocks whose views are kept inaccessible */
#define ALIGNMENT     16u
#define FRONT_BYTES   256u /* of the slack before a block, which are compared when it is freed */

static bool point_view(struct nt_pool_page *page)
{
    struct ram *ram = nt_state()->ram;
    struct page_number *list = util_alloc(page->pages * sizeof(*list));
    bool done = false;

    if (!list)
        return false;
    for (uint64_t i = 0; i < page->pages; i++)
        list[i].value = page->first.value + i;
    page->view = ram_view_reserve(ram, page->pages + 1);
    done = page->view && ram_view_point(ram, page->view, 0, list, page->pages, true);
    if (!done && page->view)
        ram_view_release(ram, page->view, page->pages + 1);
    util_free(list);
    return done;
}

bool nt_pool_special_place(struct nt_block *block, bool zero)
{
    uint64_t room = align_up(block->bytes ? block->bytes : 1, ALIGNMENT);
    struct nt_pool_page *page = nt_pool_create_page(align_up(room, PAGE_BYTES) / PAGE_BYTES, 1,
                                                    zero);
    uint64_t offset;

    if (!page)
        return false;
    if (!point_view(page)) {
        nt_pool_destroy_page(page);
        return false;
    }
    page->large = true;
    page->used = 1;
    page->block[0] = block;
    page->base = page->view;
    if (block->executable && !nt_pool_make_executable(page)) {
        ram_view_release(nt_state()->ram, page->view, page->pages + 1);
        nt_pool_destroy_page(page);
        return false;
    }
    offset = block->bytes < PAGE_BYTES ? page->pages * PAGE_BYTES - room : 0;
    block->address = page->base + offset;
    block->room = page->pages * PAGE_BYTES - offset;
    block->front = (uint32_t)(offset < FRONT_BYTES ? offset : FRONT_BYTES);
    block->page = page;
    if (!block->paged || !nt_state()->config.force_irql || nt_paged_protect(block))
        return true;
    ram_view_release(nt_state()->ram, page->view, page->pages + 1);
    nt_pool_destroy_page(page);
    return false;
}

static void drop_view(struct nt_block *block)
{
    struct nt_pool *pool = nt_state()->pool;
    struct nt_pool_page *page = block->page;

    ram_view_release(nt_state()->ram, page->view, page->pages + 1);
    list_remove(&block->retired);
    pool->special_retired--;
    util_free(page);
    slab_give(&pool->blocks, block);
}

void nt_pool_special_retire(struct nt_block *block)
{
    struct nt *nt = nt_state();
    struct nt_pool *pool = nt->pool;
    struct nt_pool_page *page = block->page;

    nt_paged_forget(block);
    nt_pool_disown_page(page);
    ram_view_unpoint(nt->ram, page->view, 0, page->pages);
    ram_give_contiguous(nt->ram, page->first, page->pages);
    block->freed = true;
    list_push_back(&pool->special_freed, &block->retired);
    if (++pool->special_retired > RETIRED_VIEWS)
        drop_view(CONTAINER(pool->special_freed.next, struct nt_block, retired));
}

void nt_pool_special_finish(struct nt *nt)
{
    while (!list_empty(&nt->pool->special_freed))
        drop_view(CONTAINER(nt->pool->special_freed.next, struct nt_block, retired));
}

/* Called only for addresses outside of live blocks, in a machine with special pool. */
struct nt_block *nt_pool_special_retired(const void *address)
{
    struct nt_pool *pool = nt_state()->pool;

    LIST_FOR(node, &pool->special_freed) {
        struct nt_block *block = CONTAINER(node, struct nt_block, retired);
        const struct nt_pool_page *page = block->page;

        if ((uintptr_t)address - (uintptr_t)page->base < (page->pages + 1) * PAGE_BYTES)
            return block;
    }
    return NULL;
}

uint32_t nt_pool_fault(const void *address)
{
    const uint8_t *before = (const uint8_t *)align_down((uintptr_t)address, PAGE_BYTES) - 1;
    const struct nt_block *block;

    if (!nt_state()->config.special_pool && !nt_state()->config.force_irql)
        return 0;
    if (nt_pool_special_retired(address))
        return 0xCC;
    block = nt_pool_find(before);
    return block && !block->freed && block->page->view ? 0xCD : 0;
}
