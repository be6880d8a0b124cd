/* SPDX-License-Identifier: MIT */
#include "table_model.h"

#include "iommu/io_entries.h"
#include "support/check_rule.h"
#include "util/address.h"
#include "util/rng.h"

#include <string.h>

static struct util_heap *heap;

uint64_t table_frame_of(const struct io_tables *t, uint64_t page, uint64_t *count, uint64_t *rights)
{
    unsigned level;
    uint64_t entry = io_tables_find(t, page, &level);

    *count = io_entry_count(entry);
    *rights = entry & IO_RIGHTS;
    return entry ? io_entry_frame(entry) + (page & (io_span(level) - 1)) : 0;
}

/* More tables than the walk cache has places for. */
enum {
    MODEL_TABLES = 160,
    MODEL_PAGES = MODEL_TABLES * 512,
    MODEL_RUNS = 40,
    MODEL_LONGEST = 4096
};

struct run {
    uint64_t first, count;
};

struct model {
    uint64_t frame[MODEL_PAGES], count[MODEL_PAGES];
    struct run runs[MODEL_RUNS];
    unsigned live;
    uint64_t released, failures;
};

static void count_released(void *context, const uint64_t *entries, uint64_t count, unsigned level)
{
    struct model *m = context;

    for (uint64_t i = 0; i < count; i++)
        m->released += entries[i] ? io_span(level) : 0;
}

/* Mostly short, now and then across tables or large and aligned; at most MODEL_LONGEST. */
static struct run random_run(struct rng *rng)
{
    struct run run;

    switch (rng_below(rng, 8)) {
    case 0:
        run.first = 512 * rng_below(rng, MODEL_TABLES - 8);
        run.count = 512 * (1 + (uint64_t)rng_below(rng, MODEL_LONGEST / 512));
        break;
    case 1:
        run.first = rng_below(rng, MODEL_PAGES - 1200);
        run.count = 1 + rng_below(rng, 1200);
        break;
    default:
        run.first = rng_below(rng, MODEL_PAGES - 20);
        run.count = 1 + rng_below(rng, 20);
    }
    return run;
}

static bool model_map(struct model *m, struct io_tables *t, struct rng *rng, uint64_t base)
{
    struct run run = random_run(rng);
    struct page_number frames[MODEL_LONGEST];
    bool list = !t->shared && rng_below(rng, 2), taken = false;
    uint64_t first = t->shared ? base + run.first : 1 + 512 * rng_below(rng, 9) + run.first % 512;
    enum io_result result;

    for (uint64_t i = 0; i < run.count; i++) {
        frames[i].value = list ? 1 + rng_below(rng, 100000) : first + i;
        taken |= !t->shared && m->count[run.first + i] > 0;
    }
    heap->fail_at = rng_below(rng, 16) ? 0 : heap->requests + 1 + rng_below(rng, 4);
    result = io_tables_map(t, base + run.first, list ? frames : NULL, first, run.count, 3);
    heap->fail_at = 0;
    if (result == IO_NO_MEMORY) {
        m->failures++;
        return true;
    }
    if ((result == IO_DONE) == taken)
        return false;
    if (taken)
        return true;
    for (uint64_t i = 0; i < run.count; i++) {
        m->frame[run.first + i] = frames[i].value;
        m->count[run.first + i]++;
    }
    m->runs[m->live++] = run;
    return true;
}

static bool model_unmap(struct model *m, struct io_tables *t, struct rng *rng, uint64_t base)
{
    unsigned pick = (unsigned)rng_below(rng, m->live);
    struct run run = m->runs[pick];

    m->runs[pick] = m->runs[--m->live];
    m->released = 0;
    io_tables_unmap(t, base + run.first, run.count, count_released, m);
    for (uint64_t i = run.first; i < run.first + run.count; i++)
        m->count[i]--;
    return m->released == run.count;
}

static bool run_agrees(const struct model *m, const struct io_tables *t, struct rng *rng,
                       uint64_t base)
{
    uint64_t page = rng_below(rng, MODEL_PAGES), most = MODEL_PAGES - page, run = 1;
    uint64_t count = 1 + rng_below(rng, most < 2000 ? (uint32_t)most : 2000);
    bool mapped;

    while (run < count && !m->count[page + run] == !m->count[page])
        run++;
    return io_tables_run(t, base + page, count, &mapped) == run && mapped == (m->count[page] > 0);
}

static bool model_agrees(const struct model *m, const struct io_tables *t, uint64_t base,
                         uint64_t page)
{
    uint64_t count, rights, frame = table_frame_of(t, base + page, &count, &rights);

    return count == m->count[page] && (count == 0 || frame == m->frame[page]);
}

void table_agrees(struct util_heap *of, bool shared, uint64_t base, uint64_t seed, uint64_t steps)
{
    static struct model m;
    struct rng rng = {.state = seed};
    struct io_tables t;

    heap = of;
    memset(&m, 0, sizeof(m));
    io_tables_init(&t, shared);
    for (uint64_t step = 0; step < steps; step++) {
        if (m.live == 0 || (m.live < MODEL_RUNS && rng_below(&rng, 2)))
            CHECK(model_map(&m, &t, &rng, base));
        else
            CHECK(model_unmap(&m, &t, &rng, base));
        for (unsigned i = 0; i < 8; i++)
            CHECK(model_agrees(&m, &t, base, rng_below(&rng, MODEL_PAGES)));
        CHECK(run_agrees(&m, &t, &rng, base));
        if (step < 8000 || step % 1024 == 0)
            CHECK(io_tables_validate(&t));
        for (uint64_t page = 0; step % 4096 == 0 && page < MODEL_PAGES; page++)
            CHECK(model_agrees(&m, &t, base, page));
    }
    CHECK(m.failures > 0);
    while (m.live > 0)
        CHECK(model_unmap(&m, &t, &rng, base));
    CHECK(t.pages == 0 && t.tables - t.idle <= (uint64_t)IO_NEAR_TABLES * (IO_MAX_LEVELS - 1));
    CHECK(io_tables_validate(&t));
    io_tables_trim(&t);
    CHECK(t.tables == 0 && io_tables_bytes(&t) == 0 && io_tables_validate(&t));
    io_tables_finish(&t);
}
