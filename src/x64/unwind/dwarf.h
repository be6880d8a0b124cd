/* SPDX-License-Identifier: MIT */
/* Reading DWARF numbers in their encodings, from bytes that were copied before, never beyond their
 * end. */
#ifndef DXGK_X64_DWARF_H
#define DXGK_X64_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x64/unwind/unwind_info.h"

#define DWARF_REGISTERS 33u /* 16 general ones, the return address, 16 XMM */
#define DWARF_RSP       7u
#define DWARF_RETURN    16u
#define DWARF_XMM0      17u

/* A cursor. Reading past the end gives zeros and clears `ok`. */
struct dwarf {
    const uint8_t *at, *end;
    uintptr_t address; /* where the byte at `at` is in memory, for relative pointers */
    bool ok;
};

uint64_t dwarf_fixed(struct dwarf *d, size_t bytes); /* 1, 2, 4 or 8, little endian */
uint64_t dwarf_unsigned(struct dwarf *d);            /* ULEB128 */
int64_t dwarf_signed(struct dwarf *d);               /* SLEB128 */
/* A pointer in one of the encodings of .eh_frame; `data` is the base of data-relative ones.
 * Indirect ones are not followed. */
uint64_t dwarf_pointer(struct dwarf *d, uint8_t encoding, uintptr_t data);
/* The next `bytes` as a cursor of their own; this one moves past them. */
struct dwarf dwarf_block(struct dwarf *d, uint64_t bytes);

/* A general register by its DWARF number (0 to 15), or the program counter (16). */
ULONG64 *dwarf_register(CONTEXT *context, unsigned number);

/* Evaluate an expression of call frame information; its stack starts with `initial`, or empty if
 * that is NULL. False: it uses an operation that such expressions do not use, or reads memory
 * outside the stack. */
bool dwarf_evaluate(struct dwarf expression, const struct x64_stack *stack, CONTEXT *context,
                    const uint64_t *initial, uint64_t *result);

#endif
