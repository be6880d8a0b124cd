/* SPDX-License-Identifier: MIT */
/* How a fault is reported: to the machine's handler, which ends in a stop. */
#ifndef DXGK_SIM_REPORT_H
#define DXGK_SIM_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/fault.h"

struct sim_core;

/* What happens to a fault: it is the driver's, it is one of the report of a fault, or one of the
 * last attempt to report. */
enum sim_reporting { SIM_NOT_REPORTING, SIM_REPORTING, SIM_REPORTING_AGAIN };

/* The report in progress, and the stop that follows. */
struct sim_report {
    char *spare;              /* spare.h */
    uint16_t frozen;          /* one more than the processor that alone runs; 0: all do */
    void (*end_thread)(void); /* sim_thread_exit, which does not return */
    enum sim_reporting stage;
    struct sim_fault fault;
    struct sim_registers registers; /* of `fault` */
    int timer;                      /* of the kernel; valid while `timed` */
    bool timed;
    unsigned ticks;       /* of the timer, without work */
    uint64_t start, work; /* processor time of the host thread in ns */
    /* in a signal handler: the report has faulted, or does not end */
    void (*again)(struct sim_core *core, int signal, uintptr_t address, void *context);
};

/* Call the handler, which must be set, and stop. */
_Noreturn void sim_report_fault(struct sim_core *core, const struct sim_fault *fault);
/* Called when the current call into a driver exceeds its limit of virtual time, or of processor
 * time. */
_Noreturn void sim_raise_overdue(struct sim_core *core);

#endif
