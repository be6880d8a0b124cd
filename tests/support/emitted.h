/* SPDX-License-Identifier: MIT */
/*
 * The events of Windows' provider that a test's machine emits.
 *
 *     emitted_begin();                 on the machine
 *     ...
 *     emitted_end();                   what came in between can be looked at
 *     CHECK(emitted_value(emitted(175, 0), "uliSubmissionId") == 1);
 *     emitted_forget();
 */
#ifndef DXGK_TESTS_EMITTED_H
#define DXGK_TESTS_EMITTED_H

#include <stdio.h>
#include <stdlib.h>

#include "sim/machine.h"
#include "support/check_rule.h"
#include "wintrace/check.h"
#include "wintrace/sink.h"
#include "wintrace/wintrace.h"
#include "wintrace/write.h"

static struct wintrace_sink *emitted_sink;
static struct wintrace *emitted_trace;

static inline void emitted_where(struct wintrace_place *place)
{
    place->process = 1;
    place->thread = 2;
    place->processor = sim_current->processor;
}

static inline void emitted_begin(void)
{
    struct wintrace_sink_config config = {.processors = 4, .where = emitted_where};

    emitted_sink = wintrace_sink_create(&config);
    CHECK(emitted_sink);
    wintrace_sink_install(emitted_sink, &sim_current->now);
}

static inline void emitted_end(void)
{
    char error[256] = "";
    FILE *file = tmpfile();
    uint8_t *block;
    size_t bytes;

    CHECK(file && wintrace_write(emitted_sink, WINTRACE_ETL, file));
    wintrace_sink_destroy(emitted_sink);
    bytes = (size_t)ftell(file);
    rewind(file);
    block = malloc(bytes);
    CHECK(block && fread(block, 1, bytes, file) == bytes);
    fclose(file);
    emitted_trace = wintrace_read_bytes(block, bytes, "trace", error, sizeof(error));
    free(block);
    CHECK(emitted_trace && emitted_trace->undecoded == 0 && emitted_trace->unknown == 0);
}

static inline void emitted_forget(void)
{
    wintrace_destroy(emitted_trace);
}

/* The n-th event with that number, from 0; NULL: there are fewer. */
static inline const struct wintrace_event *emitted(unsigned id, unsigned n)
{
    for (size_t i = 0; i < emitted_trace->events; i++)
        if (emitted_trace->event[i].kind->id == id && n-- == 0)
            return &emitted_trace->event[i];
    return NULL;
}

static inline unsigned emitted_count(unsigned id)
{
    unsigned n = 0;

    while (emitted(id, n))
        n++;
    return n;
}

static inline uint64_t emitted_value(const struct wintrace_event *event, const char *field)
{
    uint64_t value = 0;

    CHECK(event && wintrace_get(emitted_trace, event, field, &value));
    return value;
}

/* No rule that can be seen in a trace is broken in this one. */
static inline bool emitted_holds_up(void)
{
    struct wintrace_check *c = wintrace_check_create(emitted_trace);
    struct wintrace_findings findings = wintrace_check_findings(c);
    bool good = true;

    for (size_t i = 0; i < findings.count; i++)
        good = good && findings.finding[i].broken == 0;
    wintrace_check_destroy(c);
    return good;
}

#endif
