/* SPDX-License-Identifier: MIT */
#include "wintrace/compare.h"
#include "util/alloc.h"
#include "wintrace/diff.h"
#include "wintrace/known.h"
#include "wintrace/reserve.h"
#include "wintrace/touched.h"

#include <stdio.h>
#include <string.h>

/* ---- sides ---- */

static bool name_handle(struct side *side, uint64_t handle)
{
    if (!handle || hash_get(&side->names, handle_key(handle)))
        return true;
    return hash_put(&side->names, handle_key(handle), (void *)(uintptr_t)++side->named);
}

static bool name_field(struct side *side, const struct wintrace_event *event, unsigned field)
{
    uint64_t value = side->trace->value[event->values + field];
    enum field_role role = field_role(event->kind, field);
    bool good = true;

    if (role != FIELD_CONTEXT && role != FIELD_ALLOCATION && role != FIELD_OBJECT)
        return true;
    if (!event->kind->field[field].count)
        return name_handle(side, value);
    for (uint64_t i = 0; good && i < side->trace->value[value]; i++)
        good = name_handle(side, side->trace->value[value + 1 + i]);
    return good;
}

static bool name_handles(struct side *side)
{
    bool good = true;

    for (size_t i = 0; good && i < side->trace->events; i++)
        for (unsigned k = 0; good && k < side->trace->event[i].kind->fields; k++)
            good = name_field(side, &side->trace->event[i], k);
    return good;
}

static bool side_init(struct side *side, const struct wintrace *trace,
                      const struct subject_choice *choice, char *error, size_t error_bytes)
{
    side->trace = trace;
    hash_init(&side->paired);
    hash_init(&side->bases);
    hash_init(&side->names);
    if (!subject_init(&side->subject, trace, choice, error, error_bytes))
        return false;
    snprintf(error, error_bytes, "out of memory");
    return lanes_init(&side->lanes, &side->subject) && name_handles(side);
}

static void side_finish(struct side *side)
{
    lanes_finish(&side->lanes);
    subject_finish(&side->subject);
    hash_finish(&side->paired);
    hash_finish(&side->bases);
    hash_finish(&side->names);
    util_free(side->shared);
}

/* ---- pairs ---- */

/* The lanes of a kind, in the order of their first events. */
struct group {
    size_t *lane;
    uint64_t *sign; /* what pairs are made by */
    size_t count;
};

static uint64_t sign_of(const struct side *side, const struct lane *lane)
{
    const struct subject_context *context;

    switch (lane->kind) {
    case LANE_NODE:
    case LANE_SOURCE:
        return lane->key;
    case LANE_CONTEXT:
        context = subject_find(&side->subject, lane->key);
        return context ? context->node : SUBJECT_NO_NODE;
    case LANE_ALLOCATION:
        return token_plain(side, lane, 0);
    default:
        return 0;
    }
}

static bool group_init(struct group *group, const struct side *side, enum lane_kind kind)
{
    group->lane = util_zalloc(side->lanes.count + 1, sizeof(*group->lane));
    group->sign = util_zalloc(side->lanes.count + 1, sizeof(*group->sign));
    group->count = 0;
    if (!group->lane || !group->sign)
        return false;
    for (size_t i = 0; i < side->lanes.count; i++) {
        const struct lane *lane = &side->lanes.lane[i];

        if (lane->kind != kind)
            continue;
        group->lane[group->count] = i;
        group->sign[group->count++] = sign_of(side, lane);
    }
    return true;
}

static void group_finish(struct group *group)
{
    util_free(group->lane);
    util_free(group->sign);
}

static unsigned number_of(struct comparison *c, enum lane_kind kind, uint64_t key)
{
    unsigned number = ++c->numbers[kind];

    return kind == LANE_NODE || kind == LANE_SOURCE ? (unsigned)key : number;
}

/* Handles of contexts and allocations are told by the numbers of their pairs from here on. */
static bool add_pair(struct comparison *c, enum lane_kind kind, const struct lane *a,
                     const struct lane *b)
{
    struct compare_pair *pair;
    uint64_t key = 0;

    if (!wintrace_reserve((void **)&c->pair, c->pairs, &c->room, sizeof(*c->pair)))
        return false;
    if (a)
        key = a->key;
    else if (b)
        key = b->key;
    pair = &c->pair[c->pairs];
    *pair = (struct compare_pair){kind, number_of(c, kind, key), a, b, {0}, NULL};
    c->pairs++;
    if ((kind != LANE_CONTEXT && kind != LANE_ALLOCATION) || !a || !b)
        return true;
    return (!a->key || hash_put(&c->ours.paired, handle_key(a->key), (void *)(uintptr_t)c->pairs)) &&
           (!b->key ||
            hash_put(&c->windows.paired, handle_key(b->key), (void *)(uintptr_t)c->pairs));
}

static const struct lane *lane_at(const struct side *side, const struct group *group, size_t index)
{
    return &side->lanes.lane[group->lane[index]];
}

/* Lanes that agree with none: what is like each other is paired nevertheless, in order. */
static bool pair_gap(struct comparison *c, const struct group *a, size_t i, size_t to_i,
                     const struct group *b, size_t j, size_t to_j, enum lane_kind kind)
{
    bool good = true, loose = kind == LANE_ALLOCATION;

    for (; good && loose && i < to_i && j < to_j; i++, j++)
        good = add_pair(c, kind, lane_at(&c->ours, a, i), lane_at(&c->windows, b, j));
    for (; good && i < to_i; i++)
        good = add_pair(c, kind, lane_at(&c->ours, a, i), NULL);
    for (; good && j < to_j; j++)
        good = add_pair(c, kind, NULL, lane_at(&c->windows, b, j));
    return good;
}

static bool pair_groups(struct comparison *c, const struct group *a, const struct group *b,
                        enum lane_kind kind)
{
    size_t *match = util_zalloc(a->count + 1, sizeof(*match)), i = 0, j = 0;
    bool good = match && diff_run(a->sign, a->count, b->sign, b->count, match);

    for (size_t at = 0; good && at < a->count; at++) {
        if (match[at] == DIFF_NONE)
            continue;
        good = pair_gap(c, a, i, at, b, j, match[at], kind) &&
               add_pair(c, kind, lane_at(&c->ours, a, at), lane_at(&c->windows, b, match[at]));
        i = at + 1;
        j = match[at] + 1;
    }
    good = good && pair_gap(c, a, i, a->count, b, j, b->count, kind);
    util_free(match);
    return good;
}

static bool pair_kind(struct comparison *c, enum lane_kind kind)
{
    struct group a = {0}, b = {0};
    bool good = group_init(&a, &c->ours, kind) && group_init(&b, &c->windows, kind) &&
                pair_groups(c, &a, &b, kind);

    group_finish(&a);
    group_finish(&b);
    return good;
}

/* ---- comparing ---- */

static const struct wintrace_event *first_event(const struct comparison *c,
                                                const struct compare_pair *pair)
{
    if (pair->ours && pair->result.part != ALIGN_ONLY_WINDOWS)
        return token_event(&c->ours, pair->ours, pair->result.ours);
    return token_event(&c->windows, pair->windows, pair->result.windows);
}

static bool compare_lanes(struct comparison *c, struct compare_pair *pair)
{
    if (pair->ours && pair->windows) {
        if (!align_lanes(&c->state, &c->ours, pair->ours, &c->windows, pair->windows, &pair->result))
            return false;
    } else {
        pair->result.part = pair->ours ? ALIGN_ONLY_OURS : ALIGN_ONLY_WINDOWS;
        pair->result.differences = pair->ours ? pair->ours->items : pair->windows->items;
    }
    if (pair->result.part == ALIGN_EQUAL)
        return true;
    c->parted++;
    pair->rule = touched_rule(first_event(c, pair)->kind->id, pair->result.field);
    return true;
}

static uint64_t count_of(const struct side *side, uint16_t id)
{
    uint64_t count = 0;

    for (size_t i = 0; i < side->trace->events; i++)
        count += side->trace->event[i].kind->id == id;
    return count;
}

static void count_known_events(struct comparison *c)
{
    const struct wintrace_kind *kind;

    for (size_t k = 0; (kind = wintrace_kind_at(k)) != NULL; k++) {
        uint64_t a, b;

        if (!known_event(kind->id) || (k && wintrace_kind_at(k - 1)->id == kind->id))
            continue;
        a = count_of(&c->ours, kind->id);
        b = count_of(&c->windows, kind->id);
        if (a != b)
            align_count_known(&c->state, kind->id, NULL, a > b ? a - b : b - a);
    }
}

bool compare_order_parts(const struct comparison *c, enum cause cause)
{
    const struct cause_seen *a = &c->ours_order[cause], *b = &c->windows_order[cause];

    return (a->broken && !b->broken && b->holds) || (b->broken && !a->broken && a->holds);
}

static bool compare(struct comparison *c)
{
    bool good = tokens_share(&c->ours, &c->windows) && pair_kind(c, LANE_CONTEXT) &&
                pair_kind(c, LANE_ALLOCATION) && pair_kind(c, LANE_NODE) &&
                pair_kind(c, LANE_SOURCE) && pair_kind(c, LANE_QUEUE) && pair_kind(c, LANE_CALLS);

    for (size_t i = 0; good && i < c->pairs; i++)
        good = compare_lanes(c, &c->pair[i]);
    if (!good || !causes_look(&c->ours.subject, c->ours_order) ||
        !causes_look(&c->windows.subject, c->windows_order))
        return false;
    count_known_events(c);
    for (unsigned i = 0; i < CAUSES; i++)
        c->orders_parted += compare_order_parts(c, i);
    return true;
}

/* ---- the whole ---- */

struct comparison *compare_create(const struct wintrace *ours, const struct wintrace *windows,
                                  const struct compare_choice *choice, bool *of_windows,
                                  char *error, size_t error_bytes)
{
    struct comparison *c = util_zalloc(1, sizeof(*c));

    *of_windows = false;
    snprintf(error, error_bytes, "out of memory");
    if (!c)
        return NULL;
    align_state_init(&c->state);
    if (side_init(&c->ours, ours, &choice->ours, error, error_bytes)) {
        *of_windows = true;
        if (side_init(&c->windows, windows, &choice->windows, error, error_bytes)) {
            if (compare(c))
                return c;
            snprintf(error, error_bytes, "out of memory");
        }
    }
    compare_destroy(c);
    return NULL;
}

void compare_destroy(struct comparison *c)
{
    if (!c)
        return;
    side_finish(&c->ours);
    side_finish(&c->windows);
    align_state_finish(&c->state);
    util_free(c->pair);
    util_free(c);
}
