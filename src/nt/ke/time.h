/* SPDX-License-Identifier: MIT */
/*
 * The clocks: virtual time in the units of Windows.
 */
#ifndef DXGK_NT_TIME_H
#define DXGK_NT_TIME_H

#include <stdint.h>

#include <ntddk.h>

#define NT_TICK_100NS 156250u /* one clock tick, 15.625 ms */

/* The clocks as the last clock tick left them, in their Windows units. */
struct nt_clock {
    uint64_t interrupt_time, system_time; /* 100 ns; since power on, since 1601 */
    uint64_t ticks;
};
void nt_clock(struct nt_clock *clock);
/* The performance counter at this moment, at 10 MHz. */
uint64_t nt_performance_counter(void);
/* The system time at this moment, 100 ns since 1601. */
uint64_t nt_time_system(void);
/* Virtual ns at which a Windows time-out ends. */
uint64_t nt_time_deadline(const LARGE_INTEGER *timeout);
/* Move the system time alone; nt_system_time_set does it for all who wait. */
void nt_time_move(uint64_t time);

#endif
