/* SPDX-License-Identifier: MIT */
/* What the driver got by callbacks and has to give back, as the adapter's record keeps it. Each
 * structure is touched only by the files that its comment names. */
#ifndef DXGK_PORT_CALLBACK_STATE_H
#define DXGK_PORT_CALLBACK_STATE_H

#include <dxgk_wddm3_2.h>

#include "util/list.h"

/* services.c, timed_operations.c, debug_reports.c */
struct port_services {
    struct list interfaces; /* handed out */
    struct list timed_operations;
    struct list debug_reports;
};

/* exclude.c */
struct port_exclusions {
    uint32_t pending; /* asynchronous protected callbacks that have not run yet */
    bool bridge_open; /* inside a callback with DXGK_EXCLUDE_BRIDGE_ACCESS (LIFE-094) */
};

/* feature_interface.c */
struct port_driver_features {
    DXGKDDI_FEATURE_INTERFACE interface; /* of the driver, while it is started; or zeros */
    struct port_driver_feature *answer;  /* by place in the table of features; NULL: never asked */
};

#endif
