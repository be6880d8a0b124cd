/* SPDX-License-Identifier: MIT */
#include "host/task.h"
#include "sim/machine.h"
#include "sim/mark.h"
#include "sim/thread.h"
#include "sim/wait.h"

struct task {
    void (*fn)(void *arg);
    void *arg;
    bool done;
    struct sim_waitq ended;
};

static void task_main(void *arg)
{
    struct task *task = arg;

    task->fn(task->arg);
    task->done = true;
    (void)sim_waitq_wake(&task->ended, UINT32_MAX);
}

/* False: the machine stopped meanwhile. */
static bool wait_for(struct task *task)
{
    struct sim_mark mark;

    if (SIM_RECOVER(&mark))
        return false;
    while (!task->done && !sim_current->stopped)
        (void)sim_waitq_wait(&task->ended, SIM_FOREVER);
    sim_unmark(&mark);
    return task->done;
}

enum dxgk_result host_task_run(const char *name, void (*fn)(void *arg), void *arg)
{
    struct task task = {.fn = fn, .arg = arg};
    struct sim_thread *thread;

    if (sim_current->stopped)
        return DXGK_DRIVER_STOPPED;
    sim_waitq_init(&task.ended);
    thread = sim_thread_create(name, SIM_THREAD_KERNEL, task_main, &task);
    if (!thread)
        return DXGK_OUT_OF_MEMORY;
    sim_thread_release(thread);
    return wait_for(&task) ? DXGK_OK : DXGK_DRIVER_STOPPED;
}
