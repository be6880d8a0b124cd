/* SPDX-License-Identifier: MIT */
/*
 * Unwind information of x64 images (.xdata) and what follows from it: the caller's registers from
 * the callee's.
 *
 * Layouts and meaning of the codes are from the public description of x64 exception handling.
 * Images lie: every byte that is read belongs to the image or to the stack that the caller names,
 * is read by a copy that survives a hole, and chains end.
 */
#ifndef DXGK_X64_UNWIND_INFO_H
#define DXGK_X64_UNWIND_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "x64/unwind/function_table.h"

enum x64_unwind_flag {
    X64_UNWIND_EXCEPTION_HANDLER =
        1, /* the function wants to be asked when an exception looks for a handler */
    X64_UNWIND_TERMINATION_HANDLER = 2, /* the function wants to know when its frame is unwound */
    X64_UNWIND_CHAINED = 4,
};

enum x64_unwind_operation {
    X64_PUSH_NONVOLATILE = 0,
    X64_ALLOCATE_LARGE = 1,
    X64_ALLOCATE_SMALL = 2,
    X64_SET_FRAME_REGISTER = 3,
    X64_SAVE_NONVOLATILE = 4,
    X64_SAVE_NONVOLATILE_FAR = 5,
    X64_EPILOGUE = 6, /* version 2; in version 1 an old form of SAVE_XMM */
    X64_SPARE = 7,    /* an old form of SAVE_XMM_FAR */
    X64_SAVE_XMM = 8,
    X64_SAVE_XMM_FAR = 9,
    X64_PUSH_MACHINE_FRAME = 10,
};

#define X64_UNWIND_CODES 255u /* that one unwind information can hold */

struct x64_unwind_code {
    uint8_t offset; /* in the function, behind the instruction that the code is about */
    uint8_t operation : 4;
    uint8_t info : 4;
};

/* One unwind information, read and checked: `codes` holds whole operations only. */
struct x64_unwind_info {
    uint8_t version, flags, prologue, count;
    uint8_t frame_register; /* 0: none */
    uint8_t frame_offset;   /* bytes */
    struct x64_unwind_code codes[X64_UNWIND_CODES];
    uint32_t handler;            /* offset in the image; 0: none */
    uint32_t handler_data;       /* offset in the image of what follows */
    struct x64_function chained; /* if flags say so */
};

/* False: it lies outside of the image, or makes no sense. */
bool x64_unwind_info_read(const struct x64_function_table *table, uint32_t offset,
                          struct x64_unwind_info *info);
/* 16-bit units that the operation at `index` occupies. 0: it is unknown, or reaches past the
 * end. */
unsigned x64_unwind_slots(const struct x64_unwind_info *info, unsigned index);
/* Bytes of an image; false: outside of it, or in a hole. */
bool x64_image_read(const struct x64_function_table *table, uint64_t offset, void *to, size_t bytes);
/* Follow an entry that stands for another one (lowest bit of `unwind`). `entry` is read and
 * replaced; *offset is where in the image its final form stands, untouched if it is the one in the
 * table. False: it leads astray. */
bool x64_function_resolve(const struct x64_function_table *table, struct x64_function *entry,
                          uint32_t *offset);

/* Where values may be read from: the stack of the frames. */
struct x64_stack {
    uintptr_t low, high;
};

/* Where the unwinder found the caller's nonvolatile registers; the layout is the public one. NULL:
 * not saved there. */
struct x64_saved_at {
    M128A *xmm[16];
    ULONG64 *integer[16];
};

/* What is known of a frame after unwinding it. */
struct x64_unwound_frame {
    struct x64_function entry; /* of the function, its own form */
    uint64_t establisher;      /* identifies the frame: the base of its fixed part */
    uint64_t handler;          /* address; 0: none of the wanted kind, or not in the body */
    uint64_t handler_data;     /* address */
    bool machine_frame;        /* the caller was interrupted, its volatile registers matter, too */
};

enum x64_unwound { X64_UNWOUND, X64_BAD_UNWIND_INFO, X64_BAD_STACK };

/* From the registers inside a function to those in its caller, as after the return. `pc` is where
 * control is or will return to; `entry` NULL: a leaf. `wanted`: which kind of handler to look for.
 * `context` and the rest change on success only; `saved_at` may be NULL. Allocates nothing. */
enum x64_unwound x64_unwind(const struct x64_function_table *table,
                            const struct x64_function *entry, uint64_t pc, unsigned wanted,
                            const struct x64_stack *stack, CONTEXT *context,
                            struct x64_saved_at *saved_at, struct x64_unwound_frame *frame);

/* Is `pc` in an epilogue? Then what is left of it has been carried out on `context`.
 * X64_BAD_UNWIND_INFO: it is in none. */
enum x64_unwound x64_unwind_epilogue(const struct x64_function_table *table,
                                     const struct x64_function *entry,
                                     const struct x64_unwind_info *info, uint64_t pc,
                                     const struct x64_stack *stack, CONTEXT *context,
                                     struct x64_saved_at *saved_at);

bool x64_stack_read(const struct x64_stack *stack, uint64_t address, void *to, size_t bytes);

/* General register by its number in the encoding of instructions. */
static inline ULONG64 *x64_register(CONTEXT *context, unsigned number)
{
    return &(&context->Rax)[number];
}

#endif
