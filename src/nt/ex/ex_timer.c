/* SPDX-License-Identifier: MIT */
/* Timers that the system allocates (ExAllocateTimer): each calls back at DISPATCH_LEVEL and is a
 * waitable object. */
#include "nt/base/caller.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/nt_report.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/dispatcher.h"
#include "nt/ke/driver_call.h"
#include "nt/ke/dpc.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/time.h"
#include "nt/ke/wait.h"
#include "sim/dpc.h"
#include "sim/event.h"
#include "sim/irql.h"
#include "sim/point.h"
#include "sim/order.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

#define NS_PER_UNIT      100u
#define KNOWN_ATTRIBUTES (EX_TIMER_HIGH_RESOLUTION | EX_TIMER_NO_WAKE | EX_TIMER_NOTIFICATION)

struct _EX_TIMER {
    DISPATCHER_HEADER header; /* a driver may wait on it */
    struct nt_resource resource;
    struct sim_event event;
    struct sim_dpc dpc;
    PEXT_CALLBACK callback;
    PVOID context;
    uint64_t period; /* ns */
    bool running;    /* its callback is running */
    bool deleted;    /* freed when it has expired, and the callback has returned */
    PEXT_DELETE_CALLBACK delete_callback;
    PVOID delete_context;
};

const struct nt_component nt_ex_timer_component = NT_MAP_COMPONENT(ex_timers);

static void destroy(struct _EX_TIMER *timer)
{
    PEXT_DELETE_CALLBACK callback = timer->delete_callback;
    PVOID context = timer->delete_context;
    struct nt_image *image = timer->resource.image;
    struct nt_callback frame;

    sim_event_cancel(&timer->event);
    sim_dpc_remove(&timer->dpc);
    sim_order_take(timer); /* what follows comes after the deletion, and the last call back */
    sim_order_take(&timer->running);
    nt_resource_untrack(&timer->resource);
    hash_remove(nt_state()->ex_timers, (uintptr_t)timer);
    util_free(timer);
    if (callback) {
        nt_callback_enter(&frame, image, "a timer delete callback");
        callback(context);
        nt_callback_leave(&frame);
    }
}

static void reclaim(struct nt_resource *resource)
{
    struct _EX_TIMER *timer = CONTAINER(resource, struct _EX_TIMER, resource);

    timer->delete_callback = NULL;
    destroy(timer);
}

static const struct nt_resource_class timer_class = {
    .rule = "NT-087",
    .noun = "timer made by ExAllocateTimer",
    .reclaim = reclaim,
};

static void call_back(struct _EX_TIMER *timer)
{
    struct nt_callback frame;

    timer->running = true;
    nt_dpc_count_run(timer, (const void *)timer->callback); // NOLINT
    nt_callback_enter(&frame, timer->resource.image, "a timer callback");
    timer->callback(timer, timer->context);
    nt_callback_leave(&frame);
    sim_order_release(&timer->running);
    timer->running = false;
}

static void run(struct sim_dpc *dpc)
{
    struct _EX_TIMER *timer = CONTAINER(dpc, struct _EX_TIMER, dpc);

    if (timer->callback)
        call_back(timer);
    if (timer->deleted)
        destroy(timer);
}

static void describe_event(const struct sim_event *event, char *text, size_t bytes)
{
    char caller[96];

    nt_caller_name(CONTAINER(event, struct _EX_TIMER, event)->resource.caller, caller,
                   sizeof(caller));
    snprintf(text, bytes, "an EX_TIMER that was allocated at %s", caller);
}

static void describe_dpc(const struct sim_dpc *dpc, char *text, size_t bytes)
{
    nt_caller_name((const void *)CONTAINER(dpc, struct _EX_TIMER, dpc)->callback, text, // NOLINT
                   bytes);
}

static void expire(struct sim_event *event)
{
    struct _EX_TIMER *timer = CONTAINER(event, struct _EX_TIMER, event);
    struct nt_faults faults = nt_faults_off();

    sim_order_carry(timer);
    if (timer->period)
        sim_event_arm(event, sim_later(event->due, timer->period));
    nt_faults_on(faults);
    timer->header.SignalState = 1;
    nt_wait_wake(&timer->header);
    if (timer->callback || timer->deleted)
        sim_dpc_queue(&timer->dpc);
}

NT_EXPORT PEX_TIMER NTAPI ExAllocateTimer(PEXT_CALLBACK Callback, PVOID CallbackContext,
                                          ULONG Attributes)
{
    struct _EX_TIMER *timer;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-087", NT_NO_CODE, __func__);
    if (Attributes & ~KNOWN_ATTRIBUTES) {
        VIOLATION("NT-087", "%s with attributes %#x", __func__, Attributes);
        return NULL;
    }
    if (nt_faults_due())
        return NULL;
    timer = util_zalloc(1, sizeof(*timer));
    if (!timer || !hash_put(nt_state()->ex_timers, (uintptr_t)timer, timer)) {
        util_free(timer);
        return NULL;
    }
    nt_dispatcher_init(&timer->header,
                       Attributes & EX_TIMER_NOTIFICATION ? NT_TIMER_NOTIFICATION
                                                          : NT_TIMER_SYNCHRONIZATION,
                       sizeof(timer->header), 0);
    timer->callback = Callback;
    timer->context = CallbackContext;
    timer->event.fire = expire;
    timer->event.describe = describe_event;
    timer->dpc.describe = describe_dpc;
    timer->dpc.routine = run;
    list_init(&timer->dpc.link);
    nt_resource_track(&timer->resource, &timer_class, NT_CALLER());
    return timer;
}

static struct _EX_TIMER *check(PEX_TIMER timer, const char *routine)
{
    struct _EX_TIMER *found = timer ? hash_get(nt_state()->ex_timers, (uintptr_t)timer) : NULL;

    nt_level(NT_DISPATCH, "NT-087", NT_NO_CODE, routine);
    if (found && !found->deleted)
        return found;
    VIOLATION("NT-005", "%s of something that ExAllocateTimer did not return", routine);
    return NULL;
}

static bool cancel(struct _EX_TIMER *timer)
{
    bool pending = sim_event_pending(&timer->event);

    sim_event_cancel(&timer->event);
    return pending;
}

NT_EXPORT BOOLEAN NTAPI ExSetTimer(PEX_TIMER Timer, LONGLONG DueTime, LONGLONG Period,
                                   PEXT_SET_PARAMETERS Parameters)
{
    LARGE_INTEGER due = {.QuadPart = DueTime};
    struct _EX_TIMER *timer;
    struct nt_faults faults;
    bool before;

    NT_ENTER();
    (void)Parameters;
    timer = check(Timer, __func__);
    if (!timer)
        return FALSE;
    if (Period < 0) {
        VIOLATION("NT-087", "%s with a negative period", __func__);
        Period = 0;
    }
    before = cancel(timer);
    sim_order_release(timer);
    timer->header.SignalState = 0;
    timer->period = (uint64_t)Period * NS_PER_UNIT;
    faults = nt_faults_off();
    sim_event_arm(&timer->event, nt_time_deadline(&due));
    nt_faults_on(faults);
    return before;
}

NT_EXPORT BOOLEAN NTAPI ExCancelTimer(PEX_TIMER Timer, PVOID Parameters)
{
    struct _EX_TIMER *timer;

    NT_ENTER();
    (void)Parameters;
    timer = check(Timer, __func__);
    return timer && cancel(timer);
}

NT_EXPORT BOOLEAN NTAPI ExDeleteTimer(PEX_TIMER Timer, BOOLEAN Cancel, BOOLEAN Wait,
                                      PEXT_DELETE_PARAMETERS Parameters)
{
    struct _EX_TIMER *timer;
    bool before = false;

    NT_ENTER();
    timer = check(Timer, __func__);
    if (!timer)
        return FALSE;
    if (Wait && (!Cancel || timer->running || sim_irql() > SIM_IRQL_APC)) {
        verify_fatal("NT-087", DRIVER_VERIFIER, 0, (uintptr_t)timer, 0, 0, "%s with Wait TRUE %s",
                     __func__,
                     !Cancel          ? "and Cancel FALSE"
                     : timer->running ? "while its callback runs"
                                      : "above APC_LEVEL");
        return FALSE;
    }
    if (Parameters) {
        timer->delete_callback = Parameters->DeleteCallback;
        timer->delete_context = Parameters->DeleteContext;
    }
    if (Cancel)
        before = cancel(timer);
    if (Wait) {
        while (timer->running || timer->dpc.queued)
            sim_spin();
    }
    sim_order_release(timer);
    if (timer->running || timer->dpc.queued || sim_event_pending(&timer->event))
        timer->deleted = true;
    else
        destroy(timer);
    return before;
}
