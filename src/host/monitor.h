/* SPDX-License-Identifier: MIT */
/* Monitors on the outputs of devices. */
#ifndef DXGK_HOST_MONITOR_H
#define DXGK_HOST_MONITOR_H

struct dxgk_machine;

/* Before a driver starts adapters: those that nobody has chosen (PRES-323). */
void host_monitor_defaults(struct dxgk_machine *machine);
/* After the simulation is gone. */
void host_monitors_free(struct dxgk_machine *machine);

#endif
