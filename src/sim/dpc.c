/* SPDX-License-Identifier: MIT */
/* Queues of deferred calls; delivery.c runs the calls. */
#include "sim/dpc.h"

#include "sim/core.h"
#include "sim/delivery.h"
#include "sim/order.h"
#include "sim/point.h"

bool sim_dpc_queue(struct sim_dpc *dpc)
{
    struct sim_core *core = core_of(sim_current);
    struct processor *p;

    sim_order_release(dpc);
    if (dpc->queued || sim_current->stopped)
        return false;
    p = dpc->target && dpc->target <= sim_current->processors ? &core->processor[dpc->target - 1]
                                                              : current_processor(core);
    dpc->queued = true;
    if (dpc->high)
        list_push_front(&p->dpcs, &dpc->link);
    else
        list_push_back(&p->dpcs, &dpc->link);
    if (p == current_processor(core) && sim_current->irql < SIM_IRQL_DISPATCH && core->on_fiber)
        sim_deliver(core);
    return true;
}

bool sim_dpc_remove(struct sim_dpc *dpc)
{
    if (!dpc->queued)
        return false;
    list_remove(&dpc->link);
    dpc->queued = false;
    return true;
}

void sim_dpc_flush(void)
{
    struct sim_core *core = core_of(sim_current);

    for (unsigned i = 0; i < sim_current->processors; i++) {
        struct processor *p = &core->processor[i];

        while (!sim_current->stopped &&
               (!list_empty(&p->dpcs) || (p->dpc_depth && p != current_processor(core))))
            sim_spin();
    }
    if (sim_current->races)
        race_acquire_dpcs(sim_current->races);
}

bool sim_in_dpc(void)
{
    return current_processor(core_of(sim_current))->dpc_depth > 0;
}
