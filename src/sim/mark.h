/* SPDX-License-Identifier: MIT */
/* Recovery marks: how a client thread leaves the host when the machine is stopped during its
 * call. */
#ifndef DXGK_SIM_MARK_H
#define DXGK_SIM_MARK_H

#include <stdint.h>

/* A client thread continues at this mark when the machine is stopped during its call (longjmp).
 * Marks nest; the outermost one is used.
 *
 *     struct sim_mark mark;
 *     if (SIM_RECOVER(&mark))
 *         return STATUS_DEVICE_REMOVED;   // thrown: locals changed since are indeterminate
 *     ...
 *     sim_unmark(&mark); */
struct sim_mark {
    void *jump[5];
    struct sim_mark *outer;
    uint8_t irql;
};

void sim_mark_push(struct sim_mark *mark);
void sim_unmark(struct sim_mark *mark);
#define SIM_RECOVER(mark) (sim_mark_push(mark), __builtin_setjmp((mark)->jump))

#endif
