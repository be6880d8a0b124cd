/* SPDX-License-Identifier: MIT */
#include "sim/endless.h"

#include <stdio.h>

#include "sim/core.h"
#include "sim/dpc.h"
#include "sim/interrupt.h"
#include "verify/verify.h"

#define EVENTS        1000000u    /* NT-196: within */
#define EVENTS_NS     1000000u    /* a millisecond */
#define INTERRUPTS    100000u     /* NT-197: within */
#define INTERRUPTS_NS 1000000000u /* a second, and without a submission */
#define DPCS          1000000u    /* NT-195: without a pause; or */
#define DPCS_NS       2000000000u /* two seconds of them */

#define HARDWARE_INTERRUPT_STORM 0xF2u
#define WHEA_UNCORRECTABLE_ERROR 0x124u
#define DPC_WATCHDOG_VIOLATION   0x133u
#define TOTAL_TIME               1u /* of 0x133: not one call, but all together */

static void name_event(const struct sim_event *event, char *text, size_t bytes)
{
    if (event->describe)
        event->describe(event, text, bytes);
    else if (event->reserved)
        snprintf(text, bytes, "the time-out of a wait of thread %s",
                 CONTAINER(event, struct sim_thread, timeout)->name);
    else
        snprintf(text, bytes, "a timer of the host");
}

static bool is_of_client(const struct sim_event *event)
{
    return event->reserved &&
           CONTAINER(event, struct sim_thread, timeout)->kind == SIM_THREAD_CLIENT;
}

void sim_endless_event(struct sim_core *core, const struct sim_event *event)
{
    struct sim_machine *m = &core->public;
    char owner[128];

    if (is_of_client(event)) /* its own limit ends it, and it is no fault of a driver */
        return;
    if (m->now - core->events_since > EVENTS_NS) {
        core->events_since = m->now;
        core->events_fired = 0;
    }
    if (++core->events_fired <= EVENTS)
        return;
    core->events_fired = 0;
    name_event(event, owner, sizeof(owner));
    sim_set_frame(m, NULL); /* whoever was interrupted has nothing to do with it */
    verify_fatal("NT-196", WHEA_UNCORRECTABLE_ERROR, 0, 0, 0, 0,
                 "%u events within %llu ns of virtual time, and no end of them; the last one is %s",
                 EVENTS, (unsigned long long)(m->now - core->events_since), owner);
}

void sim_endless_interrupt(const struct sim_core *core, struct sim_interrupt *interrupt)
{
    const struct sim_machine *m = &core->public;

    if (!interrupt->owner)
        return;
    if (m->now - interrupt->storm.since > INTERRUPTS_NS ||
        interrupt->storm.submissions != m->submissions) {
        interrupt->storm.since = m->now;
        interrupt->storm.submissions = m->submissions;
        interrupt->storm.count = interrupt->storm.claimed = 0;
    }
    if (++interrupt->storm.count <= INTERRUPTS)
        return;
    interrupt->storm.count = 0;
    verify_fatal("NT-197", HARDWARE_INTERRUPT_STORM, interrupt->message, 0, 0, 0,
                 "device model %s raised interrupt message %u %u times within %.6f s while nothing "
                 "was submitted; the driver claimed %u of them",
                 interrupt->owner, interrupt->message, INTERRUPTS,
                 (double)(m->now - interrupt->storm.since) / 1e9, interrupt->storm.claimed);
}

void sim_endless_dpc(const struct sim_core *core, struct sim_dpc_stretch *stretch,
                     const struct sim_dpc *dpc)
{
    const struct sim_machine *m = &core->public;
    char name[128] = "a DPC";

    if (stretch->calls == 0)
        stretch->since = m->now;
    if (++stretch->calls <= DPCS && m->now - stretch->since <= DPCS_NS)
        return;
    if (dpc->describe)
        dpc->describe(dpc, name, sizeof(name));
    verify_fatal("NT-195", DPC_WATCHDOG_VIOLATION, TOTAL_TIME, DPCS_NS / 1000000, 0, 0,
                 "processor %u has run %u DPCs one after another for %.6f s, and could do nothing "
                 "else; the next one is %s",
                 m->processor, stretch->calls - 1, (double)(m->now - stretch->since) / 1e9, name);
    stretch->calls = 0;
}
