/* SPDX-License-Identifier: MIT */
/* Drivers of a machine, and the adapters that they made of its devices. */
#ifndef DXGK_HOST_DRIVER_H
#define DXGK_HOST_DRIVER_H

#include <stddef.h>

#include "ddi/told.h"
#include "dxgkhost/dxgkhost.h"
#include "util/list.h"

struct host_driver {
    struct list link;
    struct loader_image *image;
    struct nt_image *nt_image;
    struct port_driver *port;
};

struct host_adapter {
    struct list link;
    struct host_device *device;
    struct port_adapter *port;
    struct ddi_called called; /* for called.c */
};

/* dxgk_machine_load_driver, for a machine that is entered. */
enum dxgk_result host_driver_load(struct dxgk_machine *machine, const char *path, char *error,
                                  size_t error_bytes);
/* On a kernel thread: adapters stop, then drivers unload. */
void host_driver_stop_all(struct dxgk_machine *machine);
/* What is left of them, and of their modules. */
void host_driver_free_all(struct dxgk_machine *machine);

#endif
