/* SPDX-License-Identifier: MIT */
/*
 * Threads: each simulated thread has a KTHREAD, created with it (system and client threads) or when
 * a service first needs it (threads of other rooms of the host); an idle processor has one for the
 * interrupts and DPCs that run on it.
 */
#include <stdio.h>
#include <string.h>

#include "nt/ps/thread.h"
#include "nt/base/active.h"
#include "nt/base/current.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/image.h"
#include "nt/base/kprocess.h"
#include "nt/base/nt_report.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/dispatcher.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/mutex.h"
#include "nt/ke/processor.h"
#include "nt/ke/spinlock.h"
#include "nt/ke/wait.h"
#include "nt/ob/handle.h"
#include "nt/ob/object.h"
#include "nt/ps/attach.h"
#include "nt/ps/process.h"
#include "sim/inside.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/stack.h"
#include "sim/stop.h"
#include "sim/thread.h"
#include "util/alloc.h"
#include "util/assert.h"
#include "util/list.h"
#include "verify/verify.h"

#define THREAD_ENDED_WITH_APCS_DISABLED 0x20u
#define DEFAULT_PRIORITY                8

static struct _ETHREAD *ethread(struct _KTHREAD *thread)
{
    return CONTAINER(thread, struct _ETHREAD, tcb);
}

static bool init_thread(struct _ETHREAD *ethread, struct sim_thread *sim,
                        void (*destroy)(struct nt_object *object))
{
    struct _KTHREAD *thread = &ethread->tcb;

    nt_dispatcher_init(&thread->header, NT_THREAD, sizeof(thread->header), 0);
    thread->sim = sim;
    ethread->wait.thread = thread;
    thread->wait = &ethread->wait;
    thread->priority = DEFAULT_PRIORITY;
    list_init(&thread->owned);
    list_init(&thread->actives);
    list_init(&ethread->resource.link);
    list_push_back(&nt_state()->threads->all, &thread->link);
    ethread->object.host_references = 1;
    return nt_object_init(&ethread->object, NT_OBJECT_THREAD, thread, destroy);
}

static void free_thread(struct _ETHREAD *thread)
{
    list_remove(&thread->tcb.link);
    util_free(thread->wait.extra);
    util_free(thread);
}

static void destroy_object(struct nt_object *object)
{
    free_thread(CONTAINER(object, struct _ETHREAD, object));
}

static struct _ETHREAD *create_thread(struct sim_thread *sim)
{
    struct _ETHREAD *thread = util_zalloc(1, sizeof(*thread));

    if (!thread)
        return NULL;
    if (!init_thread(thread, sim, destroy_object)) {
        free_thread(thread);
        return NULL;
    }
    return thread;
}

/* A thread of the host ends: what was created for it at its first call of a service is freed. */
static void end_host_thread(void *arg)
{
    struct _ETHREAD *thread = arg;

    nt_wait_end(&thread->wait);
    nt_active_drop_all(&thread->tcb.actives, "the stack of a thread that ended");
    *sim_thread_local(thread->tcb.sim) = NULL;
    thread->object.host_references = 0;
    nt_object_release(&thread->object);
}

static struct _KTHREAD *adopt(struct sim_thread *sim)
{
    struct nt_faults faults = nt_faults_off();
    struct _ETHREAD *thread = create_thread(sim);

    nt_faults_on(faults);
    if (!thread)
        return NULL;
    *sim_thread_local(sim) = &thread->tcb;
    sim_thread_on_exit(sim, end_host_thread, thread);
    return &thread->tcb;
}

static bool init(struct nt *nt)
{
    struct _ETHREAD *idle = util_zalloc(sim_current->processors, sizeof(*idle));

    if (!idle)
        return false;
    for (unsigned i = 0; i < sim_current->processors; i++)
        nt->threads->idle[i] = sim_idle_head(i)->local = &idle[i].tcb;
    nt->threads->adopt = adopt;
    for (unsigned i = 0; i < sim_current->processors; i++) {
        if (!init_thread(&idle[i], NULL, NULL))
            return false;
    }
    return true;
}

static void finish(struct nt *nt)
{
    LIST_FOR_SAFE(node, following, &nt->threads->all) {
        struct _KTHREAD *thread = CONTAINER(node, struct _KTHREAD, link);

        nt_mutex_forget_all(thread);
        if (thread->sim)
            free_thread(ethread(thread));
    }
    for (unsigned i = 0; i < sim_current->processors; i++)
        sim_idle_head(i)->local = NULL;
    if (nt->threads->idle[0])
        util_free(ethread(nt->threads->idle[0]));
}

const struct nt_component nt_thread_component = {.init = init, .finish = finish};

void nt_thread_forget_image(const struct nt_image *image)
{
    LIST_FOR(node, &nt_state()->threads->all) {
        struct _KTHREAD *thread = CONTAINER(node, struct _KTHREAD, link);

        if (thread->image == image)
            thread->image = NULL;
    }
}

/* ---- the end of a thread ---- */

static void check_end(const struct _KTHREAD *thread, int32_t apc_disable)
{
    int32_t count = thread->kernel_apc_disable + thread->special_apc_disable - apc_disable;
    uint32_t locks = thread->sleeping_locks + nt_processor()->held_count;

    if (locks != 0)
        NT_VERIFIER("NT-096", 0x100A, (uintptr_t)thread, locks, 0,
                    "thread %s ended owning %u lock(s)", sim_thread_name(thread->sim), locks);
    if (sim_irql() != SIM_IRQL_PASSIVE || (count != 0 && locks == 0))
        verify_fatal("NT-096", THREAD_ENDED_WITH_APCS_DISABLED, 0, (uint64_t)(int64_t)count,
                     sim_irql(), 0, "thread %s ended at %s with an APC disable count of %d",
                     sim_thread_name(thread->sim), nt_irql_name(sim_irql()), count);
    if (thread->attaches != 0)
        VIOLATION("NT-177", "thread %s ended attached to a process", sim_thread_name(thread->sim));
}

/* Runs on the ending thread's stack, as the last thing. */
static void end_thread(void *arg)
{
    struct _KTHREAD *thread = arg;
    struct _ETHREAD *whole = ethread(thread);

    util_assert(sim_current->thread == thread->sim);
    if (!sim_current->stopped) /* after a stop, everything stays as it was */
        check_end(thread, thread->system ? 1 : 0);
    nt_spin_locks_drop(0);
    if (sim_irql() > SIM_IRQL_PASSIVE)
        sim_lower_irql(SIM_IRQL_PASSIVE);
    nt_attach_end_to(0);
    nt_wait_end(thread->wait);
    nt_mutex_abandon_all(thread);
    nt_active_drop_all(&thread->actives, "the stack of a thread that ended");
    nt_resource_untrack(&whole->resource);
    if (thread->process)
        thread->process->threads--;
    thread->header.SignalState = 1;
    nt_wait_wake(&thread->header);
    *sim_thread_local(thread->sim) = NULL;
    whole->object.host_references = 0;
    nt_object_release(&whole->object);
}

/* ---- client threads ---- */

struct sim_thread *nt_client_thread_create(struct nt_process *process, const char *name,
                                           sim_entry entry, void *arg)
{
    struct _ETHREAD *whole = create_thread(NULL);
    struct _KTHREAD *thread;
    struct sim_thread *sim;

    if (!whole)
        return NULL;
    sim = sim_thread_create(name, SIM_THREAD_CLIENT, entry, arg);
    if (!sim) {
        nt_object_release(&whole->object);
        return NULL;
    }
    thread = &whole->tcb;
    thread->sim = sim;
    thread->process = process;
    process->threads++;
    *sim_thread_local(sim) = thread;
    *sim_thread_process(sim) = process;
    sim_thread_on_exit(sim, end_thread, thread);
    return sim;
}

/* ---- system threads ---- */

static void system_thread_main(void *arg)
{
    struct _ETHREAD *thread = arg;

    sim_stack_bounds(&thread->tcb.stack_low, &thread->tcb.stack_high);
    thread->tcb.kernel_apc_disable = 1;
    sim_inside_enter(SIM_FOREVER);
    thread->start(thread->start_context);
    thread->exit_status = STATUS_SUCCESS;
}

static NTSTATUS check_attributes(const OBJECT_ATTRIBUTES *attributes, bool *kernel,
                                 const char *routine)
{
    ULONG flags = attributes ? attributes->Attributes : 0;
    bool system = nt_process_current() == nt_process_system();

    if (flags & (OBJ_PERMANENT | OBJ_EXCLUSIVE | OBJ_OPENIF))
        return STATUS_INVALID_PARAMETER;
    *kernel = system || flags & OBJ_KERNEL_HANDLE;
    if (!*kernel)
        VIOLATION("NT-093", "%s in a client's process without OBJ_KERNEL_HANDLE", routine);
    return STATUS_SUCCESS;
}

/* The process that the new thread should belong to; NULL: the handle is invalid. */
static struct nt_process *process_of_handle(HANDLE handle)
{
    struct nt_object *object;

    if (!handle)
        return nt_process_system();
    if (handle == ZwCurrentProcess())
        return nt_process_current();
    object = nt_handle_object(handle, NT_OBJECT_PROCESS, NULL);
    return object ? object->body : NULL;
}

static void thread_name(char *name, size_t bytes)
{
    const struct nt_image *image = nt_image_current();

    snprintf(name, bytes, "%.20s thread", image ? image->name : "system");
}

static void reclaim(struct nt_resource *resource);

static const struct nt_resource_class thread_class = {
    .rule = "NT-109",
    .noun = "running system thread",
    .busy = nt_resource_always_busy,
    .reclaim = reclaim,
};

struct start {
    PKSTART_ROUTINE routine;
    PVOID context;
    struct nt_process *process;
    const void *caller;
};

/* Start the thread; this cannot fail. */
static void launch(struct _ETHREAD *whole, const struct start *start)
{
    struct _KTHREAD *thread = &whole->tcb;

    whole->start = start->routine;
    whole->start_context = start->context;
    thread->system = true;
    thread->image = nt_image_current();
    thread->process = start->process;
    start->process->threads++;
    *sim_thread_local(thread->sim) = thread;
    *sim_thread_process(thread->sim) = start->process;
    sim_thread_on_exit(thread->sim, end_thread, thread);
    /* the thread keeps a reference while it lives, and it is not used after that */
    sim_thread_release(thread->sim);
    nt_resource_track(&whole->resource, &thread_class, start->caller);
}

static struct _ETHREAD *create_system_thread(const struct start *start, ACCESS_MASK access,
                                             bool kernel, HANDLE *handle)
{
    struct _ETHREAD *thread = create_thread(NULL);
    char name[32];

    if (!thread)
        return NULL;
    *handle = nt_handle_create(&thread->object, access ? access : THREAD_ALL_ACCESS, kernel,
                               start->caller);
    if (!*handle) {
        nt_object_release(&thread->object);
        return NULL;
    }
    thread_name(name, sizeof(name));
    thread->tcb.sim = sim_thread_create(name, SIM_THREAD_KERNEL, system_thread_main, thread);
    if (!thread->tcb.sim) {
        nt_handle_close(*handle);
        nt_object_release(&thread->object);
        return NULL;
    }
    launch(thread, start);
    return thread;
}

NT_EXPORT NTSTATUS NTAPI PsCreateSystemThread(PHANDLE ThreadHandle, ULONG DesiredAccess,
                                              POBJECT_ATTRIBUTES ObjectAttributes,
                                              HANDLE ProcessHandle, PCLIENT_ID ClientId,
                                              PKSTART_ROUTINE StartRoutine, PVOID StartContext)
{
    struct start start = {StartRoutine, StartContext, NULL, NT_CALLER()};
    struct _ETHREAD *thread;
    NTSTATUS status;
    HANDLE handle;
    bool kernel;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-092", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!ThreadHandle || !StartRoutine)
        return STATUS_INVALID_PARAMETER;
    start.process = process_of_handle(ProcessHandle);
    if (!start.process)
        return STATUS_INVALID_HANDLE;
    status = check_attributes(ObjectAttributes, &kernel, __func__);
    if (!NT_SUCCESS(status))
        return status;
    thread = create_system_thread(&start, DesiredAccess, kernel, &handle);
    if (!thread)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (ClientId) {
        ClientId->UniqueProcess = nt_process_id(start.process);
        ClientId->UniqueThread = nt_thread_id(&thread->tcb);
    }
    *ThreadHandle = handle;
    return STATUS_SUCCESS;
}

/* A thread that still runs at unload cannot be terminated: it continues without an owner. */
static void reclaim(struct nt_resource *resource)
{
    struct _ETHREAD *thread = CONTAINER(resource, struct _ETHREAD, resource);

    list_init(&resource->link);
    thread->tcb.image = NULL;
}

NT_EXPORT NTSTATUS NTAPI PsTerminateSystemThread(NTSTATUS ExitStatus)
{
    struct _KTHREAD *thread;

    NT_ENTER();
    thread = nt_thread();
    if (!thread->system || sim_irql() >= SIM_IRQL_DISPATCH) {
        VIOLATION("NT-094", "%s at %s in %s", __func__, nt_irql_name(sim_irql()),
                  thread->system ? "a system thread"
                                 : "a thread that PsCreateSystemThread did not make");
        return STATUS_INVALID_PARAMETER;
    }
    if (sim_is_freezing()) /* in a bug check callback: that goes on to the stop */
        sim_stop();
    ethread(thread)->exit_status = ExitStatus;
    sim_thread_exit();
}

NT_EXPORT BOOLEAN NTAPI PsIsSystemThread(PETHREAD Thread)
{
    struct nt_object *object;

    NT_ENTER();
    object = nt_object_find(Thread);
    return object && object->type == NT_OBJECT_THREAD &&
           CONTAINER(object, struct _ETHREAD, object)->tcb.system;
}

NT_EXPORT PKTHREAD NTAPI KeGetCurrentThread(void) /* not a point; see KeGetCurrentIrql */
{
    return nt_thread();
}

HANDLE nt_thread_id(const struct _KTHREAD *thread)
{
    uintptr_t id = thread->sim ? sim_thread_id(thread->sim) : 0;

    return (HANDLE)(id * 8); /* none of a process, whose ids are odd multiples of 4 */
}

NT_EXPORT HANDLE NTAPI PsGetCurrentThreadId(void)
{
    NT_ENTER();
    return nt_thread_id(nt_thread());
}

/* ---- priority ---- */

static struct _KTHREAD *check_thread(PKTHREAD pointer, const char *routine)
{
    struct nt_object *object = nt_object_find(pointer);

    if (object && object->type == NT_OBJECT_THREAD)
        return pointer;
    VIOLATION("NT-097", "%s of something that is no thread", routine);
    return NULL;
}

NT_EXPORT KPRIORITY NTAPI KeSetPriorityThread(PKTHREAD Thread, KPRIORITY Priority)
{
    struct _KTHREAD *thread;
    KPRIORITY before;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-097", NT_NO_CODE, __func__))
        return 0;
    thread = check_thread(Thread, __func__);
    if (!thread)
        return 0;
    if (Priority <= LOW_PRIORITY || Priority > HIGH_PRIORITY) {
        VIOLATION("NT-097", "%s with priority %d", __func__, Priority);
        return thread->priority;
    }
    before = thread->priority;
    thread->priority = Priority;
    return before;
}

NT_EXPORT KPRIORITY NTAPI KeQueryPriorityThread(PKTHREAD Thread)
{
    struct _KTHREAD *thread;

    NT_ENTER();
    thread = check_thread(Thread, __func__);
    return thread ? thread->priority : 0;
}
