/* SPDX-License-Identifier: MIT */
/* Events: a binary heap by (due, order of arming). Arming and cancelling are O(log events). */
#include "sim/event.h"

#include <string.h>

#include "sim/core.h"
#include "sim/endless.h"
#include "sim/event_queue.h"
#include "sim/point.h"
#include "util/alloc.h"

static bool earlier(const struct sim_event *a, const struct sim_event *b)
{
    return a->due < b->due || (a->due == b->due && a->order < b->order);
}

static void put(struct sim_core *core, uint32_t index, struct sim_event *event)
{
    core->heap[index] = event;
    event->slot = index + 1;
}

static void sift_up(struct sim_core *core, uint32_t index)
{
    struct sim_event *event = core->heap[index];

    while (index > 0 && earlier(event, core->heap[(index - 1) / 2])) {
        put(core, index, core->heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    put(core, index, event);
}

static void sift_down(struct sim_core *core, uint32_t index)
{
    struct sim_event *event = core->heap[index];

    for (;;) {
        uint32_t child = 2 * index + 1;

        if (child >= core->events)
            break;
        if (child + 1 < core->events && earlier(core->heap[child + 1], core->heap[child]))
            child++;
        if (!earlier(core->heap[child], event))
            break;
        put(core, index, core->heap[child]);
        index = child;
    }
    put(core, index, event);
}

static void take_out(struct sim_core *core, uint32_t index)
{
    struct sim_event *last;

    core->heap[index]->slot = 0;
    last = core->heap[--core->events];
    if (index == core->events)
        return;
    put(core, index, last);
    sift_up(core, index);
    sift_down(core, last->slot - 1);
}

static bool grow(struct sim_core *core, uint32_t capacity)
{
    struct sim_event **heap;

    if (capacity <= core->heap_capacity)
        return true;
    capacity = capacity < 64 ? 64 : capacity * 2;
    heap = util_realloc(core->heap, capacity * sizeof(struct sim_event *));
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

    if (event->slot)
        take_out(core, event->slot - 1);
    if (due >= SIM_END)
        return true;
    if (!event->reserved && !grow(core, core->events + core->reserved + 1))
        return false;
    event->due = due;
    event->order = core->event_order++;
    put(core, core->events++, event);
    sift_up(core, core->events - 1);
    /* The current slice may have been cut to end at a later event. */
    if (event->slot == 1) {
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
    return core->events ? core->heap[0]->due : SIM_FOREVER;
}

void sim_fire_due(struct sim_core *core)
{
    while (core->events && core->heap[0]->due <= core->public.now) {
        struct sim_event *event = core->heap[0];

        take_out(core, 0);
        sim_endless_event(core, event);
        event->fire(event);
    }
}

void sim_events_stop(struct sim_core *core)
{
    uint32_t i = 0;

    while (i < core->events) {
        struct sim_event *event = core->heap[i];
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
