/* SPDX-License-Identifier: MIT */
/*
 * Arbitration: bands from the highest down, except that FOCUS pays NORMAL its share; in a band the
 * highest level; processes take turns; in a process the highest priority; contexts take turns, and
 * so do the queues of a context. Who waits in WAIT or is suspended takes no part.
 */
#include "sched.h"
#include "device.h"

#include <string.h>

#define NONE REFGPU_SCHED_NONE

/* Contexts with a queue that can run. */
struct field {
    uint64_t now;
    uint32_t queue[REFGPU_SCHED_CONTEXTS]; /* the one whose turn it is; NONE */
};

static struct refgpu_engine *engine_of(struct refgpu_device *device)
{
    return &device->engine[REFGPU_ENGINE_SCHEDULED];
}

/* ---- who can run ---- */

/* It has looked, and waits: others may have the engine. */
static bool is_waiting(const struct refgpu_engine *engine)
{
    return engine->phase == REFGPU_POLL && engine->looked;
}

static bool can_run(struct refgpu_device *device, uint32_t index, uint64_t now)
{
    const struct refgpu_sched *sched = &device->sched;
    const struct refgpu_sched_queue *q = &sched->queue[index];

    if (!q->valid || q->set.head == q->set.tail || !sched->context[q->set.context].valid ||
        sched->context[q->set.context].suspended)
        return false;
    return index == sched->running ? !is_waiting(engine_of(device)) : q->blocked_until <= now;
}

/* Of two queues of a context: the running one stays, else the next in a circle. */
static bool is_sooner(const struct refgpu_sched *sched, uint32_t a, uint32_t b, uint32_t last)
{
    if (a == sched->running || b == sched->running)
        return a == sched->running;
    return a - last - 1u < b - last - 1u; /* modulo 2^32 */
}

static void look(struct refgpu_device *device, struct field *field)
{
    const struct refgpu_sched *sched = &device->sched;

    for (uint32_t i = 0; i < sched->context_end; i++)
        field->queue[i] = NONE;
    field->now = device->services->now(device->host);
    for (uint32_t i = 0; i < sched->queue_end; i++) {
        const uint32_t c = sched->queue[i].set.context;

        if (can_run(device, i, field->now) &&
            (field->queue[c] == NONE ||
             is_sooner(sched, i, field->queue[c], sched->context[c].last_queue)))
            field->queue[c] = i;
    }
}

/* ---- who is next ---- */

static bool has_band(const struct refgpu_sched *sched, const struct field *field, uint32_t band)
{
    for (uint32_t i = 0; i < sched->context_end; i++)
        if (field->queue[i] != NONE && sched->context[i].set.band == band)
            return true;
    return false;
}

static uint32_t choose_band(const struct refgpu_sched *sched, const struct field *field)
{
    uint32_t band = REFGPU_SCHED_BANDS;

    while (band && !has_band(sched, field, band - 1u))
        band--;
    if (!band)
        return NONE;
    if (band - 1u == REFGPU_BAND_FOCUS && sched->normal_turn &&
        has_band(sched, field, REFGPU_BAND_NORMAL))
        return REFGPU_BAND_NORMAL;
    return band - 1u;
}

/* The process whose turn it is stays until its quantum is used up, then the next in a circle. */
static bool process_is_sooner(const struct refgpu_sched_band *band, uint32_t a, uint32_t b)
{
    const bool stays = !band->process_quantum || band->used < band->process_quantum;

    return a - band->process - !stays < b - band->process - !stays; /* modulo 2^32 */
}

static bool is_spent(const struct refgpu_sched_context *c)
{
    return c->set.quantum && c->used >= c->set.quantum;
}

static bool is_better(const struct refgpu_sched *sched, uint32_t a, uint32_t b)
{
    const struct refgpu_sched_context *ca = &sched->context[a], *cb = &sched->context[b];

    if (ca->set.level != cb->set.level)
        return ca->set.level > cb->set.level;
    if (ca->set.process != cb->set.process)
        return process_is_sooner(&sched->band[ca->set.band], ca->set.process, cb->set.process);
    if (ca->set.priority != cb->set.priority)
        return ca->set.priority > cb->set.priority;
    if (is_spent(ca) != is_spent(cb))
        return is_spent(cb);
    return ca->order < cb->order;
}

static uint32_t choose(const struct refgpu_sched *sched, const struct field *field)
{
    const uint32_t band = choose_band(sched, field);
    uint32_t best = NONE;

    if (band == NONE)
        return NONE;
    for (uint32_t i = 0; i < sched->context_end; i++)
        if (field->queue[i] != NONE && sched->context[i].set.band == band &&
            (best == NONE || is_better(sched, i, best)))
            best = i;
    return field->queue[best];
}

/* How long the running context may go on when the other one is to have the engine. */
static uint64_t grace(const struct refgpu_sched *sched, uint32_t running, uint32_t next)
{
    const struct refgpu_context_descriptor *r = &sched->context[running].set;
    const struct refgpu_context_descriptor *n = &sched->context[next].set;
    const struct refgpu_sched_band *band = &sched->band[n->band];

    if (n->band != r->band)
        return band->grace;
    if (n->level != r->level || n->process != r->process)
        return band->process_grace;
    return n->priority > r->priority ? n->grace_lower : n->grace_same;
}

/* ---- time ---- */

/* What FOCUS owes NORMAL when it has had the engine for `ns`. */
static uint64_t owed(const struct refgpu_sched *sched, uint64_t ns)
{
    return ns * sched->normal_share / (100u - sched->normal_share);
}

void refgpu_sched_account(struct refgpu_device *device)
{
    struct refgpu_sched *sched = &device->sched;
    const uint64_t now = device->services->now(device->host), ns = now - sched->since;
    struct refgpu_sched_context *c;
    struct field field;

    sched->since = now;
    if (sched->running == NONE || !ns)
        return;
    c = &sched->context[sched->queue[sched->running].set.context];
    c->used += ns;
    sched->band[c->set.band].used += ns;
    if (c->set.band == REFGPU_BAND_NORMAL) {
        sched->debt = sched->debt > ns ? sched->debt - ns : 0;
    } else if (c->set.band == REFGPU_BAND_FOCUS) {
        look(device, &field);
        if (has_band(sched, &field, REFGPU_BAND_NORMAL))
            sched->debt += owed(sched, ns);
    }
}

/* NORMAL has its turn when FOCUS owes it the quantum of a process. */
static void turn_bands(struct refgpu_sched *sched, const struct field *field)
{
    const bool waits = has_band(sched, field, REFGPU_BAND_NORMAL);

    if (!waits || !has_band(sched, field, REFGPU_BAND_FOCUS))
        sched->debt = 0;
    if (sched->normal_turn)
        sched->normal_turn = sched->debt > 0;
    else
        sched->normal_turn = sched->debt &&
                             sched->debt >= sched->band[REFGPU_BAND_NORMAL].process_quantum;
}

static void sooner(uint64_t *when, uint64_t other)
{
    if (other < *when)
        *when = other;
}

/* When the next decision is due by itself. */
static void arm(struct refgpu_device *device, const struct field *field)
{
    struct refgpu_sched *sched = &device->sched;
    uint64_t when = UINT64_MAX;

    for (uint32_t i = 0; i < sched->queue_end; i++) {
        const struct refgpu_sched_queue *q = &sched->queue[i];

        if (q->valid && i != sched->running && q->set.head != q->set.tail &&
            q->blocked_until > field->now)
            sooner(&when, q->blocked_until);
    }
    if (sched->running != NONE) {
        const struct refgpu_sched_context *c =
            &sched->context[sched->queue[sched->running].set.context];
        const struct refgpu_sched_band *band = &sched->band[c->set.band];

        if (sched->leave_at > field->now)
            sooner(&when, sched->leave_at);
        if (c->used < c->set.quantum)
            sooner(&when, field->now + c->set.quantum - c->used);
        if (band->used < band->process_quantum)
            sooner(&when, field->now + band->process_quantum - band->used);
        if (sched->normal_turn && c->set.band == REFGPU_BAND_NORMAL)
            sooner(&when, field->now + sched->debt);
        if (c->set.band == REFGPU_BAND_FOCUS && sched->normal_share &&
            sched->debt < sched->band[REFGPU_BAND_NORMAL].process_quantum &&
            has_band(sched, field, REFGPU_BAND_NORMAL))
            sooner(&when, field->now + 1u +
                              (sched->band[REFGPU_BAND_NORMAL].process_quantum - sched->debt) *
                                  (100u - sched->normal_share) / sched->normal_share);
    }
    if (when == UINT64_MAX)
        device->services->timer_disarm(device->host, REFGPU_SCHED_TIMER);
    else
        device->services->timer_arm(device->host, REFGPU_SCHED_TIMER,
                                    when > field->now ? when - field->now : 0);
}

/* ---- decisions ---- */

/* New quanta for whom the engine is given to, and places behind the others for who has used his. */
static void give(struct refgpu_device *device, uint32_t queue)
{
    struct refgpu_sched *sched = &device->sched;
    const uint32_t next = sched->queue[queue].set.context, last = sched->last_context;
    struct refgpu_sched_context *c = &sched->context[next];
    struct refgpu_sched_band *band = &sched->band[c->set.band];

    if (is_spent(c)) {
        c->used = 0;
        c->order = ++sched->orders;
    }
    if (last != NONE && last != next && is_spent(&sched->context[last])) {
        sched->context[last].used = 0;
        sched->context[last].order = ++sched->orders;
    }
    if (band->process != c->set.process ||
        (band->process_quantum && band->used >= band->process_quantum)) {
        band->process = c->set.process;
        band->used = 0;
    }
    refgpu_sched_begin(device, queue);
}

/* Whether the running queue gives way now. */
static bool gives_way(struct refgpu_device *device, const struct field *field, uint32_t next)
{
    struct refgpu_sched *sched = &device->sched;
    const uint32_t context = sched->queue[sched->running].set.context;

    if (next == NONE || next == sched->running) {
        sched->leave_at = 0;
        return false;
    }
    if (is_waiting(engine_of(device)))
        return true;
    if (!sched->leave_at)
        sched->leave_at = field->now + grace(sched, context, sched->queue[next].set.context);
    return field->now >= sched->leave_at;
}

void refgpu_sched_update(struct refgpu_device *device)
{
    struct refgpu_sched *sched = &device->sched;
    struct refgpu_engine *engine = engine_of(device);
    struct field field;

    if (sched->deciding || !sched->loaded)
        return;
    sched->deciding = true;
    for (;;) {
        uint32_t next;

        if (engine->phase == REFGPU_HALTED) {
            device->services->timer_disarm(device->host, REFGPU_SCHED_TIMER);
            sched->deciding = false;
            return;
        }
        look(device, &field);
        turn_bands(sched, &field);
        next = choose(sched, &field);
        if (sched->running == NONE) {
            if (next == NONE || !engine->enabled)
                break;
            give(device, next);
            continue;
        }
        if (!gives_way(device, &field, next) || engine->preempt_wanted)
            break;
        refgpu_engine_preempt(engine, 0);
        if (sched->running != NONE) /* it leaves later */
            break;
    }
    arm(device, &field);
    refgpu_sched_log(device);
    sched->deciding = false;
}
