/* SPDX-License-Identifier: MIT */
/*
 * What goes on for ever while next to no virtual time passes: events, interrupts of one line, and
 * deferred calls of one processor are counted, and one too many stops the machine. The counts are
 * far beyond what a machine at work reaches.
 */
#ifndef DXGK_SIM_ENDLESS_H
#define DXGK_SIM_ENDLESS_H

#include <stdint.h>

struct sim_core;
struct sim_dpc;
struct sim_event;
struct sim_interrupt;

/* Deferred calls that a processor runs one after another. */
struct sim_dpc_stretch {
    uint64_t since;
    uint32_t calls;
};

/* Before the event is fired, the interrupt served, or the call made. Stops the machine, and then
 * does not return, if it is one too many and the rule is not lowered. */
void sim_endless_event(struct sim_core *core, const struct sim_event *event);
void sim_endless_interrupt(const struct sim_core *core, struct sim_interrupt *interrupt);
void sim_endless_dpc(const struct sim_core *core, struct sim_dpc_stretch *stretch,
                     const struct sim_dpc *dpc);

#endif
