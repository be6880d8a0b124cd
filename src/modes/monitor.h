/* SPDX-License-Identifier: MIT */
/*
 * A monitor on a target: its descriptor, as the driver reads it, and the signals that it accepts.
 * It is made when the driver says that it is connected, and destroyed when its path is gone
 * (DISP-101, DISP-102). All of this is called by the display worker.
 */
#ifndef DXGK_MODES_MONITOR_H
#define DXGK_MODES_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "modes/mode_set.h"
#include "modes/scope.h"

struct modes;
struct modes_target;

struct monitor {
    struct modes_target *target;
    UINT arrival;             /* numbers them in the order of their arrival */
    uint8_t *edid;            /* NULL: it has none */
    struct ddi_guarded shown; /* copy, to which drivers get pointers */
    unsigned blocks;          /* of EDID_BLOCK bytes */
    struct mode_set *set;
    DXGK_COLORIMETRY colors;   /* that are in use (modes/colorimetry.h) */
    DXGK_MONITORLINKINFO link; /* what its link can do (DISP-112) */
    DXGK_CHILD_CONTAINER_ID container;
    unsigned further; /* times that the driver has its additional modes (DISP-131) */
    struct ddi_guarded further_modes; /* those; none until it asks */
    struct modes_scope scope;         /* what the driver has of it through the monitor interface */
};

/* It has come: ask the driver all about it. A failure is that of the host alone. */
NTSTATUS monitor_arrive(struct modes *modes, struct modes_target *target);
/* It may have changed: ask again. Sets *changed if it prefers another mode, or has another
 * descriptor (DISP-050). */
NTSTATUS monitor_look_again(struct modes *modes, struct modes_target *target, bool *changed);
/* It is gone. */
void monitor_depart(struct modes_target *target);

/* Report a change of the descriptor to which the driver has pointers (DISP-149), and undo it. */
void monitor_check_lent(const struct monitor *monitor);

/* The signal that it prefers, or else the first; NULL: it has none. */
const D3DKMDT_MONITOR_SOURCE_MODE *monitor_preferred(const struct monitor *monitor);

/* The angle that the driver says of it, in degrees. */
UINT monitor_angle(UINT target, UINT said);

/* DxgkCbQueryMonitorInterface, for the table of callbacks (DISP-122, DISP-123). */
NTSTATUS NTAPI modes_query_monitor_interface(HANDLE adapter,
                                             const DXGK_MONITOR_INTERFACE_VERSION version,
                                             const DXGK_MONITOR_INTERFACE **interface);

#endif
