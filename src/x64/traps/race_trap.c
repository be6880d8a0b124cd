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

/* What the instruction accesses there. A string instruction, and one with several operands in
 * memory, accesses at least what has trapped. */
struct touched {
    uintptr_t address;
    uint32_t bytes;
    unsigned kind;
};

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

void x64_race_trap(const struct x64_plan *plan, const struct x64_interrupted *frame)
{
    const struct touched t = touched(plan, frame);
    const void *address = (const void *)t.address; // NOLINT: the driver's
    uintptr_t pc = (uintptr_t)frame->rip;

    sim_stress_point(); /* other code may run, and trap: the plan is not looked at any more */
    nt_race_access(address, t.bytes, t.kind, pc);
    if (t.kind & RACE_ATOMIC) {
        sim_order_exchange(address);
        nt_race_guard_keep(t.address);
    }
    nt_race_guard_pass(pc);
}
