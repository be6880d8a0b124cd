/* SPDX-License-Identifier: MIT */
/* Threads that have announced a wait as their very next call (NT-036), until that call. */
#include "nt/ke/owed_wait.h"
#include "nt/base/current.h"
#include "nt/base/state.h"
#include "nt/ke/level.h"
#include "sim/irql.h"
#include "verify/verify.h"

void nt_owed_wait_announce(BOOLEAN wait, const char *rule, const char *routine)
{
    struct _KTHREAD *thread = nt_thread();

    if (!wait)
        return;
    nt_level(NT_APC, rule, NT_NO_CODE, routine);
    if (sim_irql() <= SIM_IRQL_APC && !thread->must_wait) {
        thread->must_wait = true;
        nt_state()->waits_owed++;
    }
}

void nt_owed_wait_done(void)
{
    struct _KTHREAD *thread = nt_thread();

    if (!thread->must_wait)
        return;
    thread->must_wait = false;
    nt_state()->waits_owed--;
}

void nt_owed_wait_check(const char *routine)
{
    struct _KTHREAD *thread = nt_thread();

    if (!thread->must_wait || sim_irql() > SIM_IRQL_APC)
        return;
    thread->must_wait = false;
    nt_state()->waits_owed--;
    VIOLATION("NT-036",
              "%s after KeSetEvent with Wait TRUE, which announces a KeWaitXxx as next call",
              routine);
}
