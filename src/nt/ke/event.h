/* SPDX-License-Identifier: MIT */
/*
 * Events, for files that create their own.
 */
#ifndef DXGK_NT_EVENT_H
#define DXGK_NT_EVENT_H

#include <stdbool.h>

#include <ntddk.h>

void nt_event_init(PRKEVENT event, EVENT_TYPE type, bool state);
/* Returns the previous state. */
LONG nt_event_signal(PRKEVENT event);

#endif
