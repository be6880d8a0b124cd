/* SPDX-License-Identifier: MIT */
/* Hardware faults as exceptions. */
#include <stddef.h>

#include "sim/fault.h"
#include "sim/stack.h"
#include "x64/exceptions/exception.h"
#include "x64/unwind/context.h"

enum { TRAP_STEP = 1, TRAP_PROTECTION = 13, TRAP_X87 = 16, TRAP_SIMD = 19 };
enum { ACCESS_READ = 0, ACCESS_WRITE = 1, ACCESS_EXECUTE = 8 };
/* Bits of the MXCSR and of the x87 status word. */
enum { INVALID = 1, DENORMAL = 2, ZERO_DIVIDE = 4, OVERFLOW = 8, UNDERFLOW = 16, INEXACT = 32 };

/* A general protection fault (a non-canonical address) has neither an address nor a kind of
 * access. */
static void access(const struct sim_fault *fault, ULONG_PTR kind, EXCEPTION_RECORD *record)
{
    bool told = fault->trap != TRAP_PROTECTION;

    record->ExceptionCode = STATUS_ACCESS_VIOLATION;
    record->NumberParameters = 2;
    record->ExceptionInformation[0] = told ? kind : ACCESS_READ;
    record->ExceptionInformation[1] = told ? fault->address : UINT64_MAX;
}

/* ---- division ---- */

/* The operand of the DIV or IDIV (F6 or F7) at pc: the divisor. False: another instruction. The
 * processor does not distinguish division by zero from a quotient that is too large; Windows checks
 * the divisor. */
static bool read_divisor(const struct sim_fault *fault, uint64_t *divisor)
{
    const struct sim_registers *r = fault->registers;
    uint8_t code[16] = {0};
    unsigned at = 0, bytes, rex = 0, modrm, number;
    int32_t displacement = 0;
    uint64_t address;

    for (unsigned length = sizeof(code);
         length > 0 && !sim_copy_checked(code, (const void *)fault->pc, length);)
        length--;
    bool narrow = false;
    for (; code[at] == 0x66 || code[at] == 0x2E || code[at] == 0x3E; at++)
        narrow |= code[at] == 0x66;
    if ((code[at] & 0xF0) == 0x40)
        rex = code[at++];
    if ((code[at] & 0xFE) != 0xF6)
        return false;
    bytes = !(code[at] & 1) ? 1 : (rex & 8) ? 8 : narrow ? 2 : 4;
    modrm = code[at + 1];
    number = (modrm & 7) | (rex & 1) << 3;
    at += 2;
    if (modrm >> 6 == 3) {
        if (bytes == 1 && !rex && number >= 4)
            *divisor = r->general[number - 4] >> 8 & 0xFF; /* ah, ch, dh, bh */
        else
            *divisor = r->general[number] & (~(uint64_t)0 >> (64 - 8 * bytes));
        return true;
    }
    if ((modrm & 7) == 4) {
        unsigned sib = code[at++], index = (sib >> 3 & 7) | (rex & 2) << 2;

        number = (sib & 7) | (rex & 1) << 3;
        address = index == 4 ? 0 : r->general[index] << (sib >> 6);
        if ((sib & 7) != 5 || modrm >> 6 != 0)
            address += r->general[number];
    } else if ((modrm & 0xC7) == 5) {
        address = fault->pc + at + 4; /* relative to the next instruction */
    } else {
        address = r->general[number];
    }
    if (modrm >> 6 == 1)
        displacement = (code[at] ^ 0x80) - 0x80;
    else if (modrm >> 6 == 2 || (modrm & 0xC7) == 5 ||
             ((modrm & 0xC7) == 4 && (code[at - 1] & 7) == 5))
        displacement = (int32_t)((uint32_t)code[at] | (uint32_t)code[at + 1] << 8 |
                                 (uint32_t)code[at + 2] << 16 | (uint32_t)code[at + 3] << 24);
    *divisor = 0;
    return sim_copy_checked(
        divisor, (const void *)(uintptr_t)(address + (uint64_t)(int64_t)displacement), bytes);
}

static NTSTATUS division(const struct sim_fault *fault)
{
    uint64_t divisor = 0;

    return read_divisor(fault, &divisor) && divisor != 0 ? STATUS_INTEGER_OVERFLOW
                                                         : STATUS_INTEGER_DIVIDE_BY_ZERO;
}

/* ---- floating point ---- */

/* One exception at a time is reported for the x87. */
static NTSTATUS x87(unsigned pending, bool stack_fault)
{
    if (pending & INVALID)
        return stack_fault ? STATUS_FLOAT_STACK_CHECK : STATUS_FLOAT_INVALID_OPERATION;
    if (pending & ZERO_DIVIDE)
        return STATUS_FLOAT_DIVIDE_BY_ZERO;
    if (pending & DENORMAL)
        return STATUS_FLOAT_DENORMAL_OPERAND;
    if (pending & OVERFLOW)
        return STATUS_FLOAT_OVERFLOW;
    return pending & UNDERFLOW ? STATUS_FLOAT_UNDERFLOW : STATUS_FLOAT_INEXACT_RESULT;
}

static void arithmetic(const struct sim_fault *fault, const CONTEXT *context,
                       EXCEPTION_RECORD *record)
{
    unsigned pending;

    switch (fault->trap) {
    case TRAP_X87:
        pending = context->FltSave.StatusWord & ~context->FltSave.ControlWord & 0x3Fu;
        record->ExceptionCode = x87(pending, (context->FltSave.StatusWord & 0x40) != 0);
        record->NumberParameters = 1;
        break;
    /* several lanes at once: reported before the operation (faults) or after it (traps) */
    case TRAP_SIMD:
        pending = context->MxCsr & ~(context->MxCsr >> 7) & 0x3Fu;
        record->ExceptionCode = pending & (INVALID | DENORMAL | ZERO_DIVIDE)
                                    ? STATUS_FLOAT_MULTIPLE_FAULTS
                                    : STATUS_FLOAT_MULTIPLE_TRAPS;
        record->NumberParameters = 2;
        record->ExceptionInformation[1] = context->MxCsr;
        break;
    default:
        record->ExceptionCode = division(fault);
    }
}

/* ---- all ---- */

bool x64_exception_of_fault(const struct sim_fault *fault, EXCEPTION_RECORD *record)
{
    CONTEXT context;

    if (!fault->registers)
        return false;
    *record = (EXCEPTION_RECORD){.ExceptionAddress = (PVOID)fault->pc};
    switch (fault->kind) {
    case SIM_FAULT_READ:
        access(fault, ACCESS_READ, record);
        return true;
    case SIM_FAULT_WRITE:
        access(fault, ACCESS_WRITE, record);
        return true;
    case SIM_FAULT_EXECUTE:
        access(fault, ACCESS_EXECUTE, record);
        return true;
    case SIM_FAULT_ALIGNMENT:
        record->ExceptionCode = STATUS_DATATYPE_MISALIGNMENT;
        return true;
    case SIM_FAULT_INSTRUCTION:
        record->ExceptionCode = STATUS_ILLEGAL_INSTRUCTION;
        return true;
    case SIM_FAULT_PRIVILEGED:
        record->ExceptionCode = STATUS_PRIVILEGED_INSTRUCTION;
        return true;
    case SIM_FAULT_BREAKPOINT:
        if (fault->trap == TRAP_STEP) {
            record->ExceptionCode = STATUS_SINGLE_STEP;
            return true;
        }
        /* RIP is after the instruction, but the exception is reported at it. */
        record->ExceptionCode = STATUS_BREAKPOINT;
        record->ExceptionAddress = (PVOID)(fault->pc - 1);
        record->NumberParameters = 1;
        return true;
    case SIM_FAULT_ARITHMETIC:
        x64_context_of_fault(fault, &context);
        arithmetic(fault, &context, record);
        return true;
    default:
        return false;
    }
}

/* Routines that hold no host state while they access what the driver passed (nt/rtl/crt.c): an
 * exception may leave them. */
extern const char __start_dxgk_transparent[] __attribute__((weak, visibility("hidden")));
extern const char __stop_dxgk_transparent[] __attribute__((weak, visibility("hidden")));

static bool transparent(uintptr_t pc)
{
    return pc >= (uintptr_t)__start_dxgk_transparent && pc < (uintptr_t)__stop_dxgk_transparent;
}

/* Driver code, a wild jump out of it, or such a routine called from it. Host code that faults with
 * its own state on the stack must not be unwound. */
static bool may_dispatch(const struct sim_fault *fault, const CONTEXT *context)
{
    struct x64_walk walk = {.steps = 0};

    if (x64_function_table_find(fault->pc))
        return true;
    x64_walk_begin(&walk, context, true);
    return x64_walk_look(&walk, 0) == X64_FRAME && transparent(walk.host_pc);
}

/* A wild call or jump: use the caller's frame, whose return address is on the stack. */
static bool return_from_nowhere(const struct sim_fault *fault, CONTEXT *context)
{
    struct x64_stack stack;
    uint64_t pc;

    /* A non-canonical address faults at the call itself, before it has pushed anything. */
    if (fault->kind != SIM_FAULT_EXECUTE || fault->address != fault->pc)
        return false;
    sim_stack_bounds(&stack.low, &stack.high);
    if (!x64_stack_read(&stack, context->Rsp, &pc, sizeof(pc)) ||
        !x64_function_table_find((uintptr_t)pc))
        return false;
    context->Rip = pc;
    context->Rsp += 8;
    return true;
}

void x64_fault(const struct sim_fault *fault)
{
    EXCEPTION_RECORD record;
    CONTEXT context;

    if (!x64_exception_of_fault(fault, &record))
        return;
    x64_context_of_fault(fault, &context);
    context.Rip = (uintptr_t)record.ExceptionAddress;
    if (return_from_nowhere(fault, &context))
        x64_dispatch(&record, &context, false);
    else if (may_dispatch(fault, &context))
        x64_dispatch(&record, &context, true);
}
