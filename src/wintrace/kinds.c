/* SPDX-License-Identifier: MIT */
/* The events that are known, sorted by number and version: a binary search. */
#include "wintrace/wintrace.h"

#include <string.h>

#include "wintrace/events.inc"

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint32_t order_of(uint16_t id, uint8_t version)
{
    return (uint32_t)id << 8 | version;
}

const struct wintrace_kind *wintrace_kind_find(uint16_t id, uint8_t version)
{
    size_t low = 0, high = KINDS;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (order_of(kinds[middle].id, kinds[middle].version) < order_of(id, version))
            low = middle + 1;
        else
            high = middle;
    }
    return low < KINDS && kinds[low].id == id && kinds[low].version == version ? &kinds[low] : NULL;
}

const struct wintrace_kind *wintrace_kind_at(size_t index)
{
    return index < KINDS ? &kinds[index] : NULL;
}

bool wintrace_get(const struct wintrace *trace, const struct wintrace_event *event,
                  const char *field, uint64_t *value)
{
    *value = 0;
    for (unsigned i = 0; i < event->kind->fields; i++) {
        if (strcmp(event->kind->field[i].name, field) != 0)
            continue;
        *value = trace->value[event->values + i];
        return true;
    }
    return false;
}
