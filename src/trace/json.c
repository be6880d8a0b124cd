/* SPDX-License-Identifier: MIT */
/*
 * Writing: the Chrome trace event format, as ui.perfetto.dev and chrome://tracing read it.
 *
 *   process 1       "processors", a thread for each simulated processor that was used
 *   process 2       "machine", counters and records without a track
 *   process 3 ...   the groups of trace_track_create, a thread for each track
 *
 * Numbers are formatted with integers only: no locale and no rounding can make two equal runs
 * differ. Times are microseconds with three decimals, that is, exact nanoseconds. Integers that a
 * double cannot hold are written as hexadecimal strings.
 */
#include <string.h>

#include "trace/sink.h"
#include "trace/trace.h"

#define PID_PROCESSORS  1u
#define PID_MACHINE     2u
#define PID_FIRST_GROUP 3u
#define TRACK_NONE      (TRACE_FIRST_TRACK - 1u)
#define EXACT_IN_DOUBLE (UINT64_C(1) << 53)

struct writer {
    FILE *out;
    size_t used;
    bool failed;
    char buffer[16384];
};

static void flush(struct writer *w)
{
    if (fwrite(w->buffer, 1, w->used, w->out) != w->used)
        w->failed = true;
    w->used = 0;
}

static void put_bytes(struct writer *w, const char *bytes, size_t count)
{
    if (count > sizeof(w->buffer) - w->used)
        flush(w);
    memcpy(w->buffer + w->used, bytes, count);
    w->used += count;
}

/* `text` must be shorter than the buffer: it is a literal of this file. */
static void put(struct writer *w, const char *text)
{
    put_bytes(w, text, strlen(text));
}

static void put_decimal(struct writer *w, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    put_bytes(w, digits + at, sizeof(digits) - at);
}

/* Writes a string: "0x1f". */
static void put_hex(struct writer *w, uint64_t value)
{
    char digits[16];
    size_t at = sizeof(digits);

    do {
        digits[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value);
    put(w, "\"0x");
    put_bytes(w, digits + at, sizeof(digits) - at);
    put(w, "\"");
}

static void put_value(struct writer *w, uint64_t value)
{
    if (value <= EXACT_IN_DOUBLE)
        put_decimal(w, value);
    else
        put_hex(w, value);
}

static void put_time(struct writer *w, uint64_t ns)
{
    char decimals[4] = {'.', (char)('0' + ns / 100 % 10), (char)('0' + ns / 10 % 10),
                        (char)('0' + ns % 10)};

    put_decimal(w, ns / 1000);
    put_bytes(w, decimals, sizeof(decimals));
}

/* Length of the valid UTF-8 sequence at `s` (no overlong form, no surrogate), 0 if there is
 * none. */
static size_t utf8_length(const unsigned char *s)
{
    size_t length = s[0] < 0x80   ? 1
                    : s[0] < 0xC2 ? 0
                    : s[0] < 0xE0 ? 2
                    : s[0] < 0xF0 ? 3
                    : s[0] < 0xF5 ? 4
                                  : 0;

    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) /* also stops at the terminator */
            return 0;
    }
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ||
        (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))
        return 0;
    return length;
}

static void put_string(struct writer *w, const char *text)
{
    const unsigned char *s = (const unsigned char *)(text ? text : "");

    put(w, "\"");
    while (*s) {
        size_t length = utf8_length(s);

        if (length == 0) {
            put(w, "\\ufffd");
            s++;
            continue;
        }
        if (*s < 0x20) {
            const char escape[6] = {'\\', 'u',           '0',
                                    '0',  "01"[*s >> 4], "0123456789abcdef"[*s & 15]};

            put_bytes(w, escape, sizeof(escape));
        } else {
            if (*s == '"' || *s == '\\')
                put(w, "\\");
            put_bytes(w, (const char *)s, length);
        }
        s += length;
    }
    put(w, "\"");
}

/* ---- events ---- */

static void put_place(struct writer *w, const struct trace_sink *sink, trace_track track)
{
    uint32_t pid = PID_MACHINE;

    if (track >= 1 && track <= TRACE_PROCESSORS)
        pid = PID_PROCESSORS;
    else if (track >= TRACE_FIRST_TRACK && track - TRACE_FIRST_TRACK < sink->rows)
        pid = PID_FIRST_GROUP + sink->row[track - TRACE_FIRST_TRACK].group;
    else
        track = TRACK_NONE;
    put(w, ",\"pid\":");
    put_decimal(w, pid);
    put(w, ",\"tid\":");
    put_decimal(w, track);
}

/* Those of one record; `any`: others of its event were written before. True: now some are. */
static bool put_arguments(struct writer *w, const struct trace_event *event, bool any)
{
    for (unsigned i = 0; i < 2; i++) {
        if (!event->key[i])
            continue;
        put(w, any ? "," : ",\"args\":{");
        any = true;
        put_string(w, event->key[i]);
        put(w, ":");
        put_value(w, event->value[i]);
    }
    return any;
}

/* All but the arguments, and the end. */
static void put_event(struct writer *w, const struct trace_sink *sink,
                      const struct trace_event *event)
{
    const char phase[] = {event->phase, 0};

    put(w, ",\n{\"ph\":");
    put_string(w, phase);
    put(w, ",\"ts\":");
    put_time(w, event->time);
    put_place(w, sink, event->track);
    if (event->phase != 'E' || event->name) {
        put(w, ",\"name\":");
        put_string(w, event->name);
    }
    if (event->phase == 'i')
        put(w, ",\"s\":\"t\"");
    if (strchr("ben", event->phase)) {
        put(w, ",\"cat\":\"async\",\"id\":");
        put_hex(w, event->id);
    }
    if (event->phase == 's' || event->phase == 'f') {
        put(w, ",\"cat\":\"flow\",\"id\":");
        put_hex(w, event->id);
        if (event->phase == 'f')
            put(w, ",\"bp\":\"e\""); /* ends at the enclosing span, not at the next one */
    }
}

/* Arguments of a record without an event before it are lost with it. */
static void put_events(struct writer *w, const struct trace_sink *sink)
{
    struct trace_cursor cursor = {.sink = sink};
    struct trace_event event;
    bool open = false, arguments = false;

    while (trace_cursor_next(&cursor, &event)) {
        if (event.phase == '+') {
            if (open)
                arguments = put_arguments(w, &event, arguments);
            continue;
        }
        if (open)
            put(w, arguments ? "}}" : "}");
        put_event(w, sink, &event);
        arguments = put_arguments(w, &event, false);
        open = true;
    }
    if (open)
        put(w, arguments ? "}}" : "}");
}

/* ---- names of rows ---- */

static void put_metadata(struct writer *w, bool *first, const char *what, uint32_t pid, uint32_t tid)
{
    put(w, *first ? "\n{\"ph\":\"M\",\"pid\":" : ",\n{\"ph\":\"M\",\"pid\":");
    *first = false;
    put_decimal(w, pid);
    put(w, ",\"tid\":");
    put_decimal(w, tid);
    put(w, ",\"name\":");
    put_string(w, what);
    put(w, ",\"args\":{");
}

static void put_process(struct writer *w, bool *first, uint32_t pid, const char *name)
{
    put_metadata(w, first, "process_name", pid, 0);
    put(w, "\"name\":");
    put_string(w, name);
    put(w, "}}");
    put_metadata(w, first, "process_sort_index", pid, 0);
    put(w, "\"sort_index\":");
    put_decimal(w, pid);
    put(w, "}}");
}

static void put_thread(struct writer *w, bool *first, uint32_t pid, uint32_t tid, const char *name)
{
    put_metadata(w, first, "thread_name", pid, tid);
    put(w, "\"name\":");
    put_string(w, name);
    put(w, "}}");
    put_metadata(w, first, "thread_sort_index", pid, tid);
    put(w, "\"sort_index\":");
    put_decimal(w, tid);
    put(w, "}}");
}

/* Bit i: processor i has records. */
static uint64_t processors_used(const struct trace_sink *sink)
{
    struct trace_cursor cursor = {.sink = sink};
    struct trace_event event;
    uint64_t used = 0;

    while (trace_cursor_next(&cursor, &event)) {
        if (event.track >= 1 && event.track <= TRACE_PROCESSORS)
            used |= UINT64_C(1) << (event.track - 1);
    }
    return used;
}

static void put_names(struct writer *w, const struct trace_sink *sink)
{
    uint64_t used = processors_used(sink);
    bool first = true;

    put_process(w, &first, PID_PROCESSORS, "processors");
    for (uint32_t i = 0; i < TRACE_PROCESSORS; i++) {
        if (used >> i & 1) {
            char name[] = "processor 00";

            name[10] = (char)('0' + i / 10);
            name[11] = (char)('0' + i % 10);
            put_thread(w, &first, PID_PROCESSORS, TRACE_PROCESSOR(i), name);
        }
    }
    put_process(w, &first, PID_MACHINE, "machine");
    put_thread(w, &first, PID_MACHINE, TRACK_NONE, "machine");
    for (uint32_t i = 0; i < sink->groups; i++)
        put_process(w, &first, PID_FIRST_GROUP + i, sink->group[i]);
    for (uint32_t i = 0; i < sink->rows; i++)
        put_thread(w, &first, PID_FIRST_GROUP + sink->row[i].group, TRACE_FIRST_TRACK + i,
                   sink->row[i].name);
}

bool trace_write_json(const struct trace_sink *sink, FILE *out)
{
    struct writer w;

    w.out = out;
    w.used = 0;
    w.failed = false;

    put(&w, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":\"virtual time\",\"records\":");
    put_decimal(&w, trace_records(sink));
    put(&w, ",\"dropped\":");
    put_decimal(&w, sink->dropped);
    if (sink->dropped)
        put(&w, ",\"note\":\"memory ran out: the last records of the run are missing\"");
    put(&w, "},\"traceEvents\":[");
    put_names(&w, sink);
    put_events(&w, sink);
    put(&w, "\n]}\n");
    flush(&w);
    return !w.failed && fflush(out) == 0 && !ferror(out);
}
