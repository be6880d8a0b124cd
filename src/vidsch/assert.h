/* SPDX-License-Identifier: MIT */
/*
 * Who may call a function, and at which level: checked at its entry. Always on, since each check is
 * a comparison or two. A failure is a mistake of this room, not of a driver or a client, and ends
 * the host program.
 *
 * The life after a bug check is exempt: whoever is still running then only finds its way out.
 */
#ifndef DXGK_VIDSCH_ASSERT_H
#define DXGK_VIDSCH_ASSERT_H

#include <stdlib.h>

#include "sim/irql.h"
#include "sim/machine.h"
#include "vidsch/context.h"
#include "vidsch/scheduler.h"

static inline void vidsch_assert(bool holds)
{
    if (__builtin_expect(!holds, 0) && !sim_current->stopped)
        abort();
}

static inline void vidsch_assert_irql(uint8_t highest)
{
    vidsch_assert(sim_irql() <= highest);
}

/* In the interrupt routine of the device, or what excludes it (DxgkCbSynchronizeExecution). */
static inline void vidsch_assert_interrupt(void)
{
    vidsch_assert(sim_irql() >= SIM_IRQL_DEVICE);
}

/* Nothing else gives packets to the driver, so nothing of the GPU scheduler class overlaps. */
static inline void vidsch_assert_worker(const struct vidsch *vidsch)
{
    vidsch_assert(sim_current->thread == vidsch->worker.thread && sim_irql() == SIM_IRQL_PASSIVE);
}

static inline void vidsch_assert_recovery(const struct vidsch *vidsch)
{
    vidsch_assert(sim_current->thread == vidsch->recovery.thread && sim_irql() == SIM_IRQL_PASSIVE);
}

/* The one lock of this room: one Render at a time in a context. */
static inline void vidsch_assert_locked(const struct vidsch_context *context)
{
    vidsch_assert(context->render_lock.owner == sim_current->thread);
}

#endif
