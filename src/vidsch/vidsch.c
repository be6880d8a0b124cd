/* SPDX-License-Identifier: MIT */
/*
 * The GPU scheduler of one adapter.
 *
 * A packet's life
 *
 *   client thread   D3DKMTRender, SubmitCommand, a queued wait or signal: made, and put on the queue
 *                   of its context                                 render.c, submit.c, sync.c, queue.c
 *   worker          head of the queue, context of highest priority, device resident: fence id, Patch,
 *                   SubmitCommand                                               worker.c, dispatch.c
 *   DIRQL           the driver notifies: checked and recorded                          interrupt.c
 *   DPC             retired in order: signals behind it, fences reread, waiters woken, buffers
 *                   recycled                                                              retire.c
 *
 * Per packet there is no allocation (slabs, pools), no search (ready lists by level, a ring per
 * node), and at most two switches of fibers: to the worker, and back.
 *
 * When things go wrong
 *
 *   the node is full of less important work, or silent: it is asked to preempt             preempt.c
 *   it does not answer: its engine is reset; if that fails, the adapter
 *                                                recovery.c, engine_reset.c, adapter_reset.c
 *   the driver reports a fault, or refuses a packet: the device is lost        device.c, interrupt.c
 *
 * Threads: the worker (the only one that submits), and the recovery thread. Both are of the system
 * process.
 */
#include "vidsch/vidsch_private.h"

#include <stdio.h>

/* ---- nodes ---- */

static uint32_t depth_of(const struct vidsch_config *config)
{
    uint32_t depth = config->required_dma_queue_entry ? config->required_dma_queue_entry
                                                      : 2; /* LIFE-053 */

    if (config->caps.HwQueuePacketCap && config->caps.HwQueuePacketCap < depth) /* SUBMIT-016 */
        depth = config->caps.HwQueuePacketCap;
    return depth < VIDSCH_MAX_DEPTH ? depth : VIDSCH_MAX_DEPTH;
}

static void node_track(struct vidsch_node *node)
{
    char name[48] = "";
    size_t length = 0;

    if (!trace_current)
        return;
    while (length < 31 && node->info.metadata.FriendlyName[length]) {
        WCHAR c = node->info.metadata.FriendlyName[length];

        name[length++] = (char)(c >= 32 && c < 127 ? c : '?');
    }
    snprintf(name + length, sizeof(name) - length, "%snode %u", length ? ", " : "", node->ordinal);
    node->track = trace_track_create("nodes", name);
}

static bool node_init(struct vidsch *vidsch, uint32_t ordinal)
{
    struct vidsch_node *node = &vidsch->node[ordinal];
    uint32_t slots = 1;

    node->vidsch = vidsch;
    node->ordinal = ordinal;
    node->info = vidsch->config.node[ordinal];
    node->next_fence = 1; /* SUBMIT-039 */
    node->depth = depth_of(&vidsch->config);
    while (slots < node->depth)
        slots *= 2;
    node->ring_mask = slots - 1;
    for (uint32_t i = 0; i < VIDSCH_LEVELS; i++)
        list_init(&node->ready[i]);
    list_init(&node->resubmit);
    vidsch_node_events_init(node);
    node->ring = util_zalloc(slots, sizeof(struct packet *));
    node_track(node);
    return node->ring != NULL;
}

/* ---- creation ---- */

static void use_defaults(struct vidsch_tdr_settings *tdr)
{
    /* TDR-009, TDR-015 */
    if (tdr->level > 3 || tdr->level == 2)
        tdr->level = 3;
    if (tdr->delay == 0)
        tdr->delay = 2;
    if (tdr->ddi_delay == 0)
        tdr->ddi_delay = 5;
    if (tdr->limit_count == 0)
        tdr->limit_count = 5;
    if (tdr->limit_time == 0)
        tdr->limit_time = 60;
}

static bool init(struct vidsch *vidsch)
{
    uint32_t records = 1;

    vidsch->node = util_zalloc(vidsch->config.nodes, sizeof(*vidsch->node));
    if (!vidsch->node)
        return false;
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (!node_init(vidsch, i))
            return false;
    vidsch->config.node = NULL; /* was the caller's */
    while (records < vidsch->config.nodes * (VIDSCH_MAX_DEPTH + 8))
        records *= 2;
    vidsch->record_mask = records - 1;
    vidsch->records = util_zalloc(records, sizeof(*vidsch->records));
    vidsch->reset_times = util_zalloc(vidsch->config.tdr.limit_count, sizeof(*vidsch->reset_times));
    return vidsch->records && vidsch->reset_times;
}

NTSTATUS vidsch_create(const struct vidsch_config *config, struct vidsch **out)
{
    struct vidsch *vidsch;

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
    slab_init(&vidsch->ops, sizeof(struct sync_op));
    list_init(&vidsch->processes);
    list_init(&vidsch->devices);
    list_init(&vidsch->lost);
    list_init(&vidsch->advance);
    list_init(&vidsch->dead_syncs);
    list_init(&vidsch->awaiting_keeper);
    list_init(&vidsch->cpu_waits);
    list_init(&vidsch->paging_free);
    hash_init(&vidsch->driver_devices);
    sim_waitq_init(&vidsch->worker_wait);
    sim_waitq_init(&vidsch->changed);
    sim_waitq_init(&vidsch->paging_wait);
    sim_waitq_init(&vidsch->recovery_wait);
    vidsch->next = sim_current->room[SIM_ROOM_VIDSCH];
    sim_current->room[SIM_ROOM_VIDSCH] = vidsch;
    if (!init(vidsch)) {
        vidsch_destroy(vidsch);
        return STATUS_NO_MEMORY;
    }
    config->ddi->vidsch = vidsch;
    *out = vidsch;
    return STATUS_SUCCESS;
}

void vidsch_destroy(struct vidsch *vidsch)
{
    struct vidsch *previous = sim_current->room[SIM_ROOM_VIDSCH];

    if (previous == vidsch) {
        sim_current->room[SIM_ROOM_VIDSCH] = vidsch->next;
    } else {
        while (previous->next != vidsch)
            previous = previous->next;
        previous->next = vidsch->next;
    }
    if (vidsch->ddi->vidsch == vidsch)
        vidsch->ddi->vidsch = NULL;
    LIST_FOR_SAFE(link, next, &vidsch->processes)
        util_free(CONTAINER(link, struct vidsch_process, link));
    if (vidsch->node) {
        for (uint32_t i = 0; i < vidsch->config.nodes; i++) {
            if (vidsch->node[i].vidsch)
                vidsch_node_events_cancel(&vidsch->node[i]);
            util_free(vidsch->node[i].ring);
        }
    }
    hash_finish(&vidsch->driver_devices);
    slab_finish(&vidsch->packets);
    slab_finish(&vidsch->ops);
    util_free(vidsch->node);
    util_free(vidsch->records);
    util_free(vidsch->reset_times);
    util_free(vidsch);
}

/* ---- start and stop ---- */

static NTSTATUS start_threads(struct vidsch *vidsch)
{
    vidsch->worker = sim_thread_create("scheduler", SIM_THREAD_KERNEL, vidsch_worker_main, vidsch);
    if (!vidsch->worker)
        return STATUS_NO_MEMORY;
    vidsch->recovery = sim_thread_create("recovery", SIM_THREAD_KERNEL, vidsch_recovery_main,
                                         vidsch);
    return vidsch->recovery ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static void stop_threads(struct vidsch *vidsch)
{
    vidsch->worker_end = vidsch->recovery_end = true;
    vidsch_worker_wake(vidsch);
    sim_waitq_wake(&vidsch->recovery_wait, UINT32_MAX);
    while (!sim_current->stopped && ((vidsch->worker && !vidsch->worker_ended) ||
                                     (vidsch->recovery && !vidsch->recovery_ended)))
        vidsch_wait_changed(vidsch, SIM_FOREVER);
    sim_thread_release(vidsch->worker);
    sim_thread_release(vidsch->recovery);
    vidsch->worker = vidsch->recovery = NULL;
}

NTSTATUS vidsch_start(struct vidsch *vidsch)
{
    NTSTATUS status;

    vidsch->vidmm = vidsch->ddi->vidmm;
    status = start_threads(vidsch);
    if (NT_SUCCESS(status))
        status = vidsch_device_create_system(vidsch);
    if (NT_SUCCESS(status))
        status = vidsch_context_create_system(vidsch);
    if (NT_SUCCESS(status))
        status = vidsch_paging_create(vidsch);
    vidsch->started = true;
    if (!NT_SUCCESS(status))
        vidsch_stop(vidsch);
    return status;
}

static bool clients_busy(const struct vidsch *vidsch)
{
    if (vidsch->resetting || vidsch->restoring || vidsch->adapter_reset_wanted)
        return true;
    LIST_FOR(link, &vidsch->devices) {
        const struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (!device->system && (device->cleaning || device->pending))
            return true;
    }
    return false;
}

void vidsch_quiesce(struct vidsch *vidsch)
{
    vidsch->quiescing = true;
    LIST_FOR(link, &vidsch->devices)
        vidsch_device_lose(CONTAINER(link, struct vidsch_device, link),
                           D3DKMT_DEVICEEXECUTION_STOPPED, true);
    while (clients_busy(vidsch) && !sim_current->stopped)
        vidsch_wait_changed(vidsch, SIM_FOREVER);
}

void vidsch_stop(struct vidsch *vidsch)
{
    if (!vidsch->started)
        return;
    vidsch->started = false;
    vidsch->quiescing = true;
    if (vidsch->system_device)
        vidsch_device_drain(vidsch->system_device, NULL);
    vidsch_paging_destroy(vidsch);
    if (vidsch->system_device)
        vidsch_device_destroy(vidsch->system_device);
    vidsch->system_context = NULL;
    vidsch->system_device = NULL;
    stop_threads(vidsch);
    vidsch_syncs_reap(vidsch);
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        vidsch_node_events_cancel(&vidsch->node[i]);
}

void vidsch_statistics(const struct vidsch *vidsch, struct vidsch_statistics *statistics)
{
    *statistics = vidsch->statistics;
}
