/* SPDX-License-Identifier: MIT */
/* Setting the clock, and adjusting all that waits for a system time. */
#include "nt/ke/system_time.h"
#include "nt/ke/time.h"
#include "nt/ke/timer.h"
#include "nt/ke/wait.h"

void nt_system_time_set(uint64_t time)
{
    nt_time_move(time);
    nt_timer_clock_changed();
    nt_wait_clock_changed();
}
