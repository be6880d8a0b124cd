/* SPDX-License-Identifier: MIT */
/* From the chronicle of an adapter's memory: what was where, from when to when. */
#ifndef DXGK_REPORT_INTERVALS_H
#define DXGK_REPORT_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chronicle;

struct report_interval {
    uint64_t from, to; /* virtual ns */
    bool ended;        /* false: it lasts still, and `to` is now */
    uint32_t allocation, process, segment;
    uint64_t first, pages; /* of the segment, or of the address space */
    uint64_t offset, protection;
    uint32_t why, room_for; /* as in the chronicle */
};

struct report_intervals {
    struct report_interval *list; /* in the order of their beginning */
    size_t count, capacity;
};

/* Allocations in segments; pages of address spaces. False: out of memory. The cost is O(events log
 * intervals). */
bool report_stays(const struct chronicle *chronicle, uint64_t now, struct report_intervals *out);
bool report_mappings(const struct chronicle *chronicle, uint64_t now, struct report_intervals *out);
/* The most pages of intervals that `of` chooses that lasted at one time, and when. False: out of
 * memory. */
bool report_fullest(const struct report_intervals *intervals,
                    bool (*of)(const struct report_interval *interval, uint32_t key), uint32_t key,
                    uint64_t *pages, uint64_t *time);
void report_intervals_free(struct report_intervals *intervals);

#endif
