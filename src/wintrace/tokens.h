/* SPDX-License-Identifier: MIT */
/*
 * Events of a trace as numbers that are equal where two traces say the same. Handles are told by
 * the lane that they are the key of, counters by their distance from a base, the implicit segment
 * of system memory by one number; what fields.h ignores and known.h allows to differ is left out,
 * and so are fields that the other trace's version of the event does not have.
 */
#ifndef DXGK_WINTRACE_TOKENS_H
#define DXGK_WINTRACE_TOKENS_H

#include "wintrace/fields.h"
#include "wintrace/lanes.h"

/* One of the two traces. */
struct side {
    const struct wintrace *trace;
    struct subject subject;
    struct lanes lanes;
    struct hash_map paired; /* number of the pair of lanes that a handle is the key of */
    struct hash_map bases;  /* of counters, and 1 */
    struct hash_map names;  /* numbers of handles by first appearance, for those who read */
    uint64_t named;
    uint64_t *shared; /* for each kind a bit for each field that the other side has, too */
};

/* Which fields the sides have in common. False: out of memory. */
bool tokens_share(struct side *a, struct side *b);

/* What the event says without its counters, or with them as distances from their bases. */
uint64_t token_plain(const struct side *side, const struct lane *lane, size_t item);
uint64_t token_counted(const struct side *side, const struct lane *lane, size_t item);
/* The same of one field. */
uint64_t token_field(const struct side *side, const struct lane *lane, size_t item, unsigned field);
/* The counters of two events that agree get bases, where they have none: these are their zeros.
 * False: out of memory. */
bool token_learn_bases(struct side *ours, const struct lane *a, size_t i, struct side *windows,
                       const struct lane *b, size_t j);
/* Whether a field is looked at. */
bool token_has(const struct side *side, const struct wintrace_kind *kind, unsigned field);
/* The distance of a counter from its base; false: it is no counter, or has none. */
bool token_distance(const struct side *side, const struct lane *lane, size_t item, unsigned field,
                    int64_t *distance);

const struct wintrace_event *token_event(const struct side *side, const struct lane *lane,
                                         size_t item);

#endif
