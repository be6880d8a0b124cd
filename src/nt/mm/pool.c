/* SPDX-License-Identifier: MIT */
/*
 * The pool: blocks of simulated RAM, so that a driver may hand their physical addresses to its
 * device.
 *
 * A block below a page comes from a page cut into equal slots (18 size classes) and crosses no page
 * boundary. A larger one has its own pages. The slot begins with 16 bytes of a guard pattern,
 * unless the block leaves no room for them; the rest of the slot after the block is filled with it,
 * too. Both are checked when the block is freed; a block that fills its pages exactly gets one page
 * more for what follows it. Executable pool (NT-012) has separate, executable
 * pages, so that a jump into other pool faults.
 *
 * All bookkeeping is outside of simulated RAM, so a driver's writes cannot corrupt it. One pointer
 * per physical page (a sparse table) leads from any address to the page record and so to the block,
 * in O(1).
 *
 * A freed block is filled with another pattern and kept in a FIFO quarantine, so that its memory is
 * not reused at once and a later write is detected. Special pool (pool_special.c) detects more, at
 * a cost.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "nt/mm/pool.h"
#include "nt/base/active.h"
#include "nt/base/faults.h"
#include "nt/base/image.h"
#include "nt/base/items.h"
#include "nt/base/memory.h"
#include "nt/base/nt_report.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/lock_order.h"
#include "nt/mm/pool_limit.h"
#include "nt/mm/pool_page.h"
#include "nt/mm/pool_special.h"
#include "nt/mm/race_guard.h"
#include "race/race.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "util/map.h"
#include "util/slab.h"
#include "verify/verify.h"

#define POOL_FRESH          0xCEu /* new, uninitialised memory */
#define GUARD               0xFDu /* behind a block */
#define FREED               0xDDu
#define BAD_POOL_HEADER     0x19u
#define DEFAULT_QUARANTINE  (256u * 1024u)
#define POOL_GUARD_BYTES    16u
#define POOL_FRONT_BYTES    16u
#define LARGEST_QUARANTINED (64u * 1024u)
#define LARGEST_GUARDED     (64u * 1024u)

/* Sizes of slots: multiples of 16 that waste little of a page. */
static const uint16_t class_bytes[] = {32,  48,  64,  80,  96,  128,  160,  192,  256,
                                       320, 384, 512, 672, 816, 1024, 1360, 2048, 4096};

/* ---- pages ---- */

static void own_pages(struct nt_pool *pool, const struct nt_pool_page *page,
                      struct nt_pool_page *owner)
{
    for (uint64_t i = 0; i < page->pages; i++)
        pool->owner[page->first.value + i] = owner;
}

struct nt_pool_page *nt_pool_create_page(uint64_t pages, uint16_t slots, bool zero)
{
    struct nt *nt = nt_state();
    struct ram_request request = {
        .pages = pages, .owner = RAM_POOL, .cache = RAM_CACHED, .zero = zero};
    struct nt_pool_page *page = util_zalloc(1, sizeof(*page) + slots * sizeof(struct nt_block *));

    if (!page)
        return NULL;
    if (!ram_take_contiguous(nt->ram, &request, &page->first)) {
        util_free(page);
        return NULL;
    }
    list_init(&page->link);
    page->pages = pages;
    page->slots = slots;
    page->base = ram_direct(nt->ram, page_phys(page->first));
    own_pages(nt->pool, page, page);
    return page;
}

void nt_pool_disown_page(const struct nt_pool_page *page)
{
    own_pages(nt_state()->pool, page, NULL);
}

bool nt_pool_make_executable(struct nt_pool_page *page)
{
    page->executable = !util_fault_point() && util_protect(page->base, page->pages * PAGE_BYTES,
                                                           PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
    return page->executable;
}

void nt_pool_destroy_page(struct nt_pool_page *page)
{
    struct nt *nt = nt_state();

    nt_race_guard_forget(page->base, page->pages * PAGE_BYTES);
    /* Fails only if neighboring mappings cannot be merged; then the page merely stays
     * executable. */
    if (page->executable)
        (void)util_protect(page->base, page->pages * PAGE_BYTES, PROT_READ | PROT_WRITE);
    list_remove(&page->link);
    nt_pool_disown_page(page);
    ram_give_contiguous(nt->ram, page->first, page->pages);
    util_free(page);
}

static unsigned class_for(uint64_t bytes)
{
    unsigned class = 0;

    while (class_bytes[class] < PAGE_BYTES &&
           class_bytes[class] < bytes + POOL_FRONT_BYTES + POOL_GUARD_BYTES)
        class ++;
    return class;
}

static struct list *partial_of(unsigned class, bool executable)
{
    return &nt_state()->pool->partial[class + (executable ? NT_ITEMS(class_bytes) : 0)];
}

static struct nt_pool_page *create_page(uint64_t pages, uint16_t slots, bool zero, bool executable)
{
    struct nt_pool_page *page = nt_pool_create_page(pages, slots, zero);

    if (page && executable && !nt_pool_make_executable(page)) {
        nt_pool_destroy_page(page);
        page = NULL;
    }
    return page;
}

/* A page with a free slot for a small block. */
static struct nt_pool_page *page_for(uint64_t bytes, bool executable)
{
    unsigned class = class_for(bytes);
    struct list *partial = partial_of(class, executable);
    struct nt_pool_page *page;

    if (!list_empty(partial))
        return CONTAINER(partial->next, struct nt_pool_page, link);
    page = create_page(1, (uint16_t)(PAGE_BYTES / class_bytes[class]), false, executable);
    if (!page)
        return NULL;
    page->class = (uint8_t) class;
    list_push_back(partial, &page->link);
    return page;
}

static unsigned free_slot(const struct nt_pool_page *page)
{
    unsigned word = page->taken[0] == UINT64_MAX;

    return word * 64 + (unsigned)__builtin_ctzll(~page->taken[word]);
}

static void place_small(struct nt_pool_page *page, struct nt_block *block)
{
    unsigned slot = free_slot(page);

    page->taken[slot / 64] |= (uint64_t)1 << (slot % 64);
    page->block[slot] = block;
    if (++page->used == page->slots)
        list_remove(&page->link);
    block->room = class_bytes[page->class];
    if (block->bytes + POOL_FRONT_BYTES + POOL_GUARD_BYTES <= block->room)
        block->front = POOL_FRONT_BYTES;
    block->room -= block->front;
    block->address = page->base + (size_t)slot * class_bytes[page->class] + block->front;
}

/* ---- blocks ---- */

static bool place(struct nt_block *block, bool zero)
{
    uint64_t bytes = block->bytes;
    struct nt_pool_page *page;

    if (nt_state()->config.special_pool || (block->paged && nt_state()->config.force_irql))
        return nt_pool_special_place(block, zero);
    if (bytes < PAGE_BYTES) {
        page = page_for(bytes, block->executable);
        if (!page)
            return false;
        place_small(page, block);
    } else {
        page = create_page(bytes / PAGE_BYTES + 1, 1, zero, block->executable);
        if (!page)
            return false;
        page->large = true;
        page->used = 1;
        page->block[0] = block;
        block->address = page->base;
        block->room = page->pages * PAGE_BYTES;
    }
    block->page = page;
    return true;
}

static void release_memory(struct nt_block *block)
{
    struct nt_pool_page *page = block->page;
    struct nt_pool *pool = nt_state()->pool;

    if (!page->large) {
        size_t slot = (size_t)(block->address - page->base) / class_bytes[page->class];

        page->taken[slot / 64] &= ~((uint64_t)1 << (slot % 64));
        page->block[slot] = NULL;
        if (page->used == page->slots)
            list_push_back(partial_of(page->class, page->executable), &page->link);
    }
    if (--page->used == 0)
        nt_pool_destroy_page(page);
    slab_give(&pool->blocks, block);
}

static void describe(const struct nt_resource *resource, char *text, size_t bytes)
{
    const struct nt_block *block = CONTAINER(resource, struct nt_block, resource);
    char tag[5];

    nt_pool_tag_text(block->tag, tag);
    snprintf(text, bytes, " of %llu bytes, tag '%s'", (unsigned long long)block->bytes, tag);
}

static void reclaim(struct nt_resource *resource)
{
    nt_pool_give(CONTAINER(resource, struct nt_block, resource));
}

static const struct nt_resource_class block_class = {
    .rule = "NT-027",
    .noun = "pool block",
    .code = DRIVER_VERIFIER,
    .subcode = 0x62,
    .describe = describe,
    .reclaim = reclaim,
};

/* For races. Pages that are in several places trap for other reasons. */
static void watch(const struct nt_block *block)
{
    const struct nt_config *config = &nt_state()->config;

    race_watch(sim_current->races, block->address, block->bytes);
    if (nt_image_current() && block->bytes <= LARGEST_GUARDED && !config->special_pool &&
        !config->force_irql)
        nt_race_guard_add(block->address, block->bytes, block->executable);
}

struct nt_block *nt_pool_take(uint64_t bytes, uint32_t tag, enum nt_pool_kind kind, bool zero,
                              const void *caller)
{
    struct nt_pool *pool = nt_state()->pool;
    struct nt_block *block;

    if (nt_faults_due())
        return NULL;
    if (bytes > ram_bytes(nt_state()->ram)) {
        nt_pool_limit_check(NULL);
        return NULL;
    }
    block = slab_take(&pool->blocks);
    if (!block)
        return NULL;
    memset(block, 0, sizeof(*block));
    block->bytes = bytes;
    block->tag = tag;
    block->paged = kind == NT_POOL_PAGED;
    block->executable = kind == NT_POOL_EXECUTABLE;
    list_init(&block->actives);
    if (!place(block, zero)) {
        slab_give(&pool->blocks, block);
        nt_pool_limit_check(NULL);
        return NULL;
    }
    /* With `zero`, the new pages are zero already. */
    if (!zero)
        memset(block->address, POOL_FRESH, bytes);
    else if (!block->page->large)
        memset(block->address, 0, bytes);
    memset(block->address + bytes, GUARD, block->room - bytes);
    memset(block->address - block->front, GUARD, block->front);
    if (sim_current->races)
        watch(block);
    nt_resource_track(&block->resource, &block_class, caller);
    pool->statistics.allocations++;
    pool->statistics.live_blocks++;
    pool->statistics.live_bytes += bytes;
    if (pool->statistics.live_bytes > pool->statistics.peak_bytes)
        pool->statistics.peak_bytes = pool->statistics.live_bytes;
    nt_pool_limit_check(block);
    return block;
}

/* First byte of [from, to) that does not hold the pattern; NULL: all do. */
static const uint8_t *find_damage(const uint8_t *from, const uint8_t *to, uint8_t pattern)
{
    if (from == to || (*from == pattern && memcmp(from, from + 1, (size_t)(to - from) - 1) == 0))
        return NULL;
    while (*from == pattern)
        from++;
    return from;
}

/* On Windows the header of the block is there. */
static void check_front(const struct nt_block *block)
{
    const uint8_t *damage = find_damage(block->address - block->front, block->address, GUARD);
    char tag[5];

    if (!damage)
        return;
    nt_pool_tag_text(block->tag, tag);
    verify_report_code(
        "NT-025", BAD_POOL_HEADER, 0x20, (uintptr_t)block->address, (uintptr_t)damage, 0,
        "pool block of %llu bytes, tag '%s', was written %llu byte(s) before its start",
        (unsigned long long)block->bytes, tag, (unsigned long long)(block->address - damage));
}

static void check_guard(const struct nt_block *block)
{
    const uint8_t *end = block->address + block->bytes;
    const uint8_t *damage = find_damage(end, block->address + block->room, GUARD);
    char tag[5];

    if (!damage)
        return;
    nt_pool_tag_text(block->tag, tag);
    NT_VERIFIER("NT-025", 0x51, (uintptr_t)block->address, block->bytes, (uintptr_t)damage,
                "pool block of %llu bytes, tag '%s', was written %llu byte(s) past its end",
                (unsigned long long)block->bytes, tag, (unsigned long long)(damage - end) + 1);
}

static uint64_t quarantined_bytes(const struct nt_block *block)
{
    return block->room;
}

static void evict(struct nt_block *block)
{
    const uint8_t *damage = find_damage(block->address, block->address + block->bytes, FREED);
    char tag[5];

    if (damage) {
        nt_pool_tag_text(block->tag, tag);
        verify_report_code("NT-026", 0xCC, (uintptr_t)damage, 1, 0, 0,
                           "freed pool block of %llu bytes, tag '%s', was written at offset %llu",
                           (unsigned long long)block->bytes, tag,
                           (unsigned long long)(damage - block->address));
    }
    nt_state()->pool->quarantine_bytes -= quarantined_bytes(block);
    list_remove(&block->retired);
    release_memory(block);
}

void nt_pool_flush_quarantine(uint64_t keep_bytes)
{
    struct nt_pool *pool = nt_state()->pool;

    while (pool->quarantine_bytes > keep_bytes)
        evict(CONTAINER(pool->quarantine.next, struct nt_block, retired));
}

void nt_pool_give(struct nt_block *block)
{
    struct nt_pool *pool = nt_state()->pool;

    pool->failed = 0;
    check_front(block);
    check_guard(block);
    nt_active_drop_all(&block->actives, "a freed pool block");
    nt_lock_order_forget(block->address, block->bytes);
    nt_resource_untrack(&block->resource);
    pool->statistics.live_blocks--;
    pool->statistics.live_bytes -= block->bytes;
    if (block->page->view) {
        nt_pool_special_retire(block);
        return;
    }
    if (block->bytes > LARGEST_QUARANTINED || block->bytes > pool->quarantine_limit) {
        release_memory(block);
        return;
    }
    memset(block->address, FREED, block->bytes);
    block->freed = true;
    list_push_back(&pool->quarantine, &block->retired);
    pool->quarantine_bytes += quarantined_bytes(block);
    nt_pool_flush_quarantine(pool->quarantine_limit);
}

struct nt_block *nt_pool_find(const void *address)
{
    struct nt *nt = nt_state();
    struct nt_pool_page *page;
    struct phys_addr physical;
    struct nt_block *block;
    size_t offset;

    if (!ram_physical(nt->ram, address, &physical))
        return nt->config.special_pool || nt->config.force_irql ? nt_pool_special_retired(address)
                                                                : NULL;
    page = nt->pool->owner[phys_page(physical).value];
    if (!page)
        return NULL;
    offset = (size_t)((const uint8_t *)address - page->base);
    if (offset >= page->pages * PAGE_BYTES)
        return NULL; /* the frame is accessed through another view */
    block = page->large ? page->block[0] : NULL;
    if (!page->large && offset / class_bytes[page->class] < page->slots)
        block = page->block[offset / class_bytes[page->class]];
    return block;
}

void nt_pool_statistics(struct nt_pool_statistics *statistics)
{
    *statistics = nt_state()->pool->statistics;
}

/* ---- the whole ---- */

static enum nt_memory kind_of(const void *address)
{
    const struct nt_block *block = nt_pool_find(address);

    if (!block)
        return NT_MEMORY_OTHER;
    if (block->freed)
        return NT_MEMORY_FREED;
    return block->paged ? NT_MEMORY_PAGED : NT_MEMORY_NONPAGED;
}

static struct list *actives_of(const void *address)
{
    struct nt_block *block = nt_pool_find(address);

    return block ? &block->actives : NULL;
}

static const struct nt_places places = {kind_of, actives_of};

static bool init(struct nt *nt)
{
    struct nt_pool *pool = nt->pool;

    pool->quarantine_limit = nt->config.quarantine_bytes ? nt->config.quarantine_bytes
                                                         : DEFAULT_QUARANTINE;
    nt_memory_register(&places);
    pool->block_class = &block_class;
    slab_init(&pool->blocks, sizeof(struct nt_block));
    list_init(&pool->quarantine);
    list_init(&pool->special_freed);
    pool->partial = util_zalloc(2 * NT_ITEMS(class_bytes), sizeof(*pool->partial));
    if (!pool->partial)
        return false;
    for (size_t i = 0; i < 2 * NT_ITEMS(class_bytes); i++)
        list_init(&pool->partial[i]);
    pool->owner_bytes = ram_bytes(nt->ram) / PAGE_BYTES * sizeof(struct nt_pool_page *);
    if (!util_fault_point()) {
        void *table = util_map(NULL, pool->owner_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        pool->owner = table == MAP_FAILED ? NULL : table;
    }
    return pool->owner != NULL;
}

static void finish(struct nt *nt)
{
    struct nt_pool *pool = nt->pool;

    if (pool->owner) {
        nt_pool_flush_quarantine(0);
        nt_pool_special_finish(nt);
        util_unmap(pool->owner, pool->owner_bytes);
    }
    slab_finish(&pool->blocks);
    util_free(pool->partial);
}

const struct nt_component nt_pool_component = {
    .slot = offsetof(struct nt, pool),
    .bytes = sizeof(struct nt_pool),
    .init = init,
    .finish = finish,
};
