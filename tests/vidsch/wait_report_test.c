/* SPDX-License-Identifier: MIT */
/* What is told of a machine that stands still: whole reports. */
#include "nt/base/kprocess.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "vidmm/process.h"
#include "vidsch/process.h"
#include "vidsch/support/hang.h"
#include "vidsch/wait_report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NOBODY     "    no signal of it is queued: a client must signal it"
#define NOBODY_GPU NOBODY ", or commands of the GPU write it\n"

static char *printed(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *printed(const char *format, ...)
{
    static char text[16][1024];
    static unsigned next;
    char *to = text[next++ % 16];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(to, sizeof(text[0]), format, arguments);
    va_end(arguments);
    return to;
}

static const char *name(const struct vidsch_context *context)
{
    const struct vidsch_process *process = context->device->process;

    return printed("context %u of process %u (%s)", ddi_handle_number(context->mm.host_handle),
                   process->id, vidmm_process_nt(process->mm)->name);
}

/* What a packet in flight is told as; `more` stands behind it. */
static const char *on_node(const struct fixture *f, uint32_t node, uint32_t index, const char *who,
                           const char *more)
{
    const struct vidsch_node *n = &f->vidsch->node[node];

    return printed("node %u: fence %u of %s, submitted %.3f ms ago%s\n", node,
                   node_in_flight(n, index)->fence, who,
                   (double)(sim_now() - node_submitted_at(n, index)) / 1e6, more);
}

static bool reports(struct fixture *f, const char *first, const char *second, const char *third)
{
    char expected[4096];

    snprintf(expected, sizeof(expected), "%s%s%s", first, second, third);
    f->waits[0] = '\0';
    vidsch_wait_report();
    if (strcmp(f->waits, expected) == 0)
        return true;
    printf("got\n%sexpected\n%s", f->waits, expected);
    return false;
}

static struct vidsch_sync *make_typed(struct vidsch_device *device,
                                      D3DDDI_SYNCHRONIZATIONOBJECT_TYPE type)
{
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = {.Type = type};

    if (type == D3DDDI_FENCE)
        info.Fence.FenceValue = 4;
    if (type == D3DDDI_SEMAPHORE)
        info.Semaphore.MaxCount = 2;
    if (type == D3DDDI_SYNCHRONIZATION_MUTEX)
        info.SynchronizationMutex.InitialState = TRUE;
    return make_sync(device, info);
}

TEST_WITH(fixture, nothing_is_told_where_nobody_waits)
{
    struct vidsch_device *device = make_device(f);

    make_context(device, 1);
    make_fence(device, 0);
    CHECK(reports(f, "", "", ""));
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_wait_names_each_object)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1);
    struct vidsch_sync *list[4] = {make_fence(device, 3), make_typed(device, D3DDDI_FENCE),
                                   make_typed(device, D3DDDI_SEMAPHORE),
                                   make_typed(device, D3DDDI_SYNCHRONIZATION_MUTEX)};
    const UINT64 values[4] = {5, 9};

    CHECK(vidsch_sync_wait_gpu(a, list, values, 4) == STATUS_SUCCESS);
    CHECK(reports(
        f, printed("%s waits for monitored fence 1 to reach 5, it is 3\n" NOBODY_GPU, name(a)),
        printed("%s waits (and) for fence 2 to reach 9, it is 4\n" NOBODY "\n", name(a)),
        printed("%s waits (and) for semaphore 3, whose count is 0\n" NOBODY "\n"
                "%s waits (and) for mutex 4, whose count is 0\n" NOBODY "\n",
                name(a), name(a))));
    vidsch_device_mark_error(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    idle(device);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_mutex_has_an_owner)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1);
    struct vidsch_sync *mutex = make_sync(
        device, (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SYNCHRONIZATION_MUTEX});

    wait_gpu(a, mutex, 0);
    wait_gpu(b, mutex, 0);
    CHECK(reports(f, printed("%s waits for mutex 1, whose count is 0\n", name(b)),
                  printed("    %s owns it\n", name(a)), NOBODY "\n"));
    vidsch_sync_destroy(mutex);
    idle(device);
    vidsch_device_destroy(device);
}

static void on_notify(void *context, NTSTATUS status)
{
    *(NTSTATUS *)context = status;
}

static void wait_for_either(void *arg)
{
    struct vidsch_sync **list = arg;
    const UINT64 values[2] = {1, 2};

    (void)vidsch_sync_wait_cpu(list, values, 2, true, SIM_FOREVER);
}

/* Another scheduler of the machine, which has nothing to tell, does not hide this one. */
TEST_WITH(fixture, waits_of_the_cpu_are_told_of_every_adapter)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_sync *list[2] = {make_fence(device, 0), make_fence(device, 1)};
    struct vidsch *others[3] = {NULL, NULL, NULL};
    struct vidsch_config config = f->config;
    const UINT64 value = 7;
    NTSTATUS status = STATUS_PENDING;
    struct sim_thread *thread = spawn(f, wait_for_either, list);

    config.node = f->info;
    for (unsigned i = 0; i < 3; i++)
        CHECK(vidsch_create(&config, &others[i]) == STATUS_SUCCESS);
    vidsch_set_of_adapter(&f->ddi, f->vidsch);
    pass(MS);
    CHECK(vidsch_sync_wait_async(&list[1], &value, 1, false, on_notify, &status) == STATUS_SUCCESS);
    CHECK(reports(f,
                  "thread other waits for monitored fence 1 to reach 1, it is 0\n" NOBODY_GPU
                  "thread other waits (or) for monitored fence 2 to reach 2, it is 1\n",
                  NOBODY_GPU
                  "an event of a client waits for monitored fence 2 to reach 7, it is 1\n",
                  NOBODY_GPU));
    CHECK(vidsch_first() == others[2]);
    vidsch_destroy(others[0]); /* which is in the midst of them */
    CHECK(vidsch_first() == others[2] && others[2]->next == others[1] &&
          others[1]->next == f->vidsch && !f->vidsch->next);
    vidsch_destroy(others[1]);
    CHECK(vidsch_first() == others[2] && others[2]->next == f->vidsch);
    vidsch_destroy(others[2]);
    CHECK(vidsch_first() == f->vidsch && !f->vidsch->next &&
          vidsch_of_adapter(&f->ddi) == f->vidsch);
    signal_cpu(list[1], 7);
    join(thread);
    CHECK(status == STATUS_SUCCESS);
    CHECK(reports(f, "", "", ""));
    vidsch_device_destroy(device);
}

/* ---- signals ---- */

TEST_WITH(fixture, signals_are_told_where_they_are)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1),
                          *c = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0), *gate = make_fence(device, 0),
                       *semaphore = make_typed(device, D3DDDI_SEMAPHORE);
    struct vidsch_sync *both[2] = {fence, semaphore};
    const UINT64 values[2] = {6};

    f->driver.engine[1].hang = true;
    submit(a, 0x1000, 16);
    pass(MS);
    signal_gpu(a, gate, 0); /* of another object */
    signal_gpu(a, fence, 2);
    wait_gpu(b, gate, 1);
    signal_gpu(b, fence, 3);
    submit(b, 0x2000, 16);
    signal_gpu(b, semaphore, 0);
    CHECK(vidsch_sync_wait_gpu(c, both, values, 2) == STATUS_SUCCESS);
    CHECK(reports(f,
                  printed("%s waits for monitored fence 1 to reach 1, it is 0\n"
                          "    a signal to 0 follows fence 1 on node 1\n",
                          name(b)),
                  printed("%s waits for monitored fence 2 to reach 6, it is 0\n"
                          "    a signal to 2 follows fence 1 on node 1\n"
                          "    a signal to 3 is queued in %s, behind 1 packet(s) and its own wait\n"
                          "%s waits (and) for semaphore 3, whose count is 0\n"
                          "    a signal is queued in %s, behind 2 packet(s) and its own wait\n",
                          name(c), name(b), name(c), name(b)),
                  on_node(f, 1, 0, name(a), "")));
    vidsch_device_mark_error(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    driver_run(f, 1);
    idle(device);
    vidsch_device_destroy(device);
}

/* Four of an object are shown, from either place. */
TEST_WITH(fixture, many_signals_are_counted)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1), *b = make_context(device, 1),
                          *c = make_context(device, 1);
    struct vidsch_sync *fence = make_fence(device, 0);
    char *five;

    f->driver.engine[1].hang = true;
    submit(a, 0x1000, 16);
    submit(a, 0x2000, 16);
    pass(MS);
    submit(b, 0x3000, 16); /* the node is full */
    wait_gpu(c, fence, 100);
    for (UINT64 i = 1; i <= 3; i++)
        signal_gpu(a, fence, i);
    signal_gpu(b, fence, 4);
    five = printed("%s has 2 packet(s) in its queue for node 1\n"
                   "%s waits for monitored fence 1 to reach 100, it is 0\n"
                   "    a signal to 1 follows fence 2 on node 1\n"
                   "    a signal to 2 follows fence 2 on node 1\n"
                   "    a signal to 3 follows fence 2 on node 1\n"
                   "    a signal to 4 is queued in %s, behind 1 packet(s)\n",
                   name(b), name(c), name(b));
    CHECK(reports(f, five, on_node(f, 1, 0, name(a), ""), on_node(f, 1, 1, name(a), "")));
    signal_gpu(b, fence, 5);
    five = printed("%s has 3 packet(s) in its queue for node 1\n"
                   "%s waits for monitored fence 1 to reach 100, it is 0\n"
                   "    a signal to 1 follows fence 2 on node 1\n"
                   "    a signal to 2 follows fence 2 on node 1\n"
                   "    a signal to 3 follows fence 2 on node 1\n"
                   "    a signal to 4 is queued in %s, behind 1 packet(s)\n"
                   "    and 1 signals more\n",
                   name(b), name(c), name(b));
    CHECK(reports(f, five, on_node(f, 1, 0, name(a), ""), on_node(f, 1, 1, name(a), "")));
    for (UINT64 i = 6; i <= 8; i++)
        signal_gpu(a, fence, i);
    five = printed("%s has 3 packet(s) in its queue for node 1\n"
                   "%s waits for monitored fence 1 to reach 100, it is 0\n"
                   "    a signal to 1 follows fence 2 on node 1\n"
                   "    a signal to 2 follows fence 2 on node 1\n"
                   "    a signal to 3 follows fence 2 on node 1\n"
                   "    a signal to 6 follows fence 2 on node 1\n"
                   "    and 4 signals more\n",
                   name(b), name(c));
    CHECK(reports(f, five, on_node(f, 1, 0, name(a), ""), on_node(f, 1, 1, name(a), "")));
    vidsch_device_mark_error(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT);
    driver_run(f, 1);
    idle(device);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_fence_of_paging_is_signalled_by_the_host)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1);
    struct vidsch_sync *fence = make_sync(
        device,
        (D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_MONITORED_FENCE, .Flags.NoSignal = 1});

    wait_gpu(a, fence, 1);
    CHECK(reports(f, printed("%s waits for monitored fence 1 to reach 1, it is 0\n", name(a)),
                  "    only the host signals it, when paging work ends\n", ""));
    vidsch_sync_progress(fence, 1);
    idle(device);
    vidsch_device_destroy(device);
}

/* ---- queues and nodes ---- */

TEST_WITH(fixture, queues_are_told_with_what_holds_them_back)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1);

    device->mm->missing = true;
    submit(a, 0x1000, 16);
    submit(a, 0x2000, 16);
    pass(MS);
    CHECK(reports(f, printed("%s has 2 packet(s) in its queue for node 1, held back\n", name(a)),
                  "", ""));
    device->mm->missing = false;
    vidsch_for_vidmm.device_resident(device->mm);
    idle(device);
    vidsch_device_destroy(device);
}

TEST_WITH(fixture, a_node_tells_of_its_preemption)
{
    struct hang s = hang_make(f);
    struct vidsch_node *node = &f->vidsch->node[1];
    const char *queues, *packets;

    pass(2500 * MS); /* more than TdrDelay, and not yet twice that */
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && node->preempting);
    queues = printed("%s has 2 packet(s) in its queue for node 1\n"
                     "%s has 2 packet(s) in its queue for node 1\n",
                     name(s.a), name(s.b));
    packets = printed("%s%s", on_node(f, 1, 0, name(s.a), ""), on_node(f, 1, 1, name(s.b), ""));
    CHECK(reports(f, queues, packets,
                  printed("node 1: preemption (id 1) was asked for %.3f ms ago and is not "
                          "answered\n",
                          (double)(sim_now() - node->preempt_past.asked_at) / 1e6)));
    node->stopped = true;
    CHECK(reports(f, queues, packets,
                  printed("node 1: preemption (id 1) was asked for %.3f ms ago and is not "
                          "answered\nnode 1: closed for recovery\n",
                          (double)(sim_now() - node->preempt_past.asked_at) / 1e6)));
    node->stopped = false;
    hang_end(f, &s);
}

TEST_WITH(fixture, a_node_tells_of_paging_and_of_what_came_back)
{
    struct vidsch_device *device = make_device(f);
    struct vidsch_context *a = make_context(device, 1);
    uint64_t ticket;

    f->driver.engine[1].hang = true;
    submit(a, 0x1000, 16);
    submit(a, 0x2000, 16);
    pass(MS);
    ticket = page(f, 64);
    pass(MS);
    CHECK(calls_of(f, CALL_PREEMPT) == 1 && f->vidsch->node[1].count == 2);
    CHECK(reports(f, printed("%s has 1 packet(s) in its queue for node 1\n", name(a)),
                  on_node(f, 1, 0,
                          printed("context %u of the system device (paging)",
                                  ddi_handle_number(f->vidsch->system_context->mm.host_handle)),
                          ""),
                  on_node(f, 1, 1, name(a), ", after it was preempted or reset")));
    driver_run(f, 1);
    CHECK(vidsch_for_vidmm.paging_wait(&f->ddi, ticket) == STATUS_SUCCESS);
    idle(device);
    vidsch_device_destroy(device);
}
