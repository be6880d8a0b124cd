/* SPDX-License-Identifier: MIT */
/* Events that the system allocates and that are known by handles: the Zw and Io routines for
 * events. */
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/ke/enter.h"
#include "nt/ke/event.h"
#include "nt/ke/level.h"
#include "nt/ke/wait.h"
#include "nt/ob/handle.h"
#include "nt/ob/object.h"
#include "util/alloc.h"
#include "util/list.h"

struct event_object {
    KEVENT event; /* the body */
    struct nt_object object;
};

static void destroy_event(struct nt_object *object)
{
    util_free(CONTAINER(object, struct event_object, object));
}

/* Create an event with a handle, which keeps it alive. */
static PKEVENT create_event(EVENT_TYPE type, bool state, ACCESS_MASK access, bool kernel,
                            PHANDLE handle, const void *caller)
{
    struct event_object *event = util_zalloc(1, sizeof(*event));

    if (!event)
        return NULL;
    nt_event_init(&event->event, type, state);
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
    if (!nt_level_zw(__func__) || !EventHandle)
        return NULL;
    return create_event(NotificationEvent, true, EVENT_ALL_ACCESS, true, EventHandle, NT_CALLER());
}

NT_EXPORT PKEVENT NTAPI IoCreateSynchronizationEvent(PUNICODE_STRING EventName, PHANDLE EventHandle)
{
    NT_ENTER();
    (void)EventName;
    if (!nt_level_zw(__func__) || !EventHandle)
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
    if (!nt_level_zw(__func__) || !EventHandle)
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
    if (!nt_level_zw(__func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    object = nt_handle_object(EventHandle, NT_OBJECT_EVENT, NULL);
    if (!object)
        return STATUS_INVALID_HANDLE;
    before = nt_event_signal(object->body);
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
    if (!nt_level_zw(__func__) || !nt_thread()->sim)
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
