/* SPDX-License-Identifier: MIT */
/*
 * Each piece of memory is a mapping of its own. Its record is in the first page, away from the
 * driver's reach:
 *
 *      | record | fence | ... zone of known bytes | memory, slack | fence |
 *
 * Those of one page are used again, the one that was given back first before others; until then
 * they are inaccessible.
 */
#include "ddi/fenced.h"

#include <string.h>
#include <sys/mman.h>

#include "ddi/state.h"
#include "ddi/zone.h"
#include "nt/base/state.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/map.h"

#define SMALL_BYTES (PAGE_BYTES - DDI_FENCED_BEFORE)
#define FREE_MOST   64u

struct ddi_fenced {
    struct list link; /* of the machine: free ones first, the first of them given back first */
    const char *what;
    uint8_t *data;
    size_t bytes, room; /* of the memory; of the pages for it and its zone */
    bool free;
};

bool ddi_fences(void)
{
    const struct nt *nt = nt_state();

    return nt && nt->config.special_pool && ddi_state();
}

static uint8_t *pages_of(const struct ddi_fenced *fenced)
{
    return (uint8_t *)(uintptr_t)fenced + 2 * PAGE_BYTES;
}

static struct ddi_fenced *create(struct ddi_state *state, size_t room)
{
    const size_t whole = room + 3 * PAGE_BYTES;
    struct ddi_fenced *fenced;
    uint8_t *memory;

    if (room > PAGE_BYTES && util_fault_point())
        return NULL;
    memory = util_map(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (util_protect(memory + PAGE_BYTES, PAGE_BYTES, PROT_NONE) != 0 ||
        util_protect(memory + whole - PAGE_BYTES, PAGE_BYTES, PROT_NONE) != 0) {
        util_unmap(memory, whole);
        return NULL;
    }
    fenced = (struct ddi_fenced *)(void *)memory;
    fenced->room = room;
    list_init(&fenced->link);
    list_push_back(&state->fenced, &fenced->link);
    return fenced;
}

static void destroy(struct ddi_fenced *fenced)
{
    list_remove(&fenced->link);
    util_unmap(fenced, fenced->room + 3 * PAGE_BYTES);
}

static struct ddi_fenced *first_of(struct ddi_state *state)
{
    return CONTAINER(state->fenced.next, struct ddi_fenced, link);
}

static struct ddi_fenced *reuse(struct ddi_state *state)
{
    struct ddi_fenced *fenced = first_of(state);

    if (state->fenced_free < FREE_MOST ||
        util_protect(pages_of(fenced), fenced->room, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    state->fenced_free--;
    list_remove(&fenced->link);
    list_push_back(&state->fenced, &fenced->link);
    return fenced;
}

struct ddi_fenced *ddi_fenced_take(size_t bytes, size_t alignment, const char *what)
{
    struct ddi_state *state = ddi_state();
    const size_t slack = ddi_fenced_slack(bytes, alignment), whole = bytes + slack;
    struct ddi_fenced *fenced = whole <= SMALL_BYTES ? reuse(state) : NULL;

    if (!fenced)
        fenced = create(state, align_up(whole + DDI_FENCED_BEFORE, PAGE_BYTES));
    if (!fenced)
        return NULL;
    ddi_zone_begin();
    fenced->what = what;
    fenced->bytes = bytes;
    fenced->free = false;
    fenced->data = pages_of(fenced) + fenced->room - whole;
    memcpy(fenced->data - DDI_FENCED_BEFORE, ddi_zone_known, DDI_FENCED_BEFORE);
    memcpy(fenced->data + bytes, ddi_zone_known, slack);
    return fenced;
}

uint8_t *ddi_fenced_data(const struct ddi_fenced *fenced)
{
    return fenced->data;
}

void ddi_fenced_give(struct ddi_fenced *fenced)
{
    struct ddi_state *state = ddi_state();
    struct list *at = &state->fenced;

    if (fenced->room > PAGE_BYTES || util_protect(pages_of(fenced), fenced->room, PROT_NONE) != 0) {
        destroy(fenced);
        return;
    }
    fenced->free = true;
    list_remove(&fenced->link);
    for (unsigned i = 0; i < state->fenced_free; i++)
        at = at->next;
    list_insert_between(&fenced->link, at, at->next);
    state->fenced_free++;
}

void ddi_fenced_finish(struct ddi_state *state)
{
    while (list_pop_front(&state->fences))
        ;
    while (!list_empty(&state->fenced))
        destroy(first_of(state));
    state->fenced_free = 0;
}

void ddi_fence_put(struct ddi_fence *fence)
{
    list_push_back(&ddi_state()->fences, &fence->link);
}

void ddi_fence_remove(struct ddi_fence *fence)
{
    list_remove(&fence->link);
}

bool ddi_fence_at(uintptr_t address, struct ddi_fence_hit *hit)
{
    struct ddi_state *state = ddi_state();

    if (!state)
        return false;
    LIST_FOR(node, &state->fenced) {
        const struct ddi_fenced *fenced = CONTAINER(node, struct ddi_fenced, link);

        if (address - (uintptr_t)fenced >= fenced->room + 3 * PAGE_BYTES)
            continue;
        *hit = (struct ddi_fence_hit){.what = fenced->what,
                                      .bytes = fenced->bytes,
                                      .offset = (ptrdiff_t)(address - (uintptr_t)fenced->data),
                                      .late = fenced->free};
        return true;
    }
    LIST_FOR(node, &state->fences) {
        const struct ddi_fence *fence = CONTAINER(node, struct ddi_fence, link);

        if (address - (uintptr_t)fence->data - fence->bytes >= PAGE_BYTES)
            continue;
        *hit = (struct ddi_fence_hit){.what = fence->what,
                                      .bytes = fence->bytes,
                                      .offset = (ptrdiff_t)(address - (uintptr_t)fence->data)};
        return true;
    }
    return false;
}
