/* SPDX-License-Identifier: MIT */
/* Which machine the host thread is in. */
#include "sim/machine.h"

_Thread_local struct sim_machine *sim_current;
