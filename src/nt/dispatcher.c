/* SPDX-License-Identifier: MIT */
/* Dispatcher objects: their common header, events and semaphores. Mutexes are in mutex.c, timers in
 * timer.c. */
#include "nt/nt_private.h"

#include "sim/irql.h"

/* ---- headers ---- */

/* The list head of an initialised object points to itself: zeroed memory and a copy of an object
 * are recognised. */
void nt_header_init(DISPATCHER_HEADER *header, enum nt_dispatcher_type type, size_t bytes,
                    LONG state)
{
    header->LockNV = 0;
    header->Type = (UCHAR)type;
    header->Size = (UCHAR)(bytes / sizeof(LONG));
    header->SignalState = state;
    InitializeListHead(&header->WaitListHead);
}

bool nt_storage_check(const void *object, const char *what, const char *routine)
{
    if (!object) {
        VIOLATION("NT-005", "%s of a NULL %s", routine, what);
        return false;
    }
    switch (nt_memory_of(object)) {
    case NT_MEMORY_FREED:
        VIOLATION("NT-005", "%s of a %s in freed pool", routine, what);
        return false;
    case NT_MEMORY_PAGED:
        NT_VERIFIER("NT-004", 0xE1, (uintptr_t)object, 0, 0, "%s of a %s in paged pool", routine,
                    what);
        return true;
    default:
        return true;
    }
}

bool nt_header_check(const void *object, uint32_t types, const char *routine)
{
    const DISPATCHER_HEADER *header = object;

    if (!nt_storage_check(object, "dispatcher object", routine))
        return false;
    if (header->WaitListHead.Flink != &header->WaitListHead) {
        VIOLATION("NT-005", "%s of an object that was never initialised, or was overwritten",
                  routine);
        return false;
    }
    if (header->Type >= 32 || !(types >> header->Type & 1)) {
        VIOLATION("NT-005", "%s of an object of another type (%u)", routine, header->Type);
        return false;
    }
    return true;
}

/* ---- events ---- */

#define EVENTS (1u << NT_EVENT_NOTIFICATION | 1u << NT_EVENT_SYNCHRONIZATION)

NT_EXPORT VOID NTAPI KeInitializeEvent(PRKEVENT Event, EVENT_TYPE Type, BOOLEAN State)
{
    NT_ENTER();
    if (!nt_storage_check(Event, "KEVENT", __func__))
        return;
    if (Type != NotificationEvent && Type != SynchronizationEvent)
        VIOLATION("NT-034", "%s with type %d", __func__, (int)Type);
    nt_header_init(&Event->Header,
                   Type == SynchronizationEvent ? NT_EVENT_SYNCHRONIZATION : NT_EVENT_NOTIFICATION,
                   sizeof(*Event), State != FALSE);
}

/* Wait TRUE: the caller announces a wait as its very next call (NT-036). */
void nt_note_wait_owed(BOOLEAN wait, const char *rule, const char *routine)
{
    struct _KTHREAD *thread = nt_thread();

    if (!wait)
        return;
    nt_level(NT_APC, rule, NT_NO_CODE, routine);
    if (sim_irql() <= SIM_IRQL_APC && !thread->must_wait) {
        thread->must_wait = true;
        nt_state()->waits_owed++;
    }
}

static LONG signal_event(PRKEVENT event)
{
    LONG before = event->Header.SignalState;

    event->Header.SignalState = 1;
    if (before == 0)
        nt_wake(&event->Header);
    return before;
}

NT_EXPORT LONG NTAPI KeSetEvent(PRKEVENT Event, KPRIORITY Increment, BOOLEAN Wait)
{
    LONG before;

    NT_ENTER();
    (void)Increment;
    if (!nt_level(NT_DISPATCH, "NT-036", 0x80, __func__) ||
        !nt_header_check(Event, EVENTS, __func__))
        return 0;
    before = signal_event(Event);
    nt_note_wait_owed(Wait, "NT-036", __func__);
    return before;
}

NT_EXPORT LONG NTAPI KePulseEvent(PRKEVENT Event, KPRIORITY Increment, BOOLEAN Wait)
{
    LONG before;

    NT_ENTER();
    (void)Increment;
    if (!nt_level(NT_DISPATCH, "NT-036", 0x80, __func__) ||
        !nt_header_check(Event, EVENTS, __func__))
        return 0;
    before = signal_event(Event);
    Event->Header.SignalState = 0;
    nt_note_wait_owed(Wait, "NT-036", __func__);
    return before;
}

static LONG clear_event(PRKEVENT event, const char *routine)
{
    LONG before;

    if (!nt_level(NT_DISPATCH, "NT-037", NT_NO_CODE, routine) ||
        !nt_header_check(event, EVENTS, routine))
        return 0;
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
        !nt_header_check(Event, EVENTS, __func__))
        return 0;
    return Event->Header.SignalState;
}

/* ---- events made by the system ---- */

struct event_object {
    KEVENT event; /* the body */
    struct nt_object object;
};

static void destroy_event(struct nt_object *object)
{
    util_free(CONTAINER(object, struct event_object, object));
}

/* An event with a handle; the handle keeps it. */
static PKEVENT create_event(EVENT_TYPE type, bool state, ACCESS_MASK access, bool kernel,
                            PHANDLE handle, const void *caller)
{
    struct event_object *event = util_zalloc(1, sizeof(*event));

    if (!event)
        return NULL;
    nt_header_init(&event->event.Header,
                   type == SynchronizationEvent ? NT_EVENT_SYNCHRONIZATION : NT_EVENT_NOTIFICATION,
                   sizeof(event->event), state);
    if (!nt_object_init(&event->object, NT_OBJECT_EVENT, event, destroy_event)) {
        util_free(event);
        return NULL;
    }
    *handle = nt_handle_create(&event->object, access, kernel, caller);
    nt_object_release(&event->object);
    return *handle ? &event->event : NULL;
}

NT_EXPORT PKEVENT NTAPI IoCreateNotificationEvent(PUNICODE_STRING EventName, PHANDLE EventHandle)
{
    NT_ENTER();
    (void)EventName; /* events are not shared by name */
    if (!nt_zw_level(__func__) || !EventHandle)
        return NULL;
    return create_event(NotificationEvent, true, EVENT_ALL_ACCESS, true, EventHandle, NT_CALLER());
}

NT_EXPORT PKEVENT NTAPI IoCreateSynchronizationEvent(PUNICODE_STRING EventName, PHANDLE EventHandle)
{
    NT_ENTER();
    (void)EventName;
    if (!nt_zw_level(__func__) || !EventHandle)
        return NULL;
    return create_event(SynchronizationEvent, true, EVENT_ALL_ACCESS, true, EventHandle,
                        NT_CALLER());
}

NT_EXPORT NTSTATUS NTAPI ZwCreateEvent(PHANDLE EventHandle, ACCESS_MASK DesiredAccess,
                                       POBJECT_ATTRIBUTES ObjectAttributes, EVENT_TYPE EventType,
                                       BOOLEAN InitialState)
{
    HANDLE handle;
    bool kernel;

    NT_ENTER();
    if (!nt_zw_level(__func__) || !EventHandle)
        return STATUS_INVALID_PARAMETER;
    if (EventType != NotificationEvent && EventType != SynchronizationEvent)
        return STATUS_INVALID_PARAMETER;
    kernel = nt_handle_kernel_wanted(ObjectAttributes, "NT-141", __func__);
    if (!create_event(EventType, InitialState != FALSE, DesiredAccess, kernel, &handle, NT_CALLER()))
        return STATUS_INSUFFICIENT_RESOURCES;
    *EventHandle = handle;
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI ZwSetEvent(HANDLE EventHandle, PLONG PreviousState)
{
    struct nt_object *object;
    LONG before;

    NT_ENTER();
    if (!nt_zw_level(__func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    object = nt_handle_object(EventHandle, NT_OBJECT_EVENT, NULL);
    if (!object)
        return STATUS_INVALID_HANDLE;
    before = signal_event(object->body);
    if (PreviousState)
        *PreviousState = before;
    return STATUS_SUCCESS;
}

NT_EXPORT NTSTATUS NTAPI ZwWaitForSingleObject(HANDLE Handle, BOOLEAN Alertable,
                                               PLARGE_INTEGER Timeout)
{
    struct nt_object *object;
    DISPATCHER_HEADER *header;
    NTSTATUS status;

    NT_ENTER();
    (void)Alertable;
    if (!nt_zw_level(__func__) || !nt_thread()->sim)
        return STATUS_INVALID_DEVICE_REQUEST;
    object = nt_handle_object(Handle, NT_OBJECT_ANY, NULL);
    if (!object || object->type == NT_OBJECT_KEY || object->type == NT_OBJECT_FILE)
        return STATUS_INVALID_HANDLE;
    header = object->body;
    nt_object_retain(object);
    status = nt_wait_objects(&header, 1, false, Timeout);
    nt_object_release(object);
    return status;
}

/* ---- semaphores ---- */

#define SEMAPHORE (1u << NT_SEMAPHORE)

NT_EXPORT VOID NTAPI KeInitializeSemaphore(PRKSEMAPHORE Semaphore, LONG Count, LONG Limit)
{
    NT_ENTER();
    if (!nt_storage_check(Semaphore, "KSEMAPHORE", __func__))
        return;
    if (Limit <= 0 || Count < 0 || Count > Limit) {
        VIOLATION("NT-070", "%s with count %d and limit %d", __func__, Count, Limit);
        return;
    }
    nt_header_init(&Semaphore->Header, NT_SEMAPHORE, sizeof(*Semaphore), Count);
    Semaphore->Limit = Limit;
}

NT_EXPORT LONG NTAPI KeReleaseSemaphore(PRKSEMAPHORE Semaphore, KPRIORITY Increment,
                                        LONG Adjustment, BOOLEAN Wait)
{
    LONG before, after;

    NT_ENTER();
    (void)Increment;
    if (!nt_level(NT_DISPATCH, "NT-069", NT_NO_CODE, __func__) ||
        !nt_header_check(Semaphore, SEMAPHORE, __func__))
        return 0;
    before = Semaphore->Header.SignalState;
    if (Adjustment <= 0) {
        VIOLATION("NT-069", "%s with an adjustment of %d", __func__, Adjustment);
        return before;
    }
    if (ckd_add(&after, before, Adjustment) || after > Semaphore->Limit) {
        nt_raise(STATUS_SEMAPHORE_LIMIT_EXCEEDED, "NT-069", __func__);
        return before;
    }
    Semaphore->Header.SignalState = after;
    nt_wake(&Semaphore->Header);
    nt_note_wait_owed(Wait, "NT-069", __func__);
    return before;
}

NT_EXPORT LONG NTAPI KeReadStateSemaphore(PRKSEMAPHORE Semaphore)
{
    NT_ENTER();
    if (!nt_header_check(Semaphore, SEMAPHORE, __func__))
        return 0;
    return Semaphore->Header.SignalState;
}
