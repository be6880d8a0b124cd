/* SPDX-License-Identifier: MIT */
/* Events: a binary heap by (due, order of arming), which lies in the heap's own array, so that no
 * event is touched for a comparison. Arming and cancelling are O(log events). */
#include "sim/event.h"

#include <string.h>

#include "race/race.h"
#include "sim/core.h"
#include "sim/endless.h"
#include "sim/event_queue.h"
#include "sim/point.h"
#include "util/alloc.h"

static bool earlier(const struct sim_pending *a, const struct sim_pending *b)
{
    return a->due < b->due || (a->due == b->due && a->order < b->order);
}

static void put(struct sim_core *core, uint32_t index, const struct sim_pending *pending)
{
    core->heap[index] = *pending;
    pending->event->slot = index + 1;
}

/* Put it where `index`, a free place, is, or above. Returns where. */
static uint32_t sift_up(struct sim_core *core, uint32_t index, const struct sim_pending *pending)
{
    while (index > 0 && earlier(pending, &core->heap[(index - 1) / 2])) {
        put(core, index, &core->heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    put(core, index, pending);
    return index;
}

/* The same, or below. */
static void sift_down(struct sim_core *core, uint32_t index, const struct sim_pending *pending)
{
    for (;;) {
        uint32_t child = 2 * index + 1;

        if (child >= core->events)
            break;
        if (child + 1 < core->events && earlier(&core->heap[child + 1], &core->heap[child]))
            child++;
        if (!earlier(&core->heap[child], pending))
            break;
        put(core, index, &core->heap[child]);
        index = child;
    }
    put(core, index, pending);
}

static void take_out(struct sim_core *core, uint32_t index)
{
    struct sim_pending last;

    core->heap[index].event->slot = 0;
    last = core->heap[--core->events];
    if (index == core->events)
        return;
    if (index > 0 && earlier(&last, &core->heap[(index - 1) / 2]))
        (void)sift_up(core, index, &last);
    else
        sift_down(core, index, &last);
}

static bool grow(struct sim_core *core, uint32_t capacity)
{
    struct sim_pending *heap;

    if (capacity <= core->heap_capacity)
        return true;
    capacity = capacity < 64 ? 64 : capacity * 2;
    heap = util_realloc(core->heap, capacity * sizeof(*heap));
    if (!heap)
        return false;
    core->heap = heap;
    core->heap_capacity = capacity;
    return true;
}

/* Ensure room for events that must never fail to arm (a thread's time-out). */
bool sim_event_reserve(struct sim_core *core, uint32_t more)
{
    if (!grow(core, core->events + core->reserved + more))
        return false;
    core->reserved += more;
    return true;
}

bool sim_event_arm(struct sim_event *event, uint64_t due)
{
    struct sim_core *core = core_of(sim_current);
    struct sim_pending pending;

    if (event->slot)
        take_out(core, event->slot - 1);
    if (due >= SIM_END)
        return true;
    if (!event->reserved && !grow(core, core->events + core->reserved + 1))
        return false;
    event->due = due;
    pending = (struct sim_pending){.due = due, .order = core->event_order++, .event = event};
    /* The current slice may have been cut to end at a later event. */
    if (sift_up(core, core->events++, &pending) == 0) {
        uint64_t points = due > sim_current->now
                              ? (due - sim_current->now + SIM_POINT_NS - 1) / SIM_POINT_NS
                              : 1;

        if (points < sim_current->fuel) {
            core->refuelled -= sim_current->fuel - (uint32_t)points;
            sim_current->fuel = points ? (uint32_t)points : 1;
        }
    }
    return true;
}

void sim_event_cancel(struct sim_event *event)
{
    if (event->slot)
        take_out(core_of(sim_current), event->slot - 1);
}

uint64_t sim_next_due(const struct sim_core *core)
{
    return core->events ? core->heap[0].due : SIM_FOREVER;
}

void sim_fire_due(struct sim_core *core)
{
    while (core->events && core->heap[0].due <= core->public.now) {
        struct sim_event *event = core->heap[0].event;
        struct race_task *task = NULL;

        take_out(core, 0);
        sim_endless_event(core, event);
        if (core->public.races)
            task = race_switch(core->public.races, NULL);
        event->fire(event);
        if (core->public.races)
            (void)race_switch(core->public.races, task);
    }
}

void sim_events_stop(struct sim_core *core)
{
    uint32_t i = 0;

    while (i < core->events) {
        struct sim_event *event = core->heap[i].event;
        struct sim_thread *thread = CONTAINER(event, struct sim_thread, timeout);

        if (event->reserved && thread->kind == SIM_THREAD_CLIENT) {
            i++;
            continue;
        }
        if (event->reserved && thread->guarded) {
            thread->guarded = false;
            core->guards--;
        }
        take_out(core, i);
        i = 0;
    }
}
