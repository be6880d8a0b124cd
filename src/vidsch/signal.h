/* SPDX-License-Identifier: MIT */
/*
 * The consequences of a change of a synchronization object: its waiters are tried again, and those
 * that are satisfied continue; see signal.c.
 *
 * Level up to DISPATCH_LEVEL.
 */
#ifndef DXGK_VIDSCH_SIGNAL_H
#define DXGK_VIDSCH_SIGNAL_H

#include "vidsch/vidsch.h"

struct sync_op;
struct vidsch_process;

/* The object changed: complete the waits that are satisfied now. */
void vidsch_signal_changed(struct vidsch_sync *sync);
/* A context has reached the signal; the last one to do so carries it out. */
void vidsch_signal_reached(struct sync_op *op, struct vidsch_context *context);
/* Read again the monitored fences that have waiters: those of the process, and shared ones. */
void vidsch_signal_reread(struct vidsch *vidsch, struct vidsch_process *process);
/* The same of the fences on this list. */
void vidsch_signal_reread_list(struct list *all);
/* End a wait of the CPU with this status. */
void vidsch_signal_end_wait(struct vidsch *vidsch, struct sync_op *op, NTSTATUS status);
/* The device is lost: end waits of the CPU for its objects (TDR-060); after a reset, set its fences
 * to their maximum (TDR-059). */
void vidsch_signal_device_lost(struct vidsch_device *device);
/* The context is being destroyed: free the mutexes that it owns. */
void vidsch_signal_free_mutexes(struct vidsch_context *context);

#endif
