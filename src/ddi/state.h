/* SPDX-License-Identifier: MIT */
/* The state of this room for a machine: for reports of places and faults, and the memory lent to
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

/* State for the current machine (place.c); NULL before ddi_install. */
struct ddi_state {
    struct ddi_hooks hooks;
    bool in_bugcheck;
    struct ddi_adapter *screen; /* that is drawn on in a bug check; NULL: none */
    bool screen_told;           /* a mistake of its driver while it is drawn on */
    bool (*draw)(struct ddi_adapter *adapter, const struct verify_bugcheck *bugcheck);
    /* who left the driver last, and when: what is found before anything else happens is found in
     * its answer */
    struct ddi_adapter *left;
    const char *left_entry;
    const struct sim_thread *left_by;
    uint64_t left_at;
    char blamed[384]; /* the entry that a report is about (ddi_blame) */
    /* the fault being reported, whose stack is the one to show; NULL: none */
    const struct sim_fault *fault;
    char fault_place[160];  /* where it was, once that is known */
    bool again;             /* its report has faulted: nothing is looked up any more */
    struct hash_map tracks; /* thread id -> track of the trace */
    struct list loans;
    struct ddi_lent_chunk *lent; /* slots of lent buffers (lent.c) */
    uint8_t *kept[DDI_ENTRIES];  /* by entry, slots kept for the next call (lent_structure.h) */
    struct list arenas;          /* of lent parts (arena.c) */
    struct list fenced;          /* memory that ends at a fence (fenced.c) */
    struct list fences;          /* struct ddi_fence */
    unsigned fenced_free;        /* how many of the first of those are free */
};

extern struct sim_slot ddi_slot;

static inline struct ddi_state *ddi_state(void)
{
    return sim_slot_get(&ddi_slot);
}

/* The track of the trace on which a call on the current stack is drawn. */
trace_track ddi_track(enum ddi_level level);
/* The loan that contains an address, or NULL (loan.c). */
const struct ddi_loan *ddi_loan_at(uintptr_t address);

#endif
