/* SPDX-License-Identifier: MIT */
/* Recording: what is kept, what is dropped, where the memory comes from. */
#include "support/check_rule.h"

#include <string.h>

#include "trace/sink.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/rng.h"

static uint64_t now;

static struct trace_sink *install(void)
{
    struct trace_sink *sink = trace_sink_create();

    CHECK(sink);
    now = 0;
    trace_sink_install(sink, &now);
    return sink;
}

TEST(without_a_sink_nothing_happens)
{
    trace_sink_install(NULL, NULL);
    trace_begin(1, "a", NULL, 0);
    trace_end(1, "a");
    trace_counter("b", 1);
    trace_record('i', 1, "c", 0, NULL, 0, NULL, 0);
    CHECK(trace_track_create("nodes", "3D") == 0);
    CHECK(trace_intern("text")[0] == '\0');
}

TEST(destroying_the_installed_sink_uninstalls_it)
{
    trace_sink_destroy(install());
    CHECK(!trace_current);
    trace_sink_destroy(NULL);
}

static bool same(const struct trace_event *a, const struct trace_event *b)
{
    return a->time == b->time && strcmp(a->name, b->name) == 0 && a->id == b->id &&
           a->track == b->track && a->phase == b->phase && !a->key[0] == !b->key[0] &&
           !a->key[1] == !b->key[1] && a->value[0] == b->value[0] && a->value[1] == b->value[1];
}

/* Numbers of every length, so that every length of packing occurs. */
static uint64_t number(struct rng *rng)
{
    return rng_next(rng) >> rng_below(rng, 64);
}

static struct trace_event random_event(struct rng *rng)
{
    static const char *const names[] = {"submit", "patch", "", "page in"};
    struct trace_event event = {
        .time = now,
        .name = names[rng_below(rng, 4)],
        .id = rng_below(rng, 2) ? number(rng) : 0,
        .track = (trace_track)number(rng),
        .phase = "BEisfC+ben"[rng_below(rng, 10)],
    };

    for (unsigned i = 0; i < 2; i++) {
        if (rng_below(rng, 2)) {
            event.key[i] = names[rng_below(rng, 4)];
            event.value[i] = number(rng);
        }
    }
    return event;
}

TEST(every_record_comes_back_as_it_was)
{
    enum { COUNT = 20000 };
    static struct trace_event expected[COUNT];
    struct trace_sink *sink = install();
    struct trace_cursor cursor = {.sink = sink};
    struct trace_event event;
    struct rng rng = {1};

    for (unsigned i = 0; i < COUNT; i++) {
        now += number(&rng); /* also backwards, by wrapping */
        expected[i] = random_event(&rng);
        trace_record(expected[i].phase, expected[i].track, expected[i].name, expected[i].id,
                     expected[i].key[0], expected[i].value[0], expected[i].key[1],
                     expected[i].value[1]);
    }
    CHECK(trace_records(sink) == COUNT && trace_dropped(sink) == 0);
    for (unsigned i = 0; i < COUNT; i++) {
        CHECK(trace_cursor_next(&cursor, &event));
        if (!same(&event, &expected[i]))
            fail_msg("record %u differs", i);
    }
    CHECK(!trace_cursor_next(&cursor, &event));
    CHECK(sink->first != sink->last); /* more than one chunk was needed */
    trace_sink_destroy(sink);
}

TEST(a_usual_record_is_at_most_twelve_bytes)
{
    struct trace_sink *sink = install();

    for (unsigned i = 0; i < 100000; i++) {
        now += 1000;
        trace_begin(1 + i % 64, "DxgkDdiSubmitCommand", "fence", i);
        trace_end(1 + i % 64, "DxgkDdiSubmitCommand");
    }
    CHECK(sink->bytes < 200000 * 12 + 1048576);
    trace_sink_destroy(sink);
}

TEST(equal_texts_are_interned_once)
{
    struct trace_sink *sink = install();
    char text[32];
    const char *seen[1000];

    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof(text), "context %d", i);
        seen[i] = trace_intern(text);
        CHECK(seen[i] != text && strcmp(seen[i], text) == 0);
    }
    for (int i = 0; i < 1000; i++) {
        snprintf(text, sizeof(text), "context %d", i);
        CHECK(trace_intern(text) == seen[i]);
    }
    trace_sink_destroy(sink);
}

TEST(tracks_are_distinct_and_leave_processors_alone)
{
    struct trace_sink *sink = install();
    trace_track last = 0;

    for (int i = 0; i < 100; i++) {
        trace_track track = trace_track_create(i % 2 ? "nodes" : "contexts", "same name");

        CHECK(track > TRACE_PROCESSOR(63) && track > last);
        last = track;
    }
    trace_sink_destroy(sink);
}

TEST(without_memory_records_are_dropped_and_counted)
{
    struct trace_sink *sink = install();
    struct trace_cursor cursor = {.sink = sink};
    struct trace_event event;
    uint64_t kept = 0;

    trace_sink_limit(sink, 100000);
    for (unsigned i = 0; i < 100000; i++) {
        now += 20;
        trace_instant(1, "tick", "number", i, NULL, 0);
    }
    CHECK(trace_dropped(sink) > 0 && trace_records(sink) > 0);
    CHECK(trace_records(sink) + trace_dropped(sink) == 100000);
    CHECK(sink->bytes <= 100000);
    while (trace_cursor_next(&cursor, &event)) {
        CHECK(event.value[0] == kept &&
              event.time == 20 * (kept + 1)); /* the first ones, without a hole */
        kept++;
    }
    CHECK(kept == trace_records(sink));
    trace_sink_destroy(sink);
}

/* The limit at every size in turn: whatever the request that fails, the rest still works. */
TEST(any_request_for_memory_may_fail)
{
    for (uint64_t limit = 0; limit < 40000; limit += 50) {
        struct trace_sink *sink = install();
        char text[32];

        trace_sink_limit(sink, limit);
        for (int i = 0; i < 40; i++) {
            snprintf(text, sizeof(text), "name %d", i);
            trace_begin(trace_track_create(text, text), trace_intern(text), text, 1);
        }
        CHECK(trace_records(sink) + trace_dropped(sink) == 40);
        CHECK(sink->bytes <= limit);
        trace_sink_destroy(sink);
    }
}

TEST(faults_injected_into_the_machine_do_not_reach_the_sink)
{
    struct util_heap heap = {.fail_at = 1, .fail_onward = true};
    struct trace_sink *sink;

    util_heap_current = &heap;
    sink = install();
    trace_begin(trace_track_create("nodes", "3D"), trace_intern("render"), "fence", 1);
    util_heap_current = NULL;
    CHECK(trace_records(sink) == 1 && heap.requests == 0);
    trace_sink_destroy(sink);
}
