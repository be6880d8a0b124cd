/* SPDX-License-Identifier: MIT */
/*
 * One walk, with marks in a map for what has happened: a cause that comes after its effect breaks
 * the order. An effect without a cause does not: the recording began between the two.
 */
#include "wintrace/causes.h"
#include "wintrace/ids.h"

#include <string.h>

const char *const cause_text[CAUSES] = {
    [CAUSE_QUEUED_SUBMITTED] = "a packet is queued before it is submitted",
    [CAUSE_SUBMITTED_REPORTED] = "a packet is submitted before its interrupt",
    [CAUSE_REPORTED_RETIRED] = "a packet's interrupt comes before it retires",
    [CAUSE_RETIRED_LEFT] = "a packet retires before it leaves its queue",
    [CAUSE_BUILT_SUBMITTED] = "paging operations are built before their buffer is submitted",
    [CAUSE_SIGNALLED_WAITED] = "a signal is queued before a wait for it leaves its queue",
};

const char *const cause_rule[CAUSES] = {
    [CAUSE_QUEUED_SUBMITTED] = "SUBMIT-017", [CAUSE_SUBMITTED_REPORTED] = "SUBMIT-018",
    [CAUSE_REPORTED_RETIRED] = "SUBMIT-047", [CAUSE_RETIRED_LEFT] = "SUBMIT-047",
    [CAUSE_BUILT_SUBMITTED] = "PAGE-016",    [CAUSE_SIGNALLED_WAITED] = "SUBMIT-128",
};

/* Kinds of marks. */
enum mark { SUBMITTED = 1, REPORTED, RETIRED, LEFT, BUFFER, WAIT, SIGNALLED, ENDED };

struct walk {
    const struct subject *subject;
    struct cause_seen *seen;
    struct hash_map marks;
    size_t at;
    bool no_memory;
};

static uint64_t get(const struct walk *w, const char *field)
{
    uint64_t value;

    (void)wintrace_get(w->subject->trace, &w->subject->trace->event[w->at], field, &value);
    return value;
}

static uint64_t key_of(enum mark mark, uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ (uint64_t)mark << 56) * UINT64_C(0x9E3779B97F4A7C15) + b;

    x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (x ^ x >> 29) | 1;
}

static uint64_t mark_of(const struct walk *w, enum mark mark, uint64_t a, uint64_t b)
{
    return (uintptr_t)hash_get(&w->marks, key_of(mark, a, b));
}

static void set_mark(struct walk *w, enum mark mark, uint64_t a, uint64_t b, uint64_t value)
{
    if (value == 0)
        (void)hash_remove(&w->marks, key_of(mark, a, b));
    else if (!hash_put(&w->marks, key_of(mark, a, b), (void *)(uintptr_t)value))
        w->no_memory = true;
}

static void look(struct walk *w, enum cause cause, bool holds)
{
    struct cause_seen *seen = &w->seen[cause];

    if (!holds && !seen->broken)
        seen->event = w->at;
    seen->holds += holds;
    seen->broken += !holds;
}

/* ---- packets ---- */

static void queue_start(struct walk *w)
{
    uint64_t context = get(w, "hContext"), sequence = get(w, "SubmitSequence");

    look(w, CAUSE_QUEUED_SUBMITTED, !mark_of(w, SUBMITTED, context, sequence));
}

static void dma_start(struct walk *w)
{
    uint64_t context = get(w, "hContext"), id = get(w, "uliSubmissionId");
    uint64_t buffer = get(w, "pDmaBuffer"), built = mark_of(w, BUFFER, buffer, 0);

    if (get(w, "PacketType") == PACKET_PREEMPTION)
        return;
    look(w, CAUSE_SUBMITTED_REPORTED, !mark_of(w, REPORTED, context, id));
    set_mark(w, SUBMITTED, context, get(w, "ulQueueSubmitSequence"), 1);
    if (buffer && built) { /* 1: submitted since; 2: operations are in it */
        look(w, CAUSE_BUILT_SUBMITTED, built == 2);
        set_mark(w, BUFFER, buffer, 0, 1);
    }
}

static void dma_reported(struct walk *w)
{
    uint64_t context = get(w, "hContext"), id = get(w, "uliCompletionId");

    if (get(w, "PacketType") == PACKET_PREEMPTION)
        return;
    look(w, CAUSE_REPORTED_RETIRED, !mark_of(w, RETIRED, context, id));
    set_mark(w, REPORTED, context, id, 1);
}

static void dma_stop(struct walk *w)
{
    uint64_t context = get(w, "hContext"), sequence = get(w, "ulQueueSubmitSequence");

    if (get(w, "PacketType") == PACKET_PREEMPTION)
        return;
    if (!get(w, "bPreempted"))
        look(w, CAUSE_RETIRED_LEFT, !mark_of(w, LEFT, context, sequence));
    set_mark(w, RETIRED, context, get(w, "uliCompletionId"), 1);
}

/* ---- signals and waits ---- */

static void wait_start(struct walk *w)
{
    uint64_t context = get(w, "hContext"), sequence = get(w, "SubmitSequence");

    set_mark(w, WAIT, context, sequence, get(w, "hSyncObject"));
    set_mark(w, WAIT, context, ~sequence, get(w, "FenceValue") + 1);
}

static void queue_stop(struct walk *w)
{
    uint64_t context = get(w, "hContext"), sequence = get(w, "SubmitSequence");
    uint64_t object = mark_of(w, WAIT, context, sequence);
    uint64_t value = mark_of(w, WAIT, context, ~sequence);

    set_mark(w, LEFT, context, sequence, 1);
    if (!object || mark_of(w, SIGNALLED, object, 0) >= value)
        return;
    /* signalled by a processor, perhaps, or before the recording, unless a signal follows */
    if (value > mark_of(w, ENDED, object, 0))
        set_mark(w, ENDED, object, 0, value);
}

static void signal_one(struct walk *w, uint64_t object, uint64_t value)
{
    uint64_t ended = mark_of(w, ENDED, object, 0);

    look(w, CAUSE_SIGNALLED_WAITED, !ended || value < ended);
    set_mark(w, ENDED, object, 0, 0);
    if (value > mark_of(w, SIGNALLED, object, 0))
        set_mark(w, SIGNALLED, object, 0, value);
}

static void signal_start(struct walk *w)
{
    const struct wintrace *trace = w->subject->trace;
    const struct wintrace_event *event = &trace->event[w->at];
    uint64_t objects = get(w, "ObjectArray"), values = get(w, "FenceValue");
    bool arrays = false;

    for (unsigned i = 0; i < event->kind->fields; i++)
        arrays |= event->kind->field[i].count && !strcmp(event->kind->field[i].name, "ObjectArray");
    for (uint64_t i = 0; arrays && i < trace->value[objects] && i < trace->value[values]; i++)
        signal_one(w, trace->value[objects + 1 + i], trace->value[values + 1 + i] + 1);
}

/* ---- the whole ---- */

static bool is_ours(const struct walk *w)
{
    const struct subject_context *context = subject_find(w->subject, get(w, "hContext"));

    return context && subject_on_adapter(w->subject, context);
}

static void see(struct walk *w, uint16_t id)
{
    if (event_is_paging(id)) {
        if (get(w, "hDmaBuffer"))
            set_mark(w, BUFFER, get(w, "hDmaBuffer"), 0, 2);
        return;
    }
    if (!is_ours(w))
        return;
    if (id == EVENT_QUEUE_START || id == EVENT_QUEUE_WAIT || id == EVENT_QUEUE_SIGNAL)
        queue_start(w);
    if (id == EVENT_QUEUE_WAIT)
        wait_start(w);
    else if (id == EVENT_QUEUE_SIGNAL)
        signal_start(w);
    else if (id == EVENT_QUEUE_STOP)
        queue_stop(w);
    else if (id == EVENT_DMA_START)
        dma_start(w);
    else if (id == EVENT_DMA_REPORTED)
        dma_reported(w);
    else if (id == EVENT_DMA_STOP)
        dma_stop(w);
}

bool causes_look(const struct subject *subject, struct cause_seen seen[CAUSES])
{
    struct walk w = {.subject = subject, .seen = seen};

    memset(seen, 0, CAUSES * sizeof(*seen));
    hash_init(&w.marks);
    for (; w.at < subject->trace->events && !w.no_memory; w.at++)
        see(&w, subject->trace->event[w.at].kind->id);
    hash_finish(&w.marks);
    return !w.no_memory;
}
