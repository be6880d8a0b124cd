/* SPDX-License-Identifier: MIT */
/*
 * Both forms begin with an event of the recording about itself, of which readers take the number of
 * processors, the build of Windows and what was lost.
 *
 *     CSV   a line of columns, then one for each event: its fields have no names, and an array
 *           takes a cell for each of its elements
 *     XML   an element Event for each: System, EventData with an element for each field, or for
 *           each element of an array, and RenderingInfo, which repeats in words what System says
 *
 * Times of CSV are in units of 100 ns, and several events may have the same; their order is that of
 * the lines. Those of XML have all nine digits.
 */
#include "wintrace/text_write.h"
#include "wintrace/etl_layout.h"
#include "wintrace/layout.h"
#include "wintrace/recorded.h"
#include "wintrace/sink.h"
#include "wintrace/wintrace.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define NS           1000000000u
#define UNITS        10000000u                    /* of 100 ns, in a second */
#define UNIX_BEGIN   UINT64_C(116444736000000000) /* 1970, in 100 ns units since 1601 */
#define PROVIDER     "Microsoft-Windows-DxgKrnl"
#define GUID         "{802ec45a-1e99-4b83-9920-87c98277ba9d}"
#define HEADER_GUID  "{68fdd900-4a3e-11d1-84f4-0000f80464e3}" /* of events about recordings */
#define NO_GUID      "{00000000-0000-0000-0000-000000000000}"
#define EVENT_SPACE  "http://schemas.microsoft.com/win/2004/08/events/event"
#define TRACE_SPACE  "http://schemas.microsoft.com/win/2004/08/events/trace"
#define BUFFER_BYTES 65536u

/* ---- what the recording says of itself ---- */

struct about {
    const char *name;
    uint64_t value;
};

#define ABOUTS 20u

static void describe(const struct wintrace_sink *sink, struct about *about)
{
    const struct wintrace_sink_config *config = wintrace_sink_config(sink);
    const struct about all[ABOUTS] = {
        {"BufferSize", BUFFER_BYTES},
        {"Version", SYSTEM_VERSION},
        {"ProviderVersion", PROVIDER_VERSION},
        {"NumberOfProcessors", config->processors},
        {"EndTime", config->start + wintrace_sink_end(sink) / 100},
        {"TimerResolution", TIMER_RESOLUTION},
        {"MaxFileSize", 0},
        {"LogFileMode", SEQUENTIAL_FILE},
        {"BuffersWritten", 0},
        {"StartBuffers", 1},
        {"PointerSize", 8},
        {"EventsLost", wintrace_sink_lost(sink)},
        {"CPUSpeed", CPU_MHZ},
        {"LoggerName", 0},
        {"LogFileName", 0},
        {"BootTime", config->start},
        {"PerfFreq", NS},
        {"StartTime", config->start},
        {"ReservedFlags", CLOCK_QPC},
        {"BuffersLost", 0},
    };

    memcpy(about, all, sizeof(all));
}

/* ---- values ---- */

static bool is_signed(enum wintrace_type type)
{
    return type == WINTRACE_INT32 || type == WINTRACE_INT64;
}

/* A value as tracerpt would print it; not of a string. */
static void print_value(FILE *out, enum wintrace_type type, uint64_t value)
{
    if (type == WINTRACE_POINTER)
        fprintf(out, "0x%" PRIX64, value);
    else if (type == WINTRACE_BOOLEAN)
        fputs(value ? "true" : "false", out);
    else if (is_signed(type))
        fprintf(out, "%" PRId64, (int64_t)value);
    else
        fprintf(out, "%" PRIu64, value);
}

/* Characters that have a meaning in one of the forms, and those that are none of ASCII, are left
 * out of what names an engine. */
static void print_character(FILE *out, uint64_t value)
{
    if (value >= ' ' && value < 127 && !strchr("\"<>&,", (int)value))
        fputc((int)value, out);
}

/* ---- CSV ---- */

static void csv_values(FILE *out, const struct wintrace_kept *kept)
{
    struct layout layout = layout_of(kept->kind, wintrace_payload(kept));

    while (layout_next(&layout)) {
        const bool text = layout.type == WINTRACE_STRING;

        if (layout.element == 0 || !text)
            fputs(text ? ", \"" : ", ", out);
        if (!text)
            print_value(out, layout.type, layout.value);
        else if (layout.value)
            print_character(out, layout.value);
        else
            fputc('"', out);
    }
}

static const char *type_name(const struct wintrace_kind *kind)
{
    return kind->opcode[0] ? kind->opcode : "Info";
}

static void csv_event(const struct wintrace_sink *sink, FILE *out, const struct wintrace_kept *kept)
{
    const struct wintrace_kind *kind = kept->kind;

    fprintf(out,
            "%s, %s, %u, %u, %u, 0, %u, %u, 0x%016" PRIX64 ", 0x%08" PRIX32 ", 0x%08" PRIX32
            ", %u, , , " NO_GUID ", , %" PRIu64 ", 0, 0",
            PROVIDER, type_name(kind), kind->id, kind->version, CHANNEL, opcode_of(kind),
            kind->task, kind->keywords | CHANNEL_KEYWORD, kept->place.process, kept->place.thread,
            kept->place.processor, wintrace_sink_config(sink)->start + kept->time / 100);
    csv_values(out, kept);
    fputc('\n', out);
}

bool csv_write(const struct wintrace_sink *sink, FILE *out)
{
    struct wintrace_walk walk = {0};
    const struct wintrace_kept *kept;
    struct about about[ABOUTS];

    describe(sink, about);
    fputs("Event Name, Type, Event ID, Version, Channel, Level, Opcode, Task, Keyword, PID, TID, "
          "Processor Number, Instance ID, Parent Instance ID, Activity ID, Related Activity ID, "
          "Clock-Time, Kernel(ms), User(ms), User Data\n",
          out);
    fprintf(out,
            "EventTrace, Header, 0, 2, 0, 0, 0, 0, 0x0000000000000000, 0x00000000, 0x00000000, 0, , "
            ", " NO_GUID ", , %" PRIu64 ", 0, 0",
            wintrace_sink_config(sink)->start);
    for (unsigned i = 0; i < ABOUTS; i++)
        fprintf(out, ", %" PRIu64, about[i].value);
    fputc('\n', out);
    while ((kept = wintrace_walk_next(sink, &walk)) != NULL)
        csv_event(sink, out, kept);
    return !ferror(out);
}

/* ---- XML ---- */

static void xml_time(const struct wintrace_sink *sink, FILE *out, uint64_t ns)
{
    const uint64_t start = wintrace_sink_config(sink)->start - UNIX_BEGIN;
    const uint64_t fraction = start % UNITS * 100 + ns % NS;
    const time_t seconds = (time_t)(start / UNITS + ns / NS + fraction / NS);
    struct tm day;
    char text[40];

    gmtime_r(&seconds, &day);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &day);
    fprintf(out, "<TimeCreated SystemTime=\"%s.%09uZ\" />\n", text, (unsigned)(fraction % NS));
}

/* The beginning of an event up to its data. */
static void xml_begin(const struct wintrace_sink *sink, FILE *out, const struct wintrace_kept *kept)
{
    const struct wintrace_kind *kind = kept ? kept->kind : NULL;

    fputs("<Event xmlns=\"" EVENT_SPACE "\">\n<System>\n", out);
    fputs(kind ? "<Provider Name=\"" PROVIDER "\" Guid=\"" GUID "\" />\n"
               : "<Provider Guid=\"" HEADER_GUID "\" />\n",
          out);
    fprintf(out,
            "<EventID>%u</EventID>\n<Version>%u</Version>\n<Level>0</Level>\n<Task>%u</Task>\n"
            "<Opcode>%u</Opcode>\n<Keywords>0x%" PRIX64 "</Keywords>\n",
            kind ? kind->id : 0u, kind ? kind->version : 2u, kind ? kind->task : 0u,
            kind ? opcode_of(kind) : 0u, kind ? kind->keywords | CHANNEL_KEYWORD : 0);
    xml_time(sink, out, kept ? kept->time : 0);
    fprintf(out,
            "<Correlation ActivityID=\"" NO_GUID "\" />\n"
            "<Execution ProcessID=\"%" PRIu32 "\" ThreadID=\"%" PRIu32
            "\" ProcessorID=\"%u\" KernelTime=\"0\" UserTime=\"0\" />\n",
            kept ? kept->place.process : 0, kept ? kept->place.thread : 0,
            kept ? kept->place.processor : 0u);
    fputs(kind ? "<Channel>" PROVIDER "/Performance</Channel>\n" : "<Channel />\n", out);
    fputs("<Computer />\n</System>\n<EventData>\n", out);
}

static void xml_values(FILE *out, const struct wintrace_kept *kept)
{
    struct layout layout = layout_of(kept->kind, wintrace_payload(kept));

    while (layout_next(&layout)) {
        const bool text = layout.type == WINTRACE_STRING;

        if (layout.element == 0 || !text)
            fprintf(out, "<Data Name=\"%s\">", layout.name);
        if (!text)
            print_value(out, layout.type, layout.value);
        else
            print_character(out, layout.value);
        if (!text || layout.value == 0)
            fputs("</Data>\n", out);
    }
}

static void xml_end(FILE *out, const struct wintrace_kind *kind)
{
    fprintf(out,
            "</EventData>\n<RenderingInfo Culture=\"en-US\">\n<Level>Log Always </Level>\n"
            "<Opcode>%s </Opcode>\n<Provider>%s </Provider>\n",
            kind ? type_name(kind) : "Header", kind ? PROVIDER : "MSNT_SystemTrace");
    fprintf(out, "<EventName xmlns=\"" TRACE_SPACE "\">%s</EventName>\n",
            kind ? kind->name : "EventTrace");
    if (kind)
        fprintf(out, "<Task>%s </Task>\n", kind->name);
    fputs("</RenderingInfo>\n</Event>\n", out);
}

bool xml_write(const struct wintrace_sink *sink, FILE *out)
{
    struct wintrace_walk walk = {0};
    const struct wintrace_kept *kept;
    struct about about[ABOUTS];

    describe(sink, about);
    fputs("<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?>\n<Events>\n", out);
    xml_begin(sink, out, NULL);
    for (unsigned i = 0; i < ABOUTS; i++)
        fprintf(out, "<Data Name=\"%s\">%" PRIu64 "</Data>\n", about[i].name, about[i].value);
    xml_end(out, NULL);
    while ((kept = wintrace_walk_next(sink, &walk)) != NULL) {
        xml_begin(sink, out, kept);
        xml_values(out, kept);
        xml_end(out, kept->kind);
    }
    fputs("</Events>\n", out);
    return !ferror(out);
}
