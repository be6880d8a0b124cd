/* SPDX-License-Identifier: MIT */
/* The end of a fault: the call of its handler, and a stop. */
#include "sim/report.h"

#include <stdlib.h>

#include "sim/core.h"
#include "sim/callout.h"
#include "sim/fault.h"
#include "sim/stop.h"

_Noreturn void sim_report_fault(struct sim_core *core, const struct sim_fault *fault)
{
    if (core->callout && (fault->kind == SIM_FAULT_HANG || fault->kind == SIM_FAULT_SLEEP))
        sim_callout_hangs(core, fault->kind == SIM_FAULT_SLEEP);
    else
        core->on_fault(fault);
    sim_stop();
    abort(); /* a client thread without a recovery mark cannot continue */
}

_Noreturn void sim_raise_overdue(struct sim_core *core)
{
    struct sim_fault fault = {.kind = SIM_FAULT_OVERDUE,
                              .pc = (uintptr_t)__builtin_return_address(0),
                              .frame = (uintptr_t)__builtin_frame_address(0)};

    fault.sp = fault.frame;
    if (!core->on_fault) {
        sim_stop();
        abort();
    }
    sim_report_fault(core, &fault);
}
