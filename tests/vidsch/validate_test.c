/* SPDX-License-Identifier: MIT */
/* Each invariant of the scheduler, broken on purpose, is noticed. */
#include "vidsch/process.h"
#include "vidsch/support/fixture.h"
#include "vidsch/sync_op.h"

#include <stdio.h>
#include <string.h>

static bool noticed(struct fixture *f, void *member, size_t bytes, uint64_t value)
{
    uint8_t kept[8];
    bool sound;

    memcpy(kept, member, bytes);
    memcpy(member, &value, bytes); /* little-endian */
    sound = vidsch_validate(f->vidsch);
    memcpy(member, kept, bytes);
    return !sound && vidsch_validate(f->vidsch);
}

#define WRONG(member, value)      CHECK(noticed(f, &(member), sizeof(member), (uint64_t)(value)))
#define WRONG_POINTER(member, to) WRONG(member, (uintptr_t)(to))
#define FIRST(type, list, link)   CONTAINER((list)->next, type, link)
#define HEAD_OF(context)          FIRST(struct packet, &(context)->queue, link)
#define SEMAPHORE_OF(most, now) \
    ((D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SEMAPHORE, .Semaphore = {most, now}})
#define MUTEX_OF ((D3DDDI_SYNCHRONIZATIONOBJECTINFO2){.Type = D3DDDI_SYNCHRONIZATION_MUTEX})

/* Something of everything: node 1 has two packets of `busy`, behind the second of which is a signal; one more is queued. */
struct mixture {
    struct vidsch_device *device, *absent;
    struct vidsch_context *busy, *blocked, *parked, *idle, *physical;
    struct vidsch_sync *fence, *awaited, *semaphore, *mutex;
    struct vidsch_node *node;
};

static struct mixture mix(struct fixture *f)
{
    struct mixture m = {.device = make_device(f), .absent = make_device(f)};

    m.node = &f->vidsch->node[1];
    m.busy = make_context(m.device, 1);
    m.blocked = make_context(m.device, 1);
    m.idle = make_context(m.device, 1);
    m.physical = make_context(m.device, 0);
    m.parked = make_context(m.absent, 1);
    m.fence = make_fence(m.device, 0);
    m.awaited = make_fence(m.device, 0);
    m.semaphore = make_sync(m.device, SEMAPHORE_OF(2, 0));
    m.mutex = make_sync(m.device, MUTEX_OF);
    wait_gpu(m.idle, m.mutex, 0);
    m.absent->mm->missing = true;
    submit(m.parked, 0x1000, 16);
    render(m.physical, 16);
    pass(MS);
    f->driver.engine[1].hang = true;
    submit(m.busy, 0x2000, 16);
    submit(m.busy, 0x3000, 16);
    pass(MS);
    signal_gpu(m.busy, m.fence, 1);
    submit(m.busy, 0x4000, 16);
    wait_gpu(m.blocked, m.awaited, 1);
    CHECK(m.node->count == 2 && m.busy->state == CONTEXT_READY &&
          m.blocked->state == CONTEXT_BLOCKED && m.parked->state == CONTEXT_PARKED &&
          m.idle->state == CONTEXT_IDLE && m.mutex->owner == m.idle && m.physical->buffers_free);
    CHECK(m.node->holder[m.busy->level] == m.busy);
    return m;
}

static void unmix(struct fixture *f, struct mixture *m)
{
    m->absent->mm->missing = false;
    vidsch_for_vidmm.device_resident(m->absent->mm);
    signal_cpu(m->awaited, 1);
    driver_run(f, 1);
    idle(m->device);
    idle(m->absent);
    vidsch_device_destroy(m->device);
    vidsch_device_destroy(m->absent);
}

TEST_WITH(fixture, nodes_are_checked)
{
    struct mixture m = mix(f);
    struct vidsch_node *node = m.node;
    struct packet *first = node_in_flight(node, 0), *second = node_in_flight(node, 1);

    WRONG(node->depth, 1);
    WRONG(node->depth, node->ring_mask + 2);
    WRONG(node->last_completed, node->reported + 1);
    WRONG(node->reported, node->last_submitted + 1);
    WRONG(node->next_fence, 0);
    WRONG(first->kind, PACKET_SIGNAL);
    WRONG_POINTER(first->context, m.physical);
    WRONG(first->fence, node->last_completed);
    WRONG(second->fence, node->last_submitted + 1);
    WRONG(second->fence, first->fence);
    WRONG_POINTER(m.busy->last_in_flight, NULL);
    unmix(f, &m);
}

TEST_WITH(fixture, ready_lists_are_checked)
{
    struct mixture m = mix(f);
    struct vidsch_node *node = m.node;
    struct packet stray = {.kind = PACKET_RENDER, .context = m.busy};

    WRONG(m.busy->quantum_left, 0);
    WRONG_POINTER(node->holder[m.busy->level + 1], m.busy);
    m.physical->quantum_left = 1;
    WRONG_POINTER(node->holder[m.busy->level], m.physical);
    WRONG(node->ready_mask[0], 0);
    WRONG(node->ready_mask[0], node->ready_mask[0] | 2ull << m.busy->level);
    WRONG(m.busy->state, CONTEXT_IDLE);
    WRONG(m.busy->level, m.busy->level + 1);
    WRONG_POINTER(m.busy->node, &f->vidsch->node[0]);
    m.device->awaiting_residency = true;
    WRONG_POINTER(f->vidsch->worker.thread, NULL);
    m.device->awaiting_residency = false;
    list_push_back(&node->resubmit, &stray.link);
    m.busy->pending++;
    m.busy->work++;
    m.device->pending++;
    CHECK(!vidsch_validate(f->vidsch));
    list_remove(&stray.link);
    m.busy->pending--;
    m.busy->work--;
    m.device->pending--;
    CHECK(vidsch_validate(f->vidsch));
    unmix(f, &m);
}

TEST_WITH(fixture, contexts_are_checked)
{
    struct mixture m = mix(f);
    struct packet *queued = HEAD_OF(m.busy), *wait = HEAD_OF(m.blocked);

    WRONG_POINTER(queued->context, m.idle);
    WRONG_POINTER(queued->op, wait->op);
    WRONG_POINTER(wait->op, NULL);
    WRONG(m.busy->pending, m.busy->pending + 1);
    WRONG(m.busy->work, m.busy->work - 1);
    WRONG(m.blocked->state, CONTEXT_SUBMITTING);
    WRONG(m.blocked->state, CONTEXT_IDLE);
    WRONG(m.blocked->state, CONTEXT_PARKED);
    WRONG(m.idle->state, CONTEXT_BLOCKED);
    WRONG(m.parked->state, CONTEXT_BLOCKED);
    WRONG(wait->kind, PACKET_SIGNAL);
    WRONG(m.physical->buffers_free, m.physical->buffers_free - 1);
    WRONG(m.physical->buffers, m.physical->buffers_free - 1);
    WRONG_POINTER(m.mutex->owner, m.blocked);
    unmix(f, &m);
}

TEST_WITH(fixture, synchronization_objects_are_checked)
{
    struct mixture m = mix(f);
    struct sync_op *op = HEAD_OF(m.blocked)->op;

    WRONG_POINTER(op->entries[0].sync, m.fence);
    WRONG(op->registered, false);
    WRONG(m.awaited->references, 1);
    list_remove(&m.awaited->watch_link);
    CHECK(!vidsch_validate(f->vidsch));
    list_push_back(m.awaited->watched, &m.awaited->watch_link);
    WRONG(m.semaphore->count, 3);
    WRONG_POINTER(m.semaphore->owner, m.idle);
    WRONG(m.mutex->count, 1);
    unmix(f, &m);
}

TEST_WITH(fixture, devices_are_checked)
{
    struct mixture m = mix(f);
    struct packet *queued = HEAD_OF(m.busy);

    WRONG(queued->ticket, m.device->last_ticket + 1);
    WRONG(queued->ticket, node_in_flight(m.node, 1)->ticket);
    WRONG(m.device->pending, 2);
    WRONG(m.device->in_flight, 4);
    WRONG(m.parked->state, CONTEXT_LOST);
    list_remove(&queued->device_link);
    CHECK(!vidsch_validate(f->vidsch));
    list_push_back(&m.device->outstanding, &queued->device_link);
    unmix(f, &m);
}

TEST_WITH(fixture, what_the_adapter_has_is_checked)
{
    struct mixture m = mix(f);
    struct vidsch *v = f->vidsch;

    WRONG(v->advance.running, true);
    list_push_back(&v->advance.contexts, &m.idle->advance_link);
    CHECK(!vidsch_validate(v));
    list_remove(&m.idle->advance_link);
    WRONG(v->paging.completed, v->paging.last + 1);
    unmix(f, &m);
}
