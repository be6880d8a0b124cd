/* SPDX-License-Identifier: MIT */
/*
 * The spare stacks of a machine, for reports of faults whose own stack is full or none: one for the
 * report, and one for the report that its report has faulted.
 *
 *     guard page | last stack | guard page | spare stack
 */
#ifndef DXGK_SIM_SPARE_H
#define DXGK_SIM_SPARE_H

#include <stdbool.h>
#include <stdint.h>

struct sim_core;

/* Bounds of a stack. */
struct sim_span {
    uintptr_t low, high;
};

bool sim_spare_setup(struct sim_core *core);
void sim_spare_teardown(struct sim_core *core);
struct sim_span sim_spare(const struct sim_core *core);
struct sim_span sim_spare_last(const struct sim_core *core);
/* The stack that `sp` is on: a spare one, else that of the current fiber, even if `sp` is outside
 * of it. */
struct sim_span sim_span_of(struct sim_core *core, uintptr_t sp);

#endif
