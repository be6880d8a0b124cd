/* SPDX-License-Identifier: MIT */
#include "x64/rewrite/flow.h"

#include <string.h>

#include <Zydis/Zydis.h>

#include "util/alloc.h"

/* Larger functions are left alone. */
#define LARGEST_CODE (1u << 20)

struct flow_walk {
    struct x64_flow *flow;
    const uint8_t *code; /* of the function */
    uint32_t *open;      /* offsets in the function that are still to be followed */
    uint32_t count;
    ZydisDecoder decoder;
};

static void follow_later(struct flow_walk *walk, int64_t target)
{
    uint32_t bytes = walk->flow->end - walk->flow->begin;

    if (target >= 0 && target < bytes && !(walk->flow->reached[target / 8] >> target % 8 & 1))
        walk->open[walk->count++] = (uint32_t)target;
}

/* Does execution go on behind the instruction? Notes where else it may go. */
static bool goes_on(struct flow_walk *walk, const ZydisDecodedInstruction *i,
                    const ZydisDecodedOperand *operand, uint32_t next)
{
    bool relative = operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative;

    switch (i->meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
        follow_later(walk, (int64_t)next + operand->imm.value.s);
        return true;
    case ZYDIS_CATEGORY_UNCOND_BR:
        if (relative)
            follow_later(walk, (int64_t)next + operand->imm.value.s);
        else if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY ||
                 operand->mem.base != ZYDIS_REGISTER_RIP) /* except the call of an import */
            walk->flow->indirect = true;
        return false;
    case ZYDIS_CATEGORY_RET:
        return false;
    default:
        return i->mnemonic != ZYDIS_MNEMONIC_UD2 && i->mnemonic != ZYDIS_MNEMONIC_INT3;
    }
}

static bool follow(struct flow_walk *walk, uint32_t at)
{
    struct x64_flow *flow = walk->flow;
    uint32_t bytes = flow->end - flow->begin;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecodedInstruction i;

    while (at < bytes && !(flow->reached[at / 8] >> at % 8 & 1)) {
        if (!ZYAN_SUCCESS(
                ZydisDecoderDecodeFull(&walk->decoder, walk->code + at, bytes - at, &i, operand)))
            return false;
        flow->reached[at / 8] |= (uint8_t)(1u << at % 8);
        at += i.length;
        if (!goes_on(walk, &i, operand, at))
            break;
    }
    return true;
}

bool x64_flow_init(struct x64_flow *flow, const struct x64_function_table *table, uint32_t begin,
                   uint32_t end, bool *out_of_memory)
{
    uint32_t bytes = end - begin;
    struct flow_walk walk = {.flow = flow, .code = (const uint8_t *)table->base + begin};
    bool sound = true;

    *out_of_memory = false;
    if (bytes > LARGEST_CODE)
        return false;
    *flow = (struct x64_flow){.begin = begin, .end = end};
    flow->reached = util_zalloc(bytes / 8 + 1, 1);
    walk.open = util_alloc((bytes + 1) * sizeof(*walk.open)); /* one for each instruction */
    if (flow->reached && walk.open) {
        ZydisDecoderInit(&walk.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        walk.open[walk.count++] = 0;
        while (sound && walk.count > 0)
            sound = follow(&walk, walk.open[--walk.count]);
    } else {
        *out_of_memory = true;
        sound = false;
    }
    util_free(walk.open);
    if (!sound)
        x64_flow_finish(flow);
    return sound;
}

void x64_flow_finish(struct x64_flow *flow)
{
    util_free(flow->reached);
    flow->reached = NULL;
}

/* ---- branches by their bytes ---- */

/* The near call or jump that begins there, if any. */
static bool near_branch_at(const uint8_t *code, uint32_t at, uint32_t end, int64_t *target)
{
    uint32_t displacement = at;
    int32_t distance;

    if (code[at] == 0x0F && at + 1 < end && (code[at + 1] & 0xF0) == 0x80)
        displacement += 2;
    else if ((code[at] & 0xFE) == 0xE8) /* call, jmp */
        displacement += 1;
    else
        return false;
    if (displacement + 4 > end)
        return false;
    memcpy(&distance, code + displacement, sizeof(distance));
    *target = (int64_t)displacement + 4 + distance;
    return true;
}

static bool short_branch_at(const uint8_t *code, uint32_t at, uint32_t end, int64_t *target)
{
    if ((code[at] & 0xF0) != 0x70 && (code[at] & 0xFC) != 0xE0 && code[at] != 0xEB)
        return false;
    if (at + 2 > end)
        return false;
    *target = (int64_t)at + 2 + (int8_t)code[at + 1];
    return true;
}

bool x64_next_branch(const struct x64_function_table *table, uint32_t *at, uint32_t end,
                     uint32_t low, uint32_t high, uint32_t *target)
{
    const uint8_t *code = (const uint8_t *)table->base;
    int64_t found;

    for (; *at < end; (*at)++) {
        if (!near_branch_at(code, *at, end, &found) || found < low || found >= high)
            continue;
        *target = (uint32_t)found;
        return true;
    }
    return false;
}

bool x64_branch_leads_to(const struct x64_function_table *table, uint32_t begin, uint32_t end,
                         uint32_t low, uint32_t high)
{
    const uint8_t *code = (const uint8_t *)table->base;
    uint32_t at = begin, ignored;
    int64_t target;

    if (x64_next_branch(table, &at, end, low, high, &ignored))
        return true;
    for (at = low - begin > 256 ? low - 256 : begin; at < end && at < high + 256; at++) {
        if (short_branch_at(code, at, end, &target) && target >= low && target < high)
            return true;
    }
    return false;
}
