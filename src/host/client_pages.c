/* SPDX-License-Identifier: MIT */
/* Memory of clients in the RAM of the machine, as VirtualAlloc gives it: what an allocation can be
 * made of (KMT-200), since the GPU reaches nothing else. */
#include "host/client_pages.h"
#include "dxgkhost/dxgkhost.h"
#include "host/machine_record.h"
#include "host/run.h"
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

void *dxgk_client_allocate(size_t bytes)
{
    struct dxgk_machine *machine = host_run_client_machine();
    struct host_process *process = machine ? host_run_current_process(machine) : NULL;
    struct client_pages *pages;

    if (!process || process->ended || bytes == 0 || bytes > machine->config.ram_bytes)
        return NULL;
    pages = make_pages(machine->ram, align_up(bytes, PAGE_BYTES) >> PAGE_BITS);
    if (!pages)
        return NULL;
    list_push_back(&process->pages, &pages->link);
    return pages->view;
}

/* KMT-202: not while an allocation uses one of them. */
static bool in_use(const struct ram *ram, const struct client_pages *pages)
{
    for (uint64_t i = 0; i < pages->count; i++)
        if (ram_page_locks(ram, (struct page_number){pages->first.value + i}))
            return true;
    return false;
}

bool dxgk_client_free(void *memory)
{
    struct dxgk_machine *machine = host_run_client_machine();
    struct host_process *process = machine ? host_run_current_process(machine) : NULL;

    if (!process)
        return false;
    LIST_FOR(node, &process->pages) {
        struct client_pages *pages = CONTAINER(node, struct client_pages, link);

        if (pages->view != memory)
            continue;
        if (in_use(machine->ram, pages))
            return false;
        free_pages(machine->ram, pages);
        return true;
    }
    return false;
}

void host_client_pages_free_all(struct dxgk_machine *machine, struct host_process *process)
{
    while (!list_empty(&process->pages))
        free_pages(machine->ram, CONTAINER(process->pages.next, struct client_pages, link));
}
