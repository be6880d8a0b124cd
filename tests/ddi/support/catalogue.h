/* SPDX-License-Identifier: MIT */
/* Every entry of the door, with the group of rules that says who may be inside beside it, and its level. */
#ifndef DXGK_TESTS_CATALOGUE_H
#define DXGK_TESTS_CATALOGUE_H

#include "port/support/probe.h"

enum group {
    ZERO,            /* THREAD-014 */
    ZERO_LATER,      /* THREAD-015 */
    ZERO_OTHER,      /* THREAD-022 */
    EVENT,           /* THREAD-014, and at any time */
    SCHEDULER,       /* THREAD-019 */
    SCHEDULER_LATER, /* THREAD-020 */
    VIDMM,           /* THREAD-021 */
    ROOT,            /* THREAD-021 */
    SWIZZLING,       /* THREAD-023 */
    CHILD_ONE,       /* THREAD-024, of one child */
    CHILD_TWO,       /* of another */
    TWO,             /* THREAD-027 */
    THREE,           /* THREAD-030 */
    EXCLUSIVE,       /* THREAD-036 */
};

struct entry {
    enum probe_ddi ddi;
    const char *name;
    enum group group;
    uint8_t irql;
    const char *irql_rule;
    void (*call)(struct ddi_adapter *door);
};

extern const struct entry catalogue[];
extern const size_t catalogue_count;

static inline bool is_level_two_or_three(const struct entry *entry)
{
    return entry->group == TWO || entry->group == THREE || entry->group == EXCLUSIVE;
}

/* Every entry of the catalogue is in the driver's table. */
void catalogue_provide(struct probe *p);

/* The entry of a DDI, which there is. */
const struct entry *catalogue_find(enum probe_ddi ddi);

#endif
