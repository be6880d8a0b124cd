/* SPDX-License-Identifier: MIT */
#include "x64/rewrite/reached.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "race/table.h"
#include "x64/rewrite/flow.h"

#define LOAD      7u  /* bytes of an instruction that loads an address */
#define DEPTH     8u  /* of leaves that lead to others */
#define ALIGNMENT 16u /* of functions that pointers lead to */
/* Bytes that are followed in a section at most, so that a hostile one cannot take forever. */
#define EFFORT (256ull << 20)

struct walk {
    const struct x64_function_table *table;
    uint32_t begin, end;
    unsigned depth;
    uint64_t effort;          /* what is left of it */
    struct race_table leaves; /* functions that the table does not have, by offset */
    x64_reached_visit *visit;
    void *arg;
};

static void nothing_to_free(void *value)
{
    (void)value;
}

/* The end of the space behind `target` in which no function of the table is. */
static uint32_t space_end(const struct walk *w, uint32_t target)
{
    const struct x64_function_table *table = w->table;
    uint32_t low = 0, high = table->count;

    while (low < high) { /* the first function behind it */
        uint32_t middle = low + (high - low) / 2;

        if (table->function[middle].begin <= target)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && table->function[low].begin < w->end ? table->function[low].begin
                                                                     : w->end;
}

/* Whether a leaf may begin there, of which this was not asked before. */
static bool is_new(struct walk *w, uint32_t target)
{
    void **place;

    if (target < w->begin || target >= w->end || w->depth == DEPTH ||
        x64_function_find(w->table, w->table->base + target))
        return false;
    place = race_table_put(&w->leaves, target);
    if (!place || *place)
        return false;
    *place = w;
    return true;
}

static uint32_t target_of(const struct walk *w, uint32_t at, unsigned bytes)
{
    int32_t distance;

    memcpy(&distance, (const uint8_t *)w->table->base + at + bytes - sizeof(distance),
           sizeof(distance));
    return at + bytes + (uint32_t)distance;
}

static bool is_padding(uint8_t byte)
{
    return byte == 0xCC || byte == 0x90 || byte == 0;
}

/* Bytes of a return, a jump, or a breakpoint, with which a function may end; 0: it is another
 * instruction. `room`: how many there are. */
static uint32_t last_bytes(const uint8_t *code, uint32_t room)
{
    uint32_t bytes = 0;

    if (code[0] == 0xC3 || code[0] == 0xCC)
        bytes = 1;
    else if (code[0] == 0xEB || (room > 1 && code[0] == 0xF3 && code[1] == 0xC3) ||
             (room > 1 && code[0] == 0x0F && code[1] == 0x0B))
        bytes = 2;
    else if (code[0] == 0xC2)
        bytes = 3;
    else if (code[0] == 0xE9)
        bytes = 5;
    else if (room > 1 && code[0] == 0xFF && code[1] == 0x25)
        bytes = 6;
    return bytes <= room ? bytes : 0;
}

/* Whether what is reached ends as functions do. */
static bool ends(const struct walk *w, const struct x64_flow *flow)
{
    const uint8_t *code = (const uint8_t *)w->table->base;
    uint32_t at = flow->end - 1, bytes;

    while (!x64_flow_reaches(flow, at)) /* it is at its beginning */
        at--;
    bytes = last_bytes(code + at, flow->end - at);
    at += bytes;
    while (at < flow->end && at % ALIGNMENT != 0 && is_padding(code[at]))
        at++;
    return bytes > 0 && (at == flow->end || at % ALIGNMENT == 0);
}

static void follow(struct walk *w, uint32_t begin, uint32_t end, bool by_pointer);

static void follow_leaf(struct walk *w, uint32_t target, bool by_pointer)
{
    if ((by_pointer && target % ALIGNMENT != 0) || !is_new(w, target))
        return;
    w->depth++;
    follow(w, target, space_end(w, target), by_pointer);
    w->depth--;
}

/* lea of an address relative to itself */
static bool loads_address(const uint8_t *code)
{
    return (code[0] & 0xF8) == 0x48 && code[1] == 0x8D && (code[2] & 0xC7) == 0x05;
}

/* The code that is reached from `begin`. */
static void follow(struct walk *w, uint32_t begin, uint32_t end, bool by_pointer)
{
    const uint8_t *code = (const uint8_t *)w->table->base;
    struct x64_flow flow;
    bool out_of_memory;

    if (w->effort < end - begin)
        return;
    w->effort -= end - begin;
    if (!x64_flow_init(&flow, w->table, begin, end, &out_of_memory))
        return;
    if (by_pointer && !ends(w, &flow))
        end = begin;
    for (uint32_t at = begin; at < end; at++) {
        if (!x64_flow_reaches(&flow, at))
            continue;
        if ((code[at] & 0xFE) == 0xE8 && at + 5 <= w->end)
            follow_leaf(w, target_of(w, at, 5), false);
        else if (at + LOAD <= w->end && loads_address(code + at))
            follow_leaf(w, target_of(w, at, LOAD), true);
        w->visit(w->arg, at);
    }
    x64_flow_finish(&flow);
}

void x64_reached(const struct x64_function_table *table, uint32_t begin, uint32_t end,
                 const uint32_t *pointer, uint32_t pointers, x64_reached_visit *visit, void *arg)
{
    struct walk w = {
        .table = table, .begin = begin, .end = end, .effort = EFFORT, .visit = visit, .arg = arg};

    for (uint32_t i = 0; i < table->count; i++)
        if (table->function[i].begin >= begin && table->function[i].end <= end)
            follow(&w, table->function[i].begin, table->function[i].end, false);
    for (uint32_t i = 0; i < pointers; i++)
        follow_leaf(&w, pointer[i], true);
    race_table_finish(&w.leaves, nothing_to_free);
}
