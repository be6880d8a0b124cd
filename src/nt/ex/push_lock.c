/* SPDX-License-Identifier: MIT */
/*
 * Push locks. The word is 0 when free; while held exclusively, the owner's KTHREAD (aligned to 16
 * bytes) with bit 0 set; while shared, the number of readers times 16 with bit 1 set. Waiters wait
 * at the word's address.
 */
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/memory.h"
#include "nt/base/nt_report.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/wait.h"
#include "sim/irql.h"
#include "sim/order.h"
#include "verify/verify.h"

#define EXCLUSIVE ((ULONG_PTR)1)
#define SHARED    ((ULONG_PTR)2)
#define READER    ((ULONG_PTR)16)
/* What readers have done, for the detector of races. */
#define READERS(lock) ((const volatile char *)(lock) + 1)

/* Normal kernel APCs must be disabled, or the owner could be suspended while it holds the lock. */
static bool check(PEX_PUSH_LOCK lock, uint32_t code, const char *routine)
{
    const struct _KTHREAD *thread = nt_thread();

    if (!nt_level(NT_APC, "NT-072", code, routine) ||
        !nt_memory_check(lock, "push lock", routine) || !thread->sim)
        return false;
    if (sim_irql() < SIM_IRQL_APC && thread->kernel_apc_disable == 0 &&
        thread->special_apc_disable == 0)
        NT_VERIFIER("NT-072", code, (uintptr_t)lock, 0, 0, "%s outside of a critical region",
                    routine);
    return true;
}

static ULONG_PTR exclusive_word(void)
{
    return (ULONG_PTR)(uintptr_t)nt_thread() | EXCLUSIVE;
}

NT_EXPORT VOID NTAPI ExInitializePushLock(PEX_PUSH_LOCK PushLock)
{
    NT_ENTER();
    if (nt_memory_check(PushLock, "push lock", __func__))
        *PushLock = 0;
}

NT_EXPORT VOID NTAPI ExAcquirePushLockExclusiveEx(PEX_PUSH_LOCK PushLock, ULONG Flags)
{
    NT_ENTER();
    (void)Flags;
    if (!check(PushLock, 0xEA, __func__))
        return;
    if (*PushLock == exclusive_word()) {
        VIOLATION("NT-072", "%s of a push lock that the same thread owns already", __func__);
        return;
    }
    while (*PushLock != 0)
        nt_wait_address(PushLock, NULL);
    sim_order_acquire(PushLock);
    sim_order_acquire(READERS(PushLock));
    *PushLock = exclusive_word();
    nt_thread()->sleeping_locks++;
}

NT_EXPORT VOID NTAPI ExAcquirePushLockSharedEx(PEX_PUSH_LOCK PushLock, ULONG Flags)
{
    NT_ENTER();
    (void)Flags;
    if (!check(PushLock, 0xEA, __func__))
        return;
    if (*PushLock == exclusive_word()) {
        VIOLATION("NT-072", "%s of a push lock that the same thread owns already", __func__);
        return;
    }
    while (*PushLock & EXCLUSIVE)
        nt_wait_address(PushLock, NULL);
    sim_order_acquire(PushLock);
    *PushLock = (*PushLock | SHARED) + READER;
    nt_thread()->sleeping_locks++;
}

NT_EXPORT VOID NTAPI ExReleasePushLockExclusiveEx(PEX_PUSH_LOCK PushLock, ULONG Flags)
{
    NT_ENTER();
    (void)Flags;
    if (!check(PushLock, 0xEB, __func__))
        return;
    if (*PushLock != exclusive_word()) {
        VIOLATION("NT-072", "%s of a push lock that the thread does not own", __func__);
        return;
    }
    sim_order_release(PushLock);
    *PushLock = 0;
    nt_thread()->sleeping_locks--;
    nt_wait_wake_address(PushLock, UINT32_MAX);
}

NT_EXPORT VOID NTAPI ExReleasePushLockSharedEx(PEX_PUSH_LOCK PushLock, ULONG Flags)
{
    NT_ENTER();
    (void)Flags;
    if (!check(PushLock, 0xEB, __func__))
        return;
    if (!(*PushLock & SHARED)) {
        VIOLATION("NT-072", "%s of a push lock that is not held shared", __func__);
        return;
    }
    sim_order_release(READERS(PushLock));
    *PushLock -= READER;
    nt_thread()->sleeping_locks--;
    if (*PushLock == SHARED) { /* the last one */
        *PushLock = 0;
        nt_wait_wake_address(PushLock, UINT32_MAX);
    }
}
