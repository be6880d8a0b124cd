/* SPDX-License-Identifier: MIT */
/* What the driver got by callbacks and must give back, as the adapter's record keeps it. Only the
 * files named above a structure use it. */
#ifndef DXGK_PORT_CALLBACK_STATE_H
#define DXGK_PORT_CALLBACK_STATE_H

#include <dxgk_wddm3_2.h>

#include "util/list.h"

/* services.c, timed_operations.c, debug_reports.c */
struct port_services {
    struct list interfaces; /* held by the driver */
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
    DXGKDDI_FEATURE_INTERFACE interface; /* the driver's, while it is started; else zeros */
    struct port_driver_feature *answer;  /* by index of the feature; NULL: not asked */
    /* Of DXGK_FEATURE_HWSCH (KMT-091): DXGK_FEATURE_SUPPORT_* of the driver, and whether the host's
     * configuration is that it is on. */
    UINT hwsch_state;
    bool hwsch_by_default;
};

#endif
