/* SPDX-License-Identifier: MIT */
/* Recovery marks: how a client thread gets out of the host when the machine is stopped under it. */
#ifndef DXGK_SIM_MARK_H
#define DXGK_SIM_MARK_H

#include <stdint.h>

/* A mark to which a client thread is thrown when the machine is stopped under it. Marks nest; the
 * outermost counts.
 *
 *     struct sim_mark mark;
 *     if (SIM_RECOVER(&mark))
 *         return STATUS_DEVICE_REMOVED;   // thrown: locals changed since are indeterminate
 *     ...
 *     sim_unmark(&mark);
 */
struct sim_mark {
    void *jump[5];
    struct sim_mark *outer;
    uint8_t irql;
};

void sim_mark_push(struct sim_mark *mark);
void sim_unmark(struct sim_mark *mark);
#define SIM_RECOVER(mark) (sim_mark_push(mark), __builtin_setjmp((mark)->jump))

#endif
