/* SPDX-License-Identifier: MIT */
/* Which thread of the scheduler may call a function, checked at its entry (sim/sim_assert.h). */
#ifndef DXGK_VIDSCH_ASSERT_H
#define DXGK_VIDSCH_ASSERT_H

#include "sim/sim_assert.h"
#include "vidsch/context.h"
#include "vidsch/scheduler.h"

/* Only the worker submits packets, so calls of the GPU scheduler class never overlap. */
#define vidsch_assert_worker(vidsch) \
    sim_assert(sim_current->thread == (vidsch)->worker.thread && sim_irql() == SIM_IRQL_PASSIVE)

#define vidsch_assert_recovery(vidsch) \
    sim_assert(sim_current->thread == (vidsch)->recovery.thread && sim_irql() == SIM_IRQL_PASSIVE)

/* The one lock of this room: one Render at a time in a context. */
#define vidsch_assert_locked(context) sim_assert_owner(&(context)->render_lock)

#endif
