/* SPDX-License-Identifier: MIT */
/*
 * Unwind information of x64 images (.xdata) and its use: finding the caller's registers from the
 * callee's.
 *
 * Layouts and meaning of the codes are from the public description of x64 exception handling.
 * Images are not trusted: every byte that is read is inside the image or the stack that the caller
 * names, is read by a copy that survives a fault, and the length of chains is limited.
 */
#ifndef DXGK_X64_UNWIND_INFO_H
#define DXGK_X64_UNWIND_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "x64/unwind/function_table.h"

enum x64_unwind_flag {
    X64_UNWIND_EXCEPTION_HANDLER =
        1, /* the function has a handler that is called when an exception is dispatched */
    /* the function has a handler that is called when its frame is unwound */
    X64_UNWIND_TERMINATION_HANDLER = 2,
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

#define X64_UNWIND_CODES 255u /* the most that one unwind information can contain */

struct x64_unwind_code {
    /* offset in the function of the end of the instruction that the code describes */
    uint8_t offset;
    uint8_t operation : 4;
    uint8_t info : 4;
};

/* The unwind information of one function part, read and checked: `codes` contains only complete
 * operations. */
struct x64_unwind_info {
    uint8_t version, flags, prologue, count;
    uint8_t frame_register; /* 0: none */
    uint8_t frame_offset;   /* bytes */
    struct x64_unwind_code codes[X64_UNWIND_CODES];
    uint32_t handler;            /* offset in the image; 0: none */
    uint32_t handler_data;       /* offset in the image of the data after it */
    struct x64_function chained; /* valid if flags say so */
};

/* False: it is outside of the image, or invalid. */
bool x64_unwind_info_read(const struct x64_function_table *table, uint32_t offset,
                          struct x64_unwind_info *info);
/* Number of 16-bit slots of the operation at `index`. 0: it is unknown, or exceeds the end. */
unsigned x64_unwind_slots(const struct x64_unwind_info *info, unsigned index);
/* Read bytes of an image; false: outside of it, or unreadable. */
bool x64_image_read(const struct x64_function_table *table, uint64_t offset, void *to, size_t bytes);
/* Follow an entry that refers to another one (lowest bit of `unwind`). `entry` is read and
 * replaced; *offset gets the place of its final form in the image, and is unchanged if that is in
 * the table itself. False: the reference is invalid. */
bool x64_function_resolve(const struct x64_function_table *table, struct x64_function *entry,
                          uint32_t *offset);

/* The stack of the frames: the only place that values may be read from. */
struct x64_stack {
    uintptr_t low, high;
};

/* Where the unwinder found the caller's nonvolatile registers, in the public layout. NULL: not
 * saved by this frame. */
struct x64_saved_at {
    M128A *xmm[16];
    ULONG64 *integer[16];
};

/* The result of unwinding a frame. */
struct x64_unwound_frame {
    struct x64_function entry; /* of the function, after references are followed */
    uint64_t establisher;      /* identifies the frame: the base of its fixed part */
    uint64_t handler;          /* address; 0: none of the wanted kind, or not in the body */
    uint64_t handler_data;     /* address of its data */
    /* the caller was interrupted, so its volatile registers matter, too */
    bool machine_frame;
};

enum x64_unwound { X64_UNWOUND, X64_BAD_UNWIND_INFO, X64_BAD_STACK };

/* Go from the registers inside a function to those in its caller, after the return. `pc` is where
 * control is or will return to; `entry` NULL: a leaf. `wanted`: which kind of handler to look for.
 * `context` and the other results change only on success; `saved_at` may be NULL. Allocates
 * nothing. */
enum x64_unwound x64_unwind(const struct x64_function_table *table,
                            const struct x64_function *entry, uint64_t pc, unsigned wanted,
                            const struct x64_stack *stack, CONTEXT *context,
                            struct x64_saved_at *saved_at, struct x64_unwound_frame *frame);

/* If `pc` is in an epilogue, execute the rest of it on `context`. X64_BAD_UNWIND_INFO: it is in
 * none. */
enum x64_unwound x64_unwind_epilogue(const struct x64_function_table *table,
                                     const struct x64_function *entry,
                                     const struct x64_unwind_info *info, uint64_t pc,
                                     const struct x64_stack *stack, CONTEXT *context,
                                     struct x64_saved_at *saved_at);

bool x64_stack_read(const struct x64_stack *stack, uint64_t address, void *to, size_t bytes);

/* General register by its number in instruction encodings. */
static inline ULONG64 *x64_register(CONTEXT *context, unsigned number)
{
    return &(&context->Rax)[number];
}

#endif
