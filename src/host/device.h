/* SPDX-License-Identifier: MIT */
/* Devices of a machine, as they were added to it. */
#ifndef DXGK_HOST_DEVICE_H
#define DXGK_HOST_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/list.h"

struct host_device {
    struct list link;
    struct bus_device *bus;
    char **option; /* copies: a model may keep the pointers */
    size_t options;
    bool has_driver;
    bool monitors_chosen; /* by the user, before the driver was loaded */
};

#endif
