/* SPDX-License-Identifier: MIT */
/* Breakpoints at basic blocks. See breakpoints.h. */
#include "loader/breakpoints.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <Zydis/Zydis.h>

#include "loader/coverage.h"
#include "loader/image.h"
#include "loader/pe.h"
#include "sim/fault.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/map.h"
#include "x64/rewrite/flow.h"
#include "x64/unwind/function_table.h"

#define INT3 0xCCu

/* ---- hits ---- */

static int by_address(const void *left, const void *right)
{
    const struct coverage_breakpoint *a = left, *b = right;

    return a->address < b->address ? -1 : a->address > b->address;
}

/* In a signal handler. False: the breakpoint is not one of these. */
static bool on_breakpoint(uintptr_t address)
{
    struct coverage *coverage = loader_coverage();
    const struct coverage_breakpoint key = {.address = address};
    struct coverage_breakpoint *hit = coverage && coverage->breakpoints
                                          ? bsearch(&key, coverage->breakpoint,
                                                    coverage->breakpoints, sizeof(key), by_address)
                                          : NULL;

    if (!hit)
        return false;
    *(volatile uint8_t *)address = hit->byte; // NOLINT: an address of code
    hit->hit = true;
    coverage_hit_at(coverage, hit->offset);
    return true;
}

void breakpoints_renew(struct coverage *coverage)
{
    for (uint32_t i = 0; i < coverage->breakpoints; i++) {
        struct coverage_breakpoint *b = &coverage->breakpoint[i];

        if (b->hit)
            *(volatile uint8_t *)b->address = INT3; // NOLINT
        b->hit = false;
    }
}

/* ---- blocks ---- */

struct search {
    struct coverage_breakpoint *found;
    uint32_t count, room;
    const struct loader_image *image;
    struct coverage *coverage;
    ZydisDecoder decoder;
    bool failed;
    bool hooked; /* comparisons are told to functions that get the constants in registers */
};

static void add(struct search *search, uint64_t offset)
{
    struct coverage_breakpoint *list;

    if (search->failed || search->count == COVERAGE_PLACES)
        return;
    if (search->count == search->room) {
        list = util_realloc(search->found, (search->room * 2 + 64) * sizeof(*list));
        if (!list) {
            search->failed = true;
            return;
        }
        search->found = list;
        search->room = search->room * 2 + 64;
    }
    search->found[search->count++] = (struct coverage_breakpoint){
        .address = search->image->base + offset, .offset = offset};
}

static bool is_reached(const struct x64_flow *flow, int64_t offset)
{
    uint32_t at = (uint32_t)(offset - flow->begin);

    return offset >= flow->begin && offset < flow->end && flow->reached[at / 8] >> at % 8 & 1;
}

static int64_t target_of(const ZydisDecodedOperand *operand, int64_t next)
{
    return operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand->imm.is_relative
               ? next + operand->imm.value.s
               : -1;
}

/* A value that something is compared with. */
static void add_constant(struct coverage *coverage, uint64_t value, uint8_t bytes)
{
    for (uint32_t i = 0; i < coverage->constants; i++)
        if (coverage->constant[i].a == value && coverage->constant[i].bytes == bytes)
            return;
    if (coverage->constants < COVERAGE_CONSTANTS)
        coverage->constant[coverage->constants++] = (struct coverage_compare){.a = value,
                                                                              .bytes = bytes};
}

/* Where a branch at `at` leads to, and what comes behind a conditional one; constants of
 * comparisons. */
static void look_at(struct search *search, const struct x64_flow *flow, uint32_t at)
{
    const uint8_t *code = (const uint8_t *)search->image->base + at; // NOLINT: mapped code
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecodedInstruction i;
    int64_t next, target;

    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&search->decoder, code, flow->end - at, &i, operand)))
        return;
    if (i.mnemonic == ZYDIS_MNEMONIC_CMP && operand[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        add_constant(search->coverage, operand[1].imm.value.u, (uint8_t)(operand[0].size / 8));
    if (search->hooked && i.mnemonic == ZYDIS_MNEMONIC_MOV && operand[0].size >= 32 &&
        operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        operand[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand[1].imm.value.u > UINT8_MAX)
        add_constant(search->coverage, (uint32_t)operand[1].imm.value.u, sizeof(uint32_t));
    if (i.meta.category != ZYDIS_CATEGORY_COND_BR && i.meta.category != ZYDIS_CATEGORY_UNCOND_BR)
        return;
    next = (int64_t)at + i.length;
    target = target_of(operand, next);
    if (is_reached(flow, target))
        add(search, (uint64_t)target);
    if (i.meta.category == ZYDIS_CATEGORY_COND_BR && is_reached(flow, next))
        add(search, (uint64_t)next);
}

static void add_function(struct search *search, uint64_t begin, uint64_t end)
{
    const struct x64_function_table table = {.base = search->image->base};
    struct x64_flow flow;
    bool out_of_memory = false;

    if (begin >= end || end > UINT32_MAX || begin < search->image->low || end > search->image->high)
        return;
    add(search, begin);
    if (!x64_flow_init(&flow, &table, (uint32_t)begin, (uint32_t)end, &out_of_memory))
        return; /* its blocks are not known */
    for (uint32_t at = flow.begin; at < flow.end; at++)
        if (is_reached(&flow, at))
            look_at(search, &flow, at);
    x64_flow_finish(&flow);
}

static void find_blocks(struct search *search)
{
    const struct loader_image *image = search->image;

    if (image->pe) {
        for (uint32_t i = 0; i < image->pe->table.count; i++)
            add_function(search, image->pe->table.function[i].begin,
                         image->pe->table.function[i].end);
        if (!search->hooked)
            return;
    }
    for (uint32_t i = 0; i < image->symbols.count; i++)
        add_function(search, image->symbols.symbol[i].value,
                     image->symbols.symbol[i].value + image->symbols.symbol[i].size);
}

/* In order, each once. */
static void sort(struct search *search)
{
    uint32_t left = 0;

    qsort(search->found, search->count, sizeof(*search->found), by_address);
    for (uint32_t i = 0; i < search->count; i++)
        if (left == 0 || search->found[left - 1].address != search->found[i].address)
            search->found[left++] = search->found[i];
    search->count = left;
}

/* ---- placing ---- */

static bool make_writable(uintptr_t low, uintptr_t high)
{
    low = align_down(low, PAGE_BYTES);
    high = align_up(high, PAGE_BYTES);
    return util_protect((void *)low, high - low, PROT_READ | PROT_WRITE | PROT_EXEC) == 0; // NOLINT
}

static bool place(struct coverage *coverage, const struct loader_image *image)
{
    struct search search = {.image = image, .coverage = coverage};
    struct coverage_breakpoint *list = NULL;

    ZydisDecoderInit(&search.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    find_blocks(&search);
    if (search.count) {
        sort(&search);
        list = util_realloc(coverage->breakpoint,
                            (coverage->breakpoints + search.count) * sizeof(*coverage->breakpoint));
    }
    if (search.failed || !list ||
        !make_writable(search.found[0].address, search.found[search.count - 1].address + 1)) {
        if (list)
            coverage->breakpoint = list;
        util_free(search.found);
        return search.count == 0 && !search.failed;
    }
    for (uint32_t i = 0; i < search.count; i++) {
        uint8_t *code = (uint8_t *)search.found[i].address; // NOLINT

        search.found[i].byte = *code;
        *code = INT3;
    }
    memcpy(list + coverage->breakpoints, search.found, search.count * sizeof(*list));
    coverage->breakpoint = list;
    coverage->breakpoints += search.count;
    qsort(list, coverage->breakpoints, sizeof(*list), by_address);
    coverage->by_address = true;
    sim_on_breakpoint(on_breakpoint);
    util_free(search.found);
    return true;
}

bool breakpoints_find_constants(void)
{
    struct loader *loader = loader_current();
    struct coverage *coverage = loader ? loader->coverage : NULL;
    bool found = coverage != NULL;

    if (!coverage || coverage->breakpoints) /* then they were found with the blocks */
        return found;
    LIST_FOR(node, &loader->images) {
        struct search search = {.image = CONTAINER(node, struct loader_image, link),
                                .coverage = coverage,
                                .hooked = true};

        ZydisDecoderInit(&search.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
        find_blocks(&search);
        found = found && !search.failed;
        util_free(search.found);
    }
    return found;
}

bool breakpoints_place(void)
{
    struct loader *loader = loader_current();
    struct coverage *coverage = loader ? loader->coverage : NULL;

    if (!coverage)
        return false;
    if (coverage->places || coverage->by_address)
        return true;
    LIST_FOR(node, &loader->images)
        if (!place(coverage, CONTAINER(node, struct loader_image, link)))
            return false;
    return true;
}
