/* SPDX-License-Identifier: MIT */
/* Writing: the exact bytes, since equal runs are compared by them. */
#include "support/check_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

static uint64_t now;

static struct trace_sink *install(void)
{
    struct trace_sink *sink = trace_sink_create();

    CHECK(sink);
    now = 0;
    trace_sink_install(sink, &now);
    return sink;
}

/* What the sink writes; the caller frees it. */
static char *written(const struct trace_sink *sink)
{
    FILE *file = tmpfile();
    char *text;
    long bytes;

    CHECK(file && trace_write_json(sink, file));
    bytes = ftell(file);
    rewind(file);
    text = calloc(1, (size_t)bytes + 1);
    CHECK(text && fread(text, 1, (size_t)bytes, file) == (size_t)bytes);
    fclose(file);
    return text;
}

/* The line of the last record, without its end of line; the caller frees it. */
static char *last_line(const struct trace_sink *sink)
{
    char *text = written(sink);
    char *end = text + strlen(text) - strlen("\n]}\n");
    char *line;

    CHECK(strcmp(end, "\n]}\n") == 0);
    *end = '\0';
    line = strdup(strrchr(text, '\n') + 1);
    free(text);
    return line;
}

static void expect_last(const struct trace_sink *sink, const char *expected)
{
    char *line = last_line(sink);

    assert_string_equal(line, expected);
    free(line);
}

TEST(an_empty_trace_names_the_fixed_rows)
{
    struct trace_sink *sink = install();
    char *text = written(sink);

    assert_string_equal(
        text,
        "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"clock\":\"virtual time\",\"records\":0,\"dropped\":0},\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"processors\"}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":1}},\n"
        "{\"ph\":\"M\",\"pid\":2,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"machine\"}},\n"
        "{\"ph\":\"M\",\"pid\":2,\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":2}},\n"
        "{\"ph\":\"M\",\"pid\":2,\"tid\":65,\"name\":\"thread_name\",\"args\":{\"name\":\"machine\"}},\n"
        "{\"ph\":\"M\",\"pid\":2,\"tid\":65,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":65}}\n"
        "]}\n");
    free(text);
    trace_sink_destroy(sink);
}

TEST(each_phase_has_its_form)
{
    struct trace_sink *sink = install();

    now = 1234567;
    trace_begin(TRACE_PROCESSOR(0), "DxgkDdiPatch", "fence", 7);
    expect_last(
        sink,
        "{\"ph\":\"B\",\"ts\":1234.567,\"pid\":1,\"tid\":1,\"name\":\"DxgkDdiPatch\",\"args\":{\"fence\":7}}");
    now = 1235001;
    trace_end(TRACE_PROCESSOR(0), "DxgkDdiPatch");
    expect_last(sink,
                "{\"ph\":\"E\",\"ts\":1235.001,\"pid\":1,\"tid\":1,\"name\":\"DxgkDdiPatch\"}");
    trace_instant(2, "fault", "address", 0x1000, "kind", 2);
    expect_last(sink,
                "{\"ph\":\"i\",\"ts\":1235.001,\"pid\":1,\"tid\":2,\"name\":\"fault\",\"s\":\"t\","
                "\"args\":{\"address\":4096,\"kind\":2}}");
    trace_flow_start(1, "submission", 0x1f);
    expect_last(
        sink,
        "{\"ph\":\"s\",\"ts\":1235.001,\"pid\":1,\"tid\":1,\"name\":\"submission\",\"cat\":\"flow\",\"id\":\"0x1f\"}");
    trace_flow_finish(2, "submission", 0x1f);
    expect_last(
        sink,
        "{\"ph\":\"f\",\"ts\":1235.001,\"pid\":1,\"tid\":2,\"name\":\"submission\",\"cat\":\"flow\",\"id\":\"0x1f\","
        "\"bp\":\"e\"}");
    trace_counter("resident bytes", 99);
    expect_last(
        sink,
        "{\"ph\":\"C\",\"ts\":1235.001,\"pid\":2,\"tid\":65,\"name\":\"resident bytes\",\"args\":{\"value\":99}}");
    trace_sink_destroy(sink);
}

TEST(spans_of_one_id_may_overlap_others)
{
    struct trace_sink *sink = install();

    now = 1234567;
    trace_async_begin(2, "render", 0x100000007, "node", 1, NULL, 0);
    expect_last(
        sink,
        "{\"ph\":\"b\",\"ts\":1234.567,\"pid\":1,\"tid\":2,\"name\":\"render\",\"cat\":\"async\","
        "\"id\":\"0x100000007\",\"args\":{\"node\":1}}");
    trace_async_instant(2, "patch", 7, NULL, 0);
    expect_last(
        sink,
        "{\"ph\":\"n\",\"ts\":1234.567,\"pid\":1,\"tid\":2,\"name\":\"patch\",\"cat\":\"async\","
        "\"id\":\"0x7\"}");
    trace_async_end(2, "render", 7, "interrupt", 1, "status", 2);
    expect_last(
        sink,
        "{\"ph\":\"e\",\"ts\":1234.567,\"pid\":1,\"tid\":2,\"name\":\"render\",\"cat\":\"async\","
        "\"id\":\"0x7\",\"args\":{\"interrupt\":1,\"status\":2}}");
    trace_sink_destroy(sink);
}

TEST(more_arguments_belong_to_the_record_before)
{
    struct trace_sink *sink = install();

    trace_more("lost", 1, NULL, 0); /* there is none */
    trace_begin(1, "render", "fence", 7);
    trace_more("bytes", 8, "context", 9);
    trace_more("packet", 10, NULL, 0);
    expect_last(sink, "{\"ph\":\"B\",\"ts\":0.000,\"pid\":1,\"tid\":1,\"name\":\"render\","
                      "\"args\":{\"fence\":7,\"bytes\":8,\"context\":9,\"packet\":10}}");
    trace_end(1, "render");
    trace_more("late", 1, NULL, 0);
    expect_last(sink, "{\"ph\":\"E\",\"ts\":0.000,\"pid\":1,\"tid\":1,\"name\":\"render\","
                      "\"args\":{\"late\":1}}");
    trace_sink_destroy(sink);
}

TEST(tracks_of_one_group_share_its_process)
{
    struct trace_sink *sink = install();
    trace_track node = trace_track_create("nodes", "3D");
    trace_track context = trace_track_create("contexts", "1");
    trace_track copy = trace_track_create("nodes", "copy");
    char *text;

    trace_begin(node, "a", NULL, 0);
    expect_last(sink, "{\"ph\":\"B\",\"ts\":0.000,\"pid\":3,\"tid\":66,\"name\":\"a\"}");
    trace_begin(context, "a", NULL, 0);
    expect_last(sink, "{\"ph\":\"B\",\"ts\":0.000,\"pid\":4,\"tid\":67,\"name\":\"a\"}");
    trace_begin(copy, "a", NULL, 0);
    expect_last(sink, "{\"ph\":\"B\",\"ts\":0.000,\"pid\":3,\"tid\":68,\"name\":\"a\"}");
    text = written(sink);
    CHECK(strstr(text,
                 "\"pid\":3,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"nodes\"}"));
    CHECK(
        strstr(text, "\"pid\":3,\"tid\":68,\"name\":\"thread_name\",\"args\":{\"name\":\"copy\"}"));
    free(text);
    trace_sink_destroy(sink);
}

TEST(only_processors_with_records_get_a_row)
{
    struct trace_sink *sink = install();
    char *text;

    trace_begin(TRACE_PROCESSOR(63), "a", NULL, 0);
    text = written(sink);
    CHECK(strstr(text, "processor 63") && !strstr(text, "processor 00"));
    free(text);
    trace_sink_destroy(sink);
}

TEST(integers_beyond_a_double_are_strings)
{
    struct trace_sink *sink = install();

    trace_begin(1, "a", "v", UINT64_C(1) << 53);
    expect_last(
        sink,
        "{\"ph\":\"B\",\"ts\":0.000,\"pid\":1,\"tid\":1,\"name\":\"a\",\"args\":{\"v\":9007199254740992}}");
    trace_begin(1, "a", "v", UINT64_MAX);
    expect_last(
        sink,
        "{\"ph\":\"B\",\"ts\":0.000,\"pid\":1,\"tid\":1,\"name\":\"a\",\"args\":{\"v\":\"0xffffffffffffffff\"}}");
    trace_sink_destroy(sink);
}

static void expect_name(const char *name, const char *quoted)
{
    struct trace_sink *sink = install();
    char expected[256];

    trace_end(1, name);
    snprintf(expected, sizeof(expected),
             "{\"ph\":\"E\",\"ts\":0.000,\"pid\":1,\"tid\":1,\"name\":%s}", quoted);
    expect_last(sink, expected);
    trace_sink_destroy(sink);
}

TEST(names_are_escaped)
{
    expect_name("C:\\drivers\\\"x\".sys", "\"C:\\\\drivers\\\\\\\"x\\\".sys\"");
    expect_name("a\nb\x01\x1f\x7f", "\"a\\u000ab\\u0001\\u001f\x7f\"");
    expect_name("Gr\xc3\xbc\xc3\x9f"
                "e \xe2\x82\xac \xf0\x9f\x98\x80",
                "\"Gr\xc3\xbc\xc3\x9f"
                "e \xe2\x82\xac \xf0\x9f\x98\x80\"");
}

TEST(broken_utf8_is_replaced_byte_by_byte)
{
    expect_name("\x80", "\"\\ufffd\"");
    expect_name("\xc0\xaf", "\"\\ufffd\\ufffd\"");                       /* overlong */
    expect_name("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* surrogate */
    expect_name("\xe2\x82", "\"\\ufffd\\ufffd\"");                       /* cut short */
    expect_name("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* beyond U+10FFFF */
    expect_name("\xc1\xbf", "\"\\ufffd\\ufffd\"");
    expect_name("\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"");
    expect_name("\xed\xbf\xbf", "\"\\ufffd\\ufffd\\ufffd\"");
    expect_name("\xf0\x8f\xbf\xbf", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    expect_name("\xf5\x80\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
    expect_name("\xf3\x80\x80z", "\"\\ufffd\\ufffd\\ufffdz\"");
    expect_name("\xc3\xc3\xbc", "\"\\ufffd\xc3\xbc\"");
}

/* The first and the last character of each length, and those beside the gaps. */
TEST(whole_utf8_is_kept)
{
    static const char *const whole[] = {"\x20",
                                        "\x7f",
                                        "\xc2\x80",
                                        "\xdf\xbf",
                                        "\xe0\xa0\x80",
                                        "\xe1\x80\x80",
                                        "\xed\x80\x80",
                                        "\xed\x9f\xbf",
                                        "\xee\x80\x80",
                                        "\xef\xbf\xbf",
                                        "\xec\xa0\x80",
                                        "\xe1\x9f\xbf",
                                        "\xf0\x90\x80\x80",
                                        "\xf1\x80\x80\x80",
                                        "\xf4\x8f\xbf\xbf",
                                        "\xf4\x80\x80\x80",
                                        "\xf1\x8f\xbf\xbf",
                                        "\xf3\x90\x80\x80"};

    for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        char quoted[16];

        snprintf(quoted, sizeof(quoted), "\"%s\"", whole[i]);
        expect_name(whole[i], quoted);
    }
}

TEST(arguments_and_names_may_be_left_out)
{
    struct trace_sink *sink = install();

    trace_record('E', 1, NULL, 0, NULL, 0, NULL, 0);
    expect_last(sink, "{\"ph\":\"E\",\"ts\":0.000,\"pid\":1,\"tid\":1}");
    trace_record('B', 1, NULL, 0, NULL, 5, "second", 6);
    expect_last(
        sink,
        "{\"ph\":\"B\",\"ts\":0.000,\"pid\":1,\"tid\":1,\"name\":\"\",\"args\":{\"second\":6}}");
    trace_record('i', 1, "x", 0, "first", 0, "second", 10);
    expect_last(sink, "{\"ph\":\"i\",\"ts\":0.000,\"pid\":1,\"tid\":1,\"name\":\"x\",\"s\":\"t\","
                      "\"args\":{\"first\":0,\"second\":10}}");
    trace_record('E', 1, "x", 0, "first", (UINT64_C(1) << 53) + 1, NULL, 0);
    expect_last(sink, "{\"ph\":\"E\",\"ts\":0.000,\"pid\":1,\"tid\":1,\"name\":\"x\","
                      "\"args\":{\"first\":\"0x20000000000001\"}}");
    trace_sink_destroy(sink);
}

/* Tracks of nobody stand with the machine. */
TEST(tracks_that_nobody_has_are_on_the_row_of_the_machine)
{
    struct trace_sink *sink = install();
    trace_track track = trace_track_create("nodes", "3D");
    static const char row[] =
        "{\"ph\":\"i\",\"ts\":0.000,\"pid\":2,\"tid\":65,\"name\":\"a\",\"s\":\"t\"}";

    trace_instant(0, "a", NULL, 0, NULL, 0);
    expect_last(sink, row);
    trace_instant(65, "a", NULL, 0, NULL, 0);
    expect_last(sink, row);
    trace_instant(track + 1, "a", NULL, 0, NULL, 0);
    expect_last(sink, row);
    trace_instant(64, "a", NULL, 0, NULL, 0);
    expect_last(sink, "{\"ph\":\"i\",\"ts\":0.000,\"pid\":1,\"tid\":64,\"name\":\"a\",\"s\":\"t\"}");
    trace_sink_destroy(sink);
}

TEST(time_has_three_decimals)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } times[] = {{1, "0.001"},
                 {10, "0.010"},
                 {999, "0.999"},
                 {1000, "1.000"},
                 {1020304050607, "1020304050.607"}};

    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        struct trace_sink *sink = install();
        char expected[128];

        now = times[i].ns;
        trace_end(1, "a");
        snprintf(expected, sizeof(expected),
                 "{\"ph\":\"E\",\"ts\":%s,\"pid\":1,\"tid\":1,\"name\":\"a\"}", times[i].text);
        expect_last(sink, expected);
        trace_sink_destroy(sink);
    }
}

TEST(rows_of_processors_are_numbered_in_two_digits)
{
    struct trace_sink *sink = install();
    char *text;

    trace_begin(TRACE_PROCESSOR(0), "a", NULL, 0);
    trace_begin(TRACE_PROCESSOR(19), "a", NULL, 0);
    text = written(sink);
    CHECK(strstr(
        text, "\"pid\":1,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"processor 00\"}}"));
    CHECK(strstr(
        text,
        "\"pid\":1,\"tid\":20,\"name\":\"thread_name\",\"args\":{\"name\":\"processor 19\"}}"));
    CHECK(strstr(
        text, "\"pid\":1,\"tid\":20,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":20}}"));
    free(text);
    trace_sink_destroy(sink);
}

/* A driver may name things as it likes: every byte, every pair with a lead byte. */
TEST(any_bytes_give_json_that_parses)
{
    struct trace_sink *sink = install();
    char name[3] = "";
    FILE *parser;

    for (int a = 1; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            name[0] = (char)a;
            name[1] = (char)b;
            trace_instant(1, trace_intern(name), "k", (uint64_t)b, trace_intern(name), UINT64_MAX);
        }
    }
    parser = popen(
        "python3 -c 'import json,sys; "
        "trace = json.loads(sys.stdin.buffer.read().decode(\"utf-8\")); "
        "sys.exit(len([e for e in trace[\"traceEvents\"] if e[\"ph\"] == \"i\"]) != 255 * 256)'",
        "w");
    CHECK(parser && trace_write_json(sink, parser));
    CHECK(pclose(parser) == 0);
    trace_sink_destroy(sink);
}

static char *sample_run(void)
{
    struct trace_sink *sink = install();
    trace_track node = trace_track_create("nodes", "3D");
    char *text;

    for (unsigned i = 0; i < 5000; i++) {
        now += 20 + i % 7;
        trace_begin(node, i % 3 ? "render" : trace_intern("copy"), "fence", i);
        trace_end(node, i % 3 ? "render" : "copy");
        trace_counter("queued", i % 5);
    }
    text = written(sink);
    trace_sink_destroy(sink);
    return text;
}

TEST(equal_records_give_equal_bytes)
{
    char *first = sample_run();
    char *shift = strdup(first); /* other addresses the second time */
    char *second = sample_run();

    assert_string_equal(first, second);
    CHECK(shift != second);
    free(first);
    free(second);
    free(shift);
}

TEST(dropped_records_are_noted)
{
    struct trace_sink *sink = install();
    char *text;

    trace_sink_limit(sink, 0);
    trace_counter("a", 1);
    trace_counter("a", 2);
    text = written(sink);
    CHECK(strstr(text, "\"records\":0,\"dropped\":2,\"note\":\""));
    free(text);
    trace_sink_destroy(sink);
}

TEST(a_full_disk_is_reported)
{
    struct trace_sink *sink = install();
    FILE *full = fopen("/dev/full", "w");

    if (!full)
        skip();
    CHECK(!trace_write_json(sink, full));
    fclose(full);
    trace_sink_destroy(sink);
}
