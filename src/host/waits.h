/* SPDX-License-Identifier: MIT */
/* What is told of a machine whose run ends before its clients do. */
#ifndef DXGK_HOST_WAITS_H
#define DXGK_HOST_WAITS_H

#include <stdint.h>

#include "sim/sim.h"

struct dxgk_machine;

/* A run has ended with this outcome, after `limit_ns` of virtual time at most. If threads are left,
 * say what each waits for (THREAD-072, NT-194): as lines for dxgk_machine_waits, and as a broken
 * rule. Call between runs. */
void host_waits_tell(const struct dxgk_machine *machine, enum sim_outcome outcome,
                     uint64_t limit_ns);

#endif
