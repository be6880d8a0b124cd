/* SPDX-License-Identifier: MIT */
/*
 * Threads: each simulated thread has a KTHREAD, made with it (system and client threads) or when a
 * service first needs one (threads of the host's other rooms); an idle processor has one for the
 * interrupts and DPCs that run on it.
 */
#include <stdio.h>
#include <string.h>

#include "nt/nt_private.h"

#define THREAD_ENDED_WITH_APCS_DISABLED 0x20u
#define DEFAULT_PRIORITY                8

static bool init_thread(struct _KTHREAD *thread, struct sim_thread *sim,
                        void (*destroy)(struct nt_object *object))
{
    struct nt *nt = nt_state();

    nt_header_init(&thread->header, NT_THREAD, sizeof(thread->header), 0);
    thread->sim = sim;
    thread->wait.thread = thread;
    thread->priority = DEFAULT_PRIORITY;
    list_init(&thread->owned);
    list_init(&thread->actives);
    list_init(&thread->resource.link);
    list_push_back(&nt->threads, &thread->link);
    thread->object.host_references = 1;
    return nt_object_init(&thread->object, NT_OBJECT_THREAD, thread, destroy);
}

static void free_thread(struct _KTHREAD *thread)
{
    list_remove(&thread->link);
    util_free(thread->wait.extra);
    util_free(thread);
}

static void destroy_object(struct nt_object *object)
{
    free_thread(CONTAINER(object, struct _KTHREAD, object));
}

static struct _KTHREAD *create_thread(struct sim_thread *sim)
{
    struct _KTHREAD *thread = util_zalloc(1, sizeof(*thread));

    if (!thread)
        return NULL;
    if (!init_thread(thread, sim, destroy_object)) {
        free_thread(thread);
        return NULL;
    }
    return thread;
}

bool nt_threads_init(struct nt *nt)
{
    nt->processor = util_zalloc(sim_current->processors, sizeof(*nt->processor));
    if (!nt->processor)
        return false;
    for (unsigned i = 0; i < sim_current->processors; i++) {
        if (!init_thread(&nt->processor[i].idle, NULL, NULL))
            return false;
    }
    return true;
}

void nt_threads_finish(struct nt *nt)
{
    LIST_FOR_SAFE(node, following, &nt->threads) {
        struct _KTHREAD *thread = CONTAINER(node, struct _KTHREAD, link);

        LIST_FOR_SAFE(mutex, next, &thread->owned)
            util_free(CONTAINER(mutex, struct nt_owned_mutex, link));
        if (thread->sim)
            free_thread(thread);
    }
    util_free(nt->processor);
    nt->processor = NULL;
}

void nt_threads_forget_image(const struct nt_image *image)
{
    struct nt *nt = nt_state();

    LIST_FOR(node, &nt->threads) {
        struct _KTHREAD *thread = CONTAINER(node, struct _KTHREAD, link);

        if (thread->image == image)
            thread->image = NULL;
    }
}

/* A thread of the host's own ends: what was made for it when it first called a service goes with it. */
static void end_host_thread(void *arg)
{
    struct _KTHREAD *thread = arg;

    nt_wait_end(&thread->wait);
    nt_active_drop_all(&thread->actives, "the stack of a thread that ended");
    thread->finished = true;
    *sim_thread_local(thread->sim) = NULL;
    thread->object.host_references = 0;
    nt_object_release(&thread->object);
}

/* Apart, so that the way that all calls take stays short. */
static __attribute__((noinline)) struct _KTHREAD *adopt(struct sim_thread *sim)
{
    struct _KTHREAD **local = (struct _KTHREAD **)sim_thread_local(sim);
    struct nt_faults faults = nt_faults_off();

    *local = create_thread(sim);
    nt_faults_on(faults);
    if (*local)
        sim_thread_on_exit(sim, end_host_thread, *local);
    if (sim == sim_current->thread)
        sim_notify_switch();
    return *local ? *local : &nt_processor()->idle;
}

struct _KTHREAD *nt_thread_of(struct sim_thread *sim)
{
    struct _KTHREAD *thread = *sim_thread_local(sim);

    return thread ? thread : adopt(sim);
}

struct _KTHREAD *nt_thread(void)
{
    return sim_current->thread ? nt_thread_of(sim_current->thread) : &nt_processor()->idle;
}

void *nt_kthread(void)
{
    struct sim_thread *sim = sim_current->thread;
    struct _KTHREAD *thread = sim ? *sim_thread_local(sim) : NULL;

    return thread ? thread : &nt_processor()->idle;
}

void *nt_idle_kthread(unsigned processor)
{
    return &nt_state()->processor[processor].idle;
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
}

/* Runs on the ending thread's stack, last thing. */
static void end_thread(void *arg)
{
    struct _KTHREAD *thread = arg;

    if (!sim_current->stopped) /* a stop leaves everything as it was in the middle of things */
        check_end(thread, thread->system ? 1 : 0);
    nt_spin_locks_drop(0);
    if (sim_irql() > SIM_IRQL_PASSIVE)
        sim_lower_irql(SIM_IRQL_PASSIVE);
    nt_wait_end(&thread->wait);
    nt_mutexes_abandon(thread);
    nt_active_drop_all(&thread->actives, "the stack of a thread that ended");
    nt_resource_untrack(&thread->resource);
    if (thread->process)
        thread->process->threads--;
    thread->finished = true;
    thread->header.SignalState = 1;
    nt_wake(&thread->header);
    *sim_thread_local(thread->sim) = NULL;
    thread->object.host_references = 0;
    nt_object_release(&thread->object);
}

/* ---- client threads ---- */

struct sim_thread *nt_client_thread_create(struct nt_process *process, const char *name,
                                           sim_entry entry, void *arg)
{
    struct _KTHREAD *thread = create_thread(NULL);
    struct sim_thread *sim;

    if (!thread)
        return NULL;
    sim = sim_thread_create(name, SIM_THREAD_CLIENT, entry, arg);
    if (!sim) {
        nt_object_release(&thread->object);
        return NULL;
    }
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
    struct _KTHREAD *thread = arg;

    sim_stack_bounds(&thread->stack_low, &thread->stack_high);
    thread->kernel_apc_disable = 1;
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

/* The process that the thread shall belong to; NULL: the handle is not good. */
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

NT_EXPORT NTSTATUS NTAPI PsCreateSystemThread(PHANDLE ThreadHandle, ULONG DesiredAccess,
                                              POBJECT_ATTRIBUTES ObjectAttributes,
                                              HANDLE ProcessHandle, PCLIENT_ID ClientId,
                                              PKSTART_ROUTINE StartRoutine, PVOID StartContext)
{
    struct nt_process *process;
    struct _KTHREAD *thread;
    char name[32];
    NTSTATUS status;
    HANDLE handle;
    bool kernel;

    NT_ENTER();
    if (!nt_level(NT_PASSIVE, "NT-092", NT_NO_CODE, __func__))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!ThreadHandle || !StartRoutine)
        return STATUS_INVALID_PARAMETER;
    process = process_of_handle(ProcessHandle);
    if (!process)
        return STATUS_INVALID_HANDLE;
    status = check_attributes(ObjectAttributes, &kernel, __func__);
    if (!NT_SUCCESS(status))
        return status;
    thread = create_thread(NULL);
    if (!thread)
        return STATUS_INSUFFICIENT_RESOURCES;
    handle = nt_handle_create(&thread->object, DesiredAccess ? DesiredAccess : THREAD_ALL_ACCESS,
                              kernel, NT_CALLER());
    if (!handle) {
        nt_object_release(&thread->object);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    thread_name(name, sizeof(name));
    thread->sim = sim_thread_create(name, SIM_THREAD_KERNEL, system_thread_main, thread);
    if (!thread->sim) {
        nt_handle_close(handle);
        nt_object_release(&thread->object);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    thread->start = StartRoutine;
    thread->start_context = StartContext;
    thread->system = true;
    thread->image = nt_image_current();
    thread->process = process;
    process->threads++;
    *sim_thread_local(thread->sim) = thread;
    *sim_thread_process(thread->sim) = process;
    sim_thread_on_exit(thread->sim, end_thread, thread);
    sim_thread_release(thread->sim); /* it keeps itself while it lives, and no longer is it used */
    nt_resource_track(&thread->resource, &thread_class, NT_CALLER());
    if (ClientId) {
        ClientId->UniqueProcess = nt_process_id(process);
        ClientId->UniqueThread = nt_thread_id(thread);
    }
    *ThreadHandle = handle;
    return STATUS_SUCCESS;
}

/* A thread that still runs at unload cannot be ended from outside: it goes on without an owner. */
static void reclaim(struct nt_resource *resource)
{
    struct _KTHREAD *thread = CONTAINER(resource, struct _KTHREAD, resource);

    list_init(&resource->link);
    thread->image = NULL;
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
    thread->exit_status = ExitStatus;
    sim_thread_exit();
}

NT_EXPORT BOOLEAN NTAPI PsIsSystemThread(PETHREAD Thread)
{
    struct nt_object *object;

    NT_ENTER();
    object = nt_object_find(Thread);
    return object && object->type == NT_OBJECT_THREAD &&
           CONTAINER(object, struct _KTHREAD, object)->system;
}

NT_EXPORT PKTHREAD NTAPI KeGetCurrentThread(void) /* no point: see KeGetCurrentIrql */
{
    return nt_thread();
}

HANDLE nt_thread_id(const struct _KTHREAD *thread)
{
    uintptr_t id = thread->sim ? sim_thread_id(thread->sim) : 0;

    return (HANDLE)(id * 4);
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
