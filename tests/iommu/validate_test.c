/* SPDX-License-Identifier: MIT */
/* The validators notice each record that does not agree with another one. */
#include "iommu/domain_record.h"
#include "iommu/io_table.h"
#include "iommu/iommu.h"
#include "ram/ram.h"
#include "support/check_rule.h"
#include "util/address.h"
#include "util/alloc.h"

static struct util_heap heap;
static struct ram *ram;

static int set_up(void)
{
    heap = (struct util_heap){0};
    util_heap_current = &heap;
    ram = ram_create(&(struct ram_config){.bytes = (uint64_t)16 << 20});
    return ram ? 0 : -1;
}

static int tear_down(void)
{
    ram_destroy(ram);
    util_heap_current = NULL;
    return heap.live_blocks == 0 ? 0 : -1;
}

#define RIG_ARGUMENT_validate void
#define RIG_RUN_validate(body)      \
    test_set_up(set_up, tear_down); \
    body()

/* With another value of one member the records do not hold. */
#define WRONG(valid, member, value)            \
    do {                                       \
        __typeof__(member) before_ = (member); \
                                               \
        CHECK(valid);                          \
        (member) = (value);                    \
        CHECK(!(valid));                       \
        (member) = before_;                    \
    } while (0)

static struct io_table *child(const struct io_table *table, uint64_t page)
{
    return (struct io_table *)(uintptr_t)table->entry[page >> (9 * table->level) & 511];
}

TEST_WITH(validate, tables_agree_with_their_entries)
{
    struct io_tables t;
    struct io_table *root, *leaf, *empty;

    io_tables_init(&t, false);
    CHECK(io_tables_map(&t, 512, NULL, 512, 512, 3) == IO_DONE);  /* one large leaf */
    CHECK(io_tables_map(&t, 5, NULL, 7, 3, 3) == IO_DONE);        /* three small ones */
    CHECK(io_tables_map(&t, 2048 + 9, NULL, 7, 1, 1) == IO_DONE); /* a table that is idle then */
    io_tables_unmap(&t, 2048 + 9, 1, NULL, NULL);
    root = t.root;
    leaf = child(root, 5);
    empty = child(root, 2048);
    CHECK(root->level == 1 && leaf->used == 3 && empty->used == 0 && t.idle == 1);

#define VALID io_tables_validate(&t)
    WRONG(VALID, t.pages, t.pages + 1);
    WRONG(VALID, t.large, t.large + 1);
    WRONG(VALID, t.tables, t.tables + 1);
    WRONG(VALID, t.idle, 0);
    WRONG(VALID, t.spares, t.spares + 1);
    WRONG(VALID, t.keep_count, 1);
    WRONG(VALID, t.levels, 0);
    WRONG(VALID, root->used, root->used + 1);
    WRONG(VALID, leaf->used, leaf->used - 1);
    WRONG(VALID, leaf->parent, leaf);
    WRONG(VALID, leaf->page, 512);
    WRONG(VALID, root->level, 2);
    WRONG(VALID, leaf->entry[5], leaf->entry[5] & ~IO_RIGHTS);
    WRONG(VALID, leaf->entry[5], leaf->entry[5] + IO_COUNT_ONE);
    WRONG(VALID, leaf->entry[5], leaf->entry[5] - IO_COUNT_ONE);
    WRONG(VALID, leaf->entry[5], leaf->entry[5] & ~IO_LEAF);
    WRONG(VALID, leaf->entry[4], leaf->entry[5]);
    WRONG(VALID, root->entry[1], root->entry[1] + IO_FRAME_ONE);
    WRONG(VALID, root->entry[1], 0);
    WRONG(VALID, t.near[4], NULL); /* the idle one is no longer known */
    WRONG(VALID, t.near[0], empty);
    WRONG(VALID, t.near[7], leaf);
    WRONG(VALID, t.upper, leaf);
    t.shared = true;
    leaf->entry[5] += IO_COUNT_ONE;
    CHECK(VALID);
    leaf->entry[5] -= IO_COUNT_ONE;
    t.shared = false;
    CHECK(VALID);
    io_tables_finish(&t);
}

TEST_WITH(validate, spare_tables_are_empty)
{
    struct io_tables t;

    io_tables_init(&t, false);
    CHECK(io_tables_map(&t, 1 << 18, NULL, 7, 1, 3) == IO_DONE);
    io_tables_unmap(&t, 1 << 18, 1, NULL, NULL);
    CHECK(io_tables_map(&t, 1 << 18, NULL, 1 << 18, 1 << 18, 3) == IO_DONE);
    CHECK(t.spares > 0);
    WRONG(VALID, t.spare->used, 1);
    WRONG(VALID, t.spare->entry[0], 1);
    WRONG(VALID, t.spare->entry[511], 1);
    WRONG(VALID, t.spares, 0);
    io_tables_finish(&t);
    CHECK(VALID && t.root == NULL && t.spares == 0);
    WRONG(VALID, t.levels, 1);
#undef VALID
}

TEST_WITH(validate, domains_agree_with_ram_and_addresses)
{
    struct iommu_domain *domain = iommu_domain_create(ram, IOMMU_REMAP,
                                                      (struct logical_addr){1024 * PAGE_BYTES - 1});
    const struct page_number frame = {50};
    struct logical_page at;

    CHECK(domain && iommu_map_run(domain, frame, 4, IOMMU_READ, &at));
#define VALID iommu_validate(domain)
    WRONG(VALID, domain->highest_page, at.value + 2);
    WRONG(VALID, domain->ring_count, IOMMU_RING_RANGES + 1);
    WRONG(VALID, domain->tables.pages, 5);
    WRONG(VALID, domain->mode, IOMMU_ISOLATION);
    ram_iommu_unmap_page(ram, (struct page_number){53});
    CHECK(!VALID);
    ram_iommu_map_page(ram, (struct page_number){53});
    CHECK(extent_give(&domain->logical, at.value, 4) && !VALID);
    CHECK(extent_take_fixed(&domain->logical, at.value, 4) && VALID);
#undef VALID
    iommu_domain_destroy(domain);
}
