/* SPDX-License-Identifier: MIT */
/*
 * Spin locks of all kinds.
 *
 * The lock word is zero when the lock is free. While the lock is held, the word shows the processor
 * and the mode, for people who inspect memory; the host itself uses its list of the locks that each
 * processor holds, with their saved IRQLs. A free lock that ExInterlockedXxx routines have used is
 * marked (spinlock.h); any other nonzero word of a lock that no processor holds was never
 * initialized, or was overwritten.
 */
#include "nt/ke/spinlock.h"
#include "nt/base/export.h"
#include "nt/base/kthread.h"
#include "nt/base/memory.h"
#include "nt/base/nt_report.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/lock_order.h"
#include "nt/ke/processor.h"
#include "nt/ke/spin_held.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "sim/point.h"
#include "verify/verify.h"

#define SPIN_LOCK_ALREADY_OWNED 0xFu
#define SPIN_LOCK_NOT_OWNED     0x10u
#define HELD                    0x5C000000u /* plus the processor's number */
#define WRITER                  ((LONG)0x80000000u)

static bool is_queued(enum nt_lock_kind kind)
{
    return kind == NT_LOCK_QUEUED || kind == NT_LOCK_QUEUED_AT_DPC;
}

/* ---- taking and releasing ---- */

static void take(volatile ULONG_PTR *lock, enum nt_lock_kind kind, uint8_t old_irql)
{
    const ULONG_PTR mark = *lock; /* 0, or what ExInterlockedXxx routines left there */

    nt_lock_order_acquire(lock, NULL);
    *lock = HELD | sim_current->processor;
    nt_held_add(lock, kind, old_irql, mark);
}

/* Report a nonzero word of a lock that no processor holds. */
static void check_word(volatile ULONG_PTR *lock, const char *routine)
{
    if (nt_state()->lock_order)
        NT_VERIFIER("NT-059", 0x1002, (uintptr_t)lock, 0, 0, "%s of an uninitialised lock", routine);
    VIOLATION("NT-005", "%s of a spin lock that was never initialised, or was overwritten", routine);
    *lock = 0;
}

/* Check that the address may be a lock, and that this processor does not hold it. */
static bool may_acquire(volatile ULONG_PTR *lock, enum nt_lock_kind kind, const char *routine)
{
    const struct nt_held_lock *holder;

    if (!nt_memory_check((const void *)lock, "spin lock", routine))
        return false;
    if (sim_irql() > SIM_IRQL_DISPATCH)
        VIOLATION("NT-055", "%s at %s", routine, nt_irql_name(sim_irql()));
    if (nt_held_find(nt_processor(), lock)) {
        verify_fatal("NT-052", SPIN_LOCK_ALREADY_OWNED, (uintptr_t)lock, 0, 0, 0,
                     "%s of a lock that the same processor holds already", routine);
        return false;
    }
    if (nt_spin_lock_is_free(*lock)) {
        nt_spin_lock_check_mixed(lock, routine);
        return true;
    }
    holder = nt_held_find_any(lock);
    if (!holder)
        check_word(lock, routine);
    else if (is_queued(holder->kind) != is_queued(kind))
        NT_VERIFIER("NT-054", 0x1008, (uintptr_t)lock, holder->kind, kind,
                    "%s of a lock that is in use with the other kind of spin lock routines",
                    routine);
    return true;
}

static void acquire(volatile ULONG_PTR *lock, enum nt_lock_kind kind, uint8_t old_irql,
                    const char *routine)
{
    if (!nt_spin_lock_is_free(*lock))
        nt_lock_order_check(lock, NULL);
    while (!nt_spin_lock_is_free(*lock))
        if (!nt_spin_wait(lock, routine))
            return;
    take(lock, kind, old_irql);
}

/* Raise to DISPATCH_LEVEL and acquire; returns the previous IRQL. */
static uint8_t raise_and_acquire(volatile ULONG_PTR *lock, enum nt_lock_kind kind,
                                 const char *routine)
{
    uint8_t before = sim_irql();

    if (before < SIM_IRQL_DISPATCH)
        sim_raise_irql(SIM_IRQL_DISPATCH);
    if (may_acquire(lock, kind, routine))
        acquire(lock, kind, before, routine);
    return before;
}

/* Check that the caller has raised the IRQL itself. */
static bool level_raised(const char *routine)
{
    if (sim_irql() >= SIM_IRQL_DISPATCH)
        return true;
    NT_VERIFIER("NT-053", 0x40, sim_irql(), 0, 0, "%s at %s", routine, nt_irql_name(sim_irql()));
    return false;
}

static void acquire_at_dpc(volatile ULONG_PTR *lock, enum nt_lock_kind kind, const char *routine)
{
    level_raised(routine);
    if (may_acquire(lock, kind, routine))
        acquire(lock, kind, sim_irql(), routine);
}

/* The record of the lock, if this processor holds it in a mode that `wanted` may release. */
static struct nt_held_lock *may_release(volatile ULONG_PTR *lock, enum nt_lock_kind wanted,
                                        const char *routine)
{
    struct nt_held_lock *held = lock ? nt_held_find(nt_processor(), lock) : NULL;

    if (!held) {
        if (lock && nt_held_find_any(lock))
            NT_VERIFIER("NT-059", 0x1004, (uintptr_t)lock, 0, 0,
                        "%s of a lock that another processor holds", routine);
        else if (nt_state()->lock_order)
            NT_VERIFIER("NT-059", 0x1007, (uintptr_t)lock, 0, 0, "%s of a lock that is not held",
                        routine);
        else
            verify_fatal("NT-052", SPIN_LOCK_NOT_OWNED, (uintptr_t)lock, 0, 0, 0,
                         "%s of a lock that is not held", routine);
        return NULL;
    }
    if (held->kind != wanted)
        NT_VERIFIER("NT-054", 0x1009, (uintptr_t)lock, held->kind, wanted,
                    "%s of a lock that was acquired in another way", routine);
    return held;
}

static bool release_at_dpc(volatile ULONG_PTR *lock, enum nt_lock_kind kind, uint8_t *old_irql,
                           const char *routine)
{
    struct nt_held_lock *held = may_release(lock, kind, routine);

    if (!held)
        return false;
    if (old_irql)
        *old_irql = held->old_irql;
    *lock = held->mark;
    nt_held_remove(held);
    return true;
}

/* Release the lock and return to the IRQL of its acquisition. */
static void release_and_lower(volatile ULONG_PTR *lock, enum nt_lock_kind kind, uint8_t new_irql,
                              const char *rule, const char *routine)
{
    uint8_t irql = sim_irql();
    uint8_t old_irql;

    if (irql != SIM_IRQL_DISPATCH)
        NT_VERIFIER(rule, 0x32, irql, (uintptr_t)lock, 0, "%s at %s", routine, nt_irql_name(irql));
    if (!release_at_dpc(lock, kind, &old_irql, routine))
        return;
    if (new_irql != old_irql)
        VIOLATION("NT-051", "%s with %s, the lock was acquired at %s", routine,
                  nt_irql_name(new_irql), nt_irql_name(old_irql));
    if (old_irql < sim_irql())
        sim_lower_irql(old_irql);
}

/* ---- plain ---- */

/* Not a point: in a Windows image it is inline, and both kinds of image should have the same
 * points. */
NT_EXPORT VOID NTAPI KeInitializeSpinLock(PKSPIN_LOCK SpinLock)
{
    if (!nt_memory_check(SpinLock, "spin lock", __func__))
        return;
    if (nt_held_find_any(SpinLock)) {
        VIOLATION("NT-048", "%s of a lock that is held", __func__);
        return;
    }
    *SpinLock = 0;
    sim_order_forget(SpinLock);
}

NT_EXPORT KIRQL NTAPI KeAcquireSpinLockRaiseToDpc(PKSPIN_LOCK SpinLock)
{
    NT_ENTER_SHORT();
    return raise_and_acquire(SpinLock, NT_LOCK_PLAIN, "KeAcquireSpinLock");
}

NT_EXPORT VOID NTAPI KeReleaseSpinLock(PKSPIN_LOCK SpinLock, KIRQL NewIrql)
{
    NT_ENTER_SHORT();
    release_and_lower(SpinLock, NT_LOCK_PLAIN, NewIrql, "NT-050", __func__);
}

NT_EXPORT VOID NTAPI KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock)
{
    NT_ENTER_SHORT();
    acquire_at_dpc(SpinLock, NT_LOCK_AT_DPC, __func__);
}

NT_EXPORT VOID NTAPI KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK SpinLock)
{
    NT_ENTER_SHORT();
    release_at_dpc(SpinLock, NT_LOCK_AT_DPC, NULL, __func__);
}

NT_EXPORT BOOLEAN NTAPI KeTryToAcquireSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock)
{
    NT_ENTER_SHORT();
    level_raised(__func__);
    if (!may_acquire(SpinLock, NT_LOCK_AT_DPC, __func__) || !nt_spin_lock_is_free(*SpinLock))
        return FALSE;
    take(SpinLock, NT_LOCK_AT_DPC, sim_irql());
    return TRUE;
}

NT_EXPORT BOOLEAN NTAPI KeTestSpinLock(PKSPIN_LOCK SpinLock)
{
    NT_ENTER_SHORT();
    return nt_memory_check(SpinLock, "spin lock", __func__) && nt_spin_lock_is_free(*SpinLock);
}

/* ---- queued: waiters are served in order of arrival ---- */

/* A processor that waits for a queued lock has a ticket; the lowest ticket is served first. */
static bool is_next(volatile const ULONG_PTR *lock, uint64_t ticket)
{
    struct nt *nt = nt_state();

    for (unsigned i = 0; i < sim_current->processors; i++) {
        if (nt->processors->each[i].queued_for == lock && nt->processors->each[i].ticket < ticket)
            return false;
    }
    return true;
}

static void acquire_queued(volatile ULONG_PTR *lock, enum nt_lock_kind kind, uint8_t old_irql,
                           const char *routine)
{
    struct nt_processor *processor = nt_processor();

    if (!may_acquire(lock, kind, routine))
        return;
    processor->queued_for = lock;
    processor->ticket = ++nt_state()->processors->tickets;
    while (!nt_spin_lock_is_free(*lock) || !is_next(lock, processor->ticket))
        if (!nt_spin_wait(lock, routine)) {
            processor->queued_for = NULL;
            return;
        }
    processor->queued_for = NULL;
    take(lock, kind, old_irql);
}

/* The handle is the driver's; only the lock that it names is used. */
static void fill_handle(PKLOCK_QUEUE_HANDLE handle, PKSPIN_LOCK lock, uint8_t old_irql)
{
    handle->LockQueue.Next = NULL;
    handle->LockQueue.Lock = lock;
    handle->OldIrql = old_irql;
}

NT_EXPORT VOID NTAPI KeAcquireInStackQueuedSpinLock(PKSPIN_LOCK SpinLock,
                                                    PKLOCK_QUEUE_HANDLE LockHandle)
{
    uint8_t before;

    NT_ENTER_SHORT();
    before = sim_irql();
    if (before < SIM_IRQL_DISPATCH)
        sim_raise_irql(SIM_IRQL_DISPATCH);
    fill_handle(LockHandle, SpinLock, before);
    acquire_queued(SpinLock, NT_LOCK_QUEUED, before, __func__);
}

NT_EXPORT VOID NTAPI KeReleaseInStackQueuedSpinLock(PKLOCK_QUEUE_HANDLE LockHandle)
{
    NT_ENTER_SHORT();
    release_and_lower(LockHandle->LockQueue.Lock, NT_LOCK_QUEUED, LockHandle->OldIrql, "NT-056",
                      __func__);
}

NT_EXPORT VOID NTAPI KeAcquireInStackQueuedSpinLockAtDpcLevel(PKSPIN_LOCK SpinLock,
                                                              PKLOCK_QUEUE_HANDLE LockHandle)
{
    NT_ENTER_SHORT();
    level_raised(__func__);
    fill_handle(LockHandle, SpinLock, sim_irql());
    acquire_queued(SpinLock, NT_LOCK_QUEUED_AT_DPC, sim_irql(), __func__);
}

NT_EXPORT VOID NTAPI KeReleaseInStackQueuedSpinLockFromDpcLevel(PKLOCK_QUEUE_HANDLE LockHandle)
{
    NT_ENTER_SHORT();
    release_at_dpc(LockHandle->LockQueue.Lock, NT_LOCK_QUEUED_AT_DPC, NULL, __func__);
}

/* ---- readers and writers ---- */

/* EX_SPIN_LOCK is 32 bits wide; the word is used with that width. */
static uint8_t acquire_rw(volatile LONG *lock, enum nt_lock_kind kind, bool raise,
                          const char *routine)
{
    uint8_t before = sim_irql();
    struct nt_processor *processor;

    if (raise && before < SIM_IRQL_DISPATCH)
        sim_raise_irql(SIM_IRQL_DISPATCH);
    else if (!raise)
        level_raised(routine);
    if (!nt_memory_check((const void *)lock, "spin lock", routine))
        return before;
    processor = nt_processor();
    if (nt_held_find(processor, lock)) {
        verify_fatal("NT-058", SPIN_LOCK_ALREADY_OWNED, (uintptr_t)lock, 0, 0, 0,
                     "%s of a lock that the same processor holds already", routine);
        return before;
    }
    while (kind == NT_LOCK_SHARED ? *lock < 0 : *lock != 0)
        if (!nt_spin_wait(lock, routine))
            return before;
    *lock = kind == NT_LOCK_SHARED ? *lock + 1 : WRITER;
    nt_held_add((volatile ULONG_PTR *)(volatile void *)lock, kind, before, 0);
    return before;
}

static bool release_rw(volatile LONG *lock, enum nt_lock_kind kind, const char *routine)
{
    struct nt_held_lock *held = may_release((volatile ULONG_PTR *)(volatile void *)lock, kind,
                                            routine);

    if (!held)
        return false;
    *lock = kind == NT_LOCK_SHARED ? *lock - 1 : 0;
    nt_held_remove(held);
    return true;
}

NT_EXPORT KIRQL NTAPI ExAcquireSpinLockShared(PEX_SPIN_LOCK SpinLock)
{
    NT_ENTER_SHORT();
    return acquire_rw(SpinLock, NT_LOCK_SHARED, true, __func__);
}

NT_EXPORT KIRQL NTAPI ExAcquireSpinLockExclusive(PEX_SPIN_LOCK SpinLock)
{
    NT_ENTER_SHORT();
    return acquire_rw(SpinLock, NT_LOCK_EXCLUSIVE, true, __func__);
}

NT_EXPORT VOID NTAPI ExAcquireSpinLockSharedAtDpcLevel(PEX_SPIN_LOCK SpinLock)
{
    NT_ENTER_SHORT();
    acquire_rw(SpinLock, NT_LOCK_SHARED, false, __func__);
}

NT_EXPORT VOID NTAPI ExAcquireSpinLockExclusiveAtDpcLevel(PEX_SPIN_LOCK SpinLock)
{
    NT_ENTER_SHORT();
    acquire_rw(SpinLock, NT_LOCK_EXCLUSIVE, false, __func__);
}

NT_EXPORT VOID NTAPI ExReleaseSpinLockShared(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql)
{
    NT_ENTER_SHORT();
    if (release_rw(SpinLock, NT_LOCK_SHARED, __func__) && OldIrql < sim_irql())
        sim_lower_irql(OldIrql);
}

NT_EXPORT VOID NTAPI ExReleaseSpinLockExclusive(PEX_SPIN_LOCK SpinLock, KIRQL OldIrql)
{
    NT_ENTER_SHORT();
    if (release_rw(SpinLock, NT_LOCK_EXCLUSIVE, __func__) && OldIrql < sim_irql())
        sim_lower_irql(OldIrql);
}

NT_EXPORT VOID NTAPI ExReleaseSpinLockSharedFromDpcLevel(PEX_SPIN_LOCK SpinLock)
{
    NT_ENTER_SHORT();
    release_rw(SpinLock, NT_LOCK_SHARED, __func__);
}

NT_EXPORT VOID NTAPI ExReleaseSpinLockExclusiveFromDpcLevel(PEX_SPIN_LOCK SpinLock)
{
    NT_ENTER_SHORT();
    release_rw(SpinLock, NT_LOCK_EXCLUSIVE, __func__);
}
