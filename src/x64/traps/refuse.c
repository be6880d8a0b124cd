/* SPDX-License-Identifier: MIT */
/*
 * A trap that is an ordinary fault is refused: the landing returns to the instruction, which faults
 * again, and this time the fault is passed on (trap.c) with the kind and address given here.
 */
#include "x64/traps/refuse.h"

#include <stdio.h>

#include "nt/base/caller.h"
#include "nt/nt.h"
#include "sim/fault.h"
#include "x64/traps/state.h"

void x64_refuse(const struct x64_interrupted *frame, enum sim_fault_kind kind, uintptr_t address)
{
    struct x64_machine *x64 = x64_state();

    x64->refused_pc = frame->rip;
    x64->refused_kind = kind;
    x64->refused_address = address;
}

void x64_place(const struct x64_plan *plan, const struct x64_interrupted *frame, char *text,
               size_t bytes)
{
    char place[96];

    nt_caller_name((const void *)frame->rip, place, sizeof(place));
    snprintf(text, bytes, "%s at %s", x64_mnemonic(plan), place);
}

/* The fault is at the target of a jump, call or return. */
static void refuse_branch(const struct x64_plan *plan, const struct x64_interrupted *frame)
{
    uintptr_t address = plan->has_memory ? x64_effective_address(plan, frame) : 0;
    uint64_t target = 0;

    if (plan->reg != X64_NONE) {
        target = frame->gpr[plan->reg];
    } else if (!sim_copy_checked(&target, (const void *)address, sizeof(target))) {
        x64_refuse(frame, SIM_FAULT_READ, address);
        return;
    }
    x64_refuse(frame, SIM_FAULT_EXECUTE, target);
}

/* The access of an instruction that is not emulated. A general protection fault has no address, so
 * compute it. */
void x64_refuse_foreign(const struct x64_plan *plan, const struct x64_interrupted *frame)
{
    bool protection = frame->address == 0 && frame->kind != SIM_FAULT_INSTRUCTION;

    if (!plan || !protection)
        x64_refuse(frame, frame->kind, frame->address);
    else if (plan->branch)
        refuse_branch(plan, frame);
    else if (plan->has_memory)
        x64_refuse(frame, plan->writes ? SIM_FAULT_WRITE : SIM_FAULT_READ,
                   x64_effective_address(plan, frame));
    else
        x64_refuse(frame, SIM_FAULT_PRIVILEGED, frame->rip);
}
