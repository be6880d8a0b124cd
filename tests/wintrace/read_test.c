/* SPDX-License-Identifier: MIT */
/* Reading traces: what is in them, in which order, and files that are not whole. */
#include "support/check_rule.h"
#include "support/test.h"
#include "util/alloc.h"
#include "wintrace/support/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SELECT(r, context, node) EVENT(r, 23, 0, 0xA0, context, node, 1, 2, 3)

static struct recording r;

static uint64_t value_of(const struct wintrace *trace, size_t index, const char *field)
{
    uint64_t value;

    CHECK(wintrace_get(trace, &trace->event[index], field, &value));
    return value;
}

TEST(the_recording_describes_itself)
{
    struct wintrace *trace;

    r = (struct recording){.lost = 7};
    recording_begin(&r);
    trace = recording_read(&r);
    CHECK(trace->build == 19045 && trace->processors == RECORDING_PROCESSORS && trace->lost == 7);
    CHECK(trace->events == 0 && trace->others == 0 && trace->unknown == 0 && trace->undecoded == 0);
    wintrace_destroy(trace);
}

TEST(events_have_their_fields)
{
    struct wintrace *trace;
    uint64_t value;

    r = (struct recording){0};
    recording_begin(&r);
    EVENT(&r, 23, 0, 0xFFFF840589E16000, 0xFFFF840589FD0810, 9, 0x40000000, 1ull << 40, 0x3FFFF);
    trace = recording_read(&r);
    CHECK(trace->events == 1);
    CHECK(trace->event[0].process == 44 && trace->event[0].thread == 77 &&
          trace->event[0].processor == 0 && trace->event[0].time == 0);
    CHECK(strcmp(trace->event[0].kind->name, "SelectContext") == 0);
    CHECK(value_of(trace, 0, "pDxgAdapter") == 0xFFFF840589E16000);
    CHECK(value_of(trace, 0, "hContext") == 0xFFFF840589FD0810);
    CHECK(value_of(trace, 0, "NodeOrdinal") == 9);
    CHECK(value_of(trace, 0, "ReadyContextPriorityMapBits") == 0x40000000);
    CHECK(value_of(trace, 0, "ReadyNodeSwMapBits") == 1ull << 40);
    CHECK(value_of(trace, 0, "ReadyNodeHwMapBits") == 0x3FFFF);
    CHECK(!wintrace_get(trace, &trace->event[0], "Line", &value) && value == 0);
    wintrace_destroy(trace);
}

TEST(numbers_with_a_sign_keep_it)
{
    struct wintrace *trace;

    r = (struct recording){0};
    recording_begin(&r);
    EVENT(&r, 113, 0, 1, 5, (uint64_t)-14097, 0, 2, 3);
    trace = recording_read(&r);
    CHECK((int64_t)value_of(trace, 0, "RemainingQuantum") == -14097);
    wintrace_destroy(trace);
}

TEST(arrays_have_as_many_elements_as_the_event_says)
{
    struct wintrace *trace;
    uint64_t at;

    r = (struct recording){0};
    recording_begin(&r);
    EVENT(&r, 245, 1, 0xC, 8, 0, 2, 0x11, 0x22, 100, 200);
    EVENT(&r, 245, 1, 0xC, 9, 0, 0);
    SELECT(&r, 0xC, 1);
    trace = recording_read(&r);
    CHECK(trace->events == 3);
    at = value_of(trace, 0, "ObjectArray");
    CHECK(trace->value[at] == 2 && trace->value[at + 1] == 0x11 && trace->value[at + 2] == 0x22);
    at = value_of(trace, 0, "FenceValue");
    CHECK(trace->value[at] == 2 && trace->value[at + 1] == 100 && trace->value[at + 2] == 200);
    at = value_of(trace, 1, "FenceValue");
    CHECK(trace->value[at] == 0);
    wintrace_destroy(trace);
}

TEST(strings_end_with_a_zero)
{
    struct wintrace *trace;
    uint64_t at;

    r = (struct recording){0};
    recording_begin(&r);
    EVENT(&r, 250, 0, 0xA0, 3, 1, 'c', 'o', 'p', 'y', 0);
    trace = recording_read(&r);
    at = value_of(trace, 0, "FriendlyName");
    CHECK(trace->value[at] == 4 && trace->value[at + 1] == 'c' && trace->value[at + 4] == 'y');
    wintrace_destroy(trace);
}

TEST(pointers_of_32_bit_systems_are_shorter)
{
    struct wintrace *trace;

    r = (struct recording){.pointer_bytes = 4};
    recording_begin(&r);
    SELECT(&r, 0x80001000, 5);
    trace = recording_read(&r);
    CHECK(value_of(trace, 0, "hContext") == 0x80001000 && value_of(trace, 0, "NodeOrdinal") == 5);
    wintrace_destroy(trace);
}

TEST(events_come_in_the_order_of_their_times)
{
    struct wintrace *trace;

    r = (struct recording){0};
    recording_begin(&r);
    for (unsigned i = 0; i < 300; i++) { /* several buffers of each processor */
        r.processor = i % 3 == 0;
        SELECT(&r, i, 0);
    }
    trace = recording_read(&r);
    CHECK(trace->events == 300);
    for (unsigned i = 0; i < 300; i++)
        CHECK(value_of(trace, i, "hContext") == i && trace->event[i].time == 100ull * i &&
              trace->event[i].processor == (i % 3 == 0));
    wintrace_destroy(trace);
}

TEST(equal_times_stay_in_the_order_of_the_file)
{
    struct wintrace *trace;

    r = (struct recording){0};
    recording_begin(&r);
    for (unsigned i = 0; i < 30; i++) {
        SELECT(&r, i, 0);
        r.now--;
    }
    trace = recording_read(&r);
    for (unsigned i = 0; i < 30; i++)
        CHECK(value_of(trace, i, "hContext") == i);
    wintrace_destroy(trace);
}

static uint64_t second_time(uint32_t clock)
{
    struct wintrace *trace;
    uint64_t time;

    r = (struct recording){.clock = clock};
    recording_begin(&r);
    SELECT(&r, 1, 0);
    r.now += 1999;
    SELECT(&r, 2, 0);
    trace = recording_read(&r);
    time = trace->event[1].time;
    wintrace_destroy(trace);
    return time;
}

TEST(each_clock_has_its_frequency)
{
    CHECK(second_time(1) == 200000); /* of the counter, as the file says */
    CHECK(second_time(2) == 200000); /* 100 ns */
    CHECK(second_time(3) == 1000);   /* cycles at 2 GHz */
}

TEST(what_is_not_decoded_is_counted)
{
    static const uint8_t bytes[64] = {[16] = 2};
    struct wintrace *trace;

    r = (struct recording){0};
    recording_begin(&r);
    SELECT(&r, 1, 0);
    recording_raw(&r, 0x13, false, 0, 23, 0, bytes, 40); /* another provider */
    recording_raw(&r, 0x13, true, 1, 23, 0, bytes, 64);  /* with more than a payload */
    recording_raw(&r, 0x13, true, 0, 9999, 3, bytes, 8); /* no such event */
    recording_raw(&r, 0x13, true, 0, 23, 77, bytes, 40); /* no such version of it */
    recording_raw(&r, 0x13, true, 0, 23, 0, bytes, 8);   /* too short */
    recording_raw(&r, 0x13, true, 0, 245, 1, bytes, 23); /* within an array's length */
    recording_raw(&r, 0x02, true, 0, 0, 0, bytes, 8);    /* of the system */
    recording_raw(&r, 0x11, true, 0, 0, 0, bytes, 8);    /* of a profiler */
    recording_raw(&r, 0x0A, true, 0, 0, 0, bytes, 8);    /* of a provider without a manifest */
    SELECT(&r, 2, 0);
    trace = recording_read(&r);
    CHECK(trace->events == 2 && value_of(trace, 1, "hContext") == 2);
    CHECK(trace->others == 5 && trace->unknown == 2 && trace->undecoded == 2);
    CHECK(trace->unknown_id == 23 && trace->unknown_version == 77);
    wintrace_destroy(trace);
}

/* ---- files that are not whole ---- */

static bool is_refused(const char *part)
{
    char error[256] = "";
    struct wintrace *trace = wintrace_read_bytes(r.bytes, r.length, "trace", error, sizeof(error));
    bool refused = !trace && strstr(error, part) && strncmp(error, "trace: ", 7) == 0;

    wintrace_destroy(trace);
    if (!refused)
        printf("    said: %s\n", error);
    return refused;
}

static void begin(void)
{
    r = (struct recording){0};
    recording_begin(&r);
    SELECT(&r, 1, 0);
}

TEST(broken_files_are_refused_with_the_reason)
{
    begin();
    r.length = 60;
    CHECK(is_refused("no trace"));
    begin();
    r.bytes[72 + 2] = 0x13; /* of the first event */
    CHECK(is_refused("no trace"));
    begin();
    r.bytes[48] = 0xFF; /* filled */
    r.bytes[49] = 0xFF;
    CHECK(is_refused("fuller than it is large"));
    begin();
    r.length -= 8;
    r.bytes[48] = 0xFC;
    r.bytes[49] = 0x0F;
    CHECK(is_refused("cut off"));
    begin();
    r.bytes[48] = 72;
    r.bytes[49] = 0;
    CHECK(is_refused("its first buffer is empty"));
    begin();
    r.bytes[72 + 4] = 40; /* size of the first event */
    r.bytes[72 + 5] = 0;
    CHECK(is_refused("its first event is cut off"));
    begin();
    r.bytes[72 + 5] = 0x20;
    CHECK(is_refused("does not fit into its buffer"));
    begin();
    memset(r.bytes + 72 + 32 + 256, 0, 8); /* the frequency */
    CHECK(is_refused("makes no sense"));
    begin();
    r.bytes[72 + 32 + 272] = 9; /* the kind of clock */
    CHECK(is_refused("of a kind that is not known"));
    begin();
    r.processor = 1;
    SELECT(&r, 1, 0);
    r.bytes[RECORDING_BUFFER + 1] = 0x20;
    CHECK(is_refused("differ in size"));
    begin();
    r.processor = 1;
    SELECT(&r, 1, 0);
    r.bytes[RECORDING_BUFFER + 72] = 79; /* shorter than the header of an event */
    CHECK(is_refused("shorter than its header"));
    begin();
    r.processor = 1;
    SELECT(&r, 1, 0);
    r.bytes[RECORDING_BUFFER + 72 + 3] = 0x11;
    CHECK(is_refused("does not begin like one"));
}

TEST(a_file_that_was_not_filled_ends_early)
{
    struct wintrace *trace;

    begin();
    memset(r.bytes + r.length, 0, RECORDING_BUFFER);
    r.length += RECORDING_BUFFER;
    trace = recording_read(&r);
    CHECK(trace->events == 1);
    wintrace_destroy(trace);
}

/* Whatever a byte is, reading ends, and what was read can be looked at. */
TEST(no_byte_leads_out_of_the_file)
{
    char error[256];

    begin();
    EVENT(&r, 245, 1, 0xC, 8, 0, 2, 0x11, 0x22, 100, 200);
    EVENT(&r, 250, 0, 0xA0, 3, 1, 'c', 0);
    for (size_t i = 0; i < 800; i++) {
        uint8_t *copy = malloc(r.length); /* of its very length: sanitizers watch its end */

        CHECK(copy);
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(copy, r.bytes, r.length);
            copy[i] ^= (uint8_t)(1u << bit);
            wintrace_destroy(wintrace_read_bytes(copy, r.length, "x", error, sizeof(error)));
        }
        free(copy);
    }
    for (size_t length = 0; length <= r.length; length += 7) {
        uint8_t *copy = malloc(length ? length : 1);

        CHECK(copy);
        memcpy(copy, r.bytes, length);
        wintrace_destroy(wintrace_read_bytes(copy, length, "x", error, sizeof(error)));
        free(copy);
    }
}

TEST(want_of_memory_is_told)
{
    struct wintrace *trace = NULL;
    struct util_heap heap = {0};
    char error[256] = "";

    begin();
    util_heap_current = &heap;
    while (!trace) {
        heap.requests = 0;
        heap.fail_at = heap.failures + 1;
        trace = wintrace_read_bytes(r.bytes, r.length, "trace", error, sizeof(error));
        CHECK(trace || (strcmp(error, "trace: out of memory") == 0 && heap.live_blocks == 0));
    }
    CHECK(heap.failures == 3); /* the trace, its events and their values */
    wintrace_destroy(trace);
    util_heap_current = NULL;
    CHECK(heap.live_blocks == 0);
}

TEST(a_file_is_read_or_the_reason_told)
{
    char path[] = "/tmp/dxgkhost-trace-XXXXXX", error[256];
    int file = mkstemp(path);
    struct util_heap own = {0};
    struct wintrace *trace;

    begin();
    util_heap_current = &own;
    CHECK(file >= 0 && write(file, r.bytes, r.length) == (ssize_t)r.length && close(file) == 0);
    trace = wintrace_read(path, error, sizeof(error));
    CHECK(trace && trace->events == 1);
    wintrace_destroy(trace);
    unlink(path);
    CHECK(!wintrace_read(path, error, sizeof(error)) && strstr(error, "No such file") &&
          strstr(error, path));
    CHECK(!wintrace_read("/", error, sizeof(error)) && strstr(error, "/: Is a directory"));
    util_heap_current = NULL;
    CHECK(own.live_blocks == 0);
}
