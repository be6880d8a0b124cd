/* SPDX-License-Identifier: MIT */
#include "wintrace/order.h"

#include <stdlib.h>

#define MOST_SECONDS UINT64_C(18000000000)
#define NS           UINT64_C(1000000000)

/* Stable: equal times stay in the order of the file, by their values. */
static int compare(const void *a, const void *b)
{
    const struct wintrace_event *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->values < y->values ? -1 : 1;
}

void wintrace_order(struct wintrace *trace, uint64_t frequency)
{
    uint64_t first;

    if (!trace->events)
        return;
    qsort(trace->event, trace->events, sizeof(*trace->event), compare);
    first = trace->event[0].time;
    for (size_t i = 0; i < trace->events; i++) {
        uint64_t ticks = trace->event[i].time - first, seconds = ticks / frequency;

        trace->event[i].time = seconds < MOST_SECONDS
                                   ? seconds * NS + ticks % frequency * NS / frequency
                                   : MOST_SECONDS * NS;
    }
}
