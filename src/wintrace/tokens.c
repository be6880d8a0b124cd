/* SPDX-License-Identifier: MIT */
#include "wintrace/tokens.h"
#include "util/alloc.h"
#include "wintrace/ids.h"
#include "wintrace/known.h"

#include <string.h>

#define OTHER_HANDLE UINT64_C(0x0DD)
#define NULL_HANDLE  UINT64_C(0x0)
#define NO_FENCE     UINT64_C(0x8000000000000001) /* no distance that comes about */
#define IMPLICIT     UINT64_C(0x5E9)

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b * UINT64_C(0x9E3779B97F4A7C15)) + UINT64_C(0xD1B54A32D192ED03);

    x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return x ^ x >> 29;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0;

    for (; *text; text++)
        hash = mix(hash, (uint8_t)*text);
    return hash;
}

const struct wintrace_event *token_event(const struct side *side, const struct lane *lane,
                                         size_t item)
{
    return &side->trace->event[lane->item[item].event];
}

/* ---- fields that both have ---- */

static size_t index_of(const struct wintrace_kind *kind)
{
    return (size_t)(kind - wintrace_kind_at(0));
}

static size_t kinds(void)
{
    size_t count = 0;

    while (wintrace_kind_at(count))
        count++;
    return count;
}

/* The fields of a kind that are in every version of the event that the other trace has. */
static uint64_t shared_of(const struct wintrace_kind *kind, const bool *used)
{
    uint64_t mask = UINT64_MAX;

    for (size_t k = 0; wintrace_kind_at(k); k++) {
        const struct wintrace_kind *other = wintrace_kind_at(k);

        if (other->id != kind->id || !used[k])
            continue;
        for (unsigned i = 0; i < kind->fields && i < 64; i++) {
            unsigned at = field_find(other, kind->field[i].name);

            if (at == other->fields || !other->field[at].count != !kind->field[i].count)
                mask &= ~(UINT64_C(1) << i);
        }
    }
    return mask;
}

static bool share(struct side *side, const struct side *with)
{
    size_t count = kinds();
    bool *used = util_zalloc(count, sizeof(*used));

    side->shared = util_zalloc(count, sizeof(*side->shared));
    if (used && side->shared) {
        for (size_t i = 0; i < with->trace->events; i++)
            used[index_of(with->trace->event[i].kind)] = true;
        for (size_t k = 0; k < count; k++)
            side->shared[k] = shared_of(wintrace_kind_at(k), used);
    }
    util_free(used);
    return used && side->shared;
}

bool tokens_share(struct side *a, struct side *b)
{
    return share(a, b) && share(b, a);
}

bool token_has(const struct side *side, const struct wintrace_kind *kind, unsigned field)
{
    return field < 64 && (side->shared[index_of(kind)] >> field & 1) &&
           field_role(kind, field) != FIELD_IGNORED;
}

/* ---- counters ---- */

static bool is_counter(enum field_role role)
{
    return role == FIELD_SUBMISSION || role == FIELD_SEQUENCE || role == FIELD_FENCE;
}

static uint64_t named(const struct side *side, const struct wintrace_event *event, const char *name)
{
    uint64_t value;

    (void)wintrace_get(side->trace, event, name, &value);
    return value;
}

/* The element of an array, or the value itself. */
static uint64_t element(const struct side *side, const struct wintrace_event *event, unsigned field,
                        uint64_t at)
{
    uint64_t value = side->trace->value[event->values + field];

    return event->kind->field[field].count ? side->trace->value[value + 1 + at] : value;
}

/* Of what the values of a counter are counted: a number for it that is not zero. */
static uint64_t scope_of(const struct side *side, const struct lane *lane, size_t item,
                         unsigned field, uint64_t at)
{
    const struct wintrace_event *event = token_event(side, lane, item);
    const char *name = event->kind->field[field].name;
    unsigned objects = field_find(event->kind, "ObjectArray");

    switch (field_role(event->kind, field)) {
    case FIELD_SUBMISSION:
        return mix(mix(lane->key, lane->kind),
                   named(side, event, "PacketType") == PACKET_PREEMPTION) |
               1;
    case FIELD_SEQUENCE:
        if (strcmp(name, "SubmitSequence") == 0 || strcmp(name, "ulQueueSubmitSequence") == 0)
            return mix(named(side, event, "hContext"), 'S') | 1;
        return mix(mix(lane->key, hash_of(name)), event->kind->id) | 1;
    default:
        if (strcmp(name, "FenceValue") == 0 && objects < event->kind->fields)
            return mix(element(side, event, objects, at), 'F') | 1;
        if (strcmp(name, "FenceValue") == 0)
            return mix(named(side, event, "hSyncObject"), 'F') | 1;
        if (strcmp(name, "PagingFenceValue") == 0)
            return mix('P', 'F') | 1;
        return mix(mix(lane->key, lane->kind), hash_of(name)) | 1;
    }
}

/* What is counted; 0 of fences is none. */
static uint64_t counter(const struct side *side, const struct lane *lane, size_t item,
                        unsigned field, uint64_t at)
{
    const struct wintrace_event *event = token_event(side, lane, item);

    return lane->kind == LANE_NODE && field_role(event->kind, field) == FIELD_SUBMISSION
               ? lane->item[item].submission
               : element(side, event, field, at);
}

static uint64_t elements(const struct side *side, const struct wintrace_event *event, unsigned field)
{
    return event->kind->field[field].count || event->kind->field[field].type == WINTRACE_STRING
               ? side->trace->value[side->trace->value[event->values + field]]
               : 1;
}

/* A field of an event of a lane. */
struct place {
    struct side *side;
    const struct lane *lane;
    size_t item;
    unsigned field;
};

static bool learn_base(struct side *side, uint64_t scope, uint64_t value)
{
    return hash_get(&side->bases, scope) ||
           hash_put(&side->bases, scope, (void *)(uintptr_t)(value + 1));
}

/* The element of a counter is a zero of its scope on both sides, unless it is none. */
static bool learn_element(const struct place *x, const struct place *y, uint64_t k)
{
    uint64_t a = counter(x->side, x->lane, x->item, x->field, k);
    uint64_t b = counter(y->side, y->lane, y->item, y->field, k);
    const struct wintrace_kind *kind = token_event(x->side, x->lane, x->item)->kind;

    if (field_role(kind, x->field) == FIELD_FENCE && (!a || !b))
        return true;
    return learn_base(x->side, scope_of(x->side, x->lane, x->item, x->field, k), a) &&
           learn_base(y->side, scope_of(y->side, y->lane, y->item, y->field, k), b);
}

bool token_learn_bases(struct side *ours, const struct lane *a, size_t i, struct side *windows,
                       const struct lane *b, size_t j)
{
    const struct wintrace_event *x = token_event(ours, a, i), *y = token_event(windows, b, j);
    bool good = true;

    for (unsigned field = 0; good && field < x->kind->fields; field++) {
        unsigned at = field_find(y->kind, x->kind->field[field].name);

        if (!token_has(ours, x->kind, field) || at == y->kind->fields ||
            !is_counter(field_role(x->kind, field)))
            continue;
        for (uint64_t k = 0; good && k < elements(ours, x, field) && k < elements(windows, y, at);
             k++)
            good = learn_element(&(struct place){ours, a, i, field},
                                 &(struct place){windows, b, j, at}, k);
    }
    return good;
}

static uint64_t distance(const struct side *side, const struct lane *lane, size_t item,
                         unsigned field, uint64_t at)
{
    const struct wintrace_event *event = token_event(side, lane, item);
    uint64_t base = (uintptr_t)hash_get(&side->bases, scope_of(side, lane, item, field, at));
    uint64_t value = counter(side, lane, item, field, at);

    if (field_role(event->kind, field) == FIELD_FENCE && !value)
        return NO_FENCE;
    /* sequences of 32 bits end before those of 64 bits do */
    if (event->kind->field[field].type == WINTRACE_UINT32)
        return base ? (uint64_t)(int64_t)(int32_t)(uint32_t)(value - (base - 1)) + 1 : 1;
    return base ? value - (base - 1) + 1 : 1;
}

bool token_distance(const struct side *side, const struct lane *lane, size_t item, unsigned field,
                    int64_t *result)
{
    const struct wintrace_event *event = token_event(side, lane, item);

    if (!is_counter(field_role(event->kind, field)) || event->kind->field[field].count ||
        !hash_get(&side->bases, scope_of(side, lane, item, field, 0)))
        return false;
    *result = (int64_t)(distance(side, lane, item, field, 0) - 1);
    return field_role(event->kind, field) != FIELD_FENCE || counter(side, lane, item, field, 0);
}

/* ---- tokens ---- */

static uint64_t handle_token(const struct side *side, const struct lane *lane, uint64_t handle)
{
    uint64_t pair;

    if (!handle)
        return NULL_HANDLE;
    if (handle == lane->key)
        return 1;
    pair = (uintptr_t)hash_get(&side->paired, handle_key(handle));
    return pair ? pair + OTHER_HANDLE : OTHER_HANDLE;
}

static uint64_t element_token(const struct side *side, const struct lane *lane, size_t item,
                              unsigned field, uint64_t at)
{
    const struct wintrace_event *event = token_event(side, lane, item);
    uint64_t value = element(side, event, field, at);

    switch (field_role(event->kind, field)) {
    case FIELD_CONTEXT:
    case FIELD_ALLOCATION:
        return handle_token(side, lane, value);
    case FIELD_OBJECT:
    case FIELD_POINTER:
        return value != 0;
    case FIELD_SEGMENT:
        return !value || value == side->subject.system_segment ? IMPLICIT : value;
    case FIELD_SUBMISSION:
    case FIELD_SEQUENCE:
    case FIELD_FENCE:
        return distance(side, lane, item, field, at);
    default:
        return value;
    }
}

uint64_t token_field(const struct side *side, const struct lane *lane, size_t item, unsigned field)
{
    const struct wintrace_event *event = token_event(side, lane, item);
    uint64_t count = elements(side, event, field), token = count;

    if (event->kind->field[field].type == WINTRACE_STRING) {
        uint64_t at = side->trace->value[event->values + field];

        for (uint64_t k = 0; k < count; k++)
            token = mix(token, side->trace->value[at + 1 + k]);
        return token;
    }
    for (uint64_t k = 0; k < count; k++)
        token = mix(token, element_token(side, lane, item, field, k));
    return token;
}

static uint64_t token(const struct side *side, const struct lane *lane, size_t item, bool counted)
{
    const struct wintrace_event *event = token_event(side, lane, item);
    uint64_t token = event->kind->id;

    for (unsigned i = 0; i < event->kind->fields; i++) {
        const char *name = event->kind->field[i].name;

        if (!token_has(side, event->kind, i) || known_field(event->kind->id, name) ||
            (!counted && is_counter(field_role(event->kind, i))))
            continue;
        /* a sum: versions of an event may have their fields in different orders */
        token += mix(hash_of(name), token_field(side, lane, item, i));
    }
    return mix(token, event->kind->id);
}

uint64_t token_plain(const struct side *side, const struct lane *lane, size_t item)
{
    return token(side, lane, item, false);
}

uint64_t token_counted(const struct side *side, const struct lane *lane, size_t item)
{
    return token(side, lane, item, true);
}
