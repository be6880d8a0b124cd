/* SPDX-License-Identifier: MIT */
/* Intervals from a chronicle: what was placed and left, mapped and unmapped, in whole or in part. */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>

#include "report/intervals.h"
#include "util/alloc.h"
#include "util/array.h"
#include "vidmm/record/chronicle.h"

#define NOW 1000u

static struct chronicle_event event(uint64_t time, enum chronicle_kind kind, uint32_t allocation,
                                    uint64_t first, uint64_t pages)
{
    return (struct chronicle_event){
        .time = time, .kind = kind, .allocation = allocation, .first = first, .pages = pages};
}

static bool is(const struct report_intervals *intervals, size_t at, uint64_t from, uint64_t to,
               bool ended, uint64_t first, uint64_t pages)
{
    const struct report_interval *interval = &intervals->list[at];

    return at < intervals->count && interval->from == from && interval->to == to &&
           interval->ended == ended && interval->first == first && interval->pages == pages;
}

TEST(a_stay_is_all_runs_of_an_allocation_until_it_leaves)
{
    struct chronicle_event events[] = {
        event(10, CHRONICLE_PLACED, 1, 0, 4),  event(10, CHRONICLE_PLACED, 1, 8, 2),
        event(20, CHRONICLE_PLACED, 2, 16, 1), event(25, CHRONICLE_LEFT, 3, 0, 0),
        event(30, CHRONICLE_LEFT, 1, 0, 0),    event(40, CHRONICLE_PLACED, 1, 32, 6),
        event(50, CHRONICLE_PLACED, 2, 16, 1),
    };
    struct chronicle chronicle = {.events = events, .count = ARRAY_COUNT(events)};
    struct report_intervals stays;

    events[4].why = 2;
    events[4].room_for = 9;
    CHECK(report_stays(&chronicle, NOW, &stays));
    CHECK(stays.count == 4); /* the second allocation was there all the time */
    CHECK(is(&stays, 0, 10, 30, true, 0, 4) && is(&stays, 1, 10, 30, true, 8, 2));
    CHECK(stays.list[1].why == 2 && stays.list[1].room_for == 9 && stays.list[2].room_for == 0);
    CHECK(is(&stays, 2, 20, NOW, false, 16, 1) && is(&stays, 3, 40, NOW, false, 32, 6));
    report_intervals_free(&stays);
}

TEST(what_is_unmapped_in_part_goes_on_beside_it)
{
    struct chronicle_event events[] = {
        event(10, CHRONICLE_MAPPED, 1, 100, 10),   event(10, CHRONICLE_MAPPED, 2, 110, 10),
        event(20, CHRONICLE_UNMAPPED, 0, 105, 2),  event(30, CHRONICLE_UNMAPPED, 0, 108, 4),
        event(40, CHRONICLE_UNMAPPED, 0, 0, 1000),
    };
    struct chronicle chronicle = {.events = events, .count = ARRAY_COUNT(events)};
    struct report_intervals mappings;

    events[0].offset = 50;
    events[0].protection = events[1].protection = 1;
    events[3].why = 1;
    CHECK(report_mappings(&chronicle, NOW, &mappings));
    CHECK(mappings.count == 6);
    CHECK(is(&mappings, 0, 10, 20, true, 100, 10) && is(&mappings, 1, 10, 30, true, 110, 10));
    CHECK(is(&mappings, 2, 20, 40, true, 100, 5) && mappings.list[2].offset == 50);
    CHECK(is(&mappings, 3, 20, 30, true, 107, 3) && mappings.list[3].offset == 57 &&
          mappings.list[3].why == 1 && mappings.list[3].allocation == 1);
    CHECK(is(&mappings, 4, 30, 40, true, 107, 1) && mappings.list[4].protection == 1);
    CHECK(is(&mappings, 5, 30, 40, true, 112, 8) && mappings.list[5].offset == 2 &&
          mappings.list[5].allocation == 2);
    report_intervals_free(&mappings);
}

TEST(processes_do_not_meet)
{
    struct chronicle_event events[] = {
        event(10, CHRONICLE_MAPPED, 1, 100, 10),
        event(20, CHRONICLE_MAPPED, 1, 100, 10),
        event(30, CHRONICLE_UNMAPPED, 0, 100, 10),
    };
    struct chronicle chronicle = {.events = events, .count = ARRAY_COUNT(events)};
    struct report_intervals mappings;

    events[1].process = events[2].process = 7;
    CHECK(report_mappings(&chronicle, NOW, &mappings) && mappings.count == 2);
    CHECK(is(&mappings, 0, 10, NOW, false, 100, 10) && is(&mappings, 1, 20, 30, true, 100, 10) &&
          mappings.list[1].process == 7);
    report_intervals_free(&mappings);
}

static bool of_segment(const struct report_interval *interval, uint32_t segment)
{
    return interval->segment == segment;
}

/* What leaves at the time at which something comes has left before. */
TEST(the_fullest_moment_is_told)
{
    struct report_interval list[] = {
        {.from = 0, .to = 10, .ended = true, .segment = 1, .pages = 5},
        {.from = 10, .to = 30, .ended = true, .segment = 1, .pages = 6},
        {.from = 20, .to = 40, .segment = 1, .pages = 2},
        {.from = 21, .to = 40, .segment = 2, .pages = 100},
        {.from = 30, .to = 40, .ended = true, .segment = 1, .pages = 5},
    };
    struct report_intervals intervals = {.list = list, .count = ARRAY_COUNT(list)};
    uint64_t pages = 0, time = 0;

    CHECK(report_fullest(&intervals, of_segment, 1, &pages, &time) && pages == 8 && time == 20);
    CHECK(report_fullest(&intervals, of_segment, 3, &pages, &time) && pages == 0 && time == 0);
}

TEST(every_failing_allocation_is_survived)
{
    struct chronicle_event events[] = {
        event(10, CHRONICLE_PLACED, 1, 0, 4),     event(10, CHRONICLE_MAPPED, 1, 100, 10),
        event(20, CHRONICLE_UNMAPPED, 0, 105, 2), event(30, CHRONICLE_LEFT, 1, 0, 0),
        event(40, CHRONICLE_PLACED, 2, 0, 4),
    };
    struct chronicle chronicle = {.events = events, .count = ARRAY_COUNT(events)};
    struct util_heap heap = {0};
    struct report_intervals intervals;
    unsigned failures = 0;

    util_heap_current = &heap;
    for (uint64_t at = 1; at < 20; at++) {
        heap.fail_at = heap.requests + at;
        if (!report_stays(&chronicle, NOW, &intervals) && ++failures)
            CHECK(heap.live_blocks == 0);
        report_intervals_free(&intervals);
        heap.fail_at = heap.requests + at;
        if (!report_mappings(&chronicle, NOW, &intervals) && ++failures)
            CHECK(heap.live_blocks == 0);
        report_intervals_free(&intervals);
        CHECK(heap.live_blocks == 0);
    }
    CHECK(failures >= 6);
    util_heap_current = NULL;
}
