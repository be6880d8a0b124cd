/* SPDX-License-Identifier: MIT */
#include "x64/rewrite/locked.h"

#include <stdlib.h>

#include "x64/rewrite/reached.h"
#include "x64/traps/locked.h"
#include "x64/traps/plan.h"

#define LOCK    0xF0u
#define LONGEST 5u /* prefixes and an opcode that are looked at */

struct search {
    struct x64_locked *found;
    const struct x64_function_table *table;
    uint32_t end;
};

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

static void look(void *arg, uint32_t at)
{
    const struct search *s = arg;

    if (at + LONGEST <= s->end && may_be((const uint8_t *)s->table->base + at) &&
        is_locked(s->table, at))
        add(s->found, at);
}

void x64_locked_find(struct x64_locked *found, const struct x64_function_table *table,
                     uint32_t begin, uint32_t end, const uint32_t *pointer, uint32_t pointers)
{
    struct search search = {.found = found, .table = table, .end = end};

    x64_reached(table, begin, end, pointer, pointers, look, &search);
}

void x64_locked_replace(struct x64_locked *found, const struct x64_function_table *table)
{
    for (uint32_t i = 0; i < found->count; i++)
        if (is_locked(table, found->at[i]))
            x64_locked_add(table->base + found->at[i]);
    free(found->at);
}
