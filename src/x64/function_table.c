/* SPDX-License-Identifier: MIT */
/* Images of the machine in a list (there are one or two), entries of each by binary search. */
#include "x64/function_table.h"

#include <stddef.h>

#include "sim/slot.h"
#include "util/alloc.h"
#include "x64/x64_private.h"

static struct sim_slot tables_slot;
SIM_SLOT_CLAIM(tables_slot)

struct x64 *x64_of_machine(void)
{
    struct x64 *x64 = sim_slot_get(&tables_slot);

    if (x64)
        return x64;
    x64 = util_zalloc(1, sizeof(*x64));
    if (!x64)
        return NULL;
    list_init(&x64->tables);
    sim_slot_set(&tables_slot, x64);
    return x64;
}

bool x64_function_table_add(struct x64_function_table *table)
{
    struct x64 *x64 = x64_of_machine();

    if (!x64)
        return false;
    list_push_back(&x64->tables, &table->link);
    return true;
}

void x64_tidy(void)
{
    struct x64 *x64 = sim_slot_get(&tables_slot);

    if (!x64 || !list_empty(&x64->tables) || x64->on_unwind)
        return;
    util_free(x64);
    sim_slot_set(&tables_slot, NULL);
}

void x64_function_table_remove(struct x64_function_table *table)
{
    list_remove(&table->link);
    x64_tidy();
}

const struct x64_function_table *x64_function_table_find(uintptr_t pc)
{
    const struct x64 *x64 = sim_slot_get(&tables_slot);

    if (!x64)
        return NULL;
    LIST_FOR(node, &x64->tables) {
        const struct x64_function_table *table = CONTAINER(node, struct x64_function_table, link);

        if (pc - table->base < table->image_bytes)
            return table;
    }
    return NULL;
}

const struct x64_function *x64_function_find(const struct x64_function_table *table, uintptr_t pc)
{
    uint64_t offset = pc - table->base;
    uint32_t low = 0,
             high = table->count; /* the answer is the last one that begins at or before the offset */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (table->function[middle].begin <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && offset < table->function[low - 1].end ? &table->function[low - 1] : NULL;
}
