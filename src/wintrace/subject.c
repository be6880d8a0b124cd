/* SPDX-License-Identifier: MIT */
#include "wintrace/subject.h"
#include "util/alloc.h"
#include "wintrace/ids.h"
#include "wintrace/reserve.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SYSTEM_PROCESS 4u
#define IDLE_PROCESS   0u

/* ---- learning ---- */

static uint64_t get(const struct subject *s, const struct wintrace_event *event, const char *field)
{
    uint64_t value;

    (void)wintrace_get(s->trace, event, field, &value);
    return value;
}

static struct subject_context *context_of(struct subject *s, uint64_t handle)
{
    size_t index = (uintptr_t)hash_get(&s->by_handle, handle_key(handle));
    struct subject_context *context;

    if (index)
        return &s->context[index - 1];
    if (!wintrace_reserve((void **)&s->context, s->contexts, &s->room, sizeof(*s->context)) ||
        !hash_put(&s->by_handle, handle_key(handle), (void *)(uintptr_t)(s->contexts + 1)))
        return NULL;
    context = &s->context[s->contexts++];
    *context = (struct subject_context){.handle = handle, .node = SUBJECT_NO_NODE};
    return context;
}

static bool own(struct subject *s, uint64_t handle, uint64_t process)
{
    if (hash_get(&s->owners, handle_key(handle)))
        return true;
    return hash_put(&s->owners, handle_key(handle), (void *)(uintptr_t)(process + 1));
}

/* The process that an event names, or the one in which it was written. */
static uint64_t process_of(const struct subject *s, const struct wintrace_event *event, bool listed)
{
    uint64_t named = get(s, event, "hProcessId");

    return listed && named && named <= UINT32_MAX ? named : event->process;
}

static bool learn_device(struct subject *s, const struct wintrace_event *event)
{
    uint64_t device = get(s, event, "hDevice"), adapter = get(s, event, "pDxgAdapter");

    return own(s, device, process_of(s, event, event->kind->id == EVENT_DEVICE_LISTED)) &&
           (!adapter || hash_put(&s->devices, handle_key(device), (void *)(uintptr_t)adapter));
}

static bool learn_context(struct subject *s, const struct wintrace_event *event)
{
    uint64_t device = get(s, event, "hDevice"), adapter = get(s, event, "pDxgAdapter");
    uint64_t owner = (uintptr_t)hash_get(&s->owners, handle_key(device));
    struct subject_context *context = context_of(s, get(s, event, "hContext"));

    if (!context)
        return false;
    if (!adapter && device)
        adapter = (uintptr_t)hash_get(&s->devices, handle_key(device));
    if (adapter)
        context->adapter = adapter;
    context->node = (uint32_t)get(s, event, "NodeOrdinal");
    if (device && owner) {
        context->process = (uint32_t)(owner - 1);
        context->has_process = true;
    }
    return true;
}

static bool learn_packet(struct subject *s, const struct wintrace_event *event)
{
    struct subject_context *context = context_of(s, get(s, event, "hContext"));

    if (!context)
        return false;
    if (!context->has_process)
        context->process = event->process;
    context->has_process = true;
    context->packets++;
    return true;
}

static void learn_segment(struct subject *s, const struct wintrace_event *event, bool implicit,
                          bool *told)
{
    uint64_t number = get(s, event, implicit ? "SegmentId" : "ulSegmentId");

    if (implicit) {
        s->system_segment = number;
        *told = true;
    } else if (!*told && number < UINT32_MAX && number >= s->system_segment) {
        s->system_segment = number + 1;
    }
}

static bool learn(struct subject *s)
{
    bool good = true, told = false;

    for (size_t i = 0; i < s->trace->events && good; i++) {
        const struct wintrace_event *event = &s->trace->event[i];

        switch (event->kind->id) {
        case EVENT_DEVICE_START:
        case EVENT_DEVICE_LISTED:
            good = learn_device(s, event);
            break;
        case EVENT_SELECT_CONTEXT:
        case EVENT_SELECT_CONTEXT_2:
        case EVENT_CONTEXT_START:
        case EVENT_CONTEXT_LISTED:
            good = learn_context(s, event);
            break;
        case EVENT_QUEUE_START:
        case EVENT_QUEUE_WAIT:
        case EVENT_QUEUE_SIGNAL:
            good = learn_packet(s, event);
            break;
        case EVENT_ALLOCATION_START:
        case EVENT_ALLOCATION_LISTED:
            good = own(s, get(s, event, "hVidMmGlobalAlloc"),
                       process_of(s, event, event->kind->id == EVENT_ALLOCATION_LISTED));
            break;
        case EVENT_MAKE_RESIDENT_START:
            good = own(s, get(s, event, "pPagingQueue"), event->process);
            break;
        case EVENT_REPORT_SEGMENT:
        case EVENT_SYSMEM_COMMIT:
        case EVENT_SYSMEM_UNCOMMIT:
            learn_segment(s, event, event->kind->id != EVENT_REPORT_SEGMENT, &told);
            break;
        default:
            break;
        }
    }
    return good;
}

/* ---- choosing ---- */

static bool is_system(const struct subject_context *context)
{
    return context->process == SYSTEM_PROCESS || context->process == IDLE_PROCESS;
}

/* Add to the sum of a key. */
static bool add(struct hash_map *sums, uint64_t key, uint64_t packets)
{
    uint64_t sum = (uintptr_t)hash_get(sums, key);

    return packets == 0 || hash_put(sums, key, (void *)(uintptr_t)(sum + packets));
}

static uint64_t sum_of(const struct hash_map *sums, uint64_t key)
{
    return (uintptr_t)hash_get(sums, key);
}

/* The first of those with the most packets; a context on an adapter without packets is better than
 * none. */
static bool choose_adapter(struct subject *s)
{
    struct hash_map sums;
    uint64_t most = 0;
    bool good = true;

    hash_init(&sums);
    for (size_t i = 0; good && i < s->contexts; i++)
        good = add(&sums, handle_key(s->context[i].adapter), s->context[i].packets);
    for (size_t i = 0; good && i < s->contexts; i++) {
        uint64_t packets = sum_of(&sums, handle_key(s->context[i].adapter));

        if (s->context[i].adapter && (!s->adapter || packets > most)) {
            s->adapter = s->context[i].adapter;
            most = packets;
        }
    }
    hash_finish(&sums);
    return good;
}

static uint64_t key_of(uint32_t process)
{
    return (uint64_t)process + 1;
}

/* The asked one, or that with the most packets; one of the system if there is no other. */
static bool choose_process(struct subject *s, const struct subject_choice *choice)
{
    struct hash_map sums;
    bool good = true;

    hash_init(&sums);
    for (size_t i = 0; good && i < s->contexts; i++)
        if (subject_on_adapter(s, &s->context[i]) && s->context[i].has_process)
            good = add(&sums, key_of(s->context[i].process), s->context[i].packets);
    s->process = choice->process;
    s->packets = choice->has_process ? sum_of(&sums, key_of(choice->process)) : 0;
    for (unsigned round = 0; good && round < 2 && !choice->has_process && !s->packets; round++)
        for (size_t i = 0; i < s->contexts; i++) {
            uint64_t packets = sum_of(&sums, key_of(s->context[i].process));

            if (packets <= s->packets || (round == 0 && is_system(&s->context[i])))
                continue;
            s->process = s->context[i].process;
            s->packets = packets;
        }
    hash_finish(&sums);
    return good;
}

static bool has_adapter(const struct subject *s, uint64_t adapter)
{
    for (size_t i = 0; i < s->contexts; i++)
        if (s->context[i].adapter == adapter)
            return true;
    return false;
}

bool subject_init(struct subject *s, const struct wintrace *trace,
                  const struct subject_choice *choice, char *error, size_t error_bytes)
{
    memset(s, 0, sizeof(*s));
    s->trace = trace;
    hash_init(&s->by_handle);
    hash_init(&s->devices);
    hash_init(&s->owners);
    if (!learn(s)) {
        snprintf(error, error_bytes, "out of memory");
        return false;
    }
    if (choice->adapter && !has_adapter(s, choice->adapter)) {
        snprintf(error, error_bytes, "no context of it is on adapter 0x%" PRIx64, choice->adapter);
        return false;
    }
    s->adapter = choice->adapter;
    if ((!s->adapter && !choose_adapter(s)) || !choose_process(s, choice)) {
        snprintf(error, error_bytes, "out of memory");
        return false;
    }
    if (!s->packets && choice->has_process)
        snprintf(error, error_bytes, "process %" PRIu32 " queues no packet in it", choice->process);
    else if (!s->packets)
        snprintf(error, error_bytes, "no packet is queued in it, so there is nothing to compare");
    return s->packets != 0;
}

void subject_finish(struct subject *s)
{
    hash_finish(&s->by_handle);
    hash_finish(&s->devices);
    hash_finish(&s->owners);
    util_free(s->context);
}

/* ---- asking ---- */

const struct subject_context *subject_find(const struct subject *s, uint64_t handle)
{
    size_t index = (uintptr_t)hash_get(&s->by_handle, handle_key(handle));

    return index ? &s->context[index - 1] : NULL;
}

bool subject_on_adapter(const struct subject *s, const struct subject_context *context)
{
    return !context->adapter || !s->adapter || context->adapter == s->adapter;
}

bool subject_has(const struct subject *s, const struct subject_context *context)
{
    return subject_on_adapter(s, context) && context->has_process && context->process == s->process;
}

bool subject_owns(const struct subject *s, uint64_t handle)
{
    uint64_t owner = (uintptr_t)hash_get(&s->owners, handle_key(handle));

    return !owner || owner - 1 == s->process;
}
