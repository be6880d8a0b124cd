/* SPDX-License-Identifier: MIT */
/* Processes: the system process, which driver and host threads belong to, and those of clients. */
#include <stdio.h>
#include <string.h>

#include "nt/ps/process.h"
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/kprocess.h"
#include "nt/base/state.h"
#include "nt/ke/dispatcher.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/wait.h"
#include "nt/mm/mdl.h"
#include "nt/mm/user_range.h"
#include "nt/ob/handle.h"
#include "nt/ob/object.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/sim_assert.h"
#include "sim/thread.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/verify.h"

#define PROCESS_HAS_LOCKED_PAGES 0xCBu

struct nt_processes {
    struct list all;
    struct nt_process system;
    struct nt_object system_object;
    uint32_t next_id;
};

static bool init(struct nt *nt)
{
    struct nt_process *system = &nt->processes->system;

    nt->system = system;
    list_init(&nt->processes->all);
    nt_dispatcher_init(&system->header, NT_PROCESS, sizeof(system->header), 0);
    strcpy(system->name, "System");
    handle_table_init(&system->handles, &handle_layout_local);
    list_init(&system->user_ranges);
    sim_mutex_init(&system->driver_entry);
    list_push_back(&nt->processes->all, &system->link);
    nt->processes->system_object.host_references = 1;
    return nt_object_init(&nt->processes->system_object, NT_OBJECT_PROCESS, system, NULL);
}

static void finish(struct nt *nt)
{
    LIST_FOR_SAFE(node, following, &nt->processes->all) {
        struct nt_process *process = CONTAINER(node, struct nt_process, link);

        handle_table_finish(&process->handles);
        if (process == nt->system)
            continue;
        list_remove(&process->link);
        util_free(process->object);
        util_free(process);
    }
}

const struct nt_component nt_process_component = {
    .slot = offsetof(struct nt, processes),
    .bytes = sizeof(struct nt_processes),
    .init = init,
    .finish = finish,
};

static void destroy_object(struct nt_object *object)
{
    struct nt_process *process = object->body;

    list_remove(&process->link);
    handle_table_finish(&process->handles);
    util_free(process);
    util_free(object);
}

struct nt_process *nt_process_create(const char *name)
{
    struct nt *nt = nt_state();
    struct nt_process *process = util_zalloc(1, sizeof(*process));
    struct nt_object *object = util_zalloc(1, sizeof(*object));

    sim_assert_passive();
    if (!process || !object || !nt_object_init(object, NT_OBJECT_PROCESS, process, destroy_object)) {
        util_free(process);
        util_free(object);
        return NULL;
    }
    object->host_references = 1;
    process->object = object;
    process->id = ++nt->processes->next_id;
    nt_dispatcher_init(&process->header, NT_PROCESS, sizeof(process->header), 0);
    snprintf(process->name, sizeof(process->name), "%s", name);
    handle_table_init(&process->handles, &handle_layout_local);
    list_init(&process->user_ranges);
    sim_mutex_init(&process->driver_entry);
    list_push_back(&nt->processes->all, &process->link);
    return process;
}

/* The process ends: its object becomes signaled, and lives on while there are references to it. */
void nt_process_destroy(struct nt_process *process)
{
    uint64_t pages;

    if (!process)
        return;
    sim_assert_passive();
    pages = nt_mdl_locked_pages(process);
    if (pages != 0)
        verify_fatal("NT-121", PROCESS_HAS_LOCKED_PAGES, 0, 0, pages, 0,
                     "process %s ended with %llu page(s) still locked by a driver", process->name,
                     (unsigned long long)pages);
    nt_handle_close_process(process);
    nt_user_range_orphan_all(process);
    process->header.SignalState = 1;
    nt_wait_wake(&process->header);
    process->object->host_references = 0;
    nt_object_release(process->object);
}

/* ---- routines ---- */

NT_EXPORT PEPROCESS NTAPI IoGetCurrentProcess(void)
{
    NT_ENTER();
    return (PEPROCESS)(void *)nt_process_current();
}

/* Process IDs are multiples of four, as in Windows; the system process has 4. */
HANDLE nt_process_id(const struct nt_process *process)
{
    return (HANDLE)(uintptr_t)((uintptr_t)process->id * 8 + 4); /* the system's is 4 */
}

/* Of the process that the thread belongs to, also while it is attached to another (NT-177). */
NT_EXPORT HANDLE NTAPI PsGetCurrentProcessId(void)
{
    const struct _KTHREAD *thread;

    NT_ENTER();
    thread = nt_thread();
    return nt_process_id(thread->attaches ? thread->attached[0].before : nt_process_current());
}

static struct nt_process *check_process(PEPROCESS pointer, const char *routine)
{
    struct nt_object *object = nt_object_find(pointer);

    if (object && object->type == NT_OBJECT_PROCESS)
        return object->body;
    VIOLATION("NT-107", "%s of something that is no process", routine);
    return NULL;
}

NT_EXPORT HANDLE NTAPI PsGetProcessId(PEPROCESS Process)
{
    struct nt_process *process;

    NT_ENTER();
    process = check_process(Process, __func__);
    return process ? nt_process_id(process) : NULL;
}

NT_EXPORT NTSTATUS NTAPI PsLookupProcessByProcessId(HANDLE ProcessId, PEPROCESS *Process)
{
    struct nt *nt;

    NT_ENTER();
    if (!nt_level(NT_APC, "NT-107", NT_NO_CODE, __func__) || !Process)
        return STATUS_INVALID_PARAMETER;
    nt = nt_state();
    LIST_FOR(node, &nt->processes->all) {
        struct nt_process *process = CONTAINER(node, struct nt_process, link);

        if (nt_process_id(process) != ProcessId || process->header.SignalState != 0)
            continue;
        nt_object_retain(nt_object_find(process));
        *Process = (PEPROCESS)(void *)process;
        return STATUS_SUCCESS;
    }
    return STATUS_INVALID_CID;
}

/* There is no security model: every token is the process itself, and every privilege is held. */
NT_EXPORT PACCESS_TOKEN NTAPI PsReferencePrimaryToken(PEPROCESS Process)
{
    struct nt_process *process;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__))
        return NULL;
    process = check_process(Process, __func__);
    if (process)
        nt_object_retain(nt_object_find(process));
    return process;
}

NT_EXPORT VOID NTAPI PsDereferencePrimaryToken(PACCESS_TOKEN PrimaryToken)
{
    NT_ENTER();
    if (nt_level(NT_PASSIVE, "THREAD-009", NT_NO_CODE, __func__) &&
        check_process((PEPROCESS)PrimaryToken, __func__))
        nt_object_release(nt_object_find(PrimaryToken));
}

NT_EXPORT BOOLEAN NTAPI SeTokenIsAdmin(PACCESS_TOKEN Token)
{
    NT_ENTER();
    return Token == (PACCESS_TOKEN)nt_process_system();
}

NT_EXPORT BOOLEAN NTAPI SeSinglePrivilegeCheck(LUID PrivilegeValue, KPROCESSOR_MODE PreviousMode)
{
    NT_ENTER();
    (void)PrivilegeValue;
    return PreviousMode == KernelMode || nt_process_current() == nt_process_system();
}

NT_EXPORT KPROCESSOR_MODE NTAPI ExGetPreviousMode(void)
{
    struct sim_thread *thread;

    NT_ENTER();
    thread = sim_current->thread;
    return thread && sim_thread_kind(thread) == SIM_THREAD_CLIENT ? UserMode : KernelMode;
}
