/* SPDX-License-Identifier: MIT */
/*
 * Virtual unwinding of one frame.
 *
 *   body, or after the prologue     undo all operations
 *   in the prologue                 undo those whose instruction has been executed
 *   in an epilogue                  carry out the rest of it (epilogue.c)
 *
 * A function may be split: the unwind information of a part names, as its chained entry, the part
 * whose prologue ran before; all operations of that part are undone, and so on until a part without
 * a chained entry.
 */
#include <stddef.h>
#include <string.h>

#include "x64/unwind/unwind_info.h"

#define CHAIN_LIMIT 32u

/* State of unwinding one frame. */
struct unwinding {
    const struct x64_stack *stack;
    CONTEXT *context;
    struct x64_saved_at *saved_at;
    /* base of the fixed part of the frame: saved registers are found relative to it */
    uint64_t base;
    bool machine_frame;
};

static bool restore_integer(struct unwinding *u, unsigned number, uint64_t address)
{
    if (!x64_stack_read(u->stack, address, x64_register(u->context, number), sizeof(ULONG64)))
        return false;
    if (u->saved_at)
        u->saved_at->integer[number] = (ULONG64 *)(uintptr_t)address;
    return true;
}

static bool restore_xmm(struct unwinding *u, unsigned number, uint64_t address)
{
    if (!x64_stack_read(u->stack, address, &u->context->FltSave.XmmRegisters[number], sizeof(M128A)))
        return false;
    if (u->saved_at)
        u->saved_at->xmm[number] = (M128A *)(uintptr_t)address;
    return true;
}

/* The processor pushes the instruction pointer, code segment, flags, stack pointer and stack
 * segment; there may be an error code below them. */
static bool pop_machine_frame(struct unwinding *u, bool error_code)
{
    uint64_t frame = u->context->Rsp + (error_code ? 8 : 0);
    uint64_t pc, sp;

    if (!x64_stack_read(u->stack, frame, &pc, sizeof(pc)) ||
        !x64_stack_read(u->stack, frame + 24, &sp, sizeof(sp)))
        return false;
    u->context->Rip = pc;
    u->context->Rsp = sp;
    u->machine_frame = true;
    return true;
}

static uint32_t operand(const struct x64_unwind_code *code, unsigned slots)
{
    uint16_t low, high = 0;

    memcpy(&low, &code[1], sizeof(low));
    if (slots > 2)
        memcpy(&high, &code[2], sizeof(high));
    return low | (uint32_t)high << 16;
}

static enum x64_unwound undo(struct unwinding *u, const struct x64_unwind_info *info,
                             const struct x64_unwind_code *code, unsigned slots)
{
    CONTEXT *context = u->context;
    bool ok = true;

    switch ((enum x64_unwind_operation)code->operation) {
    case X64_PUSH_NONVOLATILE:
        ok = restore_integer(u, code->info, context->Rsp);
        if (ok && code->info != 4) /* not the stack pointer itself */
            context->Rsp += 8;
        break;
    case X64_ALLOCATE_LARGE:
        context->Rsp += slots > 2 ? operand(code, slots) : operand(code, slots) * 8;
        break;
    case X64_ALLOCATE_SMALL:
        context->Rsp += code->info * 8u + 8u;
        break;
    case X64_SET_FRAME_REGISTER:
        context->Rsp = *x64_register(context, info->frame_register) - info->frame_offset;
        break;
    case X64_SAVE_NONVOLATILE:
        ok = restore_integer(u, code->info, u->base + operand(code, slots) * 8ull);
        break;
    case X64_SAVE_NONVOLATILE_FAR:
        ok = restore_integer(u, code->info, u->base + operand(code, slots));
        break;
    case X64_SAVE_XMM:
        ok = restore_xmm(u, code->info, u->base + operand(code, slots) * 16ull);
        break;
    case X64_SAVE_XMM_FAR:
        ok = restore_xmm(u, code->info, u->base + operand(code, slots));
        break;
    case X64_PUSH_MACHINE_FRAME:
        ok = pop_machine_frame(u, code->info != 0);
        break;
    case X64_EPILOGUE:
        if (info->version < 2)
            return X64_BAD_UNWIND_INFO; /* an undocumented form that saved 64 bits of a register */
        break;
    case X64_SPARE:
        return X64_BAD_UNWIND_INFO;
    }
    return ok ? X64_UNWOUND : X64_BAD_STACK;
}

/* Undo the operations of one unwind information; those at offsets beyond `reached` have not been
 * executed. */
static enum x64_unwound undo_all(struct unwinding *u, const struct x64_unwind_info *info,
                                 uint32_t reached)
{
    for (unsigned i = 0; i < info->count && !u->machine_frame;) {
        unsigned slots = x64_unwind_slots(info, i);

        if (info->codes[i].offset <= reached) {
            enum x64_unwound result = undo(u, info, &info->codes[i], slots);

            if (result != X64_UNWOUND)
                return result;
        }
        i += slots;
    }
    return X64_UNWOUND;
}

/* The base of the fixed part of the frame: given by the frame register once that is set. */
static uint64_t establisher(const struct x64_unwind_info *info, CONTEXT *context, uint32_t reached)
{
    if (info->frame_register == 0)
        return context->Rsp;
    if (reached < info->prologue && !(info->flags & X64_UNWIND_CHAINED)) {
        for (unsigned i = 0; i < info->count; i += x64_unwind_slots(info, i))
            if (info->codes[i].operation == X64_SET_FRAME_REGISTER &&
                info->codes[i].offset > reached)
                return context->Rsp;
    }
    return *x64_register(context, info->frame_register) - info->frame_offset;
}

static enum x64_unwound return_to_caller(struct unwinding *u)
{
    if (u->machine_frame)
        return X64_UNWOUND;
    if (!x64_stack_read(u->stack, u->context->Rsp, &u->context->Rip, sizeof(u->context->Rip)))
        return X64_BAD_STACK;
    u->context->Rsp += 8;
    return X64_UNWOUND;
}

/* Undo the prologue and the chained parts, and return. On success `info` is that of the part that
 * begins the function. */
static enum x64_unwound undo_function(struct unwinding *u, const struct x64_function_table *table,
                                      struct x64_unwind_info *info, uint32_t reached)
{
    enum x64_unwound result = undo_all(u, info, reached);

    for (unsigned i = 0; result == X64_UNWOUND && (info->flags & X64_UNWIND_CHAINED); i++) {
        struct x64_function part = info->chained;
        uint32_t ignored;

        if (i == CHAIN_LIMIT || !x64_function_resolve(table, &part, &ignored) ||
            !x64_unwind_info_read(table, part.unwind, info))
            return X64_BAD_UNWIND_INFO;
        result = undo_all(u, info, UINT32_MAX);
    }
    return result == X64_UNWOUND ? return_to_caller(u) : result;
}

/* A handler applies in the body, but not in the prologue of its own part. */
static void find_handler(const struct x64_function_table *table, const struct x64_unwind_info *info,
                         bool in_prologue, unsigned wanted, struct x64_unwound_frame *frame)
{
    if (in_prologue || !(info->flags & wanted) || info->handler == 0)
        return;
    frame->handler = table->base + info->handler;
    frame->handler_data = table->base + info->handler_data;
}

static enum x64_unwound unwind_entry(struct unwinding *u, const struct x64_function_table *table,
                                     uint64_t pc, unsigned wanted, struct x64_unwound_frame *frame)
{
    struct x64_unwind_info info;
    uint32_t reached = (uint32_t)(pc - table->base - frame->entry.begin), ignored;
    enum x64_unwound result;
    bool in_prologue;

    if (!x64_function_resolve(table, &frame->entry, &ignored) ||
        !x64_unwind_info_read(table, frame->entry.unwind, &info))
        return X64_BAD_UNWIND_INFO;
    u->base = establisher(&info, u->context, reached);
    frame->establisher = u->base;
    result = x64_unwind_epilogue(table, &frame->entry, &info, pc, u->stack, u->context, u->saved_at);
    if (result != X64_BAD_UNWIND_INFO)
        return result;
    in_prologue = !(info.flags & X64_UNWIND_CHAINED) && reached < info.prologue;
    result = undo_function(u, table, &info, reached);
    if (result == X64_UNWOUND)
        find_handler(table, &info, in_prologue, wanted, frame);
    return result;
}

enum x64_unwound x64_unwind(const struct x64_function_table *table,
                            const struct x64_function *entry, uint64_t pc, unsigned wanted,
                            const struct x64_stack *stack, CONTEXT *context,
                            struct x64_saved_at *saved_at, struct x64_unwound_frame *frame)
{
    CONTEXT changed = *context;
    struct x64_saved_at found = {.xmm = {NULL}};
    struct unwinding u = {.stack = stack, .context = &changed, .saved_at = saved_at ? &found : NULL};
    struct x64_unwound_frame result = {.establisher = context->Rsp};
    enum x64_unwound outcome;

    if (saved_at)
        found = *saved_at;
    if (entry) {
        result.entry = *entry;
        outcome = unwind_entry(&u, table, pc, wanted, &result);
    } else {
        outcome = return_to_caller(&u);
    }
    /* Each frame is above the previous one, except where the processor switched stacks and saved
     * the old one. */
    if (outcome == X64_UNWOUND && !u.machine_frame && changed.Rsp <= context->Rsp)
        outcome = X64_BAD_STACK;
    if (outcome != X64_UNWOUND)
        return outcome;
    result.machine_frame = u.machine_frame;
    *context = changed;
    if (saved_at)
        *saved_at = found;
    *frame = result;
    return X64_UNWOUND;
}
