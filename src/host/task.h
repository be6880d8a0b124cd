/* SPDX-License-Identifier: MIT */
/* What a client asks for and a thread of the system does, while the client waits. */
#ifndef DXGK_HOST_TASK_H
#define DXGK_HOST_TASK_H

#include <stdbool.h>

#include "dxgkhost/dxgkhost.h"

/* Run fn(arg) on a kernel thread of this name until it is done. DXGK_DRIVER_STOPPED: the machine
 * stopped meanwhile, and nothing runs any more that knows `arg`. */
enum dxgk_result host_task_run(const char *name, void (*fn)(void *arg), void *arg);

#endif
