/* SPDX-License-Identifier: MIT */
#include "report/intervals.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "util/span_tree.h"
#include "vidmm/record/chronicle.h"

/* ---- the list ---- */

/* The index of the new interval, or SIZE_MAX. */
static size_t begin(struct report_intervals *intervals, const struct chronicle_event *event,
                    uint64_t now)
{
    if (intervals->count == intervals->capacity) {
        size_t capacity = intervals->capacity ? 2 * intervals->capacity : 64;
        void *list = util_realloc(intervals->list, capacity * sizeof(*intervals->list));

        if (!list)
            return SIZE_MAX;
        intervals->list = list;
        intervals->capacity = capacity;
    }
    intervals->list[intervals->count] = (struct report_interval){.from = event->time,
                                                                 .to = now,
                                                                 .allocation = event->allocation,
                                                                 .process = event->process,
                                                                 .segment = event->segment,
                                                                 .first = event->first,
                                                                 .pages = event->pages,
                                                                 .offset = event->offset,
                                                                 .protection = event->protection};
    return intervals->count++;
}

static void end(struct report_interval *interval, const struct chronicle_event *event)
{
    interval->to = event->time;
    interval->ended = true;
    interval->why = event->why;
    interval->room_for = event->room_for;
}

void report_intervals_free(struct report_intervals *intervals)
{
    util_free(intervals->list);
    *intervals = (struct report_intervals){0};
}

/* ---- the fullest moment ---- */

struct edge {
    uint64_t time;
    int64_t pages; /* more or fewer from then on */
};

/* At one time ends come first. */
static int by_time(const void *a, const void *b)
{
    const struct edge *left = a, *right = b;

    if (left->time != right->time)
        return left->time < right->time ? -1 : 1;
    return left->pages < right->pages ? -1 : left->pages > right->pages;
}

bool report_fullest(const struct report_intervals *intervals,
                    bool (*of)(const struct report_interval *interval, uint32_t key), uint32_t key,
                    uint64_t *pages, uint64_t *time)
{
    struct edge *edges = util_alloc((2 * intervals->count + 1) * sizeof(*edges));
    int64_t now = 0, most = 0;
    size_t count = 0;

    if (!edges)
        return false;
    for (size_t i = 0; i < intervals->count; i++) {
        const struct report_interval *interval = &intervals->list[i];

        if (!of(interval, key))
            continue;
        edges[count++] = (struct edge){interval->from, (int64_t)interval->pages};
        if (interval->ended)
            edges[count++] = (struct edge){interval->to, -(int64_t)interval->pages};
    }
    qsort(edges, count, sizeof(*edges), by_time);
    *time = 0;
    for (size_t i = 0; i < count; i++) {
        now += edges[i].pages;
        if (now > most) {
            most = now;
            *time = edges[i].time;
        }
    }
    *pages = (uint64_t)most;
    util_free(edges);
    return true;
}

/* ---- stays ---- */

bool report_stays(const struct chronicle *chronicle, uint64_t now, struct report_intervals *out)
{
    struct hash_map last; /* by allocation: 1 + index of its first interval that lasts */
    bool good = true;

    *out = (struct report_intervals){0};
    hash_init(&last);
    for (size_t i = 0; i < chronicle->count && good; i++) {
        const struct chronicle_event *event = &chronicle->events[i];
        uintptr_t first = (uintptr_t)hash_get(&last, event->allocation + (uint64_t)1);

        if (event->kind == CHRONICLE_PLACED) {
            const struct report_interval *before = out->count ? &out->list[out->count - 1] : NULL;
            size_t index;

            /* it has not left: it was only made ready again */
            if (first && (before->allocation != event->allocation || before->from != event->time))
                continue;
            index = begin(out, event, now);

            good = index != SIZE_MAX && (first || hash_put(&last, event->allocation + (uint64_t)1,
                                                           (void *)(uintptr_t)(index + 1)));
        } else if (event->kind == CHRONICLE_LEFT && first) {
            /* the runs of one allocation are placed one behind the other */
            for (size_t k = first - 1;
                 k < out->count && out->list[k].allocation == event->allocation; k++)
                end(&out->list[k], event);
            hash_remove(&last, event->allocation + (uint64_t)1);
        }
    }
    hash_finish(&last);
    if (!good)
        report_intervals_free(out);
    return good;
}

/* ---- mappings ---- */

/* Pages that are mapped now. */
struct mapped {
    struct span_node node;
    size_t index;
};

struct process {
    uint32_t id;
    struct span_tree tree;
};

struct processes {
    struct process *list;
    size_t count;
};

static struct process *process_of(struct processes *processes, uint32_t id)
{
    struct process *list;

    for (size_t i = processes->count; i-- > 0;)
        if (processes->list[i].id == id)
            return &processes->list[i];
    list = util_realloc(processes->list, (processes->count + 1) * sizeof(*list));
    if (!list)
        return NULL;
    processes->list = list;
    list[processes->count] = (struct process){.id = id};
    return &list[processes->count++];
}

static bool map(struct report_intervals *out, struct process *process,
                const struct chronicle_event *event, uint64_t now)
{
    struct mapped *mapped = util_alloc(sizeof(*mapped));

    if (!mapped)
        return false;
    mapped->node.first = event->first;
    mapped->node.pages = event->pages;
    mapped->index = begin(out, event, now);
    if (mapped->index == SIZE_MAX) {
        util_free(mapped);
        return false;
    }
    span_insert(&process->tree, &mapped->node);
    return true;
}

/* What remains of an interval from which some pages were unmapped is another one. */
static bool keep_rest(struct report_intervals *out, struct process *process, size_t index,
                      const struct chronicle_event *event, uint64_t first, uint64_t last,
                      uint64_t now)
{
    const struct report_interval old = out->list[index];
    struct chronicle_event rest = {.time = event->time,
                                   .allocation = old.allocation,
                                   .process = old.process,
                                   .first = first,
                                   .pages = last - first,
                                   .offset = old.offset + (first - old.first),
                                   .protection = old.protection};

    return first >= last || map(out, process, &rest, now);
}

static bool unmap(struct report_intervals *out, struct process *process,
                  const struct chronicle_event *event, uint64_t now)
{
    uint64_t event_end = event->first + event->pages;
    struct span_node *node;
    bool good = true;

    while (good && (node = span_from(&process->tree, event->first)) != NULL &&
           node->first < event_end) {
        struct mapped *mapped = CONTAINER(node, struct mapped, node);
        uint64_t first = node->first, last = span_end(node);
        size_t index = mapped->index;

        span_remove(&process->tree, node);
        util_free(mapped);
        end(&out->list[index], event);
        good = keep_rest(out, process, index, event, first, event->first, now) &&
               keep_rest(out, process, index, event, event_end, last, now);
    }
    return good;
}

static void forget(struct processes *processes)
{
    for (size_t i = 0; i < processes->count; i++) {
        struct span_node *node;

        while ((node = processes->list[i].tree.root) != NULL) {
            span_remove(&processes->list[i].tree, node);
            util_free(CONTAINER(node, struct mapped, node));
        }
    }
    util_free(processes->list);
}

bool report_mappings(const struct chronicle *chronicle, uint64_t now, struct report_intervals *out)
{
    struct processes processes = {0};
    bool good = true;

    *out = (struct report_intervals){0};
    for (size_t i = 0; i < chronicle->count && good; i++) {
        const struct chronicle_event *event = &chronicle->events[i];
        struct process *process;

        if (event->kind != CHRONICLE_MAPPED && event->kind != CHRONICLE_UNMAPPED)
            continue;
        process = process_of(&processes, event->process);
        good = process && (event->kind == CHRONICLE_MAPPED ? map(out, process, event, now)
                                                           : unmap(out, process, event, now));
    }
    forget(&processes);
    if (!good)
        report_intervals_free(out);
    return good;
}
