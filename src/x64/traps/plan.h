/* SPDX-License-Identifier: MIT */
/* What an instruction is and what is to be done about it, decoded once. The emulation of each kind
 * goes by its plan alone. */
#ifndef DXGK_X64_PLAN_H
#define DXGK_X64_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x64/traps/interrupted.h"

#define X64_LONGEST 15u /* bytes of an instruction */
#define X64_WIDEST  64u /* bytes of a memory operand that is emulated */

enum x64_kind {
    X64_FOREIGN, /* none of ours, or cannot be emulated: a fault as it stands */
    X64_MEMORY,  /* run on a copy of its memory operand */
    X64_HINT,    /* of caches: no effect */
    X64_PUSH,
    X64_POP,
    X64_STRING,
    X64_PORT_STRING,
    X64_PRIVILEGED,
};

/* What is known about the instruction at a place. */
struct x64_plan {
    uintptr_t pc;
    uint8_t bytes[X64_LONGEST];
    uint8_t length; /* 0: the entry is free */
    uint8_t kind;   /* enum x64_kind */
    uint16_t mnemonic;
    uint16_t operand_bytes; /* of the memory operand, or of a port */
    uint8_t base, index;    /* registers of the memory operand; X64_NONE */
    uint8_t scale;
    /* another register operand: bit offset, value of a control register, port, branch target */
    uint8_t reg;
    uint8_t what; /* privileged: control or debug register, interrupt vector, port */
    bool rip_relative, gs, short_address;
    bool has_memory;
    bool branch; /* jump, call or return, to what `reg` or the memory operand holds */
    bool reads, writes;
    bool vector;     /* touches vector or floating-point registers */
    bool bit_string; /* `reg` counts bits from the memory operand */
    bool repeat, while_equal, while_unequal;
    int64_t displacement;
    const uint8_t *stub;
};

#define X64_PLANS 1024u

/* The instruction at frame->rip; NULL: its bytes cannot be read or are no instruction. Valid until
 * the next call. */
const struct x64_plan *x64_plan_at(uintptr_t pc);
/* Address of its memory operand, bit offset left out. */
uintptr_t x64_effective_address(const struct x64_plan *plan, const struct x64_interrupted *frame);
const char *x64_mnemonic(const struct x64_plan *plan);

#endif
