/* SPDX-License-Identifier: MIT */
/* What all forms of a trace say of a recording of our own, and of its events. */
#ifndef DXGK_WINTRACE_RECORDED_H
#define DXGK_WINTRACE_RECORDED_H

#include <stdint.h>

#include "wintrace/wintrace.h"

#define PROVIDER_VERSION 17134u /* the build of Windows that has the events so: 10.0, 1803 */
#define SYSTEM_VERSION   0x0501000Au
#define TIMER_RESOLUTION 156250u /* 100 ns units */
#define SEQUENTIAL_FILE  1u      /* LogFileMode */
#define CPU_MHZ          1000u
#define CHANNEL          0x11u /* Performance */
#define CHANNEL_KEYWORD  (UINT64_C(1) << 62)

/* The number behind its name. */
static inline uint8_t opcode_of(const struct wintrace_kind *kind)
{
    switch (kind->opcode[0]) {
    case 'S':
        return kind->opcode[2] == 'a' ? 1 : 2; /* Start, Stop */
    case 'D':
        return 3; /* DC_Start */
    default:
        return 0;
    }
}

#endif
