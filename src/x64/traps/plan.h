/* SPDX-License-Identifier: MIT */
/* A plan says what an instruction is and how to emulate it. It is decoded once; the emulation of
 * each kind uses only the plan. */
#ifndef DXGK_X64_PLAN_H
#define DXGK_X64_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x64/traps/interrupted.h"

#define X64_LONGEST 15u /* bytes of the longest instruction */
#define X64_WIDEST  64u /* bytes of the largest memory operand that is emulated */

enum x64_kind {
    X64_FOREIGN, /* not for us, or not emulated: a real fault */
    X64_MEMORY,  /* runs on a copy of its memory operand */
    X64_HINT,    /* cache hint: no effect */
    X64_PUSH,
    X64_POP,
    X64_STRING,
    X64_PORT_STRING,
    X64_PRIVILEGED,
};

/* What is known about the instruction at an address. */
struct x64_plan {
    uintptr_t pc;
    uint8_t bytes[X64_LONGEST];
    uint8_t length; /* 0: the entry is free */
    uint8_t kind;   /* enum x64_kind */
    uint16_t mnemonic;
    uint16_t operand_bytes; /* of the memory operand, or of a port */
    uint8_t base, index;    /* registers of the memory operand, or X64_NONE */
    uint8_t scale;
    /* another register operand: bit offset, value of a control register, port, or branch target */
    uint8_t reg;
    uint8_t what; /* privileged: control or debug register, interrupt vector, port */
    bool rip_relative, gs, short_address;
    bool has_memory;
    bool branch; /* jump, call or return, to the address in `reg` or in the memory operand */
    bool reads, writes;
    bool vector;     /* uses vector or floating-point registers */
    bool bit_string; /* `reg` is a bit offset from the memory operand */
    bool locked;     /* atomic: by its prefix, or always */
    bool repeat, while_equal, while_unequal;
    int64_t displacement;
    const uint8_t *stub;
};

#define X64_PLANS 1024u

/* The plan of the instruction at pc; NULL: its bytes cannot be read or are no instruction. Valid
 * until the next call. */
const struct x64_plan *x64_plan_at(uintptr_t pc);
/* The same without a stub, and not kept. False: its bytes cannot be read or are no instruction. */
bool x64_plan_look(struct x64_plan *plan, uintptr_t pc);
/* Address of the memory operand, without the bit offset. */
uintptr_t x64_effective_address(const struct x64_plan *plan, const struct x64_interrupted *frame);
/* The same, but for a bit string that of the word that contains the bit. */
uintptr_t x64_operand_address(const struct x64_plan *plan, const struct x64_interrupted *frame);
const char *x64_mnemonic(const struct x64_plan *plan);

#endif
