/* SPDX-License-Identifier: MIT */
/* Events that clients hand in (hAsyncEvent, CpuEventHandle, CPUNotification.Event): referenced
 * until they are set. */
#ifndef DXGK_KMT_EVENT_H
#define DXGK_KMT_EVENT_H

#include <ntddk.h>

struct kmt_event;

/* The event behind a handle of the calling process; NT statuses for a bad one (KMT-020). */
NTSTATUS kmt_event_open(HANDLE handle, struct kmt_event **event);
void kmt_event_close(struct kmt_event *event);
void *kmt_event_object(const struct kmt_event *event); /* KEVENT */
/* Set it, and close: for operations that set it exactly once. DISPATCH_LEVEL or below. */
void kmt_event_finish(void *event, NTSTATUS status);
/* Set it; for notifications that may come again. */
void kmt_event_set(void *event);

#endif
