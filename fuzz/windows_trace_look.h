/* SPDX-License-Identifier: MIT */
/* What the targets of traces have in common: whatever a file says, reading ends, nothing outside of it is read, and what was read can
 * be checked. */
#ifndef DXGK_FUZZ_WINDOWS_TRACE_LOOK_H
#define DXGK_FUZZ_WINDOWS_TRACE_LOOK_H

#include <stdint.h>
#include <stdlib.h>

#include "wintrace/check.h"
#include "wintrace/show.h"
#include "wintrace/wintrace.h"

static inline void look_require(bool condition)
{
    if (!condition)
        abort();
}

static inline void look_at_events(const struct wintrace *trace)
{
    for (size_t i = 0; i < trace->events; i++) {
        const struct wintrace_event *event = &trace->event[i];

        look_require(event->values + event->kind->fields <= trace->values);
        look_require(i == 0 || trace->event[i - 1].time <= event->time);
        for (unsigned k = 0; k < event->kind->fields; k++) {
            const struct wintrace_field *field = &event->kind->field[k];
            uint64_t value = trace->value[event->values + k];

            if (field->count || field->type == WINTRACE_STRING)
                look_require(value < trace->values && trace->value[value] < trace->values - value);
        }
    }
}

static inline void look_at_findings(const struct wintrace *trace)
{
    struct wintrace_check *check = wintrace_check_create(trace);

    look_require(check);
    for (size_t i = 0; i < wintrace_check_findings(check).count; i++)
        look_require(wintrace_check_findings(check).finding[i].broken <=
                     wintrace_check_findings(check).finding[i].looked);
    wintrace_check_destroy(check);
}

/* A trace is equal to itself, and may be compared with another. */
static inline void look_at_comparison(const struct wintrace *trace)
{
    static const struct compare_choice choice;
    struct wintrace rest = *trace;
    char error[256], text[SHOW_BYTES];
    bool of_windows;
    struct comparison *c = compare_create(trace, trace, &choice, &of_windows, error, sizeof(error));

    look_require(!c || (c->parted == 0 && c->orders_parted == 0));
    compare_destroy(c);
    if (rest.events < 2)
        return;
    rest.event++;
    rest.events--;
    c = compare_create(&rest, trace, &choice, &of_windows, error, sizeof(error));
    for (size_t i = 0; c && i < c->pairs; i++) {
        const struct compare_pair *pair = &c->pair[i];

        show_pair(c, pair, text, sizeof(text));
        show_part(pair, text, sizeof(text));
        if (pair->ours && pair->result.ours < pair->ours->items)
            show_event(&c->ours, pair->ours, pair->result.ours, text, sizeof(text));
        if (pair->windows && pair->result.windows < pair->windows->items)
            show_event(&c->windows, pair->windows, pair->result.windows, text, sizeof(text));
    }
    compare_destroy(c);
}

static inline int look_at_bytes(const uint8_t *data, size_t size)
{
    char error[512] = "";
    struct wintrace *trace = wintrace_read_bytes(data, size, "trace", error, sizeof(error));

    look_require(trace ? !error[0] : error[0] != 0);
    if (!trace)
        return 0;
    look_at_events(trace);
    look_at_findings(trace);
    look_at_comparison(trace);
    wintrace_destroy(trace);
    return 0;
}

#endif
