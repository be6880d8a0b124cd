/* SPDX-License-Identifier: MIT */
/*
 * Theory of operation
 *
 *   handle = 1 | generation (10 bits) | index (20 bits), from bit 30 down; bit 30 is always set, so
 *   a handle is never 0. Slots are an array that doubles; free slots form a FIFO threaded through
 *   the slots, so a slot is reused as late as possible. Removing a handle advances the generation
 *   of its slot: from then on the old value matches no slot, until 2^10 reuses later.
 */
#include "util/handle.h"

#include <stddef.h>

#include "util/alloc.h"

#define INDEX_BITS      20u
#define GENERATION_BITS 10u
#define INDEX_MASK      ((1u << INDEX_BITS) - 1u)
#define GENERATION_MASK ((1u << GENERATION_BITS) - 1u)
#define HANDLE_MARK     (1u << 30)
#define NO_SLOT         UINT32_MAX
#define FIRST_CAPACITY  16u

struct handle_slot {
    void *object; /* NULL: free */
    uint32_t next_free;
    uint16_t generation;
    uint8_t type;
};

static uint32_t compose(const struct handle_table *table, uint32_t index)
{
    return HANDLE_MARK | (uint32_t)table->slots[index].generation << INDEX_BITS | index;
}

static struct handle_slot *find(const struct handle_table *table, uint32_t handle)
{
    uint32_t index = handle & INDEX_MASK;

    if (index >= table->capacity || !table->slots[index].object || compose(table, index) != handle)
        return NULL;
    return &table->slots[index];
}

void handle_table_init(struct handle_table *table)
{
    *table = (struct handle_table){.free_first = NO_SLOT, .free_last = NO_SLOT};
}

void handle_table_finish(struct handle_table *table)
{
    util_free(table->slots);
    handle_table_init(table);
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
        slots[i] = (struct handle_slot){0};
        push_free(table, i);
    }
    table->capacity = capacity;
    return true;
}

uint32_t handle_create(struct handle_table *table, uint8_t type, void *object)
{
    uint32_t index;

    if (table->free_first == NO_SLOT && !grow(table))
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
    slot->generation = (slot->generation + 1u) & GENERATION_MASK;
    push_free(table, handle & INDEX_MASK);
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
