/* SPDX-License-Identifier: MIT */
/* How often a client program makes the host call the driver. */
#ifndef DXGK_TESTS_KMT_DRIVER_CALLS_H
#define DXGK_TESTS_KMT_DRIVER_CALLS_H

#include "host/support/machine.h"

/* Runs the program on a machine of its own. */
static inline uint64_t driver_calls_of(void (*program)(struct client *c))
{
    struct dxgk_statistics before, after;
    struct machine m;

    machine_begin(&m, DXGK_IOMMU_OFF);
    dxgk_machine_statistics(m.dxgk, &before);
    machine_run(&m, program);
    dxgk_machine_statistics(m.dxgk, &after);
    machine_end(&m);
    return after.ddi_calls - before.ddi_calls;
}

#endif
