/* SPDX-License-Identifier: MIT */
/* What a trace shows of the rules: each is looked at with what holds, and with one mistake. */
#include "support/check_rule.h"
#include "support/test.h"
#include "util/alloc.h"
#include "wintrace/check.h"
#include "wintrace/support/recording.h"

#include <stdio.h>
#include <string.h>

#define ADAPTER 0xA000u
#define CLIENT  0xC010u /* contexts on node 0 */
#define OTHER   0xC020u
#define SYSTEM  0xC030u /* of requests */
#define PAGING  0xC040u /* on node 1 */

static struct recording r;

static void begin(void)
{
    r = (struct recording){0};
    recording_begin(&r);
}

static void on_node(uint64_t context, uint64_t node)
{
    EVENT(&r, 23, 0, ADAPTER, context, node, 1, 1, 1);
}

static void submit(uint64_t context, uint64_t id, uint64_t sequence)
{
    EVENT(&r, 175, 1, context, 0, 0, id, sequence, 0, 0);
}

static void request(uint64_t id)
{
    EVENT(&r, 175, 1, SYSTEM, 0, 3, id, 0, 0, 0);
}

static void report(uint64_t context, uint64_t id, uint64_t sequence)
{
    EVENT(&r, 177, 1, context, 0, id, sequence, 1, 0, 0, 0, 0);
}

static void report_preempted(uint64_t context, uint64_t id, uint64_t sequence)
{
    EVENT(&r, 177, 1, context, 0, id, sequence, 2, 0, 0, 0, 0);
}

static void answer(uint64_t id)
{
    EVENT(&r, 177, 1, SYSTEM, 3, id, 0, 1, 0, 0, 0, 0);
}

static void retire(uint64_t context, uint64_t id, uint64_t sequence, bool preempted)
{
    EVENT(&r, 176, 0, context, 0, id, sequence, preempted);
}

/* Of the rule and what it is about: "3/1", of which one broken; "": it was not looked at. */
static const char *seen(const char *rule, const char *about)
{
    static char text[256];
    struct wintrace *trace = recording_read(&r);
    struct wintrace_check *check = wintrace_check_create(trace);
    struct wintrace_findings findings = wintrace_check_findings(check);

    text[0] = 0;
    for (size_t i = 0; i < findings.count; i++) {
        const struct wintrace_finding *f = &findings.finding[i];

        if (strcmp(f->rule ? f->rule : "", rule) == 0 && strcmp(f->about, about) == 0 && f->looked)
            snprintf(text, sizeof(text), "%u/%u%s%s", (unsigned)f->looked, (unsigned)f->broken,
                     f->broken ? " " : "", f->broken ? f->first : "");
    }
    wintrace_check_destroy(check);
    wintrace_destroy(trace);
    return text;
}

#define SEEN(rule, about, text) assert_string_equal(seen(rule, about), text)

/* ---- nodes ---- */

TEST(submissions_of_a_node_are_numbered_without_gaps)
{
    begin();
    on_node(CLIENT, 0);
    on_node(OTHER, 0);
    on_node(PAGING, 1);
    submit(CLIENT, 100, 1);
    submit(PAGING, 7, 1);
    report(CLIENT, 100, 1);
    submit(OTHER, 101, 1);
    submit(PAGING, 8, 2);
    SEEN("SUBMIT-039", "submissions", "2/0"); /* the first of each has none before it */
    report(OTHER, 101, 1);
    submit(CLIENT, 103, 2);
    SEEN("SUBMIT-039", "submissions", "3/1 submission 103 follows 101");
    report(CLIENT, 103, 2);
    submit(CLIENT, 103, 3);
    SEEN("SUBMIT-039", "submissions", "4/2 submission 103 follows 101");
}

/* Without an interrupt: the packet that it aborts ends in its queue, and the others come again. */
TEST(a_reset_takes_packets_off_a_node)
{
    begin();
    on_node(CLIENT, 0);
    on_node(SYSTEM, 0);
    submit(CLIENT, 100, 1);
    submit(CLIENT, 101, 2);
    request(1);
    EVENT(&r, 180, 1, CLIENT, 0, 1, 0, 1, 0);
    retire(CLIENT, 100, 1, false);
    EVENT(&r, 176, 0, SYSTEM, 3, 1, 0, 0);
    retire(CLIENT, 101, 2, true);
    submit(CLIENT, 102, 2);
    report(CLIENT, 102, 2);
    retire(CLIENT, 102, 2, false);
    SEEN("SUBMIT-015", "submissions", "3/0");
    SEEN("SUBMIT-018", "completions", "1/0");
    SEEN("SUBMIT-047", "packets", "2/0");
    SEEN("PREEMPT-012", "submissions", "3/0");
    SEEN("PREEMPT-022", "packets", "1/0");
}

TEST(a_packet_may_be_preempted_again_before_the_next_has_its_turn)
{
    begin();
    on_node(CLIENT, 0);
    submit(CLIENT, 100, 1);
    submit(CLIENT, 101, 2);
    report_preempted(CLIENT, 100, 1);
    report_preempted(CLIENT, 101, 2);
    submit(CLIENT, 102, 1);
    report_preempted(CLIENT, 102, 1);
    submit(CLIENT, 103, 1);
    submit(CLIENT, 104, 2);
    SEEN("PREEMPT-022", "packets", "3/0");
    SEEN("PREEMPT-023", "packets", "3/0");
}

TEST(a_preempted_packet_may_end_without_coming_again)
{
    begin();
    on_node(CLIENT, 0);
    submit(CLIENT, 100, 1);
    submit(CLIENT, 101, 2);
    report_preempted(CLIENT, 100, 1);
    report_preempted(CLIENT, 101, 2);
    EVENT(&r, 180, 1, CLIENT, 0, 1, 0, 0, 0);
    submit(CLIENT, 102, 2);
    SEEN("PREEMPT-022", "packets", "1/0");
    SEEN("PREEMPT-023", "packets", "1/0");
}

TEST(nodes_of_two_adapters_are_apart)
{
    begin();
    on_node(CLIENT, 0);
    EVENT(&r, 23, 0, 0xB000, OTHER, 0, 1, 1, 1);
    submit(CLIENT, 100, 1);
    submit(OTHER, 7, 1);
    submit(CLIENT, 101, 2);
    submit(OTHER, 8, 2);
    SEEN("SUBMIT-039", "submissions", "2/0");
    SEEN("SUBMIT-015", "submissions", "4/0");
}

TEST(contexts_are_known_from_their_start_or_the_rundown)
{
    begin();
    EVENT(&r, 30, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, CLIENT, 0, 0);
    EVENT(&r, 32, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, OTHER, 0, 0);
    submit(CLIENT, 100, 1);
    submit(OTHER, 101, 1);
    SEEN("SUBMIT-039", "submissions", "1/0");
}

TEST(at_most_two_packets_are_in_flight)
{
    begin();
    on_node(CLIENT, 0);
    for (unsigned i = 0; i < 2; i++)
        submit(CLIENT, 100 + i, i);
    SEEN("SUBMIT-015", "submissions", "2/0");
    submit(CLIENT, 102, 2);
    SEEN("SUBMIT-015", "submissions", "3/1 with submission 102 3 packets are in flight");
}

TEST(packets_complete_in_the_order_of_their_submission)
{
    begin();
    on_node(CLIENT, 0);
    submit(CLIENT, 100, 1);
    submit(CLIENT, 101, 2);
    report(CLIENT, 99, 0); /* from before */
    report(CLIENT, 100, 1);
    report(CLIENT, 101, 2);
    SEEN("SUBMIT-018", "completions", "2/0");
    submit(CLIENT, 102, 3);
    submit(CLIENT, 103, 4);
    report(CLIENT, 103, 4);
    SEEN("SUBMIT-018", "completions", "3/1 packet 103 completes before packet 102");
}

TEST(a_packet_retires_after_its_interrupt)
{
    begin();
    on_node(CLIENT, 0);
    submit(CLIENT, 100, 1);
    report(CLIENT, 100, 1);
    retire(CLIENT, 100, 1, false);
    SEEN("SUBMIT-047", "packets", "1/0");
    submit(CLIENT, 101, 2);
    retire(CLIENT, 101, 2, false);
    SEEN("SUBMIT-047", "packets", "2/1 packet 101 retires while it is in flight");
}

/* ---- preemption ---- */

/* One of OTHER with two packets, for one of CLIENT. */
static void preempt(void)
{
    on_node(CLIENT, 0);
    on_node(OTHER, 0);
    submit(OTHER, 100, 1);
    submit(OTHER, 101, 2);
    request(50);
    report_preempted(OTHER, 100, 1);
    report_preempted(OTHER, 101, 2);
    answer(50);
    retire(OTHER, 100, 1, true);
    retire(OTHER, 101, 2, true);
    submit(CLIENT, 102, 1);
    report(CLIENT, 102, 1);
}

TEST(requests_count_for_themselves)
{
    begin();
    preempt();
    SEEN("PREEMPT-011", "requests", "");
    request(51);
    answer(51);
    SEEN("PREEMPT-011", "requests", "1/0");
    SEEN("SUBMIT-039", "submissions", "2/0");
    request(53);
    SEEN("PREEMPT-011", "requests", "2/1 request 53 follows 51");
}

TEST(nothing_is_submitted_between_request_and_answer)
{
    begin();
    preempt();
    SEEN("PREEMPT-012", "submissions", "3/0");
    request(51);
    on_node(PAGING, 1);
    submit(PAGING, 7, 1);
    SEEN("PREEMPT-012", "submissions", "4/0"); /* another node */
    submit(OTHER, 103, 1);
    SEEN("PREEMPT-012", "submissions", "5/1 submission 103 while request 51 was not answered");
    request(52);
    SEEN("PREEMPT-012", "requests", "3/1 request 52 while 51 was not answered");
}

TEST(preempted_packets_get_new_numbers_and_keep_their_order)
{
    begin();
    preempt();
    submit(OTHER, 103, 1);
    submit(OTHER, 104, 2);
    SEEN("PREEMPT-022", "packets", "2/0");
    SEEN("PREEMPT-023", "packets", "2/0");
    begin();
    preempt();
    submit(OTHER, 103, 2);
    SEEN("PREEMPT-023", "packets", "1/1 packet 2 comes before packet 1, which was preempted");
    begin();
    preempt();
    submit(OTHER, 100, 1);
    SEEN("PREEMPT-022", "packets", "1/1 packet 1 of a context was 100 and is 100");
}

TEST(packets_without_a_node_are_counted)
{
    struct wintrace *trace;
    struct wintrace_check *check;

    begin();
    submit(CLIENT, 100, 1);
    report(CLIENT, 100, 1);
    trace = recording_read(&r);
    check = wintrace_check_create(trace);
    CHECK(wintrace_check_findings(check).without_node == 2);
    wintrace_check_destroy(check);
    wintrace_destroy(trace);
    SEEN("SUBMIT-015", "submissions", "");
}

/* ---- contexts, residency, translations ---- */

TEST(packets_of_a_context_are_numbered_without_gaps)
{
    begin();
    EVENT(&r, 178, 1, CLIENT, 0, 1, 0, 0, 0, 0, 0, 0, 0);
    EVENT(&r, 244, 1, CLIENT, 2, 0, 0, 0, 0);
    EVENT(&r, 245, 1, CLIENT, 3, 0, 0);
    EVENT(&r, 178, 1, OTHER, 0, 77, 0, 0, 0, 0, 0, 0, 0);
    SEEN("", "packets", "2/0");
    EVENT(&r, 244, 1, CLIENT, 5, 0, 0, 0, 0);
    SEEN("", "packets", "3/1 packet 5 follows 3");
}

TEST(residency_that_is_pending_has_a_fence_value)
{
    begin();
    EVENT(&r, 339, 0, 0, 0, 0);
    EVENT(&r, 339, 0, 0x103, 0, 7);
    EVENT(&r, 339, 0, 0xC0000017, 4096, 0); /* failed: neither */
    SEEN("RES-014", "calls", "2/0");
    EVENT(&r, 339, 0, 0, 0, 7);
    SEEN("RES-014", "calls", "3/1 status 0x0 with fence value 7");
    EVENT(&r, 339, 0, 0x103, 0, 0);
    SEEN("RES-014", "calls", "4/2 status 0x0 with fence value 7");
}

static void flush(uint64_t start, uint64_t end)
{
    begin();
    EVENT(&r, 310, 0, ADAPTER, 0, 0, 0, 0, 0, 0, start, end);
}

TEST(flushes_name_whole_pages)
{
    flush(0x1000, 0x2000);
    SEEN("GPUVA-218", "flushes", "1/0");
    flush(0, 0); /* all */
    SEEN("GPUVA-218", "flushes", "1/0");
    flush(0x1000, 0x1FFF);
    SEEN("GPUVA-218", "flushes", "1/1 from 0x1000 to 0x1fff");
    flush(0x1800, 0x3000);
    SEEN("GPUVA-218", "flushes", "1/1 from 0x1800 to 0x3000");
    flush(0x1000, 0x1000);
    SEEN("GPUVA-218", "flushes", "1/1 from 0x1000 to 0x1000");
}

TEST(want_of_memory_ends_a_check)
{
    struct wintrace_check *check = NULL;
    struct util_heap heap = {0};
    struct wintrace *trace;

    begin();
    preempt();
    trace = recording_read(&r);
    util_heap_current = &heap;
    while (!check) {
        heap.requests = 0;
        heap.fail_at = heap.failures + 1;
        check = wintrace_check_create(trace);
        CHECK(check || heap.live_blocks == 0);
    }
    CHECK(heap.failures > 5);
    wintrace_check_destroy(check);
    util_heap_current = NULL;
    CHECK(heap.live_blocks == 0);
    wintrace_destroy(trace);
}
