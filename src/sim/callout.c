/* SPDX-License-Identifier: MIT */
#include "sim/callout.h"

#include "sim/core.h"
#include "verify/verify.h"

#define WHEA_UNCORRECTABLE_ERROR 0x124u

void sim_callout_hangs(struct sim_core *core, bool sleeps)
{
    struct sim_callout *callout = core->public.callout;

    callout->hangs = true;
    core->public.callout = NULL;
    sim_set_frame(&core->public, NULL); /* a driver that has set it off is not to blame */
    verify_fatal("NT-198", WHEA_UNCORRECTABLE_ERROR, 0, 0, 0, 0,
                 "the callback `%s` of device model %s did not return: it %s", callout->callback,
                 callout->model,
                 sleeps ? "sleeps in the host's kernel"
                        : "used up its processor time without an end (watchdog)");
}
