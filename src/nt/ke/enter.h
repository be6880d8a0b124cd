/* SPDX-License-Identifier: MIT */
/*
 * The first statement of every exported routine, which is written so:
 *
 *     NT_EXPORT LONG NTAPI KeSetEvent(...)
 *     {
 *         NT_ENTER();                                              a point: others may run here
 *         if (!nt_level(NT_DISPATCH, "NT-036", 0x80, __func__))    its IRQL limit
 *             return 0;
 *         ... arguments checked, then the work, without further points until the end
 *     }
 */
#ifndef DXGK_NT_ENTER_H
#define DXGK_NT_ENTER_H

#include "nt/base/state.h"
#include "nt/ke/call_guard.h"
#include "nt/ke/owed_wait.h"
#include "sim/point.h"

#define NT_ENTER()                 \
    do {                           \
        nt_call_entered(__func__); \
        NT_ENTER_SHORT();          \
    } while (0)

/* For routines that take less time than the check of the direction flag, and copy nothing. */
#define NT_ENTER_SHORT()                  \
    do {                                  \
        sim_point();                      \
        if (nt_state()->waits_owed != 0)  \
            nt_owed_wait_check(__func__); \
    } while (0)

#endif
