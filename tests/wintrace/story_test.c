/* SPDX-License-Identifier: MIT */
/* Whole stories break no rule; one change breaks the rule it should, at its place, in every form of trace. */
#include "support/check_rule.h"
#include "support/test.h"
#include "util/array.h"
#include "wintrace/check.h"
#include "wintrace/support/story.h"
#include "wintrace/support/texts.h"

#include <stdio.h>
#include <string.h>

#define SEEDS    6u
#define NS_APART 1000u /* of one event from the next */
#define NO_EVENT SIZE_MAX
#define FORMS    4u /* .etl and the texts */

static struct recording r;
static struct story story;

static struct wintrace *read_form(unsigned form)
{
    static const enum text_form forms[] = {TEXT_XML, TEXT_CSV, TEXT_DUMPER};
    struct wintrace *trace, *read;
    struct written w;

    r = (struct recording){0};
    story_record(&story, &r);
    trace = recording_read(&r);
    if (form == 0)
        return trace;
    w = written_of(trace, forms[form - 1]);
    read = written_read(&w);
    wintrace_destroy(trace);
    written_finish(&w);
    return read;
}

/* Where a rule is first broken, as the number of an event; NO_EVENT: nowhere. *others: how many other findings are broken. */
static size_t broken_at(unsigned form, const char *rule, unsigned *others)
{
    struct wintrace *trace = read_form(form);
    struct wintrace_check *check = wintrace_check_create(trace);
    struct wintrace_findings findings = wintrace_check_findings(check);
    size_t at = NO_EVENT;

    *others = 0;
    CHECK(trace->events == story.events);
    for (size_t i = 0; i < findings.count; i++) {
        const struct wintrace_finding *f = &findings.finding[i];

        if (f->broken && strcmp(f->rule ? f->rule : "", rule) == 0)
            at = f->time / NS_APART < at ? f->time / NS_APART : at; /* two may be of one rule */
        else
            *others += f->broken != 0;
    }
    wintrace_check_destroy(check);
    wintrace_destroy(trace);
    return at;
}

static void begin(uint64_t seed)
{
    static const struct story_world world = {.handles = 0x10000000, .process = 44, .others = true};

    story_make(&story, seed, &world);
}

TEST(whole_stories_break_no_rule)
{
    for (uint64_t seed = 0; seed < 4 * SEEDS; seed++) {
        unsigned broken;

        begin(seed);
        CHECK(broken_at((unsigned)seed % FORMS, "none", &broken) == NO_EVENT && broken == 0);
    }
}

/* The first event from `at` on of that number. */
static size_t next(size_t at, uint16_t id, const char *field, uint64_t value)
{
    while (at < story.events &&
           (story.event[at].id != id || (field && story_get(&story, at, field) != value)))
        at++;
    CHECK(at < story.events);
    return at;
}

/* ---- changes: each returns the event at which it must be told ---- */

static size_t drop_submission(void)
{
    size_t at = story_find(&story, 175, "PacketType", 0, 4);

    story_drop(&story, at);
    return next(at, 175, "PacketType", 0);
}

static size_t renumber_submission(void)
{
    size_t at = story_find(&story, 175, "PacketType", 0, 4);

    story_set(&story, at, "uliSubmissionId", story_get(&story, at, "uliSubmissionId") + 5);
    return at;
}

static size_t renumber_request(void)
{
    size_t first = story_find(&story, 175, "PacketType", 3, 0), at = first + 1;

    while (at < story.events &&
           (story.event[at].id != 175 || story_get(&story, at, "PacketType") != 3))
        at++;
    if (at == story.events)
        return NO_EVENT; /* a story with one request */
    story_set(&story, at, "uliSubmissionId", story_get(&story, at, "uliSubmissionId") + 1);
    return at;
}

static size_t drop_answer(void)
{
    size_t at = story_find(&story, 177, "PacketType", 3, 0);

    story_drop(&story, at);
    return next(at, 175, "PacketType", 0);
}

/* The first packet that was preempted, when it comes again. */
static size_t resubmission(uint64_t *old)
{
    size_t preempted = story_find(&story, 177, "InterruptType", 2, 0);

    *old = story_get(&story, preempted, "uliCompletionId");
    for (size_t at = preempted;; at++) {
        at = next(at, 175, "ulQueueSubmitSequence",
                  story_get(&story, preempted, "ulQueueSubmitSequence"));
        if (story_get(&story, at, "hContext") == story_get(&story, preempted, "hContext"))
            return at;
    }
}

static size_t keep_number(void)
{
    uint64_t old;
    size_t at = resubmission(&old);

    story_set(&story, at, "uliSubmissionId", old);
    return at;
}

static size_t overtake(void)
{
    uint64_t old;
    size_t at = resubmission(&old);

    story_set(&story, at, "ulQueueSubmitSequence",
              story_get(&story, at, "ulQueueSubmitSequence") + 1);
    return at;
}

static size_t drop_interrupt(void)
{
    size_t at = story_find(&story, 177, "InterruptType", 1, 1);

    story_drop(&story, at);
    CHECK(story.event[at].id == 176);
    return at;
}

static size_t complete_out_of_order(void)
{
    size_t at = story_find(&story, 177, "InterruptType", 2, 0);

    story_set(&story, at, "InterruptType", 1);
    story_set(&story, at + 1, "InterruptType", 1);
    story_swap(&story, at, at + 1);
    return at;
}

static size_t drop_queued(void)
{
    size_t at = story_find(&story, 178, "PacketType", 0, 4), i = at;
    uint64_t context = story_get(&story, at, "hContext");

    story_drop(&story, at);
    while (i < story.events &&
           ((story.event[i].id != 178 && story.event[i].id != 244 && story.event[i].id != 245) ||
            story_get(&story, i, "hContext") != context))
        i++;
    CHECK(i < story.events);
    return i;
}

static size_t lose_fence(void)
{
    size_t at = story_find(&story, 339, "Status", 0x103, 0);

    story_set(&story, at, "PagingFenceValue", 0);
    return at;
}

static size_t flush_half_a_page(void)
{
    size_t at = story_find(&story, 310, NULL, 0, 0);

    story_set(&story, at, "EndVirtualAddress", 0x1FFFF);
    return at;
}

TEST(each_change_breaks_its_rule_at_its_place)
{
    static const struct {
        size_t (*change)(void);
        const char *rule;
    } changes[] = {{drop_submission, "SUBMIT-039"},
                   {renumber_submission, "SUBMIT-039"},
                   {renumber_request, "PREEMPT-011"},
                   {drop_answer, "PREEMPT-012"},
                   {keep_number, "PREEMPT-022"},
                   {overtake, "PREEMPT-023"},
                   {drop_interrupt, "SUBMIT-047"},
                   {complete_out_of_order, "SUBMIT-018"},
                   {drop_queued, ""},
                   {lose_fence, "RES-014"},
                   {flush_half_a_page, "GPUVA-218"}};

    for (size_t i = 0; i < ARRAY_COUNT(changes); i++)
        for (uint64_t seed = 0; seed < SEEDS; seed++)
            for (unsigned form = 0; form < FORMS; form++) {
                unsigned others;
                size_t place, told;

                begin(seed);
                place = changes[i].change();
                told = broken_at(form, changes[i].rule, &others);
                if (told != place)
                    fail_msg("change %u of seed %u breaks %s at event %u, not %u", (unsigned)i,
                             (unsigned)seed, changes[i].rule, (unsigned)told, (unsigned)place);
            }
}
