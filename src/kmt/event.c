/* SPDX-License-Identifier: MIT */
#include <ntddk.h>

#include "kmt/event.h"
#include "nt/ob/user_handle.h"
#include "util/alloc.h"
#include "verify/refusal.h"

struct kmt_event {
    void *object;
};

NTSTATUS kmt_event_open(HANDLE handle, struct kmt_event **out)
{
    struct kmt_event *event = util_zalloc(1, sizeof(*event));
    NTSTATUS status;

    if (!event)
        return STATUS_NO_MEMORY;
    status = nt_user_handle_open(handle, NT_USER_EVENT, EVENT_MODIFY_STATE, &event->object);
    if (!NT_SUCCESS(status)) {
        util_free(event);
        return refuse(status, NULL,
                      "handle %p is not that of an event of this process that may be set", handle);
    }
    *out = event;
    return STATUS_SUCCESS;
}

void kmt_event_close(struct kmt_event *event)
{
    if (!event)
        return;
    nt_user_handle_close(event->object);
    util_free(event);
}

void *kmt_event_object(const struct kmt_event *event)
{
    return event->object;
}

void kmt_event_set(void *event)
{
    KeSetEvent(((struct kmt_event *)event)->object, 0, FALSE);
}

void kmt_event_finish(void *event, NTSTATUS status)
{
    (void)status; /* set also when the device is lost (KMT-393) */
    kmt_event_set(event);
    kmt_event_close(event);
}
