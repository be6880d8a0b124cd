/* SPDX-License-Identifier: MIT */
/*
 * Instructions that only a kernel may execute, and software interrupts. Those that a display driver
 * may need are carried out; those that would change the whole machine are reported and skipped
 * (NT-175); those that cannot be skipped are faults.
 *
 * CLI and STI do not mask interrupts: they concern one processor, and a driver must expect its
 * interrupt on any other at any time. Masking would find no bugs, and would never end where POPFQ,
 * which does not trap, restores the flags.
 */
#include "x64/traps/privileged.h"
#include "bus/bus.h"
#include "bus/ports.h"
#include "nt/ke/irql.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "verify/verify.h"
#include "x64/traps/block.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/plan.h"
#include "x64/traps/refuse.h"

#include <Zydis/Zydis.h>

#define MSR_TSC            0x10u
#define MSR_EFER           0xC0000080u
#define MSR_GS_BASE        0xC0000101u
#define MSR_KERNEL_GS_BASE 0xC0000102u
#define EFER_VALUE         0xD01u /* long mode, no-execute pages, fast system calls */
/* virtual time that HLT takes: the next clock interrupt is never far */
#define HALT_NS 1000u

#define KERNEL_SECURITY_CHECK_FAILURE 0x139u

enum { CR8 = 8, DEBUG_REGISTERS = 16 };
enum { INT_BREAKPOINT = 3, INT_FAST_FAIL = 0x29, INT_ASSERTION = 0x2C, INT_DEBUG_SERVICE = 0x2D };

/* Reported and skipped. */
static void skip(const struct x64_plan *plan, struct x64_interrupted *frame, const char *why)
{
    char place[128];

    x64_place(plan, frame, place, sizeof(place));
    VIOLATION("NT-175", "%s: %s", place, why);
    frame->rip += plan->length;
}

static bool read_level(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    frame->gpr[plan->reg] = sim_irql();
    frame->rip += plan->length;
    return true;
}

static bool write_level(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    uint64_t level = frame->gpr[plan->reg];
    char place[128];

    if (level > SIM_IRQL_HIGH) {
        x64_place(plan, frame, place, sizeof(place));
        VIOLATION("NT-172", "%s: %#llx to CR8, which takes levels up to %d", place,
                  (unsigned long long)level, SIM_IRQL_HIGH);
        x64_refuse(frame, SIM_FAULT_PRIVILEGED, frame->rip);
        return false;
    }
    frame->rip += plan->length;
    nt_irql_write((uint8_t)level);
    return true;
}

static bool control_register(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    if (plan->what == CR8)
        return plan->writes ? write_level(plan, frame) : read_level(plan, frame);
    if (plan->writes) {
        skip(plan, frame, "a write to a control or debug register has no effect");
    } else {
        frame->gpr[plan->reg] = 0;
        skip(plan, frame, "control and debug registers read as zero");
    }
    return true;
}

static bool port(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    bool in = plan->mnemonic == ZYDIS_MNEMONIC_IN;
    unsigned number = plan->reg == X64_NONE ? plan->what : (uint16_t)frame->gpr[plan->reg];
    struct bus *bus = bus_current();
    uint32_t value = UINT32_MAX;
    char place[128];

    x64_place(plan, frame, place, sizeof(place));
    if (in ? bus_port_read(bus, number, plan->operand_bytes, &value)
           : bus_port_write(bus, number, plan->operand_bytes, (uint32_t)frame->gpr[X64_RAX])) {
        if (in)
            x64_set(frame, X64_RAX, plan->operand_bytes, value);
        frame->rip += plan->length;
        return true;
    }
    VIOLATION("NT-139", "%s: port %#x, which no device has", place, number);
    if (in)
        x64_set(frame, X64_RAX, plan->operand_bytes, UINT64_MAX);
    frame->rip += plan->length;
    return true;
}

/* ---- model-specific registers ---- */

static bool known_msr(uint32_t msr, uint64_t *value)
{
    switch (msr) {
    case MSR_TSC:
        *value = sim_now();
        return true;
    case MSR_EFER:
        *value = EFER_VALUE;
        return true;
    case MSR_GS_BASE:
        *value = x64_gs_base();
        return true;
    case MSR_KERNEL_GS_BASE:
        *value = 0;
        return true;
    default:
        return false;
    }
}

static bool read_msr(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    uint64_t value = 0;
    bool known = known_msr((uint32_t)frame->gpr[X64_RCX], &value);

    frame->gpr[X64_RAX] = (uint32_t)value;
    frame->gpr[X64_RDX] = value >> 32;
    if (known)
        frame->rip += plan->length;
    else
        skip(plan, frame, "a model-specific register that is not there reads as zero");
    return true;
}

/* ---- software interrupts ---- */

static void read_stamp(struct x64_interrupted *frame)
{
    frame->gpr[X64_RAX] = (uint32_t)sim_now();
    frame->gpr[X64_RDX] = sim_now() >> 32;
}

static bool interrupt(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    char place[128];

    x64_place(plan, frame, place, sizeof(place));
    switch (plan->what) {
    case INT_BREAKPOINT:
        NOTE("NT-167", "breakpoint: %s", place);
        break;
    case INT_ASSERTION:
        VIOLATION("NT-167", "assertion failed: %s", place);
        break;
    case INT_DEBUG_SERVICE:
        NOTE("NT-167", "debug service %u (int 2d): %s", (unsigned)frame->gpr[X64_RAX], place);
        break;
    case X64_INT_STAMP_AND_PROCESSOR:
        frame->gpr[X64_RCX] = sim_current->processor;
        read_stamp(frame);
        break;
    case X64_INT_STAMP:
        read_stamp(frame);
        break;
    case INT_FAST_FAIL:
        verify_fatal("NT-176", KERNEL_SECURITY_CHECK_FAILURE, (uint32_t)frame->gpr[X64_RCX],
                     frame->gpr[X64_RSP], 0, 0, "%s: the driver found its data damaged, code %u",
                     place, (unsigned)frame->gpr[X64_RCX]);
        x64_refuse(frame, SIM_FAULT_PRIVILEGED, frame->rip);
        return false;
    default:
        x64_refuse(frame, SIM_FAULT_PRIVILEGED, frame->rip);
        return false;
    }
    frame->rip += plan->length;
    return true;
}

/* ---- all of them ---- */

static bool carry_out(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    char place[128];

    switch ((ZydisMnemonic)plan->mnemonic) {
    case ZYDIS_MNEMONIC_MOV:
        return control_register(plan, frame);
    case ZYDIS_MNEMONIC_IN:
    case ZYDIS_MNEMONIC_OUT:
        return port(plan, frame);
    case ZYDIS_MNEMONIC_RDMSR:
        return read_msr(plan, frame);
    case ZYDIS_MNEMONIC_INT:
    case ZYDIS_MNEMONIC_INT3:
        return interrupt(plan, frame);
    case ZYDIS_MNEMONIC_CLI:
    case ZYDIS_MNEMONIC_STI:
        x64_place(plan, frame, place, sizeof(place));
        WARNING("NT-175", "%s: masks interrupts of one processor only; it has no effect here",
                place);
        break;
    case ZYDIS_MNEMONIC_HLT:
        skip(plan, frame, "a driver must not halt the processor");
        sim_stall(HALT_NS);
        return true;
    case ZYDIS_MNEMONIC_WBINVD: /* memory is always coherent here */
    case ZYDIS_MNEMONIC_CLAC:   /* and all memory is accessible */
    case ZYDIS_MNEMONIC_STAC:
        break;
    case ZYDIS_MNEMONIC_RDPMC:
        frame->gpr[X64_RAX] = 0;
        frame->gpr[X64_RDX] = 0;
        skip(plan, frame, "performance counters read as zero");
        return true;
    default:
        skip(plan, frame, "a driver must not change the state of the processor; it has no effect");
        return true;
    }
    frame->rip += plan->length;
    return true;
}

bool x64_privileged(const struct x64_plan *plan, struct x64_interrupted *frame)
{
    struct x64_plan copy = *plan; /* other code may run, and trap, at points */

    if (plan->mnemonic == ZYDIS_MNEMONIC_MOV && plan->what == CR8 && !plan->writes)
        return read_level(plan, frame); /* not a point, like a rewritten read or a call */
    sim_point();
    return carry_out(&copy, frame);
}
