/* SPDX-License-Identifier: MIT */
/* Faults that are bug checks on Windows, not exceptions. */
#include "nt/mm/retired_view.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "x64/exceptions/exception.h"

#define KMODE_EXCEPTION_NOT_HANDLED           0x1Eu
#define PAGE_FAULT_IN_NONPAGED_AREA           0x50u
#define ATTEMPTED_WRITE_TO_READONLY_MEMORY    0xBEu
#define ATTEMPTED_EXECUTE_OF_NOEXECUTE_MEMORY 0xFCu
#define TRAP_PAGE                             14

static bool is_kernel_memory(uintptr_t address)
{
    return x64_function_table_find(address) || nt_retired_view_is_of_kernel((const void *)address);
}

static void set(uint64_t parameter[4], uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    parameter[0] = a;
    parameter[1] = b;
    parameter[2] = c;
    parameter[3] = d;
}

uint32_t x64_fault_bugcheck(const struct sim_fault *fault, uint64_t parameter[4])
{
    EXCEPTION_RECORD record = {.ExceptionCode = 0};
    bool access = fault->trap == TRAP_PAGE;
    bool write = fault->kind == SIM_FAULT_WRITE, execute = fault->kind == SIM_FAULT_EXECUTE;

    if (access && sim_irql() >= SIM_IRQL_DISPATCH && fault->kind != SIM_FAULT_STACK) {
        set(parameter, fault->address, sim_irql(), execute ? 8 : write, fault->pc);
        return DRIVER_IRQL_NOT_LESS_OR_EQUAL;
    }
    if (access && is_kernel_memory(fault->address) && fault->kind != SIM_FAULT_STACK) {
        set(parameter, fault->address, execute ? 0x10 : write ? 2 : 0, fault->pc, 0);
        if (execute)
            return ATTEMPTED_EXECUTE_OF_NOEXECUTE_MEMORY;
        return write && x64_function_table_find(fault->address) ? ATTEMPTED_WRITE_TO_READONLY_MEMORY
                                                                : PAGE_FAULT_IN_NONPAGED_AREA;
    }
    if (!x64_exception_of_fault(fault, &record))
        record.ExceptionCode = STATUS_ACCESS_VIOLATION;
    set(parameter, (uint32_t)record.ExceptionCode, fault->pc, record.ExceptionInformation[0],
        record.NumberParameters > 1 ? record.ExceptionInformation[1] : fault->address);
    return KMODE_EXCEPTION_NOT_HANDLED;
}
