/* SPDX-License-Identifier: MIT */
/* Memory of clients in the RAM of the machine, as VirtualAlloc gives it: what an allocation can be
 * made of (KMT-200), since the GPU reaches nothing else. */
#include "host/client_pages.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"

struct client_pages {
    struct list link; /* host_process.pages */
    uint8_t *view;    /* one page more, which stays unmapped, against overruns */
    struct page_number first;
    uint64_t count;
};

static void free_pages(struct ram *ram, struct client_pages *pages)
{
    list_remove(&pages->link);
    if (pages->view)
        ram_view_release(ram, pages->view, pages->count + 1);
    ram_give_contiguous(ram, pages->first, pages->count);
    util_free(pages);
}

static struct client_pages *make_pages(struct ram *ram, uint64_t count)
{
    const struct ram_request request = {
        .pages = count, .owner = RAM_CLIENT, .cache = RAM_CACHED, .zero = true};
    struct client_pages *pages = util_zalloc(1, sizeof(*pages));

    if (!pages)
        return NULL;
    list_init(&pages->link);
    pages->count = count;
    if (!ram_take_contiguous(ram, &request, &pages->first)) {
        util_free(pages);
        return NULL;
    }
    pages->view = ram_view_reserve(ram, count + 1);
    for (uint64_t i = 0; i < count; i++) {
        struct page_number frame = {pages->first.value + i};

        if (pages->view && ram_view_point(ram, pages->view, i, &frame, 1, true))
            continue;
        free_pages(ram, pages);
        return NULL;
    }
    return pages;
}

void *host_client_pages_take(struct ram *ram, struct list *list, uint64_t bytes)
{
    struct client_pages *pages = make_pages(ram, align_up(bytes, PAGE_BYTES) >> PAGE_BITS);

    if (!pages)
        return NULL;
    list_push_back(list, &pages->link);
    return pages->view;
}

static bool in_use(const struct ram *ram, const struct client_pages *pages)
{
    for (uint64_t i = 0; i < pages->count; i++)
        if (ram_page_locks(ram, (struct page_number){pages->first.value + i}))
            return true;
    return false;
}

bool host_client_pages_free(struct ram *ram, struct list *list, const void *memory)
{
    LIST_FOR(node, list) {
        struct client_pages *pages = CONTAINER(node, struct client_pages, link);

        if (pages->view != memory)
            continue;
        if (in_use(ram, pages))
            return false;
        free_pages(ram, pages);
        return true;
    }
    return false;
}

void host_client_pages_free_all(struct ram *ram, struct list *list)
{
    while (!list_empty(list))
        free_pages(ram, CONTAINER(list->next, struct client_pages, link));
}
