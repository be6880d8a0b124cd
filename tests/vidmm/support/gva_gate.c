/* SPDX-License-Identifier: MIT */
#include "gva_gate.h"

#include "sim/mutex.h"

static NTSTATUS wait_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct gva_gate *gate = arg;

    (void)turn;
    sim_mutex_unlock(&vidmm->lock);
    while (!gate->open)
        sim_waitq_wait(&gate->changed, SIM_FOREVER);
    sim_mutex_lock(&vidmm->lock);
    return STATUS_SUCCESS;
}

void gva_gate_close(struct gva_rig *rig, struct gva_gate *gate)
{
    gate->open = false;
    sim_waitq_init(&gate->changed);
    sim_mutex_lock(&rig->vidmm->lock);
    CHECK(NT_SUCCESS(paging_post(&rig->vidmm->chores, wait_job, NULL, gate)));
    sim_mutex_unlock(&rig->vidmm->lock);
}

void gva_gate_open(struct gva_rig *rig, struct gva_gate *gate)
{
    gate->open = true;
    sim_waitq_wake(&gate->changed, 1);
    gva_idle(rig);
}
