/* SPDX-License-Identifier: MIT */
/*
 * Keeps the rig's paging worker busy: what is requested meanwhile waits in its queue. Nothing that waits for the worker itself
 * may be called until the gate is open again.
 */
#ifndef DXGK_TESTS_VIDMM_GVA_GATE_H
#define DXGK_TESTS_VIDMM_GVA_GATE_H

#include "gva_rig.h"

struct gva_gate {
    bool open;
    struct sim_waitq changed;
};

void gva_gate_close(struct gva_rig *rig, struct gva_gate *gate);
/* And lets everything be carried out. */
void gva_gate_open(struct gva_rig *rig, struct gva_gate *gate);

#endif
