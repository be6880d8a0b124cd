/* SPDX-License-Identifier: MIT */
/* How interrupts are raised and become pending; delivery.c serves them. */
#include "sim/interrupt.h"

#include <stdio.h>
#include <string.h>

#include "sim/core.h"
#include "sim/irql.h"
#include "sim/order.h"
#include "sim/point.h"

#define LATENCY_NS 600u /* an interrupt reaches a processor within this time */

static void make_pending_on(struct sim_interrupt *interrupt, unsigned processor)
{
    struct sim_core *core = core_of(sim_current);
    struct processor *p = &core->processor[processor];

    list_push_back(&p->interrupts, &interrupt->link);
    if (p == current_processor(core) || sim_current->processors > 1) {
        core->refuelled -= sim_current->fuel - 1; /* makes the fuel end here, but not the slice */
        sim_current->fuel = 1;
    }
}

static void make_pending(struct sim_interrupt *interrupt)
{
    make_pending_on(interrupt, sim_random(sim_current->processors));
}

void sim_interrupt_send(struct sim_interrupt *interrupt, unsigned processor)
{
    sim_order_release(interrupt);
    if (!interrupt->connected || interrupt->pending || sim_current->stopped)
        return;
    interrupt->pending = true;
    make_pending_on(interrupt, processor);
}

static void latency_over(struct sim_event *event)
{
    make_pending(CONTAINER(event, struct sim_interrupt, latency));
}

static void describe_latency(const struct sim_event *event, char *text, size_t bytes)
{
    const struct sim_interrupt *interrupt = CONTAINER(event, struct sim_interrupt, latency);

    snprintf(text, bytes, "interrupt message %u of %s", interrupt->message,
             interrupt->owner ? interrupt->owner : "the host");
}

void sim_interrupt_connect(struct sim_interrupt *interrupt, bool (*service)(void *, uint32_t),
                           void *context, uint32_t message, uint8_t irql)
{
    const char *owner = interrupt->owner;

    memset(interrupt, 0, sizeof(*interrupt));
    interrupt->owner = owner;
    list_init(&interrupt->link);
    interrupt->service = service;
    interrupt->context = context;
    interrupt->message = message;
    interrupt->irql = irql;
    interrupt->latency.fire = latency_over;
    interrupt->latency.describe = describe_latency;
    interrupt->connected = true;
    sim_order_forget(interrupt);
    sim_order_release(interrupt);
}

void sim_interrupt_disconnect(struct sim_interrupt *interrupt)
{
    if (!interrupt->connected)
        return;
    interrupt->connected = false;
    while (interrupt->lock_owner && interrupt->lock_owner != sim_current->processor + 1 &&
           !sim_current->stopped)
        sim_spin();
    sim_order_acquire(interrupt);
    sim_event_cancel(&interrupt->latency);
    list_remove(&interrupt->link);
    interrupt->pending = false;
}

void sim_interrupt_raise(struct sim_interrupt *interrupt)
{
    if (sim_current->races)
        race_relay(sim_current->races, &sim_current->races, interrupt);
    if (!interrupt->connected || interrupt->pending || sim_current->stopped)
        return;
    interrupt->pending = true;
    if (!sim_event_arm(&interrupt->latency, sim_current->now + 1 + sim_random(LATENCY_NS)))
        make_pending(interrupt); /* no memory for the delay: pending at once */
}

bool sim_interrupt_synchronize(struct sim_interrupt *interrupt, bool (*fn)(void *arg), void *arg)
{
    struct sim_core *core = core_of(sim_current);
    uint8_t before = sim_raise_irql(interrupt->irql);
    bool result;

    while (interrupt->lock_owner)
        sim_spin();
    interrupt->lock_owner = (uint16_t)(sim_current->processor + 1);
    sim_order_acquire(interrupt);
    current_processor(core)->interrupt_depth++;
    result = fn(arg);
    current_processor(core)->interrupt_depth--;
    sim_order_release(interrupt);
    interrupt->lock_owner = 0;
    sim_lower_irql(before);
    return result;
}

bool sim_in_interrupt(void)
{
    return current_processor(core_of(sim_current))->interrupt_depth > 0;
}
