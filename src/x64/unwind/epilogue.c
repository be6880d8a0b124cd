/* SPDX-License-Identifier: MIT */
/*
 * Epilogues. An epilogue has one shape only: an optional `add rsp, n` or `lea rsp, [frame register
 * + n]`, pops of integer registers, and a return or a jump to another function. Version 1 of the
 * unwind information does not list epilogues: pc is in one if the instructions from pc on have this
 * shape. Version 2 lists their places, and the instructions from pc on show what remains to be
 * done.
 */
#include <stddef.h>
#include <string.h>

#include "x64/unwind/unwind_info.h"

#define LONGEST 64u /* 7 bytes, 16 pops of 2, and a prefixed jump of 8 take less */

struct code {
    uint8_t bytes[LONGEST];
    unsigned count, at;
    CONTEXT *context;
    struct x64_saved_at *saved_at;
    const struct x64_stack *stack;
};

static uint8_t peek(const struct code *code, unsigned ahead)
{
    return code->at + ahead < code->count ? code->bytes[code->at + ahead] : 0xCC;
}

static int32_t displacement(const struct code *code, unsigned ahead, bool wide)
{
    int32_t value = 0;

    if (!wide)
        return (int8_t)peek(code, ahead);
    for (unsigned i = 0; i < 4; i++)
        value |= (int32_t)((uint32_t)peek(code, ahead + i) << (8 * i));
    return value;
}

/* `add rsp, n` or `lea rsp, [frame register + n]`, at most one. */
static void release_frame(struct code *code, const struct x64_unwind_info *info)
{
    uint8_t rex = peek(code, 0), opcode = peek(code, 1), modrm = peek(code, 2);
    unsigned base = (rex & 1u) << 3 | (modrm & 7u);

    if (rex == 0x48 && (opcode == 0x83 || opcode == 0x81) && modrm == 0xC4) {
        code->context->Rsp += (ULONG64)(LONG64)displacement(code, 3, opcode == 0x81);
        code->at += opcode == 0x81 ? 7 : 4;
    } else if ((rex & 0xFE) == 0x48 && opcode == 0x8D && info->frame_register != 0 &&
               base == info->frame_register && ((modrm & 0xF8) == 0x60 || (modrm & 0xF8) == 0xA0)) {
        bool wide = (modrm & 0xF8) == 0xA0;
        unsigned sib = base % 8 == 4 ? 1 : 0; /* with r12 as base one more byte is needed */

        code->context->Rsp = *x64_register(code->context, base) +
                             (ULONG64)(LONG64)displacement(code, 3 + sib, wide);
        code->at += (wide ? 7 : 4) + sib;
    }
}

static bool pop_registers(struct code *code)
{
    for (;;) {
        unsigned rex = (peek(code, 0) & 0xF0) == 0x40 ? 1 : 0;
        unsigned number = (rex ? (peek(code, 0) & 1u) << 3 : 0) | (peek(code, rex) & 7u);

        if ((peek(code, rex) & 0xF8) != 0x58)
            return true;
        if (!x64_stack_read(code->stack, code->context->Rsp, x64_register(code->context, number),
                            sizeof(ULONG64)))
            return false;
        if (code->saved_at)
            code->saved_at->integer[number] = (ULONG64 *)(uintptr_t)code->context->Rsp;
        code->context->Rsp += 8;
        code->at += rex + 1;
    }
}

/* The first part of a function that is split. */
static struct x64_function primary(const struct x64_function_table *table, struct x64_function entry)
{
    struct x64_unwind_info info;
    uint32_t ignored;

    for (unsigned i = 0; i < 32; i++) {
        if (!x64_function_resolve(table, &entry, &ignored) ||
            !x64_unwind_info_read(table, entry.unwind, &info) || !(info.flags & X64_UNWIND_CHAINED))
            break;
        entry = info.chained;
    }
    return entry;
}

/* A jump leaves the function if it goes to another one, or to the beginning of this one, which is a
 * recursive call. */
static bool leaves(const struct x64_function_table *table, const struct x64_function *entry,
                   const struct x64_unwind_info *info, uint64_t target)
{
    const struct x64_function *there;
    struct x64_function mine, its;

    if (target >= entry->begin && target < entry->end)
        return target == entry->begin && !(info->flags & X64_UNWIND_CHAINED);
    there = x64_function_find(table, table->base + (uintptr_t)target);
    if (target >= table->image_bytes || !there)
        return true;
    mine = primary(table, *entry);
    its = primary(table, *there);
    return its.begin != mine.begin || target == mine.begin;
}

/* The last instruction: a return, or a jump out of the function. */
static bool ends(const struct code *code, const struct x64_function_table *table,
                 const struct x64_function *entry, const struct x64_unwind_info *info, uint64_t pc)
{
    unsigned skip = peek(code, 0) == 0xF2 ? 1 : 0;
    uint8_t first = peek(code, skip), second = peek(code, skip + 1), third = peek(code, skip + 2);
    uint64_t here = pc - table->base + code->at + skip;

    if (first == 0xC3 || first == 0xC2 || (first == 0xF3 && second == 0xC3))
        return true;
    if (first == 0xEB)
        return leaves(table, entry, info, here + 2 + (uint64_t)(int64_t)(int8_t)second);
    if (first == 0xE9)
        return leaves(table, entry, info,
                      here + 5 + (uint64_t)(int64_t)displacement(code, skip + 1, true));
    if (first == 0xFF && second == 0x25)
        return true;
    /* A jump through a register or memory counts if it has the REX.W prefix, which it would not
     * need. */
    return (first & 0xF8) == 0x48 && second == 0xFF && (third & 0x38) == 0x20;
}

/* Version 2: whether the unwind codes say that `pc` is in an epilogue. */
static bool listed(const struct x64_function_table *table, const struct x64_function *entry,
                   const struct x64_unwind_info *info, uint64_t pc)
{
    uint32_t at = (uint32_t)(pc - table->base), bytes;

    if (info->count == 0 || info->codes[0].operation != X64_EPILOGUE)
        return false;
    bytes = info->codes[0].offset;
    if ((info->codes[0].info & 1) && at - (entry->end - bytes) < bytes)
        return true;
    for (unsigned i = 1; i < info->count && info->codes[i].operation == X64_EPILOGUE; i++) {
        uint32_t from_end = info->codes[i].offset | (uint32_t)info->codes[i].info << 8;

        if (from_end == 0) /* makes the number of codes even */
            break;
        if (at - (entry->end - from_end) < bytes)
            return true;
    }
    return false;
}

enum x64_unwound x64_unwind_epilogue(const struct x64_function_table *table,
                                     const struct x64_function *entry,
                                     const struct x64_unwind_info *info, uint64_t pc,
                                     const struct x64_stack *stack, CONTEXT *context,
                                     struct x64_saved_at *saved_at)
{
    CONTEXT changed = *context;
    struct x64_saved_at found = {.xmm = {NULL}};
    struct code code = {.context = &changed, .saved_at = saved_at ? &found : NULL, .stack = stack};
    uint64_t at = pc - table->base;

    if (info->version >= 2 && !listed(table, entry, info, pc))
        return X64_BAD_UNWIND_INFO;
    if (at >= table->image_bytes)
        return X64_BAD_UNWIND_INFO;
    code.count = LONGEST < table->image_bytes - at ? LONGEST : (unsigned)(table->image_bytes - at);
    while (code.count > 0 && !x64_image_read(table, at, code.bytes, code.count))
        code.count /= 2; /* the section may end soon: try fewer bytes */
    if (saved_at)
        found = *saved_at;
    release_frame(&code, info);
    /* If this is no epilogue, the pops may be followed by anything; only the last instruction
     * decides. */
    if (!pop_registers(&code) || !ends(&code, table, entry, info, pc))
        return X64_BAD_UNWIND_INFO;
    if (!x64_stack_read(stack, changed.Rsp, &changed.Rip, sizeof(changed.Rip)))
        return X64_BAD_STACK;
    changed.Rsp += 8;
    *context = changed;
    if (saved_at)
        *saved_at = found;
    return X64_UNWOUND;
}
