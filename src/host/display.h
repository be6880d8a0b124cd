/* SPDX-License-Identifier: MIT */
/* Adapters as the functions of dxgkhost/display.h count them. */
#ifndef DXGK_HOST_DISPLAY_H
#define DXGK_HOST_DISPLAY_H

struct dxgk_machine;
struct port_adapter;

/* NULL: there are not so many. */
struct port_adapter *host_display_adapter(const struct dxgk_machine *machine, unsigned number);

#endif
