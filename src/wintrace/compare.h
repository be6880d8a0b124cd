/* SPDX-License-Identifier: MIT */
/*
 * Two traces of the same work held against each other: of a run of this host, and of Windows. Of
 * each, one adapter and one process are taken (subject.h), their events sorted into lanes
 * (lanes.h), lanes paired, and pairs aligned (align.h); what lies between lanes is told by what
 * must happen before what (causes.h).
 *
 * Alignment is Myers' O(ND) difference with a bound (diff.h): a lane of N events on both sides with
 * D differences costs O(N D), D at most DIFF_MOST; the rest is linear in the events. Contexts are
 * paired by their nodes, allocations by their first operations, both in the order in which they
 * appear; nodes and sources by their numbers.
 */
#ifndef DXGK_WINTRACE_COMPARE_H
#define DXGK_WINTRACE_COMPARE_H

#include "wintrace/align.h"
#include "wintrace/causes.h"

/* A lane of each trace; one may be NULL: the other has none like it. */
struct compare_pair {
    enum lane_kind kind;
    unsigned number; /* of its kind, from 1; of a node or source its own */
    const struct lane *ours, *windows;
    struct align_result result;
    const char *rule; /* that the first difference touches; NULL: none */
};

struct comparison {
    struct side ours, windows;
    struct compare_pair *pair;
    size_t pairs, room;
    unsigned numbers[LANE_CALLS + 1]; /* pairs of each kind */
    size_t parted;                    /* pairs that are not equal */
    struct cause_seen ours_order[CAUSES], windows_order[CAUSES];
    unsigned orders_parted; /* that hold in one trace alone */
    struct align_state state;
};

struct compare_choice {
    struct subject_choice ours, windows;
};

/* The traces must live as long as the comparison. NULL: *error says why, in one sentence, and
 * *of_windows of which trace. */
struct comparison *compare_create(const struct wintrace *ours, const struct wintrace *windows,
                                  const struct compare_choice *choice, bool *of_windows,
                                  char *error, size_t error_bytes);
void compare_destroy(struct comparison *comparison);
/* Whether an order holds in one trace alone. */
bool compare_order_parts(const struct comparison *comparison, enum cause cause);

#endif
