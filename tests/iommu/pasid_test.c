/* SPDX-License-Identifier: MIT */
/* Address spaces of processes by PASID: what is mapped, how long, and the numbers. */
#include "iommu/pasid.h"
#include "support/check_rule.h"
#include "util/alloc.h"

enum { BOTH = IOMMU_READ | IOMMU_WRITE };

static struct iommu_pasids pasids;
static struct util_heap heap;

static int set_up(void)
{
    heap = (struct util_heap){0};
    util_heap_current = &heap;
    iommu_pasids_init(&pasids);
    return 0;
}

static int tear_down(void)
{
    iommu_pasids_finish(&pasids);
    util_heap_current = NULL;
    return heap.live_blocks == 0 ? 0 : -1;
}

#define RIG_ARGUMENT_pasid void
#define RIG_RUN_pasid(body)         \
    test_set_up(set_up, tear_down); \
    body()

static bool map(uint32_t pasid, uint64_t page, uint64_t frame, uint64_t count, unsigned access)
{
    return iommu_pasid_map(&pasids, pasid, (struct logical_page){page}, (struct page_number){frame},
                           count, access);
}

static uint64_t translate(uint32_t pasid, uint64_t address, enum iommu_access access)
{
    struct phys_addr physical = {UINT64_MAX};

    return iommu_pasid_translate(&pasids, pasid, address, access, &physical) ? physical.value : 0;
}

TEST_WITH(pasid, spaces_map_what_was_entered)
{
    uint32_t first = iommu_pasid_create(&pasids), second = iommu_pasid_create(&pasids);

    assert_true(first == 1 && second == 2);
    assert_true(map(first, 0x100, 0x700, 3, BOTH) && map(second, 0x100, 0x900, 1, IOMMU_READ));
    assert_false(map(first, 0x102, 0x800, 1, BOTH)); /* taken */
    assert_int_equal(translate(first, 0x100000, IOMMU_READ), 0x700000);
    assert_int_equal(translate(first, 0x102FFF, IOMMU_WRITE), 0x702FFF);
    assert_int_equal(translate(first, 0xFFFFF, IOMMU_READ), 0);
    assert_int_equal(translate(first, 0x103000, IOMMU_READ), 0);
    assert_int_equal(translate(second, 0x100008, IOMMU_READ), 0x900008);
    assert_int_equal(translate(second, 0x100008, IOMMU_WRITE), 0);
    iommu_pasid_unmap(&pasids, first, (struct logical_page){0x101}, 1);
    assert_int_equal(translate(first, 0x100000, IOMMU_READ), 0x700000);
    assert_int_equal(translate(first, 0x101000, IOMMU_READ), 0);
    assert_int_equal(translate(first, 0x102000, IOMMU_READ), 0x702000);
    assert_true(map(first, 0x101, 0x555, 1, IOMMU_WRITE));
    assert_int_equal(translate(first, 0x101010, IOMMU_WRITE), 0x555010);
    assert_int_equal(translate(first, 0x101010, IOMMU_READ), 0);
    iommu_pasid_unmap(&pasids, 77, (struct logical_page){0x100}, 1); /* there is none */
    assert_false(map(77, 1, 1, 1, BOTH));
    assert_int_equal(translate(77, 0x1000, IOMMU_READ), 0);
    assert_int_equal(translate(0, 0x100000, IOMMU_READ), 0);
}

/* A large run is one entry of a higher level. */
TEST_WITH(pasid, large_runs_are_translated_to_the_byte)
{
    uint32_t pasid = iommu_pasid_create(&pasids);

    assert_true(map(pasid, 0x400, 0x20000, 1024, BOTH));
    for (uint64_t page = 0; page < 1024; page += 93)
        assert_int_equal(translate(pasid, (0x400 + page) << 12 | 0x123, IOMMU_WRITE),
                         (0x20000 + page) << 12 | 0x123);
    assert_int_equal(translate(pasid, 0x800ull << 12, IOMMU_READ), 0);
}

TEST_WITH(pasid, numbers_live_until_they_are_destroyed)
{
    uint32_t pasid = iommu_pasid_create(&pasids);

    assert_true(map(pasid, 5, 6, 1, BOTH));
    assert_int_equal(iommu_pasid_state(&pasids, pasid), PASID_LIVE);
    assert_int_equal(translate(pasid, 0x5000, IOMMU_READ), 0x6000);
    iommu_pasid_retire(&pasids, pasid);
    assert_int_equal(iommu_pasid_state(&pasids, pasid), PASID_RETIRED);
    assert_int_equal(translate(pasid, 0x5000, IOMMU_READ), 0);
    iommu_pasid_destroy(&pasids, pasid);
    assert_int_equal(iommu_pasid_state(&pasids, pasid), PASID_UNKNOWN);
    iommu_pasid_retire(&pasids, pasid);
    iommu_pasid_destroy(&pasids, pasid);
    assert_int_equal(iommu_pasid_create(&pasids), pasid + 1); /* as late as possible */
}

TEST_WITH(pasid, numbers_fit_twenty_bits)
{
    uint32_t kept = iommu_pasid_create(&pasids);

    pasids.last = (1u << PASID_BITS) - 2;
    CHECK_RULE("IOMMU-105/a", iommu_pasid_create(&pasids) == (1u << PASID_BITS) - 1);
    CHECK_RULE("IOMMU-105/b", iommu_pasid_create(&pasids) == kept + 1); /* 0 is none, 1 is in use */
}

TEST_WITH(pasid, failing_requests_leave_nothing)
{
    for (uint64_t n = 1, pasid = 0; pasid == 0; n++) {
        uint64_t blocks = heap.live_blocks;

        heap.fail_at = heap.requests + n;
        pasid = iommu_pasid_create(&pasids);
        heap.fail_at = 0;
        assert_true(pasid != 0 || heap.live_blocks <= blocks + 1);
        assert_true(n < 10);
    }
}
