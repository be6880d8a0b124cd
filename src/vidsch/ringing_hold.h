/* SPDX-License-Identifier: MIT */
/*
 * Holding what clients submit themselves (ringing.h). While its context is suspended a doorbell
 * stays connected. A driver that cannot suspend contexts has it disconnected, and what was queued
 * ends.
 */
#ifndef DXGK_VIDSCH_RINGING_HOLD_H
#define DXGK_VIDSCH_RINGING_HOLD_H

#include "vidsch/hw_record.h"

struct vidsch_device;
struct vidsch_process;

/* Suspend all for which that holds, of a process (NULL: of all); false: not by the deadline. The
 * caller has raised what vidsch_ringing_held looks at. PASSIVE_LEVEL, yields. */
bool vidsch_ringing_hold(struct vidsch *vidsch, const struct vidsch_process *process,
                         uint64_t deadline);
/* The client is about to connect a doorbell of it (yields). */
void vidsch_ringing_connects(struct vidsch_hw_context *hw);
/* A hold has ended, or the memory of the device is there. */
void vidsch_ringing_go_on(const struct vidsch_device *device);
/* Somebody waits for it: look whether it goes on (SUBMIT-125). */
void vidsch_ringing_watch(const struct vidsch_device *device);

#endif
