/* SPDX-License-Identifier: MIT */
/*
 * A hostile device tries a million addresses in each mode that isolates, while memory is mapped and unmapped under it. The test
 * keeps its own idea of what is mapped and a copy of all RAM: what the device reads, and what became of every byte, must follow
 * from them. DXGK_LONG=1: all of the million; otherwise a tenth.
 */
#include "bus/dma.h"
#include "bus/support/dma_rig.h"
#include "ram/ram.h"
#include "support/check_rule.h"
#include "util/rng.h"

#include <stdlib.h>
#include <string.h>

enum { RAM_PAGES = 4096, LOGICAL_PAGES = 1 << 14, RUNS = 200, LONGEST = 3 * 4096 };

/* ---- what should be ---- */

struct run {
    struct logical_page logical[16];
    unsigned count;
};

struct world {
    struct dma_rig rig;
    enum iommu_mode mode;
    struct rng rng;
    uint8_t *shadow;
    uint16_t frame[LOGICAL_PAGES]; /* 0: not mapped */
    uint8_t owners[LOGICAL_PAGES]; /* ISOLATION: runs that map the page */
    uint8_t rights[LOGICAL_PAGES];
    struct run runs[RUNS];
    unsigned live;
    uint64_t refused, faults, wrong_cause;
};

static void count_fault(void *context, const struct iommu_fault *fault)
{
    struct world *w = context;

    w->faults++;
    w->wrong_cause += fault->cause == IOMMU_CAUSE_NONE || fault->cause > IOMMU_CAUSE_NO_RAM;
}

static void map(struct world *w)
{
    struct run *run = &w->runs[w->live];
    struct page_number pages[16];
    unsigned rights = 1 + rng_below(&w->rng, 3);

    run->count = 1 + rng_below(&w->rng, 16);
    if (w->mode == IOMMU_ISOLATION)
        rights = 3; /* shared pages have the union */
    pages[0].value = 1 + rng_below(&w->rng, RAM_PAGES - 20);
    for (unsigned i = 1; i < run->count; i++)
        pages[i].value = w->mode == IOMMU_ISOLATION || rng_below(&w->rng, 2)
                             ? pages[i - 1].value + 1
                             : 1 + rng_below(&w->rng, RAM_PAGES - 20);
    for (unsigned i = 0; i < run->count; i++)
        if (pages[i].value >= RAM_PAGES)
            pages[i].value = 7;
    if (w->mode == IOMMU_ISOLATION && pages[0].value + run->count > RAM_PAGES)
        return;
    CHECK(iommu_map(w->rig.domain, pages, run->count, rights, run->logical));
    for (unsigned i = 0; i < run->count; i++) {
        uint64_t at = run->logical[i].value;

        CHECK(at > 0 && at < LOGICAL_PAGES);
        w->frame[at] = (uint16_t)pages[i].value;
        w->rights[at] = (uint8_t)rights;
        w->owners[at]++;
    }
    w->live++;
}

static void unmap(struct world *w)
{
    unsigned pick = rng_below(&w->rng, w->live);
    struct run run = w->runs[pick];

    w->runs[pick] = w->runs[--w->live];
    iommu_unmap(w->rig.domain, run.logical, run.count);
    for (unsigned i = 0; i < run.count; i++)
        if (--w->owners[run.logical[i].value] == 0)
            w->frame[run.logical[i].value] = 0;
}

/* The byte of RAM that an access reaches; NULL: it is refused. */
static uint8_t *expected(struct world *w, uint64_t address, unsigned right)
{
    uint64_t page = address / 4096;

    if (page >= LOGICAL_PAGES || !w->frame[page] || !(w->rights[page] & right))
        return NULL;
    return w->shadow + w->frame[page] * 4096u + address % 4096;
}

/* ---- what it tries ---- */

static uint64_t choose_address(struct world *w)
{
    uint64_t in_page = rng_below(&w->rng, 4096);

    switch (rng_below(&w->rng, 8)) {
    case 0: /* anywhere at all */
        return rng_next(&w->rng);
    case 1: /* as if there were no IOMMU */
        return rng_below(&w->rng, RAM_PAGES) * 4096ull + in_page;
    case 2: /* just beside what it has, and around the ends of things */
    case 3:
        if (w->live > 0) {
            const struct run *run = &w->runs[rng_below(&w->rng, w->live)];

            return (run->logical[rng_below(&w->rng, run->count)].value + rng_below(&w->rng, 3) - 1) *
                       4096 +
                   in_page;
        }
        return in_page;
    case 4:
        return ((uint64_t)1 << rng_below(&w->rng, 64)) - rng_below(&w->rng, 64);
    default:
        return rng_below(&w->rng, LOGICAL_PAGES) * 4096ull + in_page;
    }
}

static void try_one(struct world *w)
{
    static uint8_t bytes[LONGEST], before[LONGEST];
    uint64_t address = choose_address(w);
    size_t count = 1 + rng_below(&w->rng, rng_below(&w->rng, 4) ? 16 : LONGEST);
    bool write = rng_below(&w->rng, 2), whole = true, was_refused = false;

    if (address > UINT64_MAX - LONGEST)
        count = 1;
    memset(bytes, (int)rng_below(&w->rng, 255), count);
    memcpy(before, bytes, count);
    if (write) {
        bool did = dma_rig_write(&w->rig, address, bytes, count);

        for (size_t i = 0; i < count; i++) {
            uint8_t *at = expected(w, address + i, IOMMU_WRITE);

            whole &= at != NULL;
            if (at)
                *at = before[i];
        }
        CHECK(did == whole);
    } else {
        bool did = dma_rig_read(&w->rig, address, bytes, count);

        for (size_t i = 0; i < count; i++) {
            const uint8_t *at = expected(w, address + i, IOMMU_READ);

            whole &= at != NULL;
            if (bytes[i] != (at ? *at : 0xFF))
                fail_msg("read of %zu bytes at 0x%llx: byte %zu is wrong", count,
                         (unsigned long long)address, i);
        }
        CHECK(did == whole);
    }
    was_refused = !whole;
    w->refused += was_refused;
    CHECK(w->faults >= w->refused);
}

static bool ram_is_as_it_should_be(const struct world *w)
{
    return memcmp(ram_direct(w->rig.ram, (struct phys_addr){0}), w->shadow, RAM_PAGES * 4096u) == 0;
}

static void attack(enum iommu_mode mode, uint64_t seed)
{
    static struct world w;
    const unsigned accesses = getenv("DXGK_LONG") ? 1000000 : 100000;
    uint8_t *all;

    memset(&w, 0, sizeof(w));
    w.mode = mode;
    w.rng.state = seed;
    w.shadow = malloc(RAM_PAGES * 4096u);
    CHECK(w.shadow && dma_rig_create(&w.rig, mode, RAM_PAGES * 4096u, LOGICAL_PAGES * 4096u - 1));
    bus_device_on_fault(w.rig.device, count_fault, &w);
    all = ram_direct(w.rig.ram, (struct phys_addr){0});
    for (size_t i = 0; i < RAM_PAGES * 4096u; i += 8) {
        uint64_t value = rng_next(&w.rng);

        memcpy(all + i, &value, 8);
        memcpy(w.shadow + i, &value, 8);
    }
    for (unsigned i = 0; i < accesses; i++) {
        if (i % 16 == 0) {
            if (w.live < RUNS && (w.live == 0 || rng_below(&w.rng, 2)))
                map(&w);
            else if (w.live > 0)
                unmap(&w);
        }
        try_one(&w);
        if (i % 25000 == 0)
            CHECK_RULE("IOMMU-070/a", ram_is_as_it_should_be(&w));
    }
    CHECK_RULE("IOMMU-070/a", ram_is_as_it_should_be(&w) && w.refused > accesses / 4);
    CHECK_RULE("IOMMU-071", ram_is_as_it_should_be(&w) && w.refused < accesses);
    CHECK(w.wrong_cause == 0 && iommu_validate(w.rig.domain));
    CHECK(dma_rig_destroy(&w.rig));
    free(w.shadow);
}

TEST(isolated)
{
    attack(IOMMU_ISOLATION, 21);
}

TEST(logical)
{
    attack(IOMMU_REMAP, 22);
}
