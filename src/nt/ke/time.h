/* SPDX-License-Identifier: MIT */
/*
 * The clocks: virtual time in Windows units.
 */
#ifndef DXGK_NT_TIME_H
#define DXGK_NT_TIME_H

#include <stdint.h>

#include <ntddk.h>

#define NT_TICK_100NS        156250u /* one clock tick, 15.625 ms */
#define NT_FINEST_TICK_100NS 5000u   /* between interrupts of the clock, at a driver's request */

/* The clocks as of the last clock tick, in Windows units. */
struct nt_clock {
    uint64_t interrupt_time, system_time; /* 100 ns units, since power on and since 1601 */
    uint64_t ticks;
};
void nt_clock(struct nt_clock *clock);
/* The current system time, 100 ns units since 1601. */
uint64_t nt_time_system(void);
/* Virtual time (ns) at which a Windows time-out expires. */
uint64_t nt_time_deadline(const LARGE_INTEGER *timeout);
/* 100 ns units between two interrupts of the clock: NT_TICK_100NS, or less while a driver wants it
 * (NT-178). The count of ticks does not depend on it. */
uint32_t nt_time_resolution(void);
void nt_time_set_resolution(uint32_t resolution);
/* Change only the system time; nt_system_time_set also adjusts what waits for it. */
void nt_time_move(uint64_t time);

#endif
