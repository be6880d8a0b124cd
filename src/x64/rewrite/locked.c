/* SPDX-License-Identifier: MIT */
#include "x64/rewrite/locked.h"

#include <stdlib.h>
#include <string.h>

#include "x64/rewrite/flow.h"
#include "x64/traps/locked.h"
#include "x64/traps/plan.h"

#define LOCK    0xF0u
#define LONGEST 5u /* prefixes and an opcode that are looked at */
#define DEPTH   8u /* of leaves that jump to others */
/* Bytes that are followed in a section at most, so that a hostile one cannot take forever. */
#define EFFORT (256ull << 20)

struct section {
    const struct x64_function_table *table;
    uint32_t begin, end;
    unsigned depth;
    uint64_t effort; /* what is left of it */
};

static void nothing_to_free(void *value)
{
    (void)value;
}

static void add(struct x64_locked *found, uint32_t at)
{
    uint32_t room = found->room ? found->room * 2 : 64;
    uint32_t *larger;

    if (found->count == found->room) {
        larger = realloc(found->at, room * sizeof(*larger));
        if (!larger)
            return;
        found->at = larger;
        found->room = room;
    }
    found->at[found->count++] = at;
}

/* Whether these bytes may begin one: with its prefix, or an exchange, which needs none. */
static bool may_be(const uint8_t *code)
{
    for (unsigned i = 0; i < LONGEST; i++) {
        if (code[i] == LOCK || (code[i] & 0xFE) == 0x86)
            return true;
        if (code[i] != 0x66 && (code[i] & 0xFE) != 0xF2 && (code[i] & 0xF0) != 0x40)
            return false;
    }
    return false;
}

static bool is_locked(const struct x64_function_table *table, uint32_t at)
{
    const struct x64_plan *plan = x64_plan_at(table->base + at);

    return plan && plan->kind == X64_MEMORY && plan->locked && plan->length > 1;
}

static void look(struct x64_locked *found, struct section *s, uint32_t begin, uint32_t end);

/* The target of a call or jump, if no function of the table has it. */
static void look_at_leaf(struct x64_locked *found, struct section *s, uint32_t at)
{
    const struct x64_function_table *table = s->table;
    uint32_t low = 0, high = table->count;
    int32_t distance;
    uint32_t target;
    void **place;

    memcpy(&distance, (const uint8_t *)table->base + at + 1, sizeof(distance));
    target = at + 5 + (uint32_t)distance;
    if (target < s->begin || target >= s->end || s->depth == DEPTH ||
        x64_function_find(table, table->base + target))
        return;
    place = race_table_put(&found->leaves, target);
    if (!place || *place)
        return;
    *place = found;
    while (low < high) { /* the first function behind it */
        uint32_t middle = low + (high - low) / 2;

        if (table->function[middle].begin <= target)
            low = middle + 1;
        else
            high = middle;
    }
    s->depth++;
    look(found, s, target,
         low < table->count && table->function[low].begin < s->end ? table->function[low].begin
                                                                   : s->end);
    s->depth--;
}

/* The code that is reached from `begin`. */
static void look(struct x64_locked *found, struct section *s, uint32_t begin, uint32_t end)
{
    const uint8_t *code = (const uint8_t *)s->table->base;
    struct x64_flow flow;
    bool out_of_memory;

    if (s->effort < end - begin)
        return;
    s->effort -= end - begin;
    if (!x64_flow_init(&flow, s->table, begin, end, &out_of_memory))
        return;
    for (uint32_t at = begin; at < end && at + LONGEST <= s->end; at++) {
        if (!x64_flow_reaches(&flow, at))
            continue;
        if ((code[at] & 0xFE) == 0xE8)
            look_at_leaf(found, s, at);
        else if (may_be(code + at) && is_locked(s->table, at))
            add(found, at);
    }
    x64_flow_finish(&flow);
}

void x64_locked_find(struct x64_locked *found, const struct x64_function_table *table,
                     uint32_t begin, uint32_t end)
{
    struct section s = {.table = table, .begin = begin, .end = end, .effort = EFFORT};

    for (uint32_t i = 0; i < table->count; i++)
        if (table->function[i].begin >= begin && table->function[i].end <= end)
            look(found, &s, table->function[i].begin, table->function[i].end);
}

void x64_locked_replace(struct x64_locked *found, const struct x64_function_table *table)
{
    for (uint32_t i = 0; i < found->count; i++)
        if (is_locked(table, found->at[i]))
            x64_locked_add(table->base + found->at[i]);
    free(found->at);
    race_table_finish(&found->leaves, nothing_to_free);
}
