/* SPDX-License-Identifier: MIT */
/*
 * Running: client programs as threads of simulated processes, and the host's own work on kernel
 * threads.
 *
 * A process ends with its last thread, which on its way out takes down what the process left in the
 * client interface. Its remains are freed between runs, off its threads' stacks.
 */
#include "host/run.h"
#include "host/client_pages.h"
#include "dxgkhost/dxgkhost.h"
#include "host/enter.h"
#include "host/log.h"
#include "host/machine_record.h"
#include "host/recorder.h"
#include "host/waits.h"
#include "kmt/kmt.h"
#include "kmt/process.h"
#include "nt/base/current.h"
#include "nt/base/kprocess.h"
#include "nt/ps/process.h"
#include "nt/ps/thread.h"
#include "sim/machine.h"
#include "sim/mark.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/list.h"

#include <string.h>

struct process_start {
    struct dxgk_machine *machine;
    struct host_process *process;
    void (*fn)(void *argument);
    void *argument;
};

static enum dxgk_result result_of(enum sim_outcome outcome)
{
    switch (outcome) {
    case SIM_DONE:
        return DXGK_OK;
    case SIM_DEADLOCK:
        return DXGK_DEADLOCK;
    case SIM_STOPPED:
        return DXGK_DRIVER_STOPPED;
    case SIM_INTERRUPTED:
        return DXGK_INTERRUPTED;
    default:
        return DXGK_TIME_UP;
    }
}

/* ---- processes ---- */

static void end_process(struct dxgk_machine *machine, struct host_process *process, bool kill)
{
    uint64_t left = 0;
    struct sim_mark mark;

    if (process->ended)
        return;
    process->ended = true;
    if (!SIM_RECOVER(&mark)) {
        kmt_process_end(process->nt, kill, &left);
        sim_unmark(&mark);
    }
    if (left)
        host_log(machine, "process %s ended with %llu handle(s) open", process->nt->name,
                 (unsigned long long)left); /* KMT-480 */
    machine->live--;
}

static void client_main(void *arg)
{
    struct process_start start = *(struct process_start *)arg;

    util_free(arg);
    start.fn(start.argument);
    if (start.process->nt->threads == 1 + start.process->nt->helpers)
        end_process(start.machine, start.process, false);
}

static bool start_thread(struct dxgk_machine *machine, struct host_process *process,
                         const char *name, void (*fn)(void *argument), void *argument)
{
    struct process_start *start = util_zalloc(1, sizeof(*start));
    struct sim_thread *thread;

    if (!start)
        return false;
    *start = (struct process_start){machine, process, fn, argument};
    thread = nt_client_thread_create(process->nt, name, client_main, start);
    if (!thread) {
        util_free(start);
        return false;
    }
    sim_thread_release(thread);
    return true;
}

static void free_process(struct dxgk_machine *machine, struct host_process *process)
{
    list_remove(&process->link);
    host_client_pages_free_all(machine->ram, &process->pages);
    nt_process_destroy(process->nt);
    util_free(process);
}

static bool start_process(struct dxgk_machine *machine, const char *name,
                          void (*fn)(void *argument), void *argument)
{
    struct host_process *process = util_zalloc(1, sizeof(*process));

    if (!process)
        return false;
    list_init(&process->link);
    list_init(&process->pages);
    process->nt = nt_process_create(name);
    if (!process->nt) {
        util_free(process);
        return false;
    }
    if (!kmt_process_begin(process->nt) || !start_thread(machine, process, name, fn, argument)) {
        kmt_process_end(process->nt, false, NULL);
        free_process(machine, process);
        return false;
    }
    list_push_back(&machine->processes, &process->link);
    machine->live++;
    return true;
}

void host_run_reap_processes(struct dxgk_machine *machine)
{
    LIST_FOR_SAFE(node, following, &machine->processes) {
        struct host_process *process = CONTAINER(node, struct host_process, link);

        if (process->ended && process->nt->threads == 0)
            free_process(machine, process);
    }
}

void host_run_end_processes(struct dxgk_machine *machine)
{
    LIST_FOR(node, &machine->processes)
        end_process(machine, CONTAINER(node, struct host_process, link), true);
}

/* ---- clients ---- */

static bool no_process_left(void *arg)
{
    return ((struct dxgk_machine *)arg)->live == 0;
}

static uint64_t time_limit(const struct dxgk_machine *machine)
{
    uint64_t limit = machine->config.time_limit_ns;

    return limit > SIM_FOREVER - sim_now() ? SIM_FOREVER : sim_now() + limit;
}

static enum dxgk_result run_clients(struct dxgk_machine *machine)
{
    uint64_t until = time_limit(machine);
    enum sim_outcome outcome;

    do
        outcome = sim_run(no_process_left, machine, until);
    while (outcome == SIM_DEADLOCK && kmt_break_deadlock(machine->kmt));
    host_waits_tell(machine, outcome, machine->config.time_limit_ns);
    /* Clients outlive a bug check and come to their end, but what happened is not that. */
    return machine->sim->stopped ? DXGK_DRIVER_STOPPED : result_of(outcome);
}

enum dxgk_result dxgk_machine_run(struct dxgk_machine *machine, const char *process,
                                  void (*fn)(void *argument), void *argument)
{
    enum dxgk_result result = DXGK_OUT_OF_MEMORY;

    if (!process || !fn || !host_begin(machine, NULL, 0))
        return DXGK_ERROR;
    if (machine->shut_down) {
        host_leave(true);
        return DXGK_ERROR;
    }
    host_recorder_doing(machine->config.recorder, "running the process %s", process);
    if (machine->sim->stopped)
        result = DXGK_DRIVER_STOPPED;
    else if (start_process(machine, process, fn, argument))
        result = run_clients(machine);
    if (!machine->sim->stopped)
        host_run_reap_processes(machine);
    host_leave(true);
    return result;
}

static struct host_process *current_process(struct dxgk_machine *machine)
{
    const struct nt_process *nt = nt_process_current();

    LIST_FOR(node, &machine->processes) {
        struct host_process *process = CONTAINER(node, struct host_process, link);

        if (process->nt == nt)
            return process;
    }
    return NULL;
}

static bool on_client_thread(void)
{
    const struct dxgk_machine *machine = host_current();

    return machine && !machine->hooks && sim_current->thread &&
           sim_thread_kind(sim_current->thread) == SIM_THREAD_CLIENT && !sim_current->inside;
}

struct dxgk_machine *host_run_client_machine(void)
{
    return on_client_thread() ? host_current() : NULL;
}

bool dxgk_client_thread(const char *name, void (*fn)(void *argument), void *argument)
{
    struct dxgk_machine *machine = host_current();
    struct host_process *process;

    if (!name || !fn || !on_client_thread() || sim_current->stopped)
        return false;
    process = current_process(machine);
    return process && !process->ended && start_thread(machine, process, name, fn, argument);
}

bool dxgk_client_process(const char *name, void (*fn)(void *argument), void *argument)
{
    struct dxgk_machine *machine = host_current();

    if (!name || !fn || !on_client_thread() || sim_current->stopped)
        return false;
    host_run_reap_processes(machine);
    return start_process(machine, name, fn, argument);
}

void dxgk_client_sleep(uint64_t ns)
{
    struct sim_mark mark;
    uint64_t deadline;

    if (!on_client_thread())
        return;
    deadline = ns < SIM_END - 1 - sim_now() ? sim_now() + ns : SIM_END - 1;
    if (!sim_current->stopped) {
        if (SIM_RECOVER(&mark))
            return;
        if (ns == 0)
            sim_point(); /* or a loop of them would take no time at all */
        sim_block(deadline, NULL);
        sim_unmark(&mark);
        return;
    }
    /* No event fires in a stopped machine; time passes nevertheless. */
    sim_current->now = deadline;
    sim_expedite();
    sim_point();
}

void *dxgk_client_allocate(size_t bytes)
{
    struct dxgk_machine *machine = host_run_client_machine();
    struct host_process *process = machine ? current_process(machine) : NULL;

    if (!process || process->ended || bytes == 0 || bytes > machine->config.ram_bytes)
        return NULL;
    return host_client_pages_take(machine->ram, &process->pages, bytes);
}

bool dxgk_client_free(void *memory)
{
    struct dxgk_machine *machine = host_run_client_machine();
    struct host_process *process = machine ? current_process(machine) : NULL;

    return process && host_client_pages_free(machine->ram, &process->pages, memory);
}

uint64_t dxgk_client_time(void)
{
    return sim_current ? sim_now() : 0;
}

/* ---- the host's own work ---- */

struct task {
    void (*fn)(void *arg);
    void *arg;
    bool done;
};

static void task_main(void *arg)
{
    struct task *task = arg;

    task->fn(task->arg);
    task->done = true;
}

static bool task_done(void *arg)
{
    return ((struct task *)arg)->done;
}

enum dxgk_result host_run_kernel(struct dxgk_machine *machine, const char *name,
                                 void (*fn)(void *arg), void *arg)
{
    struct task task = {fn, arg, false};
    uint64_t until = time_limit(machine);
    struct sim_thread *thread = sim_thread_create(name, SIM_THREAD_KERNEL, task_main, &task);
    enum sim_outcome outcome;

    if (!thread)
        return DXGK_OUT_OF_MEMORY;
    sim_thread_release(thread);
    do
        outcome = sim_run(task_done, &task, until);
    while (outcome == SIM_DEADLOCK && kmt_break_deadlock(machine->kmt));
    host_waits_tell(machine, outcome, machine->config.time_limit_ns);
    return machine->sim->stopped ? DXGK_DRIVER_STOPPED : result_of(outcome);
}
