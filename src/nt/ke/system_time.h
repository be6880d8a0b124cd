/* SPDX-License-Identifier: MIT */
/*
 * Setting the clock.
 */
#ifndef DXGK_NT_SYSTEM_TIME_H
#define DXGK_NT_SYSTEM_TIME_H

#include <stdint.h>

/* Set the system time as a user would (100 ns units since 1601): absolute time-outs are adjusted,
 * interrupt time is not. */
void nt_system_time_set(uint64_t time);

#endif
