/* SPDX-License-Identifier: MIT */
#include "wintrace/align.h"
#include "util/alloc.h"
#include "wintrace/diff.h"
#include "wintrace/known.h"

#include <string.h>

struct work {
    struct align_state *state;
    struct side *ours, *windows;
    const struct lane *a, *b;
    uint64_t *a_token, *b_token;
    size_t *match;
    struct align_result *result;
    bool no_memory;
};

void align_state_init(struct align_state *state)
{
    memset(state, 0, sizeof(*state));
    hash_init(&state->partner);
    hash_init(&state->partner_back);
}

void align_state_finish(struct align_state *state)
{
    hash_finish(&state->partner);
    hash_finish(&state->partner_back);
}

void align_count_known(struct align_state *state, uint16_t event, const char *field, uint64_t count)
{
    unsigned i = 0;

    while (i < state->knowns &&
           (state->known[i].event != event ||
            (state->known[i].field && field ? strcmp(state->known[i].field, field) != 0
                                            : state->known[i].field != field)))
        i++;
    if (i == ALIGN_KNOWN)
        return;
    if (i == state->knowns)
        state->known[state->knowns++] = (struct align_known){event, field, 0};
    state->known[i].count += count;
}

/* ---- the alignment ---- */

static bool match(struct work *w, bool counted)
{
    for (size_t i = 0; i < w->a->items; i++)
        w->a_token[i] = counted ? token_counted(w->ours, w->a, i) : token_plain(w->ours, w->a, i);
    for (size_t i = 0; i < w->b->items; i++)
        w->b_token[i] = counted ? token_counted(w->windows, w->b, i)
                                : token_plain(w->windows, w->b, i);
    return diff_run(w->a_token, w->a->items, w->b_token, w->b->items, w->match);
}

static bool learn_bases(const struct work *w)
{
    for (size_t i = 0; i < w->a->items; i++)
        if (w->match[i] != DIFF_NONE &&
            !token_learn_bases(w->ours, w->a, i, w->windows, w->b, w->match[i]))
            return false;
    return true;
}

/* ---- where they part ---- */

static void part(const struct work *w, enum align_part how, size_t ours, size_t windows,
                 const char *field)
{
    if (w->result->part != ALIGN_EQUAL)
        return;
    w->result->part = how;
    w->result->ours = ours;
    w->result->windows = windows;
    w->result->field = field;
}

/* Whether handles of two fields are known to belong to others. */
static bool are_strangers(const struct work *w, const struct wintrace_event *x, unsigned i,
                          const struct wintrace_event *y, unsigned k)
{
    uint64_t a = w->ours->trace->value[x->values + i];
    uint64_t b = w->windows->trace->value[y->values + k];
    uint64_t known = (uintptr_t)hash_get(&w->state->partner, handle_key(a));

    return field_role(x->kind, i) == FIELD_OBJECT && !x->kind->field[i].count &&
           !y->kind->field[k].count && a && b && known && known != b;
}

/* The first field, in the order of ours, that differs; NULL: none does. */
static const char *differing(const struct work *w, size_t ours, size_t windows)
{
    const struct wintrace_event *x = token_event(w->ours, w->a, ours);
    const struct wintrace_event *y = token_event(w->windows, w->b, windows);
    const struct wintrace_kind *a = x->kind, *b = y->kind;

    for (unsigned i = 0; a->id == b->id && i < a->fields; i++) {
        unsigned at = field_find(b, a->field[i].name);

        if (token_has(w->ours, a, i) && at < b->fields && !known_field(a->id, a->field[i].name) &&
            (token_field(w->ours, w->a, ours, i) != token_field(w->windows, w->b, windows, at) ||
             are_strangers(w, x, i, y, at)))
            return a->field[i].name;
    }
    return NULL;
}

/* Events that agree with none: of ours up to `i`, of Windows' up to `j`. */
static void see_gap(const struct work *w, size_t from_i, size_t i, size_t from_j, size_t j)
{
    uint16_t a, b;

    w->result->differences += i - from_i + j - from_j;
    if (from_i == i || from_j == j) {
        if (from_i < i)
            part(w, ALIGN_ONLY_OURS, from_i, from_j, NULL);
        else if (from_j < j)
            part(w, ALIGN_ONLY_WINDOWS, from_i, from_j, NULL);
        return;
    }
    a = token_event(w->ours, w->a, from_i)->kind->id;
    b = token_event(w->windows, w->b, from_j)->kind->id;
    if (a == b)
        part(w, ALIGN_FIELD, from_i, from_j, differing(w, from_i, from_j));
    else
        part(w, ALIGN_OTHER, from_i, from_j, NULL);
}

/* ---- events that agree ---- */

/* Whether two handles have been partners all along; they become so if both are new. */
static bool are_partners(struct work *w, uint64_t a, uint64_t b)
{
    uint64_t known_b = (uintptr_t)hash_get(&w->state->partner, handle_key(a));
    uint64_t known_a = (uintptr_t)hash_get(&w->state->partner_back, handle_key(b));

    if (!known_a && !known_b && a && b &&
        (!hash_put(&w->state->partner, handle_key(a), (void *)(uintptr_t)b) ||
         !hash_put(&w->state->partner_back, handle_key(b), (void *)(uintptr_t)a))) {
        w->no_memory = true;
        return true;
    }
    return (!known_a && !known_b) || (known_a == a && known_b == b);
}

static bool same_handles(struct work *w, const struct wintrace_event *x, unsigned i,
                         const struct wintrace_event *y, unsigned k)
{
    const uint64_t *a = &w->ours->trace->value[x->values + i];
    const uint64_t *b = &w->windows->trace->value[y->values + k];
    uint64_t count = 1;

    if (x->kind->field[i].count) {
        a = &w->ours->trace->value[*a];
        b = &w->windows->trace->value[*b];
        count = *a++ < *b ? a[-1] : *b;
        b++;
    }
    for (uint64_t e = 0; e < count; e++)
        if (!are_partners(w, a[e], b[e]))
            return false;
    return true;
}

static void see_match(struct work *w, size_t ours, size_t windows)
{
    const struct wintrace_event *x = token_event(w->ours, w->a, ours);
    const struct wintrace_event *y = token_event(w->windows, w->b, windows);

    for (unsigned i = 0; i < x->kind->fields && !w->no_memory; i++) {
        const char *name = x->kind->field[i].name;
        unsigned k = field_find(y->kind, name);

        if (!token_has(w->ours, x->kind, i) || k == y->kind->fields)
            continue;
        if (field_role(x->kind, i) == FIELD_OBJECT && !same_handles(w, x, i, y, k)) {
            w->result->differences++;
            part(w, ALIGN_FIELD, ours, windows, name);
        }
        if (known_field(x->kind->id, name) &&
            token_field(w->ours, w->a, ours, i) != token_field(w->windows, w->b, windows, k))
            align_count_known(w->state, x->kind->id, name, 1);
    }
}

static void walk(struct work *w)
{
    size_t i = 0, j = 0;

    for (size_t at = 0; at < w->a->items && !w->no_memory; at++) {
        if (w->match[at] == DIFF_NONE)
            continue;
        see_gap(w, i, at, j, w->match[at]);
        see_match(w, at, w->match[at]);
        i = at + 1;
        j = w->match[at] + 1;
    }
    see_gap(w, i, w->a->items, j, w->b->items);
}

bool align_lanes(struct align_state *state, struct side *ours, const struct lane *a,
                 struct side *windows, const struct lane *b, struct align_result *result)
{
    struct work w = {state, ours, windows, a, b, .result = result};
    bool good;

    memset(result, 0, sizeof(*result));
    w.a_token = util_zalloc(a->items + 1, sizeof(uint64_t));
    w.b_token = util_zalloc(b->items + 1, sizeof(uint64_t));
    w.match = util_zalloc(a->items + 1, sizeof(size_t));
    good = w.a_token && w.b_token && w.match && match(&w, false) && learn_bases(&w) &&
           match(&w, true);
    if (good)
        walk(&w);
    util_free(w.a_token);
    util_free(w.b_token);
    util_free(w.match);
    return good && !w.no_memory;
}
