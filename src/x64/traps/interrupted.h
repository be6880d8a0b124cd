/* SPDX-License-Identifier: MIT */
/* The registers of code that a trap has interrupted, in a frame on its own stack; emulation reads
 * and changes them. */
#ifndef DXGK_X64_INTERRUPTED_H
#define DXGK_X64_INTERRUPTED_H

#include <stddef.h>
#include <stdint.h>

#include "sim/fault.h"

/* General registers in the order of their encoding. */
enum { X64_RAX, X64_RCX, X64_RDX, X64_RBX, X64_RSP, X64_RBP, X64_RSI, X64_RDI, X64_NONE = 16 };

#define X64_CF 0x1u
#define X64_PF 0x4u
#define X64_AF 0x10u
#define X64_ZF 0x40u
#define X64_SF 0x80u
#define X64_DF 0x400u
#define X64_OF 0x800u

/* The best way to save vector registers; the last one skips those not in use. */
enum x64_save { X64_FXSAVE, X64_XSAVE, X64_XSAVEC };

/* The frame of the interrupted code, on its own stack; landing.S knows the offsets. */
struct x64_interrupted {
    uint64_t gpr[16];
    uint64_t rip, flags;
    uint64_t vector_mask; /* state components that are saved */
    uint64_t vector_save; /* enum x64_save */
    uintptr_t address;    /* address that the signal reported */
    enum sim_fault_kind kind;
    _Alignas(64) uint8_t vector[]; /* XSAVE area */
};

/* Write a part of a register like the processor: 32 bits clear the upper half. */
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

#endif
