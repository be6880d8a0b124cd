/* SPDX-License-Identifier: MIT */
/* Reading unwind information: bounds, sizes of operations, entries that refer to others. */
#include "x64/unwind/unwind_info.h"

#include <string.h>

#include "sim/fault.h"

#define INDIRECT_LIMIT 32u /* longest chain of entries that refer to entries */

bool x64_image_read(const struct x64_function_table *table, uint64_t offset, void *to, size_t bytes)
{
    if (offset > table->image_bytes || bytes > table->image_bytes - offset)
        return false;
    return sim_copy_checked(to, (const void *)(table->base + (uintptr_t)offset), bytes);
}

bool x64_stack_read(const struct x64_stack *stack, uint64_t address, void *to, size_t bytes)
{
    if (address < stack->low || address > stack->high || bytes > stack->high - address)
        return false;
    return sim_copy_checked(to, (const void *)(uintptr_t)address, bytes);
}

unsigned x64_unwind_slots(const struct x64_unwind_info *info, unsigned index)
{
    static const uint8_t slots[] = {1, 2, 1, 1, 2, 3, 2, 3, 2, 3, 1};
    const struct x64_unwind_code *code = &info->codes[index];
    unsigned needed;

    if (code->operation >= sizeof(slots))
        return 0;
    needed = slots[code->operation];
    if (code->operation == X64_ALLOCATE_LARGE) {
        if (code->info > 1)
            return 0;
        needed += code->info;
    } else if (code->operation == X64_EPILOGUE && info->version >= 2) {
        needed = 1;
    }
    return needed <= info->count - index ? needed : 0;
}

static bool operations_make_sense(const struct x64_unwind_info *info)
{
    for (unsigned i = 0; i < info->count;) {
        unsigned slots = x64_unwind_slots(info, i);

        if (slots == 0)
            return false;
        i += slots;
    }
    return true;
}

static bool entry_makes_sense(const struct x64_function_table *table,
                              const struct x64_function *entry)
{
    return entry->begin < entry->end && entry->end <= table->image_bytes &&
           entry->unwind < table->image_bytes;
}

/* After the codes: a chained entry, or a handler and its data. */
static bool read_tail(const struct x64_function_table *table, uint32_t offset,
                      struct x64_unwind_info *info)
{
    uint32_t tail = offset + 4 + 2 * ((info->count + 1u) & ~1u);

    if (info->flags & X64_UNWIND_CHAINED)
        return x64_image_read(table, tail, &info->chained, sizeof(info->chained)) &&
               entry_makes_sense(table, &info->chained);
    if (info->flags & (X64_UNWIND_EXCEPTION_HANDLER | X64_UNWIND_TERMINATION_HANDLER)) {
        info->handler_data = tail + 4;
        return x64_image_read(table, tail, &info->handler, sizeof(info->handler)) &&
               info->handler != 0 && info->handler < table->image_bytes;
    }
    return true;
}

bool x64_unwind_info_read(const struct x64_function_table *table, uint32_t offset,
                          struct x64_unwind_info *info)
{
    uint8_t head[4];

    memset(info, 0, sizeof(*info));
    if (!x64_image_read(table, offset, head, sizeof(head)))
        return false;
    info->version = head[0] & 7;
    info->flags = head[0] >> 3;
    info->prologue = head[1];
    info->count = head[2];
    info->frame_register = head[3] & 15;
    info->frame_offset = (uint8_t)(head[3] & 0xF0);
    if (info->version < 1 || info->version > 2)
        return false;
    _Static_assert(sizeof(info->codes[0]) == 2, "as in the file");
    return x64_image_read(table, offset + 4, info->codes, 2u * info->count) &&
           operations_make_sense(info) && read_tail(table, offset, info);
}

bool x64_function_resolve(const struct x64_function_table *table, struct x64_function *entry,
                          uint32_t *offset)
{
    for (unsigned i = 0; entry->unwind & 1; i++) {
        uint32_t next = entry->unwind & ~1u;

        if (i == INDIRECT_LIMIT || !x64_image_read(table, next, entry, sizeof(*entry)) ||
            !entry_makes_sense(table, entry))
            return false;
        *offset = next;
    }
    return true;
}
