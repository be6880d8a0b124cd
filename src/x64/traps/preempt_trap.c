/* SPDX-License-Identifier: MIT */
#include "x64/traps/preempt_trap.h"

#include "sim/point.h"
#include "sim/stack.h"
#include "x64/traps/emulate.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/plan.h"
#include "x64/traps/preempt.h"
#include "x64/traps/refuse.h"

/* A local variable by the frame pointer, as code that is not optimized has them. */
static bool is_local(const struct x64_plan *plan, const struct x64_interrupted *frame)
{
    uintptr_t low, high, address = x64_operand_address(plan, frame);

    if (plan->base != X64_RBP)
        return false;
    sim_stack_bounds_at((uintptr_t)frame->gpr[X64_RSP], &low, &high);
    return address >= low && address < high;
}

static bool can_carry_out(const struct x64_plan *plan)
{
    return plan && plan->kind == X64_MEMORY;
}

void x64_preempt_trap(struct x64_interrupted *frame)
{
    uintptr_t pc = (uintptr_t)frame->rip;
    const struct x64_plan *plan = x64_plan_at(pc);

    if ((!can_carry_out(plan) || is_local(plan, frame)) && x64_preempt_drop(pc))
        return;
    sim_stress_access();
    x64_preempt_count(pc);
    plan = x64_plan_at(pc); /* other code may have run */
    if (can_carry_out(plan))
        (void)x64_memory_anywhere(plan, frame);
    else
        x64_refuse(frame, SIM_FAULT_EXECUTE, pc);
}
