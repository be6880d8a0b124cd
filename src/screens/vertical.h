/* SPDX-License-Identifier: MIT */
/*
 * What clients learn of the vertical syncs of a full driver: when one comes, how many have come,
 * which of them showed what, and where the beam is (PRES-196, PRES-291 to PRES-297).
 */
#ifndef DXGK_SCREENS_VERTICAL_H
#define DXGK_SCREENS_VERTICAL_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "screens/beam.h"
#include "screens/vsync_kind.h"
#include "util/list.h"

struct scanouts;
struct vidmm_device;

/* ---- waiting, beside other things ---- */

struct scanouts_watch {
    struct list link;
    void (*came)(void *context); /* with a vertical sync, or when the adapter stops; at most
                                    DISPATCH_LEVEL */
    void *context;
    UINT source;        /* set by scanouts_watch */
    uint64_t within_ns; /* set by scanouts_watch: afterwards the host makes one up (PRES-293) */
};
/* Both at PASSIVE_LEVEL; each watch ends by scanouts_unwatch, which is true when the adapter
 * stops. `made_up`: the time was over, and the host makes one up. */
void scanouts_watch(struct scanouts *scanouts, UINT source, struct scanouts_watch *watch);
bool scanouts_unwatch(struct scanouts *scanouts, struct scanouts_watch *watch, bool made_up);
/* Vertical syncs of a source so far. */
struct vsync_counts scanouts_vsyncs(const struct scanouts *scanouts, UINT source);

/* ---- counting ---- */

/* Of the flips that a device has made to a source; zeros: of none. */
D3DKMT_PRESENT_STATS scanouts_statistics(const struct scanouts *scanouts, UINT source,
                                         const struct vidmm_device *device);

/* ---- the beam ---- */

/* Where it would be by the time that has passed since the last vertical sync. The source has a
 * path. */
struct scanouts_line scanouts_line(const struct scanouts *scanouts, UINT source);

/* ---- for the files of this room ---- */

struct scanout;

/* A vertical sync has come, and has completed what it completes. */
void vertical_tell(struct scanout *s);
void vertical_stop(struct scanouts *scanouts);
/* `device` has made a flip that is shown now. At most DISPATCH_LEVEL. */
void vertical_note_flip(struct scanout *s, const struct vidmm_device *device);
/* Before a flip of the device is queued, so that it can be counted. False: out of memory. */
bool vertical_begin(struct scanouts *scanouts, UINT source, const struct vidmm_device *device);
/* The device ends; NULL: all do. */
void vertical_forget(struct scanouts *scanouts, const struct vidmm_device *device);

#endif
