/* SPDX-License-Identifier: MIT */
/*
 * Suspending a hardware context: its memory may move, or what it has in flight be given up, once
 * the GPU has acknowledged it (PREEMPT-042). A request that is not acknowledged in TdrDelay is a
 * timeout of the engine (TDR-074).
 */
#ifndef DXGK_VIDSCH_HW_SUSPEND_H
#define DXGK_VIDSCH_HW_SUSPEND_H

#include "vidsch/hw_record.h"

struct vidsch_node;

void vidsch_hw_suspend_init(struct vidsch_hw_context *hw);
/* Ask the driver, unless it is suspended or asked already. False: it cannot be suspended. The
 * driver may acknowledge inside the call. PASSIVE_LEVEL, yields. */
bool vidsch_hw_suspend(struct vidsch_hw_context *hw);
/* Let a suspended context run again (yields). */
void vidsch_hw_resume(struct vidsch_hw_context *hw);
/* DXGK_INTERRUPT_SUSPEND_CONTEXT_COMPLETED at DIRQL: the node whose record has to be made, or
 * NULL. */
struct vidsch_node *vidsch_hw_suspend_notified(struct vidsch *vidsch, HANDLE context,
                                               uint64_t fence);
/* Its DPC. */
void vidsch_hw_suspend_dpc(struct vidsch_node *node);
/* The device is lost: end what its contexts have in flight, now or when the GPU has let go of it.
 * On the worker. */
void vidsch_hw_abandon(struct vidsch_hw_context *hw);
/* The engine was reset: requests are void, and what was to be abandoned has ended. */
void vidsch_hw_after_reset(struct vidsch_node *node);

#endif
