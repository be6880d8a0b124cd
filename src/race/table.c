/* SPDX-License-Identifier: MIT */
#include "race/table.h"

#include <stdlib.h>

#define LEAST_SLOTS 256u

static uint32_t place(const struct race_table *table, uint64_t key)
{
    uint32_t i = (uint32_t)(key * 0x9E3779B97F4A7C15u >> 32) & table->mask;

    while (table->slot[i].key && table->slot[i].key != key)
        i = (i + 1) & table->mask;
    return i;
}

void *race_table_get(const struct race_table *table, uint64_t key)
{
    return table->mask ? table->slot[place(table, key)].value : NULL;
}

static int grow(struct race_table *table)
{
    uint32_t slots = table->mask ? (table->mask + 1) * 2 : LEAST_SLOTS;
    struct race_table larger = {.slot = calloc(slots, sizeof(*larger.slot)), .mask = slots - 1};

    if (!larger.slot)
        return 0;
    for (uint32_t i = 0; table->mask && i <= table->mask; i++)
        if (table->slot[i].key)
            larger.slot[place(&larger, table->slot[i].key)] = table->slot[i];
    larger.count = table->count;
    free(table->slot);
    *table = larger;
    return 1;
}

void **race_table_put(struct race_table *table, uint64_t key)
{
    struct race_slot *slot;

    if ((!table->mask || table->count >= table->mask / 2) && !grow(table))
        return NULL;
    slot = &table->slot[place(table, key)];
    if (!slot->key) {
        slot->key = key;
        table->count++;
    }
    return &slot->value;
}

void race_table_finish(struct race_table *table, void (*free_value)(void *value))
{
    for (uint32_t i = 0; table->mask && i <= table->mask; i++)
        if (table->slot[i].value)
            free_value(table->slot[i].value);
    free(table->slot);
    *table = (struct race_table){.slot = NULL};
}
