/* SPDX-License-Identifier: MIT */
/*
 * Two lanes beside each other, and where they first part. They are aligned twice (diff.h): first
 * without counters, which tells from which events on counters are compared, then with them. Handles
 * that are no key of a lane are held against each other along the alignment: the first places where
 * two appear together make them partners.
 */
#ifndef DXGK_WINTRACE_ALIGN_H
#define DXGK_WINTRACE_ALIGN_H

#include "wintrace/tokens.h"

enum align_part {
    ALIGN_EQUAL,
    ALIGN_FIELD,        /* a field of an event differs */
    ALIGN_ONLY_OURS,    /* an event is in one trace alone, */
    ALIGN_ONLY_WINDOWS, /* or other events stand at the place */
    ALIGN_OTHER,
};

/* A difference that is known, by event and field. */
struct align_known {
    uint16_t event;
    const char *field; /* NULL: the event itself */
    uint64_t count;
};

#define ALIGN_KNOWN 256u

/* What was found of all lanes. */
struct align_state {
    struct hash_map partner, partner_back; /* of handles, ours to Windows' and back */
    struct align_known known[ALIGN_KNOWN];
    unsigned knowns;
};

struct align_result {
    enum align_part part;
    size_t ours, windows; /* items at which they part */
    const char *field;    /* of ALIGN_FIELD */
    uint64_t differences; /* events that agree with none */
};

void align_state_init(struct align_state *state);
void align_state_finish(struct align_state *state);
/* Add to a known difference. */
void align_count_known(struct align_state *state, uint16_t event, const char *field, uint64_t count);
/* False: out of memory. */
bool align_lanes(struct align_state *state, struct side *ours, const struct lane *a,
                 struct side *windows, const struct lane *b, struct align_result *result);

#endif
