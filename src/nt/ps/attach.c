/* SPDX-License-Identifier: MIT */
/*
 * Attaching the current thread to the address space of another process (NT-177). While it is
 * attached, that process is the current one: IoGetCurrentProcess names it, and the driver reaches
 * its memory. The thread still belongs to its own process (PsGetCurrentProcessId).
 */
#include "nt/ps/attach.h"
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/kprocess.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ob/object.h"
#include "sim/switch.h"
#include "sim/thread.h"
#include "verify/verify.h"

#define INVALID_PROCESS_ATTACH_ATTEMPT 0x5u
#define INVALID_PROCESS_DETACH_ATTEMPT 0x6u

static void make_current(struct _KTHREAD *thread, struct nt_process *process)
{
    *sim_thread_process(thread->sim) = process;
    sim_notify_switch();
}

/* `state`: the caller's KAPC_STATE, by which its detach is known; NULL: KeAttachProcess. */
static void attach(PRKPROCESS pointer, const void *state, const char *routine)
{
    struct nt_object *object = nt_object_find(pointer);
    struct _KTHREAD *thread = nt_thread();
    struct nt_attach *entry;

    if (!object || object->type != NT_OBJECT_PROCESS) {
        VIOLATION("NT-177", "%s to something that is no process", routine);
        return;
    }
    if (!thread->sim || thread->attaches == NT_ATTACHES) {
        verify_fatal("NT-177", INVALID_PROCESS_ATTACH_ATTEMPT, (uintptr_t)pointer,
                     (uintptr_t)nt_process_current(), thread->attaches, 0, "%s %s", routine,
                     thread->sim ? "nested too deep" : "outside of a thread");
        return;
    }
    nt_object_retain(object);
    entry = &thread->attached[thread->attaches++];
    entry->object = object;
    entry->before = nt_process_current();
    entry->state = state;
    make_current(thread, object->body);
}

static void end_newest(struct _KTHREAD *thread)
{
    struct nt_attach *entry = &thread->attached[--thread->attaches];

    make_current(thread, entry->before);
    nt_object_release(entry->object);
}

void nt_attach_end_to(uint32_t attaches)
{
    struct _KTHREAD *thread = nt_thread();

    while (thread->attaches > attaches)
        end_newest(thread);
}

struct nt_process *nt_process_switch(struct nt_process *process)
{
    struct _KTHREAD *thread = nt_thread();
    struct nt_process *before = nt_process_current();

    if (thread->sim && before != process) /* an idle processor has the system process */
        make_current(thread, process);
    return before;
}

static void detach(const void *state, const char *routine)
{
    struct _KTHREAD *thread = nt_thread();
    const struct nt_attach *entry = thread->attaches ? &thread->attached[thread->attaches - 1]
                                                     : NULL;

    if (!entry || entry->state != state) {
        verify_fatal("NT-177", INVALID_PROCESS_DETACH_ATTEMPT, thread->attaches, 0, 0, 0,
                     "%s without the matching attach", routine);
        return;
    }
    end_newest(thread);
}

NT_EXPORT VOID NTAPI KeStackAttachProcess(PRKPROCESS Process, PRKAPC_STATE ApcState)
{
    NT_ENTER();
    if (!nt_level(NT_APC, "NT-177", NT_NO_CODE, __func__) || !ApcState)
        return;
    ApcState->Process = (PKPROCESS)(void *)nt_process_current();
    ApcState->KernelApcInProgress = FALSE;
    ApcState->KernelApcPending = FALSE;
    ApcState->UserApcPending = FALSE;
    attach(Process, ApcState, __func__);
}

NT_EXPORT VOID NTAPI KeUnstackDetachProcess(PRKAPC_STATE ApcState)
{
    NT_ENTER();
    if (nt_level(NT_APC, "NT-177", NT_NO_CODE, __func__) && ApcState)
        detach(ApcState, __func__);
}

NT_EXPORT VOID NTAPI KeAttachProcess(PRKPROCESS Process)
{
    struct _KTHREAD *thread;

    NT_ENTER();
    if (!nt_level(NT_APC, "NT-177", NT_NO_CODE, __func__))
        return;
    thread = nt_thread();
    if (thread->attaches != 0 && nt_object_find(Process) &&
        (struct nt_process *)(void *)Process != nt_process_current()) {
        verify_fatal("NT-177", INVALID_PROCESS_ATTACH_ATTEMPT, (uintptr_t)Process,
                     (uintptr_t)nt_process_current(), thread->attaches, 0,
                     "%s while attached to another process", __func__);
        return;
    }
    attach(Process, NULL, __func__);
}

NT_EXPORT VOID NTAPI KeDetachProcess(void)
{
    NT_ENTER();
    if (nt_level(NT_APC, "NT-177", NT_NO_CODE, __func__))
        detach(NULL, __func__);
}
