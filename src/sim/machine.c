/* SPDX-License-Identifier: MIT */
/* Tracks which machine the host thread has entered. */
#include "sim/machine.h"

_Thread_local struct sim_machine *sim_current;
