/* SPDX-License-Identifier: MIT */
/*
 * What clients submit themselves (doorbell.h), for all that waits for the GPU. There are no packets
 * of such work, and more may come at any time while its context may run; so
 *
 *     work up to now has ended       a mark: a ticket of the device, and the value queued by then
 *     nothing runs, nothing begins   a hold: the context is suspended (PREEMPT-042), and resumed by
 *                                    the worker when it is not held, and all memory that the
 *                                    device needs is there
 *
 * What GPU and clients may do is said here; marks.h and ringing_hold.h are what waits.
 */
#ifndef DXGK_VIDSCH_RINGING_H
#define DXGK_VIDSCH_RINGING_H

#include "vidsch/hw_record.h"

struct vidsch_device;

/* ---- contexts ---- */

/* May the GPU, while it runs, find work that a client has submitted itself? */
bool vidsch_ringing_may(const struct vidsch_hw_context *hw);
/* Must it run, since there is such work, or a client may submit some unnoticed? */
bool vidsch_ringing_wants(const struct vidsch_hw_context *hw);
/* Does somebody wait for the GPU, or rely on it, so that it must not run for such work? */
bool vidsch_ringing_held(const struct vidsch_hw_context *hw);

/* ---- devices ---- */

/* May work of the device begin at any time? */
bool vidsch_ringing_device(const struct vidsch_device *device);

#endif
