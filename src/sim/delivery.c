/* SPDX-License-Identifier: MIT */
/* Serving interrupts and running deferred calls on the stack of the fiber that they interrupt. */
#include "sim/delivery.h"

#include "sim/core.h"
#include "sim/dpc.h"
#include "sim/endless.h"
#include "sim/interrupt.h"
#include "sim/order.h"
#include "verify/refusal.h"

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
    struct refusal *refusal = refusal_current;
    struct race_task *task = NULL;
    uint8_t before = m->irql;

    list_remove(&interrupt->link);
    interrupt->pending = false;
    if (!interrupt->connected)
        return;
    interrupt->delivered++;
    sim_endless_interrupt(core, interrupt);
    interrupt->lock_owner = (uint16_t)(m->processor + 1);
    m->irql = interrupt->irql;
    sim_level_raised(core);
    if (m->races)
        task = race_begin(m->races, m->processor, m->irql, m->frame);
    sim_order_acquire(interrupt);
    current_processor(core)->interrupt_depth++;
    refusal_current = NULL; /* what it refuses is not the interrupted call's */
    interrupt->storm.claimed += interrupt->service(interrupt->context, interrupt->message);
    refusal_current = refusal;
    current_processor(core)->interrupt_depth--;
    sim_order_release(interrupt);
    if (m->races)
        race_end(m->races, m->processor, m->irql, task);
    m->irql = before;
    interrupt->lock_owner = 0;
}

static void run_dpcs(struct sim_core *core)
{
    struct sim_machine *m = &core->public;
    struct processor *p = current_processor(core);
    struct refusal *refusal = refusal_current;
    uint8_t before = m->irql;
    struct sim_dpc_stretch stretch = {.calls = 0};

    while (!list_empty(&p->dpcs)) {
        struct sim_dpc *dpc = CONTAINER(p->dpcs.next, struct sim_dpc, link);
        uint16_t inside = m->inside;
        uint64_t deadline = m->deadline;
        struct race_task *task = NULL;

        sim_endless_dpc(core, &stretch, dpc);
        list_remove(&dpc->link);
        dpc->queued = false;
        m->irql = SIM_IRQL_DISPATCH;
        sim_level_raised(core);
        if (m->races)
            task = race_begin(m->races, m->processor, SIM_IRQL_DISPATCH, m->frame);
        sim_order_take(dpc);
        p->dpc_depth++;
        m->deadline = SIM_FOREVER; /* the interrupted call is not charged for this time */
        refusal_current = NULL;
        dpc->routine(dpc);
        refusal_current = refusal;
        m->inside = inside;
        m->deadline = deadline;
        p->dpc_depth--;
        if (m->races)
            race_end(m->races, m->processor, SIM_IRQL_DISPATCH, task);
        m->irql = before;
    }
}

void sim_deliver(struct sim_core *core)
{
    struct processor *p = current_processor(core);
    struct sim_interrupt *interrupt;

    if (core->report.frozen)
        return;
    while ((interrupt = deliverable(core, p)) != NULL)
        serve(core, interrupt);
    if (core->public.irql < SIM_IRQL_DISPATCH && !list_empty(&p->dpcs))
        run_dpcs(core);
}
