/* SPDX-License-Identifier: MIT */
/* Instructions with one memory operand that is not plain memory. */
#include "x64/traps/emulate.h"

#include <string.h>

#include "sim/fault.h"
#include "sim/point.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/memory.h"
#include "x64/traps/plan.h"
#include "x64/traps/refuse.h"
#include "x64/traps/state.h"
#include "x64/traps/stub.h"

bool x64_memory_instruction(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    if (x64_traps_at(x64_operand_address(plan, frame)))
        return x64_memory_anywhere(plan, frame);
    x64_refuse_foreign(plan, frame);
    return false;
}

bool x64_memory_anywhere(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    struct x64_machine *x64 = x64_state();
    struct x64_plan copy = *plan; /* other code may run, and trap, during the accesses */
    uintptr_t address = x64_operand_address(plan, frame);
    _Alignas(64) uint8_t operand[X64_WIDEST];
    uint64_t gpr[16], flags;

    if (copy.reads && !x64_read(&copy, frame, address, copy.operand_bytes, operand)) {
        if (copy.writes) /* as the processor says */
            x64->refused_kind = SIM_FAULT_WRITE;
        return false;
    }
    if (copy.reads && copy.writes && !copy.locked && !x64_traps_at(address))
        sim_stress_between();
    plan = x64_plan_at(frame->rip); /* its stub may have been cleared meanwhile */
    if (!plan || plan->kind != X64_MEMORY) {
        x64_refuse(frame, SIM_FAULT_EXECUTE, frame->rip);
        return false;
    }
    if (copy.reads)
        memcpy(x64->stubs.data->operand, operand, copy.operand_bytes);
    memcpy(gpr, frame->gpr, sizeof(gpr));
    flags = frame->flags;
    x64_stub_run(&x64->stubs, plan, frame);
    if (copy.writes) {
        memcpy(operand, x64->stubs.data->operand, copy.operand_bytes);
        if (!x64_write(&copy, frame, address, copy.operand_bytes, operand)) {
            memcpy(frame->gpr, gpr, sizeof(gpr)); /* undo the change of registers */
            frame->flags = flags;
            return false;
        }
    }
    frame->rip += copy.length;
    return true;
}

bool x64_push(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    struct x64_plan copy = *plan;
    uint64_t sp = frame->gpr[X64_RSP] - copy.operand_bytes;
    uint64_t value = 0;

    if (!x64_read(&copy, frame, x64_effective_address(&copy, frame), copy.operand_bytes, &value) ||
        !x64_write(&copy, frame, sp, copy.operand_bytes, &value))
        return false;
    frame->gpr[X64_RSP] = sp;
    frame->rip += copy.length;
    return true;
}

/* An address relative to the stack pointer uses its value after the pop. */
bool x64_pop(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    struct x64_plan copy = *plan;
    uint64_t sp = frame->gpr[X64_RSP];
    uint64_t value = 0;
    bool done;

    if (!x64_read(&copy, frame, sp, copy.operand_bytes, &value))
        return false;
    frame->gpr[X64_RSP] = sp + copy.operand_bytes;
    done = x64_write(&copy, frame, x64_effective_address(&copy, frame), copy.operand_bytes, &value);
    if (!done)
        frame->gpr[X64_RSP] = sp;
    else
        frame->rip += copy.length;
    return done;
}
