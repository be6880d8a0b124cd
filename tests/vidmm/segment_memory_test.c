/* SPDX-License-Identifier: MIT */
/* Memory of one segment: runs, alignment, limits, and the order in which segments are tried. */
#include "bus/memory.h"
#include "support/mm_rig.h"
#include "support/mm_segments.h"

#define PAGES_64K 16u

static struct vidmm_segment segment;
static struct vidmm_run *runs;
static uint32_t run_count;

/* A segment with these free pages: pairs of first and number, ended by 0 pages. */
static void with(uint64_t page_bytes, const uint64_t (*ranges)[2])
{
    memset(&segment, 0, sizeof(segment));
    segment.id = 3;
    segment.page_bytes = page_bytes;
    extent_tree_init(&segment.free);
    for (; (*ranges)[1]; ranges++)
        CHECK(extent_give(&segment.free, (*ranges)[0], (*ranges)[1]));
}

static bool run_is(uint32_t n, uint64_t first, uint64_t pages)
{
    return n < run_count && runs[n].segment == 3 && runs[n].first == first && runs[n].pages == pages;
}

static NTSTATUS take(uint64_t pages, uint64_t align, bool contiguous, bool from_end)
{
    runs = NULL;
    run_count = 0;
    return segment_take(&segment, pages, align, contiguous, from_end, &runs, &run_count);
}

static void done(void)
{
    util_free(runs);
    runs = NULL;
    extent_tree_finish(&segment.free);
}

TEST_WITH(mm_bare, scattered_runs_are_the_largest_there_are)
{
    static const uint64_t ranges[][2] = {{1, 3}, {10, 8}, {30, 5}, {0, 0}};

    (void)rig;
    with(PAGE_BYTES, ranges);
    CHECK(take(14, PAGE_BYTES, false, false) == STATUS_SUCCESS);
    CHECK_RULE("RES-056", run_count == 3 && run_is(0, 10, 8) && run_is(1, 30, 5) && run_is(2, 1, 1));
    CHECK(segment.mapped_bytes == 14 * PAGE_BYTES && segment.free.free_units == 2);
    done();
    with(PAGE_BYTES, ranges);
    CHECK(take(4, PAGE_BYTES, false, false) == STATUS_SUCCESS);
    CHECK(run_count == 1 && run_is(0, 10, 4));
    done();
    with(PAGE_BYTES, ranges);
    CHECK(take(4, PAGE_BYTES, false, true) == STATUS_SUCCESS);
    CHECK(run_count == 1 && run_is(0, 31, 4)); /* from the end */
    done();
    with(PAGE_BYTES, ranges);
    CHECK(take(16, 0, false, false) == STATUS_SUCCESS && run_count == 3 && run_is(2, 1, 3));
    done();
    with(PAGE_BYTES, ranges);
    CHECK(take(17, 0, false, false) == STATUS_NO_MEMORY && !runs);
    CHECK(segment.mapped_bytes == 0 && segment.free.free_units == 16);
    done();
}

/* Where the largest free range has no aligned run of the size, smaller ones are tried. */
TEST_WITH(mm_bare, scattered_runs_are_aligned)
{
    static const uint64_t ranges[][2] = {{1, 39}, {64, 16}, {100, 15}, {0, 0}};

    (void)rig;
    with(PAGE_BYTES, ranges);
    CHECK(take(32, 65536, false, false) == STATUS_SUCCESS);
    CHECK_RULE("ALLOC-028", run_count == 2 && run_is(0, 16, 16) && run_is(1, 64, 16));
    CHECK(segment.mapped_bytes == 32 * PAGE_BYTES && segment.free.free_units == 38);
    done();
    with(PAGE_BYTES, ranges);
    CHECK(take(32, 65536, false, true) == STATUS_SUCCESS);
    CHECK(run_count == 2 && run_is(0, 64, 16) && run_is(1, 16, 16));
    done();
    /* more than there are aligned: nothing is taken */
    with(PAGE_BYTES, ranges);
    CHECK(take(48, 65536, false, false) == STATUS_NO_MEMORY && !runs);
    CHECK(segment.mapped_bytes == 0 && segment.free.free_units == 70);
    CHECK(extent_is_free(&segment.free, 1, 39) && extent_is_free(&segment.free, 64, 16));
    done();
    with(PAGE_BYTES, ranges);
    CHECK(take(5, 65536, false, false) == STATUS_SUCCESS && run_count == 1 && run_is(0, 16, 5));
    done();
}

/* Half of what did not fit, in whole steps of the alignment. */
TEST_WITH(mm_bare, smaller_runs_are_tried_in_steps)
{
    static const uint64_t ranges[][2] = {{5, 100}, {208, 16}, {0, 0}};
    static const uint64_t none[][2] = {{17, 15}, {0, 0}};

    (void)rig;
    with(PAGE_BYTES, ranges);
    CHECK(take(80, 65536, false, false) == STATUS_SUCCESS && run_count == 1 && run_is(0, 16, 80));
    done();
    with(PAGE_BYTES, ranges); /* 89 pages lie behind page 16 */
    CHECK(take(96, 65536, false, false) == STATUS_SUCCESS);
    CHECK(run_count == 3 && run_is(0, 16, 48) && run_is(1, 64, 32) && run_is(2, 208, 16));
    done();
    with(PAGE_BYTES, ranges);
    CHECK(take(105, 65536, false, false) == STATUS_SUCCESS && run_count == 4 && run_is(3, 96, 9));
    done();
    with(PAGE_BYTES, ranges);
    CHECK(take(106, 65536, false, false) == STATUS_NO_MEMORY);
    CHECK(segment.free.free_units == 116);
    done();
    with(PAGE_BYTES, none);
    CHECK(take(2, 65536, false, false) == STATUS_NO_MEMORY && segment.free.free_units == 15);
    CHECK(take(15, PAGE_BYTES, false, false) == STATUS_SUCCESS && run_is(0, 17, 15));
    done();
}

TEST_WITH(mm_bare, a_contiguous_request_has_one_run)
{
    static const uint64_t ranges[][2] = {{1, 20}, {40, 40}, {0, 0}};

    (void)rig;
    with(PAGE_BYTES, ranges);
    CHECK(take(40, PAGE_BYTES, true, false) == STATUS_SUCCESS && run_count == 1);
    CHECK_RULE("ALLOC-058", run_is(0, 40, 40) && segment.mapped_bytes == 40 * PAGE_BYTES);
    done();
    with(PAGE_BYTES, ranges);
    CHECK(take(41, PAGE_BYTES, true, false) == STATUS_NO_MEMORY && !runs);
    CHECK(segment.mapped_bytes == 0 && segment.free.free_units == 60);
    CHECK(take(32, 65536, true, false) == STATUS_SUCCESS && run_is(0, 48, 32));
    done();
    with(PAGE_BYTES, ranges);
    CHECK(take(33, 65536, true, false) == STATUS_NO_MEMORY);
    done();
}

/* Large pages round sizes and places up, whatever the alignment of the allocation. */
TEST_WITH(mm_bare, large_pages_are_taken_whole)
{
    static const uint64_t ranges[][2] = {{16, 64}, {0, 0}};

    (void)rig;
    with(65536, ranges);
    CHECK(segment_pages(&segment, 1) == PAGES_64K && segment_pages(&segment, 16) == PAGES_64K &&
          segment_pages(&segment, 17) == 2 * PAGES_64K);
    CHECK(take(17, PAGE_BYTES, true, false) == STATUS_SUCCESS);
    CHECK_RULE("SEG-052", run_is(0, 16, 32) && segment.mapped_bytes == 32 * PAGE_BYTES);
    util_free(runs);
    CHECK(take(1, PAGE_BYTES, false, false) == STATUS_SUCCESS);
    CHECK_RULE("SEG-052", run_count == 1 && run_is(0, 48, 16));
    CHECK(segment.mapped_bytes == 48 * PAGE_BYTES);
    util_free(runs);
    CHECK(take(17, PAGE_BYTES, false, false) == STATUS_NO_MEMORY);
    done();
}

/* Each request of memory for the records fails in turn: nothing is taken. */
TEST_WITH(mm_bare, taking_survives_every_fault)
{
    static const uint64_t ranges[][2] = {{1, 3}, {10, 8}, {30, 5}, {0, 0}};
    struct util_heap *heap = &rig->base.sim->heap;

    for (unsigned contiguous = 0; contiguous < 2; contiguous++) {
        NTSTATUS status = STATUS_INSUFFICIENT_RESOURCES;
        unsigned nth;

        for (nth = 1; status == STATUS_INSUFFICIENT_RESOURCES; nth++) {
            CHECK(nth < 20);
            with(PAGE_BYTES, ranges);
            heap->fail_at = heap->requests + nth;
            status = take(contiguous ? 6 : 14, PAGE_BYTES, contiguous, false);
            heap->fail_at = 0;
            if (status != STATUS_SUCCESS)
                CHECK(!runs && segment.mapped_bytes == 0 && segment.free.free_units == 16 &&
                      extent_is_free(&segment.free, 10, 8));
            done();
        }
        CHECK(status == STATUS_SUCCESS && nth > 2);
    }
}

/* ---- limits of apertures ---- */

TEST_WITH(mm_bare, commits_are_limited_twice)
{
    static struct vidmm vidmm;

    (void)rig;
    memset(&vidmm, 0, sizeof(vidmm));
    memset(&segment, 0, sizeof(segment));
    segment.commit_limit = 10 * PAGE_BYTES;
    segment.mapped_bytes = 4 * PAGE_BYTES;
    vidmm.aperture_limit = 20 * PAGE_BYTES;
    vidmm.aperture_mapped = 14 * PAGE_BYTES;
    CHECK_RULE("SEG-033", segment_aperture_commits(&vidmm, &segment, 6 * PAGE_BYTES) &&
                              !segment_aperture_commits(&vidmm, &segment, 7 * PAGE_BYTES));
    vidmm.aperture_mapped = 16 * PAGE_BYTES;
    CHECK_RULE("SEG-035", segment_aperture_commits(&vidmm, &segment, 4 * PAGE_BYTES) &&
                              !segment_aperture_commits(&vidmm, &segment, 5 * PAGE_BYTES));
    segment.mapped_bytes = 8 * PAGE_BYTES;
    CHECK_RULE("SEG-033", segment_aperture_commits(&vidmm, &segment, 2 * PAGE_BYTES) &&
                              !segment_aperture_commits(&vidmm, &segment, 3 * PAGE_BYTES));
}

/* ---- the order ---- */

TEST_WITH(mm_bare, preferred_segments_come_first)
{
    static struct vidmm vidmm;
    struct vidmm_allocation a = {.vidmm = &vidmm};
    UINT order[VIDMM_MAX_SEGMENTS], down = 99;

    (void)rig;
    memset(&vidmm, 0, sizeof(vidmm));
    vidmm.segment_count = 5;
    a.segments.supported = 0x1D; /* 1, 3, 4, 5 */
    CHECK(segment_order(&a, order, &down) == 4 && down == 0);
    CHECK_RULE("RES-051", order[0] == 1 && order[1] == 3 && order[2] == 4 && order[3] == 5);
    a.segments.preferred[0] = 0;
    a.segments.preferred[1] = 4;
    a.segments.preferred[2] = 2; /* not in the set */
    a.segments.preferred[3] = 4; /* there already */
    a.segments.preferred[4] = 1;
    a.segments.preferred_down = 0x1A; /* of the second, the fourth and the fifth */
    CHECK(segment_order(&a, order, &down) == 4 && down == 3);
    CHECK_RULE("ALLOC-034", order[0] == 4 && order[1] == 1 && order[2] == 3 && order[3] == 5);
    a.segments.preferred_down = 0x15;
    CHECK(segment_order(&a, order, &down) == 4);
    CHECK_RULE("ALLOC-037", down == 2);
    a.flags.FromEndOfSegment = 1;
    CHECK(segment_order(&a, order, &down) == 4);
    CHECK_RULE("ALLOC-051", down == 0xE); /* without a direction of its own */
    a.segments.supported = 0;
    CHECK(segment_order(&a, order, &down) == 0 && down == 0);
}

/* ---- where the CPU sees it ---- */

TEST_WITH(mm_bare, only_visible_segments_have_a_cpu_address, *options = mm_plain_options(),
          options->segment[0] = mm_segment_visible(MM_BASE, 4 * MM_MB, 8 * (uint64_t)MM_MB))
{
    uint8_t *bar = bus_device_memory(rig->base.device, 0);

    CHECK(NT_SUCCESS(mm_create_vidmm(rig)));
    CHECK_RULE("SEG-026", segment_cpu(rig->vidmm, 1, (struct segment_addr){0x123}) ==
                              bar + 8 * (size_t)MM_MB + 0x123);
    CHECK(!segment_cpu(rig->vidmm, 2, (struct segment_addr){0}));
    vidmm_destroy(rig->vidmm);
    rig->options.segment[0] = mm_segment_memory(MM_BASE, 4 * MM_MB);
    CHECK(NT_SUCCESS(mm_create_vidmm(rig)));
    CHECK(!segment_cpu(rig->vidmm, 1, (struct segment_addr){0}));
    vidmm_destroy(rig->vidmm);
    rig->vidmm = NULL;
}
