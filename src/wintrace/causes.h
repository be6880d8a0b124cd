/* SPDX-License-Identifier: MIT */
/* What must happen before what, from lane to lane: the life of a packet from its queue through its
 * node and back, of a paging operation to its submission, of a signal to the wait for it. */
#ifndef DXGK_WINTRACE_CAUSES_H
#define DXGK_WINTRACE_CAUSES_H

#include "wintrace/subject.h"

enum cause {
    CAUSE_QUEUED_SUBMITTED,
    CAUSE_SUBMITTED_REPORTED,
    CAUSE_REPORTED_RETIRED,
    CAUSE_RETIRED_LEFT,
    CAUSE_BUILT_SUBMITTED,
    CAUSE_SIGNALLED_WAITED,
    CAUSES,
};

struct cause_seen {
    uint64_t holds, broken;
    size_t event; /* the first that came too early, or whose cause came too late */
};

extern const char *const cause_text[CAUSES]; /* "a packet is queued before it is submitted" */
extern const char *const cause_rule[CAUSES]; /* NULL: none */

/* False: out of memory. */
bool causes_look(const struct subject *subject, struct cause_seen seen[CAUSES]);

#endif
