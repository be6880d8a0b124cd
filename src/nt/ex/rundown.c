/* SPDX-License-Identifier: MIT */
/* Rundown protection: a count of references in steps of two; bit 0 says that rundown has begun. */
#include "nt/base/export.h"
#include "nt/base/memory.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/wait.h"
#include "sim/order.h"
#include "verify/verify.h"

/* The name of what orders the beginning and the end of rundown with those that ask for protection;
 * that of the reference itself orders those that had it with who waits for them. */
#define STATE(reference) ((const volatile char *)(reference) + 1)

NT_EXPORT VOID NTAPI ExInitializeRundownProtection(PEX_RUNDOWN_REF RunRef)
{
    NT_ENTER();
    if (!nt_memory_check(RunRef, "rundown reference", __func__))
        return;
    RunRef->Count = 0;
    sim_order_forget(RunRef);
    sim_order_release(STATE(RunRef));
}

NT_EXPORT VOID NTAPI ExReInitializeRundownProtection(PEX_RUNDOWN_REF RunRef)
{
    NT_ENTER();
    if (!nt_memory_check(RunRef, "rundown reference", __func__))
        return;
    if (RunRef->Count != EX_RUNDOWN_ACTIVE)
        VIOLATION("NT-072", "%s before rundown was completed", __func__);
    RunRef->Count = 0;
    sim_order_release(STATE(RunRef));
}

NT_EXPORT BOOLEAN NTAPI ExAcquireRundownProtection(PEX_RUNDOWN_REF RunRef)
{
    NT_ENTER();
    if (!nt_memory_check(RunRef, "rundown reference", __func__))
        return FALSE;
    sim_order_acquire(STATE(RunRef));
    if (RunRef->Count & EX_RUNDOWN_ACTIVE)
        return FALSE;
    RunRef->Count += EX_RUNDOWN_COUNT_INC;
    return TRUE;
}

NT_EXPORT VOID NTAPI ExReleaseRundownProtection(PEX_RUNDOWN_REF RunRef)
{
    NT_ENTER();
    if (!nt_memory_check(RunRef, "rundown reference", __func__))
        return;
    if (RunRef->Count < EX_RUNDOWN_COUNT_INC) {
        VIOLATION("NT-072", "%s without a protection to release", __func__);
        return;
    }
    sim_order_release(RunRef);
    RunRef->Count -= EX_RUNDOWN_COUNT_INC;
    if (RunRef->Count == EX_RUNDOWN_ACTIVE)
        nt_wait_wake_address(RunRef, UINT32_MAX);
}

NT_EXPORT VOID NTAPI ExWaitForRundownProtectionRelease(PEX_RUNDOWN_REF RunRef)
{
    NT_ENTER();
    if (!nt_level(NT_APC, "NT-072", NT_NO_CODE, __func__) ||
        !nt_memory_check(RunRef, "rundown reference", __func__))
        return;
    sim_order_release(STATE(RunRef));
    RunRef->Count |= EX_RUNDOWN_ACTIVE;
    while (RunRef->Count != EX_RUNDOWN_ACTIVE)
        nt_wait_address(RunRef, NULL);
    sim_order_acquire(RunRef);
}

NT_EXPORT VOID NTAPI ExRundownCompleted(PEX_RUNDOWN_REF RunRef)
{
    NT_ENTER();
    if (nt_memory_check(RunRef, "rundown reference", __func__))
        RunRef->Count = EX_RUNDOWN_ACTIVE;
}
