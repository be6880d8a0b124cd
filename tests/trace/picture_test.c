/* SPDX-License-Identifier: MIT */
/* The picture of a trace: what was when, in a bounded size. */
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

/* The picture; the caller frees it. */
static char *drawn(const struct trace_sink *sink, const struct trace_mark *marks, size_t count)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CHECK(out && trace_write_svg(sink, marks, count, out) && fclose(out) == 0);
    CHECK(strncmp(text, "<svg ", 5) == 0 && strcmp(text + bytes - 7, "</svg>\n") == 0);
    return text;
}

static void expect(const struct trace_sink *sink, const char *const *parts)
{
    char *text = drawn(sink, NULL, 0);

    for (; *parts; parts++)
        if (!strstr(text, *parts))
            fail_msg("no %s in %s", *parts, text);
    free(text);
}

/* In the picture a bar is at x from 180 to 980, and 800 pixels are the whole run. */
static void span(trace_track track, const char *name, uint64_t from, uint64_t to)
{
    now = from;
    trace_begin(track, name, NULL, 0);
    now = to;
    trace_end(track, name);
}

TEST(a_bar_is_where_the_span_was)
{
    struct trace_sink *sink = install();

    span(trace_track_create("nodes", "node 7"), "render", 250000, 750000);
    span(TRACE_PROCESSOR(3), "isr", 1000000, 4000000);
    expect(sink, (const char *const[]){">0.000 ms<", ">2.000 ms<", ">4.000 ms<", ">node 7<",
                                       "<title>node 7: 1 x render</title>", ">processor 03<",
                                       "fill-opacity=\"1\" d=\"M230 56h100v12h-100z\"",
                                       ">12.5 %, 1 spans<", ">75.0 %, 1 spans<",
                                       "fill-opacity=\"1\" d=\"M380 96h600v12h-600z\"", NULL});
    trace_sink_destroy(sink);
}

TEST(a_bar_of_many_short_spans_is_pale)
{
    struct trace_sink *sink = install();
    trace_track track = trace_track_create("nodes", "node 0");

    for (uint64_t i = 0; i < 4000; i++)
        span(track, "short", i * 1000, i * 1000 + 300);
    now = 4000000;
    trace_instant(track, "last", NULL, 0, NULL, 0);
    expect(sink, (const char *const[]){"fill-opacity=\".6\" d=\"M180 56h800v12h-800z\"",
                                       ">30.0 %, 4000 spans<",
                                       "<title>node 0: 4000 x short, 1 x last</title>", NULL});
    trace_sink_destroy(sink);
}

TEST(spans_inside_of_others_and_overlapping_ones_count_once)
{
    struct trace_sink *sink = install();
    trace_track track = trace_track_create("contexts", "context");

    trace_async_begin(track, "a", 1, NULL, 0, NULL, 0);
    now = 100000;
    trace_async_begin(track, "b", 2, NULL, 0, NULL, 0);
    trace_begin(track, "inner", NULL, 0);
    now = 200000;
    trace_end(track, "inner");
    trace_async_end(track, "a", 1, NULL, 0, NULL, 0);
    now = 500000;
    trace_async_end(track, "b", 2, NULL, 0, NULL, 0);
    trace_end(track, "nothing began"); /* changes nothing */
    now = 1000000;
    trace_begin(track, "open", NULL, 0); /* up to the end of the run */
    now = 2000000;
    trace_instant(track, "end", NULL, 0, NULL, 0);
    expect(sink,
           (const char *const[]){"fill-opacity=\"1\" d=\"M180 56h200v12h-200zM580 56h400v12h-400z\"",
                                 ">75.0 %, 4 spans<", NULL});
    trace_sink_destroy(sink);
}

TEST(a_short_run_fills_the_picture_too)
{
    struct trace_sink *sink = install();

    span(trace_track_create("nodes", "node 0"), "render", 1, 4);
    expect(sink, (const char *const[]){">0.004 us<", "d=\"M380 56h600v12h-600z\"",
                                       ">75.0 %, 1 spans<", NULL});
    trace_sink_destroy(sink);
    sink = install();
    expect(sink, (const char *const[]){">0.001 us<", NULL}); /* nothing happened at all */
    trace_sink_destroy(sink);
}

TEST(a_run_up_to_the_end_of_time_is_drawn)
{
    struct trace_sink *sink = install();
    const struct trace_mark mark = {UINT64_MAX / 4 * 3, "late"};
    char *text;

    span(trace_track_create("nodes", "node 0"), "render", UINT64_MAX / 2, UINT64_MAX);
    text = drawn(sink, &mark, 1);
    CHECK(strstr(text, "h400v12h-400z\"") && strstr(text, ">50.1 %, 1 spans<"));
    CHECK(strstr(text, "M780 28l5 -8h-10z") || strstr(text, "M778 28l5 -8h-10z"));
    free(text);
    trace_sink_destroy(sink);
}

TEST(marks_are_red_lines_with_their_text)
{
    struct trace_sink *sink = install();
    const struct trace_mark marks[] = {{500000, "PATCH-017"}, {1000000, "<&\">\x01\xff"}};
    char *text;

    trace_instant(trace_track_create("nodes", "node 0"), "x", NULL, 0, NULL, 0);
    text = drawn(sink, marks, 2);
    CHECK(strstr(text, "M580 28V82h1V28z\"/><title>PATCH-017 at 0.500 ms</title>"));
    CHECK(strstr(text, "<title>&lt;&amp;&quot;&gt;?? at 1.000 ms</title>"));
    free(text);
    trace_sink_destroy(sink);
}

TEST(names_are_escaped)
{
    struct trace_sink *sink = install();

    span(trace_track_create("<group>", "</svg>"), "</title>", 0, 1);
    expect(sink, (const char *const[]){">&lt;group&gt;<", ">&lt;/svg&gt;<",
                                       "<title>&lt;/svg&gt;: 1 x &lt;/title&gt;</title>", NULL});
    trace_sink_destroy(sink);
}

static size_t count(const char *text, const char *part)
{
    size_t number = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        number++;
    return number;
}

/* The first eight tracks of a group, forty rows in all; what matters most comes first. */
TEST(a_long_run_of_many_tracks_has_a_small_picture)
{
    static const char *const groups[] = {"driver calls", "clients", "own",
                                         "contexts",     "nodes",   "engines"};
    struct trace_sink *sink = install();
    trace_track track[6][20];
    char name[32], *text;

    for (unsigned g = 0; g < 6; g++)
        for (unsigned i = 0; i < 20; i++) {
            snprintf(name, sizeof(name), "%s %u", groups[g], i);
            track[g][i] = trace_track_create(groups[g], name);
        }
    trace_track_create("nodes", "idle");
    for (uint64_t i = 0; i < 200000; i++)
        span(track[i % 6][i / 6 % 20], i % 7 ? "one" : "other", i * 1000, i * 1000 + i % 1000);
    text = drawn(sink, NULL, 0);
    CHECK(strlen(text) < 400000);
    CHECK(count(text, "<g fill=") == 40 && strstr(text, "and 80 more rows in the trace"));
    CHECK(strstr(text, ">nodes 7<") && !strstr(text, ">nodes 8<") && !strstr(text, ">idle<"));
    CHECK(strstr(text, ">nodes<") < strstr(text, ">engines<") &&
          strstr(text, ">engines<") < strstr(text, ">contexts<") &&
          strstr(text, ">contexts<") < strstr(text, ">own<") &&
          strstr(text, ">own<") < strstr(text, ">clients<"));
    CHECK(!strstr(text, ">driver calls<"));
    free(text);
    trace_sink_destroy(sink);
}

TEST(a_full_disk_is_told)
{
    struct trace_sink *sink = install();
    FILE *full = fopen("/dev/full", "w");

    CHECK(full && setvbuf(full, NULL, _IONBF, 0) == 0);
    CHECK(!trace_write_svg(sink, NULL, 0, full));
    fclose(full);
    trace_sink_destroy(sink);
}
