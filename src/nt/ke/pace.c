/* SPDX-License-Identifier: MIT */
#include "nt/ke/pace.h"
#include "nt/base/current.h"
#include "nt/base/kthread.h"
#include "nt/ke/time.h"
#include "sim/sim.h"

void nt_pace(uint64_t from_ns, uint64_t period_ns)
{
    struct _KTHREAD *thread = nt_thread();

    thread->pace_from = from_ns;
    thread->pace_period = period_ns;
}

bool nt_paced(const LARGE_INTEGER *interval, LARGE_INTEGER *paced)
{
    const struct _KTHREAD *thread = nt_thread();
    const uint64_t now = sim_now();
    uint64_t left;

    if (!thread->pace_period || nt_time_deadline(interval) > now)
        return false;
    left = thread->pace_period - (now - thread->pace_from) % thread->pace_period;
    paced->QuadPart = -(LONGLONG)((left + 99) / 100);
    return true;
}
