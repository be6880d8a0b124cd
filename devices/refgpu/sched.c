/* SPDX-License-Identifier: MIT */
#include "sched.h"
#include "device.h"

#include <stddef.h>
#include <string.h>

static struct refgpu_engine *engine_of(struct refgpu_device *device)
{
    return &device->engine[REFGPU_ENGINE_SCHEDULED];
}

/* ---- tables ---- */

static bool read_context(struct refgpu_device *device, uint32_t index)
{
    struct refgpu_sched *sched = &device->sched;
    struct refgpu_sched_context *c = &sched->context[index];
    struct refgpu_context_descriptor set; /* a refused read returns ones */
    const bool was = c->valid;

    if (!refgpu_bus_read(engine_of(device), sched->contexts + index * sizeof set, REFGPU_UNIT_RING,
                         &set, sizeof set))
        return false;
    c->set = set;
    c->valid = (set.flags & ~REFGPU_CONTEXT_FLAGS) == 0 && (set.flags & REFGPU_CONTEXT_VALID) &&
               set.band < REFGPU_SCHED_BANDS && set.root % REFGPU_PAGE_BYTES == 0 &&
               set.save % 64u == 0;
    if (!c->valid || was)
        return true;
    c->suspended = (c->set.flags & REFGPU_CONTEXT_SUSPENDED) != 0;
    c->suspending = false;
    c->used = 0;
    c->order = ++sched->orders;
    c->last_queue = 0;
    c->noted = REFGPU_SCHED_IDLE;
    if (index >= sched->context_end)
        sched->context_end = index + 1u;
    return true;
}

static bool ring_ok(const struct refgpu_queue_descriptor *q)
{
    const uint32_t n = q->entries;

    return n >= 2u && n <= 4096u && !(n & (n - 1u)) && q->ring % REFGPU_PAGE_BYTES == 0 &&
           q->head < n && q->tail < n;
}

static bool read_queue(struct refgpu_device *device, uint32_t index)
{
    struct refgpu_sched *sched = &device->sched;
    struct refgpu_sched_queue *q = &sched->queue[index];
    struct refgpu_queue_descriptor set;

    memset(q, 0, sizeof *q);
    if (!refgpu_bus_read(engine_of(device), sched->queues + index * sizeof set, REFGPU_UNIT_RING,
                         &set, sizeof set))
        return false;
    q->set = set;
    q->valid = q->set.flags == REFGPU_QUEUE_VALID && q->set.context < REFGPU_SCHED_CONTEXTS &&
               ring_ok(&q->set) && q->set.fence % 8u == 0 && q->set.save_offset % 64u == 0;
    if (q->valid && index >= sched->queue_end)
        sched->queue_end = index + 1u;
    return true;
}

/* How far the queue has come. */
static bool write_back(struct refgpu_device *device, uint32_t index)
{
    const struct refgpu_queue_descriptor *q = &device->sched.queue[index].set;
    const size_t first = offsetof(struct refgpu_queue_descriptor, head);

    return refgpu_bus_write(engine_of(device), device->sched.queues + index * sizeof *q + first,
                            REFGPU_UNIT_RING, &q->head,
                            offsetof(struct refgpu_queue_descriptor, reserved) - first);
}

static void forget(struct refgpu_sched *sched)
{
    memset(sched->context, 0, sizeof sched->context);
    memset(sched->queue, 0, sizeof sched->queue);
    sched->context_end = sched->queue_end = 0;
    sched->running = sched->last_context = REFGPU_SCHED_NONE;
    sched->leave_at = sched->debt = 0;
    sched->normal_turn = sched->loaded = sched->deciding = sched->log.known = false;
    for (uint32_t i = 0; i < REFGPU_SCHED_BANDS; i++)
        sched->band[i].process = (uint32_t)(sched->band[i].used = 0);
}

void refgpu_sched_enable(struct refgpu_device *device)
{
    struct refgpu_sched *sched = &device->sched;
    bool good = true;

    if (sched->loaded)
        return;
    forget(sched);
    sched->loaded = true;
    sched->since = device->services->now(device->host);
    for (uint32_t i = 0; good && i < REFGPU_SCHED_CONTEXTS; i++)
        good = read_context(device, i);
    for (uint32_t i = 0; good && i < REFGPU_SCHED_QUEUES; i++)
        good = read_queue(device, i);
    if (!good)
        refgpu_engine_halt(engine_of(device));
}

void refgpu_sched_reset(struct refgpu_device *device)
{
    struct refgpu_sched *sched = &device->sched;

    device->services->timer_disarm(device->host, REFGPU_SCHED_TIMER);
    sched->aborted = sched->running == REFGPU_SCHED_NONE
                         ? 0
                         : sched->running | REFGPU_SCHED_QUEUE_VALID;
    forget(sched);
}

void refgpu_sched_power_on(struct refgpu_device *device)
{
    struct refgpu_sched *sched = &device->sched;

    refgpu_sched_reset(device);
    sched->contexts = sched->queues = 0;
    sched->normal_share = sched->aborted = sched->switches = 0;
    memset(sched->band, 0, sizeof sched->band);
    memset(&sched->log, 0, sizeof sched->log);
}

/* ---- suspension ---- */

/* The engine has nothing more of the context: say so. */
static bool answer_suspend(struct refgpu_device *device, uint32_t index)
{
    struct refgpu_sched_context *c = &device->sched.context[index];
    const uint64_t at = device->sched.contexts + index * sizeof c->set +
                        offsetof(struct refgpu_context_descriptor, suspended);

    c->suspending = false;
    c->set.suspended = c->set.suspend;
    refgpu_log(device, REFGPU_LOG_SUSPENDED, REFGPU_ENGINE_SCHEDULED, c->set.id, c->set.suspend);
    if (!refgpu_bus_write(engine_of(device), at, REFGPU_UNIT_RING, &c->set.suspended,
                          sizeof c->set.suspended))
        return false;
    refgpu_interrupt(device, REFGPU_IRQ_SCHED_SUSPENDED);
    return true;
}

/* ---- commands ---- */

/* What runs is no more: its descriptor says so. */
static void drop_running(struct refgpu_device *device)
{
    device->services->timer_disarm(device->host, REFGPU_ENGINE_SCHEDULED);
    refgpu_engine_leave(engine_of(device));
    engine_of(device)->preempt_wanted = false;
    device->sched.running = REFGPU_SCHED_NONE;
    device->sched.leave_at = 0;
}

static bool reread_queue(struct refgpu_device *device, uint32_t index)
{
    struct refgpu_sched *sched = &device->sched;

    if (sched->running == index)
        drop_running(device);
    return read_queue(device, index);
}

static bool reread_context(struct refgpu_device *device, uint32_t index)
{
    struct refgpu_sched *sched = &device->sched;

    if (!read_context(device, index))
        return false;
    if (!sched->context[index].valid && sched->running != REFGPU_SCHED_NONE &&
        sched->queue[sched->running].set.context == index)
        drop_running(device);
    return true;
}

static bool suspend(struct refgpu_device *device, uint32_t index)
{
    struct refgpu_sched *sched = &device->sched;
    struct refgpu_sched_context *c = &sched->context[index];

    if (!reread_context(device, index))
        return false;
    if (!c->valid)
        return true;
    c->suspended = c->suspending = true;
    if (sched->running == REFGPU_SCHED_NONE || sched->queue[sched->running].set.context != index)
        return answer_suspend(device, index);
    refgpu_engine_preempt(engine_of(device), 0);
    return true;
}

static void command(struct refgpu_device *device, uint32_t value)
{
    struct refgpu_sched *sched = &device->sched;
    const uint32_t opcode = value >> 24, index = value & 0xFFFFFFu;
    bool good = true;

    /* The tables are read when the engine is enabled, and so is what this would change. */
    if (!sched->loaded)
        return;
    refgpu_sched_account(device);
    if (opcode == REFGPU_SCHED_COMMAND_QUEUE && index < REFGPU_SCHED_QUEUES) {
        good = reread_queue(device, index);
    } else if (index < REFGPU_SCHED_CONTEXTS) {
        if (opcode == REFGPU_SCHED_COMMAND_CONTEXT)
            good = reread_context(device, index);
        else if (opcode == REFGPU_SCHED_COMMAND_SUSPEND)
            good = suspend(device, index);
        else if (opcode == REFGPU_SCHED_COMMAND_RESUME) {
            good = reread_context(device, index);
            sched->context[index].suspended = sched->context[index].suspending = false;
        }
    }
    if (good)
        refgpu_sched_update(device);
    else
        refgpu_engine_halt(engine_of(device));
}

void refgpu_sched_doorbell(struct refgpu_device *device, uint32_t index)
{
    struct refgpu_sched *sched = &device->sched;
    struct refgpu_sched_queue *q = &sched->queue[index];
    const uint64_t at = sched->queues + index * sizeof q->set +
                        offsetof(struct refgpu_queue_descriptor, tail);
    uint32_t tail;

    if (!sched->loaded || !q->valid)
        return;
    refgpu_sched_account(device);
    if (!refgpu_bus_read(engine_of(device), at, REFGPU_UNIT_RING, &tail, sizeof tail)) {
        refgpu_engine_halt(engine_of(device));
        return;
    }
    q->set.tail = tail & (q->set.entries - 1u);
    refgpu_sched_update(device);
}

/* ---- entries ---- */

static bool entry_ok(struct refgpu_engine *engine, const struct refgpu_queue_entry *e)
{
    const uint64_t end = 1ull << REFGPU_VA_BITS;

    if (e->address % 4u == 0 && e->bytes % 4u == 0 && !(e->flags & ~REFGPU_QUEUE_ENTRY_FLAGS) &&
        !e->reserved && e->address <= end && e->bytes <= end - e->address)
        return true;
    return refgpu_engine_fault(engine, REFGPU_FAULT_COMMAND, REFGPU_ERROR_ENTRY, REFGPU_UNIT_RING,
                               0, false, 0);
}

void refgpu_sched_begin(struct refgpu_device *device, uint32_t index)
{
    struct refgpu_sched *sched = &device->sched;
    struct refgpu_sched_queue *q = &sched->queue[index];
    struct refgpu_sched_context *c = &sched->context[q->set.context];
    struct refgpu_engine *engine = engine_of(device);
    struct refgpu_queue_entry e = {0};
    uint64_t cost = REFGPU_TIME_START_NS;
    bool good;

    if (sched->last_context != q->set.context) {
        sched->switches++;
        cost += REFGPU_TIME_SWITCH_NS;
    }
    sched->running = index;
    sched->last_context = q->set.context;
    sched->leave_at = 0;
    c->last_queue = index;
    refgpu_engine_enter(engine);
    good = refgpu_bus_read(engine, q->set.ring + q->set.head * (uint64_t)sizeof e, REFGPU_UNIT_RING,
                           &e, sizeof e);
    if (good) {
        q->value = e.value;
        q->interrupts = (e.flags & REFGPU_QUEUE_ENTRY_INTERRUPT) != 0;
        engine->entry = (struct refgpu_ring_entry){
            .address = e.address,
            .bytes = e.bytes,
            .fence = (uint32_t)e.value,
            .root = c->set.root,
            .context = c->set.id,
        };
        if (e.flags & REFGPU_QUEUE_ENTRY_PRIVILEGED)
            engine->entry.flags |= REFGPU_ENTRY_PRIVILEGED;
        if (c->set.save && q->set.save_offset)
            engine->entry.save = c->set.save + q->set.save_offset;
        if (engine->entry.save && (q->set.state & REFGPU_QUEUE_RESUME))
            engine->entry.flags |= REFGPU_ENTRY_RESUME;
        else if (q->set.start < e.bytes)
            engine->entry.start = q->set.start;
        good = entry_ok(engine, &e);
    }
    refgpu_engine_start(engine, good, cost);
}

/* The engine has left the running queue, whose state is right; `tells`: of progress. */
static void leave(struct refgpu_device *device, bool tells)
{
    struct refgpu_sched *sched = &device->sched;
    const uint32_t index = sched->running, context = sched->queue[index].set.context;
    bool good;

    sched->running = REFGPU_SCHED_NONE;
    sched->leave_at = 0;
    engine_of(device)->preempt_wanted = false;
    good = write_back(device, index);
    if (tells)
        refgpu_interrupt(device, REFGPU_IRQ_SCHED_PROGRESS);
    if (good && sched->context[context].suspending)
        good = answer_suspend(device, context);
    if (good)
        refgpu_sched_update(device);
    else
        refgpu_engine_halt(engine_of(device));
}

static void next_entry(struct refgpu_sched_queue *q)
{
    q->set.head = (q->set.head + 1u) & (q->set.entries - 1u);
    q->set.start = q->set.state = 0;
    q->blocked_until = q->back_off = 0;
}

void refgpu_sched_complete(struct refgpu_engine *engine)
{
    struct refgpu_device *device = engine->device;
    struct refgpu_sched_queue *q = &device->sched.queue[device->sched.running];
    refgpu_sched_account(device);
    if (q->set.fence && !refgpu_memory_write(engine, REFGPU_SPACE_VIRTUAL, q->set.fence,
                                             REFGPU_UNIT_FENCE, &q->value, sizeof q->value)) {
        refgpu_engine_halt(engine);
        return;
    }
    engine->entries++;
    q->set.progress = q->value;
    next_entry(q);
    refgpu_engine_leave(engine);
    leave(device, q->interrupts);
}

void refgpu_sched_left(struct refgpu_engine *engine, uint32_t offset, bool waited)
{
    struct refgpu_device *device = engine->device;
    struct refgpu_sched_queue *q = &device->sched.queue[device->sched.running];

    refgpu_sched_account(device);
    q->set.state = engine->entry.save ? REFGPU_QUEUE_RESUME : 0;
    q->set.start = offset;
    if (waited) {
        q->back_off = q->back_off ? q->back_off * 2u : REFGPU_POLL_FIRST_NS;
        if (q->back_off > REFGPU_POLL_LAST_NS)
            q->back_off = REFGPU_POLL_LAST_NS;
        q->blocked_until = device->services->now(device->host) + q->back_off;
    } else {
        q->back_off = 0;
    }
    leave(device, false);
}

void refgpu_sched_skipped(struct refgpu_engine *engine)
{
    struct refgpu_device *device = engine->device;

    if (device->sched.running == REFGPU_SCHED_NONE)
        return;
    refgpu_sched_account(device);
    next_entry(&device->sched.queue[device->sched.running]);
    leave(device, false);
}

/* ---- registers ---- */

static uint32_t *band_register(struct refgpu_sched *sched, uint32_t offset)
{
    const uint32_t at = offset - REFGPU_REG_SCHED_BAND(0u, 0u);
    struct refgpu_sched_band *band;

    if (offset < REFGPU_REG_SCHED_BAND(0u, 0u) || at >= REFGPU_SCHED_BANDS * 16u)
        return NULL;
    band = &sched->band[at / 16u];
    switch (at % 16u) {
    case REFGPU_SCHED_BAND_GRACE:
        return &band->grace;
    case REFGPU_SCHED_BAND_PROCESS_QUANTUM:
        return &band->process_quantum;
    case REFGPU_SCHED_BAND_PROCESS_GRACE:
        return &band->process_grace;
    default:
        return NULL;
    }
}

/* Registers of 64 bits. */
static uint64_t *wide_register(struct refgpu_sched *sched, uint32_t offset)
{
    const uint32_t pair = offset & ~4u;

    switch (pair) {
    case REFGPU_REG_SCHED_CONTEXTS_LO:
        return &sched->contexts;
    case REFGPU_REG_SCHED_QUEUES_LO:
        return &sched->queues;
    case REFGPU_REG_SCHED_LOG_LO:
        return &sched->log.at;
    case REFGPU_REG_SCHED_LOG_ROOT_LO:
        return &sched->log.root;
    default:
        return NULL;
    }
}

/* What it names is aligned to this. */
static uint32_t alignment_of(uint32_t offset)
{
    return (offset & ~4u) == REFGPU_REG_SCHED_LOG_LO ? 8u : REFGPU_PAGE_BYTES;
}

uint32_t refgpu_sched_read(struct refgpu_device *device, uint32_t offset)
{
    struct refgpu_sched *sched = &device->sched;
    const uint64_t *table = wide_register(sched, offset);
    const uint32_t *band = band_register(sched, offset);
    const uint32_t *log = refgpu_sched_log_register(sched, offset);

    if (table)
        return (uint32_t)(offset & 4u ? *table >> 32 : *table);
    if (band)
        return *band;
    if (log)
        return *log;
    switch (offset) {
    case REFGPU_REG_SCHED_VERSION:
        return REFGPU_SCHED_VERSION;
    case REFGPU_REG_SCHED_LIMITS:
        return REFGPU_SCHED_CONTEXTS | REFGPU_SCHED_QUEUES << 16;
    case REFGPU_REG_SCHED_RUNNING:
        return sched->running == REFGPU_SCHED_NONE ? 0 : sched->running | REFGPU_SCHED_QUEUE_VALID;
    case REFGPU_REG_SCHED_ABORTED:
        return sched->aborted;
    case REFGPU_REG_SCHED_NORMAL_SHARE:
        return sched->normal_share;
    case REFGPU_REG_SCHED_SWITCHES:
        return sched->switches;
    default:
        return 0;
    }
}

void refgpu_sched_write(struct refgpu_device *device, uint32_t offset, uint32_t value)
{
    struct refgpu_sched *sched = &device->sched;
    uint64_t *table = wide_register(sched, offset);
    uint32_t *band = band_register(sched, offset);
    uint32_t *log = refgpu_sched_log_register(sched, offset);

    if (table) {
        if (sched->loaded && offset < REFGPU_REG_SCHED_COMMAND)
            return;
        if (offset & 4u)
            *table = (*table & 0xFFFFFFFFu) | (uint64_t)value << 32;
        else
            *table = (*table & ~0xFFFFFFFFull) | (value & ~(alignment_of(offset) - 1u));
    } else if (band) {
        *band = value;
    } else if (log) {
        *log = value;
        sched->log.known = false;
    } else if (offset == REFGPU_REG_SCHED_NORMAL_SHARE) {
        sched->normal_share = value < 50u ? value : 50u;
    } else if (offset == REFGPU_REG_SCHED_COMMAND) {
        command(device, value);
    }
}
