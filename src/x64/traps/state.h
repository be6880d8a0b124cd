/* SPDX-License-Identifier: MIT */
/* The state of emulation for a machine: plans and stubs, the processor blocks, and how this host's
 * processor saves vector registers. */
#ifndef DXGK_X64_STATE_H
#define DXGK_X64_STATE_H

#include <ntddk.h>
#include <stdbool.h>
#include <stdint.h>

#include "race/table.h"
#include "sim/fault.h"
#include "sim/slot.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/plan.h"
#include "x64/traps/stub.h"

struct x64_machine {
    struct x64_stubs stubs;
    struct x64_plan *plan; /* array of X64_PLANS, by address */
    uint64_t traps;
    uint64_t vector_mask;
    uint32_t vector_bytes; /* 0: not measured yet */
    enum x64_save vector_save;
    uintptr_t running; /* address of the instruction that runs in a stub */
    /* A refused trap: the next one at this pc is passed on as a fault, with this address. */
    uintptr_t refused_pc, refused_address;
    enum sim_fault_kind refused_kind;
    /* block.c */
    uint8_t *blocks;
    uint64_t outer_gs;
    bool fsgsbase;
    KUSER_SHARED_DATA *shared;
    uint64_t reads_since; /* of the shared data, counted from then */
    uint32_t reads;
    struct x64_preempt_image *preempt; /* preempt.c: list of images with places */
    struct race_table locked; /* locked.c: bytes that breakpoints have taken the place of */
};

extern struct sim_slot x64_slot;

static inline struct x64_machine *x64_state(void)
{
    return sim_slot_get(&x64_slot);
}

/* Set vector_mask, vector_bytes and vector_save. */
void x64_measure_vectors(struct x64_machine *x64);

#endif
