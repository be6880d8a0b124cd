/* SPDX-License-Identifier: MIT */
#include "wintrace/support/texts.h"
#include "support/check_rule.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_FILETIME UINT64_C(134116650451234500) /* 2026-01-02T03:04:05.1234500Z */

static void add(struct written *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct written *w, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    CHECK(length >= 0 && (size_t)length < sizeof(text));
    if (w->length + (size_t)length + 1 > w->room) {
        w->room = 2 * w->room + sizeof(text);
        w->bytes = realloc(w->bytes, w->room);
        CHECK(w->bytes);
    }
    memcpy(w->bytes + w->length, text, (size_t)length + 1);
    w->length += (size_t)length;
}

/* ---- values ---- */

/* As Windows writes them: some in hexadecimal, booleans as words. */
static void add_value(struct written *w, enum wintrace_type type, uint64_t value,
                      enum text_form form)
{
    if (type == WINTRACE_POINTER)
        add(w, form == TEXT_DUMPER ? "0x%016" PRIx64 : "0x%" PRIX64, value);
    else if (type == WINTRACE_BOOLEAN)
        add(w, "%s",
            value              ? form == TEXT_CSV ? "TRUE" : "true"
            : form == TEXT_CSV ? "FALSE"
                               : "false");
    else if (type == WINTRACE_INT32 || type == WINTRACE_INT64)
        add(w, "%" PRId64, (int64_t)value);
    else if (type == WINTRACE_UINT32 && value >= 0x100)
        add(w, "0x%08" PRIx64, value);
    else
        add(w, "%" PRIu64, value);
}

static void add_string(struct written *w, const struct wintrace *trace, uint64_t at)
{
    for (uint64_t i = 0; i < trace->value[at]; i++)
        add(w, "%c", (char)trace->value[at + 1 + i]);
}

/* All of a field, with what comes before and after each element. */
static void add_field(struct written *w, const struct wintrace *trace,
                      const struct wintrace_event *event, unsigned field, enum text_form form)
{
    const struct wintrace_field *f = &event->kind->field[field];
    uint64_t value = trace->value[event->values + field];

    if (f->type == WINTRACE_STRING) {
        add_string(w, trace, value);
    } else if (!f->count) {
        add_value(w, f->type, value, form);
    } else {
        for (uint64_t i = 0; i < trace->value[value]; i++) {
            add(w, "%s", i ? form == TEXT_DUMPER ? "; " : ", " : "");
            add_value(w, f->type, trace->value[value + 1 + i], form);
        }
    }
}

/* ---- XML ---- */

static void add_xml_field(struct written *w, const struct wintrace *trace,
                          const struct wintrace_event *event, unsigned field)
{
    const struct wintrace_field *f = &event->kind->field[field];
    uint64_t value = trace->value[event->values + field];

    for (uint64_t i = 0; f->count && i < trace->value[value]; i++) {
        add(w, "\t\t<Data Name=\"%s\">", f->name);
        add_value(w, f->type, trace->value[value + 1 + i], TEXT_XML);
        add(w, "</Data>\r\n");
    }
    if (f->count)
        return;
    add(w, "\t\t<Data Name=\"%s\"> ", f->name);
    if (f->type == WINTRACE_STRING)
        w->bytes[--w->length] = 0; /* nothing is around a string */
    add_field(w, trace, event, field, TEXT_XML);
    add(w, "</Data>\r\n");
}

static void add_xml_event(struct written *w, const struct wintrace *trace,
                          const struct wintrace_event *event)
{
    uint64_t ticks = event->time / 100 + 1234500;

    add(w,
        "<Event xmlns=\"http://schemas.microsoft.com/win/2004/08/events/event\">\r\n\t<System>\r\n"
        "\t\t<Provider Name=\"Microsoft-Windows-DxgKrnl\" Guid=\"{802ec45a-1e99-4b83-9920-87c98277ba9d}\" />\r\n"
        "\t\t<EventID>%u</EventID>\r\n\t\t<Version>%u</Version>\r\n\t\t<Level>0</Level>\r\n\t\t<Task>9</Task>\r\n"
        "\t\t<Opcode>1</Opcode>\r\n\t\t<Keywords>0x4000000000000001</Keywords>\r\n",
        event->kind->id, event->kind->version);
    add(w,
        "\t\t<TimeCreated SystemTime=\"2026-01-02T04:%02u:%02u.%07u00+00:59\" />\r\n"
        "\t\t<Correlation ActivityID=\"{00000000-0000-0000-0000-000000000000}\" />\r\n"
        "\t\t<Execution ProcessID=\"%u\" ThreadID=\"%u\" ProcessorID=\"%u\" KernelTime=\"0\" UserTime=\"0\" />\r\n"
        "\t\t<Channel />\r\n\t\t<Computer />\r\n\t</System>\r\n\t<EventData>\r\n",
        (unsigned)(ticks / 600000000 % 60), (unsigned)(ticks / 10000000 % 60),
        (unsigned)(ticks % 10000000), event->process, event->thread, event->processor);
    for (unsigned i = 0; i < event->kind->fields; i++)
        add_xml_field(w, trace, event, i);
    add(w,
        "\t</EventData>\r\n\t<RenderingInfo Culture=\"en-US\">\r\n\t\t<Opcode>Start </Opcode>\r\n"
        "\t\t<Provider>Other</Provider>\r\n\t\t<EventID>1</EventID>\r\n\t</RenderingInfo>\r\n</Event>\r\n");
}

static void write_xml(struct written *w, const struct wintrace *trace)
{
    add(w,
        "<?xml version=\"1.0\"?>\r\n<Events>\r\n<Event xmlns=\"http://schemas.microsoft.com/win/2004/08/events/event\">\r\n"
        "\t<System>\r\n\t\t<Provider Guid=\"{9e814aad-3204-11d2-9a82-006008a86939}\" />\r\n\t\t<EventID>0</EventID>\r\n"
        "\t\t<TimeCreated SystemTime=\"2026-01-02T03:04:05Z\" />\r\n\t</System>\r\n\t<EventData>\r\n"
        "\t\t<Data Name=\"BufferSize\">   65536</Data>\r\n\t\t<Data Name=\"ProviderVersion\">   %u</Data>\r\n"
        "\t\t<Data Name=\"NumberOfProcessors\">       %u</Data>\r\n\t\t<Data Name=\"EventsLost\">       %u</Data>\r\n"
        "\t\t<Data Name=\"BuffersLost\">       0</Data>\r\n\t</EventData>\r\n</Event>\r\n",
        trace->build, trace->processors, (unsigned)trace->lost);
    for (size_t i = 0; i < trace->events; i++)
        add_xml_event(w, trace, &trace->event[i]);
    add(w, "</Events>\r\n");
}

/* ---- CSV ---- */

static void write_csv(struct written *w, const struct wintrace *trace)
{
    static const char none[] = "{00000000-0000-0000-0000-000000000000}";

    add(w,
        "Event Name,       Type,   Event ID,    Version,    Channel,      Level,     Opcode,       Task,            Keyword,"
        "        PID,        TID, Processor Number, Instance ID, Parent Instance ID, Activity ID, Related Activity ID,"
        "       Clock-Time,  Kernel(ms),    User(ms), User Data\r\n");
    add(w,
        "EventTrace,     Header,          0,          2,          0,          0,          0,          0, 0x0000000000000000,"
        " 0x000008AC, 0x00000D10,  0,  ,  , %s, ,   %" PRIu64
        ",  0,  0,    65536, 83951878,    %u,     %u, 0, 156250, 0, 1, 1, 1, 8,"
        "     %u, 2000, \"a, trace\", \"C:\\t\\dx.etl\"\r\n",
        none, START_FILETIME, trace->build, trace->processors, (unsigned)trace->lost);
    for (size_t i = 0; i < trace->events; i++) {
        const struct wintrace_event *event = &trace->event[i];

        add(w,
            "Microsoft-Windows-DxgKrnl, %10s, %10u, %10u,         17,          0,          1,         10, 0x4000000000000001,"
            " 0x%08X, 0x%08X, %10u,  ,  , %s, ,   %" PRIu64 ",  0,  0",
            event->kind->opcode[0] ? event->kind->opcode : "Info", event->kind->id,
            event->kind->version, event->process, event->thread, event->processor, none,
            START_FILETIME + event->time / 100);
        for (unsigned k = 0; k < event->kind->fields; k++) {
            const struct wintrace_field *f = &event->kind->field[k];
            bool is_string = f->type == WINTRACE_STRING;

            if (f->count && trace->value[trace->value[event->values + k]] == 0)
                continue; /* without an element there is no cell */
            add(w, ",  %s", is_string ? "\"" : "");
            add_field(w, trace, event, k, TEXT_CSV);
            add(w, "%s", is_string ? "\"" : "");
        }
        add(w, "\r\n");
    }
}

/* ---- the dumper ---- */

static void add_dumper_name(struct written *w, const struct wintrace_kind *kind)
{
    add(w, "Microsoft-Windows-DxgKrnl/%s/win:%s", kind->name,
        kind->opcode[0] ? kind->opcode : "Info");
}

static void write_header(struct written *w, const struct wintrace *trace)
{
    const struct wintrace_kind *kind;

    add(w,
        "BeginHeader\r\n   P-Start,  TimeStamp,     Process Name ( PID),  ParentPID,  SessionID,  UniqueKey\r\n");
    for (size_t k = 0; (kind = wintrace_kind_at(k)) != NULL; k++) {
        size_t i = 0;

        while (i < trace->events && trace->event[i].kind != kind)
            i++;
        if (i == trace->events)
            continue; /* only those that are in the trace */
        add_dumper_name(w, kind);
        add(w,
            ",  TimeStamp,     Process Name ( PID),   ThreadID, CPU, etw:ActivityId, etw:Related ActivityId,"
            " etw:UserSid, etw:SessionId");
        for (unsigned f = 0; f < kind->fields; f++) {
            add(w, ", %s", kind->field[f].name);
            if (kind->field[f].count)
                add(w, "[%s]", kind->field[f].count);
        }
        add(w, "\r\n");
    }
    add(w,
        "EndHeader\r\nOS Version: 10.0.%u, Trace Size: 8KB, Events Lost: %u, Buffers lost: 0, Trace Start: 1, Trace Length: 1 sec,"
        " PointerSize: 8, Trace Name: dx.etl\r\nFirstReliableEventTimeStamp, 0\r\n",
        trace->build, (unsigned)trace->lost);
}

static void write_dumper(struct written *w, const struct wintrace *trace)
{
    write_header(w, trace);
    for (size_t i = 0; i < trace->events; i++) {
        const struct wintrace_event *event = &trace->event[i];

        add_dumper_name(w, event->kind);
        add(w, ", %10" PRIu64 ",        \"Unknown\" (%4u), %10u, %3u, , , , ", event->time / 1000,
            event->process, event->thread, event->processor);
        for (unsigned k = 0; k < event->kind->fields; k++) {
            const struct wintrace_field *f = &event->kind->field[k];
            const char *around = f->type == WINTRACE_STRING ? "\"\"" : f->count ? "[]" : NULL;

            add(w, ", ");
            if (around)
                add(w, "%c", around[0]);
            add_field(w, trace, event, k, TEXT_DUMPER);
            if (around)
                add(w, "%c", around[1]);
        }
        add(w, "\r\n");
    }
}

/* ---- the whole ---- */

struct written written_of(const struct wintrace *trace, enum text_form form)
{
    struct written w = {0};

    if (form == TEXT_XML)
        write_xml(&w, trace);
    else if (form == TEXT_CSV)
        write_csv(&w, trace);
    else
        write_dumper(&w, trace);
    return w;
}

struct written written_utf16(struct written from, bool big, bool mark)
{
    struct written to = {.bytes = malloc(2 * from.length + 3)};

    CHECK(to.bytes);
    if (mark) {
        to.bytes[to.length++] = (char)(big ? 0xFE : 0xFF);
        to.bytes[to.length++] = (char)(big ? 0xFF : 0xFE);
    }
    for (size_t i = 0; i < from.length; i++) {
        to.bytes[to.length++] = big ? 0 : from.bytes[i];
        to.bytes[to.length++] = big ? from.bytes[i] : 0;
    }
    to.bytes[to.length] = 0;
    written_finish(&from);
    return to;
}

void written_finish(struct written *written)
{
    free(written->bytes);
    *written = (struct written){0};
}

struct wintrace *written_read(const struct written *written)
{
    char error[512] = "";
    struct wintrace *trace = wintrace_read_bytes(written->bytes, written->length, "trace", error,
                                                 sizeof(error));

    if (!trace)
        fail_msg("%s", error);
    return trace;
}

void written_replace(struct written *written, const char *from, const char *to)
{
    char *at = strstr(written->bytes, from), *rest;
    struct written changed = {0};

    CHECK(at);
    rest = at + strlen(from);
    changed.length = (size_t)(at - written->bytes) + strlen(to) + strlen(rest);
    changed.bytes = malloc(changed.length + 1);
    CHECK(changed.bytes);
    memcpy(changed.bytes, written->bytes, (size_t)(at - written->bytes));
    strcpy(changed.bytes + (at - written->bytes), to);
    strcat(changed.bytes, rest);
    written_finish(written);
    *written = changed;
}
