/* SPDX-License-Identifier: MIT */
/*
 * Events, for the files that make some of their own.
 */
#ifndef DXGK_NT_EVENT_H
#define DXGK_NT_EVENT_H

#include <stdbool.h>

#include <ntddk.h>

void nt_event_init(PRKEVENT event, EVENT_TYPE type, bool state);
/* Returns the state before. */
LONG nt_event_signal(PRKEVENT event);

#endif
