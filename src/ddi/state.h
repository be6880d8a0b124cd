/* SPDX-License-Identifier: MIT */
/* What this room keeps of a machine: for reports of places and faults, and the memory lent to
 * drivers. */
#ifndef DXGK_DDI_STATE_H
#define DXGK_DDI_STATE_H

#include <stdbool.h>

#include "ddi/ddi.h"
#include "ddi/loan.h"
#include "sim/fault.h"
#include "sim/slot.h"
#include "util/hash.h"
#include "util/list.h"

/* Of the current machine (place.c); NULL before ddi_install. */
struct ddi_state {
    struct ddi_hooks hooks;
    bool in_bugcheck;
    /* being reported, so that the stack told is the driver's; NULL: none */
    const struct sim_fault *fault;
    struct hash_map tracks; /* thread id -> row of the trace */
    struct list loans;
};

extern struct sim_slot ddi_slot;

static inline struct ddi_state *ddi_state(void)
{
    return sim_slot_get(&ddi_slot);
}

/* The row of the trace on which a call on the current stack is drawn. */
trace_track ddi_track(enum ddi_level level);
/* The loan that an address lies in, or NULL (loan.c). */
const struct ddi_loan *ddi_loan_at(uintptr_t address);

#endif
