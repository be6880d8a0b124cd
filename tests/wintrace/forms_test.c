/* SPDX-License-Identifier: MIT */
/* Traces as text: the same events give the same trace from every form, and what is not well formed is refused or counted. */
#include "support/check_rule.h"
#include "support/test.h"
#include "util/alloc.h"
#include "wintrace/support/recording.h"
#include "wintrace/support/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct recording r;

static const enum text_form forms[] = {TEXT_XML, TEXT_CSV, TEXT_DUMPER};

/* Events of every kind of field: numbers with and without a sign, booleans, pointers, arrays with and without elements, strings; several
 * kinds of one name. */
static void begin(void)
{
    r = (struct recording){.lost = 3};
    recording_begin(&r);
    EVENT(&r, 23, 0, 0xA0, 0xFFFF840589FD0810, 9, 0x40000000, 1ull << 40, 0x3FFFF);
    r.now += 9;
    EVENT(&r, 113, 0, 1, 5, (uint64_t)-14097, 0, 2, 3);
    r.now += 19;
    EVENT(&r, 178, 1, 0xC, 0, 7, 4096, 3, 4, 1, 0xD, 0xFFFFC08F3F4F7010, 5);
    r.now += 9;
    EVENT(&r, 244, 1, 0xC, 8, 0, 0x51, 100, 0xF);
    r.processor = 1;
    r.now += 29;
    EVENT(&r, 245, 1, 0xC, 9, 0, 2, 0x11, 0x22, 100, 200);
    r.now += 9;
    EVENT(&r, 245, 1, 0xC, 10, 0, 0);
    r.now += 9;
    EVENT(&r, 250, 0, 0xA0, 3, 1, 'c', 'o', ',', ' ', 'p', 'y', 0);
    r.now += 9;
    EVENT(&r, 168, 0, 0, 1, 0xB, 1, 0, 1);
    r.now += 9;
    EVENT(&r, 252, 0, 1, 0, 1, 0xB, 0, (uint64_t)-5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0, 0,
          1, 0, 0, 80);
    r.now += 9;
    EVENT(&r, 436, 0, 0xA0, 0xC, 2, 1, 1, 5, 6);
    r.now += 9;
    EVENT(&r, 78, 1, 1, 0xA0, 0, 0, 1ull << 32, 0, 0x100, 0, 0, 1);
}

/* ---- the same trace ---- */

static void check_event(const struct wintrace *a, const struct wintrace *b, size_t index)
{
    const struct wintrace_event *x = &a->event[index], *y = &b->event[index];

    CHECK(x->kind == y->kind && x->time == y->time && x->process == y->process &&
          x->thread == y->thread && x->processor == y->processor);
    for (unsigned i = 0; i < x->kind->fields; i++) {
        uint64_t v = a->value[x->values + i], w = b->value[y->values + i];

        if (!x->kind->field[i].count && x->kind->field[i].type != WINTRACE_STRING) {
            CHECK(v == w);
            continue;
        }
        CHECK(a->value[v] == b->value[w]);
        for (uint64_t k = 1; k <= a->value[v]; k++)
            CHECK(a->value[v + k] == b->value[w + k]);
    }
}

/* `b` was read from a text of `a`. */
static void check_same(const struct wintrace *a, const struct wintrace *b, enum text_form form)
{
    CHECK(a->events == b->events && b->unknown == 0 && b->undecoded == 0);
    CHECK(a->build == b->build && a->lost == b->lost);
    CHECK(form == TEXT_DUMPER || a->processors == b->processors); /* the dumper does not tell */
    for (size_t i = 0; i < a->events; i++)
        check_event(a, b, i);
}

TEST(every_form_gives_the_same_trace)
{
    struct wintrace *trace;

    begin();
    trace = recording_read(&r);
    CHECK(trace->events == 11);
    for (unsigned i = 0; i < 3; i++) {
        struct written w = written_of(trace, forms[i]);
        struct wintrace *read = written_read(&w);

        check_same(trace, read, forms[i]);
        wintrace_destroy(read);
        written_finish(&w);
    }
    wintrace_destroy(trace);
}

TEST(texts_may_be_utf16)
{
    struct wintrace *trace;

    begin();
    trace = recording_read(&r);
    for (unsigned i = 0; i < 12; i++) {
        struct written w = written_utf16(written_of(trace, forms[i / 4]), i & 1, i & 2);
        struct wintrace *read = written_read(&w);

        check_same(trace, read, forms[i / 4]);
        wintrace_destroy(read);
        written_finish(&w);
    }
    wintrace_destroy(trace);
}

static struct written text_of_all(enum text_form form)
{
    struct wintrace *trace;
    struct written w;

    begin();
    trace = recording_read(&r);
    w = written_of(trace, form);
    wintrace_destroy(trace);
    return w;
}

/* Read what was changed, and say "events unknown undecoded", or why it is refused. */
static const char *after(struct written w)
{
    static char said[600];
    char error[512] = "";
    struct wintrace *trace = wintrace_read_bytes(w.bytes, w.length, "t", error, sizeof(error));

    if (trace)
        snprintf(said, sizeof(said), "%u %u %u", (unsigned)trace->events, (unsigned)trace->unknown,
                 (unsigned)trace->undecoded);
    else
        snprintf(said, sizeof(said), "%s", error);
    wintrace_destroy(trace);
    written_finish(&w);
    return said;
}

static const char *changed(enum text_form form, const char *from, const char *to)
{
    struct written w = text_of_all(form);

    written_replace(&w, from, to);
    return after(w);
}

#define CHANGED(form, from, to, said) assert_string_equal(changed(form, from, to), said)

/* ---- XML ---- */

TEST(xml_takes_what_tracerpt_may_write)
{
    CHANGED(TEXT_XML, "<?xml version=\"1.0\"?>\r\n", "", "11 0 0");
    CHANGED(TEXT_XML, "<?xml version=\"1.0\"?>", "<?xml version=\"1.0\" encoding=\"utf-16\"?>",
            "11 0 0");
    CHANGED(TEXT_XML, "<?xml version=\"1.0\"?>",
            "<?xml version=\"1.0\" encoding=\"windows-1252\"?>", "11 0 0");
    CHANGED(TEXT_XML, "<?xml version=\"1.0\"?>", "\xEF\xBB\xBF<?xml version=\"1.0\"?>", "11 0 0");
    CHANGED(TEXT_XML, "co, py", "co, &quot;py&#x1F600;", "11 0 0");
    CHANGED(TEXT_XML,
            "<Data Name=\"ObjectArray\">0x11</Data>\r\n\t\t<Data Name=\"ObjectArray\">0x22</Data>",
            "<Data Name=\"ObjectArray\">{0x11, 0x22}</Data>", "11 0 0");
    CHANGED(TEXT_XML, "+00:59", "Z", "11 0 0");
    CHANGED(TEXT_XML, "<Data Name=\"NodeOrdinal\">",
            "<Data Name=\"NodeOrdinal\">9</Data><Data Name=\"NodeOrdinal\">", "11 0 0");
    CHANGED(TEXT_XML, "<Data Name=\"ObjectCount\"> 0</Data>",
            "<Data Name=\"ObjectCount\">0</Data><Data Name=\"ObjectArray\"/>", "11 0 0");
    CHANGED(TEXT_XML, " 0x40000000<", " 1073741824<", "11 0 0");
}

TEST(strings_are_in_utf16)
{
    struct written w = text_of_all(TEXT_XML);
    struct wintrace *trace;
    size_t i = 0;
    uint64_t at = 0;

    written_replace(&w, "co, py", "\xC3\xA4&#x1F600;");
    trace = written_read(&w);
    while (i < trace->events && trace->event[i].kind->id != 250)
        i++;
    CHECK(i < trace->events && wintrace_get(trace, &trace->event[i], "FriendlyName", &at));
    CHECK(trace->value[at] == 3 && trace->value[at + 1] == 0xE4 && trace->value[at + 2] == 0xD83D &&
          trace->value[at + 3] == 0xDE00);
    wintrace_destroy(trace);
    written_finish(&w);
}

TEST(xml_counts_events_that_do_not_fit)
{
    CHANGED(TEXT_XML, "<EventID>23<", "<EventID>9999<", "10 1 0");
    CHANGED(TEXT_XML, "<Version>0<", "<Version>77<", "10 1 0");
    CHANGED(TEXT_XML, "Name=\"NodeOrdinal\"", "Name=\"Node\"", "10 0 1");
    CHANGED(TEXT_XML, " 0x40000000<", " 0x140000000<", "10 0 1"); /* more than 32 bits */
    CHANGED(TEXT_XML, " 0x40000000<", " many<", "10 0 1");
    CHANGED(TEXT_XML, "<Data Name=\"ObjectArray\">0x11</Data>", "",
            "10 0 1"); /* fewer than its count says */
    CHANGED(TEXT_XML,
            "Name=\"Microsoft-Windows-DxgKrnl\" Guid=\"{802ec45a-1e99-4b83-9920-87c98277ba9d}\"",
            "Name=\"Other\"", "10 0 0");
}

TEST(xml_decodes_payloads_without_a_manifest)
{
    static const char text[] =
        "<Events><Event><System><Provider Guid=\"{802EC45A-1E99-4B83-9920-87C98277BA9D}\"/><EventID>22</EventID>"
        "<Version>0</Version><TimeCreated SystemTime=\"2026-01-02T03:04:05Z\"/></System>"
        "<BinaryEventData>1122334455667788\n 05000000</BinaryEventData></Event></Events>";
    struct written w = {.bytes = strdup(text), .length = strlen(text)};
    struct wintrace *trace = written_read(&w);
    uint64_t value;

    CHECK(trace->events == 1 && wintrace_get(trace, &trace->event[0], "hContext", &value) &&
          value == 0x8877665544332211);
    CHECK(wintrace_get(trace, &trace->event[0], "AttemptResult", &value) && value == 5);
    wintrace_destroy(trace);
    written_replace(
        &w, "<Events>",
        "<Events><Event><EventData><Data Name=\"ProviderVersion\">9</Data><Data Name=\"PointerSize\">4</Data></EventData></Event>");
    trace = written_read(&w); /* of a 32-bit system */
    CHECK(trace->build == 9 && wintrace_get(trace, &trace->event[0], "hContext", &value) &&
          value == 0x44332211);
    CHECK(wintrace_get(trace, &trace->event[0], "AttemptResult", &value) && value == 0x88776655);
    wintrace_destroy(trace);
    written_replace(&w, "05000000", "0500000x");
    assert_string_equal(after(w), "0 0 1");
    w = (struct written){.bytes = strdup(text), .length = strlen(text)};
    written_replace(&w, "05000000", "050000");
    assert_string_equal(after(w), "0 0 1");
}

TEST(xml_that_is_broken_is_refused_with_the_reason)
{
    CHANGED(TEXT_XML, "</Events>", "", "t: line 361: no element found");
    CHANGED(TEXT_XML, "</EventData>", "</EventDatum>", "t: line 15: mismatched tag");
    CHANGED(TEXT_XML, "<Events>", "<!DOCTYPE Events [<!ENTITY a \"b\">]><Events>",
            "t: line 2: it has a document type, as no trace has");
    CHANGED(TEXT_XML, "<EventID>23</EventID>", "",
            "t: line 45: an event of DxgKrnl has no EventID and Version that fit");
    CHANGED(TEXT_XML, "<EventID>23<", "<EventID>70000<",
            "t: line 45: an event of DxgKrnl has no EventID and Version that fit");
    CHANGED(TEXT_XML, "SystemTime=\"2026-01-02T04:00:00.1234500",
            "SystemTime=\"2026-13-02T04:00:00.1234500",
            "t: line 26: its SystemTime is no time of the years 1970 to 2250");
    CHANGED(TEXT_XML, "SystemTime=\"2026-01-02T04:00", "RawTime=\"2026-01-02T04:00",
            "t: line 45: an event of DxgKrnl has no SystemTime");
    CHANGED(TEXT_XML, "ProcessID=\"44\"", "ProcessID=\"x\"",
            "t: line 28: its ProcessID, ThreadID or ProcessorID is no number that fits");
}

TEST(xml_is_kept_within_bounds)
{
    struct written w = {.bytes = malloc(3 << 20)};
    size_t most = 3 << 20;

    CHECK(w.bytes);
    for (unsigned i = 0; i < 70; i++)
        w.length += (size_t)snprintf(w.bytes + w.length, most - w.length, "<Events>");
    assert_string_equal(after(w), "t: line 1: elements are nested too deeply");
    w = text_of_all(TEXT_XML);
    written_replace(&w, "<Data Name=\"NodeOrdinal\"> 9<", "<Data Name=\"NodeOrdinal\">@<");
    {
        char *at = strchr(w.bytes, '@');
        size_t before = (size_t)(at - w.bytes), room = 2 << 20;
        char *large = malloc(w.length + room + 1);

        CHECK(large);
        memcpy(large, w.bytes, before);
        memset(large + before, ' ', room);
        strcpy(large + before + room, at + 1);
        free(w.bytes);
        w = (struct written){.bytes = large, .length = strlen(large)};
    }
    assert_string_equal(after(w), "10 0 1"); /* texts of two megabytes */
}

/* ---- CSV ---- */

TEST(csv_takes_what_tracerpt_may_write)
{
    CHANGED(TEXT_CSV, "Event Name,", "\"Event Name\",", "11 0 0");
    CHANGED(TEXT_CSV, "Microsoft-Windows-DxgKrnl,", "{802EC45A-1E99-4B83-9920-87C98277BA9D},",
            "11 0 0");
    CHANGED(TEXT_CSV, "Microsoft-Windows-DxgKrnl,", "\"SelectContext\",", "11 0 0"); /* its task */
    CHANGED(TEXT_CSV, "Microsoft-Windows-DxgKrnl,", "Microsoft-Windows-Other,", "10 0 0");
    CHANGED(TEXT_CSV, "0x11, 0x22", "[0x11, 0x22]", "11 0 0");
    CHANGED(TEXT_CSV, "0x0000002C,", "44,", "11 0 0");
    CHANGED(TEXT_CSV, "\r\n", "\r\n\r\n", "11 0 0");
}

TEST(csv_counts_events_that_do_not_fit)
{
    CHANGED(TEXT_CSV, "        23,          0,", "        23,         77,", "10 1 0");
    CHANGED(TEXT_CSV, "9,  0x40000000", "9,  many", "10 0 1");
    CHANGED(TEXT_CSV, ",  262143", "", "10 0 1");
}

TEST(csv_that_is_broken_is_refused_with_the_reason)
{
    CHANGED(TEXT_CSV, "Clock-Time", "Time", "t: line 1: there is no column \"Clock-Time\"");
    CHANGED(TEXT_CSV, "        23, ", "  node, ",
            "t: line 3: its Event ID is \"node\", which is no number that fits");
    CHANGED(TEXT_CSV, "        23, ", "  65536, ",
            "t: line 3: its Event ID is \"65536\", which is no number that fits");
    CHANGED(TEXT_CSV, "0x0000002C,", "-1,",
            "t: line 3: its PID is \"-1\", which is no number that fits");
    CHANGED(TEXT_CSV, "Microsoft-Windows-DxgKrnl, ", "Microsoft-Windows-DxgKrnl, Start\r\n",
            "t: line 3: an event is cut off");
}

/* ---- the dumper ---- */

TEST(the_dumper_takes_what_xperf_may_write)
{
    CHANGED(TEXT_DUMPER, "BeginHeader\r\n   P-Start", "Microsoft-Windows-Win32k/X/win:Info",
            "11 0 0");
    CHANGED(TEXT_DUMPER, "\"Unknown\" (  44)", "\"a, b (1)\" (44)", "11 0 0");
    CHANGED(TEXT_DUMPER, "\"Unknown\" (  44)", "a, b (44)", "10 0 1"); /* one cell too many */
    CHANGED(TEXT_DUMPER, "\"Unknown\" (  44)", "dwm.exe (44)", "11 0 0");
    CHANGED(TEXT_DUMPER, ", 9, 0x40000000", ", NodeOrdinal : 9, 0x40000000",
            "11 0 0"); /* with -add_fieldnames */
    CHANGED(TEXT_DUMPER, "SrcRectleft", "SrcRect.left", "11 0 0");
    CHANGED(TEXT_DUMPER, "hDmaBuffer, pQueuePacket, ProgressFenceValue",
            "hDmaBuffer, pQueuePacket, ProgressFenceValue, New", "10 0 1");
    CHANGED(TEXT_DUMPER, "[0x0000000000000011; 0x0000000000000022]", "[0x11, 0x22]", "11 0 0");
}

TEST(the_dumper_counts_events_that_do_not_fit)
{
    CHANGED(TEXT_DUMPER, ", hContext, NodeOrdinal", ", hContext, Node", "10 1 0");
    CHANGED(TEXT_DUMPER, "0x40000000", "many", "10 0 1");
    CHANGED(TEXT_DUMPER, "SelectContext/win:Info,          0", "PresentOther,          0",
            "t: line 16: the header has no columns for its event");
}

TEST(a_dumper_text_that_is_broken_is_refused_with_the_reason)
{
    CHANGED(TEXT_DUMPER, "EndHeader\r\n", "",
            "t: line 25: the text ends within its header (there is no EndHeader)");
    CHANGED(TEXT_DUMPER, "SelectContext/win:Info,          0,", "SelectContext/win:Info, now,",
            "t: line 16: what should be a time in us is none");
    CHANGED(TEXT_DUMPER, "(  44),", "(  44,",
            "t: line 16: there is no number of a process between parentheses");
}

/* ---- what is not whole ---- */

/* Whatever a byte is, and wherever a text ends, reading ends. */
TEST(no_byte_of_a_text_leads_astray)
{
    for (unsigned i = 0; i < 3; i++) {
        struct written w = text_of_all(forms[i]);
        char error[512];

        for (size_t at = 0; at < w.length; at += 3) {
            char *copy = malloc(w.length); /* of its very length: sanitizers watch its end */

            CHECK(copy);
            memcpy(copy, w.bytes, w.length);
            copy[at] ^= (char)(1u << at % 8);
            wintrace_destroy(wintrace_read_bytes(copy, w.length, "x", error, sizeof(error)));
            free(copy);
        }
        for (size_t length = 0; length < w.length; length += 97) {
            char *copy = malloc(length + 1);

            CHECK(copy);
            memcpy(copy, w.bytes, length);
            wintrace_destroy(wintrace_read_bytes(copy, length, "x", error, sizeof(error)));
            free(copy);
        }
        written_finish(&w);
    }
}

TEST(a_line_without_an_end_is_refused)
{
    size_t length = 3 << 20;
    char *text = malloc(length + 1), error[512] = "";

    CHECK(text);
    memset(text, 'a', length);
    text[snprintf(text, 64, "BeginHeader\n")] = 'a';
    CHECK(!wintrace_read_bytes(text, length, "t", error, sizeof(error)));
    assert_string_equal(error, "t: line 2: it has no end within a megabyte");
    text[snprintf(text, 64, "Event Name, ")] = 'a';
    CHECK(!wintrace_read_bytes(text, length, "t", error, sizeof(error)));
    assert_string_equal(error, "t: line 1: it has no end within a megabyte");
    free(text);
}

TEST(want_of_memory_is_told_of_texts)
{
    for (unsigned i = 0; i < 3; i++) {
        struct written w = text_of_all(forms[i]);
        struct wintrace *trace = NULL;
        struct util_heap heap = {0};
        char error[512] = "";

        util_heap_current = &heap;
        while (!trace) {
            heap.requests = 0;
            heap.fail_at = heap.failures + 1;
            trace = wintrace_read_bytes(w.bytes, w.length, "t", error, sizeof(error));
            CHECK(trace || (strcmp(error, "t: out of memory") == 0 && heap.live_blocks == 0));
        }
        CHECK(heap.failures >= 5);
        wintrace_destroy(trace);
        util_heap_current = NULL;
        CHECK(heap.live_blocks == 0);
        written_finish(&w);
    }
}

TEST(files_of_texts_are_read_in_pieces)
{
    char path[] = "/tmp/dxgkhost-trace-XXXXXX", error[256];
    int file = mkstemp(path);
    struct wintrace *trace, *read;
    struct written w;

    r = (struct recording){0};
    recording_begin(&r);
    for (unsigned i = 0; i < 400; i++) {
        EVENT(&r, 23, 0, 0xA0, i, 9, 0, 0, 0);
        r.now += 9;
    }
    trace = recording_read(&r);
    w = written_of(trace, TEXT_XML);
    CHECK(w.length > 300000); /* several pieces */
    CHECK(file >= 0 && write(file, w.bytes, w.length) == (ssize_t)w.length && close(file) == 0);
    read = wintrace_read(path, error, sizeof(error));
    CHECK(read);
    check_same(trace, read, TEXT_XML);
    unlink(path);
    wintrace_destroy(read);
    wintrace_destroy(trace);
    written_finish(&w);
}
