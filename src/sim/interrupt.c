/* SPDX-License-Identifier: MIT */
/* Levels, interrupts and deferred calls: what runs on top of the interrupted stack, and when. */
#include <string.h>

#include "sim/sim_private.h"

#define LATENCY_NS 600u /* an interrupt reaches a processor within this time */

/* ---- delivery ---- */

static struct sim_interrupt *deliverable(struct sim_core *core, struct processor *p)
{
    struct sim_interrupt *best = NULL;

    LIST_FOR(node, &p->interrupts) {
        struct sim_interrupt *interrupt = CONTAINER(node, struct sim_interrupt, link);

        if (interrupt->irql > core->public.irql && interrupt->lock_owner == 0 &&
            (!best || interrupt->irql > best->irql))
            best = interrupt;
    }
    return best;
}

static void serve(struct sim_core *core, struct sim_interrupt *interrupt)
{
    struct sim_machine *m = &core->public;
    uint8_t before = m->irql;

    list_remove(&interrupt->link);
    interrupt->pending = false;
    if (!interrupt->connected)
        return;
    interrupt->delivered++;
    interrupt->lock_owner = (uint16_t)(m->processor + 1);
    m->irql = interrupt->irql;
    sim_level_raised(core);
    current_processor(core)->interrupt_depth++;
    interrupt->service(interrupt->context, interrupt->message);
    current_processor(core)->interrupt_depth--;
    m->irql = before;
    interrupt->lock_owner = 0;
}

static void run_dpcs(struct sim_core *core)
{
    struct sim_machine *m = &core->public;
    struct processor *p = current_processor(core);
    uint8_t before = m->irql;

    while (!list_empty(&p->dpcs)) {
        struct sim_dpc *dpc = CONTAINER(p->dpcs.next, struct sim_dpc, link);
        uint16_t inside = m->inside;
        uint64_t deadline = m->deadline;

        list_remove(&dpc->link);
        dpc->queued = false;
        m->irql = SIM_IRQL_DISPATCH;
        sim_level_raised(core);
        p->dpc_depth++;
        m->deadline = SIM_FOREVER; /* the interrupted call is not charged */
        dpc->routine(dpc);
        m->inside = inside;
        m->deadline = deadline;
        p->dpc_depth--;
        m->irql = before;
    }
}

/* Serve what the current level lets through on the current processor. */
void sim_deliver(struct sim_core *core)
{
    struct processor *p = current_processor(core);
    struct sim_interrupt *interrupt;

    while ((interrupt = deliverable(core, p)) != NULL)
        serve(core, interrupt);
    if (core->public.irql < SIM_IRQL_DISPATCH && !list_empty(&p->dpcs))
        run_dpcs(core);
}

uint8_t sim_raise_irql(uint8_t irql)
{
    uint8_t before = sim_current->irql;

    sim_current->irql = irql;
    if (before < SIM_IRQL_DISPATCH)
        sim_level_raised(core_of(sim_current));
    return before;
}

uint8_t sim_lower_irql(uint8_t irql)
{
    struct sim_core *core = core_of(sim_current);
    struct processor *p = current_processor(core);
    uint8_t before = sim_current->irql;

    sim_current->irql = irql;
    if (!list_empty(&p->interrupts) || (irql < SIM_IRQL_DISPATCH && !list_empty(&p->dpcs)))
        sim_deliver(core);
    return before;
}

/* ---- interrupts ---- */

static void make_pending_on(struct sim_interrupt *interrupt, unsigned processor)
{
    struct sim_core *core = core_of(sim_current);
    struct processor *p = &core->processor[processor];

    list_push_back(&p->interrupts, &interrupt->link);
    if (p == current_processor(core) || sim_current->processors > 1) {
        core->refuelled -= sim_current->fuel - 1; /* end of the fuel, not of the slice */
        sim_current->fuel = 1;
    }
}

static void make_pending(struct sim_interrupt *interrupt)
{
    make_pending_on(interrupt, sim_random(sim_current->processors));
}

void sim_interrupt_send(struct sim_interrupt *interrupt, unsigned processor)
{
    if (!interrupt->connected || interrupt->pending || sim_current->stopped)
        return;
    interrupt->pending = true;
    make_pending_on(interrupt, processor);
}

static void latency_over(struct sim_event *event)
{
    make_pending(CONTAINER(event, struct sim_interrupt, latency));
}

void sim_interrupt_connect(struct sim_interrupt *interrupt, bool (*service)(void *, uint32_t),
                           void *context, uint32_t message, uint8_t irql)
{
    memset(interrupt, 0, sizeof(*interrupt));
    list_init(&interrupt->link);
    interrupt->service = service;
    interrupt->context = context;
    interrupt->message = message;
    interrupt->irql = irql;
    interrupt->latency.fire = latency_over;
    interrupt->connected = true;
}

void sim_interrupt_disconnect(struct sim_interrupt *interrupt)
{
    if (!interrupt->connected)
        return;
    interrupt->connected = false;
    while (interrupt->lock_owner && interrupt->lock_owner != sim_current->processor + 1 &&
           !sim_current->stopped)
        sim_spin();
    sim_event_cancel(&interrupt->latency);
    list_remove(&interrupt->link);
    interrupt->pending = false;
}

void sim_interrupt_raise(struct sim_interrupt *interrupt)
{
    if (!interrupt->connected || interrupt->pending || sim_current->stopped)
        return;
    interrupt->pending = true;
    if (!sim_event_arm(&interrupt->latency, sim_current->now + 1 + sim_random(LATENCY_NS)))
        make_pending(interrupt); /* no memory for the delay: none then */
}

bool sim_interrupt_synchronize(struct sim_interrupt *interrupt, bool (*fn)(void *arg), void *arg)
{
    struct sim_core *core = core_of(sim_current);
    uint8_t before = sim_raise_irql(interrupt->irql);
    bool result;

    while (interrupt->lock_owner)
        sim_spin();
    interrupt->lock_owner = (uint16_t)(sim_current->processor + 1);
    current_processor(core)->interrupt_depth++;
    result = fn(arg);
    current_processor(core)->interrupt_depth--;
    interrupt->lock_owner = 0;
    sim_lower_irql(before);
    return result;
}

/* ---- deferred calls ---- */

bool sim_dpc_queue(struct sim_dpc *dpc)
{
    struct sim_core *core = core_of(sim_current);
    struct processor *p;

    if (dpc->queued || sim_current->stopped)
        return false;
    p = dpc->target && dpc->target <= sim_current->processors ? &core->processor[dpc->target - 1]
                                                              : current_processor(core);
    dpc->queued = true;
    if (dpc->high)
        list_push_front(&p->dpcs, &dpc->link);
    else
        list_push_back(&p->dpcs, &dpc->link);
    if (p == current_processor(core) && sim_current->irql < SIM_IRQL_DISPATCH && core->on_fiber)
        sim_deliver(core);
    return true;
}

bool sim_dpc_remove(struct sim_dpc *dpc)
{
    if (!dpc->queued)
        return false;
    list_remove(&dpc->link);
    dpc->queued = false;
    return true;
}

void sim_dpc_flush(void)
{
    struct sim_core *core = core_of(sim_current);

    for (unsigned i = 0; i < sim_current->processors; i++) {
        struct processor *p = &core->processor[i];

        while (!sim_current->stopped &&
               (!list_empty(&p->dpcs) || (p->dpc_depth && p != current_processor(core))))
            sim_spin();
    }
}

bool sim_in_dpc(void)
{
    return current_processor(core_of(sim_current))->dpc_depth > 0;
}

bool sim_in_interrupt(void)
{
    return current_processor(core_of(sim_current))->interrupt_depth > 0;
}
