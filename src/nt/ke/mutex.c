/* SPDX-License-Identifier: MIT */
/*
 * Kernel mutexes. SignalState is 1 when free and decreases with each recursive acquisition. Each
 * thread also has a list of the mutexes it owns, so that they are abandoned when it ends.
 */
#include "nt/ke/mutex.h"
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/memory.h"
#include "nt/ke/dispatcher.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/lock_order.h"
#include "nt/ke/owed_wait.h"
#include "nt/ke/raise.h"
#include "nt/ke/wait.h"
#include "sim/fault.h"
#include "util/alloc.h"
#include "util/list.h"
#include "sim/order.h"

struct nt_owned_mutex {
    struct list link;
    KMUTANT *mutex;
};

#define MUTANT (1u << NT_MUTANT)

NT_EXPORT VOID NTAPI KeInitializeMutex(PRKMUTEX Mutex, ULONG Level)
{
    NT_ENTER();
    (void)Level;
    if (!nt_memory_check(Mutex, "KMUTEX", __func__))
        return;
    nt_dispatcher_init(&Mutex->Header, NT_MUTANT, sizeof(*Mutex), 1);
    InitializeListHead(&Mutex->MutantListEntry);
    Mutex->OwnerThread = NULL;
    Mutex->MutantFlags = 0;
    Mutex->ApcDisable = 1;
}

static struct nt_owned_mutex *find_owned(struct _KTHREAD *thread, const KMUTANT *mutex)
{
    LIST_FOR(node, &thread->owned) {
        struct nt_owned_mutex *owned = CONTAINER(node, struct nt_owned_mutex, link);

        if (owned->mutex == mutex)
            return owned;
    }
    return NULL;
}

static void remember(struct _KTHREAD *thread, KMUTANT *mutex)
{
    struct nt_faults faults = nt_faults_off();
    struct nt_owned_mutex *owned = find_owned(thread, mutex);

    if (!owned) {
        owned = util_zalloc(1, sizeof(*owned));
        if (owned) {
            owned->mutex = mutex;
            list_push_back(&thread->owned, &owned->link);
        }
    }
    nt_faults_on(faults);
}

static void forget(struct _KTHREAD *thread, const KMUTANT *mutex)
{
    struct nt_owned_mutex *owned = find_owned(thread, mutex);

    if (owned) {
        list_remove(&owned->link);
        util_free(owned);
    }
}

bool nt_mutex_take(KMUTANT *mutex, struct _KTHREAD *thread)
{
    bool abandoned = mutex->Abandoned;

    if (--mutex->Header.SignalState == 0) {
        nt_lock_order_acquire(mutex, thread);
        mutex->OwnerThread = thread;
        thread->kernel_apc_disable += mutex->ApcDisable ? 1 : 0;
        thread->sleeping_locks++;
        remember(thread, mutex);
    }
    mutex->Abandoned = 0;
    return abandoned;
}

static void set_free(KMUTANT *mutex, struct _KTHREAD *thread)
{
    mutex->OwnerThread = NULL;
    thread->kernel_apc_disable -= mutex->ApcDisable ? 1 : 0;
    thread->sleeping_locks--;
    nt_lock_order_release(mutex, thread);
    forget(thread, mutex);
    nt_wait_wake(&mutex->Header);
}

NT_EXPORT LONG NTAPI KeReleaseMutex(PRKMUTEX Mutex, BOOLEAN Wait)
{
    struct _KTHREAD *thread;
    LONG before;

    NT_ENTER();
    if (!nt_level(NT_DISPATCH, "NT-067", NT_NO_CODE, __func__) ||
        !nt_dispatcher_check(Mutex, MUTANT, __func__))
        return 0;
    thread = nt_thread();
    before = Mutex->Header.SignalState;
    if (Mutex->OwnerThread != thread || before > 0) {
        nt_raise(Mutex->Abandoned ? STATUS_ABANDONED : STATUS_MUTANT_NOT_OWNED, "NT-068", __func__);
        return before;
    }
    if (++Mutex->Header.SignalState > 0)
        set_free(Mutex, thread);
    nt_owed_wait_announce(Wait, "NT-067", __func__);
    return before;
}

NT_EXPORT LONG NTAPI KeReadStateMutex(PRKMUTEX Mutex)
{
    NT_ENTER();
    if (!nt_dispatcher_check(Mutex, MUTANT, __func__))
        return 0;
    sim_order_acquire(&Mutex->Header);
    return Mutex->Header.SignalState;
}

/* The owner ends: its mutexes become free, and the next owner is told (NT-045). Their memory may be
 * gone by now. */
void nt_mutex_abandon_all(struct _KTHREAD *thread)
{
    struct list *node;

    while ((node = list_pop_front(&thread->owned)) != NULL) {
        struct nt_owned_mutex *owned = CONTAINER(node, struct nt_owned_mutex, link);
        KMUTANT *mutex = owned->mutex;
        KMUTANT copy;

        util_free(owned);
        if (!sim_copy_checked(&copy, mutex, sizeof(copy)) || copy.OwnerThread != thread ||
            copy.Header.Type != NT_MUTANT || nt_memory_of(mutex) == NT_MEMORY_FREED)
            continue;
        mutex->OwnerThread = NULL;
        mutex->Abandoned = 1;
        mutex->Header.SignalState = 1;
        nt_wait_wake(&mutex->Header);
    }
}

void nt_mutex_forget_all(struct _KTHREAD *thread)
{
    struct list *node;

    while ((node = list_pop_front(&thread->owned)) != NULL)
        util_free(CONTAINER(node, struct nt_owned_mutex, link));
}
