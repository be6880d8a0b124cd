/* SPDX-License-Identifier: MIT */
#include "x64/traps/locked.h"

#include "race/table.h"
#include "x64/traps/state.h"

#define BREAKPOINT 0xCCu
#define IS_THERE   0x100u /* with the byte, in the table */

void x64_locked_add(uintptr_t pc)
{
    void **place = race_table_put(&x64_state()->locked, pc);
    uint8_t *code = (uint8_t *)pc; // NOLINT: a place in an image

    if (!place || *place)
        return;
    *place = (void *)(uintptr_t)(IS_THERE | *code); // NOLINT
    *code = BREAKPOINT;
}

void x64_locked_forget(uintptr_t base, uint64_t bytes)
{
    struct race_table *locked = &x64_state()->locked;

    for (uint32_t i = 0; locked->mask && i <= locked->mask; i++)
        if (locked->slot[i].key - base < bytes)
            locked->slot[i].value = NULL;
}

bool x64_locked_at(uintptr_t pc, uint8_t *first)
{
    uintptr_t found = (uintptr_t)race_table_get(&x64_state()->locked, pc);

    if (found)
        *first = (uint8_t)found;
    return found != 0;
}

static void nothing_to_free(void *value)
{
    (void)value;
}

void x64_locked_finish(struct x64_machine *x64)
{
    race_table_finish(&x64->locked, nothing_to_free);
}
