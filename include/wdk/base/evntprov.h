/* SPDX-License-Identifier: MIT */
/* The event descriptor of Event Tracing for Windows. */
#ifndef DXGK_WDK_EVNTPROV_H
#define DXGK_WDK_EVNTPROV_H

#include <ntdef.h>

typedef struct _EVENT_DESCRIPTOR {
    USHORT Id;
    UCHAR Version;
    UCHAR Channel;
    UCHAR Level;
    UCHAR Opcode;
    USHORT Task;
    ULONGLONG Keyword;
} EVENT_DESCRIPTOR, *PEVENT_DESCRIPTOR;
typedef const EVENT_DESCRIPTOR *PCEVENT_DESCRIPTOR;

#endif /* DXGK_WDK_EVNTPROV_H */
