/* SPDX-License-Identifier: MIT */
/* Timers of a driver (KTIMER), and the host's records of those that are set. */
#include <stdio.h>

#include "nt/ke/timer.h"
#include "nt/base/active.h"
#include "nt/base/caller.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/memory.h"
#include "nt/base/nt_report.h"
#include "nt/base/state.h"
#include "nt/ke/dispatcher.h"
#include "nt/ke/dpc.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/time.h"
#include "nt/ke/wait.h"
#include "sim/event.h"
#include "sim/order.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

#define TIMERS    (1u << NT_TIMER_NOTIFICATION | 1u << NT_TIMER_SYNCHRONIZATION)
#define NS_PER_MS 1000000u

struct nt_timer {
    struct nt_active active;
    struct sim_event event;
    PKTIMER object;
    PKDPC dpc;
    uint64_t period; /* ns; 0: once */
    LONGLONG due;    /* as the driver gave it */
};

struct nt_timers {
    struct hash_map set;  /* KTIMER -> struct nt_timer */
    struct hash_map dpcs; /* KDPC -> number of set timers that refer to it */
};

static bool init_timers(struct nt *nt)
{
    hash_init(&nt->timers->set);
    hash_init(&nt->timers->dpcs);
    return true;
}

static void finish_timers(struct nt *nt)
{
    hash_finish(&nt->timers->set);
    hash_finish(&nt->timers->dpcs);
}

const struct nt_component nt_timer_component = {
    .slot = offsetof(struct nt, timers),
    .bytes = sizeof(struct nt_timers),
    .init = init_timers,
    .finish = finish_timers,
};

/* ---- counts by address ---- */

static unsigned long count_get(const struct hash_map *map, const void *address)
{
    return (uintptr_t)hash_get(map, (uintptr_t)address);
}

static bool count_add(struct hash_map *map, const void *address)
{
    return hash_put(map, (uintptr_t)address, (void *)(count_get(map, address) + 1));
}

static void count_remove(struct hash_map *map, const void *address)
{
    unsigned long count = count_get(map, address);

    if (count > 1)
        hash_put(map, (uintptr_t)address, (void *)(count - 1));
    else
        hash_remove(map, (uintptr_t)address);
}

/* ---- records ---- */

static struct nt_timer *find(const KTIMER *timer)
{
    return hash_get(&nt_state()->timers->set, (uintptr_t)timer);
}

static void drop(struct nt_timer *record)
{
    struct nt *nt = nt_state();

    sim_event_cancel(&record->event);
    if (record->dpc)
        count_remove(&nt->timers->dpcs, record->dpc);
    nt_active_remove(&record->active, &nt->timers->set);
    util_free(record);
}

/* May run on any stack at any level. */
static void expire(struct sim_event *event)
{
    struct nt_timer *record = CONTAINER(event, struct nt_timer, event);
    PKTIMER timer = record->object;
    PKDPC dpc = record->dpc;
    struct nt_image *image = record->active.resource.image;
    const void *caller = record->active.resource.caller;
    struct nt_faults faults;

    sim_order_carry(timer);
    if (record->period) {
        faults = nt_faults_off();
        sim_event_arm(&record->event, sim_later(record->event.due, record->period));
        nt_faults_on(faults);
    } else {
        drop(record);
    }
    timer->Header.SignalState = 1;
    nt_wait_wake(&timer->Header);
    if (dpc)
        nt_dpc_insert(dpc, NULL, NULL, image, caller, true);
}

static void describe(const struct sim_event *event, char *text, size_t bytes)
{
    char caller[96];

    nt_caller_name(CONTAINER(event, struct nt_timer, event)->active.resource.caller, caller,
                   sizeof(caller));
    snprintf(text, bytes, "a KTIMER that was set at %s", caller);
}

static void reclaim(struct nt_resource *resource)
{
    drop(CONTAINER(resource, struct nt_timer, active.resource));
}

static const struct nt_active_class timer_class = {
    .resource = {.rule = "NT-006", .noun = "set timer", .code = 0xC7, .reclaim = reclaim},
    .noun = "a timer that is set",
    .code = DRIVER_VERIFIER,
    .subcode = 0x15,
};

bool nt_timer_uses_dpc(const KDPC *dpc)
{
    return count_get(&nt_state()->timers->dpcs, dpc) != 0;
}

/* The system time was set: adjust absolute due times. */
void nt_timer_clock_changed(void)
{
    struct nt *nt = nt_state();
    struct nt_faults faults = nt_faults_off();
    uint32_t cursor = 0;
    uint64_t key;
    void *value;

    while (hash_next(&nt->timers->set, &cursor, &key, &value)) {
        struct nt_timer *record = value;
        LARGE_INTEGER due = {.QuadPart = record->due};

        if (record->due > 0)
            sim_event_arm(&record->event, nt_time_deadline(&due));
    }
    nt_faults_on(faults);
}

/* ---- routines ---- */

static void init(PKTIMER timer, TIMER_TYPE type, const char *routine)
{
    if (!nt_memory_check(timer, "KTIMER", routine))
        return;
    if (find(timer)) {
        VIOLATION("NT-079", "%s of a timer that is set", routine);
        drop(find(timer));
    }
    nt_dispatcher_init(&timer->Header,
                       type == SynchronizationTimer ? NT_TIMER_SYNCHRONIZATION
                                                    : NT_TIMER_NOTIFICATION,
                       sizeof(*timer), 0);
    timer->DueTime.QuadPart = 0;
    timer->Dpc = NULL;
    timer->Period = 0;
}

NT_EXPORT VOID NTAPI KeInitializeTimer(PKTIMER Timer)
{
    NT_ENTER();
    init(Timer, NotificationTimer, __func__);
}

NT_EXPORT VOID NTAPI KeInitializeTimerEx(PKTIMER Timer, TIMER_TYPE Type)
{
    NT_ENTER();
    init(Timer, Type, __func__);
}

/* Setting a timer cannot fail on Windows, so no failure is injected here. */
static void arm(PKTIMER timer, LONGLONG due_time, uint64_t period, PKDPC dpc, const void *caller)
{
    struct nt *nt = nt_state();
    struct nt_timer *record = util_zalloc(1, sizeof(*record));
    LARGE_INTEGER due = {.QuadPart = due_time};

    if (!record)
        return;
    if (!nt_active_add(&record->active, &nt->timers->set, &timer_class, timer, caller)) {
        util_free(record);
        return;
    }
    record->object = timer;
    record->period = period;
    record->due = due_time;
    record->event.fire = expire;
    record->event.describe = describe;
    if (dpc && count_add(&nt->timers->dpcs, dpc))
        record->dpc = dpc;
    if (!sim_event_arm(&record->event, nt_time_deadline(&due)))
        drop(record);
}

static BOOLEAN set(PKTIMER timer, LARGE_INTEGER due, LONG period, PKDPC dpc, const char *routine,
                   const void *caller)
{
    struct nt_timer *before;
    struct nt_faults faults;

    if (!nt_level(NT_DISPATCH, "NT-080", NT_NO_CODE, routine) ||
        !nt_dispatcher_check(timer, TIMERS, routine))
        return FALSE;
    if (dpc && !nt_memory_check(dpc, "KDPC", routine))
        return FALSE;
    if (period < 0) {
        VIOLATION("NT-080", "%s with a period of %d ms", routine, period);
        period = 0;
    }
    before = find(timer);
    if (before)
        drop(before);
    sim_order_release(timer); /* to those who have set it before, the expiry comes after, too */
    timer->Header.SignalState = 0;
    timer->DueTime.QuadPart = (ULONGLONG)due.QuadPart;
    timer->Period = (ULONG)period;
    timer->Dpc = dpc;
    faults = nt_faults_off();
    arm(timer, due.QuadPart, (uint64_t)period * NS_PER_MS, dpc, caller);
    nt_faults_on(faults);
    return before != NULL;
}

NT_EXPORT BOOLEAN NTAPI KeSetTimer(PKTIMER Timer, LARGE_INTEGER DueTime, PKDPC Dpc)
{
    NT_ENTER();
    return set(Timer, DueTime, 0, Dpc, __func__, NT_CALLER());
}

NT_EXPORT BOOLEAN NTAPI KeSetTimerEx(PKTIMER Timer, LARGE_INTEGER DueTime, LONG Period, PKDPC Dpc)
{
    NT_ENTER();
    return set(Timer, DueTime, Period, Dpc, __func__, NT_CALLER());
}

NT_EXPORT BOOLEAN NTAPI KeSetCoalescableTimer(PKTIMER Timer, LARGE_INTEGER DueTime, ULONG Period,
                                              ULONG TolerableDelay, PKDPC Dpc)
{
    NT_ENTER();
    (void)TolerableDelay;
    return set(Timer, DueTime, (LONG)Period, Dpc, __func__, NT_CALLER());
}

NT_EXPORT BOOLEAN NTAPI KeCancelTimer(PKTIMER Timer)
{
    struct nt_timer *record;

    NT_ENTER();
    if (!nt_level(NT_DISPATCH, "NT-082", NT_NO_CODE, __func__) ||
        !nt_dispatcher_check(Timer, TIMERS, __func__))
        return FALSE;
    record = find(Timer);
    if (!record)
        return FALSE;
    drop(record);
    return TRUE;
}

NT_EXPORT BOOLEAN NTAPI KeReadStateTimer(PKTIMER Timer)
{
    NT_ENTER();
    sim_order_acquire(Timer);
    return nt_dispatcher_check(Timer, TIMERS, __func__) && Timer->Header.SignalState != 0;
}
