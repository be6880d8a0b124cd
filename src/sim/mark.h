/* SPDX-License-Identifier: MIT */
/* Recovery marks: how a client thread leaves the host when the machine is stopped during its
 * call. */
#ifndef DXGK_SIM_MARK_H
#define DXGK_SIM_MARK_H

#include <stdbool.h>
#include <stdint.h>

/* A client thread continues at this mark when the machine is stopped during its call (longjmp).
 * Marks nest; the outermost one is used. Where a driver has overwritten the stack up to the mark,
 * the thread ends instead; what the function keeps on its stack for after the throw belongs behind
 * the mark in one structure, so that it is not overwritten alone.
 *
 *     struct sim_mark mark;
 *     if (SIM_RECOVER(&mark))
 *         return STATUS_DEVICE_REMOVED;   // thrown: locals changed since are indeterminate
 *     ...
 *     sim_unmark(&mark); */
struct sim_mark {
    uint64_t guard; /* the stack was not overwritten up to here */
    void *jump[5];  /* where the mark is not the outermost one */
    struct sim_mark *outer;
    uint8_t irql;
};

/* Returns where the registers of the mark are to be kept: those of the outermost one are not on the
 * stack, which a driver may overwrite. */
void **sim_mark_push(struct sim_mark *mark);
void sim_unmark(struct sim_mark *mark);
/* Whether the stack is as it was at the mark, and above it: an overrun from below would have
 * overwritten the mark, too. */
bool sim_mark_is_whole(const struct sim_mark *mark);
#define SIM_RECOVER(mark) __builtin_setjmp(sim_mark_push(mark))

#endif
