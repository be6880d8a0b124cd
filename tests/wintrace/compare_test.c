/* SPDX-License-Identifier: MIT */
/* Two traces beside each other: the same story in two worlds is equal, and one change is told where it was made. */
#include "support/check_rule.h"
#include "support/test.h"
#include "util/alloc.h"
#include "util/array.h"
#include "wintrace/compare.h"
#include "wintrace/known.h"
#include "wintrace/show.h"
#include "wintrace/support/story.h"
#include "wintrace/support/texts.h"
#include "wintrace/touched.h"

#include <stdio.h>
#include <string.h>

#define SEEDS 8u

static struct recording r;
static struct story our_story, windows_story;

static const struct story_world our_world = {.handles = 0x10000000, .process = 44},
                                windows_world = {.handles = 0xFFFF840500000000,
                                                 .numbers = 14000,
                                                 .system_segment = 3,
                                                 .process = 1956};

/* ---- helpers ---- */

struct compared {
    struct wintrace *ours, *windows;
    struct comparison *comparison;
};

static struct wintrace *trace_of(const struct story *story)
{
    r = (struct recording){0};
    story_record(story, &r);
    return recording_read(&r);
}

static struct compared compare_traces(struct wintrace *ours, struct wintrace *windows)
{
    static const struct compare_choice choice;
    char error[256] = "";
    bool of_windows;
    struct compared c = {ours, windows,
                         compare_create(ours, windows, &choice, &of_windows, error, sizeof(error))};

    if (!c.comparison)
        fail_msg("%s", error);
    return c;
}

static struct compared compare_stories(void)
{
    return compare_traces(trace_of(&our_story), trace_of(&windows_story));
}

static void finish(struct compared *c)
{
    compare_destroy(c->comparison);
    wintrace_destroy(c->ours);
    wintrace_destroy(c->windows);
}

static void begin(uint64_t seed)
{
    story_make(&our_story, seed, &our_world);
    story_make(&windows_story, seed, &windows_world);
}

/* The only pair that parts; NULL: several do, or none. */
static const struct compare_pair *only_parted(const struct comparison *c)
{
    const struct compare_pair *found = NULL;

    for (size_t i = 0; i < c->pairs; i++)
        if (c->pair[i].result.part != ALIGN_EQUAL)
            found = &c->pair[i];
    return c->parted == 1 ? found : NULL;
}

/* "node: only ours 57" with the number of the event of that trace (Windows': of theirs), or "node: uliSubmissionId 57". */
static const char *told(void)
{
    static const char *const kinds[] = {"context", "node",  "allocation",
                                        "source",  "queue", "calls"};
    static char text[256];
    struct compared c = compare_stories();
    const struct compare_pair *pair = only_parted(c.comparison);

    snprintf(text, sizeof(text), "%u lanes and %u orders part", (unsigned)c.comparison->parted,
             c.comparison->orders_parted);
    if (pair && c.comparison->orders_parted == 0) {
        size_t ours = pair->ours && pair->result.ours < pair->ours->items
                          ? pair->ours->item[pair->result.ours].event
                          : 0;
        size_t windows = pair->windows && pair->result.windows < pair->windows->items
                             ? pair->windows->item[pair->result.windows].event
                             : 0;

        if (pair->result.part == ALIGN_FIELD)
            snprintf(text, sizeof(text), "%s: %s %u", kinds[pair->kind], pair->result.field,
                     (unsigned)windows);
        else if (pair->result.part == ALIGN_ONLY_OURS)
            snprintf(text, sizeof(text), "%s: only ours %u", kinds[pair->kind], (unsigned)ours);
        else if (pair->result.part == ALIGN_ONLY_WINDOWS)
            snprintf(text, sizeof(text), "%s: only Windows %u", kinds[pair->kind],
                     (unsigned)windows);
        else
            snprintf(text, sizeof(text), "%s: other %u", kinds[pair->kind], (unsigned)windows);
    }
    finish(&c);
    return text;
}

#define TOLD(...)                                          \
    do {                                                   \
        char expected[256];                                \
        snprintf(expected, sizeof(expected), __VA_ARGS__); \
        assert_string_equal(told(), expected);             \
    } while (0)

/* ---- equal ---- */

TEST(the_same_story_is_equal_in_two_worlds)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct compared c;

        begin(seed);
        c = compare_stories();
        CHECK(c.comparison->parted == 0 && c.comparison->orders_parted == 0);
        CHECK(c.comparison->pairs >=
              6); /* of two contexts, a node, allocations, a source, a queue, a thread */
        finish(&c);
    }
}

/* Sequences of 32 bits begin anew, and packets before that are not above all others. */
TEST(sequences_may_begin_anew)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct story_world late = windows_world;

        late.numbers = 0xFFFFFFE8;
        begin(seed);
        story_make(&windows_story, seed, &late);
        TOLD("0 lanes and 0 orders part");
    }
}

TEST(packets_of_other_processes_are_left_out)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct story_world crowded = windows_world;

        crowded.others = true;
        begin(seed);
        story_make(&windows_story, seed, &crowded);
        CHECK(windows_story.events > our_story.events);
        TOLD("0 lanes and 0 orders part");
    }
}

TEST(every_form_is_compared_alike)
{
    static const enum text_form forms[] = {TEXT_XML, TEXT_CSV, TEXT_DUMPER};

    for (unsigned i = 0; i < ARRAY_COUNT(forms); i++) {
        struct wintrace *windows;
        struct compared c;
        struct written w;

        begin(5);
        windows = trace_of(&windows_story);
        w = written_of(windows, forms[i]);
        wintrace_destroy(windows);
        c = compare_traces(trace_of(&our_story), written_read(&w));
        CHECK(c.windows->events == windows_story.events && c.comparison->parted == 0);
        finish(&c);
        written_finish(&w);
    }
}

TEST(any_handles_are_told_apart)
{
    struct story_world odd = windows_world;

    begin(2);
    odd.handles++;
    story_make(&windows_story, 2, &odd);
    for (size_t i = 0; i < windows_story.events;
         i++) /* the one beside its first object becomes the second */
        if (windows_story.event[i].id == 244)
            story_set(&windows_story, i, "hSyncObject",
                      0x1000 + (story_get(&windows_story, i, "hSyncObject") >> 8 & 1));
        else if (windows_story.event[i].id == 245)
            windows_story.event[i].value[4] = 0x1000 + (windows_story.event[i].value[4] >> 8 & 1);
    TOLD("0 lanes and 0 orders part");
}

/* ---- one change ---- */

#define EACH_SEED for (uint64_t seed = 0; seed < SEEDS; seed++, begin(seed))

TEST(a_packet_that_is_missing_is_told)
{
    begin(0);
    EACH_SEED
    {
        size_t at = story_find(&our_story, 175, "PacketType", 0, 3 + (unsigned)seed % 3);

        story_drop(&windows_story, at);
        TOLD("node: only ours %u", (unsigned)at);
        begin(seed);
        story_drop(&our_story, at);
        TOLD("node: only Windows %u", (unsigned)at);
    }
}

TEST(a_packet_that_is_not_queued_is_told)
{
    begin(0);
    EACH_SEED
    {
        size_t at = story_find(&our_story, 178, "PacketType", 0, 4);

        story_drop(&windows_story, at);
        TOLD("context: only ours %u", (unsigned)at);
    }
}

TEST(packets_that_change_places_are_told)
{
    begin(0);
    EACH_SEED
    {
        size_t first = story_find(&our_story, 177, "InterruptType", 2,
                                  0); /* two preempted ones, one behind the other */

        story_swap(&windows_story, first, first + 1);
        CHECK(strstr(told(), "node: "));
        CHECK(strstr(told(), strrchr(told(), ' ')));
        {
            char expected[64];

            snprintf(expected, sizeof(expected), " %u", (unsigned)first);
            CHECK(strstr(told(), expected));
        }
    }
}

TEST(a_number_that_is_another_is_told)
{
    begin(0);
    EACH_SEED
    {
        size_t at = story_find(&our_story, 175, "PacketType", 0, 5);

        story_set(&windows_story, at, "uliSubmissionId",
                  story_get(&windows_story, at, "uliSubmissionId") + 500);
        TOLD("node: uliSubmissionId %u", (unsigned)at);
        begin(seed);
        at = story_find(&our_story, 178, "PacketType", 0, 5);
        story_set(&windows_story, at, "SubmitSequence",
                  story_get(&windows_story, at, "SubmitSequence") + 500);
        TOLD("context: SubmitSequence %u", (unsigned)at);
    }
}

TEST(a_fence_value_that_is_another_is_told)
{
    begin(0);
    EACH_SEED
    {
        uint64_t object = story_get(&windows_story, story_find(&windows_story, 244, NULL, 0, 0),
                                    "hSyncObject");
        size_t at = story_find(&windows_story, 244, "hSyncObject", object, 1);

        story_set(&windows_story, at, "FenceValue",
                  story_get(&windows_story, at, "FenceValue") + 500);
        TOLD("context: FenceValue %u", (unsigned)at);
    }
}

TEST(another_object_is_told)
{
    begin(0);
    EACH_SEED
    {
        uint64_t object = story_get(&windows_story, story_find(&windows_story, 244, NULL, 0, 0),
                                    "hSyncObject");
        size_t at = story_find(&windows_story, 244, "hSyncObject", object, 1);

        story_set(&windows_story, at, "hSyncObject", object + 0x5000);
        TOLD("context: hSyncObject %u", (unsigned)at);
    }
}

static bool some_part(const struct comparison *c)
{
    for (size_t i = 0; i < c->pairs; i++)
        if (c->pair[i].result.part != ALIGN_EQUAL)
            return true;
    return false;
}

TEST(no_object_is_not_one)
{
    begin(0);
    EACH_SEED
    {
        const uint64_t object = story_get(&our_story, story_find(&our_story, 244, NULL, 0, 0),
                                          "hSyncObject");
        struct compared c;

        for (size_t i = 0; i < our_story.events; i++)
            if (our_story.event[i].id == 244 && story_get(&our_story, i, "hSyncObject") == object)
                story_set(&our_story, i, "hSyncObject", 0);
            else if (our_story.event[i].id == 245 && our_story.event[i].value[4] == object)
                our_story.event[i].value[4] = 0;
        c = compare_stories();
        CHECK(some_part(c.comparison));
        finish(&c);
    }
}

TEST(another_answer_to_preemption_is_told)
{
    begin(0);
    EACH_SEED
    {
        size_t at = story_find(&our_story, 177, "InterruptType", 2, 1);

        story_set(&windows_story, at, "InterruptType", 1);
        TOLD("node: InterruptType %u", (unsigned)at);
        begin(seed);
        at = story_find(&our_story, 175, "PacketType", 3, 0); /* the request */
        story_drop(&windows_story, at);
        TOLD("node: only ours %u", (unsigned)at);
    }
}

TEST(another_segment_is_told)
{
    begin(0);
    EACH_SEED
    {
        size_t at = story_find(&our_story, 307, NULL, 0, 0);

        story_set(&windows_story, at, "SegmentId", 3 - story_get(&windows_story, at, "SegmentId"));
        TOLD("allocation: SegmentId %u", (unsigned)at);
        begin(seed);
        story_set(&windows_story, at, "SegmentId", 3); /* system memory */
        TOLD("allocation: SegmentId %u", (unsigned)at);
    }
}

TEST(a_paging_operation_that_is_missing_is_told)
{
    begin(0);
    EACH_SEED
    {
        size_t at = story_find(&our_story, 310, NULL, 0, 0);

        story_drop(&windows_story, at);
        TOLD("allocation: only ours %u", (unsigned)at);
    }
}

TEST(flips_and_vsyncs_are_told)
{
    begin(0);
    EACH_SEED
    {
        size_t at = story_find(&our_story, 17, NULL, 0, 2);

        story_drop(&windows_story, at);
        TOLD("source: only ours %u", (unsigned)at);
        begin(seed);
        at = story_find(&our_story, 116, NULL, 0, 2);
        story_set(&windows_story, at, "Flags", 2);
        TOLD("source: Flags %u", (unsigned)at);
        begin(seed);
        story_set(&windows_story, at, "FlipToDriverAllocation", 0x123000); /* is no partner yet, */
        story_set(&our_story, at, "FlipToDriverAllocation",
                  story_get(&our_story, story_find(&our_story, 116, NULL, 0, 0),
                            "FlipToDriverAllocation"));
        TOLD("source: FlipToDriverAllocation %u", (unsigned)at);
        begin(seed);
        story_set(&our_story, at, "FlipToDriverAllocation", 0x123000); /* on either side */
        story_set(&windows_story, at, "FlipToDriverAllocation",
                  story_get(&windows_story, story_find(&our_story, 116, NULL, 0, 0),
                            "FlipToDriverAllocation"));
        TOLD("source: FlipToDriverAllocation %u", (unsigned)at);
    }
}

TEST(paging_queues_and_calls_are_told)
{
    begin(0);
    EACH_SEED
    {
        size_t at = story_find(&our_story, 324, NULL, 0, 0);

        story_drop(&windows_story, at);
        TOLD("queue: only ours %u", (unsigned)at);
        begin(seed);
        at = story_find(&our_story, 339, "Status", 0x103, 0);
        story_set(&windows_story, at, "PagingFenceValue", 0);
        TOLD("calls: PagingFenceValue %u", (unsigned)at);
    }
}

TEST(a_lane_that_one_trace_has_alone_is_told)
{
    struct compared c;
    const struct compare_pair *pair;

    begin(3);
    for (size_t i = 0; i < windows_story.events;)
        if (windows_story.event[i].id == 116 || windows_story.event[i].id == 17)
            story_drop(&windows_story, i);
        else
            i++;
    c = compare_stories();
    pair = only_parted(c.comparison);
    CHECK(pair && pair->kind == LANE_SOURCE && pair->ours && !pair->windows &&
          pair->result.part == ALIGN_ONLY_OURS && pair->result.differences == pair->ours->items);
    finish(&c);
}

/* Allocations are paired by what is first done with them, so that one alone does not move the others. */
TEST(an_allocation_that_one_trace_has_alone_is_told)
{
    begin(0);
    EACH_SEED
    {
        size_t first = story_find(&our_story, 307, NULL, 0, 0);
        uint64_t handle = story_get(&windows_story, first, "hAllocationGlobalHandle");
        const struct compare_pair *pair;
        struct compared c;

        for (size_t i = 0; i < windows_story.events;)
            if ((windows_story.event[i].id == 306 || windows_story.event[i].id == 307 ||
                 windows_story.event[i].id == 310) &&
                story_get(&windows_story, i, "hAllocationGlobalHandle") == handle)
                story_drop(&windows_story, i);
            else
                i++;
        c = compare_stories();
        pair = only_parted(c.comparison);
        CHECK(pair && pair->kind == LANE_ALLOCATION && !pair->windows &&
              pair->ours->item[0].event == first);
        finish(&c);
    }
}

/* What is between lanes: every lane is equal, and yet something came before its cause. */
TEST(an_order_between_lanes_is_told)
{
    begin(0);
    EACH_SEED
    {
        size_t at = story_find(&our_story, 178, "PacketType", 0, 4);
        struct compared c;

        CHECK(windows_story.event[at + 1].id == 175);
        story_swap(&windows_story, at, at + 1);
        c = compare_stories();
        CHECK(c.comparison->parted == 0 && c.comparison->orders_parted == 1);
        CHECK(compare_order_parts(c.comparison, CAUSE_QUEUED_SUBMITTED));
        CHECK(c.comparison->windows_order[CAUSE_QUEUED_SUBMITTED].event == at + 1);
        finish(&c);
    }
}

static unsigned order_after_swap(size_t a, size_t b)
{
    struct compared c;
    unsigned parts = CAUSES;

    story_swap(&windows_story, a, b);
    c = compare_stories();
    for (unsigned i = 0; i < CAUSES; i++)
        if (compare_order_parts(c.comparison, i))
            parts = i;
    CHECK(c.comparison->orders_parted <= 1);
    finish(&c);
    return parts;
}

TEST(each_cause_comes_first)
{
    size_t at;

    begin(1);
    at = story_find(&our_story, 177, "InterruptType", 1,
                    1); /* its submission is before it, its retirement behind */
    CHECK(order_after_swap(at - 1, at) == CAUSE_SUBMITTED_REPORTED);
    begin(1);
    CHECK(order_after_swap(at, at + 1) == CAUSE_REPORTED_RETIRED);
    begin(1);
    CHECK(windows_story.event[at + 2].id == 180 &&
          order_after_swap(at + 1, at + 2) == CAUSE_RETIRED_LEFT);
    begin(1);
    at = story_find(&our_story, 245, NULL, 0, 0);
    CHECK(windows_story.event[at + 2].id == 180 &&
          order_after_swap(at, at + 2) == CAUSE_SIGNALLED_WAITED);
    begin(1);
    at = story_find(&our_story, 175, "PacketType", 2, 1); /* the paging buffer, submitted again */
    for (size_t i = at - 1; windows_story.event[i - 1].id != 324; i--)
        story_swap(&windows_story, i, i - 1); /* queued and submitted before anything is in it */
    for (; windows_story.event[at - 1].id != 178; at--)
        story_swap(&windows_story, at, at - 1);
    CHECK(order_after_swap(at, at) == CAUSE_BUILT_SUBMITTED);
}

TEST(an_order_that_both_break_parts_none)
{
    size_t at;
    struct compared c;

    begin(1);
    at = story_find(&our_story, 178, "PacketType", 0, 4);
    story_swap(&windows_story, at, at + 1);
    story_swap(&our_story, at, at + 1);
    c = compare_stories();
    CHECK(c.comparison->orders_parted == 0 &&
          c.comparison->ours_order[CAUSE_QUEUED_SUBMITTED].broken == 1);
    finish(&c);
}

/* ---- known differences, rules ---- */

TEST(known_differences_are_counted)
{
    struct compared c;
    size_t at;

    begin(2);
    at = story_find(&our_story, 310, NULL, 0, 0);
    story_set(&windows_story, at, "EndVirtualAddress", 0x30000);
    story_set(&windows_story, story_find(&our_story, 175, NULL, 0, 4), "QuantumStatus", 1);
    c = compare_stories();
    CHECK(c.comparison->parted == 0 && c.comparison->state.knowns >= 2);
    for (unsigned i = 0; i < c.comparison->state.knowns; i++)
        CHECK(c.comparison->state.known[i].count > 0);
    CHECK(known_field(310, "EndVirtualAddress") && known_event(313) &&
          !known_field(310, "hProcess") && !known_event(175) && !known_field(313, "SegmentId"));
    finish(&c);
}

TEST(rules_that_are_touched_exist)
{
    struct compared c;
    const struct compare_pair *pair;

    assert_string_equal(touched_rule(175, "uliSubmissionId"), "SUBMIT-039");
    assert_string_equal(touched_rule(175, NULL), "SUBMIT-017");
    assert_string_equal(touched_rule(307, "SegmentId"), "SEG-063");
    assert_string_equal(touched_rule(307, "FillSize"), "GPUVA-237");
    CHECK(!touched_rule(17, NULL));
    begin(1);
    story_set(&windows_story, story_find(&windows_story, 175, "PacketType", 0, 4),
              "uliSubmissionId", 1);
    c = compare_stories();
    pair = only_parted(c.comparison);
    CHECK(pair && strcmp(pair->rule, "SUBMIT-039") == 0);
    finish(&c);
}

static enum field_role role_of(uint16_t id, uint8_t version, const char *field)
{
    const struct wintrace_kind *kind = wintrace_kind_find(id, version);

    CHECK(kind && field_find(kind, field) < kind->fields);
    return field_role(kind, field_find(kind, field));
}

TEST(fields_have_their_roles)
{
    CHECK(role_of(322, 1, "Alloc") == FIELD_ALLOCATION &&
          role_of(266, 0, "BindId") == FIELD_IGNORED);
    CHECK(role_of(53, 0, "DestinationSegmentId") == FIELD_SEGMENT &&
          role_of(17, 0, "FrameQPCTime") == FIELD_IGNORED);
    CHECK(role_of(73, 0, "uiSegmentId") == FIELD_SEGMENT &&
          role_of(175, 1, "uliSubmissionId") == FIELD_SUBMISSION);
    CHECK(role_of(175, 1, "ulQueueSubmitSequence") == FIELD_SEQUENCE &&
          role_of(245, 1, "ObjectArray") == FIELD_OBJECT);
    CHECK(role_of(175, 1, "pDmaBuffer") == FIELD_POINTER &&
          role_of(175, 1, "PacketType") == FIELD_PLAIN);
    CHECK(role_of(338, 0, "pPagingQueue") == FIELD_OBJECT &&
          role_of(325, 0, "SequenceId") == FIELD_FENCE);
    CHECK(field_find(wintrace_kind_find(175, 1), "Line") == wintrace_kind_find(175, 1)->fields);
}

/* ---- subjects ---- */

static const char *refused(const struct compare_choice *choice)
{
    static char error[256];
    struct wintrace *ours = trace_of(&our_story), *windows = trace_of(&windows_story);
    bool of_windows;
    struct comparison *c = compare_create(ours, windows, choice, &of_windows, error, sizeof(error));

    if (c)
        snprintf(error, sizeof(error), "process %u of ours, %u of Windows", c->ours.subject.process,
                 c->windows.subject.process);
    compare_destroy(c);
    wintrace_destroy(ours);
    wintrace_destroy(windows);
    return error;
}

TEST(the_process_with_the_most_packets_is_taken)
{
    struct story_world crowded = windows_world;

    crowded.others = true;
    begin(1);
    story_make(&windows_story, 1, &crowded);
    assert_string_equal(refused(&(struct compare_choice){0}), "process 44 of ours, 1956 of Windows");
    assert_string_equal(
        refused(&(struct compare_choice){.windows = {.process = 99, .has_process = true}}),
        "process 44 of ours, 99 of Windows");
    assert_string_equal(
        refused(&(struct compare_choice){.windows = {.process = 98, .has_process = true}}),
        "process 98 queues no packet in it");
    assert_string_equal(refused(&(struct compare_choice){.ours = {.adapter = 0x123}}),
                        "no context of it is on adapter 0x123");
    assert_string_equal(refused(&(struct compare_choice){.ours = {.adapter = 0x100A0000}}),
                        "process 44 of ours, 1956 of Windows");
    our_story.events = 1;
    assert_string_equal(refused(&(struct compare_choice){0}),
                        "no packet is queued in it, so there is nothing to compare");
}

/* ---- words ---- */

TEST(events_are_told_in_words)
{
    struct compared c;
    char text[SHOW_BYTES], small[16];

    begin(1);
    c = compare_stories();
    show_event(&c.comparison->ours, c.comparison->pair[0].ours, 0, text, sizeof(text));
    CHECK(strstr(text, "QueuePacket Start hContext #") && strstr(text, " SubmitSequence +0 ") &&
          strstr(text, " hDmaBuffer set "));
    show_event(&c.comparison->ours, c.comparison->pair[0].ours, 0, small, sizeof(small));
    assert_string_equal(small, "QueuePacket Sta");
    show_pair(c.comparison, &c.comparison->pair[0], text, sizeof(text));
    assert_string_equal(text, "queue of context 1 on node 0");
    finish(&c);
}

/* ---- want of memory ---- */

TEST(want_of_memory_ends_a_comparison)
{
    static const struct compare_choice choice;
    struct wintrace *ours, *windows;
    struct comparison *c = NULL;
    struct util_heap heap = {0};
    char error[256];
    bool of_windows;

    begin(1);
    story_set(&windows_story, story_find(&our_story, 175, "PacketType", 0, 4), "uliSubmissionId", 1);
    ours = trace_of(&our_story);
    windows = trace_of(&windows_story);
    util_heap_current = &heap;
    while (!c) {
        heap.requests = 0;
        heap.fail_at = heap.failures + 1;
        c = compare_create(ours, windows, &choice, &of_windows, error, sizeof(error));
        CHECK(c || (strcmp(error, "out of memory") == 0 && heap.live_blocks == 0));
    }
    CHECK(heap.failures > 30);
    compare_destroy(c);
    CHECK(heap.live_blocks == 0);
    util_heap_current = NULL;
    wintrace_destroy(ours);
    wintrace_destroy(windows);
}
