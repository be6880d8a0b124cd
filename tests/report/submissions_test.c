/* SPDX-License-Identifier: MIT */
/* The report of submissions: each packet with its times, events in their place, and how long stages took. */
#include "support/check_rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <d3dkmddi.h>

#include "report/submissions.h"
#include "util/alloc.h"
#include "vidsch/journal.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"

static struct util_heap heap;
static struct journal *journal;
static char *text;

static int set_up(void)
{
    util_heap_current = &heap;
    journal = journal_create(2);
    snprintf(journal->node_name[0], sizeof(journal->node_name[0]), "3D, node 0");
    snprintf(journal->node_name[1], sizeof(journal->node_name[1]), "node 1");
    return journal ? 0 : -1;
}

static int tear_down(void)
{
    free(text);
    text = NULL;
    journal_destroy(journal);
    util_heap_current = NULL;
    return heap.live_blocks == 0 ? 0 : -1;
}

#define RIG_ARGUMENT_submissions void
#define RIG_RUN_submissions(body)   \
    test_set_up(set_up, tear_down); \
    body()

static void write_report(void)
{
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    CHECK(out && report_submissions_text(journal, "adapter 0", out));
    fclose(out);
}

static bool says(const char *words)
{
    return strstr(text, words) != NULL;
}

/* The line that begins with this number of a packet; NULL: there is none. */
static const char *line_of(unsigned number)
{
    char start[16];

    snprintf(start, sizeof(start), "\n%7u ", number);
    return strstr(text, start);
}

/* Rendered at `at`, with stages of 1, 2, ... microseconds, all of them. */
static struct journal_packet *rendered(uint32_t number, uint64_t at)
{
    struct journal_packet *packet = journal_begin(journal, number);

    CHECK(packet);
    packet->kind = PACKET_RENDER;
    packet->context = 5;
    packet->process = 9;
    packet->fence = 70 + number;
    packet->bytes = 264;
    packet->private_bytes = 64;
    packet->allocations = 3;
    packet->patches = 8;
    packet->submissions = 1;
    packet->interrupt = DXGK_INTERRUPT_DMA_COMPLETED;
    packet->rendered = at;
    packet->queued = at + 1000;
    packet->patched = at + 3000;
    packet->submitted = packet->started = at + 6000;
    packet->interrupted = at + 16000;
    packet->dpc = at + 21000;
    packet->ended = at + 28000;
    return packet;
}

TEST_WITH(submissions, a_packet_has_its_times_and_its_end)
{
    (void)rendered(1, 2000000);
    write_report();
    CHECK(says("submissions, adapter 0: 1 packets"));
    CHECK(says("      1        2.0000 render       0    5    9      71      264      64     3     8"
               "       1.0       3.0       6.0       6.0      16.0      21.0      28.0 COMPLETED"
               "     completed\n"));
    CHECK(!says("not kept") && !says("missing"));
}

TEST_WITH(submissions, what_did_not_happen_has_no_time)
{
    struct journal_packet *packet = journal_begin(journal, 1);

    packet->kind = PACKET_WAIT;
    packet->queued = 1000;
    write_report();
    CHECK(says("wait         0    0    0       0        0       0     0     0       0.0         -"
               "         -         -         -         -         - -             not ended\n"));
}

TEST_WITH(submissions, an_end_says_why_and_how_often)
{
    rendered(1, 1000)->end = JOURNAL_ABORTED;
    rendered(2, 1000)->end = JOURNAL_CANCELED;
    rendered(3, 1000)->end = JOURNAL_DROPPED;
    rendered(4, 1000)->end = JOURNAL_REFUSED;
    rendered(5, 1000)->end = JOURNAL_FAULTED;
    journal_packet(journal, 5)->status = STATUS_ILLEGAL_INSTRUCTION;
    journal_packet(journal, 5)->interrupt = DXGK_INTERRUPT_DMA_FAULTED;
    rendered(6, 1000)->submissions = 4;
    journal_packet(journal, 6)->preemptions = 2;
    journal_packet(journal, 6)->resets = 1;
    write_report();
    CHECK(says("  aborted by a reset\n") && says("  canceled, its device was lost\n"));
    CHECK(says("  dropped, it could not be placed or patched\n") &&
          says("  refused by the driver\n"));
    CHECK(says(" FAULTED       faulted with STATUS_ILLEGAL_INSTRUCTION"));
    CHECK(says("  completed, submitted 4 times, preempted 2 times, returned by 1 reset\n"));
}

static void event(uint64_t time, enum journal_event_kind kind, uint64_t value0, uint64_t value1,
                  uint64_t value2)
{
    journal_event(journal, &(struct journal_event){.time = time,
                                                   .kind = (uint8_t)kind,
                                                   .node = 1,
                                                   .value = {value0, value1, value2}});
}

TEST_WITH(submissions, events_stand_in_their_place)
{
    const char *preempt, *reset;

    (void)rendered(1, 1000);
    event(50000, JOURNAL_PREEMPT, 4, PREEMPT_PRIORITY, 0);
    event(60000, JOURNAL_PREEMPTED, 4, 71, 1);
    event(60000, JOURNAL_RETURNED, 1, 71, false);
    (void)rendered(2, 100000);
    event(200000, JOURNAL_RECOVERY, RECOVER_TIMEOUT, 0, 0);
    event(210000, JOURNAL_ENGINE_RESET, 72, 71, false);
    write_report();
    preempt = strstr(text, "node 1: preemption 4 is asked for: another context\n");
    reset = strstr(text,
                   "node 1: engine reset: fence 72 was aborted, 71 was the last completed one, "
                   "the engine did not respond\n");
    CHECK(preempt && preempt > line_of(1) && preempt < line_of(2));
    CHECK(reset && reset > line_of(2));
    CHECK(says("node 1: preemption 4 is answered: completed up to fence 71, 1 packet preempted\n"));
    CHECK(says("node 1: packet 1, fence 71, was preempted\n"));
    CHECK(says("node 1: TDR: it is to be reset, because of a timeout\n"));
}

TEST_WITH(submissions, stages_have_a_median_and_a_maximum)
{
    for (uint32_t i = 1; i <= 5; i++)
        rendered(i, i * 1000000)->interrupted += i * i * 1000; /* 1, 4, 9, 16, 25 us more */
    for (uint32_t i = 1; i <= 5; i++)
        journal_packet(journal, i)->dpc = journal_packet(journal, i)->ended = 0;
    journal_packet(journal, 5)->node = 1;
    journal_packet(journal, 5)->context = 6;
    write_report();
    CHECK(says("  3D, node 0\n"
               "    Render until queued                     4  median        1.0 us  at most        "
               "1.0 us\n"));
    CHECK(says("    on the GPU, until the interrupt         4  median       14.0 us  at most       "
               "26.0 us\n"));
    CHECK(says("    on the GPU, until the interrupt         1  median       35.0 us  at most       "
               "35.0 us\n"));
    CHECK(says("  context 5\n") && says("  context 6\n") && !says("interrupt until DPC"));
}

TEST_WITH(submissions, the_oldest_give_way_and_are_counted)
{
    for (uint32_t i = 1; i <= JOURNAL_PACKETS + 3; i++)
        (void)rendered(i, i * 1000);
    for (uint32_t i = 0; i < JOURNAL_EVENTS + 2; i++)
        event(i, JOURNAL_ADAPTER_AGAIN, 0, 0, 0);
    CHECK(!journal_packet(journal, 3) && journal_packet(journal, 4));
    CHECK(journal_event_at(journal, 0)->time == 2 &&
          journal_event_at(journal, JOURNAL_EVENTS - 1)->time == JOURNAL_EVENTS + 1 &&
          !journal_event_at(journal, JOURNAL_EVENTS));
    write_report();
    CHECK(says("16387 packets; ") &&
          says("the first are not kept: 3 packets, 2 events of nodes; what follows is of the rest"));
    CHECK(!line_of(3) && line_of(4) && line_of(JOURNAL_PACKETS + 3));
}

TEST_WITH(submissions, nothing_was_submitted)
{
    write_report();
    CHECK(says("submissions, adapter 0: 0 packets"));
    CHECK(!says("packet  "));
}
