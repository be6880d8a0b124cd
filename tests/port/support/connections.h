/* SPDX-License-Identifier: MIT */
/*
 * A full driver of the connection change model by the probe: full_display.h with a queue of changes,
 * which the driver fills before hot plug detection is on, or tells of while it runs. It remembers
 * the last change of each target, as TargetState wants it.
 *
 *     struct probe *p = connections_create(NULL);
 *     CHECK(probe_start(p) == STATUS_SUCCESS);          a monitor on each connected output
 *     connections_tell(p, change_monitor(DISPLAY_CHILD, MONITOR_DISCONNECTED));
 */
#ifndef DXGK_TESTS_CONNECTIONS_H
#define DXGK_TESTS_CONNECTIONS_H

#include "modes/connections.h"
#include "port/support/full_display.h"

#define CONNECTION_CALLS 48u
#define CONNECTION_PATHS 8u

/* What has happened. */
struct connection_record {
    UINT controls; /* calls of DisplayDetectControl */
    DXGKARG_DISPLAYDETECTCONTROL control[CONNECTION_CALLS];
    UINT queries, given; /* calls of QueryConnectionChange; changes that it gave */
    bool zeroed;         /* the structure was, in each call */
    UINT timings;        /* calls of SetTimingsFromVidPn */
    struct connection_timing {
        UINT paths, flags, vidpn_paths;
        bool clean; /* results and outputs were zeroed */
        DXGK_SET_TIMING_PATH_INFO path[CONNECTION_PATHS];
        D3DKMDT_2DREGION size; /* of the pinned target mode of the first path */
        uint64_t order;
    } timing[CONNECTION_CALLS];
};

struct connection_answers {
    NTSTATUS enable_status, poll_status, query_status, timing_status;
    bool quiet;   /* the driver tells of nothing when detection is switched on */
    bool endless; /* QueryConnectionChange has always one more */
    bool changes; /* SetTimingsFromVidPn sets ConnectionStatusChanges */
    bool usb4;    /* of all monitors */
    UINT link;    /* status that SetTimingsFromVidPn puts into TargetState; 0: the last one */
    UINT link_target;
    bool queue_link; /* and into the queue, too */
    void (*in_timing)(DXGKARG_SETTIMINGSFROMVIDPN *args);
};

extern struct connection_record connection_seen;
extern struct connection_answers connection;

struct probe *connections_create(const struct probe_options *options);

/* Changes; the id is given when it is queued. */
DXGK_CONNECTION_CHANGE change_monitor(UINT target, enum connection_status status);
DXGK_CONNECTION_CHANGE change_target(UINT target, enum connection_status status, UINT fresh,
                                     D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology);
/* Into the queue, with the next id, or with this one. */
void connections_queue(DXGK_CONNECTION_CHANGE change);
void connections_queue_as(DXGK_CONNECTION_CHANGE change, ULONGLONG id);
/* DxgkCbIndicateConnectorChange, and wait until the host has looked. */
NTSTATUS connections_indicate(struct probe *p);
/* Queue and indicate. */
void connections_tell(struct probe *p, DXGK_CONNECTION_CHANGE change);

/* The element of a target in a call; NULL: there is none. */
const DXGK_SET_TIMING_PATH_INFO *connections_path(UINT call, UINT target);
struct modes_target *connections_target(const struct probe *p, UINT target);

#endif
