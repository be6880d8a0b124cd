/* SPDX-License-Identifier: MIT */
#include "sim/callout.h"

#include "sim/core.h"
#include "verify/verify.h"

#define WHEA_UNCORRECTABLE_ERROR 0x124u

struct sim_callout *sim_callout_enter(struct sim_callout *callout, const char *callback)
{
    struct sim_core *core = core_of(sim_current);
    struct sim_callout *before = core->callout;

    callout->callback = callback;
    core->callout = callout;
    return before;
}

void sim_callout_leave(struct sim_callout *before)
{
    core_of(sim_current)->callout = before;
}

void sim_callout_hangs(struct sim_core *core, bool sleeps)
{
    struct sim_callout *callout = core->callout;

    callout->hangs = true;
    core->callout = NULL;
    sim_set_frame(&core->public, NULL); /* a driver that has set it off is not to blame */
    verify_fatal("NT-198", WHEA_UNCORRECTABLE_ERROR, 0, 0, 0, 0,
                 "the callback `%s` of device model %s did not return: it %s", callout->callback,
                 callout->model,
                 sleeps ? "sleeps in the host's kernel"
                        : "used up its processor time without an end (watchdog)");
}
