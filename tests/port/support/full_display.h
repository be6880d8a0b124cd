/* SPDX-License-Identifier: MIT */
/*
 * A full driver with displays by the probe: what display.h has, of a driver that renders, whose
 * sources show primaries. Target modes have rates.
 *
 *     struct probe *p = full_display_create(NULL);
 *     CHECK_RULE("...", probe_start(p) == STATUS_SUCCESS && full_seen.addresses == 1);
 *     display_end(p);
 */
#ifndef DXGK_TESTS_FULL_DISPLAY_H
#define DXGK_TESTS_FULL_DISPLAY_H

#include "port/support/display.h"

#define FULL_CALLS 32u

struct full_address {
    UINT source, segment, contexts;
    uint64_t address;
    HANDLE allocation, context;
    UINT flags, duration;
    UINT irql;
};

/* What has happened. */
struct full_record {
    UINT addresses;
    struct full_address address[FULL_CALLS];
    UINT described; /* calls of GetStandardAllocationDriverData for shared primaries */
    D3DKMDT_SHAREDPRIMARYSURFACEDATA surface;
    UINT created; /* primaries */
    HANDLE primary;
    DXGK_CREATEALLOCATIONFLAGS create_flags;
    HANDLE create_resource;
    UINT create_count;
    UINT private_bytes, resource_bytes;
    HANDLE committed[FULL_CALLS]; /* hPrimaryAllocation of each commit, by display_seen.commits */
};

/* What scans out: every 1/60 s, while vertical syncs are enabled, it latches the address of the
 * last call and reports it. A thread of the test, from full_engine_start to full_engine_stop. */
struct full_engine {
    bool runs, ends, enabled, silent;
    bool stuck; /* nothing is latched */
    uint64_t pending, latched;
    UINT ticks, reports, target;
    UINT enables, disables;
    void (*latch)(void);                                 /* at each vertical blank */
    void (*tell)(DXGKARGCB_NOTIFY_INTERRUPT_DATA *data); /* what of it is told, if not the address */
};
extern struct full_engine full_engine;
void full_engine_start(struct probe *p);
void full_engine_stop(void);
/* Until just after a vertical blank. */
void full_engine_await(void);

struct full_answers {
    NTSTATUS address_status, described_status;
    void (*in_described)(DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *args);
    void (*in_create)(DXGK_ALLOCATIONINFO *info); /* of a primary */
};

extern struct full_record full_seen;
extern struct full_answers full;

struct probe *full_display_create(const struct probe_options *options);
D3DKMDT_VIDPN_TARGET_MODE full_target_mode(UINT width, UINT height, UINT hertz);

#endif
