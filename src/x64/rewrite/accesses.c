/* SPDX-License-Identifier: MIT */
#include "x64/rewrite/accesses.h"

#include <stdbool.h>
#include <stdlib.h>

#include <Zydis/Zydis.h>

#include "sim/machine.h"
#include "util/rng.h"
#include "x64/rewrite/reached.h"
#include "x64/traps/plan.h"
#include "x64/traps/preempt.h"

#define WIDEST 8u /* bytes */

struct search {
    struct x64_accesses *found;
    const struct x64_function_table *table;
};

static void add(struct x64_accesses *found, uint32_t at)
{
    uint32_t room = found->room ? found->room * 2 : 256;
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

/* Has an operand that it does not access. */
static bool is_idle(const struct x64_plan *plan)
{
    switch (plan->mnemonic) {
    case ZYDIS_MNEMONIC_NOP:
    case ZYDIS_MNEMONIC_PREFETCH:
    case ZYDIS_MNEMONIC_PREFETCHNTA:
    case ZYDIS_MNEMONIC_PREFETCHT0:
    case ZYDIS_MNEMONIC_PREFETCHT1:
    case ZYDIS_MNEMONIC_PREFETCHT2:
    case ZYDIS_MNEMONIC_PREFETCHW:
    case ZYDIS_MNEMONIC_PREFETCHWT1:
        return true;
    default:
        return false;
    }
}

/* Interlocked ones are breakpoints already in a machine that detects races. */
static bool is_access(const struct x64_function_table *table, uint32_t at)
{
    struct x64_plan plan;

    return x64_plan_look(&plan, table->base + at) && plan.kind == X64_MEMORY && !plan.gs &&
           !plan.vector && plan.base != X64_RSP && plan.operand_bytes <= WIDEST &&
           (plan.reads || plan.writes) && !is_idle(&plan) && !(plan.locked && sim_current->races);
}

static bool is_chosen(const struct x64_accesses *found, uint32_t at)
{
    struct rng rng = {.state = found->choice ^ at};

    return rng_below(&rng, found->one_of) == 0;
}

static void look(void *arg, uint32_t at)
{
    const struct search *s = arg;

    if (is_chosen(s->found, at) && is_access(s->table, at))
        add(s->found, at);
}

void x64_accesses_find(struct x64_accesses *found, const struct x64_function_table *table,
                       uint32_t begin, uint32_t end, const uint32_t *pointer, uint32_t pointers)
{
    struct search search = {.found = found, .table = table};

    x64_reached(table, begin, end, pointer, pointers, look, &search);
}

static int by_offset(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

void x64_accesses_place(struct x64_accesses *found, const struct x64_function_table *table)
{
    uint32_t left = 0;

    if (found->count)
        qsort(found->at, found->count, sizeof(*found->at), by_offset);
    for (uint32_t i = 0; i < found->count; i++)
        if ((left == 0 || found->at[left - 1] != found->at[i]) && is_access(table, found->at[i]))
            found->at[left++] = found->at[i];
    x64_preempt_add(table, found->at, left);
    free(found->at);
}
