/* SPDX-License-Identifier: MIT */
/* The entries of a driver that are called while a client's request about its adapter is carried out
 * (PRES-333). */
#ifndef DXGK_HOST_CALLED_H
#define DXGK_HOST_CALLED_H

struct dxgk_machine;

/* From here on, until host_called_end. No such adapter: nothing. */
void host_called_begin(const struct dxgk_machine *machine, unsigned adapter);
void host_called_end(const struct dxgk_machine *machine, unsigned adapter);

#endif
