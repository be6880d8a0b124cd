/* SPDX-License-Identifier: MIT */
/*
 * Vertical blanks of a display-only adapter. Without VSync control the host makes them up, on the
 * grid of the committed mode (PRES-193). With it the driver reports them while somebody waits for
 * one, and for some periods afterwards (PRES-169); if it does not, it is started again (PRES-328).
 */
#ifndef DXGK_SCREENS_BLANKS_H
#define DXGK_SCREENS_BLANKS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "screens/beam.h"
#include "screens/vsync_kind.h"

struct scanouts_watch;
struct screen;
struct screens;

/* Wait for the next one (PRES-291, PRES-293). STATUS_DEVICE_REMOVED: the adapter stops, or is gone.
 * PASSIVE_LEVEL. */
NTSTATUS screens_await_blank(struct screens *screens, UINT source);
/* As scanouts_watch and scanouts_unwatch; `made_up`: the host ends the wait, as no vertical sync
 * has come in time. */
void screens_watch(struct screens *screens, UINT source, struct scanouts_watch *watch);
bool screens_unwatch(struct screens *screens, struct scanouts_watch *watch, bool made_up);
/* Where the beam would be. The source has a path. */
struct scanouts_line screens_line(const struct screens *screens, UINT source);
struct vsync_counts screens_vsyncs(const struct screens *screens, UINT source);
/* The adapter is about to leave D0, or to stop: the driver need not report any more (PRES-172).
 * PASSIVE_LEVEL. */
void screens_sleep(struct screens *screens);

/* ---- for the files of this room ---- */

/* PRES-325: the first blank after a time, computed and not summed. */
uint64_t blank_after(const struct screen *s, uint64_t time);
/* A vertical sync is reported; at DIRQL. */
void blanks_notify(struct screens *screens, UINT target);
/* At DISPATCH_LEVEL. */
void blanks_notify_dpc(struct screens *screens);
/* What the presenter has to do now, and until when there is nothing. True: something was done.
 * *lost: the driver is to be started again. */
bool blanks_step(struct screens *screens, uint64_t *until, bool *lost);
/* The driver has been started again, and reports nothing yet. */
void blanks_restarted(struct screens *screens);
/* Whoever waits looks again. */
void blanks_wake(struct screens *screens);

#endif
