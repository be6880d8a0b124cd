/* SPDX-License-Identifier: MIT */
/* Recording events of our own, and writing them: what the readers find in it. */
#include "support/check_rule.h"
#include "support/test.h"
#include "util/arena.h"
#include "wintrace/emit.h"
#include "wintrace/sink.h"
#include "wintrace/wintrace.h"
#include "wintrace/write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES ((size_t)64 << 20) /* the least */
#define MANY        1000000u
#define START       133485408000000000u /* 1 January 2024 */

static uint64_t now;
static struct wintrace_place place;

static void where(struct wintrace_place *to)
{
    *to = place;
}

/* Installed, at time 0, on processor 0 of 4. */
static struct wintrace_sink *install(void)
{
    struct wintrace_sink_config config = {.processors = 4, .start = START, .where = where};
    struct wintrace_sink *sink = wintrace_sink_create(&config);

    CHECK(sink);
    now = 0;
    place = (struct wintrace_place){.process = 12, .thread = 24};
    wintrace_sink_install(sink, &now);
    return sink;
}

/* What the sink writes, and how much; the caller frees it. */
static uint8_t *written(const struct wintrace_sink *sink, enum wintrace_form form, size_t *bytes)
{
    FILE *file = tmpfile();
    uint8_t *block;

    CHECK(file && wintrace_write(sink, form, file));
    *bytes = (size_t)ftell(file);
    rewind(file);
    block = calloc(1, *bytes + 1);
    CHECK(block && fread(block, 1, *bytes, file) == *bytes);
    fclose(file);
    return block;
}

static struct wintrace *read_back(const struct wintrace_sink *sink)
{
    char error[256] = "";
    size_t bytes;
    uint8_t *block = written(sink, WINTRACE_ETL, &bytes);
    struct wintrace *trace = wintrace_read_bytes(block, bytes, "trace", error, sizeof(error));

    free(block);
    if (!trace)
        fail_msg("%s", error);
    return trace;
}

static uint64_t value_of(const struct wintrace *trace, size_t index, const char *field)
{
    uint64_t value;

    CHECK(wintrace_get(trace, &trace->event[index], field, &value));
    return value;
}

static void select_context(uint64_t context)
{
    wintrace_emit(WINTRACE_SELECT_CONTEXT, 0xA0, context, 3, 4, 1ull << 40, 6);
}

/* ---- what is recorded ---- */

TEST(without_a_sink_nothing_happens)
{
    CHECK(!wintrace_on());
    select_context(1);
}

TEST(an_event_keeps_its_place_its_time_and_its_values)
{
    struct wintrace_sink *sink = install();
    struct wintrace *trace;

    now = 5000;
    select_context(0xC0);
    now = 7001;
    place = (struct wintrace_place){.process = 20, .thread = 40, .processor = 3};
    wintrace_emit(WINTRACE_UPDATE_CONTEXT_RUNNING_TIME, 0xC0, 17, (uint64_t)-5, 9, 1, 0);
    trace = read_back(sink);
    CHECK(trace->events == 2 && trace->others == 0 && trace->unknown == 0 && trace->undecoded == 0);
    CHECK(trace->event[0].process == 12 && trace->event[0].thread == 24 &&
          trace->event[0].processor == 0 && trace->event[0].kind->id == 23);
    CHECK(trace->event[1].process == 20 && trace->event[1].thread == 40 &&
          trace->event[1].processor == 3 && trace->event[1].time == 2001);
    CHECK(value_of(trace, 0, "hContext") == 0xC0 && value_of(trace, 0, "NodeOrdinal") == 3 &&
          value_of(trace, 0, "ReadyNodeSwMapBits") == 1ull << 40 &&
          value_of(trace, 0, "ReadyNodeHwMapBits") == 6);
    CHECK((int64_t)value_of(trace, 1, "RemainingQuantum") == -5);
    wintrace_destroy(trace);
    wintrace_sink_destroy(sink);
    CHECK(!wintrace_on());
}

TEST(arrays_have_as_many_elements_as_the_event_says)
{
    struct wintrace_sink *sink = install();
    struct wintrace *trace;
    uint64_t at;

    wintrace_emit(WINTRACE_QUEUE_SIGNAL, 0xC0, 8, 0, 2, 0x11, 0x22, 100, 1ull << 40, 0x77);
    wintrace_emit(WINTRACE_QUEUE_SIGNAL, 0xC0, 9, 0, 0, 0x78);
    trace = read_back(sink);
    at = value_of(trace, 0, "ObjectArray");
    CHECK(trace->value[at] == 2 && trace->value[at + 1] == 0x11 && trace->value[at + 2] == 0x22);
    at = value_of(trace, 0, "FenceValue");
    CHECK(trace->value[at] == 2 && trace->value[at + 1] == 100 &&
          trace->value[at + 2] == 1ull << 40);
    CHECK(value_of(trace, 0, "pQueuePacket") == 0x77);
    CHECK(value_of(trace, 1, "pQueuePacket") == 0x78);
    wintrace_destroy(trace);
    wintrace_sink_destroy(sink);
}

TEST(events_of_one_moment_keep_their_order_on_all_processors)
{
    struct wintrace_sink *sink = install();
    struct wintrace *trace;

    now = 100;
    for (uint16_t i = 0; i < 40; i++) {
        place.processor = (uint16_t)(3 - i % 4);
        select_context(i);
    }
    now = 120; /* the last one is at 139 */
    select_context(40);
    now = 1000;
    select_context(41);
    trace = read_back(sink);
    CHECK(trace->events == 42);
    for (size_t i = 0; i < trace->events; i++)
        CHECK(value_of(trace, i, "hContext") == i);
    CHECK(trace->event[39].time == 39 && trace->event[40].time == 40 &&
          trace->event[41].time == 900);
    wintrace_destroy(trace);
    wintrace_sink_destroy(sink);
}

TEST(many_events_fill_many_buffers_and_chunks)
{
    struct wintrace_sink *sink = install();
    struct wintrace_walk walk = {0};
    struct wintrace *trace;
    uint64_t walked = 0;

    for (uint64_t i = 0; i < 20000; i++) {
        now += 10;
        place.processor = (uint16_t)(i / 7 % 4);
        select_context(i);
    }
    CHECK(wintrace_sink_events(sink) == 20000 && wintrace_sink_lost(sink) == 0);
    while (wintrace_walk_next(sink, &walk))
        walked++;
    CHECK(walked == 20000 && !wintrace_walk_next(sink, &walk));
    trace = read_back(sink);
    CHECK(trace->events == 20000 && trace->undecoded == 0);
    for (size_t i = 0; i < trace->events; i++)
        CHECK(value_of(trace, i, "hContext") == i && trace->event[i].processor == i / 7 % 4);
    wintrace_destroy(trace);
    wintrace_sink_destroy(sink);
}

TEST(handles_differ_by_kind_adapter_and_number)
{
    uint64_t handle = wintrace_handle(WINTRACE_CONTEXT, 1, 5);

    CHECK(handle == 0xFFFF301000000050);
    CHECK(handle != wintrace_handle(WINTRACE_DEVICE, 1, 5) &&
          handle != wintrace_handle(WINTRACE_CONTEXT, 2, 5) &&
          handle != wintrace_handle(WINTRACE_CONTEXT, 1, 6));
    CHECK(wintrace_handle(WINTRACE_CONTEXT, 1, 0) == 0);
    CHECK(wintrace_handle(WINTRACE_CONTEXT, 255, UINT32_MAX) == 0xFFFF3FFFFFFFFFF0);
}

TEST(a_full_arena_loses_events_and_counts_them)
{
    struct util_arena *arena = util_arena_create(ARENA_BYTES);
    struct wintrace_sink_config config = {.processors = 1, .where = where, .arena = arena};
    struct wintrace_sink *sink = wintrace_sink_create(&config);
    struct wintrace *trace;
    uint64_t kept;

    CHECK(arena && sink);
    wintrace_sink_install(sink, NULL);
    for (unsigned i = 0; i < MANY; i++)
        select_context(i);
    kept = wintrace_sink_events(sink);
    CHECK(kept > MANY / 4 && kept < MANY && wintrace_sink_lost(sink) == MANY - kept);
    trace = read_back(sink);
    CHECK(trace->events == kept && trace->lost == MANY - kept);
    wintrace_destroy(trace);
    wintrace_sink_destroy(sink);
    util_arena_destroy(arena);
}

/* ---- the file ---- */

TEST(an_empty_trace_can_be_read)
{
    struct wintrace_sink *sink = install();
    struct wintrace *trace = read_back(sink);

    CHECK(trace->events == 0 && trace->build == 17134 && trace->processors == 4 && trace->lost == 0);
    wintrace_destroy(trace);
    wintrace_sink_destroy(sink);
}

static uint64_t number(const uint8_t *at, unsigned bytes)
{
    uint64_t value = 0;

    memcpy(&value, at, bytes);
    return value;
}

/* What our reader does not look at, and Windows' does. */
TEST(the_file_tells_what_other_readers_want)
{
    struct wintrace_sink *sink = install();
    const uint8_t *description, *event;
    uint8_t *block;
    size_t bytes;

    now = 2500;
    wintrace_emit(WINTRACE_DMA_STOP, 0xC0, 0, 5, 6, 0);
    block = written(sink, WINTRACE_ETL, &bytes);
    CHECK(bytes == 2 * 65536);
    CHECK(number(block, 4) == 65536 && number(block + 48, 4) == number(block + 4, 4) &&
          block[54] == 4);
    description = block + 72 + 32;
    CHECK(number(description + 16, 8) == START + 25);
    CHECK(number(description + 36, 4) == 2 && number(description + 44, 4) == 8);
    CHECK(number(description + 248, 8) == START && number(description + 256, 8) == 1000000000 &&
          number(description + 264, 8) == START && number(description + 272, 4) == 1);
    event = block + 65536 + 72;
    CHECK(number(event, 2) == 80 + 8 + 4 + 8 + 4 + 4 && number(event + 16, 8) == 2500);
    CHECK(number(event + 40, 2) == 176 && event[42] == 0 && event[43] == 0x11 && event[44] == 0 &&
          event[45] == 2 && number(event + 46, 2) == 8 &&
          number(event + 48, 8) == 0x4000000000000001);
    CHECK(number(block + 65536 + 48, 4) == 72 + 112 && number(block + 65536 + 24, 8) == 1);
    free(block);
    wintrace_sink_destroy(sink);
}

/* ---- texts ---- */

#define OVERLAY       ((enum wintrace_emitted)WINTRACE_KIND(252, 0)) /* of numbers with a sign */
#define NODE_METADATA ((enum wintrace_emitted)WINTRACE_KIND(250, 0))

/* Values of every type that events have; the name has what the forms cannot hold as it is. */
static struct wintrace_sink *all_types(void)
{
    struct wintrace_sink *sink = install();

    now = 1234567890;
    place = (struct wintrace_place){.process = 0xC, .thread = 0x18, .processor = 2};
    wintrace_emit(WINTRACE_QUEUE_SIGNAL, 0xFFFF3010000000AB, 8, 0, 2, 0x11, 0x22, 100, 200, 0);
    wintrace_emit(WINTRACE_UPDATE_CONTEXT_RUNNING_TIME, 0xC0, 17, (uint64_t)-5, 9, 1, 0);
    wintrace_emit(WINTRACE_DMA_STOP, 0xC0, 0, 5, UINT32_MAX, 1);
    wintrace_emit(NODE_METADATA, 0xA0, 3, 1, 'a', ',', '"', '<', '&', 0x263A, ' ', 'b', 0);
    wintrace_emit(NODE_METADATA, 0xA0, 4, 1, 0);
    wintrace_emit(OVERLAY, 0, 1, 2, 3, 4, (uint64_t)-5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                  18, 19, 20, 21, 22);
    return sink;
}

/* Whether the text has these lines behind each other. */
static void expect_lines(const struct wintrace_sink *sink, enum wintrace_form form,
                         const char *lines)
{
    size_t bytes;
    char *text = (char *)written(sink, form, &bytes);

    CHECK(strlen(text) == bytes);
    if (!strstr(text, lines))
        fail_msg("no\n%s\nin\n%s", lines, text);
    free(text);
}

#define NO_GUID "{00000000-0000-0000-0000-000000000000}"
#define CELLS(name, tail)                                                          \
    "Microsoft-Windows-DxgKrnl, " name ", 0x0000000C, 0x00000018, 2, , , " NO_GUID \
    ", , 133485408012345678, 0, 0, " tail "\n"

TEST(a_line_of_csv_for_each_event)
{
    static const char *const lines[] = {
        CELLS("Start, 245, 2, 17, 0, 1, 9, 0x4000000000000001",
              "0xFFFF3010000000AB, 8, 0, 2, 0x11, 0x22, 100, 200, 0x0"),
        CELLS("Info, 113, 0, 17, 0, 0, 74, 0x4000000000008000", "0xC0, 17, -5, 9, 1, 0"),
        CELLS("Stop, 176, 0, 17, 0, 2, 8, 0x4000000000000001", "0xC0, 0, 5, 4294967295, true"),
        CELLS("Info, 250, 0, 17, 0, 0, 141, 0x4000000000000001", "0xA0, 3, 1, \"a b\""),
        CELLS("Info, 250, 0, 17, 0, 0, 141, 0x4000000000000001", "0xA0, 4, 1, \"\""),
        CELLS("Info, 252, 0, 17, 0, 0, 143, 0x4000000000000001",
              "0, 1, 2, 0x3, 4, -5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, "
              "22"),
    };
    struct wintrace_sink *sink = all_types();

    expect_lines(sink, WINTRACE_CSV,
                 "Event Name, Type, Event ID, Version, Channel, Level, Opcode, Task, Keyword, PID, "
                 "TID, Processor Number, Instance ID, Parent Instance ID, Activity ID, Related "
                 "Activity ID, Clock-Time, Kernel(ms), User(ms), User Data\n"
                 "EventTrace, Header, 0, 2, 0, 0, 0, 0, 0x0000000000000000, 0x00000000, "
                 "0x00000000, 0, , , " NO_GUID
                 ", , 133485408000000000, 0, 0, 65536, 83951626, 17134, 4, 133485408012345678, "
                 "156250, 0, 1, 0, 1, 8, 0, 1000, ");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        expect_lines(sink, WINTRACE_CSV, lines[i]);
    wintrace_sink_destroy(sink);
}

TEST(an_element_of_xml_for_each_event)
{
    struct wintrace_sink *sink = all_types();

    expect_lines(sink, WINTRACE_XML,
                 "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"yes\"?>\n<Events>\n<Event ");
    expect_lines(sink, WINTRACE_XML,
                 "<Data Name=\"ProviderVersion\">17134</Data>\n"
                 "<Data Name=\"NumberOfProcessors\">4</Data>\n");
    expect_lines(
        sink, WINTRACE_XML,
        "<System>\n"
        "<Provider Name=\"Microsoft-Windows-DxgKrnl\" "
        "Guid=\"{802ec45a-1e99-4b83-9920-87c98277ba9d}\" />\n"
        "<EventID>245</EventID>\n<Version>2</Version>\n<Level>0</Level>\n<Task>9</Task>\n"
        "<Opcode>1</Opcode>\n<Keywords>0x4000000000000001</Keywords>\n"
        "<TimeCreated SystemTime=\"2024-01-01T00:00:01.234567890Z\" />\n"
        "<Correlation ActivityID=\"" NO_GUID "\" />\n"
        "<Execution ProcessID=\"12\" ThreadID=\"24\" ProcessorID=\"2\" KernelTime=\"0\" "
        "UserTime=\"0\" />\n"
        "<Channel>Microsoft-Windows-DxgKrnl/Performance</Channel>\n<Computer />\n</System>\n"
        "<EventData>\n<Data Name=\"hContext\">0xFFFF3010000000AB</Data>\n"
        "<Data Name=\"SubmitSequence\">8</Data>\n<Data Name=\"Flags\">0</Data>\n"
        "<Data Name=\"ObjectCount\">2</Data>\n<Data Name=\"ObjectArray\">0x11</Data>\n"
        "<Data Name=\"ObjectArray\">0x22</Data>\n<Data Name=\"FenceValue\">100</Data>\n"
        "<Data Name=\"FenceValue\">200</Data>\n<Data Name=\"pQueuePacket\">0x0</Data>\n"
        "</EventData>\n<RenderingInfo Culture=\"en-US\">\n<Level>Log Always </Level>\n"
        "<Opcode>Start </Opcode>\n<Provider>Microsoft-Windows-DxgKrnl </Provider>\n"
        "<EventName xmlns=\"http://schemas.microsoft.com/win/2004/08/events/trace\">QueuePacket"
        "</EventName>\n<Task>QueuePacket </Task>\n</RenderingInfo>\n</Event>\n<Event ");
    expect_lines(sink, WINTRACE_XML, "<Data Name=\"RemainingQuantum\">-5</Data>\n");
    expect_lines(sink, WINTRACE_XML, "<Data Name=\"bPreempted\">true</Data>\n</EventData>\n");
    expect_lines(sink, WINTRACE_XML, "<Data Name=\"FriendlyName\">a b</Data>\n</EventData>\n");
    expect_lines(sink, WINTRACE_XML, "<Data Name=\"FriendlyName\"></Data>\n</EventData>\n");
    expect_lines(sink, WINTRACE_XML, "<Data Name=\"SrcRectleft\">-5</Data>\n");
    expect_lines(sink, WINTRACE_XML, "</Event>\n</Events>\n");
    wintrace_sink_destroy(sink);
}

TEST(equal_events_give_equal_bytes)
{
    uint8_t *block[2];
    size_t bytes[2];

    for (unsigned i = 0; i < 2; i++) {
        struct wintrace_sink *sink = install();

        select_context(1);
        now = 50;
        select_context(2);
        block[i] = written(sink, WINTRACE_ETL, &bytes[i]);
        wintrace_sink_destroy(sink);
    }
    CHECK(bytes[0] == bytes[1] && memcmp(block[0], block[1], bytes[0]) == 0);
    free(block[0]);
    free(block[1]);
}

TEST(a_file_that_takes_nothing_is_an_error)
{
    struct wintrace_sink *sink = install();
    FILE *full = fopen("/dev/full", "w");

    CHECK(full);
    select_context(1);
    for (enum wintrace_form form = WINTRACE_ETL; form <= WINTRACE_XML; form++)
        CHECK(!wintrace_write(sink, form, full) || fflush(full) != 0);
    fclose(full);
    wintrace_sink_destroy(sink);
}

TEST(the_name_says_the_form)
{
    enum wintrace_form form = WINTRACE_CSV;

    CHECK(wintrace_form_of("run.etl", &form) && form == WINTRACE_ETL);
    CHECK(wintrace_form_of("a.b/run.x.CSV", &form) && form == WINTRACE_CSV);
    CHECK(wintrace_form_of("run.Xml", &form) && form == WINTRACE_XML);
    CHECK(!wintrace_form_of("run.json", &form) && !wintrace_form_of("etl", &form) &&
          !wintrace_form_of("run.etl.", &form) && !wintrace_form_of("", &form));
}
