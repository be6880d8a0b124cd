/* SPDX-License-Identifier: MIT */
/*
 * What follows when a synchronization object changes: its waiters are tried, and whoever is
 * satisfied goes on; see signal.c.
 *
 * Level up to DISPATCH_LEVEL.
 */
#ifndef DXGK_VIDSCH_SIGNAL_H
#define DXGK_VIDSCH_SIGNAL_H

#include "vidsch/vidsch.h"

struct sync_op;
struct vidsch_process;

/* The object changed: let go on whoever is satisfied now. */
void vidsch_signal_changed(struct vidsch_sync *sync);
/* One context has come to the signal; with the last one it is carried out. */
void vidsch_signal_reached(struct sync_op *op, struct vidsch_context *context);
/* Read again the monitored fences of the process that somebody waits for. */
void vidsch_signal_reread(struct vidsch_process *process);
/* A wait of the CPU ends. */
void vidsch_signal_end_wait(struct vidsch *vidsch, struct sync_op *op, NTSTATUS status);
/* The device is lost: waits of the CPU end (TDR-060); after a reset its fences jump to the maximum
 * (TDR-059). */
void vidsch_signal_device_lost(struct vidsch_device *device);
/* The context is being destroyed: nobody owns its mutexes any more. */
void vidsch_signal_free_mutexes(struct vidsch_context *context);

#endif
