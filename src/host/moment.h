/* SPDX-License-Identifier: MIT */
/* Functions that are called at a virtual time. */
#ifndef DXGK_HOST_MOMENT_H
#define DXGK_HOST_MOMENT_H

struct dxgk_machine;

/* After the simulation is gone. */
void host_moments_free(struct dxgk_machine *machine);

#endif
