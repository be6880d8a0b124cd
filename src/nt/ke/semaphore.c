/* SPDX-License-Identifier: MIT */
/* Semaphores. */
#include "nt/base/export.h"
#include "nt/base/memory.h"
#include "nt/ke/dispatcher.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/owed_wait.h"
#include "nt/ke/raise.h"
#include "nt/ke/wait.h"
#include "util/checked.h"
#include "verify/verify.h"
#include "sim/order.h"

#define SEMAPHORE (1u << NT_SEMAPHORE)

NT_EXPORT VOID NTAPI KeInitializeSemaphore(PRKSEMAPHORE Semaphore, LONG Count, LONG Limit)
{
    NT_ENTER();
    if (!nt_memory_check(Semaphore, "KSEMAPHORE", __func__))
        return;
    if (Limit <= 0 || Count < 0 || Count > Limit) {
        VIOLATION("NT-070", "%s with count %d and limit %d", __func__, Count, Limit);
        return;
    }
    nt_dispatcher_init(&Semaphore->Header, NT_SEMAPHORE, sizeof(*Semaphore), Count);
    Semaphore->Limit = Limit;
}

NT_EXPORT LONG NTAPI KeReleaseSemaphore(PRKSEMAPHORE Semaphore, KPRIORITY Increment,
                                        LONG Adjustment, BOOLEAN Wait)
{
    LONG before, after;

    NT_ENTER();
    (void)Increment;
    if (!nt_level(NT_DISPATCH, "NT-069", NT_NO_CODE, __func__) ||
        !nt_dispatcher_check(Semaphore, SEMAPHORE, __func__))
        return 0;
    before = Semaphore->Header.SignalState;
    if (Adjustment <= 0) {
        VIOLATION("NT-069", "%s with an adjustment of %d", __func__, Adjustment);
        return before;
    }
    if (ckd_add(&after, before, Adjustment) || after > Semaphore->Limit) {
        nt_raise(STATUS_SEMAPHORE_LIMIT_EXCEEDED, "NT-069", __func__);
        return before;
    }
    Semaphore->Header.SignalState = after;
    nt_wait_wake(&Semaphore->Header);
    nt_owed_wait_announce(Wait, "NT-069", __func__);
    return before;
}

NT_EXPORT LONG NTAPI KeReadStateSemaphore(PRKSEMAPHORE Semaphore)
{
    NT_ENTER();
    if (!nt_dispatcher_check(Semaphore, SEMAPHORE, __func__))
        return 0;
    sim_order_acquire(&Semaphore->Header);
    return Semaphore->Header.SignalState;
}
