/* SPDX-License-Identifier: MIT */
/* Faults go to the handler of the machine, which ends in a stop. */
#ifndef DXGK_SIM_REPORT_H
#define DXGK_SIM_REPORT_H

struct sim_core;
struct sim_fault;

/* Tell the handler, and stop. There is a handler. */
_Noreturn void sim_report_fault(struct sim_core *core, const struct sim_fault *fault);
/* The current call into a driver has taken more than its limit of virtual time. */
_Noreturn void sim_raise_overdue(struct sim_core *core);

#endif
