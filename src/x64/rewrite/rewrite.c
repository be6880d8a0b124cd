/* SPDX-License-Identifier: MIT */
#include "x64/rewrite/rewrite.h"

#include <string.h>
#include <sys/mman.h>

#include <Zydis/Zydis.h>

#include "util/address.h"
#include "util/alloc.h"
#include "util/map.h"
#include "x64/rewrite/flow.h"
#include "x64/traps/block.h"
#include "x64/traps/interrupted.h"
#include "x64/traps/memory.h"
#include "x64/traps/plan.h"
#include "x64/traps/privileged.h"
#include "x64/unwind/unwind_info.h"

#define READ_BYTES 4u         /* of mov reg, cr8 */
#define JUMP_BYTES 5u         /* of jmp with a 32-bit displacement */
#define LAND_BYTES 6u         /* padding that an island needs: one byte is left as padding */
#define CODE_BYTES 48u        /* after the image, for each site */
#define PADDING    0xCCu      /* int3: never executed */
#define REACH      (1u << 30) /* in larger images a jump cannot reach everything */
/* The effort allowed for a section, so that a hostile one cannot take forever: reading a byte costs
 * one, following a byte of code costs FOLLOWED. */
#define EFFORT   (512ull << 20)
#define FOLLOWED 32u
#define CALLERS  16u /* how many callers of a leaf function are tried */
#define FAR      4u  /* how many functions on each side are searched for padding */

enum what { READ_LEVEL, READ_STAMP, READ_STAMP_AND_PROCESSOR };

/* An instruction to change. */
struct site {
    const struct x64_function_table *table;
    uint32_t begin, end; /* of the section */
    uint32_t at;
    uint8_t what;  /* enum what */
    uint8_t bytes; /* length of the instruction */
    /* NULL: a leaf function, which has no entry in the table */
    const struct x64_function *function;
    uint32_t index;        /* of the first function entry that begins after `at` */
    uint32_t low, high;    /* the function's code; for a leaf, all between two entries */
    uint64_t *effort;      /* remaining effort for the section */
    bool proven, indirect; /* it is an instruction; its function has indirect jumps */
    uint8_t reg;
    uint8_t moved[X64_LONGEST]; /* the next instruction, if that must move */
    uint8_t moved_bytes;
};

static uint8_t *bytes_at(const struct x64_function_table *table, uint32_t offset)
{
    return (uint8_t *)table->base + offset;
}

/* False: the effort is used up. */
static bool spend(const struct site *site, uint64_t effort)
{
    if (*site->effort < effort)
        return false;
    *site->effort -= effort;
    return true;
}

/* What the bytes could be; false: nothing to change. `code` has READ_BYTES bytes. */
static bool looks_like(const uint8_t *code, struct site *site)
{
    if (code[0] == 0x0F && code[1] == 0x31) {
        site->what = READ_STAMP;
        site->bytes = 2;
        return true;
    }
    if (code[0] == 0x0F && code[1] == 0x01 && code[2] == 0xF9) {
        site->what = READ_STAMP_AND_PROCESSOR;
        site->bytes = 3;
        return true;
    }
    if ((code[0] & 0xFE) != 0x44 || code[1] != 0x0F || code[2] != 0x20 || (code[3] & 0xF8) != 0xC0)
        return false;
    site->what = READ_LEVEL;
    site->bytes = READ_BYTES;
    site->reg = (uint8_t)((code[0] & 1) << 3 | (code[3] & 7));
    return site->reg != X64_RSP;
}

/* ---- the code behind the image ---- */

static uint8_t *put_bytes(uint8_t *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

static uint8_t *put_jump(uint8_t *to, const uint8_t *target)
{
    int32_t distance = (int32_t)(target - (to + JUMP_BYTES));

    *to++ = 0xE9;
    return put_bytes(to, &distance, sizeof(distance));
}

/* mov reg, gs:[X64_BLOCK_LEVEL]; movzx reg, byte [reg]; the moved instruction; jmp back. No flag
 * changes. */
static void write_reader(uint8_t *to, const struct site *site)
{
    uint8_t low = site->reg & 7, high = site->reg >> 3;
    const uint8_t load[] = {0x65, (uint8_t)(0x48 | high << 2), 0x8B, (uint8_t)(low << 3 | 4), 0x25};
    const int32_t where = X64_BLOCK_LEVEL;
    const uint8_t *back = bytes_at(site->table, site->at + READ_BYTES + site->moved_bytes);

    to = put_bytes(to, load, sizeof(load));
    to = put_bytes(to, &where, sizeof(where));
    *to++ = (uint8_t)(0x40 | high << 2 | high);
    *to++ = 0x0F;
    *to++ = 0xB6;
    *to++ = (uint8_t)((low == 5 ? 0x40 : 0) | low << 3 | low); /* rbp and r13 need a displacement */
    if (low == 4)
        *to++ = 0x24;
    if (low == 5)
        *to++ = 0;
    to = put_bytes(to, site->moved, site->moved_bytes);
    put_jump(to, back);
}

/* ---- by an island ---- */

/* The end of the padding before `before`, if there is enough of it, else 0. */
static uint32_t padding_before(const struct site *site, uint32_t low, uint32_t before)
{
    const uint8_t *code = bytes_at(site->table, 0);
    uint32_t at = before;

    while (at > low && code[at - 1] == PADDING)
        at--;
    return before - at >= LAND_BYTES ? before : 0;
}

static bool in_reach(const struct site *site, uint32_t island)
{
    int64_t distance = (int64_t)island - (site->at + 2);

    return distance >= INT8_MIN && distance <= INT8_MAX;
}

/* A place with five bytes of padding between functions; 0: none nearby. */
static uint32_t find_island(const struct site *site)
{
    const struct x64_function_table *table = site->table;
    uint32_t first = site->index > FAR ? site->index - FAR : 0;

    for (uint32_t i = first; i < table->count && i <= site->index + FAR; i++) {
        uint32_t low = i > 0 ? table->function[i - 1].end : site->begin;
        uint32_t before = table->function[i].begin, end;

        if (low < site->begin)
            low = site->begin;
        if (before > site->end || low >= before)
            continue;
        end = padding_before(site, low, before);
        if (end && in_reach(site, end - JUMP_BYTES))
            return end - JUMP_BYTES;
    }
    return 0;
}

static void use_island(const struct site *site, uint32_t island, uint8_t *reader)
{
    uint8_t *code = bytes_at(site->table, site->at);

    put_jump(bytes_at(site->table, island), reader);
    code[0] = 0xEB;
    code[1] = (uint8_t)(island - (site->at + 2));
    code[2] = code[3] = 0xCC;
}

/* ---- by displacement ---- */

/* Whether the instruction may be moved. It must not fault, depend on its own address, or branch. */
static bool may_move(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *operand)
{
    switch (i->meta.category) {
    case ZYDIS_CATEGORY_BINARY:
    case ZYDIS_CATEGORY_LOGICAL:
    case ZYDIS_CATEGORY_DATAXFER:
    case ZYDIS_CATEGORY_SHIFT:
    case ZYDIS_CATEGORY_CMOV:
    case ZYDIS_CATEGORY_SETCC:
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_MISC: /* lea */
        break;
    default:
        return false;
    }
    if (i->mnemonic == ZYDIS_MNEMONIC_DIV || i->mnemonic == ZYDIS_MNEMONIC_IDIV ||
        i->mnemonic == ZYDIS_MNEMONIC_CPUID || i->mnemonic == ZYDIS_MNEMONIC_UD2)
        return false;
    for (unsigned n = 0; n < i->operand_count; n++) {
        const ZydisDecodedOperand *o = &operand[n];

        if (o->type == ZYDIS_OPERAND_TYPE_MEMORY &&
            (o->mem.base == ZYDIS_REGISTER_RIP || o->mem.segment == ZYDIS_REGISTER_GS ||
             o->mem.segment == ZYDIS_REGISTER_FS))
            return false;
        /* the function's own frame is always accessible; other memory may fault */
        if (o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type != ZYDIS_MEMOP_TYPE_AGEN &&
            (o->mem.base != ZYDIS_REGISTER_RSP || o->mem.index != ZYDIS_REGISTER_NONE))
            return false;
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            (o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
            (ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value) ==
                 ZYDIS_REGISTER_RSP ||
             ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_CONTROL ||
             ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_SEGMENT))
            return false;
        if (o->type == ZYDIS_OPERAND_TYPE_REGISTER &&
            ZydisRegisterGetClass(o->reg.value) == ZYDIS_REGCLASS_CONTROL)
            return false;
    }
    return true;
}

static bool take_next(struct site *site)
{
    uint32_t next = site->at + READ_BYTES;
    ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecodedInstruction i;
    ZydisDecoder decoder;

    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (next >= site->high ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes_at(site->table, next),
                                             site->high - next, &i, operand)) ||
        !may_move(&i, operand))
        return false;
    site->moved_bytes = i.length;
    memcpy(site->moved, bytes_at(site->table, next), i.length);
    return true;
}

/* Whether control could enter the function other than at its beginning or by direct branches:
 * because it handles exceptions, or is one of several parts. */
static bool has_side_doors(const struct site *site)
{
    const struct x64_function_table *table = site->table;
    struct x64_unwind_info info;

    for (uint32_t i = 0; i < table->count; i++) {
        const struct x64_function *f = &table->function[i];
        uint8_t first = 0;

        if (f == site->function) {
            if (f->unwind & 1 || !x64_unwind_info_read(table, f->unwind, &info) || info.flags != 0)
                return true;
            continue;
        }
        if (f->unwind & 1)
            return true; /* too rare to examine */
        if (!x64_image_read(table, f->unwind, &first, 1))
            return true;
        if (first >> 3 & X64_UNWIND_CHAINED &&
            (!x64_unwind_info_read(table, f->unwind, &info) ||
             (site->function && info.chained.begin == site->function->begin)))
            return true;
    }
    return false;
}

static bool can_displace(struct site *site)
{
    uint32_t low = site->at + 1;

    return !site->indirect && take_next(site) &&
           spend(site, (uint64_t)site->end - site->begin + site->table->count) &&
           !x64_branch_leads_to(site->table, site->begin, site->end, low,
                                site->at + READ_BYTES + site->moved_bytes) &&
           !has_side_doors(site);
}

static void displace(const struct site *site, uint8_t *reader)
{
    uint8_t *code = put_jump(bytes_at(site->table, site->at), reader);

    memset(code, 0xCC, READ_BYTES + site->moved_bytes - JUMP_BYTES);
}

/* Writable room for one more reader; NULL: there is none. */
static uint8_t *next_reader(const struct x64_function_table *table,
                            const struct x64_rewriting *counts)
{
    uint32_t end = counts->spare_used + CODE_BYTES;

    if (end > table->spare_bytes ||
        util_protect((void *)table->spare, align_up(end, X64_PAGE), PROT_READ | PROT_WRITE) != 0)
        return NULL;
    return (uint8_t *)table->spare + counts->spare_used;
}

/* ---- is it an instruction ---- */

enum proof { PROVEN, UNPROVEN, OUT_OF_MEMORY };

/* Follow the code from `begin` until `at` is reached. PROVEN: call x64_flow_finish afterwards. */
static enum proof prove(const struct site *site, struct x64_flow *flow, uint32_t begin,
                        uint32_t end, uint32_t at)
{
    bool out_of_memory;

    if (!spend(site, (uint64_t)(end - begin) * FOLLOWED))
        return UNPROVEN;
    if (!x64_flow_init(flow, site->table, begin, end, &out_of_memory))
        return out_of_memory ? OUT_OF_MEMORY : UNPROVEN;
    if (x64_flow_reaches(flow, at))
        return PROVEN;
    x64_flow_finish(flow);
    return UNPROVEN;
}

/* Whether there is an instruction at the place, in a function of the table. */
static enum proof prove_caller(const struct site *site, uint32_t at)
{
    const struct x64_function *f = x64_function_find(site->table, site->table->base + at);
    struct x64_flow flow;
    enum proof proof = f ? prove(site, &flow, f->begin, f->end, at) : UNPROVEN;

    if (proof == PROVEN)
        x64_flow_finish(&flow);
    return proof;
}

/* A leaf function begins where it is called: look in known code for a call from whose target the
 * read is reached. */
static enum proof prove_leaf(const struct site *site, struct x64_flow *flow)
{
    uint32_t from = site->begin, to, tries = 0;

    if (!spend(site, (uint64_t)site->end - site->begin))
        return UNPROVEN;
    for (; x64_next_branch(site->table, &from, site->end, site->low, site->at + 1, &to) &&
           tries < CALLERS;
         from++, tries++) {
        enum proof proof = prove_caller(site, from);

        if (proof == PROVEN)
            proof = prove(site, flow, to, site->high, site->at);
        if (proof != UNPROVEN)
            return proof;
    }
    return UNPROVEN;
}

/* ---- all of a section ---- */

/* Find the function that contains the site. */
static bool place(struct site *site)
{
    const struct x64_function_table *table = site->table;
    uint32_t low = 0, high = table->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (table->function[middle].begin <= site->at)
            low = middle + 1;
        else
            high = middle;
    }
    site->index = low;
    site->function = x64_function_find(table, table->base + site->at);
    if (site->function) {
        site->low = site->function->begin;
        site->high = site->function->end;
    } else {
        site->low = low > 0 && table->function[low - 1].end > site->begin
                        ? table->function[low - 1].end
                        : site->begin;
        site->high = low < table->count && table->function[low].begin < site->end
                         ? table->function[low].begin
                         : site->end;
    }
    return site->low >= site->begin && site->high <= site->end &&
           site->at + site->bytes <= site->high;
}

/* Read the virtual clock instead of the real time stamp counter, which would make each run
 * different. */
static void change_stamp(const struct site *site, struct x64_rewriting *counts)
{
    uint8_t *code = bytes_at(site->table, site->at);

    code[0] = 0xCD; /* int, which traps */
    code[1] = site->what == READ_STAMP ? X64_INT_STAMP : X64_INT_STAMP_AND_PROCESSOR;
    if (site->bytes == 3)
        code[2] = 0x90;
    counts->stamps++;
}

static void change_level(struct site *site, struct x64_rewriting *counts)
{
    uint8_t *reader = next_reader(site->table, counts);
    uint32_t island = reader ? find_island(site) : 0;

    if (island) {
        write_reader(reader, site);
        use_island(site, island, reader);
        counts->islands++;
    } else if (reader && can_displace(site)) {
        write_reader(reader, site);
        displace(site, reader);
        counts->displaced++;
    } else {
        counts->left++;
        return;
    }
    counts->spare_used += CODE_BYTES;
}

/* False: out of memory. */
static bool examine(struct site *site)
{
    struct x64_flow flow = {0};
    enum proof proof = UNPROVEN;

    if (place(site))
        proof = site->function ? prove(site, &flow, site->low, site->high, site->at)
                               : prove_leaf(site, &flow);
    if (proof == PROVEN) {
        site->proven = true;
        site->indirect = flow.indirect;
        x64_flow_finish(&flow);
    }
    return proof != OUT_OF_MEMORY;
}

/* Counts the byte sequences that may have to change, and stores them in `site` unless that is
 * NULL. */
static uint32_t find_sites(const struct x64_function_table *table, uint32_t begin, uint32_t end,
                           uint64_t *effort, struct site *site)
{
    const uint8_t *code = bytes_at(table, 0);
    uint32_t count = 0;

    for (uint32_t at = begin; at + READ_BYTES <= end; at++) {
        struct site found = {.table = table, .begin = begin, .end = end, .at = at, .effort = effort};

        if ((code[at] != 0x0F && code[at + 1] != 0x0F) || !looks_like(code + at, &found))
            continue;
        if (site)
            site[count] = found;
        count++;
    }
    return count;
}

static bool seal(const struct x64_function_table *table, const struct x64_rewriting *counts)
{
    size_t bytes = align_up(counts->spare_used, X64_PAGE);

    return bytes == 0 || util_protect((void *)table->spare, bytes, PROT_READ | PROT_EXEC) == 0;
}

/* All sites are examined before the first is changed, since a changed one leads out of its
 * function. */
bool x64_rewrite(const struct x64_function_table *table, uint32_t begin, uint32_t end,
                 struct x64_rewriting *counts)
{
    uint64_t effort = EFFORT;
    uint32_t count = find_sites(table, begin, end, &effort, NULL);
    struct site *site;
    bool enough = true;

    if (count == 0 || table->image_bytes > REACH)
        return true;
    site = util_alloc(count * sizeof(*site));
    if (!site)
        return false;
    (void)find_sites(table, begin, end, &effort, site);
    for (uint32_t i = 0; i < count && enough; i++)
        enough = examine(&site[i]);
    for (uint32_t i = 0; i < count && enough; i++) {
        if (!site[i].proven)
            counts->left++;
        else if (site[i].what == READ_LEVEL)
            change_level(&site[i], counts);
        else
            change_stamp(&site[i], counts);
    }
    util_free(site);
    return enough && seal(table, counts);
}
