/* SPDX-License-Identifier: MIT */
#include "vidmm/content/content_mdl.h"
#include "nt/mm/mdl.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "vidmm/paging/paging.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/paging_record.h"

/* An MDL with its array of page numbers. It is freed when the operations built so far are done. */
struct mdl_block {
    struct paging_deferred deferred;
    MDL mdl;
    PFN_NUMBER pages[];
};

static void mdl_free(struct vidmm *vidmm, struct paging_deferred *deferred)
{
    struct mdl_block *block = CONTAINER(deferred, struct mdl_block, deferred);

    (void)vidmm;
    nt_mdl_gone(&block->mdl);
    util_free(block);
}

static struct mdl_block *mdl_of(uint64_t pages)
{
    size_t array = pages * sizeof(PFN_NUMBER);
    struct mdl_block *block = util_alloc(sizeof(*block) + array);

    _Static_assert(sizeof(struct mdl_block) == offsetof(struct mdl_block, mdl) + sizeof(MDL),
                   "pages follow the MDL");
    if (!block)
        return NULL;
    block->deferred.fn = mdl_free;
    block->mdl = (MDL){.Size = (CSHORT)(sizeof(MDL) + array),
                       .MdlFlags = (CSHORT)(MDL_PAGES_LOCKED | MDL_INTERNAL),
                       .ByteCount = (ULONG)(pages << PAGE_BITS)};
    return block;
}

struct mdl_block *content_mdl_create(const struct vidmm_allocation *allocation)
{
    struct mdl_block *block = mdl_of(allocation->pages);

    for (uint64_t i = 0; block && i < allocation->pages; i++)
        block->pages[i] = (PFN_NUMBER)allocation->backing[i].value;
    return block;
}

struct mdl_block *content_mdl_of_run(struct page_number first, uint64_t pages)
{
    struct mdl_block *block = mdl_of(pages);

    for (uint64_t i = 0; block && i < pages; i++)
        block->pages[i] = first.value + i;
    return block;
}

MDL *content_mdl(struct mdl_block *block)
{
    return &block->mdl;
}

void content_mdl_defer_free(struct vidmm *vidmm, struct mdl_block *block)
{
    paging_defer(vidmm, &block->deferred);
}
