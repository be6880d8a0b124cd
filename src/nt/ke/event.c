/* SPDX-License-Identifier: MIT */
/* Events. */
#include "nt/ke/event.h"
#include "nt/base/export.h"
#include "nt/base/memory.h"
#include "nt/ke/dispatcher.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/owed_wait.h"
#include "nt/ke/wait.h"
#include "sim/order.h"
#include "verify/verify.h"

#define EVENTS (1u << NT_EVENT_NOTIFICATION | 1u << NT_EVENT_SYNCHRONIZATION)

void nt_event_init(PRKEVENT event, EVENT_TYPE type, bool state)
{
    nt_dispatcher_init(&event->Header,
                       type == SynchronizationEvent ? NT_EVENT_SYNCHRONIZATION
                                                    : NT_EVENT_NOTIFICATION,
                       sizeof(*event), state);
}

NT_EXPORT VOID NTAPI KeInitializeEvent(PRKEVENT Event, EVENT_TYPE Type, BOOLEAN State)
{
    NT_ENTER();
    if (!nt_memory_check(Event, "KEVENT", __func__))
        return;
    if (Type != NotificationEvent && Type != SynchronizationEvent)
        VIOLATION("NT-034", "%s with type %d", __func__, (int)Type);
    nt_event_init(Event, Type, State != FALSE);
}

LONG nt_event_signal(PRKEVENT event)
{
    LONG before = event->Header.SignalState;

    sim_order_release(&event->Header);
    event->Header.SignalState = 1;
    if (before == 0)
        nt_wait_wake(&event->Header);
    return before;
}

NT_EXPORT LONG NTAPI KeSetEvent(PRKEVENT Event, KPRIORITY Increment, BOOLEAN Wait)
{
    LONG before;

    NT_ENTER();
    (void)Increment;
    if (!nt_level(NT_DISPATCH, "NT-036", 0x80, __func__) ||
        !nt_dispatcher_check(Event, EVENTS, __func__))
        return 0;
    before = nt_event_signal(Event);
    nt_owed_wait_announce(Wait, "NT-036", __func__);
    return before;
}

NT_EXPORT LONG NTAPI KePulseEvent(PRKEVENT Event, KPRIORITY Increment, BOOLEAN Wait)
{
    LONG before;

    NT_ENTER();
    (void)Increment;
    if (!nt_level(NT_DISPATCH, "NT-036", 0x80, __func__) ||
        !nt_dispatcher_check(Event, EVENTS, __func__))
        return 0;
    before = nt_event_signal(Event);
    Event->Header.SignalState = 0;
    nt_owed_wait_announce(Wait, "NT-036", __func__);
    return before;
}

static LONG clear_event(PRKEVENT event, const char *routine)
{
    LONG before;

    if (!nt_level(NT_DISPATCH, "NT-037", NT_NO_CODE, routine) ||
        !nt_dispatcher_check(event, EVENTS, routine))
        return 0;
    sim_order_acquire(&event->Header);
    before = event->Header.SignalState;
    event->Header.SignalState = 0;
    return before;
}

NT_EXPORT LONG NTAPI KeResetEvent(PRKEVENT Event)
{
    NT_ENTER();
    return clear_event(Event, __func__);
}

NT_EXPORT VOID NTAPI KeClearEvent(PRKEVENT Event)
{
    NT_ENTER();
    clear_event(Event, __func__);
}

NT_EXPORT LONG NTAPI KeReadStateEvent(PRKEVENT Event)
{
    NT_ENTER();
    if (!nt_level(NT_DISPATCH, "NT-037", NT_NO_CODE, __func__) ||
        !nt_dispatcher_check(Event, EVENTS, __func__))
        return 0;
    sim_order_acquire(&Event->Header);
    return Event->Header.SignalState;
}
