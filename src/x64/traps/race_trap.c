/* SPDX-License-Identifier: MIT */
#include "x64/traps/race_trap.h"

#include "nt/mm/race_access.h"
#include "nt/mm/race_guard.h"
#include "race/race.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "sim/point.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/memory.h"
#include "x64/traps/plan.h"

#include <Zydis/Zydis.h>

/* What the instruction accesses. */
struct touched {
    uintptr_t address;
    uint32_t bytes;
    unsigned kind;
};

/* Of one that moves or compares, at the source and at the destination. False: it does not. */
static bool touched_both(const struct x64_plan *plan, const struct x64_interrupted *frame,
                         struct touched t[2])
{
    bool moves = false;

    if (!plan || plan->kind != X64_STRING)
        return false;
    switch (plan->mnemonic) {
    case ZYDIS_MNEMONIC_MOVSB:
    case ZYDIS_MNEMONIC_MOVSW:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVSQ:
        moves = true;
        break;
    case ZYDIS_MNEMONIC_CMPSB:
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_CMPSD:
    case ZYDIS_MNEMONIC_CMPSQ:
        break;
    default:
        return false;
    }
    t[0] = (struct touched){frame->gpr[X64_RSI], plan->operand_bytes, RACE_IMAGE};
    t[1] = (struct touched){frame->gpr[X64_RDI], plan->operand_bytes,
                            RACE_IMAGE | (moves ? RACE_WRITE : 0)};
    return true;
}

/* Of another one, there; at least what has trapped. */
static struct touched touched(const struct x64_plan *plan, const struct x64_interrupted *frame)
{
    struct touched t = {.address = frame->address,
                        .bytes = 1,
                        .kind = RACE_IMAGE | (frame->kind == SIM_FAULT_WRITE ? RACE_WRITE : 0)};
    uintptr_t operand;

    if (!plan)
        return t;
    operand = plan->has_memory ? x64_operand_address(plan, frame) : 0;
    if (plan->has_memory && t.address - operand < plan->operand_bytes) {
        t.address = operand;
        t.bytes = plan->operand_bytes;
        t.kind = RACE_IMAGE | (plan->writes ? RACE_WRITE : 0) | (plan->locked ? RACE_ATOMIC : 0);
    } else if (plan->operand_bytes && plan->operand_bytes <= 8 &&
               t.address % plan->operand_bytes == 0) {
        t.bytes = plan->operand_bytes;
    }
    return t;
}

void x64_race_note(const struct x64_plan *plan, const struct x64_interrupted *frame)
{
    struct touched t[2];
    unsigned count = touched_both(plan, frame, t) ? 2 : 1;
    uintptr_t pc = (uintptr_t)frame->rip;

    if (count == 1)
        t[0] = touched(plan, frame);
    sim_stress_point(); /* other code may run, and trap: the plan is not looked at any more */
    for (unsigned i = 0; i < count; i++) {
        const void *address = (const void *)t[i].address; // NOLINT: the driver's

        nt_race_access(address, t[i].bytes, t[i].kind, pc);
        if (t[i].kind & RACE_ATOMIC && !x64_traps_at(t[i].address) &&
            race_carries(sim_current->races, address)) {
            sim_order_exchange(address);
            nt_race_guard_keep(t[i].address);
        }
    }
}

void x64_race_trap(const struct x64_plan *plan, const struct x64_interrupted *frame)
{
    x64_race_note(plan, frame);
    nt_race_guard_pass((uintptr_t)frame->rip);
}
