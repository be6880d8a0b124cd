/* SPDX-License-Identifier: MIT */
/*
 * Timers of drivers, for DPCs and clocks.
 */
#ifndef DXGK_NT_TIMER_H
#define DXGK_NT_TIMER_H

#include <stdbool.h>

#include <ntddk.h>

/* Whether a set timer refers to the DPC. */
bool nt_timer_uses_dpc(const KDPC *dpc);
/* The system time was set: adjust absolute due times. */
void nt_timer_clock_changed(void);

#endif
