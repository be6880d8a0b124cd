/* SPDX-License-Identifier: MIT */
#include "wintrace/decode.h"
#include "wintrace/reserve.h"

#include <string.h>

struct payload {
    const uint8_t *at, *end;
    unsigned pointer_bytes;
};

static bool put(struct wintrace *trace, uint64_t value)
{
    if (!wintrace_reserve((void **)&trace->value, trace->values, &trace->value_room,
                          sizeof(*trace->value)))
        return false;
    trace->value[trace->values++] = value;
    return true;
}

unsigned decode_bytes(enum wintrace_type type, unsigned pointer_bytes)
{
    switch (type) {
    case WINTRACE_UINT8:
        return 1;
    case WINTRACE_UINT16:
    case WINTRACE_STRING:
        return 2;
    case WINTRACE_UINT64:
    case WINTRACE_INT64:
        return 8;
    case WINTRACE_POINTER:
        return pointer_bytes;
    default:
        return 4;
    }
}

static bool take(struct payload *p, enum wintrace_type type, uint64_t *value)
{
    unsigned bytes = decode_bytes(type, p->pointer_bytes);

    *value = 0;
    if ((size_t)(p->end - p->at) < bytes)
        return false;
    memcpy(value, p->at, bytes); /* both ends are little */
    if (type == WINTRACE_INT32)
        *value = (uint64_t)(int64_t)(int32_t)*value;
    p->at += bytes;
    return true;
}

/* The number of elements, from the field that has it. */
static uint64_t count_of(const struct wintrace *trace, size_t values,
                         const struct wintrace_kind *kind, const char *name)
{
    for (unsigned i = 0; i < kind->fields; i++)
        if (strcmp(kind->field[i].name, name) == 0)
            return trace->value[values + i];
    return 0;
}

/* Elements go behind the numbers of the event, their length first. */
static enum decode_result take_many(struct wintrace *trace, struct payload *p, size_t slot,
                                    enum wintrace_type type, uint64_t count)
{
    size_t length = trace->values;
    uint64_t value;

    trace->value[slot] = length;
    if (!put(trace, 0))
        return DECODE_NO_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        if (!take(p, type, &value))
            return DECODE_SHORT;
        if (type == WINTRACE_STRING && value == 0)
            break;
        if (!put(trace, value))
            return DECODE_NO_MEMORY;
        trace->value[length]++;
    }
    return DECODE_DONE;
}

static enum decode_result take_fields(struct wintrace *trace, const struct wintrace_kind *kind,
                                      size_t values, struct payload *p)
{
    for (unsigned i = 0; i < kind->fields; i++)
        if (!put(trace, 0))
            return DECODE_NO_MEMORY;
    for (unsigned i = 0; i < kind->fields; i++) {
        const struct wintrace_field *field = &kind->field[i];
        enum decode_result result = DECODE_DONE;

        if (field->type == WINTRACE_STRING)
            result = take_many(trace, p, values + i, field->type, UINT64_MAX);
        else if (field->count)
            result = take_many(trace, p, values + i, field->type,
                               count_of(trace, values, kind, field->count));
        else if (!take(p, field->type, &trace->value[values + i]))
            result = DECODE_SHORT;
        if (result != DECODE_DONE)
            return result;
    }
    return DECODE_DONE;
}

enum decode_result decode_event(struct wintrace *trace, const struct wintrace_event *head,
                                const uint8_t *payload, size_t length, unsigned pointer_bytes)
{
    struct payload p = {payload, payload + length, pointer_bytes};
    size_t values = trace->values;
    enum decode_result result = take_fields(trace, head->kind, values, &p);

    if (result == DECODE_DONE && !wintrace_reserve((void **)&trace->event, trace->events,
                                                   &trace->event_room, sizeof(*trace->event)))
        result = DECODE_NO_MEMORY;
    if (result != DECODE_DONE) {
        trace->values = values;
        return result;
    }
    trace->event[trace->events] = *head;
    trace->event[trace->events++].values = values;
    return DECODE_DONE;
}
