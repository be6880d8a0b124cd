/* SPDX-License-Identifier: MIT */
/* Hostile traces of Windows: whatever the file says, reading ends, nothing outside of it is read, and what was read can be checked. */
#include <stdint.h>
#include <stdlib.h>

#include "wintrace/check.h"
#include "wintrace/wintrace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void look(const struct wintrace *trace)
{
    for (size_t i = 0; i < trace->events; i++) {
        const struct wintrace_event *event = &trace->event[i];

        require(event->values + event->kind->fields <= trace->values);
        require(i == 0 || trace->event[i - 1].time <= event->time);
        for (unsigned k = 0; k < event->kind->fields; k++) {
            const struct wintrace_field *field = &event->kind->field[k];
            uint64_t value = trace->value[event->values + k];

            if (field->count || field->type == WINTRACE_STRING)
                require(value < trace->values && trace->value[value] < trace->values - value);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char error[256] = "";
    struct wintrace *trace = wintrace_read_bytes(data, size, "trace", error, sizeof(error));
    struct wintrace_check *check;

    require(trace ? !error[0] : error[0] != 0);
    if (!trace)
        return 0;
    look(trace);
    check = wintrace_check_create(trace);
    require(check);
    for (size_t i = 0; i < wintrace_check_findings(check).count; i++)
        require(wintrace_check_findings(check).finding[i].broken <=
                wintrace_check_findings(check).finding[i].looked);
    wintrace_check_destroy(check);
    wintrace_destroy(trace);
    return 0;
}
