/* SPDX-License-Identifier: MIT */
/*
 * The GPU scheduler of one adapter: an overview, then its creation, start and stop.
 *
 * A packet's life
 *
 *   client thread   D3DKMTRender, SubmitCommand, a queued wait or signal: a packet is made and put
 *                   on the queue of its context                 render.c, submit.c, sync.c, queue.c
 *   worker          head of the queue, context of highest priority, device resident: fence id,
 *                   Patch, SubmitCommand                                      worker.c, dispatch.c
 *   DIRQL           the driver notifies: checked and recorded                          interrupt.c
 *   DPC             retired in order: signals behind it carried out, fences read again, waiters
 *                   woken, buffers returned                            interrupt_dpc.c, retire.c
 *
 * A packet costs no allocation (slabs, pools), no search (ready lists by level, a ring per node),
 * and at most two switches of fibers: to the worker, and back.
 *
 * When things go wrong
 *
 *   the node is full of less important work: it is asked to preempt                     preempt.c
 *   it completes nothing for too long: it is asked to preempt                           timeout.c
 *   it does not answer: its engine is reset, and if that fails, the adapter
 *                                         recovery_thread.c, engine_reset.c, adapter_reset.c
 *   the driver reports a fault, or refuses a packet: the device is lost, and the packets in its
 *   queues are canceled                                                   device_loss.c, cancel.c
 *
 * Threads: the worker (the only one that submits), and the recovery thread. Both belong to the
 * system process.
 *
 * Files; each uses only those listed before it, except for the two pairs marked <->
 *
 *   waiting and waking    change, kick, device_wait
 *   for people            journal, life, used wherever something happens to a packet
 *   memory                dma_memory, client_block, dma_buffer, slots, paging
 *   objects               scheduler, node, process, sync_object, sync_op
 *   packets and queues    ready, device_loss, packet <-> portion, queue <-> signal
 *   to the GPU and back   recovery, retire, dispatch, preempt, timeout, interrupt, interrupt_dpc
 *   threads               cancel, worker, paging_submit, engine_reset, adapter_reset,
 *                         recovery_thread
 *   the device's side     engine_check, used where the driver notifies, or has reset something
 *   hardware queues       hw_context, hw_retire, hw_suspend, hw_submit, hw_fault and hw_reset, used
 *                         by the three above; hw_queue is an entry point
 *   entry points          context, sync, device, render_answer, render_resize, render, submit,
 *                         suspend, for_vidmm, vidsch, validate
 */
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "vidmm/record/of_adapter.h"
#include "vidmm/vidmm.h"
#include "vidsch/change.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/device_wait.h"
#include "vidsch/dxgkrnl_objects.h"
#include "vidsch/engine_check.h"
#include "vidsch/hw_context.h"
#include "vidsch/hw_log.h"
#include "vidsch/hw_paging.h"
#include "vidsch/hw_submit.h"
#include "vidsch/interrupt.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/paging.h"
#include "vidsch/preempt.h"
#include "vidsch/process.h"
#include "vidsch/recovery.h"
#include "vidsch/root_check.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"
#include "vidsch/sync_op.h"
#include "vidsch/timeout.h"
#include "vidsch/worker.h"

static void use_defaults(struct vidsch_tdr_settings *tdr)
{
    /* TDR-009, TDR-015 */
    if (tdr->level != TDR_LEVEL_OFF && tdr->level != TDR_LEVEL_FATAL)
        tdr->level = TDR_LEVEL_RECOVER;
    if (tdr->delay == 0)
        tdr->delay = 2;
    if (tdr->ddi_delay == 0)
        tdr->ddi_delay = 5;
    if (tdr->limit_count == 0)
        tdr->limit_count = 5;
    if (tdr->limit_time == 0)
        tdr->limit_time = 60;
}

static bool init_nodes(struct vidsch *vidsch)
{
    bool good = true;

    vidsch->node = util_zalloc(vidsch->config.nodes, sizeof(*vidsch->node));
    if (!vidsch->node)
        return false;
    for (uint32_t i = 0; i < vidsch->config.nodes && good; i++) {
        good = vidsch_node_init(vidsch, i);
        vidsch_preempt_init(&vidsch->node[i]);
        vidsch_timeout_init(&vidsch->node[i]);
        vidsch_hw_node_init(&vidsch->node[i]);
        vidsch_hw_watch_init(&vidsch->node[i]);
    }
    vidsch->config.node = NULL; /* was the caller's */
    return good;
}

static bool init(struct vidsch *vidsch)
{
    if (!init_nodes(vidsch) || !vidsch_interrupt_init(vidsch) || !vidsch_life_begin(vidsch))
        return false;
    vidsch->recovery.reset_times = util_zalloc(vidsch->config.tdr.limit_count,
                                               sizeof(*vidsch->recovery.reset_times));
    return vidsch->recovery.reset_times != NULL;
}

NTSTATUS vidsch_create(const struct vidsch_config *config, struct vidsch **out)
{
    struct vidsch *vidsch;

    sim_assert_passive();
    if (config->nodes == 0 || config->nodes > VIDSCH_MAX_NODES ||
        config->paging_node >= config->nodes)
        return STATUS_DEVICE_CONFIGURATION_ERROR; /* SUBMIT-002, PATCH-028 */
    vidsch = util_zalloc(1, sizeof(*vidsch));
    if (!vidsch)
        return STATUS_NO_MEMORY;
    vidsch->config = *config;
    vidsch->ddi = config->ddi;
    use_defaults(&vidsch->config.tdr);
    slab_init(&vidsch->packets, sizeof(struct packet));
    slab_init(&vidsch->syncs.ops, sizeof(struct sync_op));
    list_init(&vidsch->processes);
    list_init(&vidsch->devices);
    list_init(&vidsch->worker.lost);
    list_init(&vidsch->advance.contexts);
    list_init(&vidsch->syncs.dead);
    list_init(&vidsch->syncs.watched);
    list_init(&vidsch->syncs.native_watched);
    list_init(&vidsch->histories.waiting);
    list_init(&vidsch->syncs.native_due);
    list_init(&vidsch->syncs.native_signaled);
    list_init(&vidsch->keeper.waiting);
    list_init(&vidsch->screens.contexts);
    list_init(&vidsch->screens.holds);
    list_init(&vidsch->syncs.cpu_waits);
    list_init(&vidsch->paging.free);
    hash_init(&vidsch->driver_devices);
    sim_waitq_init(&vidsch->worker.wait);
    sim_waitq_init(&vidsch->change.waiting);
    sim_waitq_init(&vidsch->paging.wait);
    sim_waitq_init(&vidsch->recovery.wait);
    vidsch_enlist(vidsch);
    if (!init(vidsch)) {
        vidsch_destroy(vidsch);
        return STATUS_NO_MEMORY;
    }
    vidsch_set_of_adapter(config->ddi, vidsch);
    vidsch_root_check_begin(vidsch);
    vidsch_engine_check_begin(vidsch);
    *out = vidsch;
    return STATUS_SUCCESS;
}

void vidsch_destroy(struct vidsch *vidsch)
{
    sim_assert_passive();
    vidsch_delist(vidsch);
    if (vidsch_of_adapter(vidsch->ddi) == vidsch) {
        vidsch_root_check_end(vidsch);
        vidsch_engine_check_end(vidsch);
        vidsch_set_of_adapter(vidsch->ddi, NULL);
    }
    LIST_FOR_SAFE(link, next, &vidsch->processes)
        util_free(CONTAINER(link, struct vidsch_process, link));
    for (uint32_t i = 0; vidsch->node && i < vidsch->config.nodes; i++)
        vidsch_node_finish(&vidsch->node[i]);
    hash_finish(&vidsch->driver_devices);
    vidsch_life_finish(vidsch);
    slab_finish(&vidsch->packets);
    slab_finish(&vidsch->syncs.ops);
    util_free(vidsch->node);
    util_free(vidsch->interrupts.records);
    util_free(vidsch->recovery.reset_times);
    util_free(vidsch);
}

static NTSTATUS start_threads(struct vidsch *vidsch)
{
    vidsch->worker.thread = sim_thread_create("scheduler", SIM_THREAD_KERNEL, vidsch_worker_main,
                                              vidsch);
    if (!vidsch->worker.thread)
        return STATUS_NO_MEMORY;
    vidsch->recovery.thread = sim_thread_create("recovery", SIM_THREAD_KERNEL, vidsch_recovery_main,
                                                vidsch);
    return vidsch->recovery.thread ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static void stop_threads(struct vidsch *vidsch)
{
    vidsch->worker.end = vidsch->recovery.end = true;
    vidsch_kick_worker(vidsch);
    sim_waitq_wake(&vidsch->recovery.wait, UINT32_MAX);
    while (!sim_current->stopped && ((vidsch->worker.thread && !vidsch->worker.ended) ||
                                     (vidsch->recovery.thread && !vidsch->recovery.ended)))
        vidsch_change_wait(vidsch, SIM_FOREVER);
    sim_thread_release(vidsch->worker.thread);
    sim_thread_release(vidsch->recovery.thread);
    vidsch->worker.thread = vidsch->recovery.thread = NULL;
}

NTSTATUS vidsch_start(struct vidsch *vidsch)
{
    NTSTATUS status;

    sim_assert_passive();
    vidsch->vidmm = vidmm_of_adapter(vidsch->ddi);
    status = start_threads(vidsch);
    if (NT_SUCCESS(status))
        vidsch_hw_setup_bands(vidsch);
    if (NT_SUCCESS(status))
        status = vidsch_device_create_system(vidsch);
    vidsch_tell_nodes(vidsch, OBJECT_BEGINS);
    if (NT_SUCCESS(status))
        status = vidsch_context_create_system(vidsch);
    if (NT_SUCCESS(status))
        status = vidmm_start_tables(vidsch->vidmm);
    if (NT_SUCCESS(status))
        status = vidsch_hw_paging_begin(vidsch);
    if (NT_SUCCESS(status))
        status = vidsch_paging_create(vidsch);
    if (NT_SUCCESS(status))
        vidsch_hw_logs_begin(vidsch);
    vidsch->started = true;
    if (!NT_SUCCESS(status))
        vidsch_stop(vidsch);
    return status;
}

static bool clients_busy(const struct vidsch *vidsch)
{
    if (vidsch_recovery_of_adapter(vidsch))
        return true;
    LIST_FOR(link, &vidsch->devices) {
        const struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (!device->system && (device->cleaning || device->pending))
            return true;
    }
    return false;
}

static void lose_devices(struct vidsch *vidsch, const char *why)
{
    LIST_FOR(link, &vidsch->devices)
        vidsch_device_lose(CONTAINER(link, struct vidsch_device, link),
                           D3DKMT_DEVICEEXECUTION_STOPPED, true, why);
}

void vidsch_set_removed(struct vidsch *vidsch)
{
    vidsch->removed = true;
}

void vidsch_lose_removed(struct vidsch *vidsch)
{
    sim_assert_passive();
    lose_devices(vidsch, "the device of the adapter was removed");
}

void vidsch_quiesce(struct vidsch *vidsch)
{
    sim_assert_passive();
    vidsch->quiescing = true;
    lose_devices(vidsch, "the adapter is being stopped");
    while (clients_busy(vidsch) && !sim_current->stopped)
        vidsch_change_wait(vidsch, SIM_FOREVER);
}

void vidsch_stop(struct vidsch *vidsch)
{
    sim_assert_passive();
    if (!vidsch->started)
        return;
    vidsch->started = false;
    vidsch->quiescing = true;
    if (vidsch->system_device)
        vidsch_device_drain(vidsch->system_device, NULL);
    vidsch_paging_destroy(vidsch);
    vidsch_tell_nodes(vidsch, OBJECT_ENDS);
    if (vidsch->system_device)
        vidsch_device_destroy(vidsch->system_device);
    if (vidsch->first_system_device)
        vidsch_device_destroy(vidsch->first_system_device);
    vidsch_hw_logs_end(vidsch);
    vidsch->system_context = vidsch->paging.queue = NULL;
    vidsch->system_device = vidsch->first_system_device = NULL;
    stop_threads(vidsch);
    vidsch_sync_reap(vidsch);
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        vidsch_node_cancel_events(&vidsch->node[i]);
}

const struct journal *vidsch_journal(const struct vidsch *vidsch)
{
    return vidsch->journal;
}

void vidsch_statistics(const struct vidsch *vidsch, struct vidsch_statistics *statistics)
{
    *statistics = vidsch->statistics;
}
