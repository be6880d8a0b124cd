/* SPDX-License-Identifier: MIT */
/*
 * From a signal to the emulation and back.
 *
 * The signal handler only decides whether the trap is to be emulated: by the address if there is
 * one (device registers, the shared data page, gaps of the processor block), else by the kind of
 * exception (a general protection fault has no address). Then it copies the registers to a frame on
 * the interrupted stack, and execution continues in the landing.
 *
 * A trap that is an ordinary fault is refused: the landing returns to the instruction, which faults
 * again, and this time the fault is passed on. So every fault of a driver is reported and unwound
 * with the registers that the signal handler got.
 */
#include "x64/traps/trap.h"
#include "nt/mm/race_guard.h"
#include "sim/fault.h"
#include "sim/machine.h"
#include "sim/stack.h"
#include "verify/verify.h"
#include "x64/traps/emulate.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/locked.h"
#include "x64/traps/memory.h"
#include "x64/traps/plan.h"
#include "x64/traps/preempt.h"
#include "x64/traps/preempt_trap.h"
#include "x64/traps/privileged.h"
#include "x64/traps/race_trap.h"
#include "x64/traps/refuse.h"
#include "x64/traps/state.h"
#include "x64/traps/string_instruction.h"
#include "x64/traps/stub.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#define TRAP_BREAKPOINT   3
#define TRAP_OPCODE       6
#define TRAP_PROTECTION   13
#define TRAP_PAGE         14
#define BREAKPOINT_OPCODE 0xCC
#define RED_ZONE          256u /* the landing returns through the bytes below the stack pointer */
#define ROOM              (16u << 10) /* stack space that emulation may need */

_Static_assert(offsetof(struct x64_interrupted, rip) == 128, "landing.S knows");
_Static_assert(offsetof(struct x64_interrupted, flags) == 136, "landing.S knows");
_Static_assert(offsetof(struct x64_interrupted, vector_mask) == 144, "landing.S knows");
_Static_assert(offsetof(struct x64_interrupted, vector_save) == 152, "landing.S knows");
_Static_assert(offsetof(struct x64_interrupted, vector) == 192, "landing.S knows");

static const int greg_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15};

/* ---- in the landing ---- */

static void report_not_emulated(const struct x64_plan *plan, const struct x64_interrupted *frame)
{
    char place[128];

    x64_place(plan, frame, place, sizeof(place));
    VIOLATION("NT-171", "%s: no access that a device register could take", place);
}

static void emulate(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    switch ((enum x64_kind)plan->kind) {
    case X64_MEMORY:
        (void)x64_memory_instruction(plan, frame);
        break;
    case X64_PUSH:
        (void)x64_push(plan, frame);
        break;
    case X64_POP:
        (void)x64_pop(plan, frame);
        break;
    case X64_STRING:
        (void)x64_string(plan, frame);
        break;
    case X64_PORT_STRING:
        (void)x64_port_string(plan, frame);
        break;
    case X64_PRIVILEGED:
        (void)x64_privileged(plan, frame);
        break;
    case X64_HINT:
        if (x64_traps_at(x64_effective_address(plan, frame)))
            frame->rip += plan->length;
        else
            x64_refuse_foreign(plan, frame);
        break;
    case X64_FOREIGN:
        if (plan->has_memory && x64_traps_at(x64_effective_address(plan, frame)))
            report_not_emulated(plan, frame);
        x64_refuse_foreign(plan, frame);
        break;
    }
}

/* An interlocked instruction: record its access, and carry it out. */
static void run_locked(struct x64_interrupted *frame)
{
    const struct x64_plan *plan = x64_plan_at(frame->rip);

    if (plan && plan->kind == X64_MEMORY) {
        frame->address = x64_operand_address(plan, frame);
        frame->kind = SIM_FAULT_WRITE;
        x64_race_note(plan, frame);
        plan = x64_plan_at(frame->rip); /* other code may have run */
    }
    if (plan && plan->kind == X64_MEMORY)
        (void)x64_memory_anywhere(plan, frame);
    else
        x64_refuse(frame, SIM_FAULT_EXECUTE, frame->rip);
}

/* Called by the landing. */
void x64_trapped(struct x64_interrupted *frame);
__attribute__((used)) void x64_trapped(struct x64_interrupted *frame)
{
    const struct x64_plan *plan = x64_plan_at(frame->rip);

    uint8_t first;

    x64_state()->traps++;
    if (x64_preempt_at(frame->rip, &first)) {
        x64_preempt_trap(frame);
        return;
    }
    if (x64_locked_at(frame->rip, &first)) {
        run_locked(frame);
        return;
    }
    if (sim_current->races && nt_race_guard_traps_at(frame->address)) {
        x64_race_trap(plan, frame);
        return;
    }
    if (plan)
        emulate(plan, frame);
    else
        x64_refuse_foreign(NULL, frame);
}

/* ---- in the signal handler ---- */

static bool is_ours(const struct sim_trap *trap, const greg_t *regs)
{
    switch (trap->signal) {
    case SIGSEGV:
    case SIGBUS:
        if (trap->kind == SIM_FAULT_EXECUTE)
            return false;
        if (regs[REG_TRAPNO] == TRAP_PROTECTION)
            return sim_current->inside != 0;
        return x64_traps_at(trap->address) || nt_race_guard_traps_at(trap->address);
    case SIGILL:
        return sim_current->inside != 0 && regs[REG_TRAPNO] == TRAP_OPCODE;
    case SIGTRAP:
        return sim_current->inside != 0 && regs[REG_TRAPNO] == TRAP_BREAKPOINT;
    default:
        return false;
    }
}

/* The stack must be that of the fiber and have enough space. */
static bool has_room(const struct x64_machine *x64, uintptr_t sp)
{
    uintptr_t low, high;

    sim_stack_bounds_at(sp, &low, &high);
    return sp <= high && sp > low &&
           sp - low > sizeof(struct x64_interrupted) + x64->vector_bytes + ROOM;
}

/* `past`: RIP is behind the breakpoint. */
static void land(const struct x64_machine *x64, const struct sim_trap *trap, greg_t *regs, bool past)
{
    uintptr_t top = (uintptr_t)regs[REG_RSP] - RED_ZONE;
    struct x64_interrupted *frame =
        (struct x64_interrupted *)((top - sizeof(*frame) - x64->vector_bytes) & ~(uintptr_t)63);

    for (unsigned i = 0; i < 16; i++)
        frame->gpr[i] = (uint64_t)regs[greg_of[i]];
    frame->rip = (uint64_t)regs[REG_RIP];
    frame->flags = (uint64_t)regs[REG_EFL];
    frame->vector_mask = x64->vector_mask;
    frame->vector_save = x64->vector_save;
    frame->address = trap->address;
    frame->kind = trap->kind;
    memset(frame->vector + 512, 0, 64); /* the header, which XRSTOR validates */
    if (trap->signal == SIGTRAP && past)
        frame->rip -= *(const uint8_t *)(frame->rip - 1) == BREAKPOINT_OPCODE ? 1 : 2;
    regs[REG_RDI] = (greg_t)(uintptr_t)frame;
    regs[REG_RSP] = (greg_t)(uintptr_t)frame;
    regs[REG_RIP] = (greg_t)(uintptr_t)x64_landing;
}

static bool at_preemption(const struct sim_trap *trap, const greg_t *regs)
{
    uint8_t first;

    return trap->signal == SIGSEGV && regs[REG_TRAPNO] == TRAP_PROTECTION &&
           x64_preempt_at((uintptr_t)regs[REG_RIP], &first);
}

static bool is_canonical(uintptr_t address)
{
    return address >> 47 == 0 || address >> 47 == 0x1FFFF;
}

static bool on_trap(struct sim_trap *trap)
{
    greg_t *regs = ((ucontext_t *)trap->context)->uc_mcontext.gregs;
    struct x64_machine *x64 = x64_state();
    uintptr_t pc = (uintptr_t)regs[REG_RIP];
    uint8_t first;
    bool locked = trap->signal == SIGTRAP && regs[REG_TRAPNO] == TRAP_BREAKPOINT &&
                  x64_locked_at(pc - 1, &first);
    bool preempts = at_preemption(trap, regs);

    if (locked)
        regs[REG_RIP] = (greg_t)--pc;
    /* a fault of the driver's instruction in its stub, with its registers */
    if (x64_stubs_contain(&x64->stubs, pc)) {
        regs[REG_RIP] = (greg_t)x64->running;
        return false;
    }
    if (x64->refused_pc != 0 && x64->refused_pc == pc) {
        trap->kind = x64->refused_kind;
        trap->address = x64->refused_address;
        x64->refused_pc = 0;
        if (locked || (preempts && is_canonical(trap->address)))
            regs[REG_TRAPNO] = TRAP_PAGE;
        return false;
    }
    if (x64->vector_bytes == 0)
        x64_measure_vectors(x64);
    if (preempts && (!sim_current->inside || !has_room(x64, (uintptr_t)regs[REG_RSP]))) {
        trap->repeat = x64_preempt_rest(pc);
        return trap->repeat;
    }
    if (!is_ours(trap, regs))
        return false;
    if (!has_room(x64, (uintptr_t)regs[REG_RSP])) {
        trap->kind = SIM_FAULT_STACK;
        return false;
    }
    land(x64, trap, regs, !locked);
    return true;
}

void x64_trap_install(void)
{
    sim_on_trap(on_trap);
}
