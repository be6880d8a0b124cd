/* SPDX-License-Identifier: MIT */
/* How a fault is reported: to the machine's handler, which ends in a stop. */
#ifndef DXGK_SIM_REPORT_H
#define DXGK_SIM_REPORT_H

struct sim_core;
struct sim_fault;

/* Call the handler, which must be set, and stop. */
_Noreturn void sim_report_fault(struct sim_core *core, const struct sim_fault *fault);
/* Called when the current call into a driver exceeds its limit of virtual time. */
_Noreturn void sim_raise_overdue(struct sim_core *core);

#endif
