/* SPDX-License-Identifier: MIT */
/*
 * Fast mutexes, and guarded mutexes, which are the same under another name. All of the state is in
 * the driver's FAST_MUTEX, since its initialization is inline code in the driver: Count is 1 when
 * free, Owner is the owning thread, OldIrql the level to return to. Waiters wait at the address of
 * its event.
 */
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/memory.h"
#include "nt/base/nt_report.h"
#include "nt/ke/dispatcher.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/lock_order.h"
#include "nt/ke/wait.h"
#include "sim/irql.h"
#include "sim/order.h"
#include "verify/verify.h"

#define OLD_IRQL_UNSAFE 0xFFu /* acquired without raising the IRQL */

/* Check that it is initialized, and in memory that may contain a lock. */
static bool check(PFAST_MUTEX mutex, const char *routine)
{
    if (!nt_memory_check(mutex, "fast mutex", routine))
        return false;
    if ((uintptr_t)mutex % 8 != 0) {
        VIOLATION("NT-060", "%s of a fast mutex that is not aligned to 8 bytes", routine);
        return false;
    }
    if (mutex->Event.Header.WaitListHead.Flink != &mutex->Event.Header.WaitListHead ||
        (mutex->Count == FM_LOCK_BIT) != (mutex->Owner == NULL)) {
        VIOLATION("NT-005", "%s of a fast mutex that was never initialised, or was overwritten",
                  routine);
        return false;
    }
    return true;
}

static bool is_recursive(const FAST_MUTEX *mutex, const char *routine)
{
    if (mutex->Owner != nt_thread())
        return false;
    VIOLATION("NT-064", "%s of a mutex that the same thread owns already", routine);
    return true;
}

static void take(PFAST_MUTEX mutex, uint8_t old_irql)
{
    struct _KTHREAD *thread = nt_thread();

    nt_lock_order_acquire(mutex, thread);
    sim_order_acquire(mutex);
    mutex->Count = 0;
    mutex->Owner = thread;
    mutex->OldIrql = old_irql;
    thread->sleeping_locks++;
}

static void acquire(PFAST_MUTEX mutex, uint8_t old_irql)
{
    if (mutex->Count != FM_LOCK_BIT)
        nt_lock_order_check(mutex, nt_thread());
    while (mutex->Count != FM_LOCK_BIT) {
        mutex->Contention++;
        nt_wait_address(&mutex->Event, NULL);
    }
    take(mutex, old_irql);
}

/* False: the caller is not the owner. */
static bool may_release(PFAST_MUTEX mutex, const char *routine)
{
    if (!check(mutex, routine))
        return false;
    if (mutex->Owner == nt_thread())
        return true;
    NT_VERIFIER("NT-062", mutex->Owner ? 0x1004 : 0x1007, (uintptr_t)mutex, (uintptr_t)mutex->Owner,
                0, "%s of a mutex that %s", routine,
                mutex->Owner ? "another thread owns" : "nobody owns");
    return false;
}

static void release(PFAST_MUTEX mutex)
{
    sim_order_release(mutex);
    mutex->Owner = NULL;
    mutex->Count = FM_LOCK_BIT;
    nt_lock_order_release(mutex, nt_thread());
    nt_thread()->sleeping_locks--;
    nt_wait_wake_address(&mutex->Event, 1);
}

/* ---- safe: at APC_LEVEL while held ---- */

static bool acquire_level(const char *routine)
{
    return nt_level(NT_APC, "NT-061", 0x33, routine) && nt_thread()->sim;
}

static void acquire_safe(PFAST_MUTEX mutex, const char *routine)
{
    uint8_t before = sim_irql();

    if (!acquire_level(routine) || !check(mutex, routine) || is_recursive(mutex, routine))
        return;
    sim_raise_irql(SIM_IRQL_APC);
    acquire(mutex, before);
}

static void release_safe(PFAST_MUTEX mutex, const char *routine)
{
    ULONG old_irql;

    if (sim_irql() != SIM_IRQL_APC)
        NT_VERIFIER("NT-062", 0x34, sim_irql(), (uintptr_t)mutex, 0, "%s at %s", routine,
                    nt_irql_name(sim_irql()));
    if (!may_release(mutex, routine))
        return;
    old_irql = mutex->OldIrql;
    if (old_irql == OLD_IRQL_UNSAFE)
        VIOLATION("NT-065", "%s of a mutex acquired with ExAcquireFastMutexUnsafe", routine);
    release(mutex);
    if (old_irql < sim_irql())
        sim_lower_irql((uint8_t)old_irql);
}

NT_EXPORT VOID NTAPI ExAcquireFastMutex(PFAST_MUTEX FastMutex)
{
    NT_ENTER();
    acquire_safe(FastMutex, __func__);
}

NT_EXPORT VOID NTAPI ExReleaseFastMutex(PFAST_MUTEX FastMutex)
{
    NT_ENTER();
    release_safe(FastMutex, __func__);
}

NT_EXPORT BOOLEAN NTAPI ExTryToAcquireFastMutex(PFAST_MUTEX FastMutex)
{
    uint8_t before;

    NT_ENTER();
    before = sim_irql();
    if (!nt_level(NT_APC, "NT-063", 0x33, __func__) || !check(FastMutex, __func__) ||
        FastMutex->Count != FM_LOCK_BIT)
        return FALSE;
    sim_raise_irql(SIM_IRQL_APC);
    take(FastMutex, before);
    return TRUE;
}

NT_EXPORT VOID NTAPI KeInitializeGuardedMutex(PKGUARDED_MUTEX Mutex)
{
    NT_ENTER();
    if (!nt_memory_check(Mutex, "guarded mutex", __func__))
        return;
    Mutex->Count = FM_LOCK_BIT;
    Mutex->Owner = NULL;
    Mutex->Contention = 0;
    nt_dispatcher_init(&Mutex->Event.Header, NT_EVENT_SYNCHRONIZATION, sizeof(Mutex->Event), 0);
}

NT_EXPORT VOID NTAPI KeAcquireGuardedMutex(PKGUARDED_MUTEX Mutex)
{
    NT_ENTER();
    acquire_safe(Mutex, __func__);
}

NT_EXPORT VOID NTAPI KeReleaseGuardedMutex(PKGUARDED_MUTEX Mutex)
{
    NT_ENTER();
    release_safe(Mutex, __func__);
}

/* ---- unsafe: the caller has switched APCs off ---- */

static bool unsafe_level(uint32_t code, const char *routine)
{
    const struct _KTHREAD *thread = nt_thread();

    if (!nt_level(NT_APC, "NT-065", code, routine))
        return false;
    if (sim_irql() < SIM_IRQL_APC && thread->kernel_apc_disable == 0 &&
        thread->special_apc_disable == 0)
        NT_VERIFIER("NT-065", code, sim_irql(), 0, 0,
                    "%s at PASSIVE_LEVEL outside of a critical region", routine);
    return true;
}

NT_EXPORT VOID NTAPI ExAcquireFastMutexUnsafe(PFAST_MUTEX FastMutex)
{
    NT_ENTER();
    if (!unsafe_level(0x39, __func__) || !check(FastMutex, __func__) ||
        is_recursive(FastMutex, __func__) || !nt_thread()->sim)
        return;
    acquire(FastMutex, OLD_IRQL_UNSAFE);
}

NT_EXPORT VOID NTAPI ExReleaseFastMutexUnsafe(PFAST_MUTEX FastMutex)
{
    NT_ENTER();
    if (!unsafe_level(0x3A, __func__) || !may_release(FastMutex, __func__))
        return;
    if (FastMutex->OldIrql != OLD_IRQL_UNSAFE)
        VIOLATION("NT-065", "%s of a mutex acquired with ExAcquireFastMutex", __func__);
    release(FastMutex);
}
