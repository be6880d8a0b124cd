/* SPDX-License-Identifier: MIT */
/* Calls into device models: the mark that tells the watchdog that one is running. */
#ifndef DXGK_SIM_CALLOUT_H
#define DXGK_SIM_CALLOUT_H

#include <stdbool.h>

#include "sim/machine.h"

struct sim_core;

/* Of one device. */
struct sim_callout {
    const char *model;    /* its name */
    const char *callback; /* that is running, as in struct dxgk_device_model */
    /* one did not return, and was left where it was: the model must not be called again */
    bool hangs;
};

/* Around each call of the model. Returns what was running before, for the leave. */
static inline struct sim_callout *sim_callout_enter(struct sim_callout *callout,
                                                    const char *callback)
{
    struct sim_callout *before = sim_current->callout;

    callout->callback = callback;
    sim_current->callout = callout;
    return before;
}

static inline void sim_callout_leave(struct sim_callout *before)
{
    sim_current->callout = before;
}

/* The watchdog has found that the model does not come back: report it, and stop the machine
 * (NT-198). Returns if the rule was lowered; the callback cannot go on. */
void sim_callout_hangs(struct sim_core *core, bool sleeps);

#endif
