/* SPDX-License-Identifier: MIT */
/*
 * Deferred procedure calls (DPCs) of a driver. While a KDPC is queued, the host has a record of it
 * with the routine and arguments at that time; the record is removed before the routine starts, so
 * that the routine can queue it again.
 */
#include "nt/ke/dpc.h"
#include "nt/base/active.h"
#include "nt/base/caller.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/image.h"
#include "nt/base/memory.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/driver_call.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/timer.h"
#include "sim/dpc.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

#define DPC_WATCHDOG_VIOLATION 0x133u

#define DPC_TYPE          19u
#define THREADED_DPC_TYPE 24u
#define DPC_TARGET_BASE   64u /* KDPC.Number: target processor + this; 0: none */

struct nt_dpc {
    struct nt_active active;
    struct sim_dpc dpc;
    PKDPC object;
    PKDEFERRED_ROUTINE routine;
    PVOID context, argument1, argument2;
    bool of_timer;
};

const struct nt_component nt_dpc_component = NT_MAP_COMPONENT(dpcs);

/*
 * How often the routines of the last few objects ran. A DPC that queues itself, on whichever
 * processor, or whose timer expires as soon as it is set, runs without end while time passes
 * slowly; the processors do next to nothing else (NT-195).
 */
#define RATES    8u
#define RATE_RUN 1000000u    /* runs of one object within */
#define RATE_NS  1000000000u /* a second */

struct nt_dpc_rate {
    const void *object;
    uint64_t since;
    uint32_t runs;
};

const struct nt_component nt_dpc_rate_component = {.slot = offsetof(struct nt, dpc_rates),
                                                   .bytes = RATES * sizeof(struct nt_dpc_rate)};

void nt_dpc_count_run(const void *object, const void *routine)
{
    uint64_t mixed = (uintptr_t)object * 0x9E3779B97F4A7C15u;
    struct nt_dpc_rate *rate = &nt_state()->dpc_rates[mixed >> 61];
    char name[96];

    if (rate->object != object || sim_now() - rate->since > RATE_NS) {
        *rate = (struct nt_dpc_rate){.object = object, .since = sim_now()};
        return;
    }
    if (++rate->runs < RATE_RUN)
        return;
    rate->runs = 0;
    nt_caller_name(routine, name, sizeof(name));
    verify_fatal("NT-195", DPC_WATCHDOG_VIOLATION, 1, RATE_NS / 1000000, 0, 0,
                 "the DPC %s ran %u times within %.6f s of virtual time: it, or its timer, queues "
                 "it again and again",
                 name, RATE_RUN, (double)(sim_now() - rate->since) / 1e9);
}

static bool check(const KDPC *dpc, const char *routine)
{
    if (!nt_memory_check(dpc, "KDPC", routine))
        return false;
    if ((dpc->Type != DPC_TYPE && dpc->Type != THREADED_DPC_TYPE) || !dpc->DeferredRoutine) {
        VIOLATION("NT-005", "%s of a KDPC that was never initialised, or was overwritten", routine);
        return false;
    }
    return true;
}

static void describe(const struct sim_dpc *dpc, char *text, size_t bytes)
{
    nt_caller_name((const void *)CONTAINER(dpc, struct nt_dpc, dpc)->routine, text, bytes); // NOLINT
}

static void drop(struct nt_dpc *record)
{
    nt_active_remove(&record->active, nt_state()->dpcs);
    util_free(record);
}

static void run(struct sim_dpc *dpc)
{
    struct nt_dpc record = *CONTAINER(dpc, struct nt_dpc, dpc);
    struct nt_callback callback;

    util_assert(sim_irql() == SIM_IRQL_DISPATCH);
    drop(CONTAINER(dpc, struct nt_dpc, dpc));
    nt_dpc_count_run(record.object, (const void *)record.routine); // NOLINT
    nt_callback_enter(&callback, record.active.resource.image, "a DPC routine");
    record.routine(record.object, record.context, record.argument1, record.argument2);
    nt_callback_leave(&callback);
}

static void reclaim(struct nt_resource *resource);

static const struct nt_active_class dpc_class = {
    .resource = {.rule = "NT-006",
                 .noun = "queued DPC",
                 .code = 0xC7,
                 .subcode = 1,
                 .busy = nt_resource_always_busy,
                 .reclaim = reclaim},
    .noun = "a DPC that is queued",
    .code = 0xC7,
};

bool nt_dpc_insert(PKDPC object, PVOID argument1, PVOID argument2, struct nt_image *image,
                   const void *caller, bool anywhere)
{
    struct nt *nt = nt_state();
    struct nt_faults faults;
    struct nt_image *outer;
    struct nt_dpc *record;
    bool done;

    record = hash_get(nt->dpcs, (uintptr_t)object);
    if (record)
        sim_order_release(&record->dpc); /* its routine comes after this call, too */
    if (record || sim_current->stopped)
        return false;
    faults = nt_faults_off(); /* queuing cannot fail on Windows */
    record = util_zalloc(1, sizeof(*record));
    outer = nt_image_enter(image);
    done = record && nt_active_add(&record->active, nt->dpcs, &dpc_class, object, caller);
    nt_image_enter(outer);
    nt_faults_on(faults);
    if (!done) {
        util_free(record);
        return false;
    }
    record->object = object;
    record->routine = object->DeferredRoutine;
    record->context = object->DeferredContext;
    record->argument1 = argument1;
    record->argument2 = argument2;
    record->dpc.routine = run;
    record->dpc.describe = describe;
    record->dpc.high = object->Importance == HighImportance;
    if (object->Number >= DPC_TARGET_BASE)
        record->dpc.target = (uint16_t)(object->Number - DPC_TARGET_BASE + 1);
    else if (anywhere)
        record->dpc.target = (uint16_t)(sim_random(sim_current->processors) + 1);
    object->SystemArgument1 = argument1;
    object->SystemArgument2 = argument2;
    sim_dpc_queue(&record->dpc); /* may run it immediately */
    return true;
}

static void reclaim(struct nt_resource *resource)
{
    struct nt_dpc *record = CONTAINER(resource, struct nt_dpc, active.resource);

    sim_dpc_remove(&record->dpc);
    drop(record);
}

/* ---- routines ---- */

static void init(PKDPC dpc, uint32_t type, PKDEFERRED_ROUTINE deferred, PVOID context,
                 const char *routine)
{
    if (!nt_memory_check(dpc, "KDPC", routine))
        return;
    if (hash_get(nt_state()->dpcs, (uintptr_t)dpc)) {
        VIOLATION("NT-083", "%s of a KDPC that is queued", routine);
        return;
    }
    if (!deferred)
        VIOLATION("NT-083", "%s without a routine", routine);
    dpc->TargetInfoAsUlong = 0;
    dpc->Type = (UCHAR)type;
    dpc->Importance = MediumImportance;
    dpc->DpcListEntry.Next = NULL;
    dpc->ProcessorHistory = 0;
    dpc->DeferredRoutine = deferred;
    dpc->DeferredContext = context;
    dpc->SystemArgument1 = NULL;
    dpc->SystemArgument2 = NULL;
    dpc->DpcData = NULL;
}

NT_EXPORT VOID NTAPI KeInitializeDpc(PRKDPC Dpc, PKDEFERRED_ROUTINE DeferredRoutine,
                                     PVOID DeferredContext)
{
    NT_ENTER();
    init(Dpc, DPC_TYPE, DeferredRoutine, DeferredContext, __func__);
}

/* A threaded DPC may run at PASSIVE_LEVEL or at DISPATCH_LEVEL, and the driver must be prepared for
 * both; here it runs at DISPATCH_LEVEL. */
NT_EXPORT VOID NTAPI KeInitializeThreadedDpc(PRKDPC Dpc, PKDEFERRED_ROUTINE DeferredRoutine,
                                             PVOID DeferredContext)
{
    NT_ENTER();
    init(Dpc, THREADED_DPC_TYPE, DeferredRoutine, DeferredContext, __func__);
}

NT_EXPORT BOOLEAN NTAPI KeInsertQueueDpc(PRKDPC Dpc, PVOID SystemArgument1, PVOID SystemArgument2)
{
    NT_ENTER();
    if (!check(Dpc, __func__))
        return FALSE;
    if (nt_timer_uses_dpc(Dpc))
        VIOLATION("NT-081", "%s of a DPC that belongs to a timer that is set", __func__);
    return nt_dpc_insert(Dpc, SystemArgument1, SystemArgument2, nt_image_current(), NT_CALLER(),
                         false);
}

NT_EXPORT BOOLEAN NTAPI KeRemoveQueueDpc(PRKDPC Dpc)
{
    struct nt_dpc *record;

    NT_ENTER();
    if (!check(Dpc, __func__))
        return FALSE;
    record = hash_get(nt_state()->dpcs, (uintptr_t)Dpc);
    if (!record || !sim_dpc_remove(&record->dpc))
        return FALSE;
    drop(record);
    return TRUE;
}

NT_EXPORT VOID NTAPI KeSetImportanceDpc(PRKDPC Dpc, KDPC_IMPORTANCE Importance)
{
    NT_ENTER();
    if (!check(Dpc, __func__))
        return;
    if ((unsigned)Importance > MediumHighImportance)
        VIOLATION("NT-084", "%s with importance %d", __func__, (int)Importance);
    else
        Dpc->Importance = (UCHAR)Importance;
}

static NTSTATUS set_target(PKDPC dpc, unsigned group, int number, const char *routine)
{
    if (!check(dpc, routine))
        return STATUS_INVALID_PARAMETER;
    if (group != 0 || number < 0 || (unsigned)number >= sim_current->processors) {
        VIOLATION("NT-084", "%s with processor %d of group %u", routine, number, group);
        return STATUS_INVALID_PARAMETER;
    }
    dpc->Number = (USHORT)(DPC_TARGET_BASE + (unsigned)number);
    return STATUS_SUCCESS;
}

NT_EXPORT VOID NTAPI KeSetTargetProcessorDpc(PRKDPC Dpc, CCHAR Number)
{
    NT_ENTER();
    set_target(Dpc, 0, Number, __func__);
}

NT_EXPORT NTSTATUS NTAPI KeSetTargetProcessorDpcEx(PKDPC Dpc, PPROCESSOR_NUMBER ProcNumber)
{
    NT_ENTER();
    return set_target(Dpc, ProcNumber->Group, ProcNumber->Number, __func__);
}

NT_EXPORT VOID NTAPI KeFlushQueuedDpcs(void)
{
    NT_ENTER();
    if (nt_level(NT_PASSIVE, "NT-086", NT_NO_CODE, __func__))
        sim_dpc_flush();
}
