/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   A handle is composed of the fixed bits of the table's layout, the index of a slot and the
 *   generation of that slot, which is never 0, so that a handle is never 0. Slots are an array that
 *   doubles; free slots form a FIFO threaded through the slots. Removing a handle advances the
 *   generation of its slot: from then on the old value matches no slot, until the generation has
 *   come round. Where it has few bits, the layout asks for a longer FIFO instead: a slot then comes
 *   round only after that many others, and handles of a young table only ascend.
 */
#include "util/handle.h"

#include <stddef.h>

#include "util/alloc.h"

#define INDEX_BITS     20u
#define INDEX_MASK     ((1u << INDEX_BITS) - 1u)
#define NO_SLOT        UINT32_MAX
#define FIRST_CAPACITY 16u

const struct handle_layout handle_layout_plain = {
    .generation_shift = 20, .generation_bits = 10, .spare = 1};
const struct handle_layout handle_layout_short = {
    .generation_shift = 20, .generation_bits = 8, .spare = 1};
const struct handle_layout handle_layout_local = {
    .index_shift = 6, .generation_shift = 30, .generation_bits = 2, .spare = 256};
const struct handle_layout handle_layout_global = {
    .index_shift = 6, .generation_shift = 30, .generation_bits = 2, .fixed = 2, .spare = 256};

struct handle_slot {
    void *object; /* NULL: free */
    uint32_t next_free;
    uint16_t generation;
    uint8_t type;
};

static uint32_t compose(const struct handle_table *table, uint32_t index)
{
    return table->layout->fixed |
           (uint32_t)table->slots[index].generation << table->layout->generation_shift |
           index << table->layout->index_shift;
}

static uint32_t index_of(const struct handle_table *table, uint32_t handle)
{
    return handle >> table->layout->index_shift & INDEX_MASK;
}

static struct handle_slot *find(const struct handle_table *table, uint32_t handle)
{
    uint32_t index = index_of(table, handle);

    if (index >= table->capacity || !table->slots[index].object || compose(table, index) != handle)
        return NULL;
    return &table->slots[index];
}

void handle_table_init(struct handle_table *table, const struct handle_layout *layout)
{
    *table = (struct handle_table){.layout = layout, .free_first = NO_SLOT, .free_last = NO_SLOT};
}

void handle_table_finish(struct handle_table *table)
{
    util_free(table->slots);
    handle_table_init(table, table->layout);
}

static void push_free(struct handle_table *table, uint32_t index)
{
    table->slots[index].next_free = NO_SLOT;
    if (table->free_last == NO_SLOT)
        table->free_first = index;
    else
        table->slots[table->free_last].next_free = index;
    table->free_last = index;
}

static bool grow(struct handle_table *table)
{
    uint32_t capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY;
    struct handle_slot *slots;

    if (capacity > INDEX_MASK + 1u)
        return false;
    slots = util_realloc(table->slots, capacity * sizeof(*slots));
    if (!slots)
        return false;
    table->slots = slots;
    for (uint32_t i = table->capacity; i < capacity; i++) {
        slots[i] = (struct handle_slot){.generation = 1};
        push_free(table, i);
    }
    table->capacity = capacity;
    return true;
}

uint32_t handle_create(struct handle_table *table, uint8_t type, void *object)
{
    uint32_t index;

    while (table->capacity - table->live < table->layout->spare)
        if (!grow(table))
            break;
    if (table->free_first == NO_SLOT)
        return 0;
    index = table->free_first;
    table->free_first = table->slots[index].next_free;
    if (table->free_first == NO_SLOT)
        table->free_last = NO_SLOT;
    table->slots[index].object = object;
    table->slots[index].type = type;
    table->live++;
    return compose(table, index);
}

void *handle_lookup(const struct handle_table *table, uint32_t handle, uint8_t type)
{
    const struct handle_slot *slot = find(table, handle);

    return slot && (type == 0 || slot->type == type) ? slot->object : NULL;
}

uint8_t handle_type(const struct handle_table *table, uint32_t handle)
{
    const struct handle_slot *slot = find(table, handle);

    return slot ? slot->type : 0;
}

void *handle_remove(struct handle_table *table, uint32_t handle, uint8_t type)
{
    struct handle_slot *slot = find(table, handle);
    void *object;

    if (!slot || (type != 0 && slot->type != type))
        return NULL;
    object = slot->object;
    slot->object = NULL;
    slot->type = 0;
    slot->generation = slot->generation + 1u < 1u << table->layout->generation_bits
                           ? (uint16_t)(slot->generation + 1u)
                           : 1;
    push_free(table, index_of(table, handle));
    table->live--;
    return object;
}

void *handle_next(const struct handle_table *table, uint32_t *cursor, uint32_t *handle,
                  uint8_t *type)
{
    for (uint32_t i = *cursor; i < table->capacity; i++) {
        if (!table->slots[i].object)
            continue;
        *cursor = i + 1;
        if (handle)
            *handle = compose(table, i);
        if (type)
            *type = table->slots[i].type;
        return table->slots[i].object;
    }
    *cursor = table->capacity;
    return NULL;
}

bool handle_table_validate(const struct handle_table *table)
{
    uint32_t live = 0, spare = 0, last = NO_SLOT;

    for (uint32_t i = 0; i < table->capacity; i++) {
        live += table->slots[i].object != NULL;
        if ((table->slots[i].object == NULL) != (table->slots[i].type == 0))
            return false;
    }
    for (uint32_t i = table->free_first; i != NO_SLOT; i = table->slots[i].next_free) {
        if (i >= table->capacity || table->slots[i].object || spare++ > table->capacity)
            return false;
        last = i;
    }
    return live == table->live && live + spare == table->capacity && last == table->free_last;
}
