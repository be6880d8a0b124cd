/* SPDX-License-Identifier: MIT */
/* KeBugCheck and the callbacks that drivers register for it. */
#include "nt/ke/bugcheck.h"
#include "nt/base/export.h"
#include "nt/base/memory.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "sim/inside.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/stop.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/verify.h"

struct nt_bugcheck_callback {
    struct nt_resource resource;
    struct list link;
    PVOID record; /* the driver's */
    bool reason;  /* KBUGCHECK_REASON_CALLBACK_RECORD */
};

static bool init(struct nt *nt)
{
    list_init(nt->bugcheck_callbacks);
    return true;
}

const struct nt_component nt_bugcheck_component = {
    .slot = offsetof(struct nt, bugcheck_callbacks),
    .bytes = sizeof(struct list),
    .init = init,
};

/* Run at HIGH_LEVEL, each once. If a callback faults, the machine stops anyway. */
void nt_bugcheck_callbacks_run(void)
{
    struct nt *nt = nt_state();
    uint64_t outer = sim_inside_enter(SIM_FOREVER);
    struct list *node;

    sim_raise_irql(SIM_IRQL_HIGH);
    while ((node = list_pop_front(nt->bugcheck_callbacks)) != NULL) {
        struct nt_bugcheck_callback *callback = CONTAINER(node, struct nt_bugcheck_callback, link);
        PKBUGCHECK_REASON_CALLBACK_RECORD reason = callback->record;
        PKBUGCHECK_CALLBACK_RECORD plain = callback->record;

        if (callback->reason)
            reason->CallbackRoutine(reason->Reason, reason, NULL, 0);
        else
            plain->CallbackRoutine(plain->Buffer, plain->Length);
    }
    sim_inside_leave(outer);
}

_Noreturn static void stop(ULONG code, const ULONG_PTR parameter[4], const char *routine)
{
    nt_bugcheck_callbacks_run();
    verify_fatal("NT-166", code, parameter[0], parameter[1], parameter[2], parameter[3],
                 "%s with code %#x", routine, code);
    /* Whatever the configured severity, the caller never continues. */
    sim_stop();
    for (;;)
        sim_spin();
}

NT_EXPORT DECLSPEC_NORETURN VOID NTAPI KeBugCheckEx(ULONG BugCheckCode, ULONG_PTR BugCheckParameter1,
                                                    ULONG_PTR BugCheckParameter2,
                                                    ULONG_PTR BugCheckParameter3,
                                                    ULONG_PTR BugCheckParameter4)
{
    const ULONG_PTR parameter[4] = {BugCheckParameter1, BugCheckParameter2, BugCheckParameter3,
                                    BugCheckParameter4};

    stop(BugCheckCode, parameter, __func__);
}

NT_EXPORT DECLSPEC_NORETURN VOID NTAPI KeBugCheck(ULONG BugCheckCode)
{
    const ULONG_PTR parameter[4] = {0, 0, 0, 0};

    stop(BugCheckCode, parameter, __func__);
}

/* ---- registration ---- */

static struct nt_bugcheck_callback *find(const void *record)
{
    struct nt *nt = nt_state();

    LIST_FOR(node, nt->bugcheck_callbacks) {
        struct nt_bugcheck_callback *callback = CONTAINER(node, struct nt_bugcheck_callback, link);

        if (callback->record == record)
            return callback;
    }
    return NULL;
}

static void reclaim(struct nt_resource *resource);

static const struct nt_resource_class callback_class = {
    .rule = "NT-166",
    .noun = "bug check callback",
    .reclaim = reclaim,
};

static bool add(PVOID record, bool reason, const void *caller)
{
    struct nt_bugcheck_callback *callback;

    if (find(record))
        return false;
    callback = util_zalloc(1, sizeof(*callback));
    if (!callback)
        return false;
    callback->record = record;
    callback->reason = reason;
    list_push_back(nt_state()->bugcheck_callbacks, &callback->link);
    nt_resource_track(&callback->resource, &callback_class, caller);
    return true;
}

static void reclaim(struct nt_resource *resource)
{
    struct nt_bugcheck_callback *callback = CONTAINER(resource, struct nt_bugcheck_callback,
                                                      resource);

    nt_resource_untrack(resource);
    list_remove(&callback->link);
    util_free(callback);
}

static bool remove_callback(const void *record)
{
    struct nt_bugcheck_callback *callback = find(record);

    if (callback)
        reclaim(&callback->resource);
    return callback;
}

NT_EXPORT BOOLEAN NTAPI KeRegisterBugCheckCallback(PKBUGCHECK_CALLBACK_RECORD CallbackRecord,
                                                   PKBUGCHECK_CALLBACK_ROUTINE CallbackRoutine,
                                                   PVOID Buffer, ULONG Length, PUCHAR Component)
{
    NT_ENTER();
    if (!nt_memory_check(CallbackRecord, "callback record", __func__) || !CallbackRoutine ||
        !add(CallbackRecord, false, NT_CALLER()))
        return FALSE;
    CallbackRecord->CallbackRoutine = CallbackRoutine;
    CallbackRecord->Buffer = Buffer;
    CallbackRecord->Length = Length;
    CallbackRecord->Component = Component;
    CallbackRecord->State = BufferInserted;
    return TRUE;
}

NT_EXPORT BOOLEAN NTAPI KeDeregisterBugCheckCallback(PKBUGCHECK_CALLBACK_RECORD CallbackRecord)
{
    NT_ENTER();
    if (!remove_callback(CallbackRecord))
        return FALSE;
    CallbackRecord->State = BufferEmpty;
    return TRUE;
}

NT_EXPORT BOOLEAN NTAPI
KeRegisterBugCheckReasonCallback(PKBUGCHECK_REASON_CALLBACK_RECORD CallbackRecord,
                                 PKBUGCHECK_REASON_CALLBACK_ROUTINE CallbackRoutine,
                                 KBUGCHECK_CALLBACK_REASON Reason, PUCHAR Component)
{
    NT_ENTER();
    if (!nt_memory_check(CallbackRecord, "callback record", __func__) || !CallbackRoutine ||
        !add(CallbackRecord, true, NT_CALLER()))
        return FALSE;
    CallbackRecord->CallbackRoutine = CallbackRoutine;
    CallbackRecord->Reason = Reason;
    CallbackRecord->Component = Component;
    CallbackRecord->State = BufferInserted;
    return TRUE;
}

NT_EXPORT BOOLEAN NTAPI
KeDeregisterBugCheckReasonCallback(PKBUGCHECK_REASON_CALLBACK_RECORD CallbackRecord)
{
    NT_ENTER();
    if (!remove_callback(CallbackRecord))
        return FALSE;
    CallbackRecord->State = BufferEmpty;
    return TRUE;
}
