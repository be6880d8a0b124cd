/* SPDX-License-Identifier: MIT */
/*
 * Waiting.
 *
 * A waiting thread has one wait block per object. The blocks for one address form a ring, in order
 * of arrival, which the map `rings` finds by the address; an object without waiters has no record.
 * An object's state is in its header. When it becomes signaled, nt_wait_wake goes through the ring:
 * a waiter is satisfied if its wait is for any object, or for all and all are signaled now. What it
 * waited for is then consumed on its behalf (NT-042), and it is unblocked with its status as the
 * result.
 */
#include <string.h>

#include "nt/ke/wait.h"
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/memory.h"
#include "nt/base/nt_report.h"
#include "nt/base/state.h"
#include "nt/ke/dispatcher.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/lock_order.h"
#include "nt/ke/mutex.h"
#include "nt/ke/owed_wait.h"
#include "nt/ke/pace.h"
#include "nt/ke/time.h"
#include "sim/dpc.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "sim/point.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

#define MAXIMUM_WAIT_OBJECTS_EXCEEDED 0xCu
#define ATTEMPTED_SWITCH_FROM_DPC     0xB8u
#define WAITABLE                                                                             \
    (1u << NT_EVENT_NOTIFICATION | 1u << NT_EVENT_SYNCHRONIZATION | 1u << NT_MUTANT |        \
     1u << NT_PROCESS | 1u << NT_SEMAPHORE | 1u << NT_THREAD | 1u << NT_TIMER_NOTIFICATION | \
     1u << NT_TIMER_SYNCHRONIZATION)

struct nt_waits {
    struct hash_map rings; /* address -> a struct nt_wait_block of the ring */
    void (*balance)(void); /* called before a thread blocks; may be NULL */
};

static bool init(struct nt *nt)
{
    hash_init(&nt->waits->rings);
    return true;
}

static void finish(struct nt *nt)
{
    hash_finish(&nt->waits->rings);
}

const struct nt_component nt_wait_component = {
    .slot = offsetof(struct nt, waits),
    .bytes = sizeof(struct nt_waits),
    .init = init,
    .finish = finish,
};

void nt_wait_before_block(void (*balance)(void))
{
    util_assert(!nt_state()->waits->balance);
    nt_state()->waits->balance = balance;
}

/* ---- rings ---- */

/* Cannot fail on Windows, so no failure is injected here; false: really out of memory. */
static bool link_block(struct nt_wait_block *block)
{
    struct hash_map *waits = &nt_state()->waits->rings;
    struct nt_wait_block *first = hash_get(waits, block->address);
    struct nt_faults faults;
    bool done;

    if (first) {
        block->next = first;
        block->prev = first->prev;
        first->prev->next = block;
        first->prev = block;
        return true;
    }
    block->next = block->prev = block;
    faults = nt_faults_off();
    done = hash_put(waits, block->address, block);
    nt_faults_on(faults);
    if (!done)
        block->next = block->prev = NULL;
    return done;
}

static void unlink_block(struct nt_wait_block *block)
{
    struct hash_map *waits = &nt_state()->waits->rings;

    if (!block->next)
        return;
    if (block->next == block) {
        hash_remove(waits, block->address);
    } else {
        block->next->prev = block->prev;
        block->prev->next = block->next;
        if (hash_get(waits, block->address) == block)
            /* replaces an entry, which needs no memory */
            hash_put(waits, block->address, block->next);
    }
    block->next = block->prev = NULL;
}

void nt_wait_end(struct nt_wait *wait)
{
    for (uint32_t i = 0; i < wait->count; i++)
        unlink_block(&wait->block[i]);
    wait->count = 0;
}

/* ---- states ---- */

static bool is_signalled(const DISPATCHER_HEADER *header, const struct _KTHREAD *thread)
{
    if (header->Type == NT_MUTANT)
        return header->SignalState > 0 ||
               ((const KMUTANT *)(const void *)header)->OwnerThread == thread;
    return header->SignalState > 0;
}

/* Apply the effect of a satisfied wait to the object. True: it is a mutex whose owner ended without
 * releasing it. */
static bool consume(DISPATCHER_HEADER *header, struct _KTHREAD *thread)
{
    switch (header->Type) {
    case NT_EVENT_SYNCHRONIZATION:
    case NT_TIMER_SYNCHRONIZATION:
        header->SignalState = 0;
        return false;
    case NT_SEMAPHORE:
        header->SignalState--;
        return false;
    case NT_MUTANT:
        return nt_mutex_take((KMUTANT *)(void *)header, thread);
    default:
        return false;
    }
}

static DISPATCHER_HEADER *header_at(uintptr_t address)
{
    return (DISPATCHER_HEADER *)address; // NOLINT: the map's key is the object's address
}

static bool all_signalled(const struct nt_wait *wait)
{
    for (uint32_t i = 0; i < wait->count; i++) {
        if (!is_signalled(header_at(wait->block[i].address), wait->thread))
            return false;
    }
    return true;
}

static NTSTATUS consume_all(struct nt_wait *wait)
{
    NTSTATUS status = STATUS_WAIT_0;

    for (uint32_t i = 0; i < wait->count; i++) {
        if (consume(header_at(wait->block[i].address), wait->thread))
            status = STATUS_ABANDONED_WAIT_0 + (NTSTATUS)i;
    }
    return status;
}

static NTSTATUS consume_one(struct nt_wait *wait, uint32_t index)
{
    bool abandoned = consume(header_at(wait->block[index].address), wait->thread);

    return (abandoned ? STATUS_ABANDONED_WAIT_0 : STATUS_WAIT_0) + (NTSTATUS)index;
}

/* ---- waking ---- */

/* True: the waiter was satisfied (or had stopped waiting); its blocks are on no ring any more. */
static bool try_satisfy(struct nt_wait_block *block)
{
    struct nt_wait *wait = block->wait;
    NTSTATUS status;

    if (wait->all && !all_signalled(wait))
        return false;
    if (!sim_unblock(wait->thread->sim, 0)) {
        nt_wait_end(wait); /* it is timing out right now */
        return true;
    }
    status = wait->all ? consume_all(wait) : consume_one(wait, block->index);
    wait->status = status;
    nt_wait_end(wait);
    return true;
}

void nt_wait_wake(DISPATCHER_HEADER *header)
{
    struct hash_map *waits = &nt_state()->waits->rings;
    struct nt_wait_block *first = hash_get(waits, (uintptr_t)header);
    struct nt_wait_block *block = first;

    sim_order_release(header);
    while (block && is_signalled(header, block->wait->thread)) {
        struct nt_wait_block *next = block->next;

        if (try_satisfy(block)) {
            /* The ring has changed, possibly in several places, since a wait may name an object
             * twice: start over. */
            block = first = hash_get(waits, (uintptr_t)header);
            continue;
        }
        block = next == first ? NULL : next;
    }
}

unsigned nt_wait_wake_address(const void *address, unsigned count)
{
    struct hash_map *waits = &nt_state()->waits->rings;
    struct nt_wait_block *block;
    unsigned woken = 0;

    while (woken < count && (block = hash_get(waits, (uintptr_t)address)) != NULL) {
        struct nt_wait *wait = block->wait;

        nt_wait_end(wait);
        woken += sim_unblock(wait->thread->sim, 0);
    }
    return woken;
}

/* ---- blocking ---- */

/* Provide blocks for `count` addresses: the built-in ones, or an array that is kept for later
 * waits. */
static bool prepare(struct nt_wait *wait, uint32_t count)
{
    struct nt_faults faults;

    nt_wait_end(wait); /* left by a client that jumped out of a wait */
    wait->block = wait->builtin;
    if (count > NT_BUILTIN_WAITS) {
        if (!wait->extra) {
            faults = nt_faults_off();
            wait->extra = util_zalloc(MAXIMUM_WAIT_OBJECTS, sizeof(*wait->extra));
            nt_faults_on(faults);
        }
        wait->block = wait->extra;
    }
    return wait->block != NULL;
}

/* Result of sim_block for a thread that must check the clock again, because the system time was
 * set. */
#define CLOCK_CHANGED 1

/* The thread keeps its level while it waits (fast mutexes are held at APC_LEVEL), but the processor
 * does not. There is no point between queuing the blocks and blocking, so no wake-up is lost. */
static enum sim_wake block_thread(struct nt_wait *wait, const LARGE_INTEGER *timeout)
{
    uint8_t irql = sim_irql();
    enum sim_wake wake;
    intptr_t result;

    wait->absolute = timeout && timeout->QuadPart > 0;
    if (nt_state()->waits->balance)
        nt_state()->waits->balance(); /* this may be the last worker */
    do {
        result = 0;
        sim_current->irql = SIM_IRQL_PASSIVE;
        wake = sim_block(nt_time_deadline(timeout), &result);
    } while (wake == SIM_WOKEN && result == CLOCK_CHANGED);
    sim_raise_irql(irql);
    nt_wait_end(wait);
    return wake;
}

void nt_wait_clock_changed(void)
{
    struct nt *nt = nt_state();

    LIST_FOR(node, &nt->threads->all) {
        struct _KTHREAD *thread = CONTAINER(node, struct _KTHREAD, link);

        if (thread->sim && thread->wait->count != 0 && thread->wait->absolute)
            sim_unblock(thread->sim, CLOCK_CHANGED);
    }
}

static NTSTATUS try_at_once(struct nt_wait *wait)
{
    NTSTATUS status = STATUS_TIMEOUT;

    if (wait->all) {
        if (all_signalled(wait))
            status = consume_all(wait);
        return status;
    }
    for (uint32_t i = 0; i < wait->count && status == STATUS_TIMEOUT; i++) {
        if (is_signalled(header_at(wait->block[i].address), wait->thread))
            status = consume_one(wait, i);
    }
    return status;
}

/* The thread goes on after what the objects were signaled for. */
static void order(DISPATCHER_HEADER *const object[], uint32_t count, bool all, NTSTATUS status)
{
    uint32_t index = (uint32_t)status & (STATUS_ABANDONED_WAIT_0 - 1);

    for (uint32_t i = 0; i < count; i++)
        if (all || i == index)
            sim_order_acquire(object[i]);
}

NTSTATUS nt_wait_objects(DISPATCHER_HEADER *const object[], uint32_t count, bool all,
                         const LARGE_INTEGER *timeout)
{
    struct nt_wait *wait = nt_thread()->wait;

    if (!prepare(wait, count))
        return STATUS_INSUFFICIENT_RESOURCES;
    wait->all = all;
    wait->count = count;
    for (uint32_t i = 0; i < count; i++)
        wait->block[i] = (struct nt_wait_block){
            .wait = wait, .address = (uintptr_t)object[i], .index = i};
    wait->status = try_at_once(wait);
    if (wait->status != STATUS_TIMEOUT)
        order(object, count, all, wait->status);
    if (wait->status != STATUS_TIMEOUT || (timeout && timeout->QuadPart == 0)) {
        nt_wait_end(wait);
        return wait->status;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (object[i]->Type == NT_MUTANT)
            nt_lock_order_check(object[i], wait->thread);
        if (!link_block(&wait->block[i])) {
            nt_wait_end(wait);
            return STATUS_INSUFFICIENT_RESOURCES;
        }
    }
    if (block_thread(wait, timeout) != SIM_WOKEN)
        return STATUS_TIMEOUT;
    order(object, count, all, wait->status);
    return wait->status;
}

enum sim_wake nt_wait_address(const void *address, const LARGE_INTEGER *timeout)
{
    struct nt_wait *wait = nt_thread()->wait;

    if (!prepare(wait, 1))
        return SIM_TIMED_OUT;
    wait->all = false;
    wait->count = 1;
    wait->block[0] = (struct nt_wait_block){.wait = wait, .address = (uintptr_t)address};
    if (!link_block(&wait->block[0])) {
        nt_wait_end(wait);
        return SIM_TIMED_OUT;
    }
    return block_thread(wait, timeout);
}

/* ---- routines ---- */

/* Check the IRQL rules of a wait (NT-040). False: it must not be carried out. */
static bool level_allows(const LARGE_INTEGER *timeout, const char *routine)
{
    uint8_t irql = sim_irql();
    bool zero = timeout && timeout->QuadPart == 0;
    uint32_t code;

    if (irql <= SIM_IRQL_APC && nt_thread()->sim)
        return true;
    if (irql == SIM_IRQL_DISPATCH && zero)
        return true;
    if (irql > SIM_IRQL_DISPATCH)
        code = 0x120;
    else
        code = timeout ? 0x122 : 0x121;
    if (sim_in_dpc() && irql == SIM_IRQL_DISPATCH) {
        verify_fatal("NT-040", ATTEMPTED_SWITCH_FROM_DPC, (uintptr_t)nt_thread(), 0, 0, 0,
                     "%s in a DPC, where no thread can wait", routine);
        return false;
    }
    NT_VERIFIER("NT-040", code, irql, 0, timeout ? (uint64_t)timeout->QuadPart : 0,
                "%s at %s with %s", routine, nt_irql_name(irql),
                !timeout ? "no time-out"
                : zero   ? "a time-out of zero"
                         : "a time-out that is not zero");
    return false;
}

static void check_mode(const DISPATCHER_HEADER *header, KPROCESSOR_MODE mode, const char *routine)
{
    if (mode == KernelMode)
        return;
    if (nt_memory_on_stack(header))
        NT_VERIFIER("NT-041", 0x123, (uintptr_t)header, 0, 0,
                    "%s with UserMode on an object on the kernel stack", routine);
    if (header->Type == NT_MUTANT)
        VIOLATION("NT-041", "%s with UserMode on a mutex", routine);
}

NT_EXPORT NTSTATUS NTAPI KeWaitForSingleObject(PVOID Object, KWAIT_REASON WaitReason,
                                               KPROCESSOR_MODE WaitMode, BOOLEAN Alertable,
                                               PLARGE_INTEGER Timeout)
{
    DISPATCHER_HEADER *header = Object;

    sim_point();
    (void)WaitReason;
    (void)Alertable;
    nt_owed_wait_done();
    if (!level_allows(Timeout, __func__) || !nt_dispatcher_check(header, WAITABLE, __func__))
        return STATUS_UNSUCCESSFUL;
    check_mode(header, WaitMode, __func__);
    return nt_wait_objects(&header, 1, false, Timeout);
}

static bool check_array(const KWAIT_BLOCK *array, uint32_t count, KPROCESSOR_MODE mode,
                        const char *routine)
{
    if (count == 0 || count > MAXIMUM_WAIT_OBJECTS || (!array && count > THREAD_WAIT_OBJECTS)) {
        verify_fatal("NT-043", MAXIMUM_WAIT_OBJECTS_EXCEEDED, 0, 0, 0, 0, "%s on %u objects%s",
                     routine, count, array ? "" : " without a wait block array");
        return false;
    }
    if (array && nt_memory_of(array) == NT_MEMORY_PAGED)
        VIOLATION("NT-043", "%s with a wait block array in paged pool", routine);
    if (array && mode == UserMode && nt_memory_on_stack(array))
        VIOLATION("NT-043", "%s with UserMode and a wait block array on the stack", routine);
    return true;
}

NT_EXPORT NTSTATUS NTAPI KeWaitForMultipleObjects(ULONG Count, PVOID Object[], WAIT_TYPE WaitType,
                                                  KWAIT_REASON WaitReason, KPROCESSOR_MODE WaitMode,
                                                  BOOLEAN Alertable, PLARGE_INTEGER Timeout,
                                                  PKWAIT_BLOCK WaitBlockArray)
{
    DISPATCHER_HEADER *header[MAXIMUM_WAIT_OBJECTS];

    sim_point();
    (void)WaitReason;
    (void)Alertable;
    nt_owed_wait_done();
    if (!level_allows(Timeout, __func__) || !check_array(WaitBlockArray, Count, WaitMode, __func__))
        return STATUS_UNSUCCESSFUL;
    if (WaitType != WaitAll && WaitType != WaitAny) {
        VIOLATION("NT-042", "%s with wait type %d", __func__, (int)WaitType);
        return STATUS_INVALID_PARAMETER;
    }
    for (ULONG i = 0; i < Count; i++) {
        header[i] = Object[i];
        if (!nt_dispatcher_check(header[i], WAITABLE, __func__))
            return STATUS_UNSUCCESSFUL;
        check_mode(header[i], WaitMode, __func__);
    }
    return nt_wait_objects(header, Count, WaitType == WaitAll, Timeout);
}

NT_EXPORT NTSTATUS NTAPI KeDelayExecutionThread(KPROCESSOR_MODE WaitMode, BOOLEAN Alertable,
                                                PLARGE_INTEGER Interval)
{
    LARGE_INTEGER paced;

    NT_ENTER();
    (void)WaitMode;
    (void)Alertable;
    if (!nt_level(NT_APC, "NT-046", NT_NO_CODE, __func__) || !nt_thread()->sim)
        return STATUS_UNSUCCESSFUL;
    if (!Interval) {
        VIOLATION("NT-046", "%s without an interval", __func__);
        return STATUS_INVALID_PARAMETER;
    }
    /* A private address, which is never woken. */
    nt_wait_address(nt_thread()->wait, nt_paced(Interval, &paced) ? &paced : Interval);
    return STATUS_SUCCESS;
}
