/* SPDX-License-Identifier: MIT */
#ifndef DXGK_HOST_DEBUGGER_H
#define DXGK_HOST_DEBUGGER_H

struct port_driver;

/* Tell a debugger which routines a driver has registered (util/debugger.h). */
void host_debugger_entries(const struct port_driver *driver);

#endif
