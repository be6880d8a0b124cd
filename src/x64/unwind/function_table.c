/* SPDX-License-Identifier: MIT */
/* The images of a machine are in a list (there are one or two); the entries of each are searched by
 * bisection. */
#include "x64/unwind/function_table.h"

#include <stddef.h>

#include "x64/unwind/unwind_state.h"

bool x64_function_table_add(struct x64_function_table *table)
{
    struct x64_unwind_state *state = x64_unwind_state_need();

    if (!state)
        return false;
    list_push_back(&state->tables, &table->link);
    return true;
}

void x64_function_table_remove(struct x64_function_table *table)
{
    list_remove(&table->link);
    x64_unwind_state_tidy();
}

const struct x64_function_table *x64_function_table_find(uintptr_t pc)
{
    const struct x64_unwind_state *state = x64_unwind_state();

    if (!state)
        return NULL;
    LIST_FOR(node, &state->tables) {
        const struct x64_function_table *table = CONTAINER(node, struct x64_function_table, link);

        if (pc - table->base < table->image_bytes)
            return table;
    }
    return NULL;
}

const struct x64_function *x64_function_find(const struct x64_function_table *table, uintptr_t pc)
{
    uint64_t offset = pc - table->base;
    /* the result is the last one that begins at or before the offset */
    uint32_t low = 0, high = table->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (table->function[middle].begin <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && offset < table->function[low - 1].end ? &table->function[low - 1] : NULL;
}
