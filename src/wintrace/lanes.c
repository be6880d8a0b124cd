/* SPDX-License-Identifier: MIT */
#include "wintrace/lanes.h"
#include "util/alloc.h"
#include "wintrace/ids.h"
#include "wintrace/known.h"
#include "wintrace/reserve.h"

#include <string.h>

static uint64_t get(const struct lanes *l, const struct wintrace_event *event, const char *field)
{
    uint64_t value;

    (void)wintrace_get(l->subject->trace, event, field, &value);
    return value;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * UINT64_C(0x9E3779B97F4A7C15) ^ (b + UINT64_C(0xD1B54A32D192ED03));

    x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return (x ^ x >> 29) | 1;
}

/* ---- lanes ---- */

static struct lane *lane_of(struct lanes *l, enum lane_kind kind, uint64_t key)
{
    uint64_t hash = mix(key, kind);
    size_t index = (uintptr_t)hash_get(&l->by_key, hash);
    struct lane *lane;

    if (index)
        return &l->lane[index - 1];
    if (!wintrace_reserve((void **)&l->lane, l->count, &l->room, sizeof(*l->lane)) ||
        !hash_put(&l->by_key, hash, (void *)(uintptr_t)(l->count + 1)))
        return NULL;
    lane = &l->lane[l->count++];
    *lane = (struct lane){.kind = kind, .key = key};
    return lane;
}

static bool add(struct lanes *l, enum lane_kind kind, uint64_t key, size_t event,
                uint64_t submission)
{
    struct lane *lane = lane_of(l, kind, key);

    if (!lane ||
        !wintrace_reserve((void **)&lane->item, lane->items, &lane->room, sizeof(*lane->item)))
        return false;
    lane->item[lane->items++] = (struct lane_item){event, submission};
    return true;
}

/* ---- packets ---- */

static bool add_queue_packet(struct lanes *l, const struct wintrace_event *event, size_t index)
{
    uint64_t handle = get(l, event, "hContext");
    const struct subject_context *context = subject_find(l->subject, handle);

    return !context || !subject_has(l->subject, context) || add(l, LANE_CONTEXT, handle, index, 0);
}

/* The number that a submission has without those of other processes; learned from its start. */
static bool number_of(struct lanes *l, const struct wintrace_event *event, uint64_t node,
                      uint64_t *number)
{
    bool is_start = event->kind->id == EVENT_DMA_START;
    uint64_t id = get(l, event, is_start ? "uliSubmissionId" : "uliCompletionId");
    uint64_t key = mix(id, node), found = (uintptr_t)hash_get(&l->submitted, key);

    if (!is_start && found) {
        *number = found - 1;
        return true;
    }
    *number = id - (uintptr_t)hash_get(&l->foreign, node + 1);
    return !is_start || hash_put(&l->submitted, key, (void *)(uintptr_t)(*number + 1));
}

static bool add_dma_packet(struct lanes *l, const struct wintrace_event *event, size_t index)
{
    const struct subject_context *context = subject_find(l->subject, get(l, event, "hContext"));
    bool request = get(l, event, "PacketType") == PACKET_PREEMPTION;
    uint64_t number;

    if (!context || context->node == SUBJECT_NO_NODE || !subject_on_adapter(l->subject, context))
        return true;
    if (request)
        return add(l, LANE_NODE, context->node, index,
                   get(l, event,
                       event->kind->id == EVENT_DMA_START ? "uliSubmissionId" : "uliCompletionId"));
    if (!subject_has(l->subject, context)) {
        uintptr_t foreign = (uintptr_t)hash_get(&l->foreign, context->node + UINT64_C(1));

        return event->kind->id != EVENT_DMA_START ||
               hash_put(&l->foreign, context->node + UINT64_C(1), (void *)(foreign + 1));
    }
    return number_of(l, event, context->node, &number) &&
           add(l, LANE_NODE, context->node, index, number);
}

/* ---- memory, display ---- */

static bool of_adapter(const struct lanes *l, const struct wintrace_event *event)
{
    uint64_t adapter = get(l, event, "pDxgAdapter");

    return !adapter || !l->subject->adapter || adapter == l->subject->adapter;
}

static bool add_paging(struct lanes *l, const struct wintrace_event *event, size_t index)
{
    uint64_t handle = get(l, event, "hAllocationGlobalHandle");

    if (event->kind->id == EVENT_PAGE_IN)
        handle = get(l, event, "hAllocationHandle");
    else if (event->kind->id == EVENT_EVICT)
        handle = get(l, event, "hGlobalAllocationHandle");
    return !of_adapter(l, event) || !subject_owns(l->subject, handle) ||
           add(l, LANE_ALLOCATION, handle, index, 0);
}

static bool add_display(struct lanes *l, const struct wintrace_event *event, size_t index)
{
    return !of_adapter(l, event) || add(l, LANE_SOURCE, get(l, event, "VidPnSourceId"), index, 0);
}

static bool add_queue(struct lanes *l, const struct wintrace_event *event, size_t index)
{
    uint64_t queue = get(l, event, "PagingQueue");

    return !subject_owns(l->subject, queue) || add(l, LANE_QUEUE, queue, index, 0);
}

static bool add_call(struct lanes *l, const struct wintrace_event *event, size_t index)
{
    return event->process != l->subject->process || add(l, LANE_CALLS, event->thread, index, 0);
}

/* ---- all events ---- */

static bool sort(struct lanes *l, const struct wintrace_event *event, size_t index)
{
    uint16_t id = event->kind->id;

    if (known_event(id)) {
        l->known_events++;
        return true;
    }
    if (event_is_paging(id) || id == EVENT_PAGE_IN || id == EVENT_EVICT)
        return add_paging(l, event, index);
    switch (id) {
    case EVENT_QUEUE_START:
    case EVENT_QUEUE_INFO:
    case EVENT_QUEUE_STOP:
    case EVENT_QUEUE_WAIT:
    case EVENT_QUEUE_SIGNAL:
    case EVENT_UNWAIT:
        return add_queue_packet(l, event, index);
    case EVENT_DMA_START:
    case EVENT_DMA_STOP:
    case EVENT_DMA_REPORTED:
        return add_dma_packet(l, event, index);
    case EVENT_VSYNC_DPC:
    case EVENT_VSYNC_DPC_PLANES:
    case EVENT_FLIP:
    case EVENT_FLIP_PLANES:
    case EVENT_INDEPENDENT_FLIP:
    case EVENT_MMIO_FLIP:
    case EVENT_MMIO_FLIP_PLANES:
    case EVENT_MMIO_FLIP_PLANES_3:
        return add_display(l, event, index);
    case EVENT_PAGING_START_DEVICE:
    case EVENT_PAGING_START:
    case EVENT_PAGING_INFO:
    case EVENT_PAGING_STOP:
        return add_queue(l, event, index);
    case EVENT_MAKE_RESIDENT_START:
    case EVENT_MAKE_RESIDENT_STOP:
        return add_call(l, event, index);
    default:
        return true;
    }
}

bool lanes_init(struct lanes *lanes, const struct subject *subject)
{
    bool good = true;

    memset(lanes, 0, sizeof(*lanes));
    lanes->subject = subject;
    hash_init(&lanes->by_key);
    hash_init(&lanes->foreign);
    hash_init(&lanes->submitted);
    for (size_t i = 0; i < subject->trace->events && good; i++)
        good = sort(lanes, &subject->trace->event[i], i);
    return good;
}

void lanes_finish(struct lanes *lanes)
{
    for (size_t i = 0; i < lanes->count; i++)
        util_free(lanes->lane[i].item);
    util_free(lanes->lane);
    hash_finish(&lanes->by_key);
    hash_finish(&lanes->foreign);
    hash_finish(&lanes->submitted);
}
