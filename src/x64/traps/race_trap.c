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
#include "x64/traps/plan.h"

#include <Zydis/Zydis.h>

#define LOCK_PREFIX 0xF0u

static bool is_interlocked(const struct x64_plan *plan)
{
    if (plan->mnemonic == ZYDIS_MNEMONIC_XCHG)
        return true;
    for (unsigned i = 0; i < plan->length && i < 4; i++)
        if (plan->bytes[i] == LOCK_PREFIX)
            return true;
    return false;
}

void x64_race_trap(const struct x64_plan *plan, const struct x64_interrupted *frame)
{
    uintptr_t address = frame->address, pc = (uintptr_t)frame->rip;
    unsigned kind = RACE_IMAGE | (frame->kind == SIM_FAULT_WRITE ? RACE_WRITE : 0);
    uint32_t bytes = 1;

    if (plan && plan->kind == X64_MEMORY && !plan->bit_string) {
        address = x64_effective_address(plan, frame);
        bytes = plan->operand_bytes;
        kind = RACE_IMAGE | (plan->writes ? RACE_WRITE : 0) |
               (is_interlocked(plan) ? RACE_ATOMIC : 0);
    } else if (plan && plan->operand_bytes && plan->operand_bytes <= 8 &&
               address % plan->operand_bytes == 0) {
        bytes = plan->operand_bytes;
    }
    sim_stress_point(); /* other code may run, and trap: the plan is not looked at any more */
    nt_race_access((const void *)address, bytes, kind, pc); // NOLINT: the driver's address
    if (kind & RACE_ATOMIC && race_watches(sim_current->races, (const void *)address)) // NOLINT
        sim_order_exchange((const void *)address);                                     // NOLINT
    nt_race_guard_pass(pc);
}
