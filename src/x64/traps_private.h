/* SPDX-License-Identifier: MIT */
/* What the files of x64 that emulate instructions share. */
#ifndef DXGK_X64_TRAPS_PRIVATE_H
#define DXGK_X64_TRAPS_PRIVATE_H

#include <stddef.h>

#include <ntddk.h>

#include "bus/bus.h"
#include "sim/sim.h"
#include "verify/verify.h"
#include "x64/x64.h"

#define X64_LONGEST     15u /* bytes of an instruction */
#define X64_WIDEST      64u /* bytes of a memory operand that is emulated */
#define X64_SHARED_DATA 0xFFFFF78000000000u
#define X64_PAGE        4096u

/* General registers in the order of their encoding. */
enum { X64_RAX, X64_RCX, X64_RDX, X64_RBX, X64_RSP, X64_RBP, X64_RSI, X64_RDI, X64_NONE = 16 };

#define X64_CF 0x1u
#define X64_PF 0x4u
#define X64_AF 0x10u
#define X64_ZF 0x40u
#define X64_SF 0x80u
#define X64_DF 0x400u
#define X64_OF 0x800u

/* How vector registers are saved, at best: the last skips what is not in use. */
enum x64_save { X64_FXSAVE, X64_XSAVE, X64_XSAVEC };

/* The interrupted code, on its own stack; landing.S knows the offsets. */
struct x64_interrupted {
    uint64_t gpr[16];
    uint64_t rip, flags;
    uint64_t vector_mask; /* components that are saved */
    uint64_t vector_save; /* enum x64_save */
    uintptr_t address;    /* what the signal told */
    enum sim_fault_kind kind;
    _Alignas(64) uint8_t vector[]; /* XSAVE area */
};

/* ---- plans (plan.c) ---- */

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
    uint8_t reg; /* another register operand: bit offset, value of a control register, port, branch target */
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

/* The instruction at frame->rip; NULL: its bytes cannot be read or are no instruction. Valid until the next call. */
const struct x64_plan *x64_plan_at(uintptr_t pc);
/* Address of its memory operand, bit offset left out. */
uintptr_t x64_effective_address(const struct x64_plan *plan, const struct x64_interrupted *frame);
const char *x64_mnemonic(const struct x64_plan *plan);

/* ---- running an instruction on a copy of its operand (stub.c) ---- */

#define X64_STUB_CODE 0x8000u

/* Behind the code of the stubs; landing.S knows the offsets. */
struct x64_stub_data {
    uint64_t gpr[16];
    uint64_t flags;
    uint64_t host_stack;
    uint64_t target;
    _Alignas(64) uint8_t operand[2 * X64_WIDEST];
};

struct x64_stubs {
    uint8_t *code;     /* executable */
    uint8_t *writable; /* the same bytes */
    struct x64_stub_data *data;
    uint32_t used;
    int file;
};

bool x64_stubs_init(struct x64_stubs *stubs);
void x64_stubs_finish(struct x64_stubs *stubs);
/* Code for the instruction with its memory operand in data->operand; NULL: it has no such form. Sets *full when there is no
 * room: then all plans must be forgotten, and x64_stubs_clear called. */
const uint8_t *x64_stub_make(struct x64_stubs *stubs, const struct x64_plan *plan,
                             const void *decoded, bool *full);
void x64_stubs_clear(struct x64_stubs *stubs);
/* Run it on the registers of the frame. The operand is in stubs->data->operand before and after. */
void x64_stub_run(struct x64_stubs *stubs, const struct x64_plan *plan,
                  struct x64_interrupted *frame);
bool x64_stubs_contain(const struct x64_stubs *stubs, uintptr_t pc);

/* ---- the whole ---- */

struct x64_machine {
    struct x64_stubs stubs;
    struct x64_plan *plan; /* X64_PLANS of them, by address */
    uint64_t traps;
    uint64_t vector_mask;
    uint32_t vector_bytes; /* 0: not measured yet */
    enum x64_save vector_save;
    uintptr_t running; /* place of the instruction that runs in a stub */
    /* A trap that is a fault after all: the next one at this place goes through, as this. */
    uintptr_t refused_pc, refused_address;
    enum sim_fault_kind refused_kind;
    /* block.c */
    uint8_t *blocks;
    uint64_t outer_gs;
    bool fsgsbase;
    KUSER_SHARED_DATA *shared;
};

static inline struct x64_machine *x64_state(void)
{
    return sim_current->room[SIM_ROOM_TRAPS];
}

/* ---- memory of all kinds (memory.c) ---- */

/* Nobody can be told when an access does not go through: x64_refuse was called, and false returned. */
bool x64_read(const struct x64_plan *plan, const struct x64_interrupted *frame, uintptr_t address,
              uint32_t bytes, void *to);
bool x64_write(const struct x64_plan *plan, const struct x64_interrupted *frame, uintptr_t address,
               uint32_t bytes, const void *from);
/* Does an access there trap, and is it emulated? */
bool x64_traps_at(uintptr_t address);

/* ---- the pieces of a trap ---- */

/* trap.c */
void x64_trap_install(struct x64_machine *x64);
/* The instruction of the frame is a fault. It happens again when the frame is left, and is taken as what is said here. */
void x64_refuse(const struct x64_interrupted *frame, enum sim_fault_kind kind, uintptr_t address);
/* The same, for what none of ours did: the address is worked out where the signal had none. `plan`: NULL, if it cannot be
 * decoded. */
void x64_refuse_foreign(const struct x64_plan *plan, const struct x64_interrupted *frame);
/* "mov at refgpu.so!start+0x42", for reports. */
void x64_place(const struct x64_plan *plan, const struct x64_interrupted *frame, char *text,
               size_t bytes);

/* Each carries out what the plan says; false: it is a fault, and x64_refuse was called. */
bool x64_memory_instruction(const struct x64_plan *plan,
                            struct x64_interrupted *frame); /* emulate.c */
bool x64_push(const struct x64_plan *plan, struct x64_interrupted *frame);
bool x64_pop(const struct x64_plan *plan, struct x64_interrupted *frame);
bool x64_string(const struct x64_plan *plan, struct x64_interrupted *frame); /* string.c */
bool x64_port_string(const struct x64_plan *plan, struct x64_interrupted *frame);
bool x64_privileged(const struct x64_plan *plan, struct x64_interrupted *frame); /* privileged.c */

/* Write a part of a register as the processor does: 32 bits clear the upper half. */
static inline void x64_set(struct x64_interrupted *frame, unsigned reg, uint32_t bytes,
                           uint64_t value)
{
    if (bytes >= 8)
        frame->gpr[reg] = value;
    else if (bytes == 4)
        frame->gpr[reg] = (uint32_t)value;
    else if (bytes == 2)
        frame->gpr[reg] = (frame->gpr[reg] & ~0xFFFFull) | (uint16_t)value;
    else
        frame->gpr[reg] = (frame->gpr[reg] & ~0xFFull) | (uint8_t)value;
}

static inline uint64_t x64_get(const struct x64_interrupted *frame, unsigned reg, uint32_t bytes)
{
    return bytes >= 8 ? frame->gpr[reg] : frame->gpr[reg] & ((1ull << (8 * bytes)) - 1);
}

/* Interrupts that stand for RDTSC and RDTSCP in rewritten code. */
#define X64_INT_STAMP               0x31u
#define X64_INT_STAMP_AND_PROCESSOR 0x32u

/* Where rewritten code finds a pointer to the current level, relative to the GS base. */
#define X64_BLOCK_LEVEL (-8)

/* x64.c */
void x64_measure_vectors(struct x64_machine *x64);

/* block.c */
bool x64_blocks_init(struct x64_machine *x64);
void x64_blocks_finish(struct x64_machine *x64);
/* Beyond what a processor block holds here? */
bool x64_block_gap(const struct x64_machine *x64, uintptr_t address);
uintptr_t x64_gs_base(void);

/* shared_data.c */
bool x64_shared_data_init(struct x64_machine *x64);
void x64_shared_data_finish(struct x64_machine *x64);
/* offset + bytes is at most X64_PAGE. */
void x64_shared_data_read(uint32_t offset, uint32_t bytes, void *to);

/* landing.S */
void x64_landing(void);
void x64_run(void (*enter)(void), struct x64_interrupted *vectors);
extern const uint8_t x64_template[];
extern const uint32_t x64_template_bytes, x64_template_leave;

#endif
