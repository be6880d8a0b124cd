/* SPDX-License-Identifier: MIT */
/* The tree of calling contexts: a node for each way in which a place in the driver was reached. */
#include <stdlib.h>

#include "race/record.h"

#define MAX_CALLS (1u << 18)
#define BUCKETS   (1u << 16)

static bool make_tree(struct race *race)
{
    if (race->call)
        return true;
    race->call = calloc(MAX_CALLS, sizeof(*race->call));
    race->bucket = calloc(BUCKETS, sizeof(*race->bucket));
    if (!race->call || !race->bucket) {
        race_calls_finish(race);
        return false;
    }
    race->calls = 1;
    return true;
}

void race_calls_finish(struct race *race)
{
    free(race->call);
    free(race->bucket);
    race->call = NULL;
    race->bucket = NULL;
    race->calls = 0;
}

/* The node of a call from there; 0: there is no room for it. */
static uint32_t child(struct race *race, uint32_t caller, uintptr_t from)
{
    uint64_t hash = (from ^ (uint64_t)caller << 40 ^ caller) * 0x9E3779B97F4A7C15u;
    uint32_t *first = &race->bucket[hash >> 48];

    for (uint32_t i = *first; i; i = race->call[i].next)
        if (race->call[i].from == from && race->call[i].caller == caller)
            return i;
    if (race->calls == MAX_CALLS)
        return 0;
    race->call[race->calls] = (struct race_call){.from = from, .caller = caller, .next = *first};
    *first = race->calls;
    return race->calls++;
}

void race_call(struct race *race, uintptr_t from)
{
    struct race_task *task = race->current;
    uint32_t node;

    if (!task || !make_tree(race))
        return;
    node = task->beyond ? 0 : child(race, task->place, from);
    if (node)
        task->place = node;
    else
        task->beyond++;
}

void race_return(struct race *race)
{
    struct race_task *task = race->current;

    if (!task || !race->call)
        return;
    if (task->beyond)
        task->beyond--;
    else
        task->place = race->call[task->place].caller;
}

uint32_t race_place(const struct race *race)
{
    return race->current ? race->current->place : 0;
}

void race_set_place(struct race *race, uint32_t place)
{
    if (!race->current)
        return;
    race->current->place = place;
    race->current->beyond = 0;
}

size_t race_stack(const struct race *race, uint32_t stack, uintptr_t *pc, size_t capacity)
{
    size_t count = 0;

    for (; race->call && stack && count < capacity; stack = race->call[stack].caller)
        pc[count++] = race->call[stack].from;
    return count;
}
