/* SPDX-License-Identifier: MIT */
/* What the port driver asks of a driver, told line by line (dxgk_machine_inspect). */
#ifndef DXGK_HOST_INSPECT_H
#define DXGK_HOST_INSPECT_H

struct dxgk_machine;
struct port_answers;

/* What the port driver was told; `context` is the machine. */
void host_inspect_observe(void *context, const struct port_answers *answers);
/* Outputs, monitors and modes of the adapters that have started. */
void host_inspect_displays(struct dxgk_machine *machine);

#endif
