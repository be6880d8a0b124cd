/* SPDX-License-Identifier: MIT */
/* The frame allocator and the views against the obvious slow version: an array with a byte for each frame. With DXGK_LONG
 * ten million operations, else some ten thousand; all structures are validated after every one. */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>

#include "ram/ram.h"
#include "util/alloc.h"
#include "util/rng.h"
#include "verify/verify.h"

enum { FRAMES = 512, BLOCKS = 64, MOST = 96, VIEWS = 16, VIEW_PAGES = 8 };

struct block {
    uint64_t pages;
    struct page_number list[MOST];
    uint32_t stamp;
};

struct view {
    uint64_t pages;
    char *base;
    uint32_t frame[VIEW_PAGES]; /* 0: not pointed */
};

static struct {
    struct util_heap heap;
    struct verify_log *verify;
    struct ram *ram;
    struct rng rng;
    bool free[FRAMES];
    uint32_t stamp[FRAMES]; /* what stands at its start; 0: nothing the test wrote */
    uint8_t locks[FRAMES], maps[FRAMES];
    bool quarantined[FRAMES];
    struct block blocks[BLOCKS];
    struct view views[VIEWS];
    uint32_t stamps;
    uint64_t taken, refused, failed; /* what happened, so that nothing is tested in vain */
} m;

static uint32_t draw(uint32_t bound)
{
    return rng_below(&m.rng, bound);
}

static uint32_t *word(uint64_t frame)
{
    return ram_direct(m.ram, (struct phys_addr){frame * PAGE_BYTES});
}

/* ---- the slow version ---- */

static bool fits(const struct ram_request *request, uint64_t start)
{
    uint64_t low = request->low.value, high = request->high.value ? request->high.value : UINT64_MAX;
    uint64_t first = start * PAGE_BYTES, last = (start + request->pages) * PAGE_BYTES - 1;

    if (first < low || last > high || start + request->pages > FRAMES)
        return false;
    if (request->align_bytes > PAGE_BYTES && first % request->align_bytes != 0)
        return false;
    if (request->boundary_bytes && first / request->boundary_bytes != last / request->boundary_bytes)
        return false;
    for (uint64_t i = start; i < start + request->pages; i++)
        if (!m.free[i])
            return false;
    return true;
}

static bool any_fits(const struct ram_request *request)
{
    for (uint64_t start = 1; start < FRAMES; start++)
        if (fits(request, start))
            return true;
    return false;
}

static uint64_t free_in_window(const struct ram_request *request)
{
    uint64_t count = 0;
    struct ram_request one = *request;

    one.pages = 1;
    one.align_bytes = one.boundary_bytes = 0;
    for (uint64_t i = 1; i < FRAMES; i++)
        count += fits(&one, i);
    return count;
}

/* ---- operations ---- */

static struct ram_request random_request(void)
{
    struct ram_request request = {.owner = RAM_POOL,
                                  .pages = 1 + (draw(3) ? draw(6) : draw(MOST)),
                                  .cache = (enum ram_cache)draw(3),
                                  .zero = draw(2)};

    if (draw(3) == 0) {
        request.low.value = (uint64_t)draw(FRAMES) * PAGE_BYTES + (draw(4) ? 0 : draw(PAGE_BYTES));
        request.high.value = request.low.value + (uint64_t)draw(FRAMES) * PAGE_BYTES +
                             (draw(4) ? PAGE_BYTES - 1 : draw(PAGE_BYTES));
    }
    if (draw(3) == 0)
        request.align_bytes = (uint64_t)PAGE_BYTES << draw(8);
    if (draw(4) == 0)
        request.boundary_bytes = (uint64_t)PAGE_BYTES << draw(9);
    return request;
}

static void own(struct block *block, const struct ram_request *request)
{
    block->stamp = ++m.stamps;
    for (uint64_t i = 0; i < block->pages; i++) {
        uint64_t frame = block->list[i].value;

        CHECK(frame > 0 && frame < FRAMES && m.free[frame]);
        CHECK(ram_page_owner(m.ram, block->list[i]) == RAM_POOL &&
              ram_page_cache(m.ram, block->list[i]) == request->cache);
        if (request->zero)
            CHECK(*word(frame) == 0 && word(frame)[1023] == 0);
        m.free[frame] = false;
        m.stamp[frame] = block->stamp;
        *word(frame) = block->stamp;
        word(frame)[1023] = block->stamp;
    }
    m.taken++;
}

static void take(struct block *block, bool may_fail)
{
    struct ram_request request = random_request();
    struct page_number first;
    bool possible, taken;

    if (draw(2)) {
        possible = any_fits(&request);
        taken = ram_take_contiguous(m.ram, &request, &first);
        for (uint64_t i = 0; taken && i < request.pages; i++)
            block->list[i].value = first.value + i;
        CHECK(!taken || fits(&request, first.value));
    } else {
        possible = free_in_window(&request) >= request.pages;
        taken = ram_take_pages(m.ram, &request, block->list);
    }
    CHECK(taken == possible || (may_fail && !taken));
    m.refused += !possible;
    if (!taken)
        return;
    block->pages = request.pages;
    own(block, &request);
}

static void take_some(struct block *block, bool may_fail)
{
    struct ram_request request = random_request();
    uint64_t there = free_in_window(&request), got;

    got = ram_take_some_pages(m.ram, &request, block->list);
    CHECK(got <= request.pages &&
          (got == (there < request.pages ? there : request.pages) || may_fail));
    if (got == 0)
        return;
    block->pages = got;
    own(block, &request);
}

static void given(uint64_t frame)
{
    if (m.locks[frame] || m.maps[frame])
        m.quarantined[frame] = true;
    else
        m.free[frame] = true;
}

/* All of it, or its second half. */
static void give(struct block *block)
{
    uint64_t keep = draw(4) ? 0 : block->pages / 2;

    for (uint64_t i = 0; i < block->pages; i++)
        CHECK(*word(block->list[i].value) == block->stamp &&
              word(block->list[i].value)[1023] == block->stamp);
    ram_give_pages(m.ram, block->list + keep, block->pages - keep);
    for (uint64_t i = keep; i < block->pages; i++)
        given(block->list[i].value);
    block->pages = keep;
}

static void hold(const struct block *block)
{
    struct page_number page = block->list[draw((uint32_t)block->pages)];

    if (draw(2) && m.locks[page.value] < 3) {
        ram_lock_page(m.ram, page);
        m.locks[page.value]++;
    } else if (m.maps[page.value] < 3) {
        ram_iommu_map_page(m.ram, page);
        m.maps[page.value]++;
    }
}

static void let_go(void)
{
    uint64_t start = draw(FRAMES);

    for (uint64_t i = 0; i < FRAMES; i++) {
        struct page_number page = {(start + i) % FRAMES};

        if (m.locks[page.value]) {
            ram_unlock_page(m.ram, page);
            m.locks[page.value]--;
        } else if (m.maps[page.value]) {
            ram_iommu_unmap_page(m.ram, page);
            m.maps[page.value]--;
        } else {
            continue;
        }
        if (m.quarantined[page.value] && !m.locks[page.value] && !m.maps[page.value]) {
            m.quarantined[page.value] = false;
            m.free[page.value] = true;
        }
        return;
    }
}

/* ---- views ---- */

static void open_view(struct view *view)
{
    view->pages = 1 + draw(VIEW_PAGES);
    view->base = ram_view_reserve(m.ram, view->pages);
    if (!view->base) {
        view->pages = 0;
        return;
    }
    for (unsigned i = 0; i < VIEWS; i++)
        CHECK(&m.views[i] == view || m.views[i].pages == 0 ||
              view->base + view->pages * PAGE_BYTES < m.views[i].base ||
              m.views[i].base + m.views[i].pages * PAGE_BYTES < view->base);
}

static void point_view(struct view *view, const struct block *block)
{
    uint64_t first = draw((uint32_t)view->pages), count = 1 + draw((uint32_t)(view->pages - first));
    uint64_t from;

    if (count > block->pages)
        count = block->pages;
    from = draw((uint32_t)(block->pages - count + 1));
    if (!ram_view_point(m.ram, view->base, first, block->list + from, count, true))
        return;
    for (uint64_t i = 0; i < count; i++)
        view->frame[first + i] = (uint32_t)block->list[from + i].value;
}

static void check_view(const struct view *view)
{
    struct phys_addr physical;

    for (uint64_t i = 0; i < view->pages; i++) {
        bool there = ram_physical(m.ram, view->base + i * PAGE_BYTES + 5, &physical);

        CHECK(there == (view->frame[i] != 0));
        if (there)
            CHECK(physical.value == (uint64_t)view->frame[i] * PAGE_BYTES + 5 &&
                  *(uint32_t *)(void *)(view->base + i * PAGE_BYTES) == *word(view->frame[i]));
    }
}

static void close_view(struct view *view)
{
    ram_view_release(m.ram, view->base, view->pages);
    *view = (struct view){0};
}

static void work_on_view(struct view *view, const struct block *block)
{
    uint64_t first;

    if (view->pages == 0) {
        open_view(view);
        return;
    }
    check_view(view);
    switch (draw(4)) {
    case 0:
        close_view(view);
        break;
    case 1:
        first = draw((uint32_t)view->pages);
        ram_view_unpoint(m.ram, view->base, first, 1);
        view->frame[first] = 0;
        break;
    default:
        if (block->pages > 0)
            point_view(view, block);
    }
}

/* ---- the walk ---- */

static void operate(bool may_fail)
{
    struct block *block = &m.blocks[draw(BLOCKS)];

    switch (draw(8)) {
    case 0:
    case 1:
    case 2:
        if (block->pages == 0)
            take(block, may_fail);
        else
            give(block);
        break;
    case 3:
        if (block->pages == 0)
            take_some(block, may_fail);
        else
            give(block);
        break;
    case 4:
        if (block->pages > 0)
            hold(block);
        break;
    case 5:
        let_go();
        break;
    default:
        /* Repeated mmap and munmap: the slow part. */
        if (draw(8) == 0)
            work_on_view(&m.views[draw(VIEWS)], block);
    }
}

static uint64_t count_free(void)
{
    uint64_t count = 0;

    for (unsigned i = 0; i < FRAMES; i++)
        count += m.free[i];
    return count;
}

static void compare(void)
{
    struct page_number from = {draw(FRAMES)}, next = {0};
    uint64_t expected = from.value;

    CHECK(ram_validate(m.ram) && ram_free_pages(m.ram) == count_free());
    while (expected < FRAMES && !m.free[expected])
        expected++;
    CHECK(ram_next_free(m.ram, from, &next) == (expected < FRAMES));
    CHECK(expected == FRAMES || next.value == expected);
}

static void end_walk(void)
{
    m.heap.fail_at = 0;
    for (unsigned i = 0; i < VIEWS; i++)
        if (m.views[i].pages)
            close_view(&m.views[i]);
    for (unsigned i = 0; i < BLOCKS; i++)
        if (m.blocks[i].pages) {
            ram_give_pages(m.ram, m.blocks[i].list, m.blocks[i].pages);
            for (uint64_t k = 0; k < m.blocks[i].pages; k++)
                given(m.blocks[i].list[k].value);
        }
    for (unsigned i = 0; i < FRAMES * 8; i++)
        let_go();
    compare();
    CHECK(count_free() == FRAMES - 1);
}

static void walk(uint64_t seed, uint64_t operations, unsigned fail_one_in)
{
    memset(&m, 0, sizeof(m));
    util_heap_current = &m.heap;
    m.verify = verify_log_create();
    verify_log_install(m.verify);
    m.rng.state = seed;
    m.ram = ram_create(&(struct ram_config){.bytes = (uint64_t)FRAMES * PAGE_BYTES});
    CHECK(m.ram != NULL);
    for (unsigned i = 1; i < FRAMES; i++)
        m.free[i] = true;
    for (uint64_t i = 0; i < operations; i++) {
        uint64_t failures = m.heap.failures;

        if (fail_one_in && draw(fail_one_in) == 0)
            m.heap.fail_at = m.heap.requests + 1 + draw(3);
        operate(m.heap.fail_at > m.heap.requests);
        m.heap.fail_at = 0;
        m.failed += m.heap.failures - failures;
        compare();
    }
    CHECK(m.taken > operations / 20 && m.refused > operations / 400);
    CHECK(!fail_one_in || m.failed > operations / 100);
    end_walk();
    ram_destroy(m.ram);
    verify_log_install(NULL);
    verify_log_destroy(m.verify);
    util_heap_current = NULL;
    CHECK(m.heap.live_blocks == 0);
}

static uint64_t operations(void)
{
    return getenv("DXGK_LONG") ? 5000000 : 20000;
}

TEST(frames_and_views_behave_as_an_array_does)
{
    walk(0x0DDBA11, operations(), 0);
}

TEST(injected_failures_change_nothing)
{
    walk(0xFA11ED, operations(), 4);
}
